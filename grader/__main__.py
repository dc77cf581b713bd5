"""The only exit of the command."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


def main() -> None:
    """Run the command and leave with the exit code of what happened."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Closed by whoever started us.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - lives as long as we do
    try:
        # What a scheduler sends ends a run as Ctrl-C does: what is finished is kept, nothing is left behind.
        signal.signal(signal.SIGTERM, _interrupt)
        from grader.cli import run

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
