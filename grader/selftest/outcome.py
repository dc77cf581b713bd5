"""The result of a self-test, for its table and its JSON."""

from __future__ import annotations

import msgspec

from grader.results import ReadingName
from grader.scorers.probe import Kind

WEAK_SHARE = 0.5
FEW_MUTANTS = 4


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


class Strength(msgspec.Struct, frozen=True, kw_only=True):
    """How strict the tests of one task are (careful reading)."""

    qid: str
    mutants: int
    passing: int
    stub_passes: bool
    """Whether a program without a body passes, so that the tests assert nothing."""

    @property
    def share(self) -> float:
        """Share of mutants that pass."""
        return self.passing / self.mutants if self.mutants else 0.0

    @property
    def is_weak(self) -> bool:
        """Whether the tests accept almost any program."""
        return self.stub_passes or (self.mutants >= FEW_MUTANTS and self.share >= WEAK_SHARE)


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
