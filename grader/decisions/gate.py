"""Gates: compare a report with a threshold or a baseline. A gate is met, not met, inconclusive or blocked.

A gate is blocked if there is nothing to decide it with: unscored samples that could decide it, or a baseline on other
data. A threshold (`--fail-under`) is compared with the metric's value, and with `--confident` with its interval. A drop
(`--max-drop`) is compared with a paired interval, so that noise neither fails a good checkpoint nor passes a bad one.
A gate with a drop of V is met only if the data rule out a larger drop, and failed only if they rule out a smaller
one, each at the 5 % level (one-sided). Failures are corrected for the number of such gates (Holm): a run that should
meet all of them fails one in at most 5 %. A run passes only if every gate is met, which needs no correction.

Unscored samples leave a gate undecided only if they could decide it. So each gate is decided twice, in their worst case
(in a run: all of them are wrong; in a baseline: all are right) and in their best case. The gate has the state that both
decisions have; if they differ, it is blocked. MR-Score and other metrics that count more than right and wrong samples
are moved to the case by a `shift` in points; the width of the interval stays that of the scored items.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.decisions import conditions
from grader.decisions.comparison import check_comparable, same_outputs
from grader.decisions.thresholds import missing_group_message
from grader.errors import InfrastructureError, UsageError
from grader.results import READINGS, Outcome, Reading, other_answers_in_words, other_reading
from grader.results.groups import in_group
from grader.scorers import aggregates
from grader.scorers.means import credit, is_judged, values_by_round
from grader.scorers.pairing import NothingPairedError, Side
from grader.scorers.registry import scorer_of
from grader.statistics.corrections import holm
from grader.statistics.intervals import one_sided_p_value
from grader.statistics.paired import FEWEST_FOR_POWER, LEVEL, POWER_QUANTILE, p_value_of_reaching, smallest_margin
from grader.statistics.quantiles import Z90, Z95
from grader.wording import counted, decimal, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.thresholds import FailUnder, MaxDrop
    from grader.results import Metric, ReadingName, Report
    from grader.scorers.pairing import MetricComparison
    from grader.scorers.registry import AnyScorer
    from grader.statistics.paired import Difference

State = Literal["met", "not met", "inconclusive", "blocked"]
WORST_FIRST: tuple[State, ...] = ("blocked", "not met", "inconclusive", "met")
"""States in the order of their exit codes: 3, 1, 4, 0."""
NOT_MET, INCONCLUSIVE = 1, 4
"""Exit codes of gates that can be decided; a blocked one has that of an InfrastructureError."""
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
    """p value of the hypothesis that the true value meets the gate: a small one is a failure. None: no test."""
    is_advisory: bool = False
    """Reported only: it decides nothing."""


def decide_all(
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
            raise missing_margin_error(baseline, reading)
        results += [decide_max_drop(report, baseline, max_drop, reading) for max_drop in drops]
    return with_holm_correction(results)


def decide_threshold(
    report: Report, threshold: FailUnder, reading: ReadingName, *, confident: bool = False
) -> GateResult:
    """Return the decision of a threshold before Holm's correction (see `with_holm_correction`).

    Raises UsageError for an unknown metric.
    """
    result = _decide_threshold(report, scorer_of(report), threshold, reading, confident=confident)
    return _with_selection_note(result, report)


def decide_max_drop(report: Report, baseline: Report, max_drop: MaxDrop, reading: ReadingName) -> GateResult:
    """Return the decision of a maximum drop before Holm's correction (see `with_holm_correction`).

    Raises UsageError for an unknown metric.
    """
    return _with_selection_note(_decide_max_drop(report, scorer_of(report), baseline, max_drop, reading), report)


def _with_selection_note(result: GateResult, report: Report) -> GateResult:
    """Return the result; its reason says so if only some of the benchmark's tasks were graded."""
    if report.part is None:
        return result
    return msgspec.structs.replace(result, reason=f"on a part, {report.part.in_words()}: {result.reason}")


def with_holm_correction(results: list[GateResult]) -> list[GateResult]:
    """Return the results; failures that are not significant beside the other gates are inconclusive (Holm, 5 %)."""
    p_values = {index: result.p_failed for index, result in enumerate(results) if result.p_failed is not None}
    corrected = results.copy()
    for index, p_value in zip(p_values, holm(list(p_values.values())), strict=True):
        result = results[index]
        if result.state == "not met" and p_value >= LEVEL:
            no_failure = f"the failure is not significant as one of {len(p_values)} gates (Holm's correction)"
            reason = f"{result.reason}; {no_failure}"
            corrected[index] = msgspec.structs.replace(result, state="inconclusive", reason=reason)
    return corrected


def check_baseline(baseline: Report, report: Report) -> None:
    """Raise UsageError if a report cannot be compared with a baseline."""
    check_comparable(baseline, report)
    # The tasks, as an observation with fewer of them (passes of a circular question) is another one.
    baseline_items, items = ({sample.qid for sample in run.samples} for run in (baseline, report))
    if baseline_items != items:
        missing, others = len(baseline_items - items), len(items - baseline_items)
        raise UsageError(
            f"This run cannot be compared with the baseline: {counted(missing, 'item')} of the baseline "
            f"{'is' if missing == 1 else 'are'} missing in it, and it has {counted(others, 'other item')}. Grade the "
            "same items (with the same --limit and --id)."
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
        return NOT_MET
    if not complete:
        return InfrastructureError.exit_code
    return INCONCLUSIVE if "inconclusive" in states else 0


# --- thresholds ---------------------------------------------------------------------------------------------------


def _decide_threshold(
    report: Report, scorer: AnyScorer, threshold: FailUnder, reading: ReadingName, *, confident: bool
) -> GateResult:
    """Decide a threshold: by the value or, if `confident`, by a test."""
    gate = f"{threshold.name}{_group_in_words(threshold.group)} >= {threshold.value:.10g} ({reading})"
    metric = _metric_with_value(report, scorer, threshold.name, reading, threshold.group)
    if metric is None:
        return _decide_without_value(report, threshold, reading, gate, confident=confident)
    left_out = _left_out_in_words(report, scorer, metric)
    reason = f"it is {_format_beside(metric.number, threshold.value)}{_interval_in_words(metric)}{left_out}"
    group_samples = [sample for samples in in_group(report, threshold.group).values() for sample in samples]
    if reading == "careful" and (other_answers := other_answers_in_words(group_samples)):
        reason += f"; {other_answers}"
    if 0 < threshold.value <= 1:
        reason += f"; values are percentages, so this threshold is {threshold.value:.10g} of 100"
    if confident:
        cases = (_metric_in_case(report, scorer, metric, are_right=are_right) for are_right in (False, True))
        worst, best = (_decide_by_test(threshold, gate, reason, *case) for case in cases)
    else:
        states = (_state(value, threshold) for value in _worst_and_best(metric))
        worst, best = (GateResult(gate=gate, state=state, reason=reason) for state in states)
    return _decision_of_cases(worst, best, [report], _bounds_in_words(metric))


def _decide_without_value(
    report: Report, threshold: FailUnder, reading: ReadingName, gate: str, *, confident: bool
) -> GateResult:
    """Decide a threshold on a metric without a value: blocked, unless its worst and its best case have the same state.

    With `confident` it is always blocked: there is no interval to test.
    """
    reason = _why_no_value(report, threshold.name, reading, threshold.group)
    metric = report.metric(threshold.name, reading, threshold.group)
    state: State = "blocked"
    if metric is not None and metric.bounds is not msgspec.UNSET and not confident:
        worst, best = (_state(value, threshold) for value in metric.bounds)
        if worst == best:
            state = worst
    return GateResult(gate=gate, state=state, reason=reason)


def _state(value: float, threshold: FailUnder) -> State:
    return "met" if value >= threshold.value - ROUNDING else "not met"


def _metric_in_case(report: Report, scorer: AnyScorer, metric: Metric, *, are_right: bool) -> tuple[Metric, float]:
    """Return the metric if all unscored samples were right, or all wrong, and 0; else the metric and its shift."""
    in_case = _report_if_unscored_were(report, scorer, metric, are_right=are_right)
    metric_in_case = None if in_case is None else in_case.metric(metric.name, metric.reading, metric.group)
    if metric_in_case is None:
        return metric, _worst_and_best(metric)[are_right] - metric.number
    return metric_in_case, 0.0


def _report_if_unscored_were(report: Report, scorer: AnyScorer, metric: Metric, *, are_right: bool) -> Report | None:
    """Return what the report would be if the unscored samples of the metric's reading were all right, or all wrong.

    None: the metric would not be at its bound in it, because it counts more than right and wrong samples.
    """
    if not metric.is_partial:
        return report
    if any(value is not credit for value in scorer.sample_values.values()):
        return None  # the scorer's own functions read answers, and an unscored sample has none
    outcome = Outcome.CORRECT if are_right else Outcome.NO_ANSWER
    verdict = {metric.reading: Reading(outcome=outcome, credit=int(are_right))}
    samples = [
        msgspec.structs.replace(one, **verdict) if one.reading(metric.reading).outcome is Outcome.UNSCORED else one
        for one in report.samples
    ]
    in_case = msgspec.structs.replace(report, samples=samples)
    metrics = aggregates.with_declared_metrics(in_case, scorer.metrics(in_case))
    in_case = msgspec.structs.replace(in_case, metrics=metrics)
    metric_in_case = in_case.metric(metric.name, metric.reading, metric.group)
    bound = _worst_and_best(metric)[are_right]
    is_at_bound = metric_in_case is not None and abs(metric_in_case.number - bound) < ROUNDING
    return in_case if is_at_bound else None


def _decide_by_test(threshold: FailUnder, gate: str, reason: str, metric: Metric, shift: float) -> GateResult:
    """Decide a threshold by a one-sided test at the 5 % level."""
    if metric.ci95 is None:
        raise UsageError(f"--confident: {threshold.name} has no interval. Compare its value: remove --confident.")
    # Moving the limit down is moving value and interval up.
    limit = threshold.value - shift
    is_met = metric.number >= limit - ROUNDING
    # The hypothesis: the true value is on the other side of the threshold. A small p value rules it out.
    hypothesis = f"the true value is {'below' if is_met else 'at least'} {threshold.value:.10g}"
    interval = metric.ci95[0] / 100, metric.ci95[1] / 100
    p_value = one_sided_p_value(metric.number / 100, interval, limit / 100)
    if p_value >= LEVEL:
        state: State = "inconclusive"
    else:
        state = "met" if is_met else "not met"
    return GateResult(
        gate=f"{gate}, confident",
        state=state,
        reason=f"{reason}; the hypothesis that {hypothesis} has p = {p_value:.2g} (one-sided)",
        p_failed=1 - p_value if is_met else p_value,
    )


# --- drops --------------------------------------------------------------------------------------------------------


def _decide_max_drop(
    report: Report, scorer: AnyScorer, baseline: Report, max_drop: MaxDrop, reading: ReadingName
) -> GateResult:
    """Decide a maximum drop by a test, or without one if the same outputs were graded and the metric did not fall.

    The gate is blocked if the runs cannot be compared.
    """
    first_metric = next((metric.name for run in (report, baseline) for metric in run.metrics), "the metric")
    name, group = max_drop.name or first_metric, max_drop.group
    limit = f"{max_drop.value:.10g} {'% of its value' if max_drop.is_relative else 'points'}"
    gate = f"{name}{_group_in_words(group)} no more than {limit} below the baseline ({reading})"
    try:
        check_baseline(baseline, report)
    except UsageError as error:
        return GateResult(gate=gate, state="blocked", reason=str(error))
    now = _metric_with_value(report, scorer, name, reading, group)
    if now is None:
        return GateResult(gate=gate, state="blocked", reason=_why_no_value(report, name, reading, group))
    try:
        before = _metric_with_value(baseline, scorer, name, reading, group)
    except UsageError:
        hint = scorer.missing_metric_hint(name, baseline)
        raise UsageError(f"The baseline has no {name} ({reading}).{hint}") from None
    if before is None:
        why = _why_no_value(baseline, name, reading, group)
        return GateResult(gate=gate, state="blocked", reason=f"the baseline has no value: {why}")
    try:
        comparison = scorer.compare(Side(baseline, reading), Side(report, reading), name, group)
    except NothingPairedError as error:
        return GateResult(gate=gate, state="blocked", reason=str(error))
    if comparison is None:
        another = "another one" if name == first_metric else f"another one, such as {first_metric}"
        raise UsageError(f"--max-drop {name}: a difference in this metric cannot be tested; name {another}.")
    margin = max_drop.points(before.number)
    if same_outputs(baseline, report) and comparison.after >= comparison.before - ROUNDING:
        decide = partial(_decide_without_test, gate, margin)
    else:
        reason = f"{_drop_reason(report, baseline, comparison, margin)}{_left_out_in_words(report, scorer, now)}"
        decide = partial(_decide_by_interval, gate, reason, margin)
    bounds = f"{_bounds_in_words(now)}{_bounds_in_words(before, ' before')}"
    worst, best = (
        _change_in_case(scorer, (baseline, before), (report, now), comparison, are_right=are_right)
        for are_right in (False, True)
    )
    return _decision_of_cases(decide(*worst), decide(*best), [report, baseline], bounds)


def _change_in_case(
    scorer: AnyScorer,
    before: tuple[Report, Metric],
    now: tuple[Report, Metric],
    comparison: MetricComparison,
    *,
    are_right: bool,
) -> tuple[Difference, float]:
    """Return the change in a case, and 0; else the change of the scored pairs (`comparison`) and its shift to the case.

    In a case the unscored samples of the run are all right (`are_right`) or all wrong; those of the baseline are the
    opposite. The shift is that of metrics that count more than right and wrong samples.
    """
    reading, change = comparison.reading, comparison.difference
    if not (before[1].is_partial or now[1].is_partial):
        return change, 0.0
    first = _report_if_unscored_were(before[0], scorer, before[1], are_right=not are_right)
    second = _report_if_unscored_were(now[0], scorer, now[1], are_right=are_right)
    if first is not None and second is not None:
        in_case = scorer.compare(Side(first, reading), Side(second, reading), comparison.name, comparison.group)
        if in_case is not None:
            return in_case.difference, 0.0
    case = _worst_and_best(now[1])[are_right] - _worst_and_best(before[1])[not are_right]
    return change, case - change.value


def _decide_without_test(gate: str, margin: float, change: Difference, shift: float) -> GateResult:
    """Decide a drop of a run that graded the baseline's outputs again, in which the scored samples did not get worse.

    The outputs are the same, so nothing is random. If the drop is too large with the unscored samples, no drop is
    proven: the gate is inconclusive.
    """
    state: State = "met" if change.value + shift >= -margin - ROUNDING else "inconclusive"
    return GateResult(gate=gate, state=state, reason="both runs graded the same outputs")


def _decide_by_interval(gate: str, reason: str, margin: float, change: Difference, shift: float) -> GateResult:
    """Decide a drop by the ends of the 90 % interval, each of which is a one-sided bound at the 5 % level."""
    low, high = change.ci90[0] + shift, change.ci90[1] + shift
    if low >= -margin:
        state: State = "met"
    else:
        state = "not met" if high < -margin else "inconclusive"
    # Holm's correction needs more than the state at 5 %: two upper bounds with their quantiles give the p value.
    upper_bounds = [(Z90, high), (Z95, change.ci95[1] + shift)]
    return GateResult(gate=gate, state=state, reason=reason, p_failed=p_value_of_reaching(-margin, upper_bounds))


def _drop_reason(report: Report, baseline: Report, comparison: MetricComparison, margin: float) -> str:
    change = comparison.difference
    low, high = change.ci90
    reason = (
        f"{decimal(comparison.before, 2)} before, {decimal(comparison.after, 2)} now, "
        f"a change of {signed(change.value, 2)} points "
        f"(one-sided 95 % bounds {signed(low, 2)} and {signed(high, 2)}; "
        f"{change.n} paired items, {change.differing} of them differ)"
    )
    if same_outputs(baseline, report):
        reason += "; the outputs are the same, so only the grading differs (judge, limits or version)"
    is_undecided = low < -margin <= high
    if is_undecided:
        reason += f"; this is {abs(change.value + margin):.2f} points from the allowed drop{_power_hint(change)}"
    if differences := conditions.differences(baseline, report):
        reason += f"; the runs had different conditions: {conditions.in_words(differences)}"
    return reason


def _power_hint(change: Difference) -> str:
    """Return how far a change must be from the allowed drop to be decided (80 % power); empty if not meaningful.

    The normal approximation does not hold for few pairs, and no change can be larger than the whole scale.
    """
    stderr = (change.ci90[1] - change.ci90[0]) / 2 / Z90
    decidable = (Z90 + POWER_QUANTILE) * stderr
    if change.n < FEWEST_FOR_POWER or not 0 < decidable < 100:
        return ""
    return (
        f", but {change.n} items decide a gate reliably (80 % power) only at {decidable:.1f} points or more: "
        "allow a larger drop, or grade more items or samples"
    )


# --- both ---------------------------------------------------------------------------------------------------------


def _decision_of_cases(worst: GateResult, best: GateResult, reports: list[Report], bounds: str) -> GateResult:
    """Return the decision if the worst and the best case of unscored samples have the same state; else a blocked one.

    `bounds`: the two cases in words; empty if nothing is unscored.
    """
    if worst.state == best.state:
        # The case in which this state is harder to reach: the worst if it is met, else the best.
        decision = worst if worst.state == "met" else best
        return msgspec.structs.replace(decision, reason=decision.reason + bounds)
    unscored = [
        f"{report.unscored:,} of {len(report.samples):,} samples{run} are unscored{_unscored_reading(report)}"
        for report, run in zip(reports, ("", " of the baseline"), strict=False)
        if report.unscored
    ]
    reason = f"{worst.reason}; undecided because {' and '.join(unscored)}{bounds}"
    return GateResult(gate=worst.gate, state="blocked", reason=reason)


def _group_in_words(group: str | None) -> str:
    return f" of {group}" if group else ""


def _why_no_value(report: Report, name: str, reading: ReadingName, group: str | None) -> str:
    """Return why a metric has no value: nothing was scored, the data has no answers, or nothing was judged."""
    metric = report.metric(name, reading, group)
    if metric is None and report.samples:
        return "none of its samples could be scored"
    if metric is None:
        return f"the data of {report.split} has no answers, so there is nothing to compare it with"
    # With such samples, only a careful metric can be without a value.
    if any(sample.careful.outcome is Outcome.NOT_JUDGED for sample in report.samples):
        return "the careful reading judges no task; the notes of the report say why"
    return f"it was not judged{_bounds_in_words(metric)}; name a judge (--judge-model)"


def _unscored_reading(report: Report) -> str:
    """Return in which reading samples are unscored, if it is one of the two."""
    readings = [reading for reading in READINGS if getattr(report.unscored_by_reading, reading)]
    return f" in the {readings[0]} reading" if len(readings) == 1 else ""


def _metric_with_value(
    report: Report, scorer: AnyScorer, name: str, reading: ReadingName, group: str | None
) -> Metric | None:
    """Return a metric that has a value; None if it has none, because its samples are unscored or not judged.

    Raises UsageError if the scorer never has this metric or group.
    """
    metric = report.metric(name, reading, group)
    if metric is not None:
        return metric if metric.value is not None else None
    if report.metric(name, other_reading(reading), group) is not None:
        return None  # nothing is scored in this reading
    if not report.metrics:
        return None  # nothing is scored at all
    names = list(dict.fromkeys(m.name for m in report.metrics))
    if group is None and name in names:
        return None  # only groups without a judged task have this metric: all others are unscored
    is_in_data = group is None or bool(in_group(report, group))
    if report.unscored and is_in_data and scorer.would_report_metric(report, name, group):
        return None  # it would exist if its samples had been scored
    if name not in names:
        hint = scorer.missing_metric_hint(name, report)
        raise UsageError(f"This report has no metric {name!r}; it has {', '.join(names)}.{hint}")
    groups = list(dict.fromkeys(m.group for m in report.metrics if m.name == name and m.group))
    raise UsageError(missing_group_message(name, group, groups))


def _format_beside(value: float, threshold: float) -> str:
    """Format a value with enough decimals to show on which side of the threshold it is."""
    for decimals in range(2, 9):
        if (round(value, decimals) < threshold) == (value < threshold - ROUNDING):
            return decimal(value, decimals)
    return repr(value)


def _interval_in_words(metric: Metric) -> str:
    interval = "" if metric.ci95 is None else f"95 % interval {' to '.join(map(decimal, metric.ci95))}, "
    return f" ({interval}n {metric.n})"


def _left_out_in_words(report: Report, scorer: AnyScorer, metric: Metric) -> str:
    """Return how many tasks of the group have no part in the value: not judged, or too few samples; empty if none."""
    tasks = in_group(report, metric.group)
    unjudged = sum(not is_judged(samples, metric.reading) for samples in tasks.values())
    values = scorer.observations(report, metric.name, metric.reading, metric.group) or {}
    too_few = sum(
        value is None and all(sample.reading(metric.reading).is_scored for sample in tasks[task])
        for task, value in values.items()
    )
    parts = ((unjudged, "are not judged"), (too_few, "have too few samples for it"))
    return "".join(f"; {number} of {len(tasks)} tasks {what}" for number, what in parts if number)


def _worst_and_best(metric: Metric) -> tuple[float, float]:
    """Return the value if all unscored samples were wrong, and if all were right."""
    return (metric.number, metric.number) if metric.bounds is msgspec.UNSET else metric.bounds


def _bounds_in_words(metric: Metric, suffix: str = "") -> str:
    """Return the worst and the best case of unscored samples; empty if nothing is unscored."""
    if metric.bounds is msgspec.UNSET:
        return ""
    worst, best = (decimal(bound, 2) for bound in metric.bounds)
    return f"; with the unscored samples it is between {worst} and {best}{suffix}"


ASSUMED_CHANGING = 0.1
"""Share of items that are assumed to change by chance, if a baseline has one sample of each and cannot tell."""


def missing_margin_error(baseline: Report, reading: ReadingName) -> UsageError:
    """Return the error for a baseline without a margin: noise alone would nearly always leave a gate of 0 undecided."""
    return UsageError(
        "--baseline needs --max-drop V: how many points this run may lose. With 0, an unchanged model would nearly "
        f"always be inconclusive, because no number of items excludes every drop.{_margin_hint(baseline, reading)}"
    )


def _margin_hint(baseline: Report, reading: ReadingName) -> str:
    """Return the smallest margin that an unchanged model meets with 80 % power; empty if the baseline cannot tell it.

    Items with several samples show how much they change by chance; of items with one sample, `ASSUMED_CHANGING` change.
    """
    name = next((metric.name for metric in baseline.metrics), "")
    observe = scorer_of(baseline).observe(name)
    items = values_by_round(baseline, observe, reading).values() if observe is not None else ()
    item_means = [math.fsum(values) / len(values) for values in items]
    sample_counts = [len(values) for values in items]
    if len(item_means) < 2:
        return ""
    margin = smallest_margin(item_means, sample_counts, ASSUMED_CHANGING)
    assumption = "" if min(sample_counts) > 1 else f" if {100 * ASSUMED_CHANGING:.0f} % of the items change by chance"
    return (
        f" With the {len(item_means)} items of this baseline, an unchanged model meets --max-drop {margin:.1f} in four "
        f"of five runs{assumption}; a smaller margin needs more items or more samples of each."
    )
