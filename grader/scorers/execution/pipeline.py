"""From candidates to verdicts: calls, answers, judge. No test runs while a candidate's verdict is open.

The calls of a task are known without any candidate: its tests are recorded, or its inputs are read. Every candidate
answers them, without any test or expected answer. Then the judge decides about all answers, without any candidate.

Of a slow program with inputs, the first answers are compared before it answers more. A comparison runs no program, and
has ended before one runs in its sandbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.execution.answering import Answering, Tools
from grader.scorers.execution.calls import CallList
from grader.scorers.execution.inputs.input_tasks import InputTasks
from grader.scorers.execution.known_tasks import KnownTasks
from grader.scorers.execution.tested_tasks import TestedTasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.sandbox.interface import Limits
    from grader.scorers.execution.candidate import Candidate, Verdict
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.settling import Settler
    from grader.scorers.execution.spool import Spool
    from grader.scorers.execution.tasks import CodeTask


class Pipeline:
    """Finds the verdicts of candidates, phase by phase."""

    def __init__(
        self,
        tasks: Mapping[str, CodeTask],
        settler: Settler,
        spool: Spool,
        limits: Limits,
        protocol: ExecutionProtocol,
        *,
        known: KnownTasks | None = None,
        each: bool | None = None,
        shown: bool = False,
    ) -> None:
        """`known`: what is already known of tasks. `each`, `shown`: see `TestedTasks` and `InputTasks`."""
        self._tasks = tasks
        self.known = KnownTasks(spool) if known is None else known
        tools = Tools(tasks, settler, spool, limits, protocol, Answering(settler, spool), self.known)
        self.tested, self.inputs = TestedTasks(tools, each=each), InputTasks(tools, shown=shown)
        self._wanted: list[str] = []
        """The tasks of the candidates whose verdicts were asked for."""

    def _of(self, qid: str) -> TestedTasks | InputTasks:
        return self.tested if self._tasks[qid].cases is None else self.inputs

    def record(self, qids: Iterable[str], *, refuse_all: bool = True) -> None:
        """Find out the calls of these tasks, and let their reference solutions answer, if that is not known.

        `refuse_all`: if every reference solution fails, raise InputError: then the data is wrong, or the sandbox.
        """
        every = dict.fromkeys(qids)
        for kind in (self.tested, self.inputs):
            kind.record([qid for qid in every if self._of(qid) is kind], refuse_all=refuse_all)

    def answer(self, candidates: Iterable[Candidate]) -> None:
        """Let candidates answer the calls of their tasks."""
        every = list(candidates)
        for kind in (self.tested, self.inputs):
            kind.answer([c for c in every if self._of(c.qid) is kind])

    def judge(self, candidates: Iterable[Candidate]) -> dict[Candidate, Verdict]:
        """Return the verdicts of candidates that have been asked, from their answers."""
        verdicts: dict[Candidate, Verdict] = {}
        every = list(candidates)
        for kind in (self.tested, self.inputs):
            verdicts |= kind.judge([c for c in every if self._of(c.qid) is kind])
        return verdicts

    def verdicts(self, candidates: Iterable[Candidate], qids: Iterable[str] = ()) -> dict[Candidate, Verdict]:
        """Return every candidate's verdict: calls, answers, judge. `qids`: tasks that may have no candidate."""
        every = list(dict.fromkeys(candidates))
        self._wanted = list(dict.fromkeys(candidate.qid for candidate in every))
        self.record([*qids, *self._wanted])
        self.answer(every)
        return self.judge(every)

    @property
    def without_reference(self) -> list[str]:
        """Tasks with tests and candidates that have no reference solution."""
        calls = self.known.calls
        return [q for q in self._wanted if self._tasks[q].solution is None and isinstance(calls.get(q), CallList)]
