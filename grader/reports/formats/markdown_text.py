r"""Untrusted text in GitHub's Markdown: any text shows as text and has no effect.

Escaping alone is not enough. GitHub searches the rendered text for `@people`, `#12`, `GH-12`, commit hashes, addresses
and `:emoji:`, so that even `\@people` sends a notification. It does not search in code. So quoted text becomes a code
span, and in prose every word that is not clearly a plain word or number becomes one.
"""

from __future__ import annotations

import re

from markupsafe import Markup

from grader.wording import clean

_PIECE = re.compile(r"(\(?)`([^`]*[^`\s][^`]*)`([.,:;)]*)(?!\S)|(\S+)")
"""Code that a sentence quotes, or a word."""
_ENDS = re.compile(r"(\(?)(.*[^.,:;)])([.,:;)]*)")
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?|(?![A-Z]+-)[^\W\d_]+(?:-[^\W\d_]+)+")
_NUMBER = re.compile(r"[-+\N{MINUS SIGN}]?\d{1,6}(?:,\d{3}){0,3}(?:\.\d{1,6}){0,2}%?|%|->|†")
_HASH = re.compile(r"[0-9a-fA-F]{7,}")
_NAME = re.compile(r"·|(?![A-Z]+-)[^\W_]+(?:(?:[-_=,]|\.(?=\d))[^\W_]+)*[:,]?")
_JOINTS = re.compile(r"[-._=:,]")
_LIST_MARK = re.compile(r"\d+[.)]|=")


def code(text: str, limit: int = 120) -> Markup:
    """Return a code span of one line, cut at `limit` characters; empty if the text has no visible character."""
    # A bar ends a table cell even in a code span, and parsers treat a backslash before a bar differently. So bars
    # are placed between code spans, as entities.
    return Markup("&#124;").join(map(_code_span, _line(text, limit).split("|")))


def prose(text: str, limit: int = 600) -> Markup:
    """Return a sentence of the grader as text; everything in it but plain words and numbers becomes a code span.

    What the sentence has between back-ticks is one code span. Brackets and punctuation around a word stay outside.
    """
    pieces = _PIECE.finditer(_line(text, limit))
    return Markup(" ").join(_piece(match, limit, is_first=index == 0) for index, match in enumerate(pieces))


def heading(text: str, limit: int = 120) -> Markup:
    """Return a heading as text, with names such as `lmms-eval-0.7.1`; any other word with a meaning is a code span."""
    words = _line(text, limit).split(" ")
    return Markup(" ").join(Markup(word) if _is_name(word) else prose(word, limit) for word in words)  # noqa: S704 - see `_is_name`


def _is_name(word: str) -> bool:
    """Whether a word is a name or number that GitHub makes no link of: no hash, no address, no issue."""
    parts = _JOINTS.split(word)
    return _NAME.fullmatch(word) is not None and not any(map(_HASH.fullmatch, parts)) and parts[0].lower() != "www"


def _piece(match: re.Match[str], limit: int, *, is_first: bool) -> Markup:
    """Return a match of `_PIECE`: code between back-ticks, with the punctuation around it, or any other word."""
    before, content, after, word = match.groups()
    if word is not None:
        return _prose_word(word, limit, is_first=is_first)
    return Markup(before) + code(content, limit) + Markup(after)  # noqa: S704 - brackets and punctuation


def _prose_word(word: str, limit: int, *, is_first: bool) -> Markup:
    """Return a plain word as text, any other as code.

    The first one of a line is also code if it could begin a list or, as `=`, make a heading of the line before.
    """
    if is_first and _LIST_MARK.fullmatch(word):
        return code(word, limit)
    ends = _ENDS.fullmatch(word)
    before, content, after = ends.groups() if ends else ("", word, "")
    if _is_plain(content):
        return Markup(word)  # noqa: S704 - it has no character with a meaning in Markdown
    return Markup(before) + code(content, limit) + Markup(after)  # noqa: S704 - brackets and punctuation


def _line(text: str, limit: int) -> str:
    # Only the part that can be shown is processed, so that a text of megabytes costs no more than a short one.
    words = " ".join(clean(text[: 4 * limit]).split())
    return words if len(words) <= limit and len(text) <= 4 * limit else words[: limit - 1] + "…"


def _is_plain(word: str) -> bool:
    """Whether a word is a number or an ordinary word, of which neither Markdown nor GitHub makes anything."""
    is_word = _WORD.fullmatch(word) is not None and not _HASH.fullmatch(word)
    return is_word or word == "=" or _NUMBER.fullmatch(word) is not None


def _code_span(part: str) -> Markup:
    if not part.strip():
        return Markup(part)  # noqa: S704 - blanks
    fence = "`"
    while fence in part:
        fence += "`"
    # A parser removes one blank from each end if both ends have one, and a backtick would lengthen the fence.
    ends = {part[0], part[-1]}
    pad = " " if "`" in ends or ends == {" "} else ""
    return Markup(f"{fence}{pad}{part}{pad}{fence}")  # noqa: S704 - a code span holds anything but its own fence
