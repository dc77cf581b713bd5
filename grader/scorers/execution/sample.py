"""One sample of a run: the attempt, and what was observed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.sandbox.answer import Executed, Lint
from grader.sandbox.interface import FEW_LINTS
from grader.scorers.execution.candidate import Apart, Candidate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.scorers.execution.inputs.judging import Judged
    from grader.scorers.execution.jobs import Attempt


class Sample:
    """One attempt with its observations."""

    __slots__ = ("apart", "attempt", "judged", "key", "lint", "not_run", "ran")

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self.key = ""
        """Key of the job that lints it."""
        self.lint: Lint | None = None
        """The linter's result; None: infrastructure failed."""
        self.apart = Apart()
        self.ran: Executed | None = None
        """The result of the official run; None: the program was refused, or infrastructure failed (see `not_run`)."""
        self.not_run = ""
        self.judged: Judged | None = None
        """Both readings, if the task has inputs."""

    @property
    def completion(self) -> Candidate:
        """The official completion."""
        return Candidate(qid=self.attempt.task.id, source=self.attempt.program.completion)

    @property
    def written(self) -> Candidate | None:
        """The text as written, if it is a different program."""
        source = self.attempt.program.recovered
        return None if source is None else Candidate(qid=self.attempt.task.id, source=source)

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates to confirm."""
        # With inputs, the official reading needs the completion's answers, so it runs even if careful does not use it.
        is_left_out = self.attempt.program.rebinds and not self.has_inputs
        found = [] if self.refused or self.lint is None or is_left_out else [self.completion]
        return found if self.written is None else [*found, self.written]

    @property
    def has_inputs(self) -> bool:
        """Whether the data has the inputs for its program, and no tests."""
        return self.attempt.task.cases is not None

    @property
    def refused(self) -> bool:
        """Whether the linter rejected the program, so that it does not run."""
        return self.lint is not None and bool(self.lint.messages or self.lint.broken)

    @property
    def seconds(self) -> float:
        """Wall time in which the candidate answered."""
        split = self.apart.completion.split
        return split.evidence.wall if split is not None else 0.0

    @property
    def executed(self) -> Executed | None:
        """All observations of the official run; None if they do not suffice for a verdict."""
        if self.refused:
            return Executed(lint=self.lint)
        return None if self.ran is None else Executed(lint=self.lint or self.ran.lint, run=self.ran.run)


FIRST_LINTS = 32
"""Number of linted programs after which it is known whether the linter is slower than the programs."""


class Accepted:
    """The keys of the jobs of candidates, each as soon as the linter has accepted the candidate."""

    def __init__(self, samples: Iterable[Sample], is_over: Callable[[], bool]) -> None:
        """`is_over` returns whether the linter has no more results."""
        self._is_over = is_over
        self.keys: dict[Candidate, str] = {}
        """Candidate -> key of the job that lets it answer; others are not handed out."""
        self._candidates: list[Candidate] = []
        """Those accepted so far. A candidate can be there twice."""
        self._of: dict[str, dict[Candidate, None]] = {}
        """Key of a lint job without a result -> the candidates that may answer if the linter accepts the program."""
        for sample in samples:
            of = self._of.setdefault(sample.key, {})
            if not sample.attempt.program.rebinds:
                of[sample.completion] = None
            if sample.written is not None:
                # The linter does not decide about this one.
                self._candidates.append(sample.written)
        self.possible = list(dict.fromkeys([*self._candidates, *(c for of in self._of.values() for c in of)]))
        """All candidates that may be accepted."""
        self._programs = len(self._of)

    def note(self, key: str, executed: Executed) -> None:
        """Note a result of the linter."""
        if executed.lint is not None and not executed.lint.messages and not executed.lint.broken:
            self._candidates.extend(self._of.get(key, ()))
        self._of.pop(key, None)

    @property
    def known(self) -> set[str]:
        """The keys that have become known so far."""
        return {self.keys[candidate] for candidate in self._candidates if candidate in self.keys}

    def __iter__(self) -> Iterator[str | None]:
        """Yield the keys, or None if there is none at the moment. Several threads may draw from it, one at a time.

        It ends early if candidates answer faster than the linter accepts them and many programs are left to lint: then
        more workers should lint.
        """
        place = 0
        while True:
            ends = self._is_over()
            if place < len(self._candidates):
                if (key := self.keys.get(self._candidates[place])) is not None:
                    yield key
                place += 1
            elif ends or self._is_slow:
                return
            else:
                yield None

    @property
    def _is_slow(self) -> bool:
        left = len(self._of)
        return self._programs - left >= FIRST_LINTS and left > FEW_LINTS
