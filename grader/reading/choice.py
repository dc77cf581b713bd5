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
