"""The regions of a text that are Python, whatever stands around them."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ALLOW_INCOMPLETE_INPUT = 0x4000
"""CPython's flag of this name, as in `codeop`: a statement that could go on is not the same as an invalid one."""
MAX_JOINED = 60
"""Maximum number of lines without indentation in one statement: texts and brackets over several lines."""
MAX_LEVELS = MAX_DEFINITIONS = 20
"""Maximum number of levels of indentation around a definition, and of definitions, the last ones."""
MAX_PARSED, PER_ATTEMPT = 2_000_000, 50
"""Maximum number of characters to parse for one text, and for how many each attempt counts, more if a statement needs
several attempts. All together take about a second."""
_GOES_ON = re.compile(r"\s|$|#|(?:else|elif|except|finally)\b|[)\]}]")
"""The beginning of a line that may belong to the statement above it."""
_INDENT = re.compile(r"[ \t>]*")
"""Indentation, of a quotation too."""

Span = tuple[int, int]
"""A first line, and the line after the last one."""


class Budget:
    """How many characters may still be parsed for one reply."""

    def __init__(self) -> None:
        self.left = MAX_PARSED


def regions(text: str, names: Sequence[str], budget: Budget) -> Iterator[str]:
    """Yield the regions of a text that are Python and may define one of `names`, the last one first.

    A region is a run of whole statements, as long as possible, without their common indentation.
    """
    lines = _Lines(text, budget)
    for indent, span in lines.regions(names):
        yield lines.text(indent, span)


def region_with(text: str, names: Sequence[str], budget: Budget) -> tuple[str, str] | None:
    """Return the last such region, and the text that follows it; None if there is none."""
    lines = _Lines(text, budget)
    found = next(lines.regions(names), None)
    return None if found is None else (lines.text(*found), lines.after(found[1]))


def runs(text: str, budget: Budget, *, begun_by: float = float("inf")) -> Iterator[str]:
    """Yield the runs of statements without indentation in a text that begin in line `begun_by` (from 0) or before."""
    lines = _Lines(text, budget)
    for span in lines.spans_at(""):
        if span[0] > begun_by:
            return
        if (found := lines.text("", span)).strip():
            yield found


class _Lines:
    """The lines of a text, and which of them are Python at a level of indentation."""

    def __init__(self, text: str, budget: Budget) -> None:
        self._lines = text.split("\n")
        self._budget = budget
        self._spans: dict[str, list[Span]] = {}

    def text(self, indent: str, span: Span) -> str:
        """Return these lines without their indentation."""
        return "\n".join(line[len(indent) :] for line in self._lines[slice(*span)]).strip() + "\n"

    def after(self, span: Span) -> str:
        """Return the lines after these."""
        return "\n".join(self._lines[span[1] :])

    def regions(self, names: Sequence[str]) -> Iterator[tuple[str, Span]]:
        """Yield the indentation and the lines of each region, the last one first."""
        if not names:
            return
        defining = re.compile(rf"([ \t>]*)(?:(?:async +)?def|class) +(?:{'|'.join(map(re.escape, names))})\b")
        taken: set[tuple[str, Span]] = set()
        begun = [(number, match[1]) for number, line in enumerate(self._lines) if (match := defining.match(line))]
        for number, deep in begun[: -MAX_DEFINITIONS - 1 : -1]:
            found = self._around(number, deep)
            if found is not None and found not in taken:
                taken.add(found)
                yield found

    def _around(self, number: int, indent: str) -> tuple[str, Span] | None:
        """Return the region with a line. A method or an inner function belongs to what is indented less."""
        above = {_INDENT.match(line)[0] for line in self._lines[:number] if line.strip()}  # type: ignore[index]
        for level in sorted({indent, *filter(indent.startswith, above)}, key=len)[:MAX_LEVELS]:
            for span in self.spans(level):
                if span[0] <= number < span[1]:
                    return level, span
        return None

    def spans(self, indent: str) -> list[Span]:
        """Return the runs of statements with an indentation."""
        if indent not in self._spans:
            self._spans[indent] = list(self.spans_at(indent))
        return self._spans[indent]

    def spans_at(self, indent: str) -> Iterator[Span]:
        """Yield the runs of statements with an indentation, as far as the budget reaches."""
        blank = {"", indent.strip()}
        lines = [
            line[len(indent) :] if line.startswith(indent) else "" if line.strip() in blank else None
            for line in self._lines
        ]
        at = start = 0
        while at < len(lines) and self._budget.left >= 0:
            end = self._statement(lines, at)
            if end is None:
                yield start, at
                start = at + 1
            at = end or at + 1
        yield start, at

    def _statement(self, lines: list[str | None], at: int) -> int | None:
        """Return the end of the statement that begins in a line; None if it begins none."""
        if (first := lines[at]) is not None and (not first.strip() or first[0] == "#"):
            return at + 1
        if first is None or _GOES_ON.match(first):
            return None
        parts: list[str] = []
        for attempt in range(1, MAX_JOINED + 1):
            line = lines[at] if at < len(lines) else None
            if line is None or line.startswith("~~~"):  # a fence, which would parse
                return None
            while line is not None:
                parts.append(line)
                at += 1
                line = lines[at] if at < len(lines) and _GOES_ON.match(lines[at] or "") else None
            self._budget.left -= PER_ATTEMPT * attempt
            if (state := self._state("\n".join([*parts, ""]))) != "incomplete":
                return at if state == "whole" else None
        return None

    def _state(self, source: str) -> Literal["whole", "incomplete", "invalid"]:
        self._budget.left -= len(source)
        if self._budget.left < 0:
            return "invalid"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                compile(source, "<text>", "exec", ast.PyCF_ONLY_AST | ALLOW_INCOMPLETE_INPUT, dont_inherit=True)
            except SyntaxError as error:
                return "incomplete" if error.msg == "incomplete input" else "invalid"
            except (ValueError, MemoryError, RecursionError):
                return "invalid"
        return "whole"
