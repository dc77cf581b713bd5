"""From programs and the inputs of their tasks to both readings: all programs answer, then all answers are judged."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from grader.errors import InputError
from grader.files.json_text import quoted
from grader.results import Outcome, grouped
from grader.scorers.execution.candidate import Candidate, hash_seeds
from grader.scorers.execution.inputs import evalplus, judging, livecodebench, values, varying
from grader.scorers.execution.inputs.answering import (
    Answering,
    CheckerError,
    Checks,
    Wanted,
    key_of_checker,
    key_of_expected,
    run_on_expected,
    runs_of_checker,
)
from grader.scorers.execution.inputs.comparisons import CAREFUL, near_values, near_values_of_kind, rule, same_values
from grader.scorers.execution.inputs.judging import Judged, Output, printed, returned
from grader.scorers.execution.tasks import MOST_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grader.sandbox.answer import Answers
    from grader.sandbox.interface import Limits
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.inputs.cases import Cases
    from grader.scorers.execution.known import Spool
    from grader.scorers.execution.settling import Settler
    from grader.scorers.execution.tasks import CodeTask

EVALPLUS = "evalplus"
MOST_NAMED = 10
"""Number of broken reference solutions that an error names."""
REFERENCE_SECONDS, REFERENCE_BYTES = 30.0, 24 << 20
"""CPU time of a reference solution for each input, and bytes of each of its answers: as many as a message can have."""
FIRST_SECONDS, TIMES_REFERENCE = 1.0, 3.0
"""A program is slow after this CPU time for all its inputs, or after so many times that of the reference solution, if
that is more. A slow program gets no further inputs after a wrong answer."""


class _Expected(NamedTuple):
    """What is expected of a task's programs."""

    answers: Sequence[Any]
    replies: dict[str, Any]
    """Reply -> value, of a reference solution; digest of a large reply -> value."""
    seconds: float = 0.0
    """CPU time of a reference solution."""
    runs: Sequence[Sequence[Any]] = ()
    """Its answers to each input in all its runs, if some are not the same each time."""
    order: varying.Form | None = None
    """The form in which they have no order, if that differs."""

    @property
    def digests(self) -> tuple[str, ...]:
        """The digests of large replies."""
        return tuple(reply for reply in self.replies if reply.startswith('{"digest"'))


class References:
    """The reference solutions of tasks without expected outputs, and what they answered."""

    def __init__(self, settler: Settler, spool: Spool, limits: Limits) -> None:
        """`settler` may run its jobs where tests do; `spool` keeps the answers."""
        self._answering = Answering(settler, spool, limits)
        self.candidates: dict[str, Candidate] = {}
        """Task -> its reference solution, if it was run."""
        self.others: dict[str, list[Candidate]] = {}
        """Task -> its reference solution with other hash seeds."""
        self.broken: dict[str, str] = {}
        """Task -> why its reference solution has no answers."""
        self.expected: dict[str, _Expected] = {}
        """Task -> what its reference solution answered."""

    def run(self, wanted: Iterable[Wanted]) -> None:
        """Let the reference solutions of tasks answer, each with every seed."""
        every = list(wanted)
        for candidate in (runs.candidate for runs in every):
            if candidate.hash_seed:
                self.others.setdefault(candidate.qid, []).append(candidate)
            else:
                self.candidates[candidate.qid] = candidate
        self._answering.run("running references", every)

    def lost(self, qid: str) -> str | None:
        """Return why a reference solution was not run; None if it was."""
        return self._answering.lost.get(self.candidates[qid])

    def parts(self, qid: str) -> list[Answers]:
        """Return what a reference solution answered; see `Answering.answers`."""
        return self._answering.answers(self.candidates[qid])

    def others_parts(self, qid: str) -> list[list[Answers]]:
        """Return what it answered in its other runs, without those that were lost."""
        return [self._answering.answers(one) for one in self.others[qid] if one not in self._answering.lost]

    def forget(self, qid: str) -> None:
        """Forget a task: its reference solution may be run again."""
        self.candidates.pop(qid, None)
        self.others.pop(qid, None)
        self.broken.pop(qid, None)
        self.expected.pop(qid, None)


class Inputs:
    """Judges programs of tasks with inputs."""

    def __init__(
        self,
        tasks: Mapping[str, CodeTask],
        settler: Settler,
        spool: Spool,
        limits: Limits,
        protocol: ExecutionProtocol,
        *,
        references: References | None = None,
    ) -> None:
        """`references`: those that have already answered."""
        self._tasks, self._limits, self._protocol = tasks, limits, protocol
        self._answering = Answering(settler, spool, limits)
        self._checking = Answering(settler.with_tests(), spool, limits)
        self._checks = Checks(self._checking, limits.cpu_seconds, protocol)
        self._asked: set[Candidate] = set()
        """Checkers' runs on expected outputs."""
        self._references = references or References(settler.with_tests(), spool, limits)
        official = "lines" if protocol.compare == EVALPLUS else protocol.compare
        self._rules = rule(official), rule(protocol.compare_careful or CAREFUL.get(official, official))
        self._calls, self._room = cache(self._calls_of), cache(self._room_of)
        self.failed_checkers: dict[str, str] = {}
        """Task -> the first error of its checker."""
        self.failed_references: dict[str, str] = {}
        """Task -> why its reference solution gives no expected answers."""
        self._officially: dict[Candidate, Candidate] = {}
        """Program -> the same program in the form in which a published harness runs it, for tasks with a harness."""

    def judged(self, candidates: Iterable[Candidate]) -> dict[Candidate, Judged]:
        """Return both readings of each program, except of those that are open."""
        programs = list(dict.fromkeys(candidates))
        self._officially |= {program: self._as_official(program) for program in programs if self._protocol.harness}
        every_program = dict.fromkeys((*programs, *(self._officially.get(program, program) for program in programs)))
        by_task = grouped(every_program, lambda program: program.qid)
        if not by_task:
            return {}
        self.answer_references(by_task)
        broken = {qid: why for qid in by_task if (why := self._references.broken.get(qid))}
        named = [f"task {quoted(qid)}: its reference solution {why}" for qid, why in broken.items()]
        if len(broken) == len(by_task):
            raise InputError(named[:MOST_NAMED])
        self.failed_references |= broken
        by_task = {qid: every for qid, every in by_task.items() if qid not in broken}
        seconds = {qid: self._seconds(qid) for qid in by_task}
        expected = {qid: self._expected(qid) for qid in by_task}
        wanted = (
            self._wanted(program, seconds[qid], self._room(qid), expected[qid].digests)
            for qid, every in by_task.items()
            for program in every
        )
        self._answering.run("running programs", wanted, self._is_decided)
        self._check(
            [program for qid, every in by_task.items() if self._cases(qid).checker for program in every], seconds
        )
        unjudged = dict(zip(broken, map(judging.unjudged, named), strict=True))
        verdicts = {program: unjudged[program.qid] for program in programs if program.qid in unjudged}
        for qid, every in by_task.items():
            verdicts |= {
                program: self._judged(program, expected[qid], seconds[qid])
                for program in every
                if not self.is_open(program)
            }
        for program in programs:
            official = verdicts.get(self._officially.get(program, program))
            if official is not None and program in verdicts:
                verdicts[program] = msgspec.structs.replace(
                    verdicts[program], official=official.official, text=official.text
                )
        return verdicts

    def _as_official(self, candidate: Candidate) -> Candidate:
        """Return the program in the form in which the harness runs it."""
        source, prelude, function = candidate.source, self._protocol.prelude, self._cases(candidate.qid).function
        if not function:
            whole = livecodebench.as_function(source, prelude)
        else:
            whole = livecodebench.with_function(source, prelude, function, is_official=True)
            if whole == livecodebench.with_function(source, prelude, function):
                return candidate
        return msgspec.structs.replace(candidate, source=whole, is_whole=True)

    def is_open(self, candidate: Candidate) -> bool:
        """Whether a program has no verdict: it, or its task's checker, needs more than the short time it was given."""
        forms = {candidate, self._officially.get(candidate, candidate)}
        checkers = {key_of_checker(form) for form in forms} | {key for key in self._asked if key.qid == candidate.qid}
        return bool(forms & self._answering.open or checkers & self._checking.open)

    def _cases(self, qid: str) -> Cases:
        cases = self._tasks[qid].cases
        assert cases is not None
        return cases

    def _calls_of(self, qid: str) -> tuple[str, ...]:
        cases = self._cases(qid)
        return values.calls(cases.function, cases.inputs) if cases.function else cases.inputs

    def _room_of(self, qid: str) -> int:
        """Return the bytes of an answer of a function that is kept whole."""
        expected = self._expected(qid).answers if self._cases(qid).function else ()
        return max([values.LARGE, *map(values.room, expected)])

    def _wanted(self, candidate: Candidate, seconds: float, most_bytes: int, known: tuple[str, ...] = ()) -> Wanted:
        function, source = self._cases(candidate.qid).function, candidate.source
        if not candidate.is_whole:
            source = livecodebench.with_function(source, self._protocol.prelude, function)
        first_seconds = max(FIRST_SECONDS, TIMES_REFERENCE * self._reference_seconds(candidate.qid))
        task, calls = self._tasks[candidate.qid], self._calls(candidate.qid)
        return Wanted(candidate, task, source, calls, function, seconds, first_seconds, most_bytes, known)

    # --- references ---

    def answer_references(self, qids: Iterable[str]) -> None:
        """Let the reference solutions answer where the data has no outputs; `broken` has those without answers."""
        known = self._references
        open_ = [qid for qid in qids if self._cases(qid).outputs is None and qid not in known.candidates]
        candidates = [
            Candidate(qid=qid, source=f"{source}\n# reference", hash_seed=seed)
            for qid, source in ((qid, self._tasks[qid].whole_solution or "") for qid in open_)
            for seed in hash_seeds(source)
        ]
        limits = REFERENCE_SECONDS, REFERENCE_BYTES
        candidates.sort(key=lambda candidate: candidate.hash_seed)
        known.run([self._wanted(candidate, *limits) for candidate in candidates])
        known.broken |= {qid: why for qid in open_ if (why := self._reference_problem(qid))}

    def _reference_problem(self, qid: str) -> str:
        if (lost := self._references.lost(qid)) is not None:
            return f"was not run: {lost}"
        outputs = self._outputs(qid, self._references.parts(qid), REFERENCE_SECONDS)
        is_answer = [output.outcome is Outcome.PASSED for output in outputs]
        if all(is_answer):
            expected = self._expectation(qid, [output.value for output in outputs])
            _, is_answer = self._right(self._references.candidates[qid], self._cases(qid), expected, outputs)
            if all(is_answer):
                self._references.expected[qid] = expected._replace(**self._variation(qid, expected.answers))
                return ""
        number = is_answer.index(False)
        why = outputs[number].why or f"its answer cannot be compared: {outputs[number].shown:.100}"
        if outputs[number].outcome is Outcome.OUT_OF_MEMORY:
            why += " (give more with --memory)"
        return f"fails with its input {number + 1}, {self._cases(qid).shown(number):.100}: {why}"

    def _variation(self, qid: str, answers: Sequence[Any]) -> dict[str, Any]:
        """Return the fields of `_Expected` about answers that are not the same in each run of a reference."""
        others = [self._outputs(qid, parts, REFERENCE_SECONDS) for parts in self._references.others_parts(qid)]
        whole = [run for run in others if all(output.outcome is Outcome.PASSED for output in run)]
        runs = [*zip(answers, *([output.value for output in run] for run in whole), strict=True)]
        return {"runs": runs, "order": varying.order_of(runs)} if varying.differ(runs) else {}

    def _seconds(self, qid: str) -> float:
        own = self._tasks[qid].seconds or self._limits.cpu_seconds
        return max(own, min(MOST_SECONDS, self._protocol.times_reference * self._reference_seconds(qid)))

    def _reference_seconds(self, qid: str) -> float:
        expected = self._references.expected.get(qid)
        return 0.0 if expected is None else expected.seconds

    # --- judging ---

    def _outputs(
        self, qid: str, parts: Sequence[Answers], seconds: float, expected: _Expected | None = None
    ) -> list[Output]:
        """Return what a program gave. Without `expected`, it is a reference solution, or it prints its answers."""
        cases = self._cases(qid)
        if not cases.function:
            return printed(parts, len(cases.inputs), seconds, self._protocol)
        known, most_bytes = ({}, None) if expected is None else (expected.replies, self._room(qid))
        return returned(parts, cases, seconds, self._protocol, known=known, most_bytes=most_bytes)

    def _expected(self, qid: str) -> _Expected:
        cases = self._cases(qid)
        if cases.outputs is None:
            return self._references.expected[qid]
        return _Expected([*map(values.as_kept, cases.outputs)] if cases.function else cases.outputs, {})

    def _expectation(self, qid: str, answers: Sequence[Any]) -> _Expected:
        """Return what a reference solution answered."""
        parts = self._references.parts(qid)
        replies = (reply for part in parts for reply in part.replies)
        # A value with a NaN does not equal itself, but would if it were the same object.
        known = {reply: value for reply, value in zip(replies, answers, strict=True) if "NaN" not in reply}
        digests = {values.digest(reply): value for reply, value in known.items() if len(reply) > values.LARGE}
        return _Expected(answers, known | digests, sum(part.evidence.cpu for part in parts))

    def _judged(self, candidate: Candidate, expected: _Expected, seconds: float) -> Judged:
        if candidate in self._answering.lost:
            return judging.unjudged(self._answering.lost[candidate])
        cases, parts = self._cases(candidate.qid), self._answering.answers(candidate)
        outputs = self._outputs(candidate.qid, parts, seconds, expected)
        try:
            right = self._right(candidate, cases, expected, outputs)
        except CheckerError as error:
            self.failed_checkers.setdefault(candidate.qid, str(error))
            return judging.unjudged(f"task {candidate.qid}: {error}", "checker")
        verdict = judging.judged(cases, expected.answers, outputs, right, self._protocol)
        return msgspec.structs.replace(verdict, seconds=sum(part.evidence.cpu for part in parts))

    def _check(self, candidates: list[Candidate], seconds: Mapping[str, float]) -> None:
        """Let checkers decide about answers; no program is asked any more."""
        answered = {
            candidate: self._outputs(candidate.qid, self._answering.answers(candidate), seconds[candidate.qid])
            for candidate in candidates
            if candidate not in self._answering.lost and candidate not in self._answering.open
        }
        self._run_checkers(runs_of_checker(c, self._cases(c.qid), outputs) for c, outputs in answered.items())
        raised = {
            (candidate.qid, number)
            for candidate, outputs in answered.items()
            if key_of_checker(candidate) not in self._checking.lost.keys() | self._checking.open
            for number in self._checks.raised(candidate, outputs)
        }
        open_ = [place for place in sorted(raised) if key_of_expected(*place) not in self._asked]
        self._asked |= {key_of_expected(*place) for place in open_}
        self._run_checkers(run_on_expected(qid, self._cases(qid), number) for qid, number in open_)

    def _run_checkers(self, runs: Iterable[tuple[Candidate, str, tuple[str, ...]]]) -> None:
        limit = self._limits.cpu_seconds
        wanted = [Wanted(key, self._tasks[key.qid], source, texts, "", limit, limit) for key, source, texts in runs]
        self._checking.run("running checkers", [runs for runs in wanted if runs.calls])

    def _is_decided(self, candidate: Candidate) -> bool:
        """Whether a program's answers so far are wrong in both readings, so that further ones change no verdict."""
        cases, expected = self._cases(candidate.qid), self._expected(candidate.qid)
        if cases.checker:
            return False
        parts = self._answering.answers(candidate)
        count = sum(len(part.replies) for part in parts)
        outputs = self._outputs(candidate.qid, parts, self._seconds(candidate.qid), expected)
        return all(False in right[:count] for right in self._right(candidate, cases, expected, outputs))

    def _right(
        self, candidate: Candidate, cases: Cases, known: _Expected, outputs: Sequence[Output]
    ) -> list[list[bool]]:
        """Return for each reading whether the answers are right; raises CheckerError."""
        qid, expected = candidate.qid, known.answers
        if cases.checker:
            return [self._checks.right(candidate, outputs)] * 2
        official, careful = self._compared(qid, cases, expected, outputs)
        for number, runs in enumerate(known.runs):
            output = outputs[number]
            careful[number] |= output.outcome is Outcome.PASSED and varying.is_like(runs, output.value, known.order)
        return [official, careful]

    def _compared(self, qid: str, cases: Cases, expected: Sequence[Any], outputs: Sequence[Output]) -> list[list[bool]]:
        if self._protocol.compare == EVALPLUS:
            return _as_evalplus(qid, cases, expected, outputs)
        rules = (same_values, near_values) if cases.function else self._rules
        pairs = list(zip(expected, outputs, strict=True))
        return [
            [output.outcome is Outcome.PASSED and is_right(e, output.value) for e, output in pairs]
            for is_right in rules
        ]


def _as_evalplus(qid: str, cases: Cases, expected: Sequence[Any], outputs: Sequence[Output]) -> list[list[bool]]:
    """Return for each reading which answers are right. EvalPlus judges the base inputs and the others separately."""
    triples = list(zip(cases.inputs, expected, [output.value for output in outputs], strict=True))
    parts = triples[: cases.base], triples[cases.base :]
    rights = [pair for part in parts for pair in evalplus.rights(qid, cases.function, cases.tolerance, part)]
    returned = [output.outcome is Outcome.PASSED for output in outputs]
    official = [is_right and is_value for (is_right, _), is_value in zip(rights, returned, strict=True)]
    careful = [
        (is_right and not is_broadcast) or (is_value and near_values_of_kind(e, value))
        for is_right, (_, is_broadcast), is_value, (_, e, value) in zip(
            official, rights, returned, triples, strict=True
        )
    ]
    return [official, careful]
