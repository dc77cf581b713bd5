"""JSON in few bytes, for messages and caches. The texts may contain half characters, because models generate them."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_HALF = re.compile("[\ud800-\udfff]")


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
    return without_half_characters(value)[0] if whole else value


def without_half_characters(value: Any) -> tuple[Any, int]:
    """Return a value of JSON with U+FFFD in place of half characters (lone surrogates), and their number."""
    text, count = _HALF.subn("\ufffd", json.dumps(value, ensure_ascii=False))
    return (json.loads(text) if count else value), count


def decode_with(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """Return a decoder's value of a JSON text, half characters replaced. Raises what the decoder raises."""
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        try:
            value, count = without_half_characters(json.loads(data))
        except ValueError:
            count = 0
        if not count:
            raise error from None
        return decoder.decode(msgspec.json.encode(value))
