"""What is known of a task before any sample is graded: one state. Only a judged task has calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.scorers.execution.inputs.cases import Expected
    from grader.scorers.execution.spool import Spool, StoredAnswers


SILENT = "the reference solution returns nothing, prints nothing and changes no argument, so nothing can be compared"


class Judged(NamedTuple):
    """A task whose programs are judged: their calls, and the expected answers."""

    calls: Sequence[str]
    """Messages (grade_sandbox/values.py), or texts of the standard input."""
    names: Mapping[str, str] = {}
    """Names that the tests use and nobody else defines -> how they are found."""
    runs: Sequence[StoredAnswers] = ()
    """With tests: what the reference solution answered each time, or what the tests compare answers with."""
    outputs: Expected | None = None
    """With inputs: what is expected."""
    is_weak: bool = False
    """Whether there is no reference solution that passes: then what the tests compare answers with is expected."""
    broken: str = ""
    """Why the reference solution fails, in one process with its tests and apart from them."""


class NotJudged(NamedTuple):
    """A task that is outside the careful reading."""

    why: str
    broken: str = ""
    """As in `Judged`."""
    official: Judged | None = None
    """With inputs: by which the official reading is reached all the same."""


class Broken(NamedTuple):
    """A task whose reference solution gives no expected answers, so that its samples are unscored."""

    why: str


class Lost(NamedTuple):
    """A task whose state is unknown, because the infrastructure failed: trying again may succeed."""

    why: str


State = Judged | NotJudged | Broken | Lost


def _broken(state: State) -> str:
    return state.broken if isinstance(state, (Judged, NotJudged)) else ""


class States(dict[str, State]):
    """Task -> its state. The answers of reference solutions are in a spool that lives as long."""

    def __init__(self, spool: Spool) -> None:
        super().__init__()
        self.spool = spool

    def judged(self, qid: str) -> Judged | None:
        """Return a task's calls and expected answers, if it has some."""
        state = self.get(qid)
        return state.official if isinstance(state, NotJudged) else state if isinstance(state, Judged) else None

    def why(self, kind: type[NotJudged | Broken | Lost]) -> dict[str, str]:
        """Return the tasks with a kind of state, and why."""
        return {qid: state.why for qid, state in self.items() if isinstance(state, kind)}

    @property
    def broken(self) -> dict[str, str]:
        """The tasks whose reference solution fails, and why."""
        found = {qid: state.why if isinstance(state, Broken) else _broken(state) for qid, state in self.items()}
        return {qid: why for qid, why in found.items() if why}

    def forget(self, qid: str) -> None:
        """Forget a task."""
        state = self.pop(qid, None)
        for kept in state.runs if isinstance(state, Judged) else ():
            self.spool.forget(kept.key)
