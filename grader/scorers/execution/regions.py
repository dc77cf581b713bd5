"""The runs of lines in a text that are Python, whatever stands around them."""

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
MAX_PARSED, PER_ATTEMPT = 2_000_000, 50
"""Maximum number of characters to parse for one text, and for how many each attempt counts, more if a statement needs
several attempts. All together take about a second."""
_GOES_ON = re.compile(r"\s|$|#|(?:else|elif|except|finally)\b|[)\]}]")
"""The beginning of a line that may belong to the statement above it."""


class Budget:
    """How many characters may still be parsed for one reply."""

    def __init__(self) -> None:
        self.left = MAX_PARSED


def runs(text: str, budget: Budget, *, begun_by: float = float("inf")) -> Iterator[str]:
    """Yield the longest runs of statements in a text that begin in line `begun_by` (from 0) or before."""
    lines = text.split("\n")
    for start, end in _runs(lines, budget):
        if start > begun_by:
            return
        if found := "\n".join(lines[start:end]).strip():
            yield found + "\n"


def last_run(text: str, names: Sequence[str], budget: Budget) -> tuple[str, str] | None:
    """Return the last run that defines one of the names, and the text that follows it; None if there is none."""
    lines, found = text.split("\n"), None
    defining = re.compile(rf"[ \t]*(?:(?:async +)?def|class) +(?:{'|'.join(map(re.escape, names))})\b")
    for start, end in _runs(lines, budget):
        if any(map(defining.match, lines[start:end])):
            found = start, end
    return None if found is None else ("\n".join(lines[slice(*found)]).strip() + "\n", "\n".join(lines[found[1] :]))


def _runs(lines: Sequence[str], budget: Budget) -> Iterator[tuple[int, int]]:
    """Yield the first line of each run, and the line after its last one, as far as the budget reaches."""
    at = start = 0
    while at < len(lines) and budget.left >= 0:
        end = _end_of_statement(lines, at, budget)
        if end is None:
            yield start, at
            start = at + 1
        at = end or at + 1
    yield start, at


def _end_of_statement(lines: Sequence[str], at: int, budget: Budget) -> int | None:
    """Return the end of the statement that begins in a line; None if it begins none."""
    if not lines[at].strip() or lines[at][0] == "#":
        return at + 1
    if _GOES_ON.match(lines[at]):
        return None
    parts: list[str] = []
    for attempt in range(1, MAX_JOINED + 1):
        if at == len(lines) or lines[at].startswith("~~~"):  # a fence, which would parse
            return None
        parts.append(lines[at])
        at += 1
        while at < len(lines) and _GOES_ON.match(lines[at]):
            parts.append(lines[at])
            at += 1
        budget.left -= PER_ATTEMPT * attempt
        if (state := _state("\n".join([*parts, ""]), budget)) != "incomplete":
            return at if state == "whole" else None
    return None


def _state(source: str, budget: Budget) -> Literal["whole", "incomplete", "invalid"]:
    budget.left -= len(source)
    if budget.left < 0:
        return "invalid"
    try:
        tree_from(source, ALLOW_INCOMPLETE_INPUT)
    except SyntaxError as error:
        return "incomplete" if error.msg == "incomplete input" else "invalid"
    except (ValueError, MemoryError, RecursionError):
        return "invalid"
    return "whole"
