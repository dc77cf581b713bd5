"""What a program gave for the inputs of its task, and both readings of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from grader.results import Calls, Outcome, Reading


class Output(NamedTuple):
    """What a program gave for one input: a printed text, or the message with what a function returned."""

    text: str = ""
    outcome: Outcome = Outcome.PASSED
    """What happened instead, if the program gave nothing that can be compared."""
    why: str = ""

    @property
    def is_answer(self) -> bool:
        """Whether it can be compared."""
        return self.outcome is Outcome.PASSED


class Readings(msgspec.Struct, frozen=True, kw_only=True):
    """Both readings of a program, and how many of its answers are right."""

    official: Reading
    careful: Reading
    calls: Calls | msgspec.UnsetType = msgspec.UNSET
    seconds: float = 0.0
    text: str = "unscored"
    """The official result text."""
    right: list[bool] = []
    """Whether each output is right, in the careful reading."""
    outputs: Sequence[Output] = ()
    base: tuple[bool, bool] | None = None
    """Whether it passes the base inputs, in each reading."""
