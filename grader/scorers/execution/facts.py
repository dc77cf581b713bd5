"""The execution scorer's own data of a sample in the results file."""

from __future__ import annotations

import msgspec

from grader.results import Facts, SampleResult, facts_as


class Printed(msgspec.Struct, frozen=True, kw_only=True):
    """What a program printed for one standard input."""

    text: str
    outcome: str
    """`passed`: it ended by itself."""
    why: str = ""
    """Why it did not."""


class ExecutionFacts(Facts, frozen=True, kw_only=True, omit_defaults=True):
    """Where the tests failed (for people only: the program itself reports the lines), and the base inputs."""

    failed_test: str | None = None
    """The line of the tests at which it failed."""
    failed_line: int | None = None
    """Its number in the official program, from 1."""
    base: tuple[bool, bool] | None = None
    """Whether the program passes the base inputs, in the official and in the careful reading."""
    printed: list[Printed] = []
    """What it printed for each standard input, if requested."""


def facts_of(sample: SampleResult) -> ExecutionFacts:
    """Return the scorer's own data of a sample."""
    return facts_as(ExecutionFacts, sample.facts)
