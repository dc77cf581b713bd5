"""The jobs that a supervisor gets to find the verdict on a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.execution.assembly import head

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grade_sandbox import jobs as sandbox
    from grade_sandbox.jobs import Job

    from grader.sandbox.interface import Limits
    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.states import Judgeable
    from grader.scorers.execution.tasks import CodeTask

COMPARING_SECONDS = 20.0
"""CPU time of comparing all answers of a program with the expected ones; a checker has the time of a test for each."""
RECORDING_FACTOR = 4
"""Recording runs the tests more than once and follows every call, so it has this many times a program's CPU time."""
WALL_FACTOR = 4
"""Wall time for a second of CPU time: enough if four programs share a core."""


def lint_job(task: CodeTask, completion: str, protocol: ExecutionProtocol, limits: Limits) -> Job:
    """Return the job that lints a program."""
    return {**_official_job(task, completion, protocol, limits), "lint": True}


def run_job(task: CodeTask, completion: str, protocol: ExecutionProtocol, limits: Limits, *, is_linted: bool) -> Job:
    """Return the job of the official run; `is_linted`: the linter has already accepted the program."""
    return {**_official_job(task, completion, protocol, limits), "lint": not is_linted, "run": True}


def record_job(task: CodeTask, limits: Limits, *, with_reference: bool = True) -> Job:
    """Return the job that records the calls of a task's tests, beside its reference solution or without it."""
    signature = task.signature
    recording: sandbox.Task = {
        "signature": signature.source, "classes": signature.shared_classes, "stubs": signature.required,
        "test": task.tests, "reference": task.reference if with_reference else None,
    }  # fmt: skip
    return {**_program_limits(task, limits, RECORDING_FACTOR), "record": recording}


def answer_job(
    task: CodeTask, source: str, calls: Sequence[str], names: Mapping[str, str], limits: Limits, *, run: int = 0
) -> Job:
    """Return the job that lets a candidate answer calls. Of the tests it has only the `names` that they use."""
    signature = task.signature
    candidate: sandbox.Candidate = {
        "signature": signature.source, "classes": signature.shared_classes, "stubs": signature.required,
        "source": source, "names": names,
    }  # fmt: skip
    if run:
        candidate["run"] = run
    return {**_program_limits(task, limits), "answer": {"candidate": candidate, "calls": calls}}


def with_max_seconds(seconds: float, job: Job) -> Job:
    """Return a job whose program is asked nothing more after so many seconds of work."""
    answer = job["answer"].copy()
    answer["max_seconds"] = seconds
    return {**job, "answer": answer}


def script_job(task: CodeTask, source: str, inputs: Sequence[str], limits: Limits) -> Job:
    """Return the job that runs a program once for each text of the standard input, each time with these limits."""
    return {**_job_limits(limits.cpu_seconds, task, limits), "answer": {"script": source, "calls": inputs}}


def calls_job(
    task: CodeTask,
    source: str,
    function: str,
    calls: Sequence[str],
    limits: Limits,
    *,
    max_bytes: int,
    expected_digests: Sequence[str] = (),
    reports_side_effects: bool = False,
) -> Job:
    """Return the job that calls a function, each time with these limits.

    `reports_side_effects`: a reply also has the arguments as the call left them, and what was printed. A digest comes
    back instead of an answer that has more than `max_bytes`, is one long text, or has one of the `expected_digests`.
    """
    candidate: sandbox.Candidate = {
        "signature": "",
        "classes": [],
        "stubs": [function],
        "source": source,
        "names": {},
        "max_answer_bytes": max_bytes,
        "with_effects": reports_side_effects,
    }
    answer: sandbox.Answer = {"candidate": candidate, "calls": calls}
    if expected_digests:
        answer["expected_digests"] = expected_digests
    return {**_job_limits(limits.cpu_seconds, task, limits), "answer": answer}


def judge_job(
    task: CodeTask,
    state: Judgeable,
    limits: Limits,
    *,
    is_reference: bool = False,
    judges_assertions: bool = False,
) -> Job:
    """Return the job that judges answers, still without them. It contains nothing of a candidate; see `with_answers`.

    `is_reference`: the answers of the reference solution are to be judged. `judges_assertions`: of a candidate that
    fails, find out which assertions hold.
    """
    signature = task.signature
    judged_task: sandbox.JudgedTask = {
        "signature": signature.source, "classes": signature.shared_classes, "stubs": signature.required,
        "test": task.tests, "names": state.names, "calls": state.calls,
    }  # fmt: skip
    if is_reference:
        judged_task["is_reference"] = True
    judge: sandbox.Judge = {"task": judged_task, "transcript": b""}
    if judges_assertions:
        judge["by_assertion"] = True
    return {**_program_limits(task, limits), "judge": judge}


def with_answers(job: Job, transcript: bytes, expected_runs: Sequence[bytes]) -> Job:
    """Return a job with the transcript of a program's answers, and the expected one of each run of the reference."""
    judge = job["judge"].copy()
    judge["task"] = judge["task"].copy()
    judge["task"]["expected"] = expected_runs
    judge["transcript"] = transcript
    return {**job, "judge": judge}


def compare_job(task: CodeTask, compare: sandbox.Compare, limits: Limits) -> Job:
    """Return the job that compares answers with expected ones."""
    seconds = limits.cpu_seconds * len(compare["pairs"]) if compare.get("checker") else 0.0
    return {**_job_limits(max(COMPARING_SECONDS, seconds), task, limits), "compare": compare}


def _official_job(task: CodeTask, completion: str, protocol: ExecutionProtocol, limits: Limits) -> Job:
    return {
        **_program_limits(task, limits),
        "head": head(task.signature_text, completion),
        "test": task.tests,
        "timed_out": protocol.timed_out,
        "failed_prefix": protocol.failed_prefix,
        "file": protocol.has_file,
    }


def _job_limits(cpu_seconds: float, task: CodeTask, limits: Limits) -> Job:
    """Return the limits of a job. Without `memory`, its program may use all that the sandbox has."""
    wall_seconds = task.wall_seconds or max(limits.wall_seconds, WALL_FACTOR * cpu_seconds)
    job: Job = {"id": 0, "cpu": cpu_seconds, "wall": wall_seconds}
    memory = task.memory_bytes or limits.memory_bytes
    if memory < limits.sandbox_bytes:
        job["memory"] = memory
    return job


def _program_limits(task: CodeTask, limits: Limits, factor: float = 1) -> Job:
    """Return limits with `factor` times the CPU time of a task's programs."""
    return _job_limits(factor * task.program_seconds(limits), task, limits)
