"""The careful verdict: calls first, judged later. While a candidate's verdict is open, no test runs beside it.

The calls of a task's tests are recorded once, without any candidate. Every candidate answers them, without any test.
Then the tests judge all answers, without any candidate. Tasks whose calls cannot be recorded come last: their
candidates run beside the tests.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from grader.sandbox.answer import Answers, Executed, Recording, Split
from grader.scorers.execution import jobs
from grader.scorers.execution.calls import Calls, Unrecordable, agreed, settle
from grader.scorers.execution.candidate import Candidate, Confirmed
from grader.scorers.execution.computed import Computed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from grader.sandbox.interface import Job, Limits
    from grader.scorers.execution.accepted import Accepted
    from grader.scorers.execution.settling import Settler
    from grader.scorers.execution.spool import Spool
    from grader.scorers.execution.tasks import CodeTask

ANSWERING = "answering"
DIVERGED = "the tests make other calls than those recorded without it"
"""The judging process reports this if the recorded calls are wrong for the answers (sandbox_image/replay.py)."""


class Confirmation:
    """Finds the careful verdicts of a run's candidates, phase by phase."""

    def __init__(
        self,
        tasks: Mapping[str, CodeTask],
        settler: Settler,
        spool: Spool,
        limits: Limits,
        calls: Mapping[str, Calls | Unrecordable] | None = None,
    ) -> None:
        """Prepare; `calls` has calls that are already known, and the calls of these tasks are not recorded again."""
        self._tasks, self._settler, self._spool, self._limits = tasks, settler, spool, limits
        self._computed = Computed(settler)
        self._calls: dict[str, Calls | Unrecordable] = dict(calls or {})
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
        self._judge("judging", first)
        self._alive([c for c in all_ if isinstance(self._calls.get(c.qid), Unrecordable)])
        return self._verdicts

    def answer(self, accepted: Accepted) -> None:
        """Let candidates answer as soon as the linter accepts them. Call it before `verdicts`."""
        self.record(candidate.qid for candidate in accepted.possible)
        first = [c for c in accepted.possible if isinstance(self._calls.get(c.qid), Calls)]
        self._answer(ANSWERING, [(c, self._recorded(c)) for c in first], accepted)

    @property
    def unrecordable(self) -> dict[str, str]:
        """Tasks with candidates whose calls could not be recorded, and why."""
        return {qid: calls.why for qid in self._wanted if isinstance(calls := self._calls[qid], Unrecordable)}

    def _recorded(self, candidate: Candidate) -> Calls:
        calls = self._calls[candidate.qid]
        assert isinstance(calls, Calls)
        return calls

    # --- recording ---

    def record(self, qids: Iterable[str]) -> Mapping[str, Calls | Unrecordable]:
        """Record the calls of these tasks if they are unknown; return the known calls of all tasks."""
        missing = [qid for qid in dict.fromkeys(qids) if qid not in self._calls]
        if missing:
            self._record(missing)
        return self._calls

    def _record(self, qids: Iterable[str]) -> None:
        recordings: dict[str, Recording | None] = {}

        def take(key: str, seen: Executed) -> bool:
            recordings[key] = seen.record.recorded if seen.record is not None else None
            return False

        keys = {qid: self._settler.key(jobs.record_job(self._tasks[qid], self._limits)) for qid in qids}
        items = [(key, self._tasks[qid]) for qid, key in keys.items()]
        lost = self._settler.settle("recording calls", items, lambda task: jobs.record_job(task, self._limits), take)
        found = {qid: recordings.get(key) for qid, key in keys.items()}
        checked = {qid: r for qid, r in found.items() if r is not None and self._needs_check(qid, r)}
        references = self._references(checked)
        for qid, key in keys.items():
            recording = found[qid]
            if key in lost:
                self.unrecorded[qid] = lost[key]
                self._calls[qid] = Unrecordable(why=f"the calls were not recorded: {lost[key]}")
            elif recording is None:
                self._calls[qid] = Unrecordable(why="the recording did not finish")
            else:
                passes = partial(_looked_up, references, qid) if qid in checked else None
                self._calls[qid] = settle(recording, passes)

    def _needs_check(self, qid: str, recording: Recording) -> bool:
        """Whether the reference solution can decide something about a task's calls that the recordings leave open."""
        task = self._tasks[qid]
        if task.solution is None:
            return False
        return agreed(recording) is None or not self._computed.is_straight(
            task.tests, frozenset(task.signature.classes)
        )

    def _references(self, recordings: dict[str, Recording]) -> dict[tuple[str, Calls], bool | None]:
        """Return whether a task's reference solution passes with these calls; None: the tests call it differently."""
        wanted = {
            Candidate(qid=qid, source=f"{self._tasks[qid].reference}\n#{number}"): calls
            for qid, recording in recordings.items()
            for number, calls in enumerate(possible(recording))
        }
        self._answer("running references", list(wanted.items()))
        self._judge("judging references", wanted, wanted)
        return {(c.qid, calls): _passes(self._verdicts.pop(c, None)) for c, calls in wanted.items()}

    # --- answering ---

    def _answer(self, phase: str, wanted: list[tuple[Candidate, Calls]], accepted: Accepted | None = None) -> None:
        """Let candidates answer recorded calls, those that are accepted or all. No outcome is known at this point."""
        answered: set[str] = set()

        def take(key: str, seen: Executed) -> bool:
            answered.add(key)
            if seen.answer is not None:
                self._spool.put(key, seen.answer)
            return False

        def job(item: tuple[Candidate, Calls]) -> Job:
            candidate, calls = item
            return jobs.answer_job(self._tasks[candidate.qid], candidate.source, calls, self._limits)

        wanted = [(candidate, calls) for candidate, calls in wanted if candidate not in self._answers]
        if not wanted:
            return
        # Most programs that never end have a `while` loop. Started last, one would run alone while other workers wait.
        ordered = sorted(wanted, key=lambda item: "while" not in item[0].source)
        items = [(self._settler.key(job(item)), item) for item in ordered]
        keys = {candidate: key for key, (candidate, _) in items}
        arriving = None if accepted is None else _Arriving(accepted, keys)
        lost = self._settler.settle(phase, items, job, take, arriving=arriving)
        for key, (candidate, _) in items:
            if key in answered or key in lost:
                self._answers[candidate] = key
            if key in lost:
                self._verdicts[candidate] = Confirmed(lost=lost[key])

    # --- judging ---

    def _judge(self, phase: str, candidates: Iterable[Candidate], calls: dict[Candidate, Calls] | None = None) -> None:
        """Judge the candidates' answers; identical answers are judged once."""

        def take(key: str, seen: Executed) -> bool:
            if seen.judge is not None:
                self._judged[key] = seen.judge
            return seen.judge is not None and seen.judge.confirmed

        def job(candidate: Candidate) -> Job:
            answers = self._spool.get(self._answers[candidate])
            assert answers is not None
            recorded = self._recorded(candidate) if calls is None else calls[candidate]
            return jobs.judge_job(self._tasks[candidate.qid], recorded, answers, self._limits)

        open_ = [c for c in candidates if c not in self._verdicts]
        if not open_:
            return
        items = [(self._settler.key(job(candidate)), candidate) for candidate in open_]
        new = [(key, candidate) for key, candidate in items if key not in self._judged]
        lost = self._settler.settle(phase, new, job, take) if new else {}
        for key, candidate in items:
            if key in self._judged:
                answers = self._spool.get(self._answers[candidate])
                assert answers is not None
                self._verdicts[candidate] = Confirmed(split=_split(self._judged[key], answers))
            else:
                self._verdicts[candidate] = Confirmed(lost=lost.get(key, "it was not judged"))

    # --- candidate and tests at the same time ---

    def _alive(self, candidates: list[Candidate]) -> None:
        seen: dict[str, Split] = {}

        def take(key: str, executed: Executed) -> bool:
            if executed.split is not None:
                seen[key] = executed.split
            return executed.split is not None and executed.split.confirmed

        def job(candidate: Candidate) -> Job:
            calls = self._calls[candidate.qid]
            return jobs.split_job(self._tasks[candidate.qid], candidate.source, calls, self._limits)

        if not candidates:
            return
        items = [(self._settler.key(job(candidate)), candidate) for candidate in candidates]
        lost = self._settler.settle("judging while answering", items, job, take)
        for key, candidate in items:
            split, why = seen.get(key), lost.get(key, "")
            self._verdicts[candidate] = Confirmed(split=split, lost=why)


class _Arriving:
    """The keys of accepted candidates; see `Settler.settle`."""

    def __init__(self, accepted: Accepted, keys: Mapping[Candidate, str]) -> None:
        self._accepted, self._keys = accepted, keys

    def __iter__(self) -> Iterator[str | None]:
        for candidate in self._accepted.arriving():
            if candidate is None or candidate in self._keys:
                yield None if candidate is None else self._keys[candidate]

    @property
    def known(self) -> set[str]:
        return {self._keys[candidate] for candidate in self._accepted.candidates if candidate in self._keys}


def possible(recording: Recording) -> list[Calls]:
    """Return the lists of calls that may be right; only one if both recordings agree."""
    found: list[Calls] = []

    def note(calls: Calls) -> bool:
        found.append(calls)
        return False

    settle(recording, note)
    return found


def _looked_up(references: dict[tuple[str, Calls], bool | None], qid: str, calls: Calls) -> bool | None:
    return references.get((qid, calls), False)


def _passes(confirmed: Confirmed | None) -> bool | None:
    if confirmed is None or confirmed.split is None:
        return False
    if confirmed.split.confirmed:
        return True
    return None if confirmed.split.reason == DIVERGED else False


def _split(judged: Split, answers: Answers) -> Split:
    """Return a verdict with the evidence on the candidate: why its process ended, and its resource use."""
    if judged.confirmed:
        return msgspec.structs.replace(judged, evidence=answers.evidence)
    if judged.evidence.stopped is not None:
        return msgspec.structs.replace(judged, reason="judging its answers did not finish", kind="unconfirmed")
    if answers.evidence.stopped is not None and judged.kind in {"unconfirmed", "ended"}:
        return Split(evidence=answers.evidence)
    return msgspec.structs.replace(judged, evidence=answers.evidence)
