"""The result of reading one multiple-choice reply, for both the official and the careful reading."""

from __future__ import annotations

from typing import Literal

import msgspec


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
