"""Atomic replacement of files, so that no other process reads a partly written file."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` when it is complete. If writing fails, it is deleted."""
    try:
        file = tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False)  # noqa: SIM115
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        with file:
            yield file
        # A temporary file can be accessed by this user only; the result has the mode of other new files.
        umask = os.umask(0)
        os.umask(umask)
        Path(file.name).chmod(0o666 & ~umask)
        Path(file.name).replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            Path(file.name).unlink()
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, file.name):
            # The error of a full disk names no file or the temporary file; the user needs the real name.
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
