r"""Half characters in JSON: an escape such as `\ud83d` that stands without its other half.

Python's json keeps such halves, and the first attempt to print or to write one as UTF-8 then fails.
"""

from __future__ import annotations

import re

_HEX = rb"[0-9a-fA-F]"
_LOW = rb"\\u[dD][c-fC-F]" + _HEX + _HEX
_HIGH = rb"\\u[dD][89abAB]" + _HEX + _HEX
_LONE = re.compile(rb"\\u[dD][89a-fA-F]" + _HEX + _HEX)
_HARMLESS = re.compile(
    rb"(?:[^\\]++|" + _HIGH + _LOW + rb"|\\(?!u[dD][89a-fA-F]" + _HEX + _HEX + rb")[\x00-\xff])*+", re.DOTALL
)
"""All up to the next half character: whole pairs and other escapes (`\\\\ud83d` is a backslash and letters)."""


def mend_surrogates(data: bytes) -> tuple[bytes, int]:
    r"""Replace escapes of half a character by `\ufffd`; return the new bytes and how many were replaced.

    The replacement has the same length, so that offsets stay true.
    """
    if b"\\ud" not in data and b"\\uD" not in data:
        return data, 0
    lone: list[int] = []
    at = 0
    while True:
        harmless = _HARMLESS.match(data, at)
        at = harmless.end() if harmless else at
        if _LONE.match(data, at) is None:
            return _replaced(data, lone), len(lone)
        lone.append(at)
        at += 6


def _replaced(data: bytes, places: list[int]) -> bytes:
    if not places:
        return data
    copy = bytearray(data)
    for place in places:
        copy[place : place + 6] = b"\\ufffd"
    return bytes(copy)
