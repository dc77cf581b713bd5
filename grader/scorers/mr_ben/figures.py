"""MR-Score and its parts, computed from the credit of each row, with bounds and bootstrap intervals.

MR-Score = 0.2 max(0, MCC) + 0.3 ACC_step + 0.5 ACC_reason for each subject; the overall value is the unweighted mean
over subjects (arXiv 2406.13975; script/utils.py of dvlab-research/Mr-Ben). All values are in percent, unrounded.
Nothing divides by zero: a share of no rows is 0.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from grader.results import IntervalMethod

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

RESAMPLES = 1000
SEED = 0
METHOD = IntervalMethod(level=95, means="percentile bootstrap over questions", resamples=RESAMPLES, seed=SEED)
FIGURES = ("mr_score", "mcc", "acc_step", "acc_reason", "precision", "recall")


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
    """None: unscored (the judge's reply could not be read). It is left out of that share and counted as unscored."""
    judged: bool = False
    """Whether a judge decided on the error reason."""
    lost: bool = False
    """Whether the response is missing. The row is then left out of all metrics and counted as lost."""


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
    """Rows with a correct solution but without a response."""
    lost_incorrect: int = 0


class SubjectFigures(msgspec.Struct, frozen=True, kw_only=True):
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
    rows: int
    counts: Counts
    """For the mean: summed over subjects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A bootstrap interval of one metric, in percent."""

    low: float
    high: float
    stderr: float


def count(rows: Iterable[RowFacts]) -> Counts:
    """Add up the rows of one subject."""
    return Counts(*map(sum, zip(*map(_counts_of, rows), strict=True))) if (rows := list(rows)) else Counts()


def figures(rows: Iterable[RowFacts], weights: Weights = Weights()) -> SubjectFigures:  # noqa: B008  # immutable
    """Return one subject's metrics."""
    return figures_of_counts(count(rows), weights)


def figures_of_counts(counts: Counts, weights: Weights = Weights()) -> SubjectFigures:  # noqa: B008  # immutable
    """Return the metrics for a subject's counts."""
    tp, tn, fp, fn = counts[:4]
    root = sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    mcc = (tp * tn - fp * fn) / root if root else 0.0
    incorrect = tn + fp
    step = _share(counts.step, incorrect - counts.step_unscored)
    reason = _share(counts.reason, incorrect - counts.reason_unscored)
    return SubjectFigures(
        mr_score=100 * (weights.mcc * max(0.0, mcc) + weights.step * step + weights.reason * reason),
        mcc=100 * mcc,
        acc_step=100 * step,
        acc_reason=100 * reason,
        precision=100 * _share(tp, tp + fp),
        recall=100 * _share(tp, tp + fn),
        rows=sum(counts[:4]),
        counts=counts,
    )


def mean_figures(subjects: Sequence[SubjectFigures]) -> SubjectFigures:
    """Return the unweighted mean over subjects (all zero if there is no subject)."""
    number = len(subjects) or 1
    means = {name: sum(getattr(subject, name) for subject in subjects) / number for name in FIGURES}
    counts = Counts(*map(sum, zip(*(subject.counts for subject in subjects), strict=True))) if subjects else Counts()
    return SubjectFigures(**means, rows=sum(subject.rows for subject in subjects), counts=counts)


def bounds(counts: Counts, weights: Weights = Weights()) -> tuple[SubjectFigures, SubjectFigures]:  # noqa: B008
    """Return the metrics if all unscored rows were wrong, and if all were right."""
    settled = counts._replace(step_unscored=0, reason_unscored=0, lost_correct=0, lost_incorrect=0)
    worst = settled._replace(fn=counts.fn + counts.lost_correct, fp=counts.fp + counts.lost_incorrect)
    best = settled._replace(
        tp=counts.tp + counts.lost_correct,
        tn=counts.tn + counts.lost_incorrect,
        step=counts.step + counts.step_unscored + counts.lost_incorrect,
        reason=counts.reason + counts.reason_unscored + counts.lost_incorrect,
    )
    return figures_of_counts(worst, weights), figures_of_counts(best, weights)


def not_judged(counts: Counts, weights: Weights) -> set[str]:
    """Return the metrics without a value: they need a judge, but no row was judged.

    The other rows needed no judge, and all of them earn nothing.
    """
    if counts.judged:
        return set()
    parts = {"acc_step": counts.step_unscored > 0, "acc_reason": counts.reason_unscored > 0}
    score = (parts["acc_step"] and weights.step > 0) or (parts["acc_reason"] and weights.reason > 0)
    return {name for name, missing in {**parts, "mr_score": score}.items() if missing}


def bootstrap_interval(
    rows: Mapping[str, Sequence[tuple[str, RowFacts]]],
    weights: Weights = Weights(),  # noqa: B008  # immutable
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = 0.95,
) -> dict[tuple[str | None, str], Interval]:
    """Resample questions within each subject; `rows` is subject -> (question, row's facts).

    Returns (subject, or None for the mean, metric) -> interval. The rows of a question stay together. A subject's
    interval depends only on its own rows and the seed.
    """
    import numpy as np

    draws = {
        subject: _resampled(pairs, weights, resamples, [seed, *subject.encode()]) for subject, pairs in rows.items()
    }
    intervals: dict[tuple[str | None, str], Interval] = {
        (subject, name): _interval(values, level) for subject, drawn in draws.items() for name, values in drawn.items()
    }
    for name in FIGURES if draws else ():
        mean = np.mean([drawn[name] for drawn in draws.values()], axis=0)
        intervals[None, name] = _interval(mean, level)
    return intervals


def _counts_of(row: RowFacts) -> Counts:
    right = row.predicted_correct is row.gold_correct
    gold = row.gold_correct
    if row.lost:
        return Counts(lost_correct=int(gold), lost_incorrect=int(not gold))
    return Counts(
        tp=int(gold and right),
        tn=int(not gold and right),
        fp=int(not gold and not right),
        fn=int(gold and not right),
        step=int(not gold and row.step is True),
        reason=int(not gold and row.reason is True),
        step_unscored=int(not gold and row.step is None),
        reason_unscored=int(not gold and row.reason is None),
        unread=int(row.predicted_correct is None),
        judged=int(row.judged),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole > 0 else 0.0


def _resampled(
    pairs: Sequence[tuple[str, RowFacts]], weights: Weights, resamples: int, seed: list[int]
) -> dict[str, NDArray[np.float64]]:
    """Return each metric's value in every resample.

    Questions with the same counts are interchangeable, so a resample is tallied over the few distinct counts.
    """
    import numpy as np

    alike = sorted(Counter(counts_by_question(pairs).values()).items())
    if not alike:
        return {name: np.zeros(resamples) for name in FIGURES}
    kinds = np.array([counts for counts, _ in alike], dtype=np.float64)
    kind_of_question = np.repeat(np.arange(len(alike)), [number for _, number in alike])
    questions = len(kind_of_question)
    drawn = kind_of_question[np.random.default_rng(seed).integers(questions, size=(resamples, questions))]
    drawn += len(alike) * np.arange(resamples)[:, None]
    tally = np.bincount(drawn.ravel(), minlength=resamples * len(alike)).reshape(resamples, len(alike))
    return vector_figures(tally @ kinds, weights)


def counts_by_question(pairs: Sequence[tuple[str, RowFacts]]) -> dict[str, Counts]:
    """Add up the rows of each question."""
    known: dict[tuple[Any, ...], Counts] = {}
    totals: dict[str, Counts] = {}
    for question, row in pairs:
        facts = (row.gold_correct, row.predicted_correct, row.step, row.reason, row.judged, row.lost)
        counts = known.get(facts) or known.setdefault(facts, _counts_of(row))
        before = totals.get(question)
        totals[question] = counts if before is None else Counts(*map(int.__add__, before, counts))
    return totals


def vector_figures(sums: NDArray[np.float64], weights: Weights) -> dict[str, NDArray[np.float64]]:
    """Compute `figures_of_counts` for many resamples, one per row."""
    import numpy as np

    def share(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)

    tp, tn, fp, fn, step_hits, reason_hits, step_unscored, reason_unscored = sums.T[:8]
    root = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    mcc = share(tp * tn - fp * fn, root)
    step = share(step_hits, tn + fp - step_unscored)
    reason = share(reason_hits, tn + fp - reason_unscored)
    score = weights.mcc * np.maximum(0.0, mcc) + weights.step * step + weights.reason * reason
    values = (score, mcc, step, reason, share(tp, tp + fp), share(tp, tp + fn))
    return {name: 100 * value for name, value in zip(FIGURES, values, strict=True)}


def _interval(values: NDArray[np.float64], level: float) -> Interval:
    import numpy as np

    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return Interval(low=float(low), high=float(high), stderr=spread)
