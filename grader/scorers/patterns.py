"""Regular expressions that are compiled at first use: start-up needs none of them, and most replies need few."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Lines = dict[str, "int | str"]
"""Wordings that mean the same, as alternatives of a regular expression -> why they stand in the table.

A number: how many of 100,000 published replies are read differently without the line (`make counts`). A text: the
public report that needs it, or the principle that has few cases in data.
"""


class _Pattern:
    """A regular expression with the methods of `re.Pattern`."""

    lines: Mapping[str, Lines] = {}
    """The lines of its wordings, by their place in the form."""
    form = ""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern, self.flags = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    def __getattr__(self, name: str) -> Any:
        method = self.__dict__[name] = getattr(self._compiled, name)
        return method


if TYPE_CHECKING:
    Pattern = re.compile
else:
    Pattern = _Pattern


def pattern_of_wordings(form: str, flags: int = 0, **lines: Lines) -> re.Pattern[str]:
    r"""Return a pattern that has, for each `<name>` in its form, the lines of that name as alternatives.

    `pattern_of_wordings(r"\b<verb> b", verb={"choose": 7, "take": 9})` is the pattern `\b(?:choose|take) b`; `Lines`
    explains the numbers. It keeps its form and lines, so that `make counts` can leave out one line at a time.
    """
    expression = form
    for name, alternatives in lines.items():
        expression = expression.replace(f"<{name}>", f"(?:{'|'.join(alternatives)})")
    pattern = _Pattern(expression, flags)
    pattern.form, pattern.lines = form, lines
    return pattern  # type: ignore[return-value]


F = TypeVar("F", bound="Callable[..., Any]")


def heuristic(*, decides_per_100_000: int = 0, needed_by: str = "", when_disabled: object = None) -> Callable[[F], F]:
    """Register a function for a special case that no principle of the reader covers.

    `make counts` counts the replies that it decides: those that are read differently if it returns `when_disabled`.
    `decides_per_100_000`: how many of 100,000 these are. `needed_by`: else the public report that needs the function.
    """

    def register(function: F) -> F:
        HEURISTICS.append(Heuristic(function, when_disabled))
        return function

    return register


class Heuristic(NamedTuple):
    """A function for a special case; see `heuristic`."""

    function: Callable[..., Any]
    when_disabled: object


HEURISTICS: list[Heuristic] = []
"""The heuristics of all modules that are imported."""
