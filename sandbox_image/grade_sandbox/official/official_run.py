"""The official run: it does what the published evaluator does (HumanEval-V execution.py), including its weaknesses.

One ``exec`` runs program and tests together, in the program's own process.
"""

import contextlib
import os

from grade_sandbox import wire
from grade_sandbox.confine import process

# No `from __future__ import annotations` here: `compile` and `exec` would pass it on to the program.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_NAME = 200
MAX_LINES = 8


class _Result:
    """The official evaluator's list of results. Only the first appended result is used, and it is sent at once."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def append(self, text: object, kind: str = "", lines: str = "") -> None:
        message = {"result": wire.clip(str(text)), "kind": kind[:MAX_NAME]} | ({"lines": lines} if lines else {})
        wire.send(lambda data: os.write(self._fd, data), message)


def run_officially(spec: "dict[str, Any]", result_fd: int) -> None:
    """Run program and tests in one process; report the official result text."""
    result = _Result(result_fd)
    unsafe_execute(
        spec["program"],
        result,
        spec["failed_prefix"],
        spec["timed_out"],
        {"__file__": process.FILE} if spec["file"] else {},
    )


def unsafe_execute(
    check_program: str, result: _Result, prefix: str, timed_out: str, exec_globals: "dict[str, Any]"
) -> None:
    """Mirror the official function of this name, so that programs that inspect their callers find the same `result`."""
    try:
        process.swallow_output()
        process.install_alarm_handler()
        exec(check_program, exec_globals)
        result.append("passed")
    except process.TimeoutException:
        result.append(timed_out, "timeout")
    except BaseException as e:
        result.append(f"{prefix}{e}", type(e).__name__, lines_of(e))


def lines_of(error: BaseException) -> str:
    """Return the program's line numbers through which an exception passed, outermost first; for people only."""
    lines: list[str] = []
    with contextlib.suppress(BaseException):
        trace = error.__traceback__
        while trace is not None and len(lines) < MAX_LINES:
            if trace.tb_frame.f_code.co_filename == "<string>":
                lines.append(str(int(trace.tb_lineno)))
            trace = trace.tb_next
    return ",".join(lines)
