"""Reading of a file that the user named: it may be a device, and compressed."""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import zlib
from itertools import islice
from pathlib import Path

from grader.errors import InputError

UNPACKED_LIMIT = 2 << 30
"""Maximum unpacked size of a compressed file, in bytes: a few megabytes of gzip can claim gigabytes."""
GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_CHUNK_BYTES = 4 << 20
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


def read_user_file(path: Path) -> bytes:
    """Return a file's bytes. Raises OSError, also for a device, which may have no end."""
    mode = path.stat().st_mode
    if stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
        raise OSError(errno.EINVAL, "it is a device, which may have no end; name a file", str(path))
    return path.read_bytes()


def read_input(path: Path) -> bytes:
    """Return a file's bytes; raises InputError."""
    try:
        return read_user_file(path)
    except OSError as error:
        raise InputError([f"{path}: cannot be read: {error.strerror}"]) from error


def unpack_gzip(data: bytes) -> bytes:
    """Unpack gzip data and return other data unchanged; raises ValueError with the reason."""
    if not data.startswith(GZIP):
        return data
    unpacked = io.BytesIO()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            while chunk := packed.read(_CHUNK_BYTES):
                if unpacked.tell() + len(chunk) > UNPACKED_LIMIT:
                    raise ValueError(f"unpacks to more than {UNPACKED_LIMIT:,} bytes")
                unpacked.write(chunk)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"is not a readable gzip file ({error}); was it cut off?") from error
    return unpacked.getvalue()


def is_zip(data: bytes) -> bool:
    """Whether the bytes are a zip archive, as workbooks and logs are."""
    return data.startswith(_ZIP)


def unzip_single_file(data: bytes) -> bytes:
    """Return the only file of a zip archive of one file, and other data unchanged; raises ValueError with the reason.

    Workbooks and logs are zip archives of several files, which are read as they are.
    """
    if not is_zip(data):
        return data
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [entry for entry in archive.infolist() if not entry.is_dir() and "__MACOSX" not in entry.filename]
            if len(files) != 1 or files[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                return data
            with archive.open(files[0]) as packed:
                content = packed.read(UNPACKED_LIMIT + 1)
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError):
        return data  # the reader of workbooks says what is wrong with it
    if len(content) > UNPACKED_LIMIT:
        raise ValueError(f"unpacks to more than {UNPACKED_LIMIT:,} bytes")
    return content
