"""From candidates to verdicts: calls, answers, judge. No test runs while a candidate's verdict is open.

`prepare` determines the state of each task without any candidate: its tests are recorded beside the reference solution,
or its inputs are read. Every candidate answers the calls, without any test or expected answer. Then the judge decides
about all answers, without any candidate.

Of a slow program with inputs, the first answers are compared before it answers more. A comparison runs no program, and
has ended before one runs in its sandbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.execution.answering import AnswerCollector, Context
from grader.scorers.execution.inputs.input_tasks import InputTasks
from grader.scorers.execution.states import States
from grader.scorers.execution.tested_tasks import TestedTasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.sandbox.interface import Limits
    from grader.scorers.execution.candidate import Candidate, Verdict
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.job_runner import JobRunner
    from grader.scorers.execution.spool import Spool
    from grader.scorers.execution.tasks import CodeTask


class Pipeline:
    """Reaches the verdicts of candidates, phase by phase."""

    def __init__(
        self,
        tasks: Mapping[str, CodeTask],
        runner: JobRunner,
        spool: Spool,
        limits: Limits,
        protocol: ExecutionProtocol,
        *,
        states: States | None = None,
        judges_assertions: bool | None = None,
        keeps_outputs: bool = False,
    ) -> None:
        """`states`: what is already known of tasks. The other options: see `TestedTasks` and `InputTasks`."""
        self.states = States(spool) if states is None else states
        collector = AnswerCollector(runner, spool)
        self.context = Context(tasks, runner, spool, limits, protocol, collector, self.states)
        self._tested = TestedTasks(self.context, judges_assertions=judges_assertions)
        self.inputs = InputTasks(self.context, keeps_outputs=keeps_outputs)

    def _judge_of(self, qid: str) -> TestedTasks | InputTasks:
        return self._tested if self.context.tasks[qid].cases is None else self.inputs

    def prepare(self, qids: Iterable[str], *, refuse_if_all_fail: bool = True) -> None:
        """Determine the states of these tasks that are unknown.

        `refuse_if_all_fail`: raise InputError if every reference solution fails: then the data or the sandbox is wrong.
        """
        unknown = [qid for qid in dict.fromkeys(qids) if qid not in self.states]
        for judge in (self._tested, self.inputs):
            if members := [qid for qid in unknown if self._judge_of(qid) is judge]:
                judge.prepare(members, refuse_if_all_fail=refuse_if_all_fail)

    def verdicts(self, candidates: Iterable[Candidate]) -> dict[Candidate, Verdict]:
        """Return every candidate's verdict. The last candidate has answered before the first is judged."""
        candidates = list(dict.fromkeys(candidates))
        self.prepare(candidate.qid for candidate in candidates)
        tested = [candidate for candidate in candidates if self._judge_of(candidate.qid) is self._tested]
        with_inputs = [candidate for candidate in candidates if self._judge_of(candidate.qid) is self.inputs]
        self._tested.answer(tested)
        self.inputs.answer(with_inputs)
        return self._tested.judge(tested) | self.inputs.judge(with_inputs)
