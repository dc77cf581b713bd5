"""The tasks of a pool: those of its benchmark, those that came with samples, and both with other limits."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, Any

import msgspec

from grader.data.tables import Rows
from grader.errors import GradeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

    from grader.benchmark import Benchmark
    from grader.scorers.asking import Asked
    from grader.scorers.registry import AnyScorer
    from grader.task import Task

MOST_BYTES = 256 << 20
"""Size of all rows that are kept. Beyond it, tasks are forgotten, the one used least recently first."""
LEAST_TASKS = 1024
"""So many tasks are kept, however large they are, because some samples of each may be waiting."""
LIMITS = ("timeout", "memory", "wall")


def name_of(row: bytes) -> str:
    """Return the name of a row: a hash of its JSON."""
    return hashlib.sha256(row).hexdigest()[:20]


class Book:
    """Finds the task of a sample. Any number of threads may use it."""

    def __init__(
        self,
        declared: Benchmark,
        scorer: AnyScorer,
        split: str,
        tasks: MutableMapping[str, Task],
        most: int = MOST_BYTES,
    ) -> None:
        """`tasks`: those of the benchmark; the others are added to them, under names of their own."""
        self._declared, self._scorer, self._split, self._tasks = declared, scorer, split, tasks
        self._own = frozenset(tasks)
        self._lock = threading.Lock()
        self._sizes: dict[str, int] = {}
        """Added task -> size of its row, the one used last at the end."""
        self._bytes, self._most = 0, most
        self.on_forget: Callable[[str], None] = lambda _: None
        """Called with each task that is forgotten."""

    def task_of(self, one: Asked) -> str:
        """Return the name of a sample's task; raises UsageError if it has none."""
        if one.refused:
            raise UsageError(one.refused)
        with self._lock:
            base = self._from_row(one) if one.row else self._of_benchmark(one.qid)
            given = {name: value for name in LIMITS if (value := getattr(one, name))}
            return self._limited(base, given) if given else base

    def _of_benchmark(self, qid: str) -> str:
        if qid in self._own:
            return qid
        has = "the pool has no tasks of its own: give the sample a row, or add its task with add_tasks."
        if self._own:
            has = f"it has {len(self._own)} tasks, for example {min(self._own)!r:.80}. Were the prompts made from the "
            has += "same data?"
        raise UsageError(f"{self._declared.id} has no task {qid!r:.80}; {has}")

    def _from_row(self, one: Asked) -> str:
        task = f"row {one.row}"
        if task not in self._sizes:
            self._add(task, self._made(one.data), len(one.data))
        self._touch(task)
        return task

    def _made(self, data: bytes) -> Task:
        columns = self._declared.columns
        try:
            row: dict[str, Any] = {columns.id: "the sample's row"} | msgspec.json.decode(data, type=dict)
            made = self._scorer.tasks(self._declared, self._split, Rows(rows=[row], origin="task", digest=""))
        except (GradeError, msgspec.MsgspecError) as error:
            advice = "grader.integrations.shapes converts the rows of many data sets into tasks"
            raise UsageError(f"its row is not a task: {error} ({advice})") from None
        task: Task = next(iter(made.values()))
        return task

    def _limited(self, base: str, given: Mapping[str, float]) -> str:
        """Return the name of a task with other limits."""
        name = f"{base} {sorted(given.items())}"
        if name not in self._sizes:
            self._add(name, self._scorer.limited(self._tasks[base], given), self._sizes.get(base, 1 << 10))
        self._touch(name)
        return name

    def _add(self, name: str, task: Task, size: int) -> None:
        self._tasks[name] = msgspec.structs.replace(task, id=name)
        self._sizes[name] = size
        self._bytes += size

    def _touch(self, name: str) -> None:
        """Note that a task is used, and forget others if there are too many."""
        self._sizes[name] = self._sizes.pop(name)
        while self._bytes > self._most and len(self._sizes) > LEAST_TASKS:
            oldest = next(iter(self._sizes))
            self._bytes -= self._sizes.pop(oldest)
            del self._tasks[oldest]
            self.on_forget(oldest)
