"""Run jobs and collect their results. Identical jobs run once, and the cache has results of earlier runs."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import msgspec

from grader.sandbox.answer import Executed, understand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.executors.interface import Executor
    from grader.observer import Observer
    from grader.sandbox.interface import Answer, Job

Item = TypeVar("Item")

KEYS_AT_A_TIME = 64
"""Maximum number of cached results in memory."""
MAX_CACHED_CHARACTERS = 256 << 10
"""Larger results are not cached: answers of megabytes are rare, and faster to compute again than to read."""


class Settler:
    """Runs the jobs of one phase after another."""

    def __init__(self, executor: Executor, observer: Observer) -> None:
        self._executor, self._observer = executor, observer
        self.cached = Counter[str]()
        """Phase -> number of items settled from the cache."""

    def key(self, job: Job) -> str:
        """Return the cache key of a job's result."""
        return self._executor.key(job)

    def begin(self, lint: int = 0) -> None:
        """Start the executor in the background: jobs will come soon, and first at least `lint` lint jobs."""
        self._executor.begin(lint)

    def has(self, key: str) -> bool:
        """Whether the cache has this key."""
        return self._executor.has(key)

    def computed(self, given: Job, kind: type[Item], compute: Callable[[], Item]) -> Item:
        """Return the result of `compute`, from the cache if it is there. `given`: everything that can change it."""
        key = self.key(given)
        with contextlib.suppress(msgspec.ValidationError):
            if (known := self._executor.kept([key]).get(key)) is not None:
                return msgspec.convert(known.get("computed"), kind)
        made = compute()
        self._executor.keep(key, {"computed": msgspec.to_builtins(made)})
        return made

    def settle(
        self,
        phase: str,
        items: Iterable[tuple[str, Item]],
        job: Callable[[Item], Job],
        take: Callable[[str, Executed], bool],
    ) -> dict[str, str]:
        """Run every item's job; return key -> error for jobs without a result.

        `items` are pairs of a key and the input of `job`, which creates the job when it is needed. `take` gets each
        key's result once, and returns whether it is a success.
        """
        pairs = list(items)
        times = Counter(key for key, _ in pairs)
        self._observer.phase(phase, len(pairs))
        todo = dict(pairs)
        keys = list(todo)
        for start in range(0, len(keys), KEYS_AT_A_TIME):
            for key, answer in self._executor.kept(keys[start : start + KEYS_AT_A_TIME]).items():
                if self._take(key, answer, times[key], take):
                    self.cached[phase] += times[key]
                    del todo[key]
        return dict(self._run(todo, times, job, take))

    def _run(
        self,
        todo: dict[str, Item],
        times: Counter[str],
        job: Callable[[Item], Job],
        take: Callable[[str, Executed], bool],
    ) -> Iterator[tuple[str, str]]:
        if not todo:
            return
        for verdict in self._executor.run((key, job(item)) for key, item in todo.items()):
            if verdict.answer is not None and self._take(verdict.key, verdict.answer, times[verdict.key], take):
                if _length(verdict.answer) <= MAX_CACHED_CHARACTERS:
                    self._executor.keep(verdict.key, verdict.answer)
            else:
                yield verdict.key, verdict.reason or "the supervisor's answer could not be understood"
                self._observer.advance(times[verdict.key])

    def _take(self, key: str, answer: Answer, times: int, take: Callable[[str, Executed], bool]) -> bool:
        """Pass on an answer; return False if it is invalid."""
        try:
            seen = understand(answer)
        except msgspec.ValidationError:
            return False
        self._observer.advance(times, passed=times * take(key, seen))
        return True


def _length(answer: Answer) -> int:
    """Return the approximate number of characters of an answer, counting only the parts that can be large."""
    part = answer.get("answer")
    return sum(map(len, part.get("replies", ()))) if isinstance(part, dict) else 0
