"""Run jobs and collect their results. Identical jobs run once, and the cache has results of earlier runs."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.files import python_source
from grader.predictions import reasoning
from grader.sandbox.answer import Executed, understand
from grader.scorers.execution import assembly, careful_program, extraction, regions, reply_forms, statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from grade_sandbox.jobs import Job

    from grader.executors.interface import Executor
    from grader.observer import Observer
    from grader.sandbox.interface import Answer

    Made = Job | Callable[[], Job]
    """A job, or what returns it when it is sent."""

KEYS_AT_A_TIME = 8
"""Maximum number of cached results in memory."""
ASSEMBLING = assembly, careful_program, extraction, python_source, reasoning, regions, reply_forms, statements
"""The modules that decide what `assemble` returns."""
_ASSEMBLY = resources.digest_of(*(module.__name__ for module in ASSEMBLING))
"""Read at once: the files may change while this process runs."""
MAX_CHARACTERS = 32 << 10
"""Programs of longer texts are not cached."""


class Settler:
    """Runs the jobs of one phase after another."""

    def __init__(self, executor: Executor, observer: Observer) -> None:
        self.executor, self._observer = executor, observer
        self.key = executor.key
        """Returns the cache key of a job's result."""
        self.cached = Counter[str]()
        """Phase -> number of items settled from the cache."""

    def program(
        self,
        text: str,
        signature: str,
        rules: extraction.Rules,
        tested: tuple[str, ...] = (),
        prelude: str | None = None,
    ) -> assembly.Program:
        """Return what `assemble` returns, from the cache if it is there: looking it up takes less time."""
        if len(text) > MAX_CHARACTERS:
            return assembly.assemble(text, signature, rules, tested, prelude)
        asked = {"signature": signature, "rules": rules, "tested": tested, "prelude": prelude}
        key = self.key({"assemble": text, **asked, "code": _ASSEMBLY})
        with contextlib.suppress(msgspec.ValidationError):
            if (known := self.executor.cache.get([key]).get(key)) is not None:
                return msgspec.convert(known.get("computed"), assembly.Program)
        made = assembly.assemble(text, signature, rules, tested, prelude)
        self.executor.cache.put(key, {"computed": msgspec.to_builtins(made)})
        return made

    def settle(
        self, phase: str, jobs: Iterable[tuple[str, Made]], *, passed: int = 0
    ) -> Iterator[tuple[str, Executed | str]]:
        """Run jobs, by their keys; yield each key once, with its result or the reason why it has none.

        `passed`: the number of further items of the phase, known to be successes.
        """
        pairs = list(jobs)
        times, todo = Counter(key for key, _ in pairs), dict(pairs)
        if pairs or passed:
            self._observer.phase(phase, len(pairs) + passed)
            self._observer.advance(passed, passed=passed)
        for key, executed in self._cached(list(todo)):
            del todo[key]
            self.cached[phase] += times[key]
            self._advance(times[key], executed)
            yield key, executed
        new = ((key, made() if callable(made) else made) for key, made in todo.items())
        for key, answer in self.executor.run(new) if todo else ():
            result = self._result(key, answer)
            self._advance(times[key], result)
            yield key, result

    def _cached(self, keys: Sequence[str]) -> Iterator[tuple[str, Executed]]:
        """Yield the results of earlier runs."""
        for start in range(0, len(keys), KEYS_AT_A_TIME):
            for key, answer in self.executor.cache.get(keys[start : start + KEYS_AT_A_TIME]).items():
                if (executed := _valid_result(answer)) is not None:
                    yield key, executed

    def _result(self, key: str, answer: Answer | str) -> Executed | str:
        """Return a new result, and put it into the cache; or the reason why there is none."""
        if isinstance(answer, str):
            return answer
        executed = _valid_result(answer)
        if executed is None:
            return "the supervisor's answer could not be understood"
        self.executor.cache.put(key, answer)
        return executed

    def _advance(self, steps: int, result: Executed | str) -> None:
        is_success = isinstance(result, Executed) and result.is_success
        self._observer.advance(steps, passed=steps * is_success)


def _valid_result(answer: Answer) -> Executed | None:
    """Return the result that an answer of the sandbox describes; None if the answer is invalid."""
    try:
        return understand(answer)
    except msgspec.ValidationError:
        return None
