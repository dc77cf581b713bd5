"""Run jobs and collect their results. Identical jobs run once, and the cache has results of earlier runs."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from grader import resources
from grader.sandbox.answer import Executed, understand
from grader.sandbox.interface import length_of
from grader.scorers.execution import assembly, extraction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from grade_sandbox.jobs import Job

    from grader.executors.interface import Executor
    from grader.observer import Observer
    from grader.sandbox.interface import Answer
    from grader.sandbox.pool import Overlap
    from grader.sandbox.tickets import Verdict
    from grader.scorers.execution.sample import Accepted

    Take = Callable[[str, Executed], bool]

Item = TypeVar("Item")

KEYS_AT_A_TIME = 16
"""Maximum number of cached results in memory."""
MAX_CACHED_CHARACTERS = 8 << 20
"""Larger results are not cached."""
_ASSEMBLY = resources.digest_of(assembly.__name__, extraction.__name__)
"""Read at once: the files may change while this process runs."""
MAX_CHARACTERS = 32 << 10
"""Programs of longer texts are not cached."""


class Settler:
    """Runs the jobs of one phase after another."""

    def __init__(self, executor: Executor, observer: Observer, *, with_tests: bool = False) -> None:
        """`with_tests`: all jobs may run where tests do. Never use it for a model's program."""
        self.executor, self._observer, self._with_tests = executor, observer, with_tests
        self.key = executor.key
        """Returns the cache key of a job's result."""
        self._overlap: Overlap | None = None
        self._overlapped: _Phase[Any] | None = None
        """The phase that runs beside others."""
        self._shown: _Phase[Any] | None = None
        """The phase whose progress the observer gets."""
        self.cached = Counter[str]()
        """Phase -> number of items settled from the cache."""

    def with_tests(self) -> Settler:
        """Return a settler whose jobs may run where tests do. Never use it for a model's program."""
        return Settler(self.executor, self._observer, with_tests=True)

    def program(
        self, text: str, signature: str, rules: extraction.Rules, tested: tuple[str, ...] = ()
    ) -> assembly.Program:
        """Return what `assemble` returns, from the cache if it is there: looking it up takes less time."""
        if len(text) > MAX_CHARACTERS:
            return assembly.assemble(text, signature, rules, tested)
        key = self.key({"assemble": text, "signature": signature, "rules": rules, "tested": tested, "code": _ASSEMBLY})
        with contextlib.suppress(msgspec.ValidationError):
            if (known := self.executor.cache.get([key]).get(key)) is not None:
                return msgspec.convert(known.get("computed"), assembly.Program)
        made = assembly.assemble(text, signature, rules, tested)
        self.executor.cache.put(key, {"computed": msgspec.to_builtins(made)})
        return made

    def settle(
        self,
        phase: str,
        items: Iterable[tuple[str, Item]],
        job: Callable[[Item], Job],
        take: Take,
        *,
        arriving: Accepted | None = None,
        passed: int = 0,
        keeps_stopped: bool = False,
    ) -> dict[str, str]:
        """Run every item's job; return key -> error for jobs without a result.

        `items` are pairs of a key and the input of `job`, which creates the job when it is needed. `take` gets each
        key's result once, and returns whether it is a success.
        `arriving` yields the keys whose jobs may run now. When it ends, the others are left. `passed`: the number of
        further items of the phase, known to be successes. `keeps_stopped`: whether the cache also gets results of
        programs that have used up their time slice.
        """
        current = _Phase(phase, items, take, arriving, passed, keeps_stopped=keeps_stopped)
        self._begin(current)
        self._take_kept(current)
        if current.todo:
            self._run(current, _jobs(current.todo, job, current.todo if arriving is None else arriving))
        return current.lost

    def overlap(
        self,
        phase: str,
        items: Iterable[tuple[str, Item]],
        job: Callable[[Item], Job],
        take: Take,
        heard: Callable[[str, Executed], None],
    ) -> bool:
        """Begin a phase of lint jobs that runs beside the next phases. Return False if all its jobs are settled now.

        The parameters are those of `settle`. `heard` gets each key's result earlier than `take`, in any thread: such a
        result may still turn out to be invalid.
        """
        current = self._overlapped = _Phase(phase, items, take)
        self._begin(current)
        self._take_kept(current)
        if not current.todo:
            return False

        def understood(key: str, answer: Answer) -> None:
            with contextlib.suppress(msgspec.ValidationError):
                heard(key, understand(answer))

        pairs = ((key, job(item)) for key, item in current.todo.items())
        self._overlap = self.executor.overlap(pairs, len(current.todo), understood)
        if self._overlap is None:
            self._run(current, _jobs(current.todo, job, current.todo))
        return self._overlap is not None

    @property
    def is_overlap_over(self) -> bool:
        """Whether every job of the phase that runs beside others has run."""
        return self._overlap is None or self._overlap.is_over

    def finish_overlap(self) -> dict[str, str]:
        """Settle the rest of the phase that runs beside others; return key -> error for jobs without a result."""
        current, self._overlapped = self._overlapped, None
        assert current is not None
        if self._overlap is not None:
            for verdict in self._overlap.rest():
                self._settled(current, verdict)
            self._overlap = None
        return current.lost

    def _take_kept(self, phase: _Phase[Item]) -> None:
        """Take the results of earlier runs."""
        keys = list(phase.todo)
        for start in range(0, len(keys), KEYS_AT_A_TIME):
            for key, answer in self.executor.cache.get(keys[start : start + KEYS_AT_A_TIME]).items():
                if self._take(phase, key, answer) is not None:
                    self.cached[phase.name] += phase.times[key]
                    del phase.todo[key]

    def _run(self, phase: _Phase[Item], jobs: Iterator[tuple[str, Job] | None]) -> None:
        """Run jobs of a phase, and process the verdicts of the phase that runs beside it."""
        if self._overlap is None:
            ready = (job for job in jobs if job is not None)
            verdicts = self.executor.run(ready, with_tests=self._with_tests)
        else:
            verdicts = self._overlap.run(jobs)
        for verdict in verdicts:
            other = self._overlapped
            if other is None or other is phase or verdict.key not in other.times:
                self._settled(phase, verdict)
                continue
            self._settled(other, verdict)
            if other.is_done and self._shown is other:
                self._show(phase)

    def _settled(self, phase: _Phase[Any], verdict: Verdict) -> None:
        executed = None if verdict.answer is None else self._take(phase, verdict.key, verdict.answer)
        if verdict.answer is not None and executed is not None:
            if length_of(verdict.answer) <= MAX_CACHED_CHARACTERS and (executed.lane is None or phase.keeps_stopped):
                self.executor.cache.put(verdict.key, verdict.answer)
        else:
            phase.lost[verdict.key] = verdict.reason or "the supervisor's answer could not be understood"
            self._advance(phase, verdict.key)

    def _take(self, phase: _Phase[Any], key: str, answer: Answer) -> Executed | None:
        """Pass on an answer and return it; None if it is invalid."""
        try:
            executed = understand(answer)
        except msgspec.ValidationError:
            return None
        self._advance(phase, key, is_success=phase.take(key, executed))
        return executed

    # --- progress: of one phase at a time ---

    def _begin(self, phase: _Phase[Any]) -> None:
        """Show a phase, unless another one is shown that is not done."""
        other = self._overlapped
        if other is None or other is phase or other.is_done:
            self._show(phase)

    def _show(self, phase: _Phase[Any]) -> None:
        self._shown = phase
        if phase.arriving is not None:
            # It is shown when the linter has ended: only these keys, and those from the cache, have a result.
            known = phase.arriving.known
            phase.total = sum(times for key, times in phase.times.items() if key in known or key not in phase.todo)
        if phase.total:
            self._observer.phase(phase.name, phase.total)
        if phase.steps:
            self._observer.advance(phase.steps, passed=phase.passed)

    def _advance(self, phase: _Phase[Any], key: str, *, is_success: bool = False) -> None:
        steps = phase.times[key]
        phase.steps += steps
        phase.passed += steps * is_success
        if self._shown is phase:
            self._observer.advance(steps, passed=steps * is_success)


class _Phase(Generic[Item]):
    """A phase: its jobs without a result, and its progress."""

    def __init__(
        self,
        name: str,
        items: Iterable[tuple[str, Item]],
        take: Take,
        arriving: Accepted | None = None,
        passed: int = 0,
        *,
        keeps_stopped: bool = False,
    ) -> None:
        pairs = list(items)
        self.name, self.take, self.arriving, self.keeps_stopped = name, take, arriving, keeps_stopped
        self.times = Counter(key for key, _ in pairs)
        self.total, self.steps, self.passed = len(pairs) + passed, passed, passed
        self.todo = dict(pairs)
        self.lost: dict[str, str] = {}

    @property
    def is_done(self) -> bool:
        """Whether every item is settled."""
        return self.steps == self.total


def _jobs(
    todo: Mapping[str, Item], job: Callable[[Item], Job], arriving: Iterable[str | None]
) -> Iterator[tuple[str, Job] | None]:
    """Yield the jobs of some items, each once, or None if there is none at the moment."""
    yielded: set[str] = set()
    for key in arriving:
        if key is None:
            yield None
        elif key in todo and key not in yielded:
            yielded.add(key)
            yield key, job(todo[key])
