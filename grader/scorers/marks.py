"""The marks between which a benchmark asks for the answer: `{42}`, `【答案】D<eoa>`."""

from __future__ import annotations

import re

from grader.predictions.reasoning import hide_reasoning


def answer_between(text: str, marks: tuple[str, str]) -> tuple[int, int] | None:
    """Return the span of the last text between the marks, outside of reasoning; None if there is none.

    - Two different characters (`{42}`): the outermost pairs count, unless a formula has them, as in `x^{2}`.
    - Equal marks (`**42**`): each second one is an end.
    - Other marks (`【答案】42<eoa>`): without the end, the text is all that follows.
    """
    visible, _ = hide_reasoning(text)
    opening, closing = marks
    if len(opening) == len(closing) == 1 and opening != closing:
        return _last_pair(visible, opening, closing)
    starts = [match.end() for match in re.finditer(re.escape(opening), visible)]
    if opening == closing:
        starts = starts[::2]
    if not starts:
        return None
    start = starts[-1]
    end = visible.find(closing, start)
    return _trimmed_span(visible, start, len(visible) if end < 0 else end)


def _last_pair(text: str, opening: str, closing: str) -> tuple[int, int] | None:
    """Return what is between the last outermost pair of two signs that is not empty and not part of a formula."""
    span, start, depth = None, 0, 0
    for sign in re.finditer(f"[{re.escape(opening + closing)}]", text):
        if sign[0] == opening:
            start = start if depth else sign.start()
            depth += 1
        elif depth:
            depth -= 1
            before = text[start - 1 : start]
            is_in_formula = before.isalnum() or before in ("^", "_", closing, "\\")
            if not depth and not is_in_formula:
                span = _trimmed_span(text, start + 1, sign.start()) or span
    return span


def _trimmed_span(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return a span without the blanks at its ends; None if nothing is left."""
    content = text[start:end]
    start += len(content) - len(content.lstrip())
    return (start, start + len(content.strip())) if content.strip() else None
