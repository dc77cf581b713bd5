"""The jobs that a supervisor gets to find the verdict on a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.scorers.execution.assembly import Program, assemble, head
from grader.scorers.execution.tasks import CodeTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from grade_sandbox import jobs as sandbox
    from grade_sandbox.jobs import Job

    from grader.sandbox.interface import Limits
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.extraction import Rules
    from grader.scorers.execution.states import Judged

COMPARING_SECONDS = 20.0
"""CPU time of comparing all answers of a program with the expected ones; a checker has the time of a test for each."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One assembled sample without a verdict yet."""

    task: CodeTask
    sample: int
    program: Program

    @property
    def head(self) -> str:
        """The program without its tests."""
        return head(self.task.signature_text, self.program.completion)


def attempts(
    tasks: Mapping[str, CodeTask],
    predictions: Mapping[str, list[str]],
    protocol: ExecutionProtocol,
    assemble: Callable[[str, str, Rules, tuple[str, ...], str | None], Program] = assemble,
) -> Iterator[Attempt]:
    """Assemble every prediction, lazily; equal texts of a task are assembled once."""
    for qid, texts_ in predictions.items():
        programs: dict[str, Program] = {}
        for number, text in enumerate(texts_):
            if text not in programs:
                programs[text] = assemble(text, *assembly_arguments(tasks[qid], protocol))
            yield Attempt(task=tasks[qid], sample=number, program=programs[text])


def assembly_arguments(task: CodeTask, protocol: ExecutionProtocol) -> tuple[str, Rules, tuple[str, ...], str | None]:
    """Return the arguments of `assemble` behind the prediction."""
    prelude = None if task.cases is None else protocol.prelude
    return task.signature_text, protocol.assembly, task.tested, prelude


def lint_job(attempt: Attempt, protocol: ExecutionProtocol, limits: Limits) -> Job:
    """Return the job that lints a program."""
    return {**_official(attempt, protocol, limits), "lint": True}


def run_job(attempt: Attempt, protocol: ExecutionProtocol, limits: Limits, *, gated: bool) -> Job:
    """Return the job of the official run; `gated`: the linter has already accepted the program."""
    return {**_official(attempt, protocol, limits), "lint": not gated, "run": True}


def record_job(task: CodeTask, limits: Limits, *, alone: bool = False) -> Job:
    """Return the job that records the calls of a task's tests, beside the reference solution if not `alone`."""
    signature = task.signature
    recorded: sandbox.Task = {
        "signature": signature.source, "classes": signature.classes, "stubs": signature.required, "test": task.tests,
        "reference": None if alone else task.reference,
    }  # fmt: skip
    return {**_times(4, task, limits), "record": recorded}


def answer_job(task: CodeTask, source: str, calls: Sequence[str], names: Mapping[str, str], limits: Limits) -> Job:
    """Return the job that lets a candidate answer recorded calls. It contains nothing of the tests."""
    signature = task.signature
    candidate: sandbox.Candidate = {
        "signature": signature.source, "classes": signature.classes, "stubs": signature.required, "source": source,
        "names": names,
    }  # fmt: skip
    return {**_times(1, task, limits), "answer": {"candidate": candidate, "calls": calls}}


def reseeded(job: Job, hash_seed: int) -> Job:
    """Return a job whose program runs with this hash seed; 0: the usual one."""
    return {**job, "hash_seed": hash_seed} if hash_seed else job


def at_most(seconds: float, job: Job) -> Job:
    """Return a job whose program is asked nothing more after so many seconds of work."""
    asked = job["answer"].copy()
    asked["max_seconds"] = seconds
    return {**job, "answer": asked}


def script_job(task: CodeTask, source: str, inputs: Sequence[str], limits: Limits) -> Job:
    """Return the job that runs a program once for each text of the standard input, each time with these limits."""
    return {**_limits(limits.cpu_seconds, task, limits), "answer": {"script": source, "calls": inputs}}


def calls_job(
    task: CodeTask,
    source: str,
    function: str,
    calls: Sequence[str],
    limits: Limits,
    *,
    most_bytes: int,
    known: Sequence[str] = (),
    tells: bool = False,
) -> Job:
    """Return the job that calls a function, each time with these limits.

    `tells`: a reply also has the arguments as the call left them, and what was printed. Answers of `most_bytes` are
    kept whole, but for large texts, and answers with one of the `known` digests.
    """
    candidate: sandbox.Candidate = {
        "signature": "",
        "classes": [],
        "stubs": [function],
        "source": source,
        "names": {},
        "max_answer_bytes": most_bytes,
        "with_effects": tells,
    }
    asked: sandbox.Answer = {"candidate": candidate, "calls": calls}
    if known:
        asked["known"] = known
    return {**_limits(limits.cpu_seconds, task, limits), "answer": asked}


def judge_job(task: CodeTask, state: Judged, limits: Limits, *, is_reference: bool = False, each: bool = False) -> Job:
    """Return the job that judges answers, still without them. It contains nothing of a candidate; see `with_answers`.

    `is_reference`: the answers of the reference solution are to be judged. `each`: of a candidate that fails, find out
    which assertions hold.
    """
    signature = task.signature
    judged: sandbox.JudgedTask = {
        "signature": signature.source, "classes": signature.classes, "stubs": signature.required, "test": task.tests,
        "names": state.names, "calls": state.calls,
    }  # fmt: skip
    if is_reference:
        judged["is_reference"] = True
    asked: sandbox.Judge = {"task": judged, "transcript": b""}
    if each:
        asked["by_assertion"] = True
    return {**_times(1, task, limits), "judge": asked}


def with_answers(job: Job, said: bytes, expected: Sequence[bytes]) -> Job:
    """Return a job with a program's answers to judge, and the messages of each run of the reference solution."""
    judged = job["judge"]["task"].copy()
    judged["expected"] = expected
    asked = job["judge"].copy()
    asked["task"], asked["transcript"] = judged, said
    return {**job, "judge": asked}


def compare_job(task: CodeTask, compare: sandbox.Compare, limits: Limits) -> Job:
    """Return the job that compares answers with expected ones."""
    seconds = limits.cpu_seconds * len(compare["pairs"]) if compare.get("checker") else 0.0
    return {**_limits(max(COMPARING_SECONDS, seconds), task, limits), "compare": compare}


def _official(attempt: Attempt, protocol: ExecutionProtocol, limits: Limits) -> Job:
    return {
        **_times(1, attempt.task, limits),
        "head": attempt.head,
        "test": attempt.task.tests,
        "timed_out": protocol.timed_out,
        "failed_prefix": protocol.failed_prefix,
        "file": protocol.has_file,
    }


def _limits(cpu: float, task: CodeTask, limits: Limits) -> Job:
    """Return the limits of a job."""
    wall = max(limits.wall_seconds, 4 * cpu)
    memory = task.memory_bytes or limits.memory_bytes
    given: Job = {"id": 0, "cpu": cpu, "wall": task.wall or wall}
    if memory < limits.sandbox_bytes:
        given["memory"] = memory
    return given


def _times(factor: float, task: CodeTask, limits: Limits) -> Job:
    """Return limits with so many times the CPU time of a task's programs."""
    return _limits(factor * (task.seconds or limits.cpu_seconds), task, limits)
