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


class _Sample(msgspec.Struct):
    """What is read of a sample; the rest of it (events, state) can be large."""

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
    if not is_zip(data):
        return False
    return any(name.encode() in data[:512] or name.encode() in data[-(1 << 20) :] for name in _HEADERS)


def read(data: bytes) -> Row:
    """Return the log in an archive, as inspect_ai writes it into a `.json` log; raises ValueError with the reason."""
    try:
        with _zipfile().ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in dict.fromkeys(archive.namelist()) if name.endswith(".json")]
            samples = [name for name in names if name.startswith(_SAMPLES)]
            size = sum(archive.getinfo(name).file_size for name in samples)
            if size <= UNPACKED_LIMIT:
                header = next(name for name in _HEADERS if name in names)
                head = msgspec.json.decode(archive.read(header), type=dict[str, Any])
                read = [msgspec.json.decode(archive.read(name), type=_Sample) for name in samples]
                rows = [msgspec.structs.asdict(sample) for sample in read]
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
    from backports.zstd import zipfile as with_zstd

    return with_zstd
