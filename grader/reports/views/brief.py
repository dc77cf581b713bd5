"""The top of a run's document, for somebody who decides: the first metric, and what could change a decision."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from grader.reports.document import Brief, interval, place, value
from grader.reports.why import bounds_in_words
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.reports.findings import Findings
    from grader.results import Metric, Report


def brief_of(run: Findings) -> Brief | None:
    """Return the first metric in a sentence, what is beside it, and the three things that could change a decision."""
    if not run.overall:
        return None
    report = run.report
    name, (official, careful) = next(iter(run.overall.items()))
    shown = careful if careful is not None else official
    assert shown is not None
    lost = sum(not sample.careful.is_scored or not sample.official.is_scored for sample in report.samples)
    total = counted(len(report.samples), "sample")
    return Brief(
        number=value(shown),
        sentence=_in_a_sentence(name, shown),
        beside=[
            ("official", f"{value(official, run.official_notes)} {_between(official)}".strip()),
            ("could not be judged", f"{lost:,} of {total}" if lost else f"none of {total}"),
        ],
        look=list(_to_look_at(run, name))[:3],
    )


def _in_a_sentence(name: str, metric: Metric) -> str:
    if metric.value is None:
        return f"{name} ({metric.reading}) cannot be known: too few samples could be judged."
    if metric.ci95 is None:
        return f"{name} ({metric.reading}) is {metric.value:.1f} %, of n = {metric.n}."
    low, high = metric.ci95
    return (
        f"{name} ({metric.reading}) is {metric.value:.1f} %; with 95 % confidence it is between {low:.1f} and "
        f"{high:.1f} % (n = {metric.n})."
    )


def _between(metric: Metric | None) -> str:
    return f"({text})" if (text := interval(metric)) else ""


def _to_look_at(run: Findings, name: str) -> Iterator[tuple[str, str]]:
    """Yield (sentence, link), what could change a decision most first."""
    report = run.report
    if report.unscored:
        bounded = [metric for metric in report.metrics if metric.group is None and metric.is_partial]
        range_ = f" {bounded[-1].name} is between {bounds_in_words(bounded[-1])}." if bounded else ""
        yield (
            f"{report.unscored:,} of {counted(len(report.samples), 'sample')} could not be judged "
            f"({run.why_unscored}).{range_}",
            place(tab="items", careful="unscored"),
        )
    if kinds := run.differences:
        (kind, number), *_ = kinds.items()
        different = sum(kinds.values())
        yield (
            f"Official and careful differ on {different:,} of {counted(len(report.samples), 'sample')}, most often "
            f"{kind} ({number:,}).",
            place(tab="differences"),
        )
    yield from ((note, place(tab="about")) for note in run.notes[:1])
    if lowest := lowest_group(report, name):
        yield (
            f"Lowest group: {lowest.group} with {value(lowest)} {_between(lowest)}, n = {lowest.n}.",
            place(tab="items", group=lowest.group or ""),
        )
    wrong = Counter(
        sample.careful.outcome.value
        for sample in report.samples
        if sample.careful.is_scored and sample.careful.points < 1
    )
    for lost, number in wrong.most_common(1):
        named = run.scorer.words.outcomes.get(lost, lost)
        yield f"Most frequent outcome without full credit: {named} ({number:,}).", place(tab="items", careful=lost)


def lowest_group(report: Report, name: str) -> Metric | None:
    """Return the group with the lowest careful value; None if several have it, or all are as good as the whole."""
    overall = report.metric(name, "careful")
    groups = [
        m for m in report.metrics if m.name == name and m.reading == "careful" and m.group and m.value is not None
    ]
    lowest = min(groups, key=lambda metric: metric.value or 0, default=None)
    if lowest is None or overall is None or lowest.value is None or overall.value is None:
        return None
    ties = sum(metric.value == lowest.value for metric in groups)
    return lowest if lowest.value < overall.value and ties == 1 else None
