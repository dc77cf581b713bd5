"""JSON in few bytes, for messages and caches. The texts may contain half characters, because models generate them."""

from __future__ import annotations

import json
from typing import Any

import msgspec


def encode(value: object, *, in_order: bool = False) -> bytes:
    """Return a value as JSON without spaces; `in_order`: with the keys of each object sorted.

    A half character (an unpaired surrogate) cannot be written in UTF-8, so a value that has one is written in ASCII.
    """
    try:
        return msgspec.json.encode(value, order="sorted" if in_order else None)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":"), sort_keys=in_order).encode()


def decode(data: bytes, *, whole: bool = False) -> Any:
    """Return the value of a JSON text; raises ValueError or RecursionError.

    `whole`: half characters are replaced, because they cannot be printed or written to a file.
    """
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        value = json.loads(data)
    if not whole:
        return value
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
