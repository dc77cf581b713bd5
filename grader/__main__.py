"""The only exit of the command."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

SWITCH_SECONDS = 0.0005
"""After so many seconds, a thread that computes lets another one run. Python's default is 0.005.

A thread that starts a container waits for many replies of the engine. With the default, each wait can take 5 ms more
while the main thread assembles programs.
"""


def main() -> None:
    """Run the command and leave with the exit code of what happened."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Closed by whoever started us.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - lives as long as we do
    sys.setswitchinterval(SWITCH_SECONDS)
    # NumPy multiplies no large matrices here. Without this, it starts threads for that, which use CPU time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        # What a scheduler sends ends a run as Ctrl-C does: what is finished is kept, nothing is left behind.
        signal.signal(signal.SIGTERM, _interrupt)
        from grader.cli import run
        from grader.commands.github import without_workflow_commands

        with without_workflow_commands():
            code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    # Nothing is left to do, and a large run's memory takes long to hand back piece by piece.
    os._exit(code)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
