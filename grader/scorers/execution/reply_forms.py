"""The forms of a reply in which a program is looked for. All of this is about texts: nothing here parses Python."""

from __future__ import annotations

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

    What stands before another question comes first, then the whole reply, both without reasoning; last, with it.
    """
    answer = without_chat_marks(_without_reasoning(reply))
    to_this_question = _ANOTHER_QUESTION.split(answer, maxsplit=1)[0]
    seen = {""}
    for text in (to_this_question, answer, without_chat_marks(reply)):
        for change in _CHANGES if text.strip() else ():
            form = change(text)
            if form.strip() not in seen:
                seen.add(form.strip())
                yield form


_ANOTHER_QUESTION = re.compile(
    r"^#{1,6} *(?:question|instruction|problem)\b|^(?:user|assistant)[ \t]*$|^problem \d+[.:]",
    re.MULTILINE | re.IGNORECASE,
)
"""The beginning of another question, or another turn of a chat."""
_CHAT = r"<[|\uff5c][^<>|\uff5c\n]{1,40}[|\uff5c]>|</?s>|<(?:start|end)_of_turn>|<[eb]os>|\[/?INST\]"
_OPENING = re.compile(rf"\A(?:\s|(?:{_CHAT})(?:assistant|model)?)+(?=\S)")
_CLOSING = re.compile(rf"(?:{_CHAT})[ \t]*$", re.MULTILINE)
_TAG = re.compile(r"^[ \t]*(?:\[/?(?:PYTHON|BEGIN|DONE)\]|</?(?:code|answer)>)", re.MULTILINE | re.IGNORECASE)
_MARKUP = re.compile(r"`{3,}[\w+-]*|</?\w+(?: \w+=[^<>\n]*)?>|(?<=[:*]) +(?=def \w+\(|import \w|from \w+ import )")
_SPAN = re.compile(r"(?<!`)`(?!`)([^`\n]++)`(?!`)")
_VALUE = re.compile(r'(?<!["\\])"((?:[^"\\]|\\.)*+)"(?!")')
"""A text of JSON; not between three quotation marks, as a docstring is. One behind a backslash begins no text."""


def without_chat_marks(reply: str) -> str:
    """Return a reply without the marks of a chat's turns, such as `<|im_end|>`, and with tags around code as fences.

    Marks at its beginning are dropped; the first one that ends a line ends the reply. Byte order marks are dropped,
    and line ends become those of Unix.
    """
    text = reply.replace("\ufeff", "").replace("\r\n", "\n")
    opening = _OPENING.match(text)
    if opening and re.search(_CHAT, opening[0]):  # blanks alone may be the indentation of code
        text = text[opening.end() :]
    if closing := _CLOSING.search(text):
        text = text[: closing.start()]
    return _TAG.sub("```\n", text)


def _without_reasoning(reply: str) -> str:
    """Return a reply without the thoughts before its answer."""
    masked, _ = hide_reasoning(reply)
    if masked == reply:
        return reply
    # `masked` has as many characters as the reply. What differs is a thought, and becomes one line end.
    stretches = groupby(zip(reply, masked, strict=True), lambda pair: pair[0] == pair[1])
    return "".join("".join(b for _, b in pairs) if is_answer else "\n" for is_answer, pairs in stretches)


def _with_markup_on_own_lines(text: str) -> str:
    """Return a text with the markup inside its lines (a fence, a tag, a label) on lines of its own."""
    return _MARKUP.sub("\n```\n", text)


def _with_inline_code_in_blocks(text: str) -> str:
    """Return a text in which inline code (`def f(x): return x`) stands in blocks of its own."""
    return _SPAN.sub(r"\n```\n\1\n```\n", text)


def _with_json_values_in_blocks(text: str) -> str:
    """Return a text with the values of JSON that have several lines (the arguments of a tool call) as blocks."""

    def block(match: re.Match[str]) -> str:
        try:
            value = json.loads(match[0], strict=False)
        except ValueError:
            return match[0]
        has_lines = "\n" in value or "\\n" in value
        return f"\n```\n{_with_json_values_in_blocks(value)}\n```\n" if has_lines else match[0]

    return _VALUE.sub(block, text)


def _with_real_line_ends(text: str) -> str:
    """Return a text with real line ends instead of those written with a backslash, if these are more."""
    if text.count("\\n") <= text.count("\n"):
        return text
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "r": ""}.get(m[1], m[1]), text)


def _displayed_text(text: str) -> str:
    """Return a text as a page shows it: signs instead of their names, usual blanks, no characters that nobody sees."""
    kinds = {"Cf": "", "Zs": " ", "Zl": "\n", "Zp": "\n"}
    return "".join(kinds.get(unicodedata.category(char), char) for char in html.unescape(text))


_CHANGES = (
    str,
    _with_json_values_in_blocks,
    _with_real_line_ends,
    lambda text: _displayed_text(_with_markup_on_own_lines(text)),
    _with_inline_code_in_blocks,
)
"""What makes further forms of a text. On 6,725 published and reported replies, the last three decide 3, 9 and 2."""
