"""Run jobs and collect their results. Identical jobs run once, and the cache has results of earlier runs."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import msgspec

from grader import resources
from grader.sandbox.answer import Executed, understand
from grader.scorers.execution import assembly, extraction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from grade_sandbox.jobs import Job

    from grader.executors.interface import Executor
    from grader.observer import Observer
    from grader.sandbox.crew import Overlap
    from grader.sandbox.interface import Answer
    from grader.sandbox.tickets import Verdict

    Take = Callable[[str, Executed], bool]

Item = TypeVar("Item")

KEYS_AT_A_TIME = 64
"""Maximum number of cached results in memory."""
MAX_CACHED_CHARACTERS = 256 << 10
"""Larger results are not cached: answers of megabytes are rare, and faster to compute again than to read."""
_ASSEMBLY = resources.digest_of(assembly.__name__, extraction.__name__)
"""Read at once: the files may change while this process runs."""
MAX_CHARACTERS = 32 << 10
"""Programs of longer texts are not cached."""


class Arriving(Protocol):
    """The keys of the jobs that may run. They become known one after the other."""

    def __iter__(self) -> Iterator[str | None]:
        """Yield them, or None if there is none at the moment. Several threads may draw from it, one at a time."""

    @property
    def known(self) -> set[str]:
        """The keys that have become known so far."""


class Settler:
    """Runs the jobs of one phase after another."""

    def __init__(self, executor: Executor, observer: Observer) -> None:
        self._executor, self._observer = executor, observer
        self._overlap: Overlap | None = None
        self._overlapped: _Phase[Any] | None = None
        """The phase that runs beside others."""
        self._shown: _Phase[Any] | None = None
        """The phase whose progress the observer gets."""
        self.cached = Counter[str]()
        """Phase -> number of items settled from the cache."""

    def key(self, job: Mapping[str, object]) -> str:
        """Return the cache key of a job's result."""
        return self._executor.key(job)

    def with_tests(self) -> Settler:
        """Return a settler whose jobs may run where tests do. Never use it for a model's program."""
        return Settler(self._executor.with_tests(), self._observer)

    def begin(self, lint: int = 0) -> None:
        """Start the executor in the background: jobs will come soon, and first at least `lint` lint jobs."""
        self._executor.begin(lint)

    def has(self, key: str) -> bool:
        """Whether the cache has this key."""
        return self._executor.has(key)

    def computed(self, given: Mapping[str, object], kind: type[Item], compute: Callable[[], Item]) -> Item:
        """Return the result of `compute`, from the cache if it is there. `given`: everything that can change it."""
        key = self.key(given)
        with contextlib.suppress(msgspec.ValidationError):
            if (known := self._executor.kept([key]).get(key)) is not None:
                return msgspec.convert(known.get("computed"), kind)
        made = compute()
        self._executor.keep(key, {"computed": msgspec.to_builtins(made)})
        return made

    def program(
        self, text: str, signature: str, rules: extraction.Rules, tested: tuple[str, ...] = ()
    ) -> assembly.Program:
        """Return what `assemble` returns, from the cache if it is there: looking it up takes less time."""
        if len(text) > MAX_CHARACTERS:
            return assembly.assemble(text, signature, rules, tested)
        given = {"assemble": text, "signature": signature, "rules": rules, "tested": tested, "code": _ASSEMBLY}
        return self.computed(given, assembly.Program, lambda: assembly.assemble(text, signature, rules, tested))

    def settle(
        self,
        phase: str,
        items: Iterable[tuple[str, Item]],
        job: Callable[[Item], Job],
        take: Take,
        *,
        arriving: Arriving | None = None,
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
        one = _Phase(phase, items, take, arriving, passed, keeps_stopped=keeps_stopped)
        self._begin(one)
        self._take_kept(one)
        if one.todo:
            self._run(one, _jobs(one.todo, job, one.todo if arriving is None else arriving))
        return one.lost

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
        one = self._overlapped = _Phase(phase, items, take)
        self._begin(one)
        self._take_kept(one)
        if not one.todo:
            return False

        def understood(key: str, answer: Answer) -> None:
            with contextlib.suppress(msgspec.ValidationError):
                heard(key, understand(answer))

        given = ((key, job(item)) for key, item in one.todo.items())
        self._overlap = self._executor.overlap(given, len(one.todo), understood)
        if self._overlap is None:
            self._run(one, _jobs(one.todo, job, one.todo))
        return self._overlap is not None

    @property
    def is_overlap_over(self) -> bool:
        """Whether every job of the phase that runs beside others has run."""
        return self._overlap is None or self._overlap.is_over

    def finish_overlap(self) -> dict[str, str]:
        """Settle the rest of the phase that runs beside others; return key -> error for jobs without a result."""
        one, self._overlapped = self._overlapped, None
        assert one is not None
        if self._overlap is not None:
            for verdict in self._overlap.rest():
                self._settled(one, verdict)
            self._overlap = None
        return one.lost

    def _take_kept(self, one: _Phase[Item]) -> None:
        """Take the results of earlier runs."""
        keys = list(one.todo)
        for start in range(0, len(keys), KEYS_AT_A_TIME):
            for key, answer in self._executor.kept(keys[start : start + KEYS_AT_A_TIME]).items():
                if self._take(one, key, answer) is not None:
                    self.cached[one.name] += one.times[key]
                    del one.todo[key]

    def _run(self, one: _Phase[Item], jobs: Iterator[tuple[str, Job] | None]) -> None:
        """Run jobs of a phase, and process the verdicts of the phase that runs beside it."""
        if self._overlap is None:
            verdicts = self._executor.run(job for job in jobs if job is not None)
        else:
            verdicts = self._overlap.run(jobs)
        for verdict in verdicts:
            other = self._overlapped
            if other is None or other is one or verdict.key not in other.times:
                self._settled(one, verdict)
                continue
            self._settled(other, verdict)
            if other.is_done and self._shown is other:
                self._show(one)

    def _settled(self, one: _Phase[Any], verdict: Verdict) -> None:
        seen = None if verdict.answer is None else self._take(one, verdict.key, verdict.answer)
        if verdict.answer is not None and seen is not None:
            if _length(verdict.answer) <= MAX_CACHED_CHARACTERS and (seen.lane is None or one.keeps_stopped):
                self._executor.keep(verdict.key, verdict.answer)
        else:
            one.lost[verdict.key] = verdict.reason or "the supervisor's answer could not be understood"
            self._advance(one, verdict.key)

    def _take(self, one: _Phase[Any], key: str, answer: Answer) -> Executed | None:
        """Pass on an answer and return it; None if it is invalid."""
        try:
            seen = understand(answer)
        except msgspec.ValidationError:
            return None
        self._advance(one, key, is_success=one.take(key, seen))
        return seen

    # --- progress: of one phase at a time ---

    def _begin(self, one: _Phase[Any]) -> None:
        """Show a phase, unless another one is shown that is not done."""
        other = self._overlapped
        if other is None or other is one or other.is_done:
            self._show(one)

    def _show(self, one: _Phase[Any]) -> None:
        self._shown = one
        if one.arriving is not None:
            # It is shown when the linter has ended: only these keys, and those from the cache, have a result.
            known = one.arriving.known
            one.total = sum(times for key, times in one.times.items() if key in known or key not in one.todo)
        if one.total:
            self._observer.phase(one.name, one.total)
        if one.steps:
            self._observer.advance(one.steps, passed=one.passed)

    def _advance(self, one: _Phase[Any], key: str, *, is_success: bool = False) -> None:
        steps = one.times[key]
        one.steps += steps
        one.passed += steps * is_success
        if self._shown is one:
            self._observer.advance(steps, passed=steps * is_success)


class _Phase(Generic[Item]):
    """A phase: its jobs without a result, and its progress."""

    def __init__(
        self,
        name: str,
        items: Iterable[tuple[str, Item]],
        take: Take,
        arriving: Arriving | None = None,
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
    given: set[str] = set()
    for key in arriving:
        if key is None:
            yield None
        elif key in todo and key not in given:
            given.add(key)
            yield key, job(todo[key])


def _length(answer: Answer) -> int:
    """Return the approximate number of characters of an answer, counting only the parts that can be large."""
    part = answer.get("answer")
    return sum(map(len, part.get("replies", ()))) if isinstance(part, dict) else 0
