"""The archive in which inspect_ai packs a log (`.eval`): a zip with a header and one file a sample."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from grader.files.user_files import UNPACKED_LIMIT, is_zip

if TYPE_CHECKING:
    from grader.predictions.layouts import Row

_HEADERS = ("header.json", "_journal/start.json")
_SAMPLES = "samples/"
_BEGINNING = 512
"""Bytes in which the name of the first file stands."""
_DIRECTORY = 1 << 20
"""Bytes in which the directory of an archive of some ten thousand samples stands."""


class _Sample(msgspec.Struct):
    """What is read of a sample; its other parts (events, state) can be large."""

    id: Any = None
    epoch: Any = 1
    input: Any = ""
    choices: Any = None
    target: Any = ""
    output: Any = None
    error: Any = None
    attachments: Any = None


def is_archive(data: bytes) -> bool:
    """Whether bytes are an `.eval` archive, and not another kind of zip."""
    # A zip names its files before each of them, and all of them in a directory at its end.
    names = data[:_BEGINNING] + data[-_DIRECTORY:]
    return is_zip(data) and any(name.encode() in names for name in _HEADERS)


def read_log(data: bytes) -> Row:
    """Return the log in an archive, as inspect_ai writes it into a `.json` log; raises ValueError with the reason.

    The header of a run that did not finish has no version, no status or no task; `inspect_log` wants all three.
    """
    try:
        with _zipfile().ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in dict.fromkeys(archive.namelist()) if name.endswith(".json")]
            samples = [name for name in names if name.startswith(_SAMPLES)]
            size = sum(archive.getinfo(name).file_size for name in samples)
            if size <= UNPACKED_LIMIT:
                header = next(name for name in _HEADERS if name in names)
                head = msgspec.json.decode(archive.read(header), type=dict[str, Any])
                decoded = (msgspec.json.decode(archive.read(name), type=_Sample) for name in samples)
                rows = [msgspec.structs.asdict(sample) for sample in decoded]
                return {"version": None, "status": "", "eval": {}, **head, "samples": rows}
    except Exception as error:  # zipfile and zstd raise many kinds of errors on damaged archives
        reason = str(error) or type(error).__name__
        raise ValueError(f"is not a readable inspect_ai log ({reason}); was it cut off?") from error
    raise ValueError(f"unpacks to more than {UNPACKED_LIMIT:,} bytes")


def _zipfile() -> Any:
    """Return a zipfile module that supports zstd, the compression of inspect_ai."""
    if sys.version_info >= (3, 14):
        import zipfile

        return zipfile
    from backports.zstd import zipfile as zipfile_with_zstd

    return zipfile_with_zstd
