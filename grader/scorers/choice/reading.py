"""The result of reading one multiple-choice reply, for both the official and the careful reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from grader.scorers.choice.options import ChoiceOptions
    from grader.scorers.choice.selection import Selection


class ChoiceReading(msgspec.Struct, frozen=True, kw_only=True):
    """The letter read from one reply, or why no letter was read."""

    outcome: Literal["letter", "no_answer", "ambiguous"]
    letter: str | None
    """The option's letter; official VLMEvalKit readings can have "Z" (no match)."""
    rule: str
    """Short stable name of the rule that decided, such as `declaration` or `boxed`."""
    span: tuple[int, int] | None
    """Characters [start, end) of the raw prediction on which the reading is based."""
    detail: str = ""
    """An explanation for people, one sentence; often empty."""


def read_as(letter: str, rule: str, span: tuple[int, int] | None, detail: str = "") -> ChoiceReading:
    """Return the reading "this letter"."""
    return ChoiceReading(outcome="letter", letter=letter, rule=rule, span=span, detail=detail)


def no_answer(rule: str, span: tuple[int, int] | None = None, detail: str = "") -> ChoiceReading:
    """Return the reading "no option is chosen"."""
    return ChoiceReading(outcome="no_answer", letter=None, rule=rule, span=span, detail=detail)


def ambiguous(rule: str, span: tuple[int, int], detail: str) -> ChoiceReading:
    """Return the reading "more than one option can be meant"."""
    return ChoiceReading(outcome="ambiguous", letter=None, rule=rule, span=span, detail=detail)


def reading_of(selection: Selection, options: ChoiceOptions) -> ChoiceReading:
    """Return the reading "the selected letter", or all letters where several are asked for; else why there is none."""
    span = (selection.start, selection.end)
    resolved = options.resolve_combination(selection.letters)
    letters = sorted(resolved)
    if selection.problem is not None:
        return ambiguous(selection.problem.rule, span, selection.problem.detail)
    if not letters:
        return no_answer(selection.rule, span, "says that it has no answer")
    if len(letters) > 1 and options.allow_several and resolved <= set(options.letters):
        return read_as("".join(letters), selection.rule, span)
    if len(letters) > 1:
        return ambiguous("several_answers", span, f"names {' and '.join(letters)}")
    if letters[0] not in options:
        return no_answer("outside_options", span, f"{letters[0]} is not among the options")
    return read_as(letters[0], selection.rule, span)
