"""Texts that data sets pack: LiveCodeBench has long ones as base64 of zlib of a pickled text."""

from __future__ import annotations

import base64
import io
import pickle
import pickletools
import zlib
from typing import Any

MAX_BYTES = 1 << 30
"""Maximum unpacked size: a few kilobytes of zlib can claim gigabytes."""


class _DataUnpickler(pickle.Unpickler):
    """Reads texts, bytes, lists and mappings; everything else in a pickle would be code."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it names {module}.{name}")


def unpack_text(value: Any) -> Any:
    """Return what a packed text contains, and any other value as it is; raises ValueError. No code runs."""
    if not isinstance(value, str) or value.lstrip()[:1] in {"[", "{", ""}:
        return value
    try:
        pickled = _inflate(base64.b64decode(value, validate=True))
        _check_sizes(pickled)
        return _DataUnpickler(io.BytesIO(pickled)).load()
    except (ValueError, zlib.error, pickle.UnpicklingError, EOFError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"neither JSON nor a packed text without code ({error})") from None


def _inflate(packed: bytes) -> bytes:
    """Return unpacked zlib data of at most `MAX_BYTES`; raises zlib.error for more, and for data that was cut off."""
    decompressor = zlib.decompressobj()
    data = decompressor.decompress(packed, MAX_BYTES)
    if not decompressor.eof:
        raise zlib.error("it is cut")
    return data


def _check_sizes(pickled: bytes) -> None:
    """Raise ValueError for a pickle with an index beyond its objects: its reader would allocate memory up to it."""
    # Each operation makes at most one object.
    for operations_before, (opcode, argument, _) in enumerate(pickletools.genops(pickled)):
        if opcode.name in {"PUT", "BINPUT", "LONG_BINPUT"} and (argument or 0) > operations_before:
            raise ValueError(f"there are not {argument} objects before")
