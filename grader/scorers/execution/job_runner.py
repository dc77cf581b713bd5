"""Run jobs and collect their results. Identical jobs run once, and the cache has results of earlier runs."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.files import python_source
from grader.predictions import reasoning
from grader.sandbox.answer import Executed, parse_answer
from grader.scorers.execution import assembly, careful_program, code_spans, extraction, reply_forms, statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from grade_sandbox.jobs import Job

    from grader.executors.interface import Executor
    from grader.observer import Observer
    from grader.sandbox.interface import Answer

    JobOrFactory = Job | Callable[[], Job]
    """A job, or what returns it when it is sent."""

CACHED_RESULTS_AT_A_TIME = 8
"""Maximum number of cached results in memory."""
ASSEMBLY_MODULES = (
    assembly, careful_program, code_spans, extraction, python_source, reasoning, reply_forms, statements,
)  # fmt: skip
"""The modules that decide what `assemble` returns."""
_ASSEMBLY_DIGEST = resources.digest_of(*(module.__name__ for module in ASSEMBLY_MODULES))
"""Read at once: the files may change while this process runs."""
MAX_CHARACTERS = 32 << 10
"""Programs of longer texts are not cached."""


class JobRunner:
    """Runs the jobs of one phase after another."""

    def __init__(self, executor: Executor, observer: Observer) -> None:
        self.executor, self._observer = executor, observer
        self.key = executor.key
        """Returns the cache key of a job's result."""
        self.cache_hits = Counter[str]()
        """Phase -> number of items whose results came from the cache."""

    def assemble(
        self,
        text: str,
        signature: str,
        rules: extraction.Rules,
        names_to_define: tuple[str, ...] = (),
        prelude: str | None = None,
    ) -> assembly.Program:
        """Return what `assembly.assemble` returns, from the cache if it is there: a lookup takes less time."""
        arguments = (text, signature, rules, names_to_define, prelude)
        if len(text) > MAX_CHARACTERS:
            return assembly.assemble(*arguments)
        key = self.key({"assemble": arguments, "code": _ASSEMBLY_DIGEST})
        with contextlib.suppress(msgspec.ValidationError):
            if (answer := self.executor.cache.get([key]).get(key)) is not None:
                return msgspec.convert(answer.get("computed"), assembly.Program)
        program = assembly.assemble(*arguments)
        self.executor.cache.put(key, {"computed": msgspec.to_builtins(program)})
        return program

    def run(
        self, phase: str, jobs: Iterable[tuple[str, JobOrFactory]], *, known_successes: int = 0
    ) -> Iterator[tuple[str, Executed | str]]:
        """Run jobs, by their keys; yield each key once, with its result or the reason why it has none.

        `known_successes`: the number of further items of the phase, which need no job.
        """
        pairs = list(jobs)
        items_of_key, waiting = Counter(key for key, _ in pairs), dict(pairs)
        if pairs or known_successes:
            self._observer.phase(phase, len(pairs) + known_successes)
            self._observer.advance(known_successes, passed=known_successes)
        for key, executed in self._cached_results(list(waiting)):
            del waiting[key]
            self.cache_hits[phase] += items_of_key[key]
            self._advance(items_of_key[key], executed)
            yield key, executed
        new_jobs = ((key, job() if callable(job) else job) for key, job in waiting.items())
        for key, answer in self.executor.run(new_jobs) if waiting else ():
            result = self._result(key, answer)
            self._advance(items_of_key[key], result)
            yield key, result

    def _cached_results(self, keys: Sequence[str]) -> Iterator[tuple[str, Executed]]:
        """Yield the results of earlier runs; a job with an invalid one runs again."""
        for start in range(0, len(keys), CACHED_RESULTS_AT_A_TIME):
            for key, answer in self.executor.cache.get(keys[start : start + CACHED_RESULTS_AT_A_TIME]).items():
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
        return parse_answer(answer)
    except msgspec.ValidationError:
        return None
