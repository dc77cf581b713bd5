"""Messages on standard error. Control characters are replaced, so that a terminal does not obey them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def say(text: str) -> None:
    """Print a message; replace its control characters."""
    write("".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text))


def write(text: str) -> None:
    """Print text that is known to be harmless, such as a table with colours."""
    data = (text + "\n").encode(sys.stderr.encoding or "utf-8", errors="backslashreplace")
    try:
        sys.stderr.buffer.write(data)
        sys.stderr.flush()
    except OSError:
        # A message that cannot be shown must not change the run, least of all a gate's decision.
        _discard(sys.stderr)


def show_table(render: Callable[..., str], *, least: int) -> None:
    """Print a table: as wide as the terminal, at least `least` columns, and in colour on a terminal.

    `render` takes `width` and `colour`.
    """
    import shutil

    width = max(least, shutil.get_terminal_size((100, 24)).columns)
    write(render(width=width, colour=sys.stderr.isatty()).rstrip("\n"))


def emit(data: bytes) -> None:
    """Write machine-readable output to standard output. A reader that has gone is not an error. Raises OSError."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)


def _discard(stream: TextIO) -> None:
    """Send the rest of a stream's output to the null device."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


AGAIN = "Make room, or write to another folder, and run the command again."


def writing(write: Callable[[], list[Path]]) -> list[Path]:
    """Write files. Raises InfrastructureError, which says what to do, if that fails."""
    try:
        return write()
    except OSError as error:
        raise InfrastructureError(f"The results could not be written: {error}. {AGAIN}") from error
