"""The careful verdict: calls first, judged later. While a candidate's verdict is open, no test runs beside it.

The calls of a task's tests are recorded once, without any candidate. Every candidate answers them, without any test.
Then the tests judge all answers, without any candidate. Tasks for which this cannot be done are not judged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from grader.errors import InputError
from grader.results.provenance import Calls as Compared
from grader.sandbox.answer import Answers, Executed, Likeness, Recording, Split
from grader.scorers.execution import jobs
from grader.scorers.execution.assembly import Program
from grader.scorers.execution.calls import Calls, NotJudged, possible, reordered, settle
from grader.scorers.execution.candidate import Candidate, Confirmed, hash_seeds
from grader.scorers.execution.known import Known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from grade_sandbox.jobs import Job

    from grader.sandbox.interface import Limits
    from grader.scorers.execution.calls import Reordered
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.known import Spool
    from grader.scorers.execution.settling import Settler
    from grader.scorers.execution.tasks import CodeTask

NOT_APART = "the reference solution passes in one process with its tests, but not apart from them"
ANSWERING, ANSWERING_AGAIN = "answering", "answering in another order"
FEW_ANSWERS = 64
"""If a program has used up its time after more answers than this, it may have needed it to send them."""


class Tried(NamedTuple):
    """A reference solution's answers to the calls that may be right."""

    verdict: Confirmed | None
    runs: list[Candidate]
    other: Reordered | None
    """The calls in another order, if it answered these as well."""


class Confirmation:
    """Finds the careful verdicts of a run's candidates, phase by phase."""

    def __init__(
        self,
        tasks: Mapping[str, CodeTask],
        settler: Settler,
        spool: Spool,
        limits: Limits,
        protocol: ExecutionProtocol,
        *,
        known: Known | None = None,
        each: bool | None = None,
    ) -> None:
        """Prepare; `known`: what is already known of tasks, whose calls are then not recorded again.

        `each`: of candidates that fail, find out which assertions hold; None: if the tests are a list of them.
        """
        self._each, self._protocol = each, protocol
        self._tasks, self._settler, self._spool, self._limits = tasks, settler, spool, limits
        self.known = Known(spool) if known is None else known
        self._calls = self.known.calls
        self.unrecorded: dict[str, str] = {}
        """Task -> error, if the infrastructure failed while recording: recording again may succeed."""
        self._answers: dict[Candidate, str] = {}
        """Candidate -> key of its answers."""
        self._wanted: list[str] = []
        """The tasks of the candidates whose verdicts were asked for."""
        self._judged: dict[str, Split] = {}
        self._verdicts: dict[Candidate, Confirmed] = {}

    def verdicts(self, candidates: Iterable[Candidate]) -> dict[Candidate, Confirmed]:
        """Return every candidate's verdict."""
        all_ = list(dict.fromkeys(candidates))
        self._wanted = list(dict.fromkeys(candidate.qid for candidate in all_))
        self.record(candidate.qid for candidate in all_)
        first = [c for c in all_ if isinstance(self._calls.get(c.qid), Calls)]
        self._answer(ANSWERING, [(c, self._recorded(c)) for c in first])
        twins = {_again(c): c for c in first if self.known.reordered(c.qid) is not None}
        self._answer(ANSWERING_AGAIN, [(c, o.calls) for c in twins if (o := self.known.reordered(c.qid))])
        self._verdicts |= {c: self._verdicts.pop(twin) for twin, c in twins.items() if twin in self._verdicts}
        self._judge("judging", first)
        return self._verdicts

    @property
    def not_judged(self) -> dict[str, str]:
        """Tasks that are outside the careful reading, and why."""
        return {qid: calls.why for qid, calls in self._calls.items() if isinstance(calls, NotJudged)}

    @property
    def without_reference(self) -> list[str]:
        """Tasks with candidates that have no reference solution."""
        return [q for q in self._wanted if self._tasks[q].solution is None and isinstance(self._calls.get(q), Calls)]

    @property
    def lacking(self) -> dict[str, str]:
        """Tasks whose tests or reference solution need a module that the sandbox does not have, and its name."""
        found = {qid: _MISSING.search(why) for qid, why in (self.not_judged | self.known.broken).items()}
        return {qid: match[1] for qid, match in found.items() if match is not None}

    def compared_calls(self, qid: str) -> int:
        """Return how many answers are compared with those of a task's reference solution; 0 without one."""
        calls = self._calls.get(qid)
        return len(calls.calls) if isinstance(calls, Calls) and self.known.has_reference(qid) else 0

    def _recorded(self, candidate: Candidate) -> Calls:
        calls = self._calls[candidate.qid]
        assert isinstance(calls, Calls)
        return calls

    # --- recording ---

    def record(self, qids: Iterable[str], *, refuse_all: bool = True) -> Mapping[str, Calls | NotJudged]:
        """Record the calls of these tasks if they are unknown; return the known calls of all tasks.

        `refuse_all`: if every reference solution fails, raise InputError: then the data is wrong, or the sandbox.
        """
        missing = [qid for qid in dict.fromkeys(qids) if qid not in self._calls.keys() | self.unrecorded.keys()]
        if missing:
            tried = self._record(missing)
            if refuse_all:
                self._check_references(tried)
        return self._calls

    def _record(self, qids: Iterable[str]) -> Mapping[tuple[str, Calls], Tried]:
        recordings: dict[str, Recording | None] = {}

        def take(key: str, executed: Executed) -> bool:
            recordings[key] = executed.record.recorded if executed.record is not None else None
            return False

        keys = {qid: self._settler.key(jobs.record_job(self._tasks[qid], self._limits)) for qid in qids}
        items = [(key, self._tasks[qid]) for qid, key in keys.items()]
        lost = self._settler.settle("recording calls", items, lambda task: jobs.record_job(task, self._limits), take)
        recorded_calls = {qid: recordings.get(key) for qid, key in keys.items()}
        tried = self._tried(
            {qid: r for qid, r in recorded_calls.items() if r is not None and self._tasks[qid].solution}
        )
        self.unrecorded |= {qid: lost[key] for qid, key in keys.items() if key in lost}
        verdicts = {qid: reference.verdict for (qid, _), reference in tried.items()}
        self.unrecorded |= {qid: found.lost for qid, found in verdicts.items() if found is not None and found.lost}
        open_: dict[str, Recording] = {}
        for qid, recording in recorded_calls.items():
            if qid not in self.unrecorded and not self._settle(qid, recording, tried):
                assert recording is not None
                open_[qid] = recording
        self._settle_failed(open_, tried)
        return tried

    def _check_references(self, tried: Mapping[tuple[str, Calls], Tried]) -> None:
        judged = {
            qid
            for (qid, _), reference in tried.items()
            if reference.verdict is not None and reference.verdict.split is not None
        }
        if len(judged) > 1 and judged <= self.known.broken.keys():
            first = min(judged)
            raise InputError(
                [
                    f"None of the {len(judged)} reference solutions passes its task's tests. Is the column with the "
                    f"solutions the right one? The first failure: {first}: {self.known.broken[first]}"
                ]
            )

    def _settle(self, qid: str, recording: Recording | None, tried: Mapping[tuple[str, Calls], Tried]) -> bool:
        """Choose a task's calls, and keep the answers of its reference solution; return whether this is known now."""
        if recording is None:
            self._calls[qid] = NotJudged(why="recording the calls of its tests did not finish")
            return True
        alone = settle(recording)
        if self._tasks[qid].solution is None:
            self._calls[qid] = alone
            return True
        calls = next((c for c in possible(recording) if _passes(tried[qid, c].verdict)), None)
        if calls is None and isinstance(alone, Calls):
            return False
        self._calls[qid] = calls or alone
        if calls is not None:
            reference = tried[qid, calls]
            self.known.keep(qid, map(self._answered, reference.runs))
            if reference.other is not None:
                self.known.keep_again(qid, reference.other, self._answered(_again(reference.runs[0])))
        return True

    def _settle_failed(self, recordings: dict[str, Recording], tried: Mapping[tuple[str, Calls], Tried]) -> None:
        """Settle tasks whose reference solution fails: if it passes officially, careful cannot judge such tests."""
        passing: set[str] = set()

        def take(key: str, executed: Executed) -> bool:
            is_right = executed.run is not None and executed.run.result == "passed"
            passing.update([key] * is_right)
            return is_right

        keys = {qid: self._settler.key(self._official_job(qid)) for qid in recordings}
        items = [(key, qid) for qid, key in keys.items()]
        lost = self._settler.settle("running references officially", items, self._official_job, take)
        for qid, key in keys.items():
            why = _why(tried[qid, possible(recordings[qid])[0]].verdict)
            if key in lost:
                self.unrecorded[qid] = lost[key]
            elif key in passing:
                self._calls[qid] = NotJudged(why=f"{NOT_APART}: {why}")
            else:
                self._calls[qid], self.known.broken[qid] = settle(recordings[qid]), why

    def _official_job(self, qid: str) -> Job:
        task = self._tasks[qid]
        program = Program(completion=task.reference or "", recovered=None, lost="")
        attempt = jobs.Attempt(task=task, sample=0, program=program)
        return jobs.run_job(attempt, self._protocol, self._limits, gated=True)

    def _tried(self, recordings: dict[str, Recording]) -> dict[tuple[str, Calls], Tried]:
        """Let reference solutions answer the calls that may be right, several times, and judge their answers."""
        wanted = {
            (qid, calls): [
                Candidate(qid=qid, source=f"{source}\n#{number}", hash_seed=seed) for seed in hash_seeds(source)
            ]
            for qid, recording in recordings.items()
            if (source := self._tasks[qid].reference) is not None
            for number, calls in enumerate(possible(recording))
        }
        first = {runs[0]: calls for (_, calls), runs in wanted.items()}
        others = {run: self._reordered(run.qid, calls) for run, calls in first.items()}
        self._answer(
            "running references",
            [(run, calls) for (_, calls), runs in wanted.items() for run in runs]
            + [(_again(run), other.calls) for run, other in others.items() if other is not None],
        )
        self._judge("judging references", first, first)
        return {key: Tried(self._verdicts.pop(runs[0], None), runs, others[runs[0]]) for key, runs in wanted.items()}

    def _reordered(self, qid: str, calls: Calls) -> Reordered | None:
        """Return the calls in another order, if the tests construct objects of a class to be written."""
        return reordered(calls) if self._tasks[qid].signature.tested_classes else None

    def _answered(self, candidate: Candidate) -> Answers | None:
        """Return what a candidate has answered; None if it was lost."""
        return self._spool.get(self._answers[candidate]) if candidate in self._answers else None

    def _as_reference(self, candidate: Candidate) -> Confirmed | None:
        """Return the verdict on a candidate whose answers are those of the reference solution, byte for byte."""
        qid, answers = candidate.qid, self._answered(candidate)
        if answers is None or not self.known.is_answer(qid, answers, self._answered(_again(candidate))):
            return None
        number = self.compared_calls(qid)
        likeness = Likeness(calls=Compared(n=number, same=number))
        return Confirmed(split=Split(evidence=answers.evidence, confirmed=True, likeness=likeness))

    def _judge_job(self, candidate: Candidate, calls: dict[Candidate, Calls] | None) -> Job:
        """Return the job that judges a candidate; one with its own `calls` is judged by the tests alone."""
        qid, again = candidate.qid, None
        answers = self._answered(candidate)
        assert answers is not None
        if calls is not None:
            return jobs.judge_job(self._tasks[qid], calls[candidate], answers, self._limits)
        if (other := self.known.reordered(qid)) is not None:
            expected, own = self.known.answered_again(qid), self._answered(_again(candidate))
            again = jobs.Again(other, expected, own) if expected is not None and own is not None else None
        recorded, reference = self._recorded(candidate), self.known.reference(qid)
        task = self._tasks[qid]
        each = task.lists_tests if self._each is None else self._each
        return jobs.judge_job(task, recorded, answers, self._limits, expected=reference, again=again, each=each)

    # --- answering ---

    def _answer(self, phase: str, wanted: list[tuple[Candidate, Calls]]) -> None:
        """Let candidates answer recorded calls. No outcome is known at this point."""
        answered: set[str] = set()
        stopped: set[str] = set()

        def take(key: str, executed: Executed) -> bool:
            if executed.is_open:
                stopped.add(key)
                return False
            answered.add(key)
            if executed.answer is not None:
                self._spool.put(key, executed.answer)
            return False

        def job(item: tuple[Candidate, Calls]) -> Job:
            candidate, calls = item
            job = jobs.answer_job(self._tasks[candidate.qid], candidate.source, calls, self._limits)
            return jobs.reseeded(job, candidate.hash_seed)

        wanted = [(candidate, calls) for candidate, calls in wanted if candidate not in self._answers]
        if not wanted:
            return
        # Most programs that never end have a `while` loop. Started last, one would run alone while other workers wait.
        # A sandbox keeps one interpreter with another hash seed at a time.
        ordered = sorted(wanted, key=lambda item: (item[0].hash_seed, "while" not in item[0].source))
        items = [(self._settler.key(job(item)), item) for item in ordered]
        lost = self._settler.settle(phase, items, job, take)
        for key, (candidate, _) in items:
            if key in answered or key in lost:
                self._answers[candidate] = key
            if key in lost or key in stopped:
                self._verdicts[candidate] = Confirmed(lost=lost.get(key, ""), is_open=key in stopped)

    # --- judging ---

    def _judge(self, phase: str, candidates: Iterable[Candidate], calls: dict[Candidate, Calls] | None = None) -> None:
        """Judge the candidates' answers; identical answers are judged once."""
        open_ = [c for c in candidates if c not in self._verdicts]
        as_reference = {} if calls is not None else {c: v for c in open_ if (v := self._as_reference(c)) is not None}
        self._verdicts |= as_reference
        rest = [candidate for candidate in open_ if candidate not in as_reference]
        splits = self._splits(phase, rest, lambda candidate: self._judge_job(candidate, calls), len(as_reference))
        for candidate, verdict in splits.items():
            answers = self._spool.get(self._answers[candidate])
            assert answers is not None
            if (judged := verdict.split) is not None:
                verdict = Confirmed(split=_split(judged, answers), is_late=_is_late(judged, answers))  # noqa: PLW2901
            self._verdicts[candidate] = verdict

    def _splits(
        self, phase: str, candidates: Iterable[Candidate], job: Callable[[Candidate], Job], passed: int = 0
    ) -> dict[Candidate, Confirmed]:
        """Have each candidate judged, equal jobs once. `passed`: how many have passed without a job."""

        def take(key: str, executed: Executed) -> bool:
            split = executed.judge
            if split is not None:
                self._judged[key] = split
            return split is not None and split.confirmed

        items = [(self._settler.key(job(candidate)), candidate) for candidate in candidates]
        new = [(key, candidate) for key, candidate in items if key not in self._judged]
        lost = self._settler.settle(phase, new, job, take, passed=passed) if new or passed else {}
        return {
            candidate: Confirmed.of(self._judged[key])
            if key in self._judged
            else Confirmed(lost=lost.get(key, "it was not judged"))
            for key, candidate in items
        }


def _again(candidate: Candidate) -> Candidate:
    return msgspec.structs.replace(candidate, again=True)


_MISSING = re.compile(r"No module named '([\w.]+)'")


def _why(confirmed: Confirmed | None) -> str:
    """Return why a reference solution does not pass."""
    split = None if confirmed is None else confirmed.split
    if split is None:
        return "it was not judged" if confirmed is None else confirmed.lost
    if split.evidence.stopped in {"memory", "shared"} or split.evidence.oom or "MemoryError" in split.reason:
        return "it needs more memory than the limit, so give more with --memory"
    return split.reason or f"it was stopped ({split.evidence.stopped or split.evidence.status})"


def _passes(confirmed: Confirmed | None) -> bool:
    return confirmed is not None and confirmed.split is not None and confirmed.split.confirmed


def _split(judged: Split, answers: Answers) -> Split:
    """Return a verdict with the evidence on the candidate: why its process ended, and its resource use."""
    if judged.confirmed:
        return msgspec.structs.replace(judged, evidence=answers.evidence)
    if judged.evidence.stopped is not None:
        return msgspec.structs.replace(judged, reason="judging its answers did not finish", kind="unconfirmed")
    if answers.evidence.stopped is not None and judged.kind in {"unconfirmed", "waiting", "diverged", "ended"}:
        return Split(evidence=answers.evidence, right=judged.right)
    return msgspec.structs.replace(judged, evidence=answers.evidence)


def _is_late(judged: Split, answers: Answers) -> bool:
    """Whether the tests arrive at the very call in which a program used up its CPU time, and not in encoding it."""
    is_late = answers.evidence.stopped == "cpu" and not answers.evidence.oom and not answers.encoding
    return is_late and judged.kind == "waiting" and len(answers.replies) <= FEW_ANSWERS
