"""The facts of one run that views show. They are computed once, so that a document and its items agree."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Any

from grader.decisions import readings
from grader.reports import provenance
from grader.reports.document import note_text
from grader.reports.why import about_official, agreement, outcome_name, why_unscored
from grader.results import metrics_leaving_out_unscored
from grader.results.groups import by_observation, by_task
from grader.scorers import declarations
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.results import Metric, Pair, Report, SampleResult
    from grader.scorers.interface import Summary
    from grader.scorers.registry import AnyScorer


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """A run, and what views say of it."""

    report: Report
    scorer: AnyScorer
    name: str
    """The benchmark's name for people."""
    summary: Summary
    pairs: Mapping[tuple[str, str | None], Pair]
    """(Metric, group) -> its value in both readings."""
    differing_samples: Sequence[SampleResult]
    """The samples on which the readings differ."""
    reading_difference_notes: Sequence[str]
    """One sentence on how the readings' values differ, or none."""
    notes: Sequence[str]
    official_notes: Sequence[str]
    """The notes on official values, which their headings mark."""
    provenance: Mapping[str, Any]
    """How the run was made."""
    why_unscored: str
    metrics_leaving_out_unscored: str
    """The metrics from which unscored samples are excluded."""
    agreement: str
    """On how many samples the readings agree, if they differ on none."""
    about_official: str
    """What the official reading of the benchmark is."""

    @property
    def overall(self) -> dict[str, Pair]:
        """Metric -> its value over all samples, in both readings."""
        return {name: pair for (name, group), pair in self.pairs.items() if group is None}

    @property
    def partial_metrics(self) -> list[Metric]:
        """The metrics over all samples from which unscored samples are excluded."""
        return [metric for metric in self.report.metrics if metric.group is None and metric.is_partial]

    @property
    def differences(self) -> dict[str, int]:
        """`wrong to correct`, or `wrong in both` if the outcomes are equal -> number of samples; the highest first."""
        pairs = Counter(
            (outcome_name(self.scorer, sample.official), outcome_name(self.scorer, sample.careful))
            for sample in self.differing_samples
        )
        return {
            f"{official} to {careful}" if official != careful else f"{official} in both": number
            for (official, careful), number in pairs.most_common()
        }

    @property
    def items(self) -> dict[str, list[SampleResult]]:
        """Name of an item -> its samples. An item is a task, or several tasks that are judged together, as one unit."""
        group = by_observation if self.scorer.has_units else by_task
        return group(self.report.samples)


def findings_of(report: Report) -> Findings:
    """Compute what views say of a run. Raises UsageError if its scorer is not installed."""
    scorer = scorer_of(report)
    return Findings(
        report=report,
        scorer=scorer,
        name=declarations.name_of(report),
        summary=scorer.summary(report),
        pairs=report.pairs(),
        differing_samples=report.differences(),
        metrics_leaving_out_unscored=metrics_leaving_out_unscored(report),
        official_notes=report.official_notes(),
        reading_difference_notes=readings.in_words(report),
        notes=[note_text(note) for note in report.notes],
        provenance=provenance.provenance_facts(report),
        why_unscored=why_unscored(report),
        agreement=agreement(report),
        about_official=about_official(report.benchmark),
    )
