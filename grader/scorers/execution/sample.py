"""One sample of a run: the attempt, and what was observed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.sandbox.answer import Executed, Lint
from grader.scorers.execution.candidate import Candidate, Verdicts
from grader.scorers.execution.reading import not_judged

if TYPE_CHECKING:
    from grader.scorers.execution.candidate import Readings
    from grader.scorers.execution.jobs import Attempt


class Sample:
    """One attempt with its observations."""

    __slots__ = ("attempt", "key", "lint", "not_run", "ran", "verdicts")

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self.key = ""
        """Key of the job that lints it."""
        self.lint: Lint | None = None
        """The linter's result; None: infrastructure failed."""
        self.verdicts = Verdicts()
        self.ran: Executed | None = None
        """The result of the official run; None: the program was refused, or infrastructure failed (see `not_run`)."""
        self.not_run = ""

    @property
    def completion(self) -> Candidate:
        """The official completion."""
        return Candidate(qid=self.attempt.task.id, source=self.attempt.program.completion)

    @property
    def whole(self) -> Candidate | None:
        """The text as written, if it is a different program."""
        source = self.attempt.program.recovered
        return None if source is None else Candidate(qid=self.attempt.task.id, source=source)

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates whose verdicts are wanted."""
        # With inputs, the official reading needs the completion's answers, so it runs even if careful does not use it.
        is_left_out = self.attempt.program.is_missing and not self.has_inputs
        found = [] if self.lint is None or is_left_out else [self.completion]
        return found if self.whole is None else [*found, self.whole]

    @property
    def has_inputs(self) -> bool:
        """Whether the data has the inputs for its program, and no tests."""
        return self.attempt.task.cases is not None

    @property
    def readings(self) -> Readings | None:
        """Both readings, if the task has inputs and they are known: careful is about the text as written."""
        found, why = self._readings, self.verdicts.not_judged
        if found is None or not why:
            return found
        return msgspec.structs.replace(found, careful=not_judged(why), calls=msgspec.UNSET, right=[])

    @property
    def _readings(self) -> Readings | None:
        official, whole = self.verdicts.completion.readings, self.verdicts.whole
        if official is None or whole is None or whole.readings is None:
            return official
        if self.attempt.program.has_official and official.careful.credit and not whole.readings.careful.credit:
            return official
        return msgspec.structs.replace(official, careful=whole.readings.careful, calls=whole.readings.calls)

    @property
    def refused(self) -> bool:
        """Whether the linter rejected the program, so that it does not run."""
        return self.lint is not None and bool(self.lint.messages or self.lint.broken)

    @property
    def seconds(self) -> float:
        """Wall time in which the candidate answered."""
        judgement = self.verdicts.completion.judgement
        return judgement.evidence.wall if judgement is not None else 0.0

    @property
    def executed(self) -> Executed | None:
        """All observations of the official run; None if they do not suffice for a verdict."""
        if self.refused:
            return Executed(lint=self.lint)
        return None if self.ran is None else Executed(lint=self.lint or self.ran.lint, run=self.ran.run)
