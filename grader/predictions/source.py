"""Read the bytes of a prediction file, unpack them if they are compressed, and reject what is not text."""

from __future__ import annotations

import gzip
import io
import zlib
from itertools import islice
from typing import TYPE_CHECKING

from grader.errors import InputError
from grader.files.json_records import BLANK

if TYPE_CHECKING:
    from pathlib import Path

UNPACKED_LIMIT = 2 << 30
"""Maximum unpacked size of a compressed file, in bytes: a few megabytes of gzip can claim gigabytes."""
_CHUNK = 1 << 22
_GZIP = b"\x1f\x8b"
_NEIGHBOURS = 2000
_MAGIC = {
    b"\xff\xfe": "is UTF-16 or UTF-32; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
    b"\xfe\xff": "is UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
    _GZIP: "is compressed twice (gzip); unpack it first (gunzip)",
    b"\x80": "is a pickle, which can run code when it is read; save it as .xlsx, .tsv or .json",
    b"\xd0\xcf\x11\xe0": "is an old Excel file (.xls); save it as .xlsx",
    b"PAR1": "is a parquet file; save it as JSON Lines",
}


def load(path: Path) -> bytes:
    """Return a file's bytes; raises InputError."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        if path.is_symlink():
            raise InputError([f"{path}: is a link to {path.readlink()}, which does not exist"]) from error
        raise InputError([f"{path}: no such file{_near_file(path)}"]) from error
    except IsADirectoryError as error:
        raise InputError([f"{path}: is a folder; name the prediction file in it"]) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError([f"{path}: cannot be read: {reason}"]) from error


def _near_file(path: Path) -> str:
    import difflib

    try:
        there = [entry.name for entry in islice(path.parent.iterdir(), _NEIGHBOURS)]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, there, 1, 0.8)
    return f"; did you mean {path.with_name(near[0])}?" if near else ""


def unpacked(data: bytes) -> bytes:
    """Unpack gzip data and return other data unchanged; raises ValueError with the reason."""
    if not data.startswith(_GZIP):
        return data
    out = io.BytesIO()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            while chunk := packed.read(_CHUNK):
                if out.tell() + len(chunk) > UNPACKED_LIMIT:
                    raise ValueError(f"unpacks to more than {UNPACKED_LIMIT:,} bytes")
                out.write(chunk)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"is not a readable gzip file ({error}); was it cut off?") from error
    return out.getvalue()


def refusal(data: bytes) -> str:
    """Return why bytes cannot be a text file with records; empty if they can."""
    for magic, reason in _MAGIC.items():
        if data.startswith(magic):
            return reason
    if b"\x00" in data[:2]:
        return "is UTF-16 or UTF-32, or not text; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"
    if not data[:4096].strip(BLANK) and not data.strip(BLANK):
        return "is empty"
    return ""
