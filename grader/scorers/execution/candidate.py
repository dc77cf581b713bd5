"""A program whose verdict is to be found, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from grader.results import Calls, Outcome, Reading
from grader.sandbox.answer import Judgement

if TYPE_CHECKING:
    from grader.scorers.execution.spool import StoredAnswers


ProgramRole = Literal["sample", "reference", "official"]
"""`official`: a sample in the form in which a published harness runs it."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A program without its tests."""

    qid: str
    source: str
    role: ProgramRole = "sample"
    hash_seed: int = 0
    """Another one, and other random numbers, for the second run of a reference solution."""
    tells: bool = False
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
    text: str = "unscored"
    """The official result text."""
    right: list[bool] = []
    """Whether each output is right, in the careful reading."""
    outputs: Sequence[Output] = ()
    base: tuple[bool, bool] | None = None
    """Whether it passes the base inputs, in each reading."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a candidate: what the tests say of its answers, or the readings of a task with inputs."""

    judgement: Judgement | None = None
    readings: Readings | None = None
    lost: str = ""
    """Why nothing is known, if there is neither."""
    is_late: bool = False
    """Whether the tests arrive at the very call in which the program has used up its time."""


class CandidateAnswers:
    """What was found out about a candidate so far."""

    __slots__ = ("answers", "lost")

    def __init__(self) -> None:
        self.answers: list[StoredAnswers] = []
        """Its answers, in as many parts as there were jobs."""
        self.lost = ""
        """Why it has no answers."""


class Verdicts(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts on a sample's programs."""

    completion: Verdict = Verdict()
    """Verdict on the official completion."""
    whole: Verdict | None = None
    """Verdict on the text as written, if the official completion lost some of it."""
    not_judged: str = ""
    """Why the task is outside the careful reading; empty if it is not."""
    calls: int = 0
    """Number of calls of the task."""
