"""Messages on standard error. Control characters are replaced, so that a terminal does not obey them."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import tempfile
import traceback
from typing import TYPE_CHECKING, TextIO

from grader import resources
from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Callable


def say(text: str) -> None:
    """Print a message without control characters. If it is not for a terminal, it is one line, for `grep`."""
    printable = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text.expandtabs(2))
    _write(fit_to_stream(printable, sys.stderr))


def terminal_width(stream: TextIO) -> int:
    """Return the width of the terminal that a stream is, or 100; COLUMNS has priority.

    The other streams do not matter: the table of `grade ... -o - | jq` is on a terminal, although the output is not.
    """
    width = os.environ.get("COLUMNS", "")
    if width.isdecimal() and int(width):
        return int(width)
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_COLUMNS
    except (OSError, ValueError):
        return DEFAULT_COLUMNS


DEFAULT_COLUMNS = 100


def fit_to_stream(text: str, stream: TextIO) -> str:
    """Return prose as a stream shows it: a terminal breaks no word, and other programs get whole lines."""
    from grader.reports.text import wrap

    return wrap(text, terminal_width(stream)) if stream.isatty() else text


def _write(text: str) -> None:
    """Print text that is known to be harmless, such as a table with colours."""
    data = f"{text}\n".encode(sys.stderr.encoding or "utf-8", errors="backslashreplace")
    try:
        sys.stderr.buffer.write(data)
        sys.stderr.flush()
    except OSError:
        # A message that cannot be shown must not change the run, least of all a gate's decision.
        _discard(sys.stderr)


def show_rendered(render: Callable[..., str]) -> None:
    """Print what `render(width=..., colour=...)` returns: as wide as the terminal, and in colour on a terminal."""
    _write(render(width=terminal_width(sys.stderr), colour=sys.stderr.isatty()).rstrip("\n"))


def write_to_stdout(data: bytes) -> None:
    """Write machine-readable output to standard output. A reader that has gone is not an error. Raises OSError."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)


def _discard(stream: TextIO) -> None:
    """Send what is still written to a stream to the null device."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, stream.fileno())
    os.close(null_device)


def cause_of(error: OSError) -> str:
    """Return the file and what the system says, without the number of the error."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason


NO_MEMORY = "There was not enough memory. Use fewer workers (--workers), or a smaller file"


def report_crash(error: Exception) -> int:
    """Say what happened, and return the exit code: nothing was decided, so it is never that of a gate."""
    cause = NO_MEMORY if isinstance(error, MemoryError) else _whose_error(error)
    details = "".join(traceback.format_exception(error))
    try:
        advice = f"{_write_details(details)} has the details for a report; look through it before you send it."
    except OSError:
        advice = f"Please report these details:\n{details.rstrip()}"
    say(f"error: {cause}. No result is to be trusted. {advice}")
    return InfrastructureError.exit_code


def _whose_error(error: Exception) -> str:
    """Return whose error it is: that of a scorer of another package, in whose code it was raised, or grade's own.

    The text of a scorer's error is for its author. Other texts are left out: they can have parts of the user's data.
    """
    from grader.scorers.registry import GROUP

    error_type = type(error).__name__
    scorers = {point.module.partition(".")[0]: name for name, point in resources.plugins(GROUP).items()}
    for frame, _ in traceback.walk_tb(error.__traceback__):
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if package in scorers:
            scorer = f"the scorer {scorers[package]!r}, which is a package of its own"
            return f"This is an error of {scorer} ({error_type}: {error})"
    return f"This is an error of grade itself ({error_type})"


def _write_details(details: str) -> str:
    """Write the details to a file that only this user can read, and return its name."""
    with tempfile.NamedTemporaryFile(
        "w", prefix="grade-error-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        file.write(
            f"grade {resources.version()}, Python {sys.version.split()[0]}, {platform.platform()}\n"
            f"{shlex.join(sys.argv)}\n\n{details}"
        )
    return file.name
