"""Prose to standard error, whatever characters it has: none of them reaches a terminal as a command."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def say(text: str) -> None:
    """Print prose."""
    write("".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text))


def write(text: str) -> None:
    """Print what is known to be harmless, colours included."""
    data = (text + "\n").encode(sys.stderr.encoding or "utf-8", errors="backslashreplace")
    try:
        sys.stderr.buffer.write(data)
        sys.stderr.flush()
    except OSError:
        # Whether anybody can read it changes nothing of what is being done, least of all a gate's verdict.
        _discard(sys.stderr)


def emit(data: bytes) -> None:
    """Write a machine's output to standard output; a reader that has gone has seen enough. Raises OSError."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)


def _discard(stream: TextIO) -> None:
    """Send what is still in a stream, and all that follows, nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def writing(write: Callable[[], list[Path]]) -> list[Path]:
    """Write files; raises InfrastructureError, with what to do, where that fails."""
    try:
        return write()
    except OSError as error:
        raise InfrastructureError(
            f"The results could not be written: {error}. Make room, or name another folder with --output-dir, and run "
            "it again."
        ) from error
