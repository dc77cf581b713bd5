"""One sample of a run: the program assembled from a prediction, and what was observed of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.sandbox.answer import Executed, Lint
from grader.scorers.execution.assembly import Program, assemble, head
from grader.scorers.execution.candidate import Candidate, Verdicts, not_judged_reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from grader.scorers.execution.candidate import Readings
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.extraction import Rules
    from grader.scorers.execution.tasks import CodeTask


class Sample:
    """A program with its observations."""

    __slots__ = ("lint", "lint_key", "number", "official_failure", "official_run", "program", "task", "verdicts")

    def __init__(self, task: CodeTask, number: int, program: Program) -> None:
        self.task, self.number, self.program = task, number, program
        self.lint_key = ""
        """Key of the job that lints it; equal programs of a task have the same."""
        self.lint: Lint | None = None
        """The linter's result; None: infrastructure failed."""
        self.verdicts = Verdicts()
        self.official_run: Executed | None = None
        """None: the program was refused, or infrastructure failed."""
        self.official_failure = ""
        """Why infrastructure failed to run it; empty if nothing is known of that."""

    @property
    def head(self) -> str:
        """The official program without its tests."""
        return head(self.task.signature_text, self.program.completion)

    @property
    def completion(self) -> Candidate:
        """The official completion."""
        return Candidate(qid=self.task.id, source=self.program.completion)

    @property
    def recovered_completion(self) -> Candidate | None:
        """The careful completion, if it is a different program."""
        source = self.program.recovered_completion
        return None if source is None else Candidate(qid=self.task.id, source=source)

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates whose verdicts are wanted."""
        # Without a linter's result, infrastructure failed, and the official completion cannot be judged.
        # With inputs, its answers give the official reading, even if a person finds no program in the reply.
        needs_completion = self.lint is not None and (self.has_inputs or not self.program.is_missing)
        candidates = [self.completion] if needs_completion else []
        return candidates if self.recovered_completion is None else [*candidates, self.recovered_completion]

    @property
    def has_inputs(self) -> bool:
        """Whether the data has the inputs for its program, and no tests."""
        return self.task.cases is not None

    @property
    def readings(self) -> Readings | None:
        """Both readings, if the task has inputs and they are known.

        Of a task that is not judged, careful says so, and what it has found (`calls`, `right_outputs`) is left out.
        """
        readings = self._combined_readings
        if readings is None or not self.verdicts.not_judged:
            return readings
        careful = not_judged_reading(self.verdicts.not_judged)
        return msgspec.structs.replace(readings, careful=careful, calls=msgspec.UNSET, right_outputs=[])

    @property
    def _combined_readings(self) -> Readings | None:
        """The careful part is that of the recovered program, unless only the official completion passes."""
        official, recovered_verdict = self.verdicts.completion.readings, self.verdicts.recovered_completion
        recovered = None if recovered_verdict is None else recovered_verdict.readings
        if official is None or recovered is None:
            return official
        # Without official code, the official completion has nothing that the model wrote: its pass is an accident.
        if self.program.has_official_code and official.careful.credit and not recovered.careful.credit:
            return official
        unscored = False, False
        passes_base = (official.base or unscored)[0], (recovered.base or unscored)[1]
        return msgspec.structs.replace(
            recovered,
            official=official.official,
            official_text=official.official_text,
            seconds=official.seconds,
            base=passes_base if official.base or recovered.base else None,
        )

    @property
    def is_refused(self) -> bool:
        """Whether the linter rejected the program, so that it does not run."""
        return self.lint is not None and bool(self.lint.messages or self.lint.broken)

    @property
    def seconds(self) -> float:
        """Wall time in which the candidate answered."""
        judgement = self.verdicts.completion.judgement
        return judgement.evidence.wall if judgement is not None else 0.0

    @property
    def official_observation(self) -> Executed | None:
        """All observations of the official run; None if they do not suffice for a verdict."""
        if self.is_refused:
            return Executed(lint=self.lint)
        run = self.official_run
        # The official job lints a program itself if infrastructure failed to lint it before.
        return None if run is None else Executed(lint=self.lint or run.lint, run=run.run)


def assemble_samples(
    tasks: Mapping[str, CodeTask],
    predictions: Mapping[str, list[str]],
    protocol: ExecutionProtocol,
    assemble: Callable[[str, str, Rules, tuple[str, ...], str | None], Program] = assemble,
) -> Iterator[Sample]:
    """Assemble every prediction, lazily; equal texts of a task are assembled once."""
    for qid, texts in predictions.items():
        task = tasks[qid]
        programs: dict[str, Program] = {}
        for number, text in enumerate(texts):
            if text not in programs:
                programs[text] = assemble(text, *assembly_arguments(task, protocol))
            yield Sample(task, number, programs[text])


def assembly_arguments(task: CodeTask, protocol: ExecutionProtocol) -> tuple[str, Rules, tuple[str, ...], str | None]:
    """Return the arguments of `assemble` after the prediction."""
    prelude = None if task.cases is None else protocol.prelude
    return task.signature_text, protocol.assembly, task.names_to_define, prelude
