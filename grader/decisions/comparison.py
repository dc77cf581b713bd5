"""Two results files of one benchmark, paired: how far every metric moved, and which items moved with it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec

from grader.decisions import observations
from grader.decisions.paired import Difference, difference
from grader.errors import InputError, UsageError
from grader.results import Outcome, ReadingName, Report, SampleResult

NOTHING_PAIRED = "These runs cannot be compared: no item is scored in both."
MAX_LABELS = 40
"""A breakdown with more labels than this is not compared group by group."""


class NothingPairedError(UsageError):
    """No observation is scored in both runs."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in one reading, in both runs."""

    name: str
    reading: ReadingName
    group: str | None
    before: float
    """In percent, over what is paired and scored in both runs."""
    after: float
    difference: Difference


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """An observation whose headline value moved."""

    item: str
    before: float
    """Credit from 0 to 1."""
    after: float
    outcomes: tuple[list[str], list[str]]
    """Outcomes of its samples, before and after."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a benchmark from one run to another."""

    schema: int = 1
    benchmark: str
    split: str
    protocol: str
    reading: ReadingName
    """The reading of the flips."""
    metrics: list[Compared]
    risen: list[Flip]
    fallen: list[Flip]
    notes: list[str] = []


def check_comparable(before: Report, after: Report) -> None:
    """Raise UsageError where a difference of these two would mean nothing."""
    for what in ("benchmark", "split", "protocol"):
        first, second = getattr(before, what), getattr(after, what)
        if first != second:
            raise UsageError(f"These runs cannot be compared: {what} {first!r} and {second!r}.")
    _check_same(before, after, "data_digest", "they were graded against different data")
    _check_same(before, after, "weights", "their MR-Scores have different weights")
    for report, which in ((before, "first"), (after, "second")):
        if not report.samples:
            raise UsageError(f"These runs cannot be compared: the {which} one has no scored samples.")


def _check_same(before: Report, after: Report, fact: str, why: str) -> None:
    first, second = before.environment.get(fact), after.environment.get(fact)
    if first != second:
        raise UsageError(f"These runs cannot be compared: {why} ({_short(first)} and {_short(second)}).")


def _short(value: object) -> str:
    return "unknown" if value is None else str(value)[:60]


def compare(before: Report, after: Report, *, reading: ReadingName = "careful") -> Comparison:
    """Pair two runs by observation; raises UsageError where they are not of the same benchmark, data and protocol."""
    check_comparable(before, after)
    rows = []
    headline = next((metric.name for report in (after, before) for metric in report.metrics), "")
    fields = _fields_shown(after)
    for metric in after.metrics:
        if metric.group is not None and (metric.name != headline or metric.group.partition("=")[0] not in fields):
            continue
        if before.metric(metric.name, metric.reading, metric.group) is not None and not _is_left_out(
            after, metric.name
        ):
            # A group may have items in both runs and none of them in both.
            with suppress(NothingPairedError):
                rows.append(compare_metric(before, after, metric.name, metric.reading, metric.group))
    if not rows:
        raise NothingPairedError(NOTHING_PAIRED)
    risen, fallen = _flips(before, after, headline, reading)
    return Comparison(
        benchmark=after.benchmark,
        split=after.split,
        protocol=after.protocol,
        reading=reading,
        metrics=rows,
        risen=risen,
        fallen=fallen,
        notes=_notes(before, after),
    )


def _fields_shown(report: Report) -> set[str]:
    labels: dict[str, set[str]] = {}
    for metric in report.metrics:
        if metric.group is not None:
            labels.setdefault(metric.group.partition("=")[0], set()).add(metric.group)
    return {field for field, found in labels.items() if len(found) <= MAX_LABELS}


def _is_left_out(report: Report, name: str) -> bool:
    """Mr-Ben's parse rate is neither a mean of observations nor a part of MR-Score."""
    return not observations.is_mean(report, name) and name == "parse_success_rate"


def compare_metric(
    before: Report, after: Report, name: str, reading: ReadingName, group: str | None = None
) -> Compared:
    """Compare one metric that both reports have; raises UsageError where no observation is in both."""
    if not observations.is_mean(after, name):
        return _compare_mr_score(before, after, name, reading, group)
    first = observations.by_observation(before, name, reading, group)
    second = observations.by_observation(after, name, reading, group)
    pairs = [(a, b) for item, a in first.items() if a is not None and (b := second.get(item)) is not None]
    if not pairs:
        raise NothingPairedError(NOTHING_PAIRED)
    moved = difference([a for a, _ in pairs], [b for _, b in pairs])
    means = [100 * sum(side) / len(pairs) for side in zip(*pairs, strict=True)]
    return Compared(name=name, reading=reading, group=group, before=means[0], after=means[1], difference=moved)


def _compare_mr_score(before: Report, after: Report, name: str, reading: ReadingName, group: str | None) -> Compared:
    from grader.scorers.mr_ben.figures import Weights
    from grader.scorers.mr_ben.paired import difference as paired_by_question
    from grader.scorers.mr_ben.paired import levels
    from grader.scorers.mr_ben.run import facts_of_both

    given: Any = after.environment.get("weights")
    try:
        weights = Weights(**given) if given else Weights()
        first, second = facts_of_both(before.samples, after.samples, reading)
    except (KeyError, TypeError, AssertionError) as error:
        raise InputError([f"a results file lacks what Mr-Ben needs ({error!r})"]) from error
    if first.keys() != second.keys():
        raise UsageError("These runs cannot be compared: they have different subjects.")
    subject = None if group is None else group.partition("=")[2]
    try:
        was, now = levels(first, second, name, weights, subject)
        moved = paired_by_question(first, second, name, weights, subject)
    except ValueError:
        raise NothingPairedError(NOTHING_PAIRED) from None
    return Compared(name=name, reading=reading, group=group, before=was, after=now, difference=moved)


def _flips(before: Report, after: Report, headline: str, reading: ReadingName) -> tuple[list[Flip], list[Flip]]:
    """Return the observations that rose and that fell, the furthest first."""
    earlier, later = observations.clusters(before), observations.clusters(after)
    if observations.is_mean(after, headline):
        first, second = (observations.by_observation(report, headline, reading) for report in (before, after))
    else:
        first, second = (
            {item: observations.mean_credit(rows, reading) for item, rows in one.items()}
            for one in (_scored_in(earlier, later, reading), _scored_in(later, earlier, reading))
        )
    flips = []
    for item, was in first.items():
        now = second.get(item)
        if was is None or now is None or round(now - was, 12) == 0:
            continue
        outcomes = _outcomes(earlier[item], reading), _outcomes(later[item], reading)
        flips.append(Flip(item=item, before=was, after=now, outcomes=outcomes))
    flips.sort(key=lambda flip: -abs(flip.after - flip.before))
    return [f for f in flips if f.after > f.before], [f for f in flips if f.after < f.before]


def _scored_in(
    clusters: dict[str, list[SampleResult]], others: dict[str, list[SampleResult]], reading: ReadingName
) -> dict[str, list[SampleResult]]:
    """Leave out the samples that the other run did not score: what is left of a question would be another question."""
    scored = {
        (sample.qid, sample.sample)
        for members in others.values()
        for sample in members
        if sample.reading(reading).outcome is not Outcome.UNSCORED
    }
    return {item: [s for s in members if (s.qid, s.sample) in scored] for item, members in clusters.items()}


def _outcomes(members: list[SampleResult], reading: ReadingName) -> list[str]:
    return [str(sample.reading(reading).outcome) for sample in members]


def _notes(before: Report, after: Report) -> list[str]:
    notes = []
    first, second = (set(observations.clusters(report)) for report in (before, after))
    for alone, which in ((first - second, "first"), (second - first, "second")):
        if alone:
            notes.append(f"{len(alone)} items are only in the {which} run, and in no difference.")
    for report, which in ((before, "first"), (after, "second")):
        if report.unscored:
            notes.append(f"{report.unscored} samples of the {which} run are unscored, and in no difference.")
    if before.environment.get("data_digest") is None:
        # Of two that differ in it there is no comparison: neither has one.
        notes.append("Neither run says what data it was graded against: that it was the same is not checked.")
    if same_outputs(before, after):
        notes.append("Both runs graded the same outputs.")
    return notes


def same_outputs(before: Report, after: Report) -> bool:
    """Whether both runs graded the very same texts, so that there is nothing to infer."""
    first = before.environment.get("predictions_digest")
    return first is not None and first == after.environment.get("predictions_digest")
