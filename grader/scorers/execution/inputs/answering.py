"""Run programs with the inputs of their tasks. No expected output is in any job, and no verdict is known yet.

A checker is Python in the data that decides about outputs where several are right. It runs apart from the candidate.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from grader.results import Outcome
from grader.scorers.execution import jobs
from grader.scorers.execution.candidate import Candidate
from grader.scorers.execution.inputs.judging import Output, printed
from grader.scorers.execution.inputs.values import LARGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from grade_sandbox.jobs import Job

    from grader.sandbox.answer import Answers, Executed
    from grader.sandbox.interface import Limits
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.inputs.cases import Cases
    from grader.scorers.execution.known import Spool
    from grader.scorers.execution.settling import Settler
    from grader.scorers.execution.tasks import CodeTask


class Wanted(NamedTuple):
    """A program, and what it is asked: texts of the standard input, or calls of a function."""

    candidate: Candidate
    task: CodeTask
    source: str
    calls: tuple[str, ...]
    function: str
    seconds: float
    """CPU time for each call."""
    first_seconds: float
    """CPU time for all calls together. A program that needs more gets no further calls after a wrong answer."""
    most_bytes: int = LARGE
    """Bytes of an answer of a function that is kept whole."""
    known: tuple[str, ...] = ()
    """Digests of large answers that are expected."""


class Answering:
    """Gets the answers of programs, and keeps them until they are judged."""

    def __init__(self, settler: Settler, spool: Spool, limits: Limits) -> None:
        self._settler, self._spool, self._limits = settler, spool, limits
        self.lost: dict[Candidate, str] = {}
        """Program -> why it has no answers."""
        self.open: set[Candidate] = set()
        """Programs without answers, because they need more than the short time that they were given."""
        self._keys: dict[Candidate, list[str]] = {}

    def run(self, phase: str, wanted: Iterable[Wanted], is_decided: Callable[[Candidate], bool] | None = None) -> None:
        """Run these programs. A supervisor that was busy with one for a minute leaves the rest to another job.

        `is_decided`: whether the answers of a slow program so far decide its verdict, so that it gets no further calls.
        """
        open_ = list(wanted)
        if is_decided is not None and not self._limits.short_seconds:
            open_ = self._first_run(phase, open_, is_decided)
        while open_:
            open_ = self._run(phase, open_)

    def _first_run(self, phase: str, wanted: list[Wanted], is_decided: Callable[[Candidate], bool]) -> list[Wanted]:
        """Run programs, slow ones only for their `first_seconds`; return those that have to run on."""

        def job(runs: Wanted) -> Job:
            return {**self._job(runs), "short": runs.first_seconds}

        # A key leaves out the short time, but here it decides how many calls are answered.
        items = [(self._settler.key({**job(runs), "first": runs.first_seconds}), runs) for runs in wanted]
        slow, rest = self._settled(phase, items, job, keeps_stopped=True)
        # They start again: the calls of a function belong to one process, and the cache keeps whole jobs.
        again = [runs for runs in slow if not is_decided(runs.candidate)]
        for runs in again:
            self._keys.pop(runs.candidate)
        return [*rest, *again]

    def _run(self, phase: str, wanted: list[Wanted]) -> list[Wanted]:
        """Run programs; return those of which a part of the calls is not answered."""
        items = [(self._settler.key(self._job(runs)), runs) for runs in wanted]
        slow, rest = self._settled(phase, items, self._job)
        self.open |= {runs.candidate for runs in slow}
        return rest

    def _settled(
        self,
        phase: str,
        items: list[tuple[str, Wanted]],
        job: Callable[[Wanted], Job],
        *,
        keeps_stopped: bool = False,
    ) -> tuple[list[Wanted], list[Wanted]]:
        """Run programs by their keys; return the stopped ones, and those of which a part of the calls is not answered.

        `keeps_stopped`: whether the answers of stopped programs count.
        """
        counts: dict[str, int] = {}
        stopped: set[str] = set()

        def take(key: str, executed: Executed) -> bool:
            answers = executed.answer
            if executed.is_open:
                stopped.add(key)
            if answers is not None and (keeps_stopped or not executed.is_open):
                self._spool.put(key, answers)
                counts[key] = 0 if _has_ended(answers) else len(answers.replies)
            return False

        lost = self._settler.settle(phase, items, job, take, keeps_stopped=keeps_stopped)
        slow, rest = [], []
        for key, runs in items:
            if key in counts:
                self._keys.setdefault(runs.candidate, []).append(key)
            if key in stopped:
                slow.append(runs)
            elif key not in counts:
                self.lost[runs.candidate] = lost.get(key, "it was not run")
            elif 0 < counts[key] < len(runs.calls):
                rest.append(runs._replace(calls=runs.calls[counts[key] :]))
        return slow, rest

    def _job(self, runs: Wanted) -> Job:
        limits = msgspec.structs.replace(self._limits, cpu_seconds=runs.seconds)
        if runs.function:
            most, known = runs.most_bytes, runs.known
            calls = runs.task, runs.source, runs.function, runs.calls
            job = jobs.calls_job(*calls, limits, most_bytes=most, known=known)
        else:
            job = jobs.script_job(runs.task, runs.source, runs.calls, limits)
        return jobs.reseeded(job, runs.candidate.hash_seed)

    def answers(self, candidate: Candidate) -> list[Answers]:
        """Return the answers of a program, one after the other, in as many parts as there were jobs."""
        kept_answers = (self._spool.get(key) for key in self._keys.get(candidate, ()))
        return [answers for answers in kept_answers if answers is not None]


def _has_ended(answers: Answers) -> bool:
    """Whether the program can answer nothing more."""
    evidence = answers.evidence
    return evidence.stopped is not None or evidence.oom or evidence.status is not None


_CALLED = """
import base64, json, sys, zlib
_space = {{"__name__": "checker"}}
exec(compile({!r}, "checker", "exec"), _space)
_text = zlib.decompress(base64.b64decode(sys.stdin.read()))
_given, sys.stdout, _output = json.loads(_text), sys.stderr, sys.stdout
_output.write(json.dumps(bool(_space["check"](*_given))))
_output.flush()
"""


class CheckerError(Exception):
    """Raised if a checker gives no verdict; the text says on which input, and why."""


def runs_of_checker(
    candidate: Candidate, cases: Cases, outputs: Sequence[Output]
) -> tuple[Candidate, str, tuple[str, ...]]:
    """Return the name of these runs, the program, and its inputs: one for each answer, with its text as data."""
    texts = tuple(
        _packed([cases.inputs[number], output.value, expected])
        for number, (output, expected) in enumerate(zip(outputs, cases.outputs or (), strict=True))
        if output.outcome is Outcome.PASSED
    )
    return key_of_checker(candidate), _CALLED.format(cases.checker), texts


def _packed(texts: list[str]) -> str:
    """Return texts as an input of a checker. In plain JSON, an output can be six times as long as it was."""
    return base64.b64encode(zlib.compress(json.dumps(texts).encode(), 1)).decode()


def run_on_expected(qid: str, cases: Cases, number: int) -> tuple[Candidate, str, tuple[str, ...]]:
    """Return the same for one expected output, as if a program had printed it."""
    expected = (cases.outputs or ())[number]
    texts = (_packed([cases.inputs[number], expected, expected]),)
    return key_of_expected(qid, number), _CALLED.format(cases.checker), texts


def key_of_expected(qid: str, number: int) -> Candidate:
    """Return the name under which the checker's run on an expected output is kept."""
    return Candidate(qid=qid, source=f"checker for the expected output {number}")


class Checks:
    """What checkers say of programs' answers.

    One that raises on an answer, and accepts the expected output, has found the answer wrong (as on DMOJ).
    """

    def __init__(self, answering: Answering, seconds: float, protocol: ExecutionProtocol) -> None:
        self._answering, self._seconds, self._protocol = answering, seconds, protocol

    def right(self, candidate: Candidate, outputs: Sequence[Output]) -> list[bool]:
        """Return the verdicts on a program's answers; raises CheckerError."""
        said = self._said(candidate, outputs)
        return [verdict is not None and self._is_right(candidate, verdict, n) for n, verdict in enumerate(said)]

    def raised(self, candidate: Candidate, outputs: Sequence[Output]) -> list[int]:
        """Return the numbers of the answers on which the checker raises; raises CheckerError."""
        said = self._said(candidate, outputs)
        return [n for n, verdict in enumerate(said) if verdict is not None and verdict.outcome is Outcome.ERROR]

    def _said(self, candidate: Candidate, outputs: Sequence[Output]) -> list[Output | None]:
        """Return what the checker printed for each answer; None where there is no answer."""
        count = sum(output.outcome is Outcome.PASSED for output in outputs)
        verdicts = iter(self._printed(key_of_checker(candidate), count) if count else ())
        return [next(verdicts) if output.outcome is Outcome.PASSED else None for output in outputs]

    def _printed(self, key: Candidate, count: int) -> list[Output]:
        if key in self._answering.lost:
            raise CheckerError(f"the checker was not run: {self._answering.lost[key]}")
        return printed(self._answering.answers(key), count, self._seconds, self._protocol)

    def _is_right(self, candidate: Candidate, verdict: Output, number: int) -> bool:
        if verdict.outcome is Outcome.PASSED and verdict.value in ("true", "false"):
            return bool(verdict.value == "true")
        if verdict.outcome is Outcome.ERROR:
            (expected,) = self._printed(key_of_expected(candidate.qid, number), 1)
            if expected.outcome is Outcome.PASSED and expected.value == "true":
                return False
        raise CheckerError(
            f"the checker fails with the output for input {number + 1}: {verdict.why or 'it ended without a verdict'}"
        )


def key_of_checker(candidate: Candidate) -> Candidate:
    """Return the name under which the checker's runs for a program are kept."""
    digest = hashlib.sha256(candidate.source.encode("utf-8", "surrogatepass")).hexdigest()
    return msgspec.structs.replace(candidate, source=f"checker for {digest}")
