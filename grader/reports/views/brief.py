"""The top of a run's document, for somebody who decides: the first metric, and what could change a decision."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from grader.reports.document import Brief, interval_text, items_link, value_text
from grader.reports.why import bounds_in_words
from grader.wording import counted, decimal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.reports.findings import Findings
    from grader.results import Metric, Report


def brief_of(run: Findings) -> Brief | None:
    """Return the first metric in a sentence, its official value, the number without a verdict, and up to three hints.

    None: the run has no metrics.
    """
    if not run.overall:
        return None
    report = run.report
    name, (official, careful) = next(iter(run.overall.items()))
    metric = careful if careful is not None else official
    assert metric is not None
    without_verdict = sum(not sample.careful.is_scored or not sample.official.is_scored for sample in report.samples)
    total = counted(len(report.samples), "sample")
    return Brief(
        number=value_text(metric),
        sentence=_metric_sentence(name, metric),
        facts=[
            ("official", f"{value_text(official, run.official_notes)} {_interval_in_brackets(official)}".strip()),
            ("without a verdict", f"{without_verdict:,} of {total}" if without_verdict else f"none of {total}"),
        ],
        hints=list(_ranked_hints(run, name))[:3],
    )


def _metric_sentence(name: str, metric: Metric) -> str:
    if metric.value is None:
        return f"{name} ({metric.reading}) has no value: too few samples have a verdict."
    if metric.ci95 is None:
        return f"{name} ({metric.reading}) is {decimal(metric.value)} %, of n = {metric.n}."
    low, high = map(decimal, metric.ci95)
    return (
        f"{name} ({metric.reading}) is {decimal(metric.value)} %; "
        f"with 95 % confidence it is between {low} and {high} % (n = {metric.n})."
    )


def _interval_in_brackets(metric: Metric | None) -> str:
    return f"({text})" if (text := interval_text(metric)) else ""


Hint = tuple[str, str]
"""A sentence, and where a page leads to."""


def _ranked_hints(run: Findings, name: str) -> Iterator[Hint]:
    """Yield what could change a decision, what could change it most first."""
    if run.report.unscored:
        yield _unscored_hint(run)
    if run.differences:
        yield _difference_hint(run)
    yield from ((note, items_link(tab="about")) for note in run.notes[:1])
    if lowest := lowest_group(run.report, name):
        yield (
            f"Lowest group: {lowest.group} with {value_text(lowest)} {_interval_in_brackets(lowest)}, n = {lowest.n}.",
            items_link(tab="items", group=lowest.group or ""),
        )
    yield from _outcome_hint(run)


def _unscored_hint(run: Findings) -> Hint:
    """Return how many samples are unscored, and the worst and the best case of a metric that excludes them.

    Of several such metrics it takes the last: careful ones follow the official ones.
    """
    report = run.report
    metric = run.partial_metrics[-1] if run.partial_metrics else None
    bounds = (
        "" if metric is None else f" {metric.name} ({metric.reading}), worst to best case: {bounds_in_words(metric)}."
    )
    verb = "is" if report.unscored == 1 else "are"
    return (
        f"{report.unscored:,} of {counted(len(report.samples), 'sample')} {verb} unscored "
        f"({run.why_unscored}).{bounds}",
        items_link(tab="items", unscored="1"),
    )


def _difference_hint(run: Findings) -> Hint:
    most_frequent, number = next(iter(run.differences.items()))
    return (
        f"Official and careful differ on {len(run.differing_samples):,} of "
        f"{counted(len(run.report.samples), 'sample')}, most often {most_frequent} ({number:,}).",
        items_link(tab="differences"),
    )


def _outcome_hint(run: Findings) -> Iterator[Hint]:
    outcomes = Counter(
        sample.careful.outcome.value
        for sample in run.report.samples
        if sample.careful.is_scored and sample.careful.points < 1
    )
    if outcomes:
        [(outcome, number)] = outcomes.most_common(1)
        name = run.scorer.words.outcomes.get(outcome, outcome)
        yield (
            f"Most frequent outcome without full credit: {name} ({number:,}).",
            items_link(tab="items", careful=outcome),
        )


def lowest_group(report: Report, name: str) -> Metric | None:
    """Return the group with the lowest careful value; None if several have it, or all are as good as the whole."""
    overall = report.metric(name, "careful")
    groups = [
        metric
        for metric in report.metrics
        if (metric.name, metric.reading) == (name, "careful") and metric.group and metric.value is not None
    ]
    lowest = min(groups, key=lambda metric: metric.value or 0, default=None)
    if lowest is None or overall is None or lowest.value is None or overall.value is None:
        return None
    ties = sum(metric.value == lowest.value for metric in groups)
    return lowest if lowest.value < overall.value and ties == 1 else None
