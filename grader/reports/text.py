"""Untrusted text on a terminal or in an attribute: cleaned, and broken into lines."""

from __future__ import annotations

import re
import textwrap

_WORD = re.compile(r"\S+\s*|\s+")
_JOINT = re.compile(r"(?<=[\s_=/-])(?=[^\s_=/-])")
"""Where a name may be broken: after a blank, an underscore, an equals sign, a slash or a hyphen."""
_QUOTED = re.compile(r"`[^`\n]*`")


def clean(text: str) -> str:
    """Make untrusted text harmless on a terminal: one line, no control characters."""
    return "".join(c if c.isprintable() else " " for c in text)


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters; one that is cut ends with an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def longest_part(name: str, indent: str = "", *, words: bool = False) -> int:
    """Return the width below which `broken` breaks a name inside one of its parts, or of its words."""
    first, *more = (len(part.rstrip()) for part in (_WORD.findall if words else _JOINT.split)(clean(name)) or [""])
    return max([first, *(len(indent) + part for part in more)])


def broken(name: str, width: int, indent: str = "") -> list[str]:
    """Return the lines of a name, broken between its parts; inside a part only if it must be."""
    if len(clean(name)) <= width:
        return [clean(name)]
    lines = [""]
    most = max(width, len(indent) + 1)
    for word in _WORD.findall(clean(name)):
        # A word that fits into a line is not broken at all.
        parts = [word] if len(indent + word.rstrip()) <= most else _JOINT.split(word)
        for whole in parts:
            part = whole
            if len((lines[-1] + part).rstrip()) > most and lines[-1].strip():
                lines.append(indent)
            while len((lines[-1] + part).rstrip()) > most:
                room = most - len(lines[-1])
                lines[-1] += part[:room]
                lines.append(indent)
                part = part[room:]
            lines[-1] += part
    return [line.rstrip() for line in lines]


def wrapped(text: str, width: int) -> str:
    """Return prose whose lines are broken between words; commands between back-ticks and coloured lines stay whole."""
    return "\n".join(_wrapped(line, width) for line in text.split("\n"))


def _wrapped(line: str, width: int) -> str:
    if len(line) <= width or "\x1b" in line:
        return line
    whole = _QUOTED.sub(lambda found: found[0].replace(" ", "\0"), line)
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    lines = textwrap.wrap(
        whole, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )
    return "\n".join(lines).replace("\0", " ")
