"""The facts of one run that views show. They are computed once, so that a document and its items agree."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from grader.decisions import readings
from grader.reports.document import note_text
from grader.reports.why import about_official, agreement, outcome_name, why_unscored
from grader.results import metrics_leaving_out_unscored
from grader.results.groups import by_observation, by_task
from grader.scorers import declarations
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from grader.results import Metric, Pair, Report, SampleResult


class Findings:
    """A run, and what views say of it. Raises UsageError if its scorer is not installed."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.pairs = report.pairs()
        """(Metric, group) -> its value in both readings."""
        self.differing_samples = report.differences()
        """The samples on which the readings differ."""
        self.official_notes = report.official_notes()
        """The notes on official values, which their headings mark."""
        self.metrics_leaving_out_unscored = metrics_leaving_out_unscored(report)
        """The metrics from which unscored samples are excluded."""
        self.reading_difference_notes = readings.in_words(report)
        """One sentence on how the readings' values differ, or none."""
        self.scorer = scorer_of(report)
        self.name = declarations.name_of(report)
        """The benchmark's name for people."""
        self.summary = self.scorer.summary(report)
        self.notes = [note_text(note) for note in report.notes]
        self.why_unscored = why_unscored(report)
        self.agreement = agreement(report)
        """On how many samples the readings agree, if they differ on none."""
        self.about_official = about_official(report.benchmark)

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

    @property
    def provenance(self) -> dict[str, Any]:
        """How the run was made: the facts of its provenance and its scorer, name -> value, without empty values."""
        report = self.report
        facts: dict[str, Any] = msgspec.to_builtins(report.provenance)
        if "sandbox" in facts:
            # Each part is a fact of its own, because some formats leave out values with many parts.
            sandbox = facts.pop("sandbox")
            facts |= {"sandbox": sandbox.pop("backend")} | {f"sandbox_{name}": value for name, value in sandbox.items()}
        if report.model is not None:
            facts = {"model": report.model, **facts}
        facts |= self.summary.facts
        if report.baselines:
            facts["baselines"] = {
                group: {name: round(value, 1) for name, value in values.items()}
                for group, values in report.baselines.items()
            }
        return {name: value for name, value in facts.items() if value not in (None, "", {}, [])}
