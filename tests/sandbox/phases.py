"""The steps of a careful verdict, each as a job of a real sandbox: record, answer, judge."""

import atexit
import functools
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from grader.executors.local import Local
from grader.observer import Silent
from grader.sandbox.answer import Judgement
from grader.sandbox.bubblewrap import Bubblewrap
from grader.sandbox.interface import Limits, Supervisor
from grader.sandbox.messages import Call
from grader.sandbox.queue import JobQueue
from grader.sandbox.verdict_cache import VerdictCache
from grader.scorers.execution.assembly import read_signature
from grader.scorers.execution.candidate import Candidate
from grader.scorers.execution.declaration import ExecutionProtocol
from grader.scorers.execution.pipeline import Pipeline
from grader.scorers.execution.settling import Settler
from grader.scorers.execution.spool import Spool
from tests.scorers.execution.made import make

MARKS = [pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")]
"""The marks of a module whose tests use this one."""
PROTOCOL = ExecutionProtocol().limited(10.0)
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
    classes, stubs = list(declared.classes), list(declared.required)
    return {"signature": declared.source, "classes": classes, "stubs": stubs, "test": test}


def record(spec: dict[str, Any]) -> dict[str, Any]:
    """Return both recordings of a task's calls."""
    return dict(do("record", spec)["recorded"])


def calls_of(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a task's calls, which both recordings must agree on."""
    found = record(spec)
    assert "refused" not in found["truthy"], found
    assert found["truthy"]["calls"] == found["falsy"]["calls"], found
    return dict(found["truthy"])


def call(*arguments: Any, nodes: Sequence[Any] = (), target: Sequence[str] = ("name", "solution")) -> str:
    """Return a call with these atoms as arguments."""
    return Call(target=target, arguments=arguments, nodes=nodes).written()


def answers(source: str, spec: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """Return what a candidate answers: {"said": its messages, each in a line}."""
    given = {"candidate": candidate(source, spec, recorded), "calls": recorded["calls"]}
    return {"said": b""} | do("answer", given)


def texts(said: dict[str, Any]) -> list[str]:
    """Return the messages of a candidate: the first one, and its replies."""
    return str(said["said"].decode()).split("\n") if said.get("said") else []


def candidate(source: str, spec: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """Return what a job says of a candidate."""
    declared = {name: spec[name] for name in ("signature", "classes", "stubs")}
    return declared | {"source": source} | {name: recorded.get(name, []) for name in ("names", "reads")}


def judged(spec: dict[str, Any], recorded: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the tests' verdict on answers; they alone decide, as about a reference solution."""
    judged = spec | {name: recorded[name] for name in ("names", "calls")}
    said = do("judge", {"task": judged, "answers": {"said": given["said"]}})
    return {name: said[name] for name in CONFIRMED}


def replayed(source: str, test: str, signature: str = SIGNATURE) -> dict[str, Any]:
    """Record, answer, and let the tests alone decide."""
    spec = task(test, signature)
    recorded = calls_of(spec)
    return judged(spec, recorded, answers(source, spec, recorded))


def graded(
    source: str, test: str, signature: str = SIGNATURE, reference: str | None = None, *, opaque: bool = False
) -> Judgement:
    """Return the careful verdict, reached as in a run of `grade`."""
    settler = Settler(_executor(), Silent())
    with Spool() as spool:
        made = msgspec.structs.replace(make("task", signature, test, {}, reference), opaque=opaque)
        pipeline = Pipeline({"task": made}, settler, spool, Limits(), PROTOCOL)
        candidate = Candidate(qid="task", source=source)
        found = pipeline.verdicts([candidate])[candidate]
        assert not pipeline.known.broken, pipeline.known.broken
        assert not pipeline.tested.not_judged, pipeline.tested.not_judged
    assert found.judgement is not None, found.lost
    return found.judgement


def beside(source: str, test: str, signature: str = SIGNATURE, reference: str | None = None) -> dict[str, Any]:
    """Return the careful verdict; without a reference solution, it is weaker."""
    found = graded(source, test, signature, reference)
    return {name: getattr(found, name) for name in CONFIRMED}
