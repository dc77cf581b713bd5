"""The forms of a reply in which a program is looked for. All of this is about texts: nothing here parses Python."""

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
    from collections.abc import Iterator


def forms(reply: str) -> Iterator[str]:
    """Yield the forms of a reply in which a program is looked for: as it stands, and changed in several ways."""
    texts = [text for text in (unframed(_answer(reply)), unframed(reply)) if text.strip()]
    changes = (str, on_own_lines, _in_blocks, _with_values, _unescaped, lambda text: _plain(on_own_lines(text)))
    yield from dict.fromkeys(change(text) for text in texts for change in changes)


_CHAT = r"<[|\uff5c][^<>|\uff5c\n]{1,40}[|\uff5c]>|</?s>|<(?:start|end)_of_turn>|<[eb]os>|\[/?INST\]"
_OPENING = re.compile(rf"\A(?:\s|(?:{_CHAT})(?:assistant|model)?)+(?=\S)")
_CLOSING = re.compile(rf"(?:{_CHAT})[ \t]*$", re.MULTILINE)
_TAG = re.compile(r"^[ \t]*(?:\[/?(?:PYTHON|CODE|ANSWER|SOLUTION|BEGIN|DONE)\]|</?(?:python|code|answer|solution)>)", re.M | re.I)  # fmt: skip # noqa: E501
_MARKUP = re.compile(r"`{3,}[\w+-]*|</?\w+(?: \w+=[^<>\n]*)?>|\[/?[A-Z]+\]|(?<=[:*]) +(?=def \w+\(|import \w|from \w+ import )")  # fmt: skip # noqa: E501
_INDENTED = re.compile(r"^((?!(?:def|class|async|for|while|if|elif|else|try|except|finally|with|match)\b|[@\s]).*[:.]\n)((?:\n| {4}.*\n)+)", re.MULTILINE)  # fmt: skip # noqa: E501
_VALUE = re.compile(r'"((?:[^"\\]|\\.)*+)"')


def unframed(reply: str) -> str:
    """Return a reply without a byte order mark and chat markers, with line ends of Unix, and tags as fences."""
    text = reply.replace("\ufeff", "").replace("\r\n", "\n")
    if opening := _OPENING.match(text):
        text = text[opening.end() :] if re.search(_CHAT, opening[0]) else text
    if closing := _CLOSING.search(text):
        text = text[: closing.start()]
    return _TAG.sub("```\n", text)


def _answer(reply: str) -> str:
    """Return a reply without the thoughts before its answer, if there is an answer."""
    hidden, _ = hide_reasoning(reply)
    if hidden == reply or not hidden.strip():
        return reply
    same = groupby(zip(reply, hidden, strict=True), lambda pair: pair[0] == pair[1])
    return "".join("".join(b for _, b in pairs) if is_same else "\n" for is_same, pairs in same)


def on_own_lines(text: str) -> str:
    """Return a text with the markup inside its lines (a fence, a tag, a label) on lines of its own."""
    return _MARKUP.sub("\n```\n", text)


def _in_blocks(text: str) -> str:
    """Return a text with fences around the indented lines that follow a sentence, as Markdown reads them."""
    return _INDENTED.sub(r"\1```\n\2```\n", text + "\n")


def _with_values(text: str) -> str:
    """Return a text with the values of JSON that have several lines (the arguments of a tool call) as blocks."""

    def block(match: re.Match[str]) -> str:
        with contextlib.suppress(ValueError):
            value = json.loads(match[0], strict=False)
            return f"\n```\n{_with_values(value)}\n```\n" if "\n" in value or "\\n" in value else match[0]
        return match[0]

    return _VALUE.sub(block, text)


def _unescaped(text: str) -> str:
    """Return a text with real line ends instead of those written with a backslash, if these are more."""
    if text.count("\\n") <= text.count("\n"):
        return text
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "r": ""}.get(m[1], m[1]), text)


def _plain(text: str) -> str:
    """Return a text as a page shows it: signs instead of their names, usual blanks, no characters that nobody sees."""
    kinds = {"Cf": "", "Zs": " ", "Zl": "\n", "Zp": "\n"}
    return "".join(kinds.get(unicodedata.category(char), char) for char in html.unescape(text))
