"""From candidates to verdicts: calls, answers, judge. No test runs while a candidate's verdict is open.

`prepare` finds out the state of each task without any candidate: its tests are recorded beside the reference solution,
or its inputs are read. Every candidate answers the calls, without any test or expected answer. Then the judge decides
about all answers, without any candidate.

Of a slow program with inputs, the first answers are compared before it answers more. A comparison runs no program, and
has ended before one runs in its sandbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.execution.answering import Answering, Tools
from grader.scorers.execution.inputs.input_tasks import InputTasks
from grader.scorers.execution.states import Judged, States
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
        states: States | None = None,
        each: bool | None = None,
        shown: bool = False,
    ) -> None:
        """`states`: what is already known of tasks. `each`, `shown`: see `TestedTasks` and `InputTasks`."""
        self._tasks = tasks
        self.states = States(spool) if states is None else states
        tools = Tools(tasks, settler, spool, limits, protocol, Answering(settler, spool), self.states)
        self.tested, self.inputs = TestedTasks(tools, each=each), InputTasks(tools, shown=shown)
        self._wanted: list[str] = []
        """The tasks of the candidates whose verdicts were asked for."""

    def _of(self, qid: str) -> TestedTasks | InputTasks:
        return self.tested if self._tasks[qid].cases is None else self.inputs

    def prepare(self, qids: Iterable[str], *, refuse_all: bool = True) -> None:
        """Find out the states of these tasks that are unknown.

        `refuse_all`: if every reference solution fails, raise InputError: then the data is wrong, or the sandbox.
        """
        every = [qid for qid in dict.fromkeys(qids) if qid not in self.states]
        for kind in (self.tested, self.inputs):
            mine = [qid for qid in every if self._of(qid) is kind]
            if mine:
                kind.prepare(mine, refuse_all=refuse_all)

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

    def verdicts(self, candidates: Iterable[Candidate]) -> dict[Candidate, Verdict]:
        """Return every candidate's verdict: calls, answers, judge."""
        every = list(dict.fromkeys(candidates))
        self._wanted = list(dict.fromkeys(candidate.qid for candidate in every))
        self.prepare(self._wanted)
        self.answer(every)
        return self.judge(every)

    @property
    def without_reference(self) -> list[str]:
        """Tasks with candidates that are judged by what their tests compare answers with."""
        states = {qid: self.states.get(qid) for qid in self._wanted}
        return [q for q, state in states.items() if isinstance(state, Judged) and state.is_weak and not state.broken]
