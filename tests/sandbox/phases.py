"""The steps of a careful verdict, each as a job of a real sandbox: record, answer, judge."""

import atexit
import functools
from typing import Any

import pytest

from grader.executors.local import Local
from grader.observer import Silent
from grader.sandbox import values
from grader.sandbox.answer import Judgement
from grader.sandbox.bubblewrap import Bubblewrap
from grader.sandbox.interface import Limits, Supervisor
from grader.sandbox.queue import JobQueue
from grader.sandbox.verdict_cache import VerdictCache
from grader.scorers.execution.assembly import read_signature
from grader.scorers.execution.candidate import Candidate
from grader.scorers.execution.declaration import ExecutionProtocol
from grader.scorers.execution.job_runner import JobRunner
from grader.scorers.execution.pipeline import Pipeline
from grader.scorers.execution.spool import Spool
from grader.scorers.execution.states import Judgeable, NotJudgeable
from tests.scorers.execution.made import make

MARKS = [pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")]
"""The marks of a module whose tests use this one."""
PROTOCOL = ExecutionProtocol().with_timeout(10.0)
SIGNATURE = "def solution(a):\n    pass\n"
CONFIRMED = {"confirmed": True, "reason": "", "kind": ""}


@functools.cache
def _executor() -> Local:
    backend = Bubblewrap(Limits(), Silent())
    queue = JobQueue(backend, 1)
    atexit.register(queue.close)
    return Local(backend, queue, VerdictCache(None), Limits())


@functools.cache
def _supervisor() -> Supervisor:
    supervisor = Bubblewrap(Limits(), Silent()).start(0)
    atexit.register(supervisor.close)
    return supervisor


def do(kind: str, part: Any = True, **job: Any) -> dict[str, Any]:
    """Have a sandbox do one job; return what it observed."""
    _supervisor().send({"id": 0, "cpu": 10.0, "wall": 60.0, kind: part} | job, 180)
    answer: Any = {"slow": True}
    while "slow" in answer:
        answer = _supervisor().receive(180)
    if kind not in answer or "retired" in answer:
        _supervisor().close()
        _supervisor.cache_clear()
    return dict(answer[kind])


def task(test: str, signature: str = SIGNATURE) -> dict[str, Any]:
    """Return what a job says of a task."""
    declared = read_signature(signature)
    classes, stubs = list(declared.shared_classes), list(declared.required)
    return {"signature": declared.source, "classes": classes, "stubs": stubs, "test": test}


def record(spec: dict[str, Any], reference: str | None = None) -> dict[str, Any]:
    """Return the recording of a task's calls, beside a reference solution if there is one."""
    return dict(do("record", spec | {"reference": reference})["recorded"])


def calls_of(spec: dict[str, Any], reference: str | None = None) -> dict[str, Any]:
    """Return a task's calls, and what else a recording says."""
    found = record(spec, reference)
    assert found.get("calls"), found
    return found


def call(*arguments: Any, function: str = "solution") -> str:
    """Return a call with these arguments."""
    return values.call(function, arguments)


def answers(source: str, spec: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """Return what a candidate answers: {"transcript": its messages, each in a line}."""
    given = {"candidate": candidate(source, spec, recorded), "calls": recorded["calls"]}
    return {"transcript": b""} | do("answer", given)


def texts(said: dict[str, Any]) -> list[str]:
    """Return the messages of a candidate: the first one, and its replies."""
    return str(said["transcript"].decode()).split("\n") if said.get("transcript") else []


def candidate(source: str, spec: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """Return what a job says of a candidate."""
    declared = {name: spec[name] for name in ("signature", "classes", "stubs")}
    return declared | {"source": source, "names": recorded.get("names", {})}


def judged(spec: dict[str, Any], recorded: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the tests' verdict on answers; they alone decide."""
    judged = spec | {name: recorded.get(name, {}) for name in ("names", "calls")}
    said = do("judge", {"task": judged, "transcript": given["transcript"]})
    return {name: said[name] for name in CONFIRMED}


def replayed(source: str, test: str, signature: str = SIGNATURE, reference: str | None = None) -> dict[str, Any]:
    """Record beside a reference, by default the program itself; answer; and let the tests alone decide."""
    spec = task(test, signature)
    recorded = calls_of(spec, reference or source)
    return judged(spec, recorded, answers(source, spec, recorded))


def state_of(test: str, signature: str = SIGNATURE, reference: str | None = None) -> Judgeable | NotJudgeable:
    """Return the state of a task with tests: its calls and expected answers, or why it is not judged."""
    with Spool() as spool:
        tasks = {"task": make("task", signature, test, {}, reference)}
        pipeline = Pipeline(tasks, JobRunner(_executor(), Silent()), spool, Limits(), PROTOCOL)
        pipeline.prepare(["task"])
        found = pipeline.states["task"]
    assert isinstance(found, (Judgeable, NotJudgeable)), found
    return found


def graded(source: str, test: str, signature: str = SIGNATURE, reference: str | None = None) -> Judgement:
    """Return the careful verdict, reached as in a run of `grade`."""
    runner = JobRunner(_executor(), Silent())
    with Spool() as spool:
        tasks = {"task": make("task", signature, test, {}, reference)}
        pipeline = Pipeline(tasks, runner, spool, Limits(), PROTOCOL)
        candidate = Candidate(qid="task", source=source)
        verdicts = pipeline.verdicts([candidate])
        assert not pipeline.states.reference_failures, pipeline.states.reference_failures
        assert not pipeline.states.reasons(NotJudgeable), pipeline.states.reasons(NotJudgeable)
        found = verdicts[candidate]
    assert found.judgement is not None, found.lost
    return found.judgement


def beside(source: str, test: str, signature: str = SIGNATURE, reference: str | None = None) -> dict[str, Any]:
    """Return the careful verdict."""
    found = graded(source, test, signature, reference)
    return {name: getattr(found, name) for name in CONFIRMED}
