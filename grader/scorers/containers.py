"""Answers in containers: LaTeX boxes, answer tags, JSON fields."""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

from grader.scorers.patterns import Pattern


class Wrapped(NamedTuple):
    """A container in a reply, and the span of its content."""

    rule: str
    start: int
    end: int
    inner: tuple[int, int]


_BOX = Pattern(r"\\f?boxed\s*\{")
_BOX_SIMPLE = Pattern(r"<\|begin_of_box\|>([^<]{0,400})<\|end_of_box\|>|\\f?boxed\s+([A-Za-z])\b")
_UNIT = Pattern(r"\s?\$?\s?(?:\\text\{\s?)?[A-Za-z°%µΩ]{1,3}\b")
"""The unit behind a box with a number."""
_NAMES = "answer|final_?answer|final|conclusion|choice|option|letter|result|ans|output|response|solution"
_TAG = Pattern(rf"(?:<(/?)({_NAMES})\s*>|\[(/?)(answer|final_?answer)\])", re.IGNORECASE)
_FIELD = Pattern(
    r"[{,\s][\"']?(?:(?:final|correct|my|model|best|selected|chosen)[_ ]?)?(?:answer|choice|option|letter|"
    r"prediction|selection|label|答案)"
    r"(?:[_ ](?:letter|choice|option))?[\"']\s*:\s*(\[\s*)?(?:\"([^\"\n]{0,300})\"|'([^'\n]{0,300})'|"
    r"(true|false|[A-Za-z])\b)",
    re.IGNORECASE,
)
_MOST = 60


def find_wrapped(text: str) -> list[Wrapped]:
    """Return the containers in order of position, only the last few dozen; an unclosed tag extends to the end."""
    places: list[Wrapped] = []
    if "box" in text:
        places += _boxes(text)
    if "<" in text or "[" in text:
        places += _tags(text)
    if ":" in text and ("{" in text or '"' in text):
        for m in deque(_FIELD.finditer(text), _MOST):
            places.append(_field(m, text))
    places.sort(key=lambda w: (w.start, -w.end))
    return _outermost(places)


def _field(m: re.Match[str], text: str) -> Wrapped:
    """Return a JSON field's value, or all items if it is an array."""
    start, end = next(m.span(g) for g in (2, 3, 4) if m[g] is not None)
    close = text.find("]", m.end(), m.end() + 300) if m[1] else -1
    if close >= 0 and text[m.end() : close].strip():
        return Wrapped("json", m.start() + 1, close + 1, (m.end(1), close))
    return Wrapped("json", m.start() + 1, m.end(), (start, end))


def _outermost(places: list[Wrapped]) -> list[Wrapped]:
    outer: list[Wrapped] = []
    for place in places:
        if not outer or place.start >= outer[-1].end:
            outer.append(place)
    return outer


def _boxes(text: str) -> list[Wrapped]:
    boxes = []
    for m in deque(_BOX.finditer(text), _MOST):
        end = _closing_brace(text, m.end())
        if end is not None:
            unit = _UNIT.match(text, end + 1) if text[end - 1].isdigit() else None
            boxes.append(Wrapped("boxed", m.start(), unit.end() if unit else end + 1, (m.end(), end)))
    for m in deque(_BOX_SIMPLE.finditer(text), _MOST):
        boxes.append(Wrapped("boxed", m.start(), m.end(), m.span(1 if m[1] is not None else 2)))
    return boxes


def _closing_brace(text: str, start: int, most: int = 600) -> int | None:
    depth = 1
    for at in range(start, min(len(text), start + most)):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if not depth:
                return at
    return None


def _tags(text: str) -> list[Wrapped]:
    tags: list[Wrapped] = []
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        closing = bool(tag[1] or tag[3])
        if not closing:
            opened = tag
        elif opened is not None:
            tags.append(Wrapped("answer_tag", opened.start(), tag.end(), (opened.end(), tag.start())))
            opened = None
    if opened is not None:
        tags.append(Wrapped("answer_tag", opened.start(), len(text), (opened.end(), len(text))))
    return tags[-_MOST:]
