"""The only exit of the command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command and leave with the exit code of what happened."""
    from grader.cli import run

    code = run(sys.argv[1:])
    # Nothing is left to do, and a large run's memory takes long to hand back piece by piece.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
