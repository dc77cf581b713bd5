"""What is known of a benchmark's tasks before any sample is graded: their calls, and the reference's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.sandbox.answer import Answers
    from grader.scorers.execution.calls import CallList, NotJudged, Reordered
    from grader.scorers.execution.inputs.cases import Expected
    from grader.scorers.execution.spool import Spool, StoredAnswers


class Reference(NamedTuple):
    """A reference solution that passes its tests, and what it answered."""

    runs: Sequence[StoredAnswers]
    other: Reordered | None = None
    """The calls in another order, if programs have to answer them as well."""
    again: StoredAnswers | None = None
    """What it answered to these."""


class KnownTasks:
    """The calls and references of tasks, kept as long as their samples are graded."""

    def __init__(self, spool: Spool) -> None:
        """`spool` keeps the answers of references."""
        self.spool = spool
        self.calls: dict[str, CallList | NotJudged] = {}
        """Task with tests -> its calls."""
        self.references: dict[str, Reference] = {}
        self.expected: dict[str, Expected] = {}
        """Task with inputs and without outputs -> what its reference solution answered."""
        self.broken: dict[str, str] = {}
        """Task -> why its reference solution fails, in one process with its tests and apart from them."""

    def keep(
        self, qid: str, runs: Sequence[Answers | None], other: Reordered | None = None, again: Answers | None = None
    ) -> None:
        """Keep the answers of each run of a task's reference solution, and those in another order."""
        kept = [
            self.spool.put(f"reference {number} {qid}", answers)
            for number, answers in enumerate((*runs, again))
            if answers is not None and answers.said
        ]
        has_again = again is not None and again.said != b""
        if has_again:
            self.references[qid] = Reference(kept[:-1], other, kept[-1])
        elif kept:
            self.references[qid] = Reference(kept)

    def other(self, qid: str) -> Reordered | None:
        """Return a task's calls in another order, if programs have to answer them as well."""
        return self.references[qid].other if qid in self.references else None

    def expected_answers(self, qid: str) -> list[Answers]:
        """Return what a task's reference solution answered each time; nothing if there is none that passes."""
        return [self.spool.get(kept) for kept in self.references[qid].runs] if qid in self.references else []

    def is_known(self, qid: str) -> bool:
        """Whether a task's calls, or its expected answers, have been found out."""
        return qid in self.calls or qid in self.expected or qid in self.broken

    def forget(self, qid: str) -> None:
        """Forget a task."""
        if (reference := self.references.pop(qid, None)) is not None:
            for kept in filter(None, (*reference.runs, reference.again)):
                self.spool.forget(kept.key)
        for table in (self.calls, self.expected, self.broken):
            table.pop(qid, None)
