"""Runs the command as a user does: another process, its exit code, its two streams."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def grade(*words: object, cwd: Path | None = None, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run `grade` with these words."""
    return subprocess.run(
        [sys.executable, "-m", "grader", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=cwd,
        input=stdin,
        timeout=300,
        check=False,
    )
