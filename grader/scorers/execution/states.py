"""What is known of a task before any sample is graded: one state. Only a judgeable task has calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.scorers.execution.inputs.cases import ExpectedAnswers
    from grader.scorers.execution.spool import Spool, StoredAnswers


NOTHING_TO_COMPARE = (
    "the reference solution returns nothing, prints nothing and changes no argument, so nothing can be compared"
)


class Judgeable(NamedTuple):
    """A task whose programs are judged: their calls, and the expected answers."""

    calls: Sequence[str]
    """Messages (grade_sandbox/values.py), or texts of the standard input."""
    names: Mapping[str, str] = {}
    """Names that the tests use and nobody else defines -> how they are found."""
    expected_runs: Sequence[StoredAnswers] = ()
    """With tests: what the reference solution answered each time, or what the tests compare answers with."""
    expected_outputs: ExpectedAnswers | None = None
    """With inputs: what is expected."""
    has_no_reference: bool = False
    """Whether no reference solution passes: then what the tests compare answers with is expected."""
    reference_failure: str = ""
    """Why the reference solution fails, in one process with its tests and apart from them."""


class NotJudgeable(NamedTuple):
    """A task that is outside the careful reading."""

    reason: str
    reference_failure: str = ""
    """As in `Judgeable`."""
    official: Judgeable | None = None
    """With inputs: by which the official reading is reached all the same."""


class BrokenReference(NamedTuple):
    """A task whose reference solution gives no expected answers, so that its samples are unscored."""

    reason: str


class NotPrepared(NamedTuple):
    """A task whose state is unknown, because the infrastructure failed: trying again may succeed."""

    reason: str


State = Judgeable | NotJudgeable | BrokenReference | NotPrepared


class States(dict[str, State]):
    """Task -> its state. The answers of reference solutions are in a spool that lives as long."""

    def __init__(self, spool: Spool) -> None:
        super().__init__()
        self.spool = spool

    def judgeable(self, qid: str) -> Judgeable | None:
        """Return a task's calls and expected answers, if it has some; perhaps for the official reading only."""
        state = self.get(qid)
        if isinstance(state, NotJudgeable):
            return state.official
        return state if isinstance(state, Judgeable) else None

    def reasons(self, kind: type[NotJudgeable | BrokenReference | NotPrepared]) -> dict[str, str]:
        """Return the tasks with a kind of state, and why they have it."""
        return {qid: state.reason for qid, state in self.items() if isinstance(state, kind)}

    @property
    def reference_failures(self) -> dict[str, str]:
        """The tasks whose reference solution fails, and why."""
        failures = self.reasons(BrokenReference)
        for qid, state in self.items():
            if isinstance(state, (Judgeable, NotJudgeable)) and state.reference_failure:
                failures[qid] = state.reference_failure
        return failures

    def forget(self, qid: str) -> None:
        """Forget a task."""
        state = self.pop(qid, None)
        for answers in state.expected_runs if isinstance(state, Judgeable) else ():
            self.spool.forget(answers.key)
