"""Let programs answer. Their jobs contain no test and no expected answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grader.sandbox.roles import may_never_end
from grader.scorers.execution import jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from grade_sandbox.jobs import Job

    from grader.sandbox.interface import Limits
    from grader.scorers.execution.candidate import Candidate
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.job_runner import JobRunner
    from grader.scorers.execution.spool import Spool, StoredAnswers
    from grader.scorers.execution.states import States
    from grader.scorers.execution.tasks import CodeTask


FIRST_SECONDS = 0.5
"""Seconds of work after which a program answers more only if its answers so far are right."""


class AnswerRequest(NamedTuple):
    """A program, and the calls that it has to answer."""

    candidate: Candidate
    calls: Sequence[str]
    make_job: Callable[[Sequence[str]], Job]
    """Returns the job in which it answers these calls."""
    keeps_state: bool = False
    """Whether an answer may depend on the calls before, because one process answers them."""


class CandidateAnswers:
    """The answers of one candidate."""

    __slots__ = ("infrastructure_error", "parts")

    def __init__(self) -> None:
        self.parts: list[StoredAnswers] = []
        """Its answers, in as many parts as there were jobs."""
        self.infrastructure_error = ""
        """Why it has no answers."""


class AnswerCollector:
    """Gets the answers of programs, and keeps them until they are judged."""

    def __init__(self, runner: JobRunner, spool: Spool) -> None:
        self._runner, self._spool = runner, spool
        self.answers: dict[Candidate, CandidateAnswers] = {}

    def collect(
        self,
        phase: str,
        requests: Iterable[AnswerRequest],
        find_decided: Callable[[Sequence[Candidate]], Collection[Candidate]] | None = None,
    ) -> None:
        """Let programs answer that have not answered yet; those with loops first, because they can take longest.

        After a minute of one program's work, its job ends, and its remaining calls go into a new job. `find_decided`:
        returns those whose answers so far decide their verdicts; slow programs are interrupted early for this.
        """
        new = {request.candidate: request for request in requests if request.candidate not in self.answers}
        waiting = sorted(new.values(), key=lambda request: not may_never_end(request.candidate.source))
        if find_decided is not None:
            waiting = self._answer_undecided(phase, waiting, find_decided)
        while waiting:
            waiting = self._run(phase, waiting)

    def _answer_undecided(
        self,
        phase: str,
        requests: list[AnswerRequest],
        find_decided: Callable[[Sequence[Candidate]], Collection[Candidate]],
    ) -> list[AnswerRequest]:
        """Let programs answer for a short time; return what is left to ask the undecided ones."""
        unfinished = self._run(phase, requests, FIRST_SECONDS)
        decided = find_decided([request.candidate for request in unfinished]) if unfinished else ()
        complete = {request.candidate: request for request in requests}
        undecided = [request for request in unfinished if request.candidate not in decided]
        for number, request in enumerate(undecided):
            if request.keeps_state:  # a new process has to answer all calls again
                del self.answers[request.candidate]
                undecided[number] = complete[request.candidate]
        return undecided

    def _run(self, phase: str, requests: list[AnswerRequest], max_seconds: float | None = None) -> list[AnswerRequest]:
        """Let programs answer in one job each; return those that have calls left.

        `max_seconds` of work: after them, a program is asked nothing more; None: after a minute (see `collect`).
        """
        job_list = [request.make_job(request.calls) for request in requests]
        if max_seconds is not None:
            job_list = [jobs.with_max_seconds(max_seconds, job) for job in job_list]
        items = [(self._runner.key(job), job) for job in job_list]
        stored: dict[str, StoredAnswers] = {}
        errors: dict[str, str] = {}
        for key, result in self._runner.run(phase, items):
            if isinstance(result, str):
                errors[key] = result
            elif result.answer is not None:
                stored[key] = self._spool.put(key, result.answer)
        unfinished = []
        for (key, _), request in zip(items, requests, strict=True):
            answers = self.answers.setdefault(request.candidate, CandidateAnswers())
            if key not in stored:
                answers.infrastructure_error = errors.get(key, "it was not run")
                continue
            part = stored[key]
            answers.parts.append(part)
            # A living process without any reply has not loaded its program, so it would answer nothing later, either.
            if 0 < part.reply_count < len(request.calls) and not part.evidence.has_ended:
                unfinished.append(request._replace(calls=request.calls[part.reply_count :]))
        return unfinished


class Context(NamedTuple):
    """What the calls and the judge of every kind of task need."""

    tasks: Mapping[str, CodeTask]
    runner: JobRunner
    spool: Spool
    limits: Limits
    protocol: ExecutionProtocol
    collector: AnswerCollector
    states: States
