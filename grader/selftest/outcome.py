"""The result of a self-test: what was tested, and the problems that were found."""

from __future__ import annotations

import msgspec

from grader.receipts import Strength
from grader.results import ReadingName
from grader.scorers.probe import Kind


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One problem that a self-test found on this machine."""

    what: str
    """One sentence: what was graded, the found result and the expected one."""
    mend: str
    """Advice on how to fix it."""
    qid: str = ""
    kind: Kind | None = None
    reading: ReadingName | None = None


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """The probes of one kind."""

    kind: Kind
    as_expected: int
    of: int


class Tested(msgspec.Struct, frozen=True, kw_only=True):
    """The self-test of one benchmark's data."""

    benchmark: str
    data: str
    tasks: int
    samples: int
    """Number of graded predictions per repetition."""
    tallies: list[Tally]
    problems: list[Problem]
    strengths: list[Strength]
    notes: list[str]
    cpu_ratio: float = 0.0
    """Time of the calibration program, relative to the standard machine; 0: not measured."""

    @property
    def passed(self) -> bool:
        """Whether every verdict was as expected."""
        return not self.problems


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A whole self-test."""

    passed: bool
    at: str
    seconds: float
    repeats: int
    under_load: bool
    tested: list[Tested]
    left_out: list[str] = []
    """Benchmarks whose built-in sample has no answers or reference solutions."""
