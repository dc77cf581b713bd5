"""The spans of lines in a text that are Python, whatever stands around them: as long as possible."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from grader.files.python_source import tree_from

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ALLOW_INCOMPLETE_INPUT = 0x4000
"""CPython's flag of this name, as in `codeop`: a statement that could go on is not the same as an invalid one."""
MAX_JOINED = 60
"""Maximum number of lines without indentation in one statement: texts and brackets over several lines."""
MAX_PARSED = 2_000_000
"""Maximum number of characters to parse for one text; takes about a second."""
PER_ATTEMPT = 50
"""What an attempt to parse a statement costs besides its characters. The second costs twice as many, the third three
times, because each parses the earlier lines again."""
_CONTINUATION = re.compile(r"\s|$|#|(?:else|elif|except|finally)\b")
"""The beginning of a line that may belong to the statement above it."""


class Budget:
    """How many characters may still be parsed for one reply."""

    def __init__(self) -> None:
        self.characters = MAX_PARSED


def code_spans(text: str, budget: Budget, *, begun_by: float = float("inf")) -> Iterator[str]:
    """Yield the spans of Python in a text that begin in line `begun_by` (from 0) or before; some are empty."""
    lines = text.split("\n")
    for start, end in _line_spans(lines, budget):
        if start > begun_by:
            return
        yield "\n".join(lines[start:end]).strip() + "\n"


def last_definition_and_text_behind(text: str, names: Sequence[str], budget: Budget) -> tuple[str, str] | None:
    """Return the last span that defines one of the names, and the text behind it; None if there is none."""
    lines, last = text.split("\n"), None
    definition = re.compile(rf"[ \t]*(?:(?:async +)?def|class) +(?:{'|'.join(map(re.escape, names))})\b")
    for start, end in _line_spans(lines, budget):
        if any(map(definition.match, lines[start:end])):
            last = start, end
    return None if last is None else ("\n".join(lines[slice(*last)]).strip() + "\n", "\n".join(lines[last[1] :]))


def _line_spans(lines: Sequence[str], budget: Budget) -> Iterator[tuple[int, int]]:
    """Yield the first line of each span, and the line after its last one, as far as the budget reaches.

    Lines that begin no statement separate spans. Between two such lines in a row, the span is empty.
    """
    start = line = 0
    while line < len(lines) and budget.characters >= 0:
        end = _end_of_statement(lines, line, budget)
        if end is not None:
            line = end
        else:
            yield start, line
            start = line = line + 1
    yield start, line


def _end_of_statement(lines: Sequence[str], start: int, budget: Budget) -> int | None:
    """Return the line after the statement that begins in a line; None if no complete one does.

    A blank line and a comment count as statements of one line; a line that may continue one begins none.
    """
    if not lines[start].strip() or lines[start][0] == "#":
        return start + 1
    if _CONTINUATION.match(lines[start]):
        return None
    end = start
    for attempt in range(1, MAX_JOINED + 1):
        if end == len(lines):
            return None
        end += 1
        while end < len(lines) and _CONTINUATION.match(lines[end]):
            end += 1
        budget.characters -= PER_ATTEMPT * attempt
        parsed = _parse_result("\n".join([*lines[start:end], ""]), budget)
        if parsed != "incomplete":
            return end if parsed == "whole" else None
    return None


def _parse_result(source: str, budget: Budget) -> Literal["whole", "incomplete", "invalid"]:
    """Return whether lines are whole statements; without a budget left, they count as invalid."""
    budget.characters -= len(source)
    if budget.characters < 0:
        return "invalid"
    try:
        tree_from(source, ALLOW_INCOMPLETE_INPUT)
    except SyntaxError as error:
        return "incomplete" if error.msg == "incomplete input" else "invalid"
    except (ValueError, MemoryError, RecursionError):
        return "invalid"
    return "whole"
