"""JSON in few bytes, for messages and caches. Texts may contain lone surrogates, because models generate them.

A lone surrogate is half a character: Python and JSON can hold it, UTF-8 and therefore msgspec and files cannot.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def encode(value: object, *, sort_keys: bool = False) -> bytes:
    r"""Return a value as JSON without spaces; `sort_keys`: with the keys of each object sorted.

    A value with a lone surrogate is written in ASCII, where it is an escape (`\ud83d`).
    """
    try:
        return msgspec.json.encode(value, order="sorted" if sort_keys else None)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":"), sort_keys=sort_keys).encode()


def encode_indented(value: object) -> bytes:
    """Return a value as JSON for people too: a line each part, and a line break at the end."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def decode(data: bytes, *, replace_lone_surrogates: bool = False) -> Any:
    """Return the value of a JSON text; raises ValueError or RecursionError.

    `replace_lone_surrogates`: by U+FFFD, because they cannot be printed or written to a file.
    """
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        value = json.loads(data)
    return replace_surrogates(value)[0] if replace_lone_surrogates else value


def without_surrogates(text: str) -> str:
    """Return a text with U+FFFD in place of lone surrogates, which cannot be sent; files are read in the same way."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def replace_surrogates(value: Any) -> tuple[Any, int]:
    """Return a value of JSON with U+FFFD in place of lone surrogates, and their number."""
    text, count = _LONE_SURROGATE.subn("\ufffd", json.dumps(value, ensure_ascii=False))
    return (json.loads(text) if count else value), count


def decode_typed(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """Decode a JSON text. If the decoder refuses it because of lone surrogates, replace these and decode again.

    Raises what the decoder raises.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        try:
            value, count = replace_surrogates(json.loads(data))
        except ValueError:
            raise error from None
        if not count:
            raise
        return decoder.decode(msgspec.json.encode(value))
