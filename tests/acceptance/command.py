"""Runs the command as a user does: another process, its exit code, its two streams."""

import atexit
import contextlib
import functools
import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Mapping
from pathlib import Path

LAUNCHER = Path(__file__).with_name("launcher.py")
_OF_THE_INTERPRETER = ("PYTHON", "LANG", "LC_", "HF_", "LD_")
"""Beginnings of variables that have their effect when an interpreter or a library is loaded."""


def grade(*words: object, cwd: Path | None = None, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run `grade` with these words in a process that has its modules loaded already, which saves most of the time."""
    arguments = [*map(str, words)]
    if _early(os.environ) != _early(_FIRST):
        return in_a_new_interpreter(*arguments, cwd=cwd, stdin=stdin)
    return Started(*arguments, cwd=cwd, stdin=stdin).wait()


class Started:
    """A run of `grade` in a fork of the launcher.

    `streams`: name of an output, "stdout" or "stderr" -> the device or pipe that it is, instead of what is returned.
    """

    def __init__(
        self, *words: object, cwd: Path | None = None, stdin: str | None = None, streams: dict[str, Path] | None = None
    ) -> None:
        self._arguments = [*map(str, words)]
        self._place = tempfile.TemporaryDirectory(prefix="grade-test-")
        self._folder = Path(self._place.name)
        (self._folder / "stdin").write_text(stdin or "", encoding="utf-8")
        for name, target in (streams or {}).items():
            (self._folder / name).symlink_to(target)
        # One worker: several tests run at a time, and to start a sandbox takes longer than most of their programs.
        environment = {"GRADE_WORKERS": "1", **os.environ}
        job = {"arguments": self._arguments, "cwd": str(cwd or Path.cwd()), "environment": environment}
        self._connection = _connected(_launcher(_early(os.environ)))
        self._said_of_it = self._connection.makefile()
        self._connection.sendall((json.dumps(job | {"streams": self._place.name}) + "\n").encode())
        self._pid = self._number()

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
        code = self._number()
        with self._place, self._connection, self._said_of_it:
            output, errors = (self._said(self._folder / name) for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(self._arguments, code, output, errors)

    def _said(self, path: Path) -> str:
        return "" if path.is_symlink() else path.read_text(encoding="utf-8")

    def _number(self) -> int:
        """Return the next number that the launcher says: of each run its process, and later its exit code."""
        said = self._said_of_it.readline()
        assert said, f"the launcher has ended; see why: {sys.executable} -P {LAUNCHER} x"
        return int(said)


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


@functools.cache
def _launcher(early: frozenset[tuple[str, str]]) -> str:
    """Return the address of the process that runs are forked from: one for all workers, which ends with the last."""
    address = "grade-launcher-" + hashlib.sha256(repr((_RUN, sorted(early))).encode()).hexdigest()[:16]
    command = [sys.executable, "-P", LAUNCHER, address]
    environment = {name: _FIRST[name] for name in _FIRST if not name.startswith(_OF_THE_INTERPRETER)} | dict(early)
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True, env=environment)
    atexit.register(_connected(address).close)
    return address


def _connected(address: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(f"\0{address}")
    return connection


def _early(environment: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Return the variables that have their effect when an interpreter or a library is loaded."""
    return frozenset((name, text) for name, text in environment.items() if name.startswith(_OF_THE_INTERPRETER))


_FIRST = dict(os.environ)
_RUN = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid.uuid4().hex
