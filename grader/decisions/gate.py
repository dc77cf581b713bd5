"""Gates: compare a report with a threshold or a baseline. A gate is met, not met, inconclusive or blocked.

A gate is blocked if there is nothing to decide it with: unscored samples that could decide it, or a baseline on other
data. A threshold (`--fail-under`) is compared with the metric's value, and with `--confident` with its interval. A drop
(`--max-drop`) is compared with a paired interval, so that noise neither fails a good checkpoint nor passes a bad one.
A gate with a drop of V is met only if the data rule out a larger drop, and failed only if they rule out a smaller
one, each at the 5 % level (one-sided). Failures are corrected for the number of such gates (Holm): a run that should
meet all of them fails one in at most 5 %. A run passes only if every gate is met, which needs no correction.

Unscored samples leave a gate undecided only if they could decide it: it is met if it is met in their worst case, and
failed if it fails in their best case. In a run, the worst case is that all of them are wrong; in a baseline, that all
are right. The width of an interval stays that of the scored items.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.decisions.comparison import check_comparable, same_outputs
from grader.decisions.made_differently import differences, in_words
from grader.decisions.thresholds import no_group
from grader.errors import GateInconclusiveError, GateNotMetError, InfrastructureError, UsageError
from grader.results import READINGS, Outcome, other_answers_in_words, other_reading
from grader.results.groups import in_group
from grader.scorers.means import is_judged, values_by_round
from grader.scorers.pairing import Side
from grader.scorers.registry import scorer_of
from grader.statistics.corrections import holm
from grader.statistics.intervals import one_sided_p_value
from grader.statistics.paired import (
    FEWEST_FOR_POWER,
    LEVEL,
    POWER_QUANTILE,
    Z90,
    Z95,
    p_value_at_least,
    smallest_margin,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.thresholds import FailUnder, MaxDrop
    from grader.results import Metric, ReadingName, Report
    from grader.scorers.registry import AnyScorer
    from grader.statistics.paired import Difference

State = Literal["met", "not met", "inconclusive", "blocked"]
WORST_FIRST: tuple[State, ...] = ("blocked", "not met", "inconclusive", "met")
"""States in the order of their exit codes: 3, 1, 4, 0."""
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
    is_advisory: bool = False
    """Reported only: it decides nothing."""


def judge(
    report: Report,
    *,
    thresholds: Sequence[FailUnder] = (),
    baseline: Report | None = None,
    drops: Sequence[MaxDrop] = (),
    reading: ReadingName = "careful",
    confident: bool = False,
) -> list[GateResult]:
    """Decide every gate; `confident`: thresholds are compared with the metric's interval.

    Raises UsageError for a metric that the report or the baseline does not have, and for a baseline without a drop.
    """
    results = [decide_threshold(report, threshold, reading, confident=confident) for threshold in thresholds]
    if baseline is not None:
        if not drops:
            raise no_margin(baseline, reading)
        results += [decide_drop(report, baseline, allowed, reading) for allowed in drops]
    return corrected(results)


def decide_threshold(
    report: Report, threshold: FailUnder, reading: ReadingName, *, confident: bool = False
) -> GateResult:
    """Decide a threshold as if it were the only gate; see `corrected`. Raises UsageError for an unknown metric."""
    return _of_part(_threshold(report, scorer_of(report), threshold, reading, confident=confident), report)


def decide_drop(report: Report, baseline: Report, allowed: MaxDrop, reading: ReadingName) -> GateResult:
    """Decide a drop as if it were the only gate; see `corrected`. Raises UsageError for an unknown metric."""
    return _of_part(_drop(report, scorer_of(report), baseline, allowed, reading), report)


def _of_part(result: GateResult, report: Report) -> GateResult:
    """Return the result; its reason says so if only a part of the benchmark was graded."""
    if report.part is None:
        return result
    return msgspec.structs.replace(result, reason=f"on a part, {report.part.in_words()}: {result.reason}")


def corrected(results: list[GateResult]) -> list[GateResult]:
    """Return the results; failures that are not significant beside the other gates are inconclusive (Holm, 5 %)."""
    tests = [result for result in results if result.p_failed is not None]
    p_values = iter(holm([result.p_failed or 0.0 for result in tests]))
    return [
        result if result.p_failed is None or next(p_values) < LEVEL else _unless_failed(result, len(tests))
        for result in results
    ]


def _unless_failed(result: GateResult, gates: int) -> GateResult:
    """Return the result; a failure as inconclusive, because it is not significant beside the other gates."""
    if result.state != "not met":
        return result
    reason = f"{result.reason}; the failure is not significant as one of {gates} gates (Holm's correction)"
    return msgspec.structs.replace(result, state="inconclusive", reason=reason)


def check_baseline(baseline: Report, report: Report) -> None:
    """Raise UsageError if a report cannot be compared with a baseline."""
    check_comparable(baseline, report)
    had, has = ({sample.observation for sample in side.samples} for side in (baseline, report))
    if had != has:
        lacking, more = len(had - has), len(has - had)
        raise UsageError(
            f"This run cannot be compared with the baseline: {lacking} items of the baseline are missing "
            f"in it, and it has {more} other items. Grade the same items (with the same --limit and --id)."
        )


def exit_code(results: Sequence[GateResult], *, complete: bool = True) -> int:
    """Return the exit code of all gates that decide: that of the worst, in the order of `WORST_FIRST`.

    A run that is not `complete` (its files could not be written) has the exit code of a blocked gate, unless a gate is
    not met: a full disk must not hide that.
    """
    states = {result.state for result in results if not result.is_advisory}
    if "blocked" in states:
        return InfrastructureError.exit_code
    if "not met" in states:
        return GateNotMetError.exit_code
    if not complete:
        return InfrastructureError.exit_code
    return GateInconclusiveError.exit_code if "inconclusive" in states else 0


def _threshold(
    report: Report, scorer: AnyScorer, threshold: FailUnder, reading: ReadingName, *, confident: bool
) -> GateResult:
    gate = f"{threshold.name}{_of_group(threshold.group)} >= {threshold.value:.10g} ({reading})"
    metric = _metric(report, scorer, threshold.name, reading, threshold.group)
    if metric is None:
        why = _why_lost(report, threshold.name, reading, threshold.group)
        given = report.metric(threshold.name, reading, threshold.group)
        bounds = msgspec.UNSET if given is None or confident else given.bounds
        states: list[State] = (
            ["blocked"] * 2 if bounds is msgspec.UNSET else [_state(case, threshold) for case in bounds]
        )
        return GateResult(gate=gate, state=states[0] if states[0] == states[1] else "blocked", reason=why)
    cases = _cases(metric)
    left_out = _left_out(report, reading, threshold.group)
    reason = f"it is {_exact(metric.number, threshold.value)}{_interval(metric)}{left_out}"
    samples = [sample for members in in_group(report, threshold.group).values() for sample in members]
    if reading == "careful" and (other_answers := other_answers_in_words(samples)):
        reason += f"; {other_answers}"
    if 0 < threshold.value <= 1:
        reason += f"; values are percentages, so this threshold is {threshold.value:.10g} of 100"
    if confident:
        found = [_confident(metric, threshold, gate, reason, case - metric.number) for case in cases]
    else:
        found = [GateResult(gate=gate, state=_state(case, threshold), reason=reason) for case in cases]
    return _of_cases(found, [report], _bounds(metric))


def _of_group(group: str | None) -> str:
    return f" of {group}" if group else ""


def _state(value: float, threshold: FailUnder) -> State:
    return "met" if value >= threshold.value - ROUNDING else "not met"


def _of_cases(cases: list[GateResult], reports: list[Report], bounds: str) -> GateResult:
    """Return the decision that the worst and the best case of unscored samples have in common, else an undecided one.

    `cases`: the decisions in these two. `bounds`: the cases in words; empty if nothing is unscored.
    """
    worst, best = cases
    if worst.state == "met" or best.state in ("not met", worst.state):
        decided = worst if worst.state == "met" else best
        return msgspec.structs.replace(decided, reason=decided.reason + bounds)
    lost = [
        f"{report.unscored:,} of {len(report.samples):,} samples{where} are unscored{_only_in(report)}"
        for report, where in zip(reports, ("", " of the baseline"), strict=False)
        if report.unscored
    ]
    reason = f"{worst.reason}; undecided because {' and '.join(lost)}{bounds}"
    return GateResult(gate=worst.gate, state="blocked", reason=reason)


def _confident(metric: Metric, threshold: FailUnder, gate: str, reason: str, shift: float) -> GateResult:
    """Return the decision by a one-sided test at the 5 % level, for a value that is higher by `shift`."""
    if metric.ci95 is None:
        raise UsageError(f"--confident: {threshold.name} has no interval. Compare its value: remove --confident.")
    value = threshold.value - shift
    is_high = metric.number >= value - ROUNDING
    ends = metric.ci95[0] / 100, metric.ci95[1] / 100
    p_value = one_sided_p_value(metric.number / 100, ends, value / 100)
    state: State = "inconclusive" if p_value >= LEVEL else "met" if is_high else "not met"
    other = "below" if is_high else "at least"
    tested = f"the hypothesis that the true value is {other} {threshold.value:.10g} has p = {p_value:.2g} (one-sided)"
    return GateResult(
        gate=f"{gate}, confident",
        state=state,
        reason=f"{reason}; {tested}",
        p_failed=1 - p_value if is_high else p_value,
    )


def _drop(report: Report, scorer: AnyScorer, baseline: Report, drop: MaxDrop, reading: ReadingName) -> GateResult:
    name, group = (
        drop.name or next((m.name for made in (report, baseline) for m in made.metrics), "the metric"),
        drop.group,
    )
    amount = f"{drop.value:.10g} {'% of its value' if drop.is_relative else 'points'}"
    gate = f"{name}{_of_group(group)} no more than {amount} below the baseline ({reading})"
    try:
        check_baseline(baseline, report)
    except UsageError as error:
        return GateResult(gate=gate, state="blocked", reason=str(error))
    now, before = _metric(report, scorer, name, reading, group), baseline.metric(name, reading, group)
    if now is None:
        return GateResult(gate=gate, state="blocked", reason=_why_lost(report, name, reading, group))
    if before is None or before.value is None:
        raise UsageError(f"The baseline has no {name} ({reading}).{scorer.without_metric(name, baseline)}")
    regraded = same_outputs(baseline, report)
    compared = scorer.compare(Side(baseline, reading), Side(report, reading), name, group)
    if compared is None:
        raise UsageError(f"--max-drop {name}: a difference in this metric cannot be tested; name another one.")
    allowed = drop.points(before.number)
    (worst, best), (least, most) = _cases(now), _cases(before)
    bounds = f"{_bounds(now)}{_bounds(before, ' before')}"
    # The difference is that of the pairs in which both samples are scored; the cases are of all items.
    shifts = [case - compared.difference.value if bounds else 0.0 for case in (worst - most, best - least)]
    if regraded and compared.after >= compared.before - ROUNDING:
        same = "both runs graded the same outputs"
        states: list[State] = ["met" if shift >= -allowed - ROUNDING else "inconclusive" for shift in shifts]
        return _of_cases([GateResult(gate=gate, state=one, reason=same) for one in states], [report, baseline], bounds)
    low, high = compared.difference.ci90
    change = compared.difference
    figures = (
        f"{compared.before:.2f} before, {compared.after:.2f} now, a change of {change.value:+.2f} points (one-sided "
        f"95 % bounds {low:+.2f} and {high:+.2f}; {change.n} paired items, {change.differing} of them differ)"
    )
    if regraded:
        figures += "; the outputs are the same, so only the grading differs (judge, limits or version)"
    if low < -allowed <= high:
        figures += _undecided(change, allowed)
    if made := differences(baseline, report):
        figures += f"; the runs had different conditions: {in_words(made)}"
    found = [
        GateResult(
            gate=gate,
            state="met" if low + shift >= -allowed else "not met" if high + shift < -allowed else "inconclusive",
            reason=figures,
            p_failed=p_value_at_least(-allowed, [(Z90, high + shift), (Z95, change.ci95[1] + shift)]),
        )
        for shift in shifts
    ]
    return _of_cases(found, [report, baseline], bounds)


def _undecided(change: Difference, allowed: float) -> str:
    """Return how far the change is from the allowed drop (in points), and how far it should be."""
    distance = abs(change.value + allowed)
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
    return (
        LOST if report.samples else f"the data of {report.split} has no answers, so there is nothing to compare it with"
    )


def _only_in(report: Report) -> str:
    """Return in which reading samples are unscored, if it is one of the two."""
    readings = [reading for reading in READINGS if getattr(report.unscored_by_reading, reading)]
    return f" in the {readings[0]} reading" if len(readings) == 1 else ""


def _metric(report: Report, scorer: AnyScorer, name: str, reading: ReadingName, group: str | None) -> Metric | None:
    """Return the metric; None if it was lost to infrastructure. Raises UsageError if it does not exist."""
    metric = report.metric(name, reading, group)
    if metric is not None:
        return metric if metric.value is not None else None
    if report.metric(name, other_reading(reading), group) is not None or not report.metrics:
        return None
    is_in_data = group is None or bool(in_group(report, group))
    if report.unscored and is_in_data and scorer.would_have(report, name, group):
        return None  # it would exist if its samples had been scored
    names = list(dict.fromkeys(m.name for m in report.metrics))
    if name not in names:
        hint = scorer.without_metric(name, report)
        raise UsageError(f"This report has no metric {name!r}; it has {', '.join(names)}.{hint}")
    groups = list(dict.fromkeys(m.group for m in report.metrics if m.name == name and m.group))
    raise UsageError(no_group(name, group, groups))


def _exact(value: float, threshold: float) -> str:
    """Format a value with enough decimals to show on which side of the threshold it is."""
    for places in range(2, 9):
        text = f"{value:.{places}f}"
        if (float(text) < threshold) == (value < threshold - ROUNDING):
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


def _cases(metric: Metric) -> tuple[float, float]:
    """Return the value if all unscored samples were wrong, and if all were right."""
    if metric.bounds is msgspec.UNSET:
        return metric.number, metric.number
    return min(metric.number, metric.bounds[0]), max(metric.number, metric.bounds[1])


def _bounds(metric: Metric, when: str = "") -> str:
    if metric.bounds is msgspec.UNSET:
        return ""
    return f"; with the unscored samples it is between {metric.bounds[0]:.2f} and {metric.bounds[1]:.2f}{when}"


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
    observe = scorer_of(baseline).observe(name)
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
