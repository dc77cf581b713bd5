"""The jobs that a supervisor gets to find the verdict on a sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from grader.scorers.execution.assembly import Program, assemble, head
from grader.scorers.execution.extraction import Rules
from grader.scorers.execution.tasks import CodeTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from grader.sandbox.answer import Answers
    from grader.sandbox.interface import Job, Limits
    from grader.scorers.execution.calls import Calls, Unrecordable
    from grader.scorers.execution.declaration import ExecutionProtocol


class Texts(msgspec.Struct, frozen=True, kw_only=True):
    """The official evaluator's texts and settings under one protocol."""

    assembly: Rules
    executed_layout: Literal["v1", "v2"]
    lint: bool
    timed_out: str
    failed_prefix: str
    lint_prefix: str
    python: str = ""
    """Python version of its environment; empty: unknown."""


def texts(protocol: ExecutionProtocol, timeout: float) -> Texts:
    """Return the texts of a protocol for a time limit in seconds."""
    seconds = int(timeout) if timeout == int(timeout) else timeout
    return Texts(
        assembly=protocol.assembly,
        executed_layout=protocol.executed_layout,
        lint=protocol.lint,
        timed_out=protocol.timed_out.replace("{timeout}", str(seconds)),
        failed_prefix=protocol.failed_prefix,
        lint_prefix=protocol.lint_prefix,
        python=protocol.python,
    )


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
    words: Texts,
    assemble: Callable[[str, str, Rules], Program] = assemble,
) -> Iterator[Attempt]:
    """Assemble every prediction, lazily; equal texts of a task are assembled once."""
    for qid, texts_ in predictions.items():
        programs: dict[str, Program] = {}
        for number, text in enumerate(texts_):
            if text not in programs:
                programs[text] = assemble(text, tasks[qid].signature_text, words.assembly)
            yield Attempt(task=tasks[qid], sample=number, program=programs[text])


def lint_job(attempt: Attempt, words: Texts, limits: Limits) -> Job:
    """Return the job that lints a program."""
    return _official(attempt, words, limits) | {"lint": True}


def run_job(attempt: Attempt, words: Texts, limits: Limits, *, gated: bool) -> Job:
    """Return the job of the official run; `gated`: the linter has already accepted the program."""
    return _official(attempt, words, limits) | {"lint": not gated, "run": True}


def record_job(task: CodeTask, limits: Limits) -> Job:
    """Return the job that records the calls of a task's tests, twice."""
    return _limits(4 * limits.cpu_seconds, limits) | {"record": _tests(task)}


def answer_job(task: CodeTask, source: str, calls: Calls, limits: Limits) -> Job:
    """Return the job that lets a candidate answer recorded calls. It contains nothing of the tests.

    It may take a quarter more time than the limit, for the cost of the calls themselves.
    """
    return _limits(1.25 * limits.cpu_seconds, limits) | {
        "answer": {**_candidate(task, source, calls), "calls": calls.calls}
    }


def judge_job(task: CodeTask, calls: Calls, answers: Answers, limits: Limits) -> Job:
    """Return the job that judges answers. It contains nothing of the candidate except its answers."""
    return _limits(1.25 * limits.cpu_seconds, limits) | {
        "judge": {
            **_tests(task),
            "names": calls.names,
            "calls": calls.calls,
            "hello": answers.hello,
            "replies": answers.replies,
        }
    }


def split_job(task: CodeTask, source: str, wanted: Calls | Unrecordable, limits: Limits) -> Job:
    """Return the job that runs a candidate beside its tests, for tasks whose calls cannot be recorded."""
    return _limits(1.25 * limits.cpu_seconds / 2, limits) | {
        "split": {**_tests(task), **_candidate(task, source, wanted)}
    }


def _official(attempt: Attempt, words: Texts, limits: Limits) -> Job:
    return _limits(limits.cpu_seconds, limits) | {
        "head": attempt.head,
        "test": attempt.task.tests,
        "timed_out": words.timed_out,
        "failed_prefix": words.failed_prefix,
    }


def _limits(cpu: float, limits: Limits) -> Job:
    return {"id": 0, "cpu": cpu, "wall": limits.wall_seconds}


def _tests(task: CodeTask) -> Job:
    return {**_declared(task), "test": task.tests}


def _candidate(task: CodeTask, source: str, wanted: Calls | Unrecordable) -> Job:
    return {**_declared(task), "source": source, "names": wanted.names, "reads": wanted.reads}


def _declared(task: CodeTask) -> Job:
    return {
        "signature": task.signature.source,
        "classes": task.signature.classes,
        "stubs": task.signature.written,
    }
