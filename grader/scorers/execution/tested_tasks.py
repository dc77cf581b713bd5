"""Tasks with tests: their calls are recorded without any candidate, and answers are judged by replaying the tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from grader.errors import InputError
from grader.results import Calls
from grader.sandbox.answer import Executed, Judgement, Likeness, Recording
from grader.scorers.execution import jobs
from grader.scorers.execution.answering import AnswerRequest
from grader.scorers.execution.assembly import Program
from grader.scorers.execution.calls import CallList, NotJudged, agreed_calls, possible_calls, reordered
from grader.scorers.execution.candidate import Candidate, Verdict
from grader.scorers.execution.reference_runs import hash_seeds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from grade_sandbox.jobs import Job

    from grader.sandbox.answer import Answers
    from grader.scorers.execution.answering import Tools
    from grader.scorers.execution.calls import Reordered
    from grader.scorers.execution.settling import Made
    from grader.scorers.execution.spool import StoredAnswers

NOT_APART = "the reference solution passes in one process with its tests, but not apart from them"
FEW_ANSWERS = 64
"""If a program has used up its time after more answers than this, it may have needed it to send them."""


class ReferenceTrial(NamedTuple):
    """A reference solution's answers to the calls that may be right."""

    verdict: Verdict
    runs: list[Candidate]
    other: Reordered | None
    """The calls in another order, if it answered these as well."""


class TestedTasks:
    """The calls and the judge of tasks with tests."""

    def __init__(self, tools: Tools, *, each: bool | None = None) -> None:
        """`each`: of candidates that fail, find out which assertions hold; None: if the tests are a list of them."""
        self._tasks, self._settler, self._spool, self._limits, self._protocol, self._answering, self.known = tools
        self._each = each
        self.unrecorded: dict[str, str] = {}
        """Task -> error, if the infrastructure failed while recording: recording again may succeed."""
        self._judged: dict[str, Judgement] = {}

    @property
    def not_judged(self) -> dict[str, str]:
        """Tasks that are outside the careful reading, and why."""
        return {qid: calls.why for qid, calls in self.known.calls.items() if isinstance(calls, NotJudged)}

    @property
    def lacking(self) -> dict[str, str]:
        """Tasks whose tests or reference solution need a module that the sandbox does not have, and its name."""
        found = {qid: _MISSING.search(why) for qid, why in (self.not_judged | self.known.broken).items()}
        return {qid: match[1] for qid, match in found.items() if match is not None}

    def compared_calls(self, qid: str) -> int:
        """Return how many answers are compared with those of a task's reference solution; 0 without one."""
        calls = self.known.calls.get(qid)
        return len(calls.calls) if isinstance(calls, CallList) and qid in self.known.references else 0

    # --- calls ---

    def record(self, qids: Iterable[str], *, refuse_all: bool) -> None:
        """Record the calls of these tasks if they are unknown.

        `refuse_all`: if every reference solution fails, raise InputError: then the data is wrong, or the sandbox.
        """
        missing = [qid for qid in dict.fromkeys(qids) if qid not in self.known.calls.keys() | self.unrecorded.keys()]
        if missing:
            tried = self._record(missing)
            if refuse_all:
                self._check_references(tried)

    def _record(self, qids: Iterable[str]) -> Mapping[tuple[str, CallList], ReferenceTrial]:
        made = {qid: jobs.record_job(self._tasks[qid], self._limits) for qid in qids}
        results = self._results("recording calls", made)
        recorded = {
            qid: None if isinstance(result, str) or result.record is None else result.record.recorded
            for qid, result in results.items()
        }
        tried = self._tried({qid: r for qid, r in recorded.items() if r is not None and self._tasks[qid].solution})
        self.unrecorded |= {qid: result for qid, result in results.items() if isinstance(result, str)}
        self.unrecorded |= {qid: found.verdict.lost for (qid, _), found in tried.items() if found.verdict.lost}
        open_: dict[str, Recording] = {}
        for qid, recording in recorded.items():
            if qid not in self.unrecorded and not self._settle(qid, recording, tried):
                assert recording is not None
                open_[qid] = recording
        self._settle_failed(open_, tried)
        return tried

    def _results(self, phase: str, made: Mapping[str, Job]) -> dict[str, Executed | str]:
        """Run a job of each task; return the results by task."""
        keys = {qid: self._settler.key(job) for qid, job in made.items()}
        found = dict(self._settler.settle(phase, [(keys[qid], job) for qid, job in made.items()]))
        return {qid: found.get(key, "it was not run") for qid, key in keys.items()}

    def _check_references(self, tried: Mapping[tuple[str, CallList], ReferenceTrial]) -> None:
        judged = {qid for (qid, _), reference in tried.items() if reference.verdict.judgement is not None}
        if len(judged) > 1 and judged <= self.known.broken.keys():
            first = min(judged)
            raise InputError(
                [
                    f"None of the {len(judged)} reference solutions passes its task's tests. Is the column with the "
                    f"solutions the right one? The first failure: {first}: {self.known.broken[first]}"
                ]
            )

    def _settle(
        self, qid: str, recording: Recording | None, tried: Mapping[tuple[str, CallList], ReferenceTrial]
    ) -> bool:
        """Choose a task's calls, and keep the answers of its reference solution; return whether this is known now."""
        if recording is None:
            self.known.calls[qid] = NotJudged(why="recording the calls of its tests did not finish")
            return True
        alone = agreed_calls(recording)
        if self._tasks[qid].solution is None:
            self.known.calls[qid] = alone
            return True
        calls = next((c for c in possible_calls(recording) if _passes(tried[qid, c].verdict)), None)
        if calls is None and isinstance(alone, CallList):
            return False
        self.known.calls[qid] = calls or alone
        if calls is not None:
            reference = tried[qid, calls]
            again = None if reference.other is None else self._answers(_again(reference.runs[0]))
            self.known.keep(qid, [*map(self._answers, reference.runs)], reference.other, again)
        return True

    def _settle_failed(
        self, recordings: dict[str, Recording], tried: Mapping[tuple[str, CallList], ReferenceTrial]
    ) -> None:
        """Settle tasks whose reference solution fails: if it passes officially, careful cannot judge such tests."""
        made = {qid: self._official_job(qid) for qid in recordings}
        for qid, result in self._results("running references officially", made).items():
            why = _why(tried[qid, possible_calls(recordings[qid])[0]].verdict)
            if isinstance(result, str):
                self.unrecorded[qid] = result
            elif result.is_success:
                self.known.calls[qid] = NotJudged(why=f"{NOT_APART}: {why}")
            else:
                self.known.calls[qid], self.known.broken[qid] = agreed_calls(recordings[qid]), why

    def _official_job(self, qid: str) -> Job:
        task = self._tasks[qid]
        program = Program(completion=task.reference or "")
        attempt = jobs.Attempt(task=task, sample=0, program=program)
        return jobs.run_job(attempt, self._protocol, self._limits, gated=True)

    def _tried(self, recordings: dict[str, Recording]) -> dict[tuple[str, CallList], ReferenceTrial]:
        """Let reference solutions answer the calls that may be right, several times, and judge their answers."""
        wanted = {
            (qid, calls): [
                Candidate(qid=qid, source=f"{source}\n#{number}", hash_seed=seed) for seed in hash_seeds(source)
            ]
            for qid, recording in recordings.items()
            if (source := self._tasks[qid].reference) is not None
            for number, calls in enumerate(possible_calls(recording))
        }
        first = {runs[0]: calls for (_, calls), runs in wanted.items()}
        others = {run: self._reordered(run.qid, calls) for run, calls in first.items()}
        asked = [self._request(run, calls) for (_, calls), runs in wanted.items() for run in runs]
        asked += [self._request(_again(run), other.calls) for run, other in others.items() if other is not None]
        self._answering.run("running references", asked)
        verdicts = self.judge(first, first)
        return {key: ReferenceTrial(verdicts[runs[0]], runs, others[runs[0]]) for key, runs in wanted.items()}

    def _reordered(self, qid: str, calls: CallList) -> Reordered | None:
        """Return the calls in another order, if the tests construct objects of a class to be written."""
        return reordered(calls) if self._tasks[qid].signature.tested_classes else None

    # --- answers ---

    def answer(self, candidates: Iterable[Candidate]) -> None:
        """Let candidates answer the calls of their tasks."""
        self._answering.run("answering", [request for candidate in candidates for request in self._asked(candidate)])

    def _asked(self, candidate: Candidate) -> Iterator[AnswerRequest]:
        """Yield what a candidate is asked: the recorded calls, and perhaps once more in another order."""
        calls = self.known.calls.get(candidate.qid)
        if isinstance(calls, CallList):
            yield self._request(candidate, calls)
            if (other := self.known.other(candidate.qid)) is not None:
                yield self._request(_again(candidate), other.calls)

    def _request(self, candidate: Candidate, calls: CallList) -> AnswerRequest:
        task, limits = self._tasks[candidate.qid], self._limits
        return AnswerRequest(
            candidate,
            calls.calls,
            lambda _: jobs.reseeded(jobs.answer_job(task, candidate.source, calls, limits), candidate.hash_seed),
        )

    def _kept(self, candidate: Candidate) -> StoredAnswers | None:
        found = self._answering.found.get(candidate)
        return found.answers[0] if found is not None and found.answers else None

    def _answers(self, candidate: Candidate) -> Answers | None:
        """Return what a candidate has answered; None if it was lost."""
        kept = self._kept(candidate)
        return None if kept is None else self._spool.get(kept)

    # --- verdicts ---

    def judge(
        self, candidates: Iterable[Candidate], calls: Mapping[Candidate, CallList] | None = None
    ) -> dict[Candidate, Verdict]:
        """Return the verdicts on candidates that have been asked. Equal answers are judged once.

        `calls`: those of reference solutions, which the tests alone judge.
        """
        asked = [candidate for candidate in candidates if candidate in self._answering.found]
        missing = {c: verdict for c in asked if (verdict := self._missing(c)) is not None}
        answered = [candidate for candidate in asked if candidate not in missing]
        verdicts = {} if calls is not None else {c: v for c in answered if (v := self._as_reference(c)) is not None}
        lost: dict[str, str] = {}
        rest = [candidate for candidate in answered if candidate not in verdicts]
        items = [(*self._judge_job(one, None if calls is None else calls[one]), one) for one in rest]
        new = [(key, made) for key, made, _ in items if key not in self._judged]
        phase = "judging" if calls is None else "judging references"
        for key, result in self._settler.settle(phase, new, passed=len(verdicts)):
            if isinstance(result, str):
                lost[key] = result
            elif result.judge is not None:
                self._judged[key] = result.judge
        for key, _, candidate in items:
            judged = self._judged.get(key)
            why = lost.get(key, "it was not judged")
            answers = self._answering.found[candidate].answers[0]
            verdicts[candidate] = Verdict(lost=why) if judged is None else _verdict(judged, answers)
        return missing | verdicts

    def _missing(self, candidate: Candidate) -> Verdict | None:
        """Return the verdict on a candidate without answers; None if it has all of them."""
        every = (self._answering.found.get(form) for form in (candidate, _again(candidate)))
        found = next((found for found in every if found is not None and not found.answers), None)
        return None if found is None else Verdict(lost=found.lost, is_open=found.is_open)

    def _as_reference(self, candidate: Candidate) -> Verdict | None:
        """Return the verdict on a candidate whose answers are those of the reference solution, byte for byte."""
        reference, kept = self.known.references.get(candidate.qid), self._kept(candidate)
        if reference is None or kept is None or kept.digest != reference.runs[0].digest:
            return None
        if reference.again is not None:
            again = self._kept(_again(candidate))
            if again is None or again.digest != reference.again.digest:
                return None
        number = self.compared_calls(candidate.qid)
        likeness = Likeness(calls=Calls(n=number, same=number))
        return Verdict(judgement=Judgement(evidence=kept.evidence, confirmed=True, likeness=likeness))

    def _judge_job(self, candidate: Candidate, calls: CallList | None) -> tuple[str, Made]:
        """Return the job that judges a candidate: its key, and what makes it; see `judge`."""
        task, kept = self._tasks[candidate.qid], self._kept(candidate)
        assert kept is not None
        recorded = calls or self.known.calls[candidate.qid]
        assert isinstance(recorded, CallList)
        reference = None if calls is not None else self.known.references.get(candidate.qid)
        own = None if reference is None or reference.again is None else self._kept(_again(candidate))
        each = False if calls is not None else task.lists_tests if self._each is None else self._each

        def make() -> Job:
            again = None
            if own is not None and reference is not None and reference.again is not None and reference.other:
                expected = self.known.spool.get(reference.again)
                again = jobs.OtherOrder(reference.other, expected, self._spool.get(own))
            expected_answers = None if calls is not None else self.known.expected_answers(candidate.qid)
            answers = self._spool.get(kept)
            return jobs.judge_job(
                task, recorded, answers, self._limits, expected=expected_answers, again=again, each=each
            )

        expected = [] if reference is None else [one.digest for one in filter(None, (*reference.runs, reference.again))]
        of = {"answers": kept.digest, "expected": expected, "again": own and own.digest, "alone": calls is not None}
        around = jobs.judge_job(task, recorded, jobs.NO_ANSWERS, self._limits, each=each)
        return self._settler.key({**around, "of": of}), make


def _again(candidate: Candidate) -> Candidate:
    return msgspec.structs.replace(candidate, again=True)


_MISSING = re.compile(r"No module named '([\w.]+)'")


def _why(verdict: Verdict) -> str:
    """Return why a reference solution does not pass."""
    judgement = verdict.judgement
    if judgement is None:
        return verdict.lost
    evidence = judgement.evidence
    if evidence.stopped in {"memory", "shared"} or evidence.oom or "MemoryError" in judgement.reason:
        return "it needs more memory than the limit, so give more with --memory"
    return judgement.reason or f"it was stopped ({evidence.stopped or evidence.status})"


def _passes(verdict: Verdict) -> bool:
    return verdict.judgement is not None and verdict.judgement.confirmed


def _verdict(judged: Judgement, answers: StoredAnswers) -> Verdict:
    """Return the verdict of the tests; none if they need more than the short time that they were given."""
    if judged.evidence.is_open:
        return Verdict(is_open=True)
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
    """Whether the tests arrive at the very call in which a program used up its time and did not go on afterwards."""
    is_late = answers.evidence.stopped in {"cpu", "blocked"} and not answers.evidence.oom and not answers.unsure
    return is_late and judged.kind == "waiting" and answers.replies <= FEW_ANSWERS
