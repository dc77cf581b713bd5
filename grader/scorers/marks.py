"""The marks between which a benchmark asks for the answer: `{42}`, `【答案】D<eoa>`."""

from __future__ import annotations

import re

from grader.predictions.reasoning import hide_reasoning


def answer_between(text: str, marks: tuple[str, str]) -> tuple[int, int] | None:
    """Return the span of the last text between the marks, outside of reasoning; None if there is none.

    Single signs are paired, and one behind a letter, `^`, `_` or `}` belongs to a formula. Of equal marks, each second
    one is an end. If the end of a longer mark is missing, the text is all that follows.
    """
    visible, _ = hide_reasoning(text)
    first, second = marks
    if len(first) == len(second) == 1 and first != second:
        return _last_pair(visible, first, second)
    starts = [match.end() for match in re.finditer(re.escape(first), visible)]
    if first == second:
        starts = starts[::2]
    if not starts:
        return None
    start = starts[-1]
    end = visible.find(second, start)
    return _trimmed(visible, start, len(visible) if end < 0 else end)


def _last_pair(text: str, first: str, second: str) -> tuple[int, int] | None:
    found, opened, depth = None, 0, 0
    for sign in re.finditer(f"[{re.escape(first + second)}]", text):
        if sign[0] == first:
            opened = opened if depth else sign.start()
            depth += 1
        elif depth:
            depth -= 1
            before = text[opened - 1 : opened]
            if not depth and not (before.isalnum() or before in ("^", "_", second, "\\")):
                found = _trimmed(text, opened + 1, sign.start()) or found
    return found


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    content = text[start:end]
    start += len(content) - len(content.lstrip())
    return (start, start + len(content.strip())) if content.strip() else None
