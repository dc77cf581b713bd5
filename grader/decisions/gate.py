"""Gates: compare a report with a threshold or a baseline. A gate is met, failed, inconclusive or unscored.

A threshold (`--fail-under`) is compared with the metric's value; with `--confident` it is compared with its interval. A
drop (`--max-drop`) is compared with a paired interval, so that noise neither fails a good checkpoint nor passes a bad
one. A gate with a drop of V is met only if the data rule out a larger drop, and failed only if they rule out a smaller
one, each at the 5 % level (one-sided). Failures are corrected for the number of such gates (Holm): a run that should
meet all of them fails one in at most 5 %. A run passes only if every gate is met, which needs no correction.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.decisions.comparison import check_comparable, same_outputs
from grader.decisions.made_differently import differences, in_words
from grader.decisions.thresholds import no_group
from grader.errors import GateInconclusiveError, GateNotMetError, InfrastructureError, UsageError
from grader.results import READINGS, Outcome, other_than
from grader.scorers.capabilities import Compares, KnowsMetrics
from grader.scorers.interface import in_group
from grader.scorers.means import is_judged, values_by_round
from grader.scorers.pairing import Side
from grader.scorers.registry import scorer_of
from grader.statistics.corrections import holm
from grader.statistics.intervals import p_beyond
from grader.statistics.paired import FEWEST_FOR_POWER, LEVEL, POWER_QUANTILE, Z90, Z95, p_at_least, smallest_margin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.thresholds import FailUnder, MaxDrop
    from grader.results import Metric, ReadingName, Report
    from grader.scorers.registry import AnyScorer
    from grader.statistics.paired import Difference

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
    p_failed: float | None = None
    """p value of the hypothesis that the true value meets the condition; None if the gate does no test."""


def judge(
    report: Report,
    *,
    lines: Sequence[FailUnder] = (),
    baseline: Report | None = None,
    drops: Sequence[MaxDrop] = (),
    reading: ReadingName = "careful",
    confident: bool = False,
) -> list[GateResult]:
    """Decide every gate; `confident`: thresholds are compared with the metric's interval.

    Raises UsageError for a metric that the report or the baseline does not have, and for a baseline without a drop.
    """
    scorer = scorer_of(report)
    results = [_line(report, scorer, line, reading, confident=confident) for line in lines]
    if baseline is not None:
        check_baseline(baseline, report)
        if not drops:
            raise no_margin(baseline, reading)
        results += [_drop(report, scorer, baseline, drop, reading) for drop in drops]
    results = _corrected(results)
    if report.part is None:
        return results
    part = f"on a part, {report.part.in_words()}: "
    return [msgspec.structs.replace(result, reason=part + result.reason) for result in results]


def _corrected(results: list[GateResult]) -> list[GateResult]:
    """Return the results; failures that are not significant beside the other gates are inconclusive."""
    tests = [result for result in results if result.p_failed is not None]
    corrected = iter(holm([result.p_failed or 0.0 for result in tests]))
    return [
        result if result.p_failed is None or next(corrected) < LEVEL else _unless_failed(result, len(tests))
        for result in results
    ]


def _unless_failed(result: GateResult, gates: int) -> GateResult:
    """Return the result; a failure as inconclusive, because it is not significant beside the other gates."""
    if result.state != "failed":
        return result
    reason = f"{result.reason}; the failure is not significant as one of {gates} gates (Holm's correction)"
    return msgspec.structs.replace(result, state="inconclusive", reason=reason)


def check_baseline(baseline: Report, report: Report) -> None:
    """Raise UsageError if a report cannot be compared with a baseline."""
    check_comparable(baseline, report)
    had, has = ({sample.cluster for sample in side.samples} for side in (baseline, report))
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


def _line(report: Report, scorer: AnyScorer, line: FailUnder, reading: ReadingName, *, confident: bool) -> GateResult:
    gate = f"{line.name}{f' of {line.group}' if line.group else ''} >= {line.value:.10g} ({reading})"
    metric = _metric(report, scorer, line.name, reading, line.group)
    if metric is None:
        return GateResult(gate=gate, state="unscored", reason=_why_lost(report, line.name, reading, line.group))
    figure = f"it is {_exact(metric.number, line.value)}{_interval(metric)}{_left_out(report, reading, line.group)}"
    if 0 < line.value <= 1:
        figure += f"; values are percentages, so this threshold is {line.value:.10g} of 100"
    if confident:
        result = _confident(metric, line, gate, figure)
    else:
        met = metric.number >= line.value - ROUNDING
        result = GateResult(gate=gate, state="met" if met else "failed", reason=figure)
    if result.state == "failed" and _highest(metric) < line.value - ROUNDING:
        return msgspec.structs.replace(result, reason=result.reason + _bounds(metric))
    return _unless_unscored([report], result, _bounds(metric))


def _confident(metric: Metric, line: FailUnder, gate: str, figure: str) -> GateResult:
    """Return the decision by a one-sided test at the 5 % level."""
    if metric.ci95 is None:
        raise UsageError(f"--confident: {line.name} has no interval. Compare its value: remove --confident.")
    is_high = metric.number >= line.value - ROUNDING
    ends = metric.ci95[0] / 100, metric.ci95[1] / 100
    p_value = p_beyond(metric.number / 100, ends, line.value / 100)
    state: State = "inconclusive" if p_value >= LEVEL else "met" if is_high else "failed"
    other = "below" if is_high else "at least"
    return GateResult(
        gate=f"{gate}, confident",
        state=state,
        reason=f"{figure}; p = {p_value:.2g} that it is {other} {line.value:.10g} (one-sided)",
        p_failed=1 - p_value if is_high else p_value,
    )


def _drop(report: Report, scorer: AnyScorer, baseline: Report, drop: MaxDrop, reading: ReadingName) -> GateResult:
    name = drop.name or next((m.name for made in (report, baseline) for m in made.metrics), "the metric")
    gate = f"{name} no more than {drop.value:.10g} points below the baseline ({reading})"
    now, before = _metric(report, scorer, name, reading, None), baseline.metric(name, reading)
    if now is None:
        return GateResult(gate=gate, state="unscored", reason=_why_lost(report, name, reading, None))
    if before is None or before.value is None:
        raise UsageError(f"The baseline has no {name} ({reading}).{KnowsMetrics.of(scorer).how_to_get(name, baseline)}")
    regraded = same_outputs(baseline, report)
    compares = Compares.of(scorer)
    if not compares.is_compared(name, report):
        raise UsageError(f"--max-drop {name}: a difference in this metric cannot be tested; name another one.")
    earlier, later = Side(baseline, reading), Side(report, reading)
    compared = compares.compare(earlier, later, name)
    if regraded and compared.after >= compared.before - ROUNDING:
        same = GateResult(gate=gate, state="met", reason="both runs graded the same outputs")
        return _unless_unscored([report, baseline], same)
    low, high = compared.difference.ci90
    state: State = "met" if low >= -drop.value else "failed" if high < -drop.value else "inconclusive"
    change = compared.difference
    figures = (
        f"{compared.before:.2f} before, {compared.after:.2f} now, a change of {change.value:+.2f} points (one-sided "
        f"95 % bounds {low:+.2f} and {high:+.2f}; {change.n} paired items, {change.differing} of them differ)"
    )
    if regraded:
        figures += "; the outputs are the same, so only the grading differs (judge, limits or version)"
    if state == "inconclusive":
        figures += _undecided(change, drop)
    if made := differences(baseline, report):
        figures += f"; the runs had different conditions: {in_words(made)}"
    p_failed = p_at_least(-drop.value, [(Z90, high), (Z95, change.ci95[1])])
    result = GateResult(gate=gate, state=state, reason=figures, p_failed=p_failed)
    # The gate fails even if all unscored samples were correct now and wrong before, so they do not matter.
    if state == "failed" and _highest(now) - _lowest(before) < -drop.value - ROUNDING:
        return result
    return _unless_unscored([report, baseline], result)


def _undecided(change: Difference, drop: MaxDrop) -> str:
    """Return how far the change is from the allowed drop, and how far it should be."""
    distance = abs(change.value + drop.value)
    needed = (change.ci90[1] - change.ci90[0]) / 2 * (1 + POWER_QUANTILE / Z90)
    away = f"; this is {distance:.2f} points from the allowed drop"
    if change.n < FEWEST_FOR_POWER or not 0 < needed < 100:
        return away
    return (
        f"{away}, but {change.n} items decide a gate reliably (80 % power) only at {needed:.1f} points or more: "
        "allow a larger drop, or grade more items or samples"
    )


def _why_lost(report: Report, name: str, reading: ReadingName, group: str | None) -> str:
    metric = report.metric(name, reading, group)
    if metric is not None and any(sample.careful.outcome is Outcome.NOT_JUDGED for sample in report.samples):
        return "the careful reading judges no task; the notes of the report say why"
    if metric is not None:
        return f"it was not judged{_bounds(metric)}; name a judge (--judge-model)"
    return LOST if report.samples else f"{report.split} has no public answers, so there is nothing to compare it with"


def _unless_unscored(reports: list[Report], result: GateResult, bounds: str = "") -> GateResult:
    """Return the result, or an undecided result if this run or the baseline has unscored samples."""
    lost = [
        f"{report.unscored:,} of {len(report.samples):,} samples{where} are unscored{_only_in(report)}"
        for report, where in zip(reports, ("", " of the baseline"), strict=False)
        if report.unscored
    ]
    if not lost:
        return result
    reason = f"{result.reason}; undecided because {' and '.join(lost)}{bounds}"
    return GateResult(gate=result.gate, state="unscored", reason=reason)


def _only_in(report: Report) -> str:
    """Return in which reading samples are unscored, if it is one of the two."""
    readings = [reading for reading in READINGS if getattr(report.unscored_by_reading, reading)]
    return f" in the {readings[0]} reading" if len(readings) == 1 else ""


def _metric(report: Report, scorer: AnyScorer, name: str, reading: ReadingName, group: str | None) -> Metric | None:
    """Return the metric; None if it was lost to infrastructure. Raises UsageError if it does not exist."""
    metric = report.metric(name, reading, group)
    if metric is not None:
        return metric if metric.value is not None else None
    if report.metric(name, other_than(reading), group) is not None or not report.metrics:
        return None
    is_in_data = group is None or bool(in_group(report, group))
    if report.unscored and is_in_data and KnowsMetrics.of(scorer).would_have(report, name, group):
        return None  # it would exist if its samples had been scored
    names = list(dict.fromkeys(m.name for m in report.metrics))
    if name not in names:
        hint = KnowsMetrics.of(scorer).how_to_get(name, report)
        raise UsageError(f"This report has no metric {name!r}; it has {', '.join(names)}.{hint}")
    groups = list(dict.fromkeys(m.group for m in report.metrics if m.name == name and m.group))
    raise UsageError(no_group(name, group, groups))


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


def _left_out(report: Report, reading: ReadingName, group: str | None) -> str:
    """Return how many tasks of the group have no part in the value, because they are not judged."""
    tasks = in_group(report, group).values()
    left = sum(not is_judged(members, reading) for members in tasks)
    return f"; {left} of {len(tasks)} tasks are not judged" if left else ""


def _highest(metric: Metric) -> float:
    """Return the value if all unscored samples were correct."""
    return metric.number if metric.bounds is msgspec.UNSET else max(metric.number, metric.bounds[1])


def _lowest(metric: Metric) -> float:
    """Return the value if all unscored samples were wrong."""
    return metric.number if metric.bounds is msgspec.UNSET else min(metric.number, metric.bounds[0])


def _bounds(metric: Metric) -> str:
    if metric.bounds is msgspec.UNSET:
        return ""
    return f"; with the unscored samples it is between {metric.bounds[0]:.2f} and {metric.bounds[1]:.2f}"


CHANGING = 0.1
"""Share of items that are assumed to change by chance, if a baseline has one sample of each and cannot tell."""


def no_margin(baseline: Report, reading: ReadingName) -> UsageError:
    """Return the error for a baseline without a margin: noise alone would nearly always leave a gate of 0 undecided."""
    return UsageError(
        "--baseline needs --max-drop V: how many points this run may lose. With 0, an unchanged model would nearly "
        f"always be inconclusive, because no number of items excludes every drop.{_proposal(baseline, reading)}"
    )


def _proposal(baseline: Report, reading: ReadingName) -> str:
    name = next((metric.name for metric in baseline.metrics), "")
    observe = Compares.of(scorer_of(baseline)).observe(name)
    tasks = values_by_round(baseline, observe, reading).values() if observe is not None else ()
    items = [(math.fsum(values) / len(values), len(values)) for values in tasks]
    if len(items) < 2:
        return ""
    margin = smallest_margin([share for share, _ in items], [trials for _, trials in items], CHANGING)
    is_known = all(trials > 1 for _, trials in items)
    assumed = "" if is_known else f" if {100 * CHANGING:.0f} % of the items change by chance"
    return (
        f" With the {len(items)} items of this baseline, an unchanged model meets --max-drop {margin:.1f} in four of "
        f"five runs{assumed}; a smaller margin needs more items or more samples of each."
    )
