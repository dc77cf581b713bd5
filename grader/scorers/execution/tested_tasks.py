"""Tasks with tests: their calls are recorded beside the reference solution, and answers are judged by the tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError
from grader.results import Calls
from grader.sandbox import values
from grader.sandbox.answer import NOTHING_DONE, Answers, Executed, Judgement, Likeness, Recorded
from grader.scorers.execution import jobs
from grader.scorers.execution.answering import AnswerRequest
from grader.scorers.execution.assembly import Program
from grader.scorers.execution.candidate import Candidate, Verdict
from grader.scorers.execution.reference_runs import can_vary
from grader.scorers.execution.states import SILENT, Judged, Lost, NotJudged, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grade_sandbox.jobs import Job

    from grader.sandbox.answer import ProcessEvidence
    from grader.scorers.execution.answering import Tools
    from grader.scorers.execution.settling import Made
    from grader.scorers.execution.spool import StoredAnswers

NOT_APART = "the reference solution passes in one process with its tests, but not apart from them"
UNFINISHED = "recording the calls of its tests did not finish"
MEMORY = "it needs more memory than the limit, so give more with --memory"
FEW_ANSWERS = 64
"""If a program has used up its time after more answers than this, it may have needed it to send them."""
HASH_SEEDS = 0, 1


class TestedTasks:
    """The calls and the judge of tasks with tests."""

    def __init__(self, tools: Tools, *, each: bool | None = None) -> None:
        """`each`: of candidates that fail, find out which assertions hold; None: if the tests are a list of them."""
        self._tasks, self._settler, self._spool, self._limits, self._protocol, self._answering, self._states = tools
        self._each = each
        self._judgements: dict[str, Judgement] = {}

    # --- calls ---

    def prepare(self, qids: Iterable[str], *, refuse_all: bool) -> None:
        """Find out the state of each of these tasks.

        `refuse_all`: if every reference solution fails, raise InputError: then the data is wrong, or the sandbox.
        """
        every = list(qids)
        found = self._record(every, alone=False)
        beside = {qid: state for qid, state in found.items() if isinstance(state, Judged) and not state.is_weak}
        found |= self._answer_references(beside)
        failed = {qid: state.why for qid, state in found.items() if isinstance(state, _Failed)}
        found |= self._settle_failed(failed)
        self._states.update({qid: state for qid, state in found.items() if not isinstance(state, _Failed)})
        if refuse_all:
            self._check_references(every)

    def _record(self, qids: Iterable[str], *, alone: bool) -> dict[str, State | _Failed]:
        """Record the calls of tasks; `alone`: without their reference solutions."""
        made = {qid: jobs.record_job(self._tasks[qid], self._limits, alone=alone) for qid in qids}
        found: dict[str, State | _Failed] = {}
        for qid, result in self._results("recording calls", made).items():
            if isinstance(result, str) or result.record is None:
                found[qid] = Lost(result if isinstance(result, str) else "it was not recorded")
            elif result.record.recorded is None:
                is_beside = self._tasks[qid].reference is not None and not alone
                found[qid] = _Failed(_stop_words(result.record.evidence)) if is_beside else NotJudged(UNFINISHED)
            else:
                found[qid] = self._state(qid, result.record.recorded)
        return found

    def _state(self, qid: str, recorded: Recorded) -> State | _Failed:
        if recorded.failed:
            return _Failed(recorded.failed)
        if recorded.refused or not recorded.calls:
            return NotJudged(recorded.refused)
        if not recorded.expected:
            return Judged(recorded.calls, recorded.names)
        hello = values.hello(self._tasks[qid].signature.required)
        said = "\n".join([hello, *recorded.expected]).encode()
        kept = self._states.spool.put(f"expected {qid}", Answers(evidence=NOTHING_DONE, transcript=said))
        return Judged(recorded.calls, recorded.names, [kept], is_weak=True)

    def _results(self, phase: str, made: Mapping[str, Job]) -> dict[str, Executed | str]:
        """Run a job of each task; return the results by task."""
        keys = {qid: self._settler.key(job) for qid, job in made.items()}
        found = dict(self._settler.settle(phase, [(keys[qid], job) for qid, job in made.items()]))
        return {qid: found.get(key, "it was not run") for qid, key in keys.items()}

    def _answer_references(self, states: Mapping[str, Judged]) -> dict[str, State | _Failed]:
        """Let reference solutions answer apart from their tests, and let these judge the answers."""
        runs = {qid: self._references(qid, state) for qid, state in states.items()}
        asked = [self._request(run, states[run.qid]) for each in runs.values() for run in each]
        self._answering.run("running references", asked)
        verdicts = self.judge([run for each in runs.values() for run in each], states)
        found: dict[str, State | _Failed] = {}
        for qid, each in runs.items():
            of_runs = [verdicts[run] for run in each]
            failed = next((verdict for verdict in of_runs if not _passes(verdict)), None)
            if failed is not None:
                found[qid] = Lost(failed.lost) if failed.lost else _Failed(_why(failed))
            elif (likeness := of_runs[0].judgement and of_runs[0].judgement.likeness) and likeness.is_silent:
                found[qid] = NotJudged(SILENT)
            else:
                kept = [self._states.spool.put(f"reference {run.hash_seed} {qid}", self._answers(run)) for run in each]
                found[qid] = states[qid]._replace(runs=kept)
        return found

    def _references(self, qid: str, state: Judged) -> list[Candidate]:
        """Return a reference solution; with two hash seeds if its answers may depend on it."""
        task = self._tasks[qid]
        source = task.reference or ""
        seeds = HASH_SEEDS if can_vary(f"{task.signature.source}\n{source}", state.calls) else HASH_SEEDS[:1]
        return [Candidate(qid=qid, source=source, role="reference", hash_seed=seed) for seed in seeds]

    def _settle_failed(self, failed: Mapping[str, str]) -> dict[str, State | _Failed]:
        """Settle tasks whose reference solution fails: if it passes officially, careful cannot judge such tests.

        If it does not, it is wrong, and the task is judged as one without.
        """
        found: dict[str, State | _Failed] = {}
        made = {qid: self._official_job(qid) for qid in failed}
        for qid, result in self._results("running references officially", made).items():
            if isinstance(result, str):
                found[qid] = Lost(result)
            elif result.is_success:
                found[qid] = NotJudged(f"{NOT_APART}: {failed[qid]}")
        wrong = [qid for qid in failed if qid not in found]
        for qid, state in self._record(wrong, alone=True).items():
            found[qid] = state
            if isinstance(state, (Judged, NotJudged)):
                found[qid] = state._replace(broken=failed[qid])
        return found

    def _official_job(self, qid: str) -> Job:
        task = self._tasks[qid]
        attempt = jobs.Attempt(task=task, sample=0, program=Program(completion=task.reference or ""))
        return jobs.run_job(attempt, self._protocol, self._limits, gated=True)

    def _check_references(self, qids: Sequence[str]) -> None:
        with_solution = [qid for qid in qids if self._tasks[qid].solution is not None]
        failed = {qid: why for qid, why in self._states.broken.items() if qid in with_solution}
        if len(with_solution) > 1 and len(failed) == len(with_solution):
            first = min(failed)
            raise InputError(
                [
                    f"None of the {len(with_solution)} reference solutions passes its task's tests. Is the column with "
                    f"the solutions the right one? The first failure: {first}: {failed[first]}"
                ]
            )

    # --- answers ---

    def answer(self, candidates: Iterable[Candidate]) -> None:
        """Let candidates answer the calls of their tasks."""
        asked = [self._request(one, state) for one in candidates if isinstance(state := self._of(one), Judged)]
        self._answering.run("answering", asked)

    def _of(self, candidate: Candidate) -> State | None:
        return self._states.get(candidate.qid)

    def _request(self, candidate: Candidate, state: Judged) -> AnswerRequest:
        task = self._tasks[candidate.qid]

        def job(calls: Sequence[str]) -> Job:
            made = jobs.answer_job(task, candidate.source, calls, state.names, self._limits)
            return jobs.reseeded(made, candidate.hash_seed)

        return AnswerRequest(candidate, state.calls, job)

    def _stored(self, candidate: Candidate) -> StoredAnswers:
        return self._answering.found[candidate].answers[0]

    def _answers(self, candidate: Candidate) -> Answers:
        return self._spool.get(self._stored(candidate))

    # --- verdicts ---

    def judge(
        self, candidates: Iterable[Candidate], references: Mapping[str, Judged] | None = None
    ) -> dict[Candidate, Verdict]:
        """Return the verdicts on candidates that have been asked. Equal answers are judged once.

        `references`: the states of tasks whose reference solutions are to be judged.
        """
        asked = [candidate for candidate in candidates if candidate in self._answering.found]
        verdicts = {c: verdict for c in asked if (verdict := self._missing(c)) is not None}
        if references is None:
            same = (c for c in asked if c not in verdicts and self._is_expected(c))
            verdicts |= {c: self._as_expected(c) for c in same}
        items = [(*self._judge_job(c, references), c) for c in asked if c not in verdicts]
        lost: dict[str, str] = {}
        new = [(key, made) for key, made, _ in items if key not in self._judgements]
        phase = "judging" if references is None else "judging references"
        for key, result in self._settler.settle(phase, new, passed=len(asked) - len(items)):
            if isinstance(result, str):
                lost[key] = result
            elif result.judge is not None:
                self._judgements[key] = result.judge
        for key, _, candidate in items:
            judged = self._judgements.get(key)
            why = lost.get(key, "it was not judged")
            verdicts[candidate] = Verdict(lost=why) if judged is None else _verdict(judged, self._stored(candidate))
        return verdicts

    def _missing(self, candidate: Candidate) -> Verdict | None:
        """Return the verdict on a candidate without answers; None if it has all of them."""
        found = self._answering.found[candidate]
        return None if found.answers else Verdict(lost=found.lost)

    def _is_expected(self, candidate: Candidate) -> bool:
        """Whether a candidate's answers are the expected ones, byte for byte. Then no test runs."""
        state = self._of(candidate)
        return isinstance(state, Judged) and self._stored(candidate).digest in {run.digest for run in state.runs}

    def _as_expected(self, candidate: Candidate) -> Verdict:
        state = self._of(candidate)
        assert isinstance(state, Judged)
        likeness = Likeness(calls=Calls(n=len(state.calls), same=len(state.calls)))
        return Verdict(
            judgement=Judgement(evidence=self._stored(candidate).evidence, confirmed=True, likeness=likeness)
        )

    def _judge_job(self, candidate: Candidate, references: Mapping[str, Judged] | None) -> tuple[str, Made]:
        """Return the job that judges a candidate: its key, and what makes it; see `judge`."""
        task, kept = self._tasks[candidate.qid], self._stored(candidate)
        state = self._of(candidate) if references is None else references[candidate.qid]
        assert isinstance(state, Judged)
        is_reference = references is not None
        each = False if is_reference else task.lists_tests if self._each is None else self._each

        job = jobs.judge_job(task, state, self._limits, is_reference=is_reference, each=each)

        def make() -> Job:
            said = self._spool.get(kept).transcript
            expected = [said] if is_reference else [self._states.spool.get(run).transcript for run in state.runs]
            return jobs.with_answers(job, said, expected)

        of = {"transcript": kept.digest, "expected": [run.digest for run in state.runs]}
        return self._settler.key({**job, "of": of}), make


class _Failed(msgspec.Struct, frozen=True):
    """A task whose reference solution fails its tests; what follows is open."""

    why: str


def _why(verdict: Verdict) -> str:
    """Return why a reference solution does not pass."""
    judgement = verdict.judgement
    if judgement is None:
        return verdict.lost
    return MEMORY if "MemoryError" in judgement.reason else judgement.reason or _stop_words(judgement.evidence)


def _stop_words(evidence: ProcessEvidence) -> str:
    """Return what stopped a reference solution."""
    if evidence.stopped in {"memory", "shared"} or evidence.oom:
        return MEMORY
    return _STOPPED.get(evidence.stopped or "", f"its process ended with status {evidence.status}")


_STOPPED = {
    "cpu": "it used all of its CPU time",
    "blocked": "it waited without working",
    "wall": "it did not finish in time",
    "garbage": "it wrote something other than a result, or one that is too long",
}


def _passes(verdict: Verdict) -> bool:
    return verdict.judgement is not None and verdict.judgement.confirmed


def _verdict(judged: Judgement, answers: StoredAnswers) -> Verdict:
    """Return the verdict of the tests."""
    return Verdict(judgement=_with_evidence(judged, answers), is_late=_is_late(judged, answers))


def _with_evidence(judged: Judgement, answers: StoredAnswers) -> Judgement:
    """Return a verdict with the evidence on the candidate: why its process ended, and its resource use."""
    if judged.confirmed:
        return msgspec.structs.replace(judged, evidence=answers.evidence)
    if judged.evidence.stopped is not None:
        return msgspec.structs.replace(judged, reason="judging its answers did not finish", kind="unconfirmed")
    if answers.evidence.stopped is not None and judged.kind in {"unconfirmed", "waiting", "diverged", "ended"}:
        return Judgement(evidence=answers.evidence, right=judged.right)
    return msgspec.structs.replace(judged, evidence=answers.evidence)


def _is_late(judged: Judgement, answers: StoredAnswers) -> bool:
    """Whether a program ran out of time in the very call that its tests have reached."""
    is_late = answers.evidence.stopped in {"cpu", "blocked"} and not answers.evidence.oom and not answers.unsure
    return is_late and judged.kind == "waiting" and answers.replies <= FEW_ANSWERS


ABSENT = "No module named "
"""What Python says of a module that is not there, before its name in quotes."""
_MISSING = re.compile(rf"{ABSENT}'([\w.]+)'")


def lacking(states: Mapping[str, State]) -> dict[str, str]:
    """Return the tasks whose tests or reference solution need a module that the sandbox does not have, and its name."""
    why = {qid: state.broken if isinstance(state, Judged) else state.why for qid, state in states.items()}
    found = {qid: _MISSING.search(text) for qid, text in why.items()}
    return {qid: match[1] for qid, match in found.items() if match is not None}
