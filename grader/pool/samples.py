"""The samples of a pool: their tasks, and the scorer that judges them on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from grader import grading
from grader.data import download
from grader.errors import UsageError
from grader.observer import Silent
from grader.pool import messages
from grader.pool.book import Book
from grader.results import SampleResult
from grader.scorers.interface import Run
from grader.scorers.one_by_one import NO_FILE, Scoring

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from grader.benchmark import Benchmark
    from grader.options import Options
    from grader.scorers.asking import Asked, Lane, Later, SampleScorer
    from grader.scorers.registry import AnyScorer


class Loaded(NamedTuple):
    """What is needed to score samples, without a sandbox. It can be sent to another machine."""

    scorer: AnyScorer
    run: Run[Any, Any]


def load(options: Options) -> Loaded:
    """Load the tasks of a pool; raises a GradeError."""
    declared, scorer = grading.declared_by(options)
    grading.check_options(options, declared, scorer)
    run = Run(
        benchmark=declared,
        split=declared.split(options.split)[0],
        protocol=declared.check_protocol(options.protocol),
        tasks={} if _is_without_data(declared, options) else scorer.tasks_to_ask(*grading.load_tasks(options)),
        predictions={},
        file=NO_FILE,
        options=options,
        settings=grading.settings_of(options, declared, scorer),
        observer=Silent(),
    )
    return Loaded(scorer, run)


class Samples:
    """Scores samples of one benchmark on this machine. Use it as a context manager."""

    nodes: ClassVar[dict[str, str]] = {}
    """The nodes of a cluster, as in `PoolState`: none."""

    def __init__(self, loaded: Loaded) -> None:
        """Find a sandbox; raises InfrastructureError."""
        scorer, run = loaded
        tasks = dict(run.tasks)
        run = msgspec.structs.replace(run, tasks=tasks)
        self._scorer: SampleScorer = scorer.sample_scorer(run) or Scoring(scorer, run)
        self._book = Book(run.benchmark, scorer, run.split, tasks)
        self._book.on_forget = self._scorer.forget
        self.benchmark = run.benchmark.id
        self.threads: Mapping[Lane, int] = self._scorer.threads

    def __enter__(self) -> Self:
        self._scorer.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._scorer.__exit__(*_)

    def abort(self) -> None:
        """End all long work: calls of `score` may fail, now and later."""
        self._scorer.abort()

    def begin(self) -> None:
        """Start, in the background, what takes long to start."""
        self._scorer.begin()

    @property
    def losses(self) -> tuple[int, int]:
        """Number of sandboxes lost so far, and of the jobs that ran again because of it."""
        return self._scorer.losses

    def score(self, asked: Sequence[Asked], lane: Lane) -> list[SampleResult | Later]:
        """Return one result per sample; one without a task is unscored. Raises a GradeError."""
        found: dict[int, SampleResult | Later] = {}
        tasks: dict[int, str] = {}
        for place, one in enumerate(asked):
            try:
                tasks[place] = self._book.task_of(one)
            except UsageError as error:
                found[place] = messages.unscored(one, str(error), "task")
        named = [msgspec.structs.replace(asked[place], qid=task) for place, task in tasks.items()]
        for place, result in zip(tasks, self._scorer.score(named, lane) if named else (), strict=True):
            is_result = isinstance(result, SampleResult)
            found[place] = msgspec.structs.replace(result, qid=asked[place].qid) if is_result else result
        return [found[place] for place in range(len(asked))]


def _is_without_data(declared: Benchmark, options: Options) -> bool:
    """Whether a benchmark has no tasks of its own, so that every sample brings its task."""
    split, place = declared.split(options.split)
    return options.data is None and not (place.data or place.hub or download.kept(declared, split))
