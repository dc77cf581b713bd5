"""MR-Score and its parts, computed from the credit of each row, with bounds and jackknife intervals.

MR-Score = 0.2 max(0, MCC) + 0.3 ACC_step + 0.5 ACC_reason for each subject; the overall value is the unweighted mean
over subjects (arXiv 2406.13975; script/utils.py of dvlab-research/Mr-Ben). All values are in percent, unrounded.
Nothing divides by zero: a share of no rows is 0.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from grader.results import IntervalMethod
from grader.statistics import jackknife
from grader.statistics.jackknife import Interval, Stratum

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

METHOD = IntervalMethod(level=95, means="jackknife over questions, bias-corrected, with Student's t")
METRICS = ("mr_score", "mcc", "acc_step", "acc_reason", "precision", "recall")
_SIGNED = "mr_score with a negative MCC"


class Weights(NamedTuple):
    """The weight of each part in MR-Score."""

    mcc: float = 0.2
    step: float = 0.3
    reason: float = 0.5


class RowFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one reading of one row."""

    gold_correct: bool
    predicted_correct: bool | None
    """None: no verdict was read. The row then gets the wrong class, as officially."""
    step: bool | None = False
    reason: bool | None = False
    """None, also of `step`: no judge decided. The row is left out of this share, and counted as unscored."""
    judged: bool = False
    """Whether a judge decided on the error reason."""
    lost: bool = False
    """Whether there is only a server failure. The row is then left out of all metrics and counted as lost."""


class Counts(NamedTuple):
    """Counts of rows; they are additive over parts. Positive class: a correct solution."""

    tp: int = 0
    tn: int = 0
    fp: int = 0
    fn: int = 0
    step: int = 0
    reason: int = 0
    step_unscored: int = 0
    reason_unscored: int = 0
    unread: int = 0
    """Rows without a verdict; they are also in fp or fn."""
    judged: int = 0
    lost_correct: int = 0
    """Rows with a correct solution, for which there is only a server failure."""
    lost_incorrect: int = 0

    @property
    def scored_rows(self) -> int:
        """The rows that are not lost, each in one cell of the confusion matrix."""
        return self.tp + self.tn + self.fp + self.fn


class SubjectMetrics(msgspec.Struct, frozen=True, kw_only=True):
    """The metrics of one subject, or of the mean over subjects, in percent."""

    mr_score: float
    mcc: float
    """From -100 to 100; `mr_score` uses 0 for a negative value."""
    acc_step: float
    acc_reason: float
    precision: float
    """Share of the solutions called correct (or not called incorrect) that are correct."""
    recall: float
    """Share of the correct solutions that are called correct."""
    counts: Counts
    """For the mean: summed over subjects."""


_ALL_RIGHT = Counts(tp=1, tn=1, step=1, reason=1)
_ALL_WRONG = Counts(fp=1, fn=1)


def count_rows(rows: Iterable[RowFacts]) -> Counts:
    """Add up the rows of one subject."""
    return _sum_counts(map(_row_counts, rows))


def _sum_counts(counts: Iterable[Counts]) -> Counts:
    columns = list(zip(*counts, strict=True))
    return Counts(*map(sum, columns))


def metrics_of_counts(counts: Counts, weights: Weights = Weights()) -> SubjectMetrics:  # noqa: B008  # immutable
    """Return the metrics for a subject's counts."""
    import numpy as np

    values = metric_arrays(np.array([counts], dtype=np.float64), weights)
    single = {name: float(value[0]) for name, value in values.items()}
    return SubjectMetrics(**single, counts=counts)


def value_range(name: str, weights: Weights) -> tuple[float, float]:
    """Return the lowest and the highest value of a metric, in percent."""
    if name == "mcc":
        return -100.0, 100.0
    return 0.0, 100.0 * math.fsum(weights) if name == "mr_score" else 100.0


def mean_metrics(subjects: Sequence[SubjectMetrics]) -> SubjectMetrics:
    """Return the unweighted mean over subjects (all zero if there is no subject)."""
    number = len(subjects) or 1
    means = {name: sum(getattr(subject, name) for subject in subjects) / number for name in METRICS}
    counts = _sum_counts(subject.counts for subject in subjects)
    return SubjectMetrics(**means, counts=counts)


def bounds(counts: Counts, weights: Weights = Weights()) -> tuple[SubjectMetrics, SubjectMetrics]:  # noqa: B008
    """Return the metrics if all unscored rows were wrong, and if all were right; no metric is lower in the second."""
    # Unscored are a step or a reason that no judge decided, and lost rows: the model's server failed.
    # A right verdict on an incorrect solution could earn the step and the reason, too.
    without_unscored = counts._replace(step_unscored=0, reason_unscored=0, lost_correct=0, lost_incorrect=0)
    worst = without_unscored._replace(fn=counts.fn + counts.lost_correct, fp=counts.fp + counts.lost_incorrect)
    best = without_unscored._replace(
        tp=counts.tp + counts.lost_correct,
        tn=counts.tn + counts.lost_incorrect,
        step=counts.step + counts.step_unscored + counts.lost_incorrect,
        reason=counts.reason + counts.reason_unscored + counts.lost_incorrect,
    )
    return metrics_of_counts(worst, weights), metrics_of_counts(best, weights)


def metrics_not_judged(counts: Counts, weights: Weights) -> set[str]:
    """Return the metrics without a value: they need a judge, but no row was judged.

    The rows that need no judge are all wrong in these metrics, which would be a meaningless 0.
    """
    if counts.judged:
        return set()
    parts = {"acc_step": counts.step_unscored > 0, "acc_reason": counts.reason_unscored > 0}
    score_lacks_part = (parts["acc_step"] and weights.step > 0) or (parts["acc_reason"] and weights.reason > 0)
    return {name for name, is_missing in {**parts, "mr_score": score_lacks_part}.items() if is_missing}


def jackknife_intervals(
    rows: Mapping[str, Sequence[tuple[str, RowFacts]]],
    weights: Weights = Weights(),  # noqa: B008  # immutable
) -> dict[tuple[str | None, str], Interval]:
    """Return the intervals of the metrics by leaving out the questions of each subject, one by one.

    `rows` is subject -> (question, row's facts); the rows of a question stay together. The keys of the result are
    (subject, metric); the subject None is the mean over subjects.
    """
    strata = {subject: _stratum_by_metric(pairs, weights) for subject, pairs in rows.items()}
    means: dict[str | None, list[Mapping[str, Stratum]]] = {None: list(strata.values())}
    means |= {subject: [stratum] for subject, stratum in strata.items()}
    return {(subject, name): _interval(name, parts, weights) for subject, parts in means.items() for name in METRICS}


@cache
def _row_counts(row: RowFacts) -> Counts:
    """Return the counts of one row; there are a few dozen kinds of rows."""
    is_right, gold = row.predicted_correct is row.gold_correct, row.gold_correct
    if row.lost:
        return Counts(lost_correct=int(gold), lost_incorrect=int(not gold))
    return Counts(
        tp=int(gold and is_right),
        tn=int(not gold and is_right),
        fp=int(not gold and not is_right),
        fn=int(gold and not is_right),
        step=int(not gold and row.step is True),
        reason=int(not gold and row.reason is True),
        step_unscored=int(not gold and row.step is None),
        reason_unscored=int(not gold and row.reason is None),
        unread=int(row.predicted_correct is None),
        judged=int(row.judged),
    )


def _stratum_by_metric(pairs: Sequence[tuple[str, RowFacts]], weights: Weights) -> dict[str, Stratum]:
    """Return each metric of a subject, and its values without each question in turn; empty if no row is scored.

    For the padded values, two pseudo-questions are added, one all right and one all wrong, each with as many rows as
    the average question: no interval has width 0. Questions with the same counts give the same values, so each kind of
    them is left out once, and its values are repeated.
    """
    import numpy as np

    kinds = Counter(counts for counts in counts_by_question(pairs).values() if counts.scored_rows)
    if not kinds:
        return {}
    kind_counts = np.array(sorted(kinds), dtype=np.float64)
    repeats = np.array([kinds[counts] for counts in sorted(kinds)])
    total = repeats @ kind_counts
    rows_per_question = sum(counts.scored_rows * number for counts, number in kinds.items()) / kinds.total()
    # Each of the two has two rows: one of a correct and one of an incorrect solution.
    pseudo_counts = rows_per_question / 2 * np.array([_ALL_RIGHT, _ALL_WRONG])
    padded_total = total + pseudo_counts.sum(axis=0)
    value = _metrics_with_signed_score(total[None], weights)
    without_one = _metrics_with_signed_score(total - kind_counts, weights)
    padded_without_one = _metrics_with_signed_score(
        padded_total - np.concatenate([kind_counts, pseudo_counts]), weights
    )
    return {
        name: Stratum(
            value=float(value[name][0]),
            leave_one_out=np.repeat(without_one[name], repeats),
            padded_leave_one_out=np.repeat(padded_without_one[name], [*repeats, 1, 1]),
        )
        for name in value
    }


def _metrics_with_signed_score(sums: NDArray[np.float64], weights: Weights) -> dict[str, NDArray[np.float64]]:
    """Return the metrics, and MR-Score in which a negative MCC counts as it is."""
    import numpy as np

    arrays = metric_arrays(sums, weights)
    return {**arrays, _SIGNED: arrays["mr_score"] + weights.mcc * np.minimum(0.0, arrays["mcc"])}


def _interval(name: str, subjects: Sequence[Mapping[str, Stratum]], weights: Weights) -> Interval:
    """Return the interval of the mean over `subjects` (each: metric -> stratum; empty: none of its rows is scored).

    With an MCC near 0, MR-Score is too high on average, because it replaces negative values by 0. Without this
    replacement it is too low if anything, and gives the lower end.
    """
    scored = [subject for subject in subjects if subject]
    if not scored:
        return Interval(low=0.0, high=0.0, stderr=None)
    interval = jackknife.interval([subject[name] for subject in scored])
    low = interval.low
    if name == "mr_score":
        low = min(low, jackknife.interval([subject[_SIGNED] for subject in scored]).low)
    lowest, highest = value_range(name, weights)
    return Interval(low=max(lowest, low), high=min(highest, interval.high), stderr=interval.stderr)


def counts_by_question(pairs: Sequence[tuple[str, RowFacts]]) -> dict[str, Counts]:
    """Add up the rows of each question."""
    totals: dict[str, Counts] = {}
    for question, row in pairs:
        total = totals.get(question)
        totals[question] = _row_counts(row) if total is None else _sum_counts((total, _row_counts(row)))
    return totals


def metric_arrays(sums: NDArray[np.float64], weights: Weights) -> dict[str, NDArray[np.float64]]:
    """Return the metrics of many counts, one per row; the columns are the fields of `Counts`."""
    import numpy as np

    def share(part: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.divide(part, total, out=np.zeros_like(part), where=total > 0)

    tp, tn, fp, fn, step_hits, reason_hits, step_unscored, reason_unscored = sums.T[:8]
    incorrect_solutions = tn + fp
    root = np.sqrt((tp + fp) * (tp + fn) * incorrect_solutions * (tn + fn))
    mcc = share(tp * tn - fp * fn, root)
    step = share(step_hits, incorrect_solutions - step_unscored)
    reason = share(reason_hits, incorrect_solutions - reason_unscored)
    score = weights.mcc * np.maximum(0.0, mcc) + weights.step * step + weights.reason * reason
    values = (score, mcc, step, reason, share(tp, tp + fp), share(tp, tp + fn))
    return {name: 100 * value for name, value in zip(METRICS, values, strict=True)}
