r"""Lone surrogates in JSON: an escape such as `\ud83d` without its other half.

Python's json accepts lone surrogates, but printing one, or writing it as UTF-8, fails.
"""

from __future__ import annotations

import re

# No possessive groups here: Python before 3.11.5 (Debian 12 has 3.11.2) matches them incorrectly.
_HALF = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_LOW = re.compile(rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_HIGH_DIGITS = b"89abAB"
_BACKSLASH = 0x5C
_LENGTH = 6


def mend_surrogates(data: bytes) -> tuple[bytes, int]:
    r"""Replace escapes of lone surrogates by `\ufffd`; return the new bytes and the number of replacements.

    The replacement has the same length, so that offsets stay valid.
    """
    lone: list[int] = []
    at = 0
    while found := _HALF.search(data, at):
        start = found.start()
        if _is_escaped(data, start):
            at = start + 2
        elif data[start + 3] in _HIGH_DIGITS and _LOW.match(data, start + _LENGTH):
            at = start + 2 * _LENGTH
        else:
            lone.append(start)
            at = start + _LENGTH
    return _replaced(data, lone), len(lone)


def _is_escaped(data: bytes, at: int) -> bool:
    r"""Return whether a backslash is escaped by the one before it (`\\\\ud83d` is a backslash and letters)."""
    before = at
    while before > 0 and data[before - 1] == _BACKSLASH:
        before -= 1
    return (at - before) % 2 == 1


def _replaced(data: bytes, places: list[int]) -> bytes:
    if not places:
        return data
    copy = bytearray(data)
    for place in places:
        copy[place : place + _LENGTH] = b"\\ufffd"
    return bytes(copy)
