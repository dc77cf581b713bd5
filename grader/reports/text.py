"""Texts on a terminal, broken into lines."""

from __future__ import annotations

import re
import textwrap
import unicodedata

_CODE = re.compile(r"`[^`\n]*`")
_SECOND_COLUMN = "\x01"
"""Follows each wide character while a text is broken into lines, so that a line is as long as it is wide."""


def truncate(text: str, max_length: int) -> str:
    """Return a text, cut to `max_length` characters: then it ends with an ellipsis, after a word if possible."""
    if len(text) <= max_length:
        return text
    whole_words = text[:max_length].rpartition(" ")[0]
    start = whole_words if len(whole_words) > max_length // 2 else text[: max_length - 1]
    return f"{start.rstrip()}…"


def fold(text: str, width: int, indent: str = "") -> list[str]:
    """Return the lines of a text, broken between words only; a longer word is a line of its own. At least one line.

    `width`: in columns of a terminal, of which a character of East Asian scripts takes two.
    """
    lines = textwrap.wrap(
        _with_second_columns(text),
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
    return [line.replace(_SECOND_COLUMN, "") for line in lines] or [""]


def wrap(text: str, width: int) -> str:
    """Return prose broken between words; commands between back-ticks and percentages stay whole."""
    return "\n".join(_wrap_line(line, width) for line in text.split("\n"))


def _with_second_columns(text: str) -> str:
    """Return a text with one character for each column that it takes on a terminal."""
    if text.isascii():
        return text
    wide = (unicodedata.east_asian_width(character) in "WF" for character in text)
    return "".join(f"{c}{_SECOND_COLUMN}" if is_wide else c for c, is_wide in zip(text, wide, strict=True))


def _wrap_line(line: str, width: int) -> str:
    """Break a line into lines of at most `width`; all but the first are indented."""
    if len(_with_second_columns(line)) <= width:
        return line
    # A line must not be broken in code or before "%": NULs take the place of these blanks until it is broken.
    with_nuls = _CODE.sub(lambda match: match[0].replace(" ", "\0"), line).replace(" %", "\0%")
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return "\n".join(fold(with_nuls, width, indent)).replace("\0", " ")
