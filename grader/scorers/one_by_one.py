"""Scoring of single samples with a scorer's `score`, for predictions that come from no file."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from grader.predictions import outcomes
from grader.predictions.file import PredictionFile
from grader.scorers.asking import LaneSize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grader.predictions.outcomes import Oddities
    from grader.results import SampleResult
    from grader.scorers.asking import Asked, Lane
    from grader.scorers.interface import Run, Scorer
    from grader.task import Task

NO_FILE = PredictionFile(name="samples", path=None, format="grade", records=[])
"""A placeholder for the prediction file, for predictions that do not come from a file."""


class Scoring:
    """A sample scorer that calls the scorer's own `score`: for scorers that only read texts or ask a judge."""

    lanes: ClassVar[Mapping[Lane, LaneSize]] = {"usual": LaneSize(threads=1, samples=64)}
    lost = 0

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

    def score(self, asked: Sequence[Asked]) -> list[SampleResult]:
        """Return one result per sample."""
        found: dict[int, SampleResult] = {}
        for layer in _layers(asked):
            run = self._of({asked[place].qid: [asked[place].text] for place in layer})
            samples = {sample.qid: sample for sample in self._scorer.score(run).samples}
            found |= {place: samples[asked[place].qid] for place in layer}
        return [found[place] for place in range(len(asked))]

    def _of(self, predictions: dict[str, list[str]]) -> Run[Any, Any]:
        tasks = {qid: self._run.tasks[qid] for qid in predictions}
        odd = oddities_of(tasks, predictions)
        return msgspec.structs.replace(self._run, tasks=tasks, predictions=predictions, oddities=odd)


def oddities_of(tasks: Mapping[str, Task], predictions: Mapping[str, list[str]]) -> Oddities:
    """Return the oddities (see `outcomes.find_oddities`) of predictions that do not come from a file."""
    return outcomes.find_oddities(tasks, predictions, NO_FILE)


def _layers(asked: Sequence[Asked]) -> Iterable[list[int]]:
    """Yield layers of indices. A layer has at most one sample of each task, so that no task of a group has more."""
    layers: dict[int, list[int]] = {}
    seen = Counter[str]()
    for place, one in enumerate(asked):
        layers.setdefault(seen[one.qid], []).append(place)
        seen[one.qid] += 1
    return layers.values()
