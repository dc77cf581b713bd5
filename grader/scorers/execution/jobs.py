"""Samples on their way to a verdict, and the jobs a supervisor is given for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from grader.scorers.execution.assembly import Program, assemble
from grader.scorers.execution.tasks import CodeTask

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.sandbox.interface import Job, Limits
    from grader.scorers.execution.declaration import ExecutionProtocol

ProtocolName = Literal["v1", "v2"]


class Texts(msgspec.Struct, frozen=True, kw_only=True):
    """The official evaluator's words under one protocol."""

    name: ProtocolName
    timed_out: str
    failed_prefix: str
    lint_prefix: str
    python: str = ""
    """Version of Python in its environment; empty: not known."""


def texts(name: str, protocol: ExecutionProtocol, timeout: float) -> Texts:
    """Return the words of a protocol for a time limit in seconds."""
    seconds = int(timeout) if timeout == int(timeout) else timeout
    return Texts(
        name="v1" if name == "v1" else "v2",
        timed_out=protocol.timed_out.replace("{timeout}", str(seconds)),
        failed_prefix=protocol.failed_prefix,
        lint_prefix=protocol.lint_prefix,
        python=protocol.python,
    )


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One sample on its way to a verdict."""

    task: CodeTask
    sample: int
    program: Program


def attempts(tasks: Mapping[str, CodeTask], predictions: Mapping[str, list[str]], words: Texts) -> Iterator[Attempt]:
    """Assemble every prediction, lazily."""
    for qid, texts_ in predictions.items():
        for number, text in enumerate(texts_):
            program = assemble(text, tasks[qid].signature_text, words.name)
            yield Attempt(task=tasks[qid], sample=number, program=program)


def confirm_job(attempt: Attempt, words: Texts, limits: Limits) -> Job:
    """Return the job that gates a program and, apart from its tests, runs it: before anything has run beside tests.

    A split run has a quarter more than the limit, for what crossing costs.
    """
    split = _split(attempt.task, attempt.program.completion)
    cpu = 1.25 * limits.cpu_seconds / 2
    return _common(attempt, words, limits) | {"cpu": cpu, "lint": True, "run": False, "split": split}


def run_job(attempt: Attempt, words: Texts, limits: Limits, *, gated: bool) -> Job:
    """Return the official run's job; `gated`: the linter has let the program through already."""
    return _common(attempt, words, limits) | {"lint": not gated, "run": True, "split": None}


def recovery_job(attempt: Attempt, words: Texts, limits: Limits) -> Job:
    """Return the job that tries the program with what the official assembly drops.

    What never met the limit in an official run has it here, and no more.
    """
    assert attempt.program.recovered is not None
    return _common(attempt, words, limits) | {
        "cpu": limits.cpu_seconds / 2,
        "lint": False,
        "run": False,
        "split": _split(attempt.task, attempt.program.recovered),
    }


def _common(attempt: Attempt, words: Texts, limits: Limits) -> Job:
    return {
        "id": 0,
        "head": attempt.program.head,
        "test": attempt.task.tests,
        "timed_out": words.timed_out,
        "failed_prefix": words.failed_prefix,
        "cpu": limits.cpu_seconds,
        "wall": limits.wall_seconds,
    }


def _split(task: CodeTask, source: str) -> dict[str, object]:
    return {
        "signature": task.signature.source,
        "source": source,
        "classes": list(task.signature.classes),
        "stubs": list(task.signature.stubs),
    }
