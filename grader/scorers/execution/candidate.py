"""A program whose verdict is to be reached, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from grader.results import Calls, Outcome, Reading
from grader.sandbox.answer import Judgement

ProgramRole = Literal["sample", "reference", "official"]
"""`official`: a sample in the form in which a published harness runs it."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A program without its tests."""

    qid: str
    source: str
    role: ProgramRole = "sample"
    run: int = 0
    """1 for the second run of a reference solution, which has other random numbers."""
    reports_side_effects: bool = False
    """Whether its answers to inputs have the changed arguments and what was printed."""


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
    official_text: str = "unscored"
    """The result as the official evaluator writes it."""
    right_outputs: list[bool] = []
    """Whether each output is right, in the careful reading."""
    outputs: Sequence[Output] = ()
    base: tuple[bool, bool] | None = None
    """Whether it passes the base inputs, in each reading."""


def not_judged_reading(why: str) -> Reading:
    """Return the careful reading of a sample whose task is outside of it."""
    return Reading(outcome=Outcome.NOT_JUDGED, credit=None, detail=why, rule="apart")


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a candidate: what the tests say of its answers, or the readings of a task with inputs."""

    judgement: Judgement | None = None
    readings: Readings | None = None
    infrastructure_error: str = ""
    """Why nothing is known, if there is neither."""
    is_official_timeout: bool = False
    """Whether the tests arrive at the very call in which the program used up its time, as they would officially."""


class Verdicts(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts on a sample's programs."""

    completion: Verdict = Verdict()
    """Verdict on the official completion."""
    recovered_completion: Verdict | None = None
    """Verdict on the careful completion, if it is another program."""
    not_judged: str = ""
    """Why the task is outside the careful reading; empty if it is not."""
    call_count: int = 0
    """Number of calls of a task with tests."""
