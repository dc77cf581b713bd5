"""Reading of a file that the user named: it may be compressed."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from itertools import islice
from pathlib import Path

from grader.errors import InputError

GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_MAX_NEIGHBOURS = 2000
"""At most so many files beside a missing one are looked at, because a folder may have millions."""


def real_path(path: Path) -> Path:
    """Return an absolute path without links; links that lead in a circle stay (`Path.resolve` raises RuntimeError)."""
    return Path(os.path.realpath(path))


def similar_file_hint(path: Path) -> str:
    """Return a question about a file of a similar name beside a missing one; empty if there is none."""
    import difflib

    try:
        neighbours = {entry.name for entry in islice(path.parent.iterdir(), _MAX_NEIGHBOURS)}
    except OSError:
        return ""
    # A link to a missing file has the name itself.
    similar = difflib.get_close_matches(path.name, neighbours - {path.name}, 1, 0.8)
    return f"; did you mean {path.with_name(similar[0])}?" if similar else ""


def read_input(path: Path) -> bytes:
    """Return a file's bytes; raises InputError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError([f"{path}: cannot be read: {error.strerror}"]) from error


def unpack_gzip(data: bytes) -> bytes:
    """Unpack gzip data and return other data unchanged; raises ValueError with the reason."""
    if not data.startswith(GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"is not a readable gzip file ({error}); was it cut off?") from error


def is_zip(data: bytes) -> bool:
    """Whether the bytes are a zip archive, as workbooks and logs are."""
    return data.startswith(_ZIP)


def unzip_single_file(data: bytes) -> bytes:
    """Return the only file of a zip archive of one file, and other data unchanged.

    Workbooks and logs are zip archives of several files, which are read as they are.
    """
    if not is_zip(data):
        return data
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [entry for entry in archive.infolist() if not entry.is_dir() and "__MACOSX" not in entry.filename]
            return archive.read(files[0]) if len(files) == 1 else data
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError):
        return data  # the reader of workbooks says what is wrong with it
