"""Runs the command as a user does: another process, its exit code, its two streams."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

LAUNCHER = Path(__file__).with_name("launcher.py")
_OF_THE_INTERPRETER = ("PYTHON", "LANG", "LC_", "HF_", "LD_")
"""Beginnings of variables that have their effect when an interpreter or a library is loaded."""


def grade(*words: object, cwd: Path | None = None, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run `grade` with these words in a process that has its modules loaded already, which saves most of the time."""
    arguments = [*map(str, words)]
    if not _as_when_launched(dict(os.environ)):
        return in_a_new_interpreter(*arguments, cwd=cwd, stdin=stdin)
    return Started(*arguments, cwd=cwd, stdin=stdin).wait()


class Started:
    """A run of `grade` in a fork of the launcher, which starts no other one before it has been waited for."""

    def __init__(self, *words: object, cwd: Path | None = None, stdin: str | None = None) -> None:
        self._arguments = [*map(str, words)]
        self._place = tempfile.TemporaryDirectory(prefix="grade-test-")
        self._folder = Path(self._place.name)
        (self._folder / "stdin").write_text(stdin or "", encoding="utf-8")
        job = {"arguments": self._arguments, "cwd": str(cwd or Path.cwd()), "environment": dict(os.environ)}
        launcher = _launcher()
        assert launcher.stdin is not None
        launcher.stdin.write(json.dumps(job | {"streams": self._place.name}) + "\n")
        launcher.stdin.flush()
        self._pid = _number()

    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        try:
            os.kill(self._pid, 0)
        except ProcessLookupError:
            return False
        return True

    def send_signal(self, number: int) -> None:
        """Send a signal to it, unless it has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, number)

    def wait(self) -> subprocess.CompletedProcess[str]:
        """Wait for its end."""
        code = _number()
        with self._place:
            output, errors = ((self._folder / name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(self._arguments, code, output, errors)


def in_a_new_interpreter(
    *words: object, cwd: Path | None = None, stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `grade` from nothing."""
    return subprocess.run(
        [sys.executable, "-m", "grader", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=cwd,
        input=stdin or "",
        timeout=300,
        check=False,
    )


def _number() -> int:
    """Return the next number that the launcher says: of each run its process, and later its exit code."""
    launcher = _launcher()
    assert launcher.stdout is not None
    said = launcher.stdout.readline()
    assert said, f"the launcher has ended; see why: {sys.executable} -P {LAUNCHER}"
    return int(said)


@functools.cache
def _launcher() -> subprocess.Popen[str]:
    """Start the process that the others are forked from, once a worker; it ends with the worker."""
    command = [sys.executable, "-P", LAUNCHER]
    launcher = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_FIRST)
    atexit.register(launcher.communicate)
    return launcher


_FIRST = dict(os.environ)


def _as_when_launched(environment: dict[str, str]) -> bool:
    early = [{k: v for k, v in e.items() if k.startswith(_OF_THE_INTERPRETER)} for e in (_FIRST, environment)]
    return early[0] == early[1]
