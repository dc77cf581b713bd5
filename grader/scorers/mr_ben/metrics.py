"""MR-Score and its parts, by subject and as their mean, in both readings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import InputError
from grader.results import READINGS, Metric, ReadingName, SampleResult
from grader.scorers.mr_ben import figures
from grader.scorers.mr_ben.facts import facts_of
from grader.scorers.mr_ben.figures import RowFacts, Weights
from grader.scorers.mr_ben.subjects import SUBJECT

if TYPE_CHECKING:
    from collections.abc import Iterable

FactsBySubject = dict[str, list[tuple[str, RowFacts]]]
"""Subject -> (question, the row's facts)."""


def metrics(samples: list[SampleResult], weights: Weights) -> list[Metric]:
    """Return the metrics of every subject and their mean, in both readings, with bootstrap intervals over questions."""
    rows: list[Metric] = []
    for reading in READINGS:
        rows += _reading_metrics(facts_by_subject(samples, reading), weights, reading)
    return rows


def facts_by_subject(
    samples: list[SampleResult], reading: ReadingName, beside: Iterable[SampleResult] = ()
) -> FactsBySubject:
    """Return what the metrics are computed from; raises InputError.

    What is unscored in the rows of another run, `beside` these, is unscored here.
    """
    others = {(sample.qid, sample.sample): facts_of(sample).row(reading) for sample in beside}
    table: FactsBySubject = {}
    for sample in samples:
        facts = facts_of(sample).row(reading)
        if (sample.qid, sample.sample) in others:
            other = others[sample.qid, sample.sample]
            lost = {part: None for part in ("step", "reason") if getattr(other, part) is None}
            facts = msgspec.structs.replace(facts, **lost)
        table.setdefault(subject_of(sample), []).append((sample.cluster, facts))
    return table


def subject_of(sample: SampleResult) -> str:
    """Return the subject of a sample; raises InputError where it has none."""
    subject = sample.groups.get(SUBJECT) if isinstance(sample.groups, Mapping) else None
    if not isinstance(subject, str):
        raise InputError([f"sample {sample.qid} #{sample.sample}: it has no group {SUBJECT!r}"])
    return subject


def facts_of_both(
    before: list[SampleResult], after: list[SampleResult], reading: ReadingName
) -> tuple[FactsBySubject, FactsBySubject]:
    """Return the same of two runs; what one of them could not score is unscored in both, else it would be a change."""
    return facts_by_subject(before, reading, after), facts_by_subject(after, reading, before)


def tally(samples: list[SampleResult]) -> dict[str, dict[str, dict[str, int]]]:
    """Return, by reading and subject, what the metrics are computed from (positive class: a correct solution)."""
    table: dict[str, dict[str, dict[str, int]]] = {}
    for reading in READINGS:
        by_subject = facts_by_subject(samples, reading)
        table[reading] = {
            subject: {"rows": len(pairs), **figures.count([facts for _, facts in pairs])._asdict()}
            for subject, pairs in by_subject.items()
        }
    return table


def _reading_metrics(table: FactsBySubject, weights: Weights, reading: ReadingName) -> list[Metric]:
    intervals = figures.bootstrap_interval(table, weights)
    counts = {subject: figures.count([facts for _, facts in pairs]) for subject, pairs in table.items()}
    by_subject = {subject: figures.figures_of_counts(c, weights) for subject, c in counts.items()}
    extremes = {subject: figures.bounds(c, weights) for subject, c in counts.items()}
    everything: list[tuple[str | None, Any, Any, Any, int]] = [
        (None, figures.mean_figures(list(by_subject.values())),
         figures.mean_figures([low for low, _ in extremes.values()]),
         figures.mean_figures([high for _, high in extremes.values()]),
         sum(len({q for q, _ in pairs}) for pairs in table.values()))
    ]  # fmt: skip
    everything += [(s, by_subject[s], *extremes[s], len({q for q, _ in table[s]})) for s in table]
    rows = []
    for subject, value, low, high, questions in everything:
        uncertain = {name for name in figures.FIGURES if getattr(low, name) != getattr(high, name)}
        group = None if subject is None else f"{SUBJECT}={subject}"
        for name in figures.FIGURES:
            interval = intervals[subject, name]
            rows.append(
                Metric(
                    name=name,
                    reading=reading,
                    group=group,
                    value=getattr(value, name),
                    ci95=(interval.low, interval.high),
                    stderr=interval.stderr,
                    n=questions,
                    bounds=(getattr(low, name), getattr(high, name)) if name in uncertain else msgspec.UNSET,
                )
            )
        unread = 100 * (1 - value.counts.unread / value.rows) if value.rows else 0.0
        rows.append(Metric(name="parse_success_rate", reading=reading, group=group, value=unread, n=questions))
    return rows
