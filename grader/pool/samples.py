"""The benchmark of a pool: its tasks, and a scorer for samples of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader import grading
from grader.errors import InputError, UsageError
from grader.observer import Silent
from grader.scorers import registry
from grader.scorers.asking import NO_FILE, Scoring
from grader.scorers.interface import Run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from grader.options import Options
    from grader.results import SampleResult
    from grader.scorers.asked import Asked, SampleScorer


class Samples:
    """Scores samples of one benchmark. Use it as a context manager, in one thread."""

    def __init__(self, options: Options) -> None:
        """Load the tasks, and find a sandbox; raises a GradeError."""
        declared, tasks = grading.load_tasks(options)
        scorer = registry.scorer(declared.scoring)
        grading.check_options(options, declared, scorer)
        tasks = scorer.tasks_to_ask(declared, tasks)
        if not tasks:
            raise InputError([f"{declared.id}: no rows"])
        run = Run(
            benchmark=declared,
            split=declared.split(options.split)[0],
            protocol=declared.check_protocol(options.protocol),
            tasks=tasks,
            predictions={},
            file=NO_FILE,
            options=options,
            settings=grading.settings_of(options, declared, scorer),
            observer=Silent(),
        )
        self.benchmark = declared.id
        self._tasks = tasks
        self._scorer: SampleScorer = scorer.sample_scorer(run) or Scoring(scorer, run)

    def __enter__(self) -> Self:
        self._scorer.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._scorer.__exit__(*_)

    def begin(self) -> None:
        """Start, in the background, what takes long to start."""
        self._scorer.begin()

    def check(self, asked: Sequence[Asked]) -> None:
        """Raise UsageError for a qid that the benchmark does not have."""
        for one in asked:
            if one.qid not in self._tasks:
                raise UsageError(
                    f"{self.benchmark} has no task {one.qid!r:.80}; it has {len(self._tasks)} tasks, for example "
                    f"{next(iter(self._tasks))!r:.80}. Were the prompts made from the same data?"
                )

    def score(self, asked: Sequence[Asked]) -> list[SampleResult]:
        """Return one result per sample; raises a GradeError."""
        return self._scorer.score(asked)
