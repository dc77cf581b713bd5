"""Runs that tests of observations, comparisons and gates share: reports with a given truth, and the samples'."""

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import READINGS, Metric, Outcome, Provenance, Reading, Report, SampleResult, count_unscored
from grader.scorers import declarations
from grader.scorers.mr_ben.facts import MrBenFacts, MrBenRunFacts, ReadingFacts
from grader.scorers.mr_ben.mr_score import Weights

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
SAMPLES = {"vstar": "questions.jsonl", "mmbench": "questions.tsv", "mr-ben": "data"}
_GOOD = {"correct", "passed"}


@cache
def of_sample(benchmark: str) -> Report:
    """Return the report of a benchmark's bundled sample."""
    folder = BENCHMARKS / benchmark / "sample"
    replies = folder / "judge_replies.json"
    with tempfile.TemporaryDirectory() as place:
        target = Path(place) / "predictions.json"
        shutil.copy(folder / "predictions.json", target)
        options = Options(
            benchmark=benchmark, data=folder / SAMPLES[benchmark], judge_replies=replies if replies.exists() else None
        )
        return grade(target, options, Silent()).report


@cache
def read(outcome: str) -> Reading:
    return Reading(outcome=Outcome(outcome), credit=None if outcome == "unscored" else int(outcome in _GOOD))


@cache
def sample(
    qid: str, outcome: str, *, number: int = 0, unit: str = "", group: str = "", official: str = ""
) -> SampleResult:
    """`outcome` is the careful one, and the official one unless that is given; `group` is `field=label`."""
    field, _, label = group.partition("=")
    return SampleResult(
        qid=qid,
        sample=number,
        official=read(official or outcome),
        careful=read(outcome),
        unit=unit or msgspec.UNSET,
        groups={field: label} if group else msgspec.UNSET,
    )


def report(samples: Iterable[SampleResult], metrics: Iterable[Metric] = (), **fields: Any) -> Report:
    listed = list(samples)
    unscored, by_reading = count_unscored(listed)
    given: dict[str, Any] = {
        "benchmark": "vstar",
        "benchmark_name": declarations.load(fields.get("benchmark", "vstar")).name,
        "scorer": "multiple_choice",
        "split": "test",
        "protocol": "p",
        "unscored": unscored,
        "unscored_by_reading": by_reading,
        "provenance": Provenance(data_digest="d"),
    }
    return Report(**given | {"samples": listed, "metrics": list(metrics)} | fields)


def figures(name: str, value: float, n: int, group: str | None = None) -> list[Metric]:
    return [Metric(name=name, reading=reading, group=group, value=value, n=n) for reading in READINGS]


def choice(right: Sequence[bool], **fields: Any) -> Report:
    """A run of questions with these right."""
    samples = [sample(f"q{i}", "correct" if good else "wrong") for i, good in enumerate(right)]
    value = 100 * sum(map(bool, right)) / len(samples)
    return report(samples, figures("accuracy", value, len(samples)), **{"scorer": "multiple_choice"} | fields)


@cache
def task(index: int, passed: int, samples: int) -> list[SampleResult]:
    return [sample(f"t{index}", "passed" if n < passed else "failed", number=n) for n in range(samples)]


def tasks(passed: Sequence[int], samples: int = 10, **fields: Any) -> Report:
    """A run of programming tasks of so many samples, so many of which pass."""
    listed = [one for i, good in enumerate(passed) for one in task(i, int(good), samples)]
    value = 100 * sum(map(int, passed)) / samples / len(passed)
    return report(
        listed, figures("pass@1", value, len(passed)), **{"benchmark": "humaneval-v", "scorer": "execution"} | fields
    )


def circular(passes: Sequence[Sequence[bool]], **fields: Any) -> Report:
    """A run of circular groups: which passes of each are right."""
    listed = [
        sample(f"g{i}.{turn}", "correct" if good else "wrong", unit=f"g{i}")
        for i, group in enumerate(passes)
        for turn, good in enumerate(group)
    ]
    value = 100 * sum(all(group) for group in passes) / len(passes)
    metrics = figures("circular_accuracy", value, len(passes))
    return report(listed, metrics, **{"benchmark": "mmbench", "scorer": "circular"} | fields)


Row = tuple[str, str, bool, bool | None, bool | None, bool | None]
"""Subject, question, whether the solution is correct, whether it was called so, step, reason."""


@cache
def mr_sample(number: int, row: Row) -> SampleResult:
    subject, question, gold, predicted, step, reason = row
    said = ReadingFacts(
        correctness=None if predicted is None else "correct" if predicted else "incorrect", step=step, reason=reason
    )
    facts = MrBenFacts(gold="correct" if gold else "incorrect", official=said, careful=said)
    outcome = (
        "unscored" if step is None or reason is None
        else "correct" if predicted == gold and (gold or (step and reason))
        else "wrong"
    )  # fmt: skip
    return SampleResult(
        qid=f"{question}/{number}",
        sample=0,
        official=read(outcome),
        careful=read(outcome),
        unit=question,
        groups={"subject": subject},
        facts=facts,
    )


def mr_ben(rows: Sequence[Row], weights: Weights = Weights(), *, summarised: bool = True, **fields: Any) -> Report:  # noqa: B008
    """A run of Mr-Ben; `summarised` computes its figures, else there is only a stand-in for MR-Score."""
    from grader.scorers.mr_ben.metrics import metrics

    listed = [mr_sample(number, row) for number, row in enumerate(rows)]
    made = metrics(listed, weights) if summarised else figures("mr_score", 50, len(rows))
    kept = MrBenRunFacts(weights=weights._asdict())
    given = {"benchmark": "mr-ben", "scorer": "mr_score", "facts": kept}
    return report(listed, made, **given | fields)
