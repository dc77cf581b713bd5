"""Texts that data sets pack: LiveCodeBench has long ones as base64 of zlib of a pickled text."""

from __future__ import annotations

import base64
import io
import pickle
import pickletools
import zlib
from typing import Any

MOST_BYTES = 1 << 30


class _NoCode(pickle.Unpickler):
    """Reads texts, bytes, lists and mappings; everything else in a pickle would be code."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it names {module}.{name}")


def unpacked(value: Any) -> Any:
    """Return what a packed text contains, and any other value as it is; raises ValueError. No code runs."""
    if not isinstance(value, str) or value.lstrip()[:1] in {"[", "{", ""}:
        return value
    try:
        packed = _inflated(base64.b64decode(value, validate=True))
        _check_sizes(packed)
        return _NoCode(io.BytesIO(packed)).load()
    except (ValueError, zlib.error, pickle.UnpicklingError, EOFError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"neither JSON nor a packed text without code ({error})") from None


def _inflated(packed: bytes) -> bytes:
    opened = zlib.decompressobj()
    data = opened.decompress(packed, MOST_BYTES)
    if not opened.eof:
        raise zlib.error("it is cut")
    return data


def _check_sizes(packed: bytes) -> None:
    """Raise ValueError for a pickle that names larger sizes than it has: its reader would take the memory for them."""
    for count, (opcode, argument, _) in enumerate(pickletools.genops(packed)):
        if opcode.name in {"PUT", "BINPUT", "LONG_BINPUT"} and (argument or 0) > count:
            raise ValueError(f"there are not {argument} objects before")
