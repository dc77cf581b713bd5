"""The execution scorer's own data of a sample in the results file."""

from __future__ import annotations

import msgspec

from grader.results import SampleResult, read_facts


class SampleFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the tests failed. It is for people only, because the program itself reports the lines."""

    failed_test: str | None = None
    """The last line of the tests through which the exception passed."""
    failed_line: int | None = None
    """The number of that line in the program, from 1."""


def facts_of(sample: SampleResult) -> SampleFacts:
    """Return the scorer's own data of a sample; raises InputError."""
    return read_facts(sample.facts, SampleFacts, f"sample {sample.qid} #{sample.sample}")
