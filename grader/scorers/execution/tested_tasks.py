"""Tasks with tests: their calls are recorded beside the reference solution, and answers are judged by the tests."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError
from grader.results import Calls
from grader.sandbox import values
from grader.sandbox.answer import NOTHING_DONE, Answers, Executed, Judgement, Likeness, Recorded
from grader.scorers.execution import jobs
from grader.scorers.execution.answering import AnswerRequest
from grader.scorers.execution.candidate import Verdict
from grader.scorers.execution.reference_runs import asks_for_time, reference_candidates
from grader.scorers.execution.states import NOTHING_TO_COMPARE, Judgeable, NotJudgeable, NotPrepared, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grade_sandbox.jobs import Job

    from grader.sandbox.answer import ProcessEvidence
    from grader.scorers.execution.answering import Context
    from grader.scorers.execution.candidate import Candidate
    from grader.scorers.execution.job_runner import JobOrFactory
    from grader.scorers.execution.spool import StoredAnswers

NOT_APART = "the reference solution passes in one process with its tests, but not apart from them"
ASKS_FOR_TIME = "its tests ask what time it is, and no reference solution shows whether later answers pass, too"
NEXT_SECOND = 1.1
"""Seconds until every clock shows another second."""
UNFINISHED = "recording the calls of its tests did not finish"
MEMORY = "it needs more memory than the limit, so give more with --memory"
FEW_ANSWERS = 64
"""If a program has used up its time after more answers than this, it may have needed it to send them."""


class _ReferenceFailed(msgspec.Struct, frozen=True):
    """A task whose reference solution fails its tests; what follows is open."""

    reason: str


class TestedTasks:
    """The calls and the judge of tasks with tests."""

    def __init__(self, context: Context, *, judges_assertions: bool | None = None) -> None:
        """`judges_assertions`: of candidates that fail, find out which assertions hold.

        None: of tasks whose tests are a list of assertions.
        """
        self._tasks, self._runner, self._spool, self._limits, self._protocol, self._collector, self._states = context
        self._judges_assertions = judges_assertions
        self._judgements: dict[str, Judgement] = {}
        """By the key of the judge's job: equal answers are judged once."""

    # --- calls ---

    def prepare(self, qids: Iterable[str], *, refuse_if_all_fail: bool) -> None:
        """Determine the state of each of these tasks.

        `refuse_if_all_fail`: raise InputError if every reference solution fails: then the data or the sandbox is wrong.
        """
        qids = list(qids)
        states = self._record_calls(qids, with_references=True)
        with_reference = {
            qid: state for qid, state in states.items() if isinstance(state, Judgeable) and not state.has_no_reference
        }
        states |= self._check_references(with_reference)
        failures = {qid: state.reason for qid, state in states.items() if isinstance(state, _ReferenceFailed)}
        # Afterwards none is left: a recording without the reference solution does not fail so.
        states |= self._prepare_after_failures(failures)
        self._states.update({qid: state for qid, state in states.items() if not isinstance(state, _ReferenceFailed)})
        if refuse_if_all_fail:
            self._refuse_if_all_failed(qids)

    def _record_calls(self, qids: Iterable[str], *, with_references: bool) -> dict[str, State | _ReferenceFailed]:
        """Record the calls of tasks, beside their reference solutions or without them; return their states.

        `_ReferenceFailed`: to be recorded again without the reference solution.
        """
        record_jobs = {
            qid: jobs.record_job(self._tasks[qid], self._limits, with_reference=with_references) for qid in qids
        }
        states: dict[str, State | _ReferenceFailed] = {}
        for qid, result in self._results("recording calls", record_jobs).items():
            if isinstance(result, str):  # why there is no result
                states[qid] = NotPrepared(result)
            elif result.record is None:
                states[qid] = NotPrepared("it was not recorded")
            elif result.record.recorded is not None:
                states[qid] = self._state_from_recording(qid, result.record.recorded)
            elif with_references and self._tasks[qid].reference is not None:
                states[qid] = _ReferenceFailed(_describe_stop(result.record.evidence))
            else:
                states[qid] = NotJudgeable(UNFINISHED)
        return states

    def _state_from_recording(self, qid: str, recorded: Recorded) -> State | _ReferenceFailed:
        """Return the state of a task whose calls are known.

        Without a reference solution, programs are judged by the values that the tests compare with
        (`recorded.expected`). They are stored as if a program had answered them.
        """
        if recorded.failed:
            return _ReferenceFailed(recorded.failed)
        if recorded.refused or not recorded.calls:
            return NotJudgeable(recorded.refused)
        if not recorded.expected:
            return Judgeable(recorded.calls, recorded.names)
        if asks_for_time(self._tasks[qid].tests):
            return NotJudgeable(ASKS_FOR_TIME)
        first_message = values.hello(self._tasks[qid].signature.required)
        messages = "\n".join([first_message, *recorded.expected]).encode()
        stored = self._states.spool.put(f"expected {qid}", Answers(evidence=NOTHING_DONE, transcript=messages))
        return Judgeable(recorded.calls, recorded.names, [stored], has_no_reference=True)

    def _results(self, phase: str, jobs_by_qid: Mapping[str, Job]) -> dict[str, Executed | str]:
        """Run a job of each task; return the results by task."""
        keys = {qid: self._runner.key(job) for qid, job in jobs_by_qid.items()}
        results = dict(self._runner.run(phase, [(keys[qid], job) for qid, job in jobs_by_qid.items()]))
        return {qid: results.get(key, "it was not run") for qid, key in keys.items()}

    def _check_references(self, states: Mapping[str, Judgeable]) -> dict[str, State | _ReferenceFailed]:
        """Let reference solutions answer apart from their tests, and let these judge the answers.

        Return the states of their tasks, with the answers if they pass.
        """
        references = {qid: reference_candidates(self._tasks[qid]) for qid in states}
        candidates = [candidate for task_references in references.values() for candidate in task_references]
        self._collector.collect("running references", [self._answer_request(c, states[c.qid]) for c in candidates])
        if any(asks_for_time(self._tasks[qid].tests) for qid in states):
            # A program's answers may be judged long after they are given. Those of the reference must pass then, too.
            sleep(NEXT_SECOND)
        verdicts = self._judge(candidates, states)
        return {qid: self._state_from_verdicts(states[qid], runs, verdicts) for qid, runs in references.items()}

    def _state_from_verdicts(
        self, state: Judgeable, references: Sequence[Candidate], verdicts: Mapping[Candidate, Verdict]
    ) -> State | _ReferenceFailed:
        """Return the state of a task whose reference solution's runs are judged: with their answers, if it passes."""
        for reference in references:
            verdict = verdicts[reference]
            if verdict.infrastructure_error:
                return NotPrepared(verdict.infrastructure_error)
            if verdict.judgement is None or not verdict.judgement.confirmed:
                return _ReferenceFailed(_failure_reason(verdict))
        judgement = verdicts[references[0]].judgement
        assert judgement is not None
        if judgement.likeness is not None and judgement.likeness.has_nothing_to_compare:
            return NotJudgeable(NOTHING_TO_COMPARE)
        # Later calls of `ProgramScorer.score` need these answers, too, and each call has a spool of its own.
        long_lived_spool = self._states.spool
        runs = [
            long_lived_spool.put(f"reference {c.run} {c.qid}", self._spool.get(self._stored_answers(c)))
            for c in references
        ]
        return state._replace(expected_runs=runs)

    def _prepare_after_failures(self, failures: Mapping[str, str]) -> dict[str, State | _ReferenceFailed]:
        """Return the states of the tasks in `failures`: task -> why its reference solution fails.

        If it passes in one process with its tests, as officially, these can judge no program that runs apart from them.
        Else it is wrong, and the calls are recorded again without it.
        """
        states: dict[str, State | _ReferenceFailed] = {}
        official_jobs = {qid: self._official_job(qid) for qid in failures}
        for qid, result in self._results("running references officially", official_jobs).items():
            if isinstance(result, str):
                states[qid] = NotPrepared(result)
            elif result.is_success:
                states[qid] = NotJudgeable(f"{NOT_APART}: {failures[qid]}")
        wrong = [qid for qid in failures if qid not in states]
        for qid, state in self._record_calls(wrong, with_references=False).items():
            states[qid] = state
            if isinstance(state, (Judgeable, NotJudgeable)):
                states[qid] = state._replace(reference_failure=failures[qid])
        return states

    def _official_job(self, qid: str) -> Job:
        task = self._tasks[qid]
        return jobs.run_job(task, task.reference or "", self._protocol, self._limits, is_linted=True)

    def _refuse_if_all_failed(self, qids: Sequence[str]) -> None:
        """Raise InputError if no reference solution passes: then the column is likely the wrong one.

        A single failure says nothing: the solution may be wrong.
        """
        with_solution = [qid for qid in qids if self._tasks[qid].solution is not None]
        failures = {qid: why for qid, why in self._states.reference_failures.items() if qid in with_solution}
        if len(with_solution) > 1 and len(failures) == len(with_solution):
            first = min(failures)
            raise InputError(
                [
                    f"None of the {len(with_solution)} reference solutions passes its task's tests. Is the column with "
                    f"the solutions the right one? The first failure: {first}: {failures[first]}"
                ]
            )

    # --- answers ---

    def answer(self, candidates: Iterable[Candidate]) -> None:
        """Let candidates answer the calls of their tasks; those of tasks that are not judged answer nothing."""
        states = ((candidate, self._states.get(candidate.qid)) for candidate in candidates)
        requests = [
            self._answer_request(candidate, state) for candidate, state in states if isinstance(state, Judgeable)
        ]
        self._collector.collect("answering", requests)

    def _answer_request(self, candidate: Candidate, state: Judgeable) -> AnswerRequest:
        """Return the request for a program's answers to the recorded calls."""
        task = self._tasks[candidate.qid]

        def make_job(calls: Sequence[str]) -> Job:
            return jobs.answer_job(task, candidate.source, calls, state.names, self._limits, run=candidate.run)

        return AnswerRequest(candidate, state.calls, make_job)

    def _stored_answers(self, candidate: Candidate) -> StoredAnswers:
        """Return a program's answers, which are one part: where there are tests, one job asks for all of them."""
        return self._collector.answers[candidate].parts[0]

    # --- verdicts ---

    def judge(self, candidates: Iterable[Candidate]) -> dict[Candidate, Verdict]:
        """Return the verdicts on candidates that have answered."""
        answered = [candidate for candidate in candidates if candidate in self._collector.answers]
        states = {c.qid: state for c in answered if isinstance(state := self._states.get(c.qid), Judgeable)}
        return self._judge(answered, states)

    def _judge(self, candidates: Sequence[Candidate], states: Mapping[str, Judgeable]) -> dict[Candidate, Verdict]:
        """Return the verdicts on candidates, by the states of their tasks. Equal answers are judged once.

        Answers that are the expected ones, byte for byte, are right without a test. For a reference solution nothing is
        expected yet, so its answers are always judged.
        """
        verdicts: dict[Candidate, Verdict] = {}
        judge_jobs: dict[Candidate, tuple[str, JobOrFactory]] = {}
        for candidate in candidates:
            answers, state = self._collector.answers[candidate], states[candidate.qid]
            if not answers.parts:
                verdicts[candidate] = Verdict(infrastructure_error=answers.infrastructure_error)
            elif (stored := self._stored_answers(candidate)).digest in {run.digest for run in state.expected_runs}:
                verdicts[candidate] = _verdict_of_expected_answers(stored, len(state.calls))
            else:
                judge_jobs[candidate] = self._judge_job(candidate, state)
        errors: dict[str, str] = {}
        new = [(key, job) for key, job in judge_jobs.values() if key not in self._judgements]
        phase = "judging references" if any(c.role == "reference" for c in candidates) else "judging"
        known = sum(not verdict.infrastructure_error for verdict in verdicts.values())
        for key, result in self._runner.run(phase, new, known_successes=known):
            if isinstance(result, str):
                errors[key] = result
            elif result.judge is not None:
                self._judgements[key] = result.judge
        for candidate, (key, _) in judge_jobs.items():
            judgement = self._judgements.get(key)
            if judgement is None:
                verdicts[candidate] = Verdict(infrastructure_error=errors.get(key, "it was not judged"))
            else:
                verdicts[candidate] = _verdict(judgement, self._stored_answers(candidate))
        return verdicts

    def _judge_job(self, candidate: Candidate, state: Judgeable) -> tuple[str, JobOrFactory]:
        """Return the key of the job that judges answers, made of their digests, and what makes the job."""
        task, stored = self._tasks[candidate.qid], self._stored_answers(candidate)
        is_reference = candidate.role == "reference"
        wants_assertions = task.has_list_of_assertions if self._judges_assertions is None else self._judges_assertions
        by_assertion = wants_assertions and not is_reference
        job = jobs.judge_job(task, state, self._limits, is_reference=is_reference, judges_assertions=by_assertion)

        def make_job() -> Job:
            answers = self._spool.get(stored).transcript
            runs = [self._states.spool.get(run).transcript for run in state.expected_runs]
            # A reference solution is its own expectation: the tests alone decide about it.
            return jobs.with_answers(job, answers, [answers] if is_reference else runs)

        content = {"transcript": stored.digest, "expected": [run.digest for run in state.expected_runs]}
        return self._runner.key({**job, "of": content}), make_job


def _failure_reason(verdict: Verdict) -> str:
    """Return why a reference solution does not pass."""
    judgement = verdict.judgement
    if judgement is None:
        return verdict.infrastructure_error
    return MEMORY if "MemoryError" in judgement.reason else judgement.reason or _describe_stop(judgement.evidence)


def _describe_stop(evidence: ProcessEvidence) -> str:
    """Return what stopped a reference solution."""
    if evidence.stopped in {"memory", "shared"} or evidence.oom:
        return MEMORY
    return _STOP_REASONS.get(evidence.stopped or "", f"its process ended with status {evidence.status}")


_STOP_REASONS = {
    "cpu": "it used all of its CPU time",
    "blocked": "it waited without working",
    "wall": "it did not finish in time",
    "garbage": "it wrote something other than a result, or one that is too long",
}


def _verdict_of_expected_answers(stored: StoredAnswers, call_count: int) -> Verdict:
    likeness = Likeness(calls=Calls(n=call_count, same=call_count))
    return Verdict(judgement=Judgement(evidence=stored.evidence, confirmed=True, likeness=likeness))


def _verdict(judgement: Judgement, answers: StoredAnswers) -> Verdict:
    """Return the verdict of the tests, with the evidence on the candidate: why it ended, and its resource use."""
    is_official_timeout = _is_official_timeout(judgement, answers)
    if judgement.evidence.stopped is not None and not judgement.confirmed:
        # The judge itself was stopped, so its evidence is the reason.
        reason = "judging its answers did not finish"
        judgement = msgspec.structs.replace(judgement, reason=reason, kind="unconfirmed")
    elif answers.evidence.stopped is not None and judgement.kind in _KINDS_OF_MISSING_ANSWERS:
        # What stopped the candidate is the reason, and not that the tests had no answer.
        judgement = Judgement(evidence=answers.evidence, right=judgement.right)
    else:
        judgement = msgspec.structs.replace(judgement, evidence=answers.evidence)
    return Verdict(judgement=judgement, is_official_timeout=is_official_timeout)


_KINDS_OF_MISSING_ANSWERS = {"unconfirmed", "waiting", "diverged", "ended"}
"""Kinds of judgements that a program gets because it stopped before its last answer."""


def _is_official_timeout(judgement: Judgement, answers: StoredAnswers) -> bool:
    """Whether a program ran out of time in the very call for whose answer its tests wait, as it would officially.

    That is not known if it may stop elsewhere officially, or if it may have used up its time for sending answers, which
    it does not do officially.
    """
    evidence = answers.evidence
    is_out_of_time = evidence.stopped in {"cpu", "blocked"} and not evidence.oom
    is_sure = not answers.may_stop_elsewhere and answers.reply_count <= FEW_ANSWERS
    return is_out_of_time and is_sure and judgement.kind == "waiting"
