"""Why the readings of a sample differ, in a sentence: the same one in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.text import clean
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.results import Reading, Report, SampleResult


def readings_differ(report: Report, sample: SampleResult, official: str = "official") -> str:
    """Return why the readings differ: the kind of difference, else what led each reading to its answer.

    `official`: the name of the official reading. Empty if nothing is known. One line without control characters; the
    words of a program may be in it.
    """
    scorer = scorer_of(report)
    if kind := scorer.marks(sample).kind:
        return clean(scorer.glossary.get(kind, kind))
    if sample.careful.detail and not sample.official.detail:
        return clean(sample.careful.detail)
    readings = {official: sample.official, "careful": sample.careful}
    said = {name: reason(reading, scorer.glossary) for name, reading in readings.items()}
    if len(set(said.values())) < 2:
        return ""
    return "; ".join(f"{name}: {_in_a_sentence(text)}" for name, text in said.items() if text)


def outcome(report: Report, reading: Reading) -> str:
    """Return the name of an outcome, in the words of the report's scorer."""
    return scorer_of(report).outcome_names.get(reading.outcome.value, reading.outcome.value)


def reason(reading: Reading, glossary: Mapping[str, str]) -> str:
    """Return what led a reading to its outcome: its detail, else the meaning of its rule."""
    rule = reading.rule if isinstance(reading.rule, str) else ""
    return clean("; ".join((reading.detail or glossary.get(rule, rule)).splitlines()))


def _in_a_sentence(text: str) -> str:
    """Return a sentence as a part of another one: without its full stop, its first word in lower case."""
    first, _, rest = text.removesuffix(".").partition(" ")
    return f"{first[:1].lower() + first[1:] if first[1:].islower() else first} {rest}".strip()
