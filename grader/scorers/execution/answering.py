"""Let programs answer. Their jobs contain no test and no expected answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.execution import jobs
from grader.scorers.execution.candidate import Candidate, CandidateAnswers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from grade_sandbox.jobs import Job

    from grader.sandbox.interface import Limits
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.settling import Settler
    from grader.scorers.execution.spool import Spool, StoredAnswers
    from grader.scorers.execution.states import States
    from grader.scorers.execution.tasks import CodeTask


FIRST_SECONDS = 0.5
"""Seconds of work after which a program answers more only if its answers so far are right."""


class AnswerRequest(NamedTuple):
    """A program, and what it is asked."""

    candidate: Candidate
    calls: Sequence[str]
    job: Callable[[Sequence[str]], Job]
    """Returns the job in which it answers these calls."""
    remembers: bool = False
    """Whether an answer may depend on the calls before, because one process answers them."""


class Answering:
    """Gets the answers of programs, and keeps them until they are judged."""

    def __init__(self, settler: Settler, spool: Spool) -> None:
        self._settler, self._spool = settler, spool
        self.found: dict[Candidate, CandidateAnswers] = {}

    def run(
        self,
        phase: str,
        requests: Iterable[AnswerRequest],
        wrong: Callable[[Sequence[Candidate]], Collection[Candidate]] | None = None,
    ) -> None:
        """Let programs answer that have not answered yet.

        A supervisor that was busy with one for a minute leaves the rest of its calls to another job. `wrong`: returns
        those whose answers so far decide their verdicts. Such programs are asked nothing more, and slow ones are
        interrupted early for this. What is not wrong answers the rest, or everything again if it `remembers` calls.
        """
        new = {one.candidate: one for one in requests if one.candidate not in self.found}
        # Most programs that never end have a `while` loop. Started last, one would run alone while other workers wait.
        open_ = sorted(new.values(), key=lambda one: "while" not in one.candidate.source)
        if wrong is not None:
            open_ = self._run(phase, open_, FIRST_SECONDS)
            decided = wrong([one.candidate for one in open_]) if open_ else ()
            open_ = [one for one in open_ if one.candidate not in decided]
            for place, one in enumerate(open_):
                if one.remembers:
                    del self.found[one.candidate]
                    open_[place] = new[one.candidate]
        while open_:
            open_ = self._run(phase, open_)

    def _run(self, phase: str, requests: list[AnswerRequest], most: float | None = None) -> list[AnswerRequest]:
        """Let programs answer in one job each; return those that have calls left. `most`: see `jobs.at_most`."""
        made = [one.job(one.calls) for one in requests]
        if most is not None:
            made = [jobs.at_most(most, job) for job in made]
        items = [(self._settler.key(job), job) for job in made]
        kept: dict[str, StoredAnswers] = {}
        lost: dict[str, str] = {}
        for key, result in self._settler.settle(phase, items):
            if isinstance(result, str):
                lost[key] = result
            elif result.answer is not None:
                kept[key] = self._spool.put(key, result.answer)
        rest = []
        for (key, _), one in zip(items, requests, strict=True):
            found = self.found.setdefault(one.candidate, CandidateAnswers())
            if key not in kept:
                found.lost = lost.get(key, "it was not run")
            else:
                found.answers.append(kept[key])
                if 0 < kept[key].replies < len(one.calls) and not kept[key].evidence.has_ended:
                    rest.append(one._replace(calls=one.calls[kept[key].replies :]))
        return rest


class Tools(NamedTuple):
    """What the calls and the judge of every kind of task need."""

    tasks: Mapping[str, CodeTask]
    settler: Settler
    spool: Spool
    limits: Limits
    protocol: ExecutionProtocol
    answering: Answering
    states: States
