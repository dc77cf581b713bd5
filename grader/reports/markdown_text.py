r"""Untrusted text in GitHub's Markdown: it shows as text, whatever it is, and does nothing.

Escaping alone is not enough there. GitHub looks for `@people`, `#12`, `GH-12`, commit hashes, addresses and `:emoji:`
in the text that is left when Markdown has been read, so that `\@people` notifies all the same. It does not look into
code. Hence what is quoted is a code span, and of what is prose the words that could be anything else are.
"""

from __future__ import annotations

import re
from itertools import groupby

from markupsafe import Markup

from grader.reports.text import clean

_WORD = re.compile(r"\(?(?:[^\W\d_]+(?:'[a-z]+)?|[a-z]+(?:-[a-z]+)+)[.,:;)]*")
_NUMBER = re.compile(r"(?:\(?[-+]?\d{1,6}(?:\.\d{1,6})?%?|%|->)[.,:;)]*")
_HASH = re.compile(r"\(?[0-9a-fA-F]{7,}[.,:;)]*")
_LIST_MARK = re.compile(r"\d+[.)]")


def code(text: str, limit: int = 120) -> Markup:
    """Return a code span of one line, cut at `limit` characters; nothing where the text shows nothing."""
    # A table ends its cell at a bar even in a code span, and how a backslash before it reads differs from parser to
    # parser: bars stand outside, as entities.
    return Markup("&#124;").join(map(_span, _line(text, limit).split("|")))


def prose(text: str, limit: int = 600) -> Markup:
    """Return a sentence of ours as text, with whatever in it is no plain word or number in code spans."""
    words = _line(text, limit).split(" ")
    quiet = [_is_quiet(word, first=number == 0) for number, word in enumerate(words)]
    runs = groupby(zip(words, quiet, strict=True), key=lambda pair: pair[1])
    # Quiet words hold no character that means anything to Markdown.
    parts = [(" ".join(word for word, _ in run), plain) for plain, run in runs]
    return Markup(" ").join(Markup(run) if plain else code(run, limit) for run, plain in parts)  # noqa: S704


def _line(text: str, limit: int) -> str:
    # Only what can be shown is read: a text of megabytes costs no more than a short one.
    words = " ".join(clean(text[: 4 * limit]).split())
    return words if len(words) <= limit and len(text) <= 4 * limit else words[: limit - 1] + "…"


def _is_quiet(word: str, *, first: bool) -> bool:
    if _WORD.fullmatch(word):
        return not _HASH.fullmatch(word)
    if first and _LIST_MARK.fullmatch(word):
        return False
    if word == "=" and not first:
        return True
    return _NUMBER.fullmatch(word) is not None


def _span(part: str) -> Markup:
    if not part.strip():
        return Markup(part)  # noqa: S704 - blanks
    fence = "`"
    while fence in part:
        fence += "`"
    # A parser takes one blank off each end where both have one, and a backtick would lengthen the fence.
    ends = {part[0], part[-1]}
    pad = " " if "`" in ends or ends == {" "} else ""
    return Markup(f"{fence}{pad}{part}{pad}{fence}")  # noqa: S704 - a code span holds anything but its own fence
