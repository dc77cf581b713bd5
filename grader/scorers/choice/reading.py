"""What a reader of multiple-choice replies concludes: the record both faces share."""

from __future__ import annotations

from typing import Literal

import msgspec


class ChoiceReading(msgspec.Struct, frozen=True, kw_only=True):
    """The letter read from one reply, or why there is none."""

    outcome: Literal["letter", "no_answer", "ambiguous"]
    letter: str | None
    """The option's letter; official VLMEvalKit readings may say "Z" (no match)."""
    rule: str
    """Short stable name of the rule that decided, such as `declaration` or `boxed`."""
    span: tuple[int, int] | None
    """Characters [start, end) of the raw prediction that the reading rests on."""
    detail: str = ""
    """One sentence for people, where it helps."""


def read_as(letter: str, rule: str, span: tuple[int, int] | None, detail: str = "") -> ChoiceReading:
    """Return the reading "this letter"."""
    return ChoiceReading(outcome="letter", letter=letter, rule=rule, span=span, detail=detail)


def no_answer(rule: str, span: tuple[int, int] | None = None, detail: str = "") -> ChoiceReading:
    """Return the reading "no option is chosen"."""
    return ChoiceReading(outcome="no_answer", letter=None, rule=rule, span=span, detail=detail)


def ambiguous(rule: str, span: tuple[int, int], detail: str) -> ChoiceReading:
    """Return the reading "more than one option may be meant"."""
    return ChoiceReading(outcome="ambiguous", letter=None, rule=rule, span=span, detail=detail)
