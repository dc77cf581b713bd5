"""Scoring of single samples with a scorer's `score`, for predictions that come from no file."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from grader.predictions import outcomes
from grader.predictions.file import PredictionFile
from grader.scorers.output_check import checked_output
from grader.scorers.sample_scorer import LaneSize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grader.predictions.outcomes import Oddities
    from grader.results import SampleResult
    from grader.scorers.interface import Run, Scorer
    from grader.scorers.sample_scorer import Lane, ScoreRequest
    from grader.task import Task

NO_FILE = PredictionFile(name="samples", path=None, format="grade", records=[])
"""A placeholder for the prediction file, for predictions that do not come from a file."""


class PlainSampleScorer:
    """A sample scorer that calls the scorer's own `score`: for scorers that only read texts or ask a judge."""

    lanes: ClassVar[Mapping[Lane, LaneSize]] = {"usual": LaneSize(threads=1, samples=64)}
    lost_sandboxes = 0

    def __init__(self, scorer: Scorer[Any, Any], run: Run[Any, Any]) -> None:
        self._scorer, self._run = scorer, run

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: no resource is open."""

    def abort(self) -> None:
        """Do nothing: nothing takes long."""

    def forget(self, qid: str) -> None:
        """Do nothing: nothing is known of a task."""

    def score(self, requests: Sequence[ScoreRequest]) -> list[SampleResult]:
        """Return one result per sample."""
        results: dict[int, SampleResult] = {}
        for indices in _batches(requests):
            run = self._run_with({requests[index].qid: [requests[index].text] for index in indices})
            output = checked_output(self._scorer, run, self._scorer.score(run))
            samples = {sample.qid: sample for sample in output.samples}
            results |= {index: samples[requests[index].qid] for index in indices}
        return [results[index] for index in range(len(requests))]

    def _run_with(self, predictions: dict[str, list[str]]) -> Run[Any, Any]:
        tasks = {qid: self._run.tasks[qid] for qid in predictions}
        oddities = oddities_of(tasks, predictions)
        return msgspec.structs.replace(self._run, tasks=tasks, predictions=predictions, oddities=oddities)


def oddities_of(tasks: Mapping[str, Task], predictions: Mapping[str, list[str]]) -> Oddities:
    """Return the oddities (see `outcomes.find_oddities`) of predictions that do not come from a file."""
    return outcomes.find_oddities(tasks, predictions, NO_FILE)


def _batches(requests: Sequence[ScoreRequest]) -> Iterable[list[int]]:
    """Return batches of indices: `score` expects equally many samples of each task, so a batch has one of each."""
    batches: dict[int, list[int]] = {}
    counts = Counter[str]()
    for index, request in enumerate(requests):
        batches.setdefault(counts[request.qid], []).append(index)
        counts[request.qid] += 1
    return batches.values()
