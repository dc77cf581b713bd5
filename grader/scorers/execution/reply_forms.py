"""The forms of a reply in which a program is looked for, and the mends of a block that is not Python.

All of this is about texts: nothing here parses Python.
"""

from __future__ import annotations

import contextlib
import html
import json
import re
import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING

from grader.predictions.reasoning import hide_reasoning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

USUAL_INDENT = " " * 4


def forms(reply: str) -> Iterator[str]:
    """Yield the forms of a reply in which a program is looked for: as it stands, then with more and more mended."""
    bare = unframed(reply)
    changes: tuple[Callable[[str], str], ...] = (
        str,
        on_own_lines,
        _decoded,
        _unescaped,
        lambda text: _unescaped(text, in_strings=False),
        lambda text: _unmarked(_plain(text)),
    )
    yield from dict.fromkeys(
        change(text) for text in (unframed(_answer(reply)), bare) if text.strip() for change in changes
    )


_CHAT = r"<[|\uff5c][^<>|\uff5c\n]{1,40}[|\uff5c]>|</?s>|<(?:start|end)_of_turn>|<[eb]os>|\[/?INST\]"
_OPENING = re.compile(rf"\A(?:\s|(?:{_CHAT})(?:assistant|model)?)+(?=\S)")
_CLOSING = re.compile(rf"(?:{_CHAT})[ \t]*$", re.MULTILINE)
_TAG = re.compile(r"^[ \t]*(?:\[/?(?:PYTHON|CODE|ANSWER|SOLUTION|BEGIN|DONE)\]|</?(?:python|code|answer|solution)>)", re.M | re.I)  # fmt: skip # noqa: E501
_CLOSED = re.compile(r"(?<=[^\s`\"'])(?:```+|\[/(?:PYTHON|CODE|ANSWER|SOLUTION)\]|</(?:python|code|answer|solution)>)[ \t]*$", re.M | re.I)  # fmt: skip # noqa: E501
_MARKUP = re.compile(r"`{3,}[\w+-]*|'''(?:python|py)3?$|</?\w+(?: \w+=[^<>\n]*)?>|\[/?[A-Z]+\]|<!\[CDATA\[|\]\]>|(?<=[:.*])[ ]+(?=(?:def|class) \w+[(:]|import \w|from \w+ import )", re.MULTILINE)  # fmt: skip # noqa: E501


def unframed(reply: str) -> str:
    """Return a reply without a byte order mark and chat markers, with line ends of Unix, and tags as fences."""
    text = reply.replace("\ufeff", "").replace("\r\n", "\n")
    if opening := _OPENING.match(text):
        text = text[opening.end() :] if re.search(_CHAT, opening[0]) else text
    if closing := _CLOSING.search(text):
        text = text[: closing.start()]
    return _CLOSED.sub("\n```", _TAG.sub("```\n", text))


def _answer(reply: str) -> str:
    """Return a reply without the thoughts before its answer, if there is an answer."""
    hidden, _ = hide_reasoning(reply)
    if hidden == reply or not hidden.strip():
        return reply
    same = groupby(zip(reply, hidden, strict=True), lambda pair: pair[0] == pair[1])
    return "".join("".join(b for _, b in pairs) if is_same else "\n" for is_same, pairs in same)


def on_own_lines(text: str) -> str:
    """Return a text with the markup inside its lines (a fence, a tag, a label) on lines of its own."""
    return _MARKUP.sub("\n```\n", re.sub(r"<br ?/?>", "\n", text))


_VALUE = re.compile(r"(?<=[:\[{]) *('{3}|\"{3}|['\"])((?:(?!\1)[^\\]|\\.)*+)\1", re.DOTALL)


def _decoded(text: str) -> str:
    """Return a text with the longer values of JSON (the arguments of a tool call) or of a literal as blocks."""

    def block(match: re.Match[str]) -> str:
        value = match[2]
        with contextlib.suppress(ValueError):
            value = json.loads(f'"{value}"', strict=False)
        return f"\n```\n{_decoded(value)}\n```\n" if "\n" in value or "\\n" in value else match[0]

    return _VALUE.sub(block, text)


_STRING = re.compile(r"(\"\"\"|''').*?\1|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\\n", re.DOTALL)


def _unescaped(text: str, *, in_strings: bool = True) -> str:
    """Return a text with real line ends instead of those written with a backslash, if these are more.

    `in_strings`: also in the strings of the program, which were escaped with the rest.
    """
    if text.count("\\n") <= text.count("\n"):
        return text
    if in_strings:
        return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "r": ""}.get(m[1], m[1]), text)
    return _STRING.sub(lambda m: m[0].replace("\\n", "\n") if m[0][:1] == "\\" or m[1] else m[0], text)


# --- the mends of a block that is not Python ----------------------------------------------------------------------


_MARK = re.compile(r"^(?:[ \t]*(?:>>> ?|\.{3}:?(?: |$)|In \[[0-9]+\]: ?|[0-9]+(?: ?[:|.)] ?|\t| ))|\+)", re.MULTILINE)
_QUOTED = re.compile(r"\s*('{1,3}|\"{1,3}|`{1,2}|\*\*)(?:python3?\n)?(.*)\1\s*", re.DOTALL)


def _unmarked(text: str) -> str:
    """Return a text without the marks before its lines (a prompt, a number, a plus)."""
    return _MARK.sub("", text)


def _plain(text: str) -> str:
    """Return a text without characters that nobody sees, with usual blanks, line ends and indentation."""
    kinds = {"Cf": "", "Zs": " ", "Zl": "\n", "Zp": "\n"}
    text = "".join(c if c.isascii() else kinds.get(unicodedata.category(c), c) for c in text)
    return text.replace("\t", USUAL_INDENT)


def _patched(text: str) -> str:
    """Return the new lines of a difference, and those that stay."""
    lines = [line for line in text.split("\n") if not line.startswith(("-", "@@", "+++"))]
    is_difference = any(line.startswith("+") for line in lines)
    return "\n".join(line[line[:1] in "+ " :] for line in lines) if is_difference else text


def _unquoted(text: str) -> str:
    """Return what stands between quotation marks."""
    match = _QUOTED.fullmatch(text)
    return match[2] if match else text


def _page(text: str) -> str:
    """Return the text of a page."""
    return html.unescape(re.sub(r"</?\w+(?: [^<>\n]*)?>", "\n", text))


MENDS = (html.unescape, _page, _plain, str.expandtabs, _unmarked, _patched, _unquoted)
"""What may make Python of a block that is not Python. Each takes a text and returns one."""
