"""Runs the command as a user does: another process, its exit code, its two streams."""

from __future__ import annotations

import atexit
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
    with tempfile.TemporaryDirectory(prefix="grade-test-") as place:
        folder = Path(place)
        (folder / "stdin").write_text(stdin or "", encoding="utf-8")
        code = _launched(arguments, str(cwd or Path.cwd()), folder)
        output, errors = ((folder / name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))
    return subprocess.CompletedProcess(arguments, code, output, errors)


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


def _launched(arguments: list[str], cwd: str, folder: Path) -> int:
    launcher = _launcher()
    assert launcher.stdin is not None
    assert launcher.stdout is not None
    job = {"arguments": arguments, "cwd": cwd, "environment": dict(os.environ), "streams": str(folder)}
    launcher.stdin.write(json.dumps(job) + "\n")
    launcher.stdin.flush()
    code = launcher.stdout.readline()
    assert code, f"the launcher has ended; see why: {sys.executable} -P {LAUNCHER}"
    return int(code)


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
