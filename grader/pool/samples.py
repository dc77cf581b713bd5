"""The samples of a pool: their tasks, and the scorer that judges them on this machine."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import msgspec

from grader.data import download
from grader.data.tables import Rows
from grader.errors import GradeError, UsageError
from grader.grading.setup import load_tasks, make_setup
from grader.observer import Silent
from grader.pool import messages
from grader.pool.exchange import name_of
from grader.scorers.interface import Run
from grader.scorers.plain_sample_scorer import NO_FILE, PlainSampleScorer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping, Sequence
    from typing import Self

    from grader.benchmark import Benchmark
    from grader.grading.setup import Setup
    from grader.options import Options
    from grader.results import SampleResult
    from grader.scorers.registry import AnyScorer
    from grader.scorers.sample_scorer import Lane, LaneSize, SampleScorer, ScoreRequest
    from grader.task import Task

MAX_BYTES = 32 << 20
"""Size of all rows that are kept. Beyond it, tasks are forgotten, beginning with the least recently used."""
MIN_TASKS = 1024
"""So many tasks are kept, however large they are, because some samples of each may be waiting."""
USUAL_ROW_BYTES = 1 << 10
"""A guess, for a task of the benchmark: its row is not kept, only its copies with other limits."""
LIMITS = ("timeout", "memory", "wall")


class TaskRegistry:
    """Finds the task of a sample. Any number of threads may use it."""

    def __init__(
        self,
        declared: Benchmark,
        scorer: AnyScorer,
        split: str,
        tasks: MutableMapping[str, Task],
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """`tasks`: those of the benchmark; tasks from rows, and tasks with other limits, are added to this mapping."""
        self._declared, self._scorer, self._split, self._tasks = declared, scorer, split, tasks
        self._benchmark_task_ids = frozenset(tasks)
        self._lock = threading.Lock()
        self._row_sizes: dict[str, int] = {}
        """Added task -> size of its row; the most recently used task is at the end."""
        self._row_bytes = 0
        self._max_bytes = max_bytes
        self.on_forget: Callable[[str], None] = lambda _: None
        """Called with each task that is forgotten."""

    def task_name(self, request: ScoreRequest) -> str:
        """Return the name of a sample's task; raises UsageError if it has none."""
        with self._lock:
            base = self._name_of_row_task(bytes(request.row)) if request.row else self._benchmark_task_id(request.qid)
            limits = {name: value for name in LIMITS if (value := getattr(request, name))}
            return self._name_with_limits(base, limits) if limits else base

    def _benchmark_task_id(self, qid: str) -> str:
        """Return the id of a task of the benchmark; raises UsageError if it has no such task."""
        if qid in self._benchmark_task_ids:
            return qid
        hint = "the pool has no tasks of its own: give the sample a row, or add its task with add_tasks."
        if self._benchmark_task_ids:
            example = f"{min(self._benchmark_task_ids)!r:.80}"
            hint = f"it has {len(self._benchmark_task_ids)} tasks, for example {example}. "
            hint += "Were the prompts made from the same data?"
        raise UsageError(f"{self._declared.id} has no task {qid!r:.80}; {hint}")

    def _name_of_row_task(self, row: bytes) -> str:
        """Return the name of the task in a sample's row, which is added if it is new."""
        name = f"row {name_of(row)}"
        if name not in self._row_sizes:
            self._add(name, self._parse_row(row), len(row))
        self._mark_used(name)
        return name

    def _parse_row(self, data: bytes) -> Task:
        """Return the task of a sample's row, which is JSON; raises UsageError."""
        id_column = self._declared.columns.id
        try:
            row = msgspec.json.decode(data, type=dict)
            if row.get(id_column) is None:
                # A row needs no id. This one is only for messages, since `_add` gives the task its name.
                row[id_column] = "the sample's row"
            tasks = self._scorer.tasks(
                self._declared, self._split, Rows(rows=[row], origin="task", digest="", is_single=True)
            )
        except (GradeError, msgspec.MsgspecError) as error:
            advice = "grader.integrations.shapes converts the rows of many data sets into tasks"
            raise UsageError(f"its row is not a task: {error} ({advice})") from None
        task: Task = next(iter(tasks.values()))
        return task

    def _name_with_limits(self, base: str, limits: Mapping[str, float]) -> str:
        """Return the name of a copy of task `base` with other limits, which is added if it is new."""
        name = f"{base} {sorted(limits.items())}"
        if name not in self._row_sizes:
            task = self._tasks[base].with_limits(limits)
            self._add(name, task, self._row_sizes.get(base, USUAL_ROW_BYTES))
        self._mark_used(name)
        return name

    def _add(self, name: str, task: Task, size: int) -> None:
        self._tasks[name] = msgspec.structs.replace(task, id=name)
        self._row_sizes[name] = size
        self._row_bytes += size

    def _mark_used(self, name: str) -> None:
        """Move a task to the end. While the rows are too large together, forget the first task, but keep MIN_TASKS."""
        self._row_sizes[name] = self._row_sizes.pop(name)
        while self._row_bytes > self._max_bytes and len(self._row_sizes) > MIN_TASKS:
            oldest = next(iter(self._row_sizes))
            self._row_bytes -= self._row_sizes.pop(oldest)
            del self._tasks[oldest]
            self.on_forget(oldest)


class Samples:
    """Scores samples of one benchmark on this machine. Use it as a context manager."""

    def __init__(self, options: Options) -> None:
        """Load the tasks, and find a sandbox; raises a GradeError."""
        setup = make_setup(options)
        declared, scorer = setup.declared, setup.scorer
        tasks = {} if _has_no_tasks(setup) else load_tasks(setup, with_generated=True)
        run: Run[Any, Any] = Run(
            benchmark=declared,
            split=setup.split,
            protocol=setup.protocol,
            tasks=tasks,
            predictions={},
            file=NO_FILE,
            options=options,
            observer=Silent(),
        )
        self._scorer: SampleScorer = scorer.sample_scorer(run) or PlainSampleScorer(scorer, run)
        self._registry = TaskRegistry(declared, scorer, run.split, tasks)
        self._registry.on_forget = self._scorer.forget
        self.benchmark = declared.id
        self.lanes: Mapping[Lane, LaneSize] = self._scorer.lanes

    def __enter__(self) -> Self:
        self._scorer.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._scorer.__exit__(*_)

    def abort(self) -> None:
        """End all long work: calls of `score` may fail, now and later."""
        self._scorer.abort()

    @property
    def lost_sandboxes(self) -> int:
        """Number of sandboxes lost so far."""
        return self._scorer.lost_sandboxes

    def score(self, requests: Sequence[ScoreRequest]) -> list[SampleResult]:
        """Return one result per sample; one without a task is unscored."""
        results: dict[int, SampleResult] = {}
        task_names: dict[int, str] = {}
        for index, request in enumerate(requests):
            try:
                task_names[index] = self._registry.task_name(request)
            except UsageError as error:
                results[index] = messages.unscored_result(request, str(error), "task")
        # The scorer knows a task by its name, the client by the id that it sent.
        samples = [msgspec.structs.replace(requests[index], qid=name) for index, name in task_names.items()]
        for index, result in zip(task_names, self._scorer.score(samples) if samples else (), strict=True):
            results[index] = msgspec.structs.replace(result, qid=requests[index].qid)
        return [results[index] for index in range(len(requests))]


def _has_no_tasks(setup: Setup) -> bool:
    """Whether a benchmark has no tasks of its own, so that every sample brings its task."""
    split = setup.declared.splits[setup.split]
    return setup.options.data is None and not (
        split.data or split.hub or download.fetched_path(setup.declared, setup.split)
    )
