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


def wordings(form: str, flags: int = 0, **lines: Lines) -> re.Pattern[str]:
    """Return a pattern whose form has `<name>` where one of the lines of that name stands."""
    pattern = form
    for name, alternatives in lines.items():
        pattern = pattern.replace(f"<{name}>", f"(?:{'|'.join(alternatives)})")
    compiled = _Pattern(pattern, flags)
    compiled.form, compiled.lines = form, lines
    return compiled  # type: ignore[return-value]


F = TypeVar("F", bound="Callable[..., Any]")


def rule(why: int | str, off: object = None) -> Callable[[F], F]:
    """Mark a function as a rule beside the principles; it returns `off` where it says nothing. `why`: see `Lines`."""

    def register(function: F) -> F:
        RULES.append(Rule(function, why, off))
        return function

    return register


class Rule(NamedTuple):
    """A rule beside the principles."""

    function: Callable[..., Any]
    why: int | str
    off: object


RULES: list[Rule] = []
"""The rules of all modules that are imported."""
