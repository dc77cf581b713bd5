"""Gates: compare a report with a threshold or a baseline. A gate is met, failed, inconclusive or unscored.

A threshold (`--fail-under`) is compared with the metric's value. A drop (`--max-drop`) is compared with a paired
interval, so that noise neither fails a good checkpoint nor passes a bad one. A gate with a drop of V is met only if the
data rule out a larger drop, and failed only if they rule out a smaller one, each at the 5 % level (one-sided).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from grader.decisions import flaky
from grader.decisions.asked import FailUnder, MaxDrop
from grader.decisions.comparison import check_comparable, same_outputs
from grader.decisions.made_differently import differences
from grader.decisions.made_differently import in_words as differences_in_words
from grader.decisions.names import no_group
from grader.decisions.paired import detectable_in_words
from grader.errors import GateInconclusiveError, GateNotMetError, InfrastructureError, UsageError
from grader.predictions.parts import in_words
from grader.results import other_than
from grader.scorers.interface import in_group
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.results import Metric, ReadingName, Report

State = Literal["met", "failed", "inconclusive", "unscored"]
LOST = "none of its samples could be scored"
ROUNDING = 1e-9
"""Tolerance for rounding errors in a metric, in points."""


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """The decision of one gate."""

    gate: str
    """The condition."""
    state: State
    reason: str
    """The numbers behind the decision."""


def judge(
    report: Report,
    *,
    lines: Sequence[FailUnder] = (),
    baseline: Report | None = None,
    drops: Sequence[MaxDrop] = (),
    reading: ReadingName = "careful",
) -> list[GateResult]:
    """Decide every gate. Raises UsageError for a metric that the report or the baseline does not have."""
    results = [_line(report, line, reading) for line in lines]
    if baseline is not None:
        check_baseline(baseline, report)
        results += [_drop(report, baseline, drop, reading) for drop in drops or [MaxDrop(name=None, value=0)]]
    if report.part is None:
        return results
    part = f"on a part, {in_words(report.part)}: "
    return [msgspec.structs.replace(result, reason=part + result.reason) for result in results]


def check_baseline(baseline: Report, report: Report) -> None:
    """Raise UsageError if a report cannot be compared with a baseline."""
    check_comparable(baseline, report)
    had, has = ({sample.cluster for sample in made.samples} for made in (baseline, report))
    if had != has:
        lacking, more = len(had - has), len(has - had)
        raise UsageError(
            f"This run cannot be compared with the baseline: {lacking} items of the baseline are missing "
            f"in it, and it has {more} other items. Grade the same items (with the same --limit and --id)."
        )


def exit_code(results: Sequence[GateResult], *, complete: bool = True) -> int:
    """Return the exit code of all gates together: a failed gate comes first, then unscored ones, then inconclusive.

    A run that is not `complete` (its files could not be written) has the same exit code as an unscored gate.
    """
    states = {result.state for result in results}
    if "failed" in states:
        return GateNotMetError.exit_code
    if "unscored" in states or not complete:
        return InfrastructureError.exit_code
    return GateInconclusiveError.exit_code if "inconclusive" in states else 0


def _line(report: Report, line: FailUnder, reading: ReadingName) -> GateResult:
    asked = f"{line.name}{f' of {line.group}' if line.group else ''} >= {line.value:.10g} ({reading})"
    metric = _metric(report, line.name, reading, line.group)
    if metric is None:
        return GateResult(gate=asked, state="unscored", reason=_why_lost(report, line.name, reading, line.group))
    figure = f"it is {_exact(metric.number, line.value)}{_interval(metric)}"
    if 0 < line.value <= 1:
        figure += f"; values are percentages, so this threshold is {line.value:.10g} of 100"
    met = metric.number >= line.value - ROUNDING
    result = GateResult(gate=asked, state="met" if met else "failed", reason=figure)
    if not met and _highest(metric) < line.value - ROUNDING:
        return msgspec.structs.replace(result, reason=figure + _bounds(metric))
    lowest = flaky.lowest(report, line.name, reading, line.group) if met else None
    if lowest is not None and lowest < line.value - ROUNDING:
        return _by_flakes(report, result, f"it is {_exact(lowest, line.value)}")
    return _unless_unscored([report], result, _bounds(metric))


def _drop(report: Report, baseline: Report, drop: MaxDrop, reading: ReadingName) -> GateResult:
    name = drop.name or next((m.name for made in (report, baseline) for m in made.metrics), "the metric")
    asked = f"{name} no more than {drop.value:.10g} points below the baseline ({reading})"
    now, before = _metric(report, name, reading, None), baseline.metric(name, reading)
    if now is None:
        return GateResult(gate=asked, state="unscored", reason=_why_lost(report, name, reading, None))
    if before is None or before.value is None:
        raise UsageError(f"The baseline has no {name} ({reading}).{scorer_of(baseline).how_to_get(name, baseline)}")
    regraded = same_outputs(baseline, report)
    if regraded and now.number >= before.number - ROUNDING:
        same = GateResult(gate=asked, state="met", reason="both runs graded the same outputs")
        return _unless_unscored([report, baseline], same)
    compared = scorer_of(report).compare(baseline, report, name, reading)
    low, high = compared.difference.ci90
    state: State = "met" if low >= -drop.value else "failed" if high < -drop.value else "inconclusive"
    change = compared.difference
    figures = (
        f"{compared.before:.2f} before, {compared.after:.2f} now, a change of {change.value:+.2f} points (one-sided "
        f"95 % bounds {low:+.2f} and {high:+.2f}; {change.n} paired items, {change.differing} of them differ)"
    )
    if regraded:
        figures += "; the outputs are the same, so only the grading differs (judge, limits or version)"
    if state == "inconclusive" and (power := detectable_in_words(change)):
        figures += f"; {power}"
    if made := differences(baseline, report):
        figures += f"; the runs had different conditions: {differences_in_words(made)}"
    result = GateResult(gate=asked, state=state, reason=figures)
    if state == "met" and flaky.tasks(report):
        worst = scorer_of(report).compare(baseline, flaky.without_them(report), name, reading).difference.ci90[0]
        if worst < -drop.value:
            return _by_flakes(report, result, f"the lower bound is {worst:+.2f}")
    # The gate fails even if all unscored samples were correct now and wrong before, so they do not matter.
    if state == "failed" and _highest(now) - _lowest(before) < -drop.value - ROUNDING:
        return result
    return _unless_unscored([report, baseline], result)


def _by_flakes(report: Report, result: GateResult, figure: str) -> GateResult:
    """Return the result as undecided, because the gate is met only with the credit of known flaky tasks."""
    reason = f"{result.reason}, but without the credit of {flaky.in_words(report)} {figure}; see `grade flakes`"
    return GateResult(gate=result.gate, state="unscored", reason=reason)


def _why_lost(report: Report, name: str, reading: ReadingName, group: str | None) -> str:
    metric = report.metric(name, reading, group)
    if metric is not None:
        return f"it was not judged{_bounds(metric)}; name a judge (--judge-model)"
    return LOST if report.samples else f"{report.split} has no public answers, so there is nothing to compare it with"


def _unless_unscored(reports: list[Report], result: GateResult, bounds: str = "") -> GateResult:
    """Return the result, or an undecided result if this run or the baseline has unscored samples."""
    lost = [
        f"{report.unscored} of {len(report.samples)} samples{where} are unscored"
        for report, where in zip(reports, ("", " of the baseline"), strict=False)
        if report.unscored
    ]
    if not lost:
        return result
    return GateResult(gate=result.gate, state="unscored", reason=f"{result.reason}, but {' and '.join(lost)}{bounds}")


def _metric(report: Report, name: str, reading: ReadingName, group: str | None) -> Metric | None:
    """Return the metric; None if it was lost to infrastructure. Raises UsageError if it does not exist."""
    metric = report.metric(name, reading, group)
    if metric is not None:
        return metric if metric.value is not None else None
    if report.metric(name, other_than(reading), group) is not None or not report.metrics:
        return None
    if _was_lost(report, name, group):
        return None
    names = list(dict.fromkeys(m.name for m in report.metrics))
    if name not in names:
        hint = scorer_of(report).how_to_get(name, report)
        raise UsageError(f"This report has no metric {name!r}; it has {', '.join(names)}.{hint}")
    groups = list(dict.fromkeys(m.group for m in report.metrics if m.name == name and m.group))
    raise UsageError(no_group(name, group, groups))


def _was_lost(report: Report, name: str, group: str | None) -> bool:
    """Return whether the metric would exist if its samples had been scored."""
    if not report.unscored or (group is not None and not in_group(report, group)):
        return False
    return scorer_of(report).would_have(report, name, group)


def _exact(value: float, line: float) -> str:
    """Format a value with enough decimals to show on which side of the threshold it is."""
    for places in range(2, 9):
        text = f"{value:.{places}f}"
        if (float(text) < line) == (value < line - ROUNDING):
            return text
    return repr(value)


def _interval(metric: Metric) -> str:
    inside = "" if metric.ci95 is None else f"95 % interval {metric.ci95[0]:.1f} to {metric.ci95[1]:.1f}, "
    return f" ({inside}n {metric.n})"


def _highest(metric: Metric) -> float:
    """Return the value if all unscored samples were correct."""
    return metric.number if metric.bounds is msgspec.UNSET else max(metric.number, metric.bounds[1])


def _lowest(metric: Metric) -> float:
    """Return the value if all unscored samples were wrong."""
    return metric.number if metric.bounds is msgspec.UNSET else min(metric.number, metric.bounds[0])


def _bounds(metric: Metric) -> str:
    if metric.bounds is msgspec.UNSET:
        return ""
    return f"; with them it is between {metric.bounds[0]:.2f} and {metric.bounds[1]:.2f}"
