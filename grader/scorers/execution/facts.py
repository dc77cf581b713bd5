"""What the execution scorer keeps of a sample in the results file."""

from __future__ import annotations

import msgspec

from grader.results import SampleResult, read_facts


class SampleFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the tests failed; for people, since the program itself says which lines."""

    failed_test: str | None = None
    """The line of the tests that an exception came by last."""
    failed_line: int | None = None
    """Its number in the program, from 1."""


def facts_of(sample: SampleResult) -> SampleFacts:
    """Return what is kept of a sample; raises InputError."""
    return read_facts(sample.facts, SampleFacts, f"sample {sample.qid} #{sample.sample}")
