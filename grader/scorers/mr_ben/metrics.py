"""MR-Score and its parts, by subject and as their mean, in both readings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError
from grader.results import READINGS, Metric, ReadingName, SampleResult
from grader.scorers.mr_ben import mr_score
from grader.scorers.mr_ben.facts import facts_of
from grader.scorers.mr_ben.mr_score import RowFacts, SubjectMetrics, Weights
from grader.scorers.mr_ben.tasks import SUBJECT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.scorers.pairing import Side
    from grader.statistics.jackknife import Interval

GLOSSARY: Mapping[str, str] = {
    "mr_score": "How well the model finds mistakes in solutions: mcc (if above 0), acc_step and acc_reason, weighted.",
    "mcc": "Matthews correlation of the model's verdicts with the gold verdicts, from -100 to 100; guessing gives 0.",
    "acc_step": "Of the incorrect solutions, the share whose first wrong step the model names.",
    "acc_reason": "Of the incorrect solutions, the share whose error the model also explains correctly.",
    "precision": (
        "Of the solutions that the model calls correct, the share that are correct. "
        "A reply without a verdict counts as the wrong verdict."
    ),
    "recall": "Of the correct solutions, the share that the model calls correct.",
    "parse_success_rate": "The share of replies in which a verdict was found.",
    "official headings": "The verdict is under the headings that the prompt asks for.",
    "headings not found": "The headings that the prompt asks for are missing.",
    "heading": "The verdict is under a heading, or in a field of JSON.",
    "no verdict": "No heading and no sentence gives a verdict.",
    "several verdicts": "The reply has verdicts that contradict each other.",
    "undecided": "The verdict says both right and wrong, or doubts.",
    "implied by the step": "A wrong step is named, so the verdict is incorrect.",
    "missing": "The prediction file has no answer to this task.",
    "server_failure": "The model's server failed; this says nothing about the model.",
    "headings not read": "The official parser finds the headings of the prompt only in their exact spelling and order.",
    "wording of the verdict": "The official parser reads a verdict only if it is `correct` or `incorrect` alone.",
    "wording of the step": "The official parser reads a step only in the form `Step 3`.",
    "bare digit": "The official parser gives no credit for a step that is only a number.",
    "code line": "Officially, a line of code counts only if the judge agrees; here it is the annotated line.",
    "empty gold step": "The data name no wrong line, and officially an unread line is equal to this empty one.",
    '"Incorrect" credited': "The judge says incorrect; officially this is credited, because it contains correct.",
    "judge reply not in the official format": "The official parser cannot read the judge's reply.",
}

OUTCOME_NAMES: Mapping[str, str] = {"correct": "credited", "wrong": "not credited"}
"""Models also call solutions "correct" here, so `wrong | correct` would look like a contradiction."""


PARSE_RATE = "parse_success_rate"
FactsBySubject = dict[str, list[tuple[str, RowFacts]]]
"""Subject -> (question, the row's facts)."""


def metrics(samples: list[SampleResult], weights: Weights) -> list[Metric]:
    """Return the metrics of every subject and their mean, in both readings, with jackknife intervals over questions."""
    rows: list[Metric] = []
    for reading in READINGS:
        rows += _reading_metrics(facts_by_subject(samples, reading), weights, reading)
    return rows


def facts_by_subject(
    samples: list[SampleResult],
    reading: ReadingName,
    other_samples: Iterable[SampleResult] = (),
    other_reading: ReadingName | None = None,
) -> FactsBySubject:
    """Return the data from which the metrics are computed; raises InputError for a sample without a subject.

    What is unscored in the samples of another run, in `other_reading`, is unscored here, too: a part that no judge
    decided, or a whole row whose response is a server failure (`lost`).
    """
    other_rows = {
        (sample.qid, sample.sample): facts_of(sample).row(other_reading or reading) for sample in other_samples
    }
    table: FactsBySubject = {}
    for sample in samples:
        row = facts_of(sample).row(reading)
        other = other_rows.get((sample.qid, sample.sample))
        if other is not None:
            row = msgspec.structs.replace(
                row,
                step=None if other.step is None else row.step,
                reason=None if other.reason is None else row.reason,
                lost=row.lost or other.lost,
            )
        table.setdefault(subject_of(sample), []).append((sample.independent_unit, row))
    return table


def subject_of(sample: SampleResult) -> str:
    """Return the subject of a sample; raises InputError if it has none."""
    subject = sample.groups.get(SUBJECT) if isinstance(sample.groups, Mapping) else None
    if not isinstance(subject, str):
        raise InputError([f"sample {sample.qid} #{sample.sample}: it has no group {SUBJECT!r}"])
    return subject


def facts_of_both(before: Side, after: Side) -> tuple[FactsBySubject, FactsBySubject]:
    """Return the facts of two sides. Rows that one of them could not score are unscored in both, not changes."""
    return _facts_of_side(before, after), _facts_of_side(after, before)


def _facts_of_side(side: Side, other: Side) -> FactsBySubject:
    return facts_by_subject(side.report.samples, side.reading, other.report.samples, other.reading)


def tally(samples: list[SampleResult]) -> dict[str, dict[str, dict[str, int]]]:
    """Return, by reading and subject, the counts behind the metrics (positive class: a correct solution)."""
    table: dict[str, dict[str, dict[str, int]]] = {}
    for reading in READINGS:
        by_subject = facts_by_subject(samples, reading)
        table[reading] = {
            subject: {"rows": len(pairs), **mr_score.count_rows([facts for _, facts in pairs])._asdict()}
            for subject, pairs in by_subject.items()
        }
    return table


def _reading_metrics(table: FactsBySubject, weights: Weights, reading: ReadingName) -> list[Metric]:
    """Return the metrics of one reading: first the means over subjects, then the metrics of each subject."""
    intervals = mr_score.jackknife_intervals(table, weights)
    subjects = {subject: _subject_row(subject, pairs, weights) for subject, pairs in table.items()}
    rows = [_mean_row(list(subjects.values())), *subjects.values()]
    return [metric for row in rows if row.n for metric in _row_metrics(row, intervals, reading)]


def _subject_row(subject: str, pairs: list[tuple[str, RowFacts]], weights: Weights) -> _Row:
    counts = mr_score.count_rows(facts for _, facts in pairs)
    low, high = mr_score.bounds(counts, weights)
    scored_questions = {question for question, facts in pairs if not facts.lost}
    return _Row(
        subject=subject,
        value=mr_score.metrics_of_counts(counts, weights),
        low=low,
        high=high,
        not_judged=mr_score.metrics_not_judged(counts, weights),
        n=len(scored_questions),
    )


def _mean_row(subjects: list[_Row]) -> _Row:
    """Return the mean over subjects; one without a scored row counts only in the bounds."""
    return _Row(
        subject=None,
        value=mr_score.mean_metrics([row.value for row in subjects if row.n]),
        low=mr_score.mean_metrics([row.low for row in subjects]),
        high=mr_score.mean_metrics([row.high for row in subjects]),
        not_judged=set().union(*(row.not_judged for row in subjects)),
        n=sum(row.n for row in subjects),
    )


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """The metrics of a subject, or of the mean over subjects."""

    subject: str | None
    value: SubjectMetrics
    low: SubjectMetrics
    high: SubjectMetrics
    not_judged: set[str]
    """Names of the metrics without a value, because no row was judged."""
    n: int
    """Number of questions with a scored row; without any, there are no metrics."""


def _row_metrics(
    row: _Row, intervals: Mapping[tuple[str | None, str], Interval], reading: ReadingName
) -> Iterator[Metric]:
    """Yield a row's metrics in percent, with intervals, and last its parse rate.

    A value outside its bounds becomes the nearer bound. A mean over subjects can be outside: it leaves out a subject
    without a scored row, but its bounds count it. The MCC of such a subject is 0 if all its solutions are correct.
    """
    group = None if row.subject is None else f"{SUBJECT}={row.subject}"
    for name in mr_score.METRICS:
        low, high = getattr(row.low, name), getattr(row.high, name)
        interval, is_judged = intervals[row.subject, name], name not in row.not_judged
        value = min(max(getattr(row.value, name), low), high)
        yield Metric(
            name=name,
            reading=reading,
            group=group,
            value=value if is_judged else None,
            ci95=(min(interval.low, value), max(interval.high, value)) if is_judged else None,
            stderr=interval.stderr if is_judged else None,
            n=row.n,
            bounds=(low, high) if low != high else msgspec.UNSET,
        )
    yield _parse_rate(row, group, reading)


def _parse_rate(row: _Row, group: str | None, reading: ReadingName) -> Metric:
    """Return the share of scored rows whose verdict is read. Bounds: no unscored row is read, or every one is."""
    unread, scored_rows = row.value.counts.unread, row.value.counts.scored_rows
    # In the bounds all rows count as scored.
    all_rows = row.low.counts.scored_rows
    unscored = all_rows - scored_rows
    worst, best = 100 * (1 - (unread + unscored) / all_rows), 100 * (1 - unread / all_rows)
    return Metric(
        name=PARSE_RATE,
        reading=reading,
        group=group,
        value=100 * (1 - unread / scored_rows),
        n=row.n,
        bounds=(worst, best) if unscored else msgspec.UNSET,
    )
