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
    """Yield the forms of a reply in which a program is looked for: as it stands, and changed in several ways.

    What stands before another question comes first, then the whole reply, at last with its reasoning.
    """
    answer = unframed(_answer(reply))
    texts = [text for text in (_ANOTHER.split(answer, maxsplit=1)[0], answer, unframed(reply)) if text.strip()]
    seen: set[str] = set()
    for text in texts:
        for change in _CHANGES:
            form = change(text)
            if form.strip() not in seen:
                seen.add(form.strip())
                yield form


_ANOTHER = re.compile(
    r"^#{1,6} *(?:question|instruction|problem|task|exercise)\b|^(?:user|assistant|human)[ \t]*$|^(?:human|user|q): "
    r"|^(?:question|problem|task|exercise) \d+[.:]|\[/?INST\]",
    re.MULTILINE | re.IGNORECASE,
)
"""The beginning of another question, or another turn of a chat."""
_CHAT = r"<[|\uff5c][^<>|\uff5c\n]{1,40}[|\uff5c]>|</?s>|<(?:start|end)_of_turn>|<[eb]os>|\[/?INST\]"
_OPENING = re.compile(rf"\A(?:\s|(?:{_CHAT})(?:assistant|model)?)+(?=\S)")
_CLOSING = re.compile(rf"(?:{_CHAT})[ \t]*$", re.MULTILINE)
_TAG = re.compile(r"^[ \t]*(?:\[/?(?:PYTHON|CODE|ANSWER|SOLUTION|BEGIN|DONE)\]|</?(?:python|code|answer|solution)>)", re.M | re.I)  # fmt: skip # noqa: E501
_MARKUP = re.compile(r"`{3,}[\w+-]*|</?\w+(?: \w+=[^<>\n]*)?>|\[/?[A-Z]+\]|(?<=[:*]) +(?=def \w+\(|import \w|from \w+ import )")  # fmt: skip # noqa: E501
_INDENTED = re.compile(r"^((?!(?:def|class|async|for|while|if|elif|else|try|except|finally|with|match)\b|[@\s]).*[:.]\n)((?:\n| {4}.*\n)+)", re.MULTILINE)  # fmt: skip # noqa: E501
_QUOTED = re.compile(r"^'''(?:python|py)[ \t]*\n(.*?)(?:^'''[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`(?!`)([^`\n]++)`(?!`)")
_TRANSCRIPT = re.compile(r"^[ \t]*(?:>>>|\.\.\.)(?: |$)", re.MULTILINE)
_HEADER = re.compile(r"\+\+\+ |--- |@@|diff |index ")
_ADDED = re.compile(rf"\+|{_HEADER.pattern}")
_VALUE = re.compile(r'(?<!["\\])"((?:[^"\\]|\\.)*+)"(?!")')
"""A text of JSON; not between three quotation marks, as a docstring is. One behind a backslash begins no text."""


def unframed(reply: str) -> str:
    """Return a reply without a byte order mark and chat markers, with line ends of Unix, and tags as fences."""
    text = reply.replace("\ufeff", "").replace("\r\n", "\n")
    if opening := _OPENING.match(text):
        text = text[opening.end() :] if re.search(_CHAT, opening[0]) else text
    if closing := _CLOSING.search(text):
        text = text[: closing.start()]
    return _TAG.sub("```\n", _QUOTED.sub(r"```python\n\1\n```\n", text))


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


def _inline_code_in_blocks(text: str) -> str:
    """Return a text in which inline code (`def f(x): return x`) stands in blocks of its own."""
    return _SPAN.sub(r"\n```\n\1\n```\n", text)


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


_CHANGES = (
    str,
    on_own_lines,
    _in_blocks,
    _with_values,
    _unescaped,
    lambda t: _plain(on_own_lines(t)),
    _inline_code_in_blocks,
)


def unmarked(text: str) -> str:
    """Return a text without the marks at the beginning of its lines: of a quotation, a transcript or a difference."""
    lines = text.split("\n")
    if all(line.lstrip().startswith(">") or not line.strip() for line in lines) and not _TRANSCRIPT.search(text):
        return re.sub(r"^[ \t]*>", "", text, flags=re.MULTILINE)
    if _TRANSCRIPT.match(text):
        return "\n".join(line[match.end() :] for line in lines if (match := _TRANSCRIPT.match(line)))
    if all(_ADDED.match(line) or not line.strip() for line in lines):
        return "\n".join(line[1:] for line in lines if not _HEADER.match(line))
    return text
