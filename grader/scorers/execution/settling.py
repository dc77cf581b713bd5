"""Run jobs and collect their results. Identical jobs run once, and the cache has results of earlier runs."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.predictions import reasoning
from grader.sandbox.answer import Executed, understand
from grader.scorers.execution import assembly, careful_program, extraction, regions, reply_forms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from grade_sandbox.jobs import Job

    from grader.executors.interface import Executor
    from grader.observer import Observer
    from grader.sandbox.interface import Answer
    from grader.sandbox.tickets import Verdict

    Take = Callable[[str, Executed], bool]
    Made = Job | Callable[[], Job]
    """A job, or what returns it when it is sent."""

KEYS_AT_A_TIME = 8
"""Maximum number of cached results in memory."""
ASSEMBLING = assembly, careful_program, extraction, reasoning, regions, reply_forms
"""The modules that decide what `assemble` returns."""
_ASSEMBLY = resources.digest_of(*(module.__name__ for module in ASSEMBLING))
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
        self.cached = Counter[str]()
        """Phase -> number of items settled from the cache."""

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

    def settle(self, phase: str, jobs: Iterable[tuple[str, Made]], take: Take, *, passed: int = 0) -> dict[str, str]:
        """Run jobs, by their keys; return key -> error for jobs without a result.

        `take` gets each key's result once, and returns whether it is a success. `passed`: the number of further items
        of the phase, known to be successes.
        """
        current = _Phase(phase, jobs, take, passed)
        self._show(current)
        self._take_kept(current)
        if current.todo:
            new = ((key, made() if callable(made) else made) for key, made in current.todo.items())
            for verdict in self.executor.run(new, with_tests=self._with_tests):
                self._settled(current, verdict)
        return current.lost

    def _take_kept(self, phase: _Phase) -> None:
        """Take the results of earlier runs."""
        keys = list(phase.todo)
        for start in range(0, len(keys), KEYS_AT_A_TIME):
            for key, answer in self.executor.cache.get(keys[start : start + KEYS_AT_A_TIME]).items():
                if self._take(phase, key, answer) is not None:
                    self.cached[phase.name] += phase.times[key]
                    del phase.todo[key]

    def _settled(self, phase: _Phase, verdict: Verdict) -> None:
        executed = None if verdict.answer is None else self._take(phase, verdict.key, verdict.answer)
        if verdict.answer is not None and executed is not None:
            if not executed.is_open:
                self.executor.cache.put(verdict.key, verdict.answer)
        else:
            phase.lost[verdict.key] = verdict.reason or "the supervisor's answer could not be understood"
            self._advance(phase, verdict.key)

    def _take(self, phase: _Phase, key: str, answer: Answer) -> Executed | None:
        """Pass on an answer and return it; None if it is invalid."""
        try:
            executed = understand(answer)
        except msgspec.ValidationError:
            return None
        self._advance(phase, key, is_success=phase.take(key, executed))
        return executed

    def _show(self, phase: _Phase) -> None:
        if phase.total:
            self._observer.phase(phase.name, phase.total)
        if phase.passed:
            self._observer.advance(phase.passed, passed=phase.passed)

    def _advance(self, phase: _Phase, key: str, *, is_success: bool = False) -> None:
        steps = phase.times[key]
        self._observer.advance(steps, passed=steps * is_success)


class _Phase:
    """A phase: its jobs without a result, and its progress."""

    def __init__(self, name: str, jobs: Iterable[tuple[str, Made]], take: Take, passed: int = 0) -> None:
        pairs = list(jobs)
        self.name, self.take = name, take
        self.times = Counter(key for key, _ in pairs)
        self.total, self.passed = len(pairs) + passed, passed
        self.todo = dict(pairs)
        self.lost: dict[str, str] = {}
