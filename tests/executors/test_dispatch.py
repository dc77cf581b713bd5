"""The dispatcher: what it does when nodes are lost, silent or slow. Scripted nodes stand in for machines."""

import itertools
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grader.errors import InfrastructureError
from grader.executors import dispatch
from grader.executors.dispatch import Dispatcher, NodeHandle, NodeLostError
from grader.executors.messages import Exchanged, Parcel, job_of, pack
from grader.observer import Silent
from grader.sandbox.tickets import Verdict
from tests.observers import Noting


class Scripted:
    """A wire to nodes that do everything at once, until they have done as much as the script says."""

    def __init__(self, **dies_after: int) -> None:
        self.dies_after, self.done = dies_after, Counter[str]()
        self.calls: dict[int, Any] = {}
        self.numbers = itertools.count()
        self.ended: list[str] = []
        self.batches: dict[str, list[int]] = {}
        self.ran: list[tuple[str, Any, bool]] = []
        self.silent: set[str] = set()
        self.says = ""
        self.forged: dict[str, bytes] = {}

    def call(self, node: NodeHandle, parcels: list[Parcel], *, last: bool) -> int:
        number = next(self.numbers)
        self.calls[number] = (node, parcels)
        self.batches.setdefault(node.name, []).append(len(parcels))
        return number

    def ready(self, calls, timeout):
        return [call for call in calls if self.calls[call][0].name not in self.silent]

    def result(self, call):
        node, parcels = self.calls.pop(call)
        limit = self.dies_after.get(node.name, 10**9)
        some = parcels[: max(0, limit - self.done[node.name])]
        self.done[node.name] += len(some)
        self.ran += [(node.name, job_of(parcel.job), parcel.tried) for parcel in parcels]
        verdicts = [pack(Verdict(key=p.number, answer={"job": job_of(p.job)})) for p in some]
        if node.name in self.forged:
            return Exchanged(verdicts=[self.forged[node.name]], aside=0)
        if len(some) < len(parcels):
            if not self.says:
                raise NodeLostError("ActorDiedError: it was killed")
            return Exchanged(verdicts=verdicts, aside=0, failure=self.says)
        return Exchanged(verdicts=verdicts, aside=0)

    def end(self, node):
        self.ended.append(node.name)


def made(wire: Scripted, names: str, observer: Silent | None = None) -> Dispatcher:
    return Dispatcher([NodeHandle(name, 2) for name in names], wire, observer or Silent())


def jobs(count: int) -> list[tuple[str, dict[str, object]]]:
    return [(f"k{number}", {"n": number}) for number in range(count)]


def test_every_job_gets_one_verdict_of_its_own_although_nodes_are_lost() -> None:
    heard = Noting()
    wire = Scripted(a=10, b=25)
    found = list(made(wire, "abc", heard).run(jobs(500)))
    assert Counter(v.key for v in found) == {f"k{n}": 1 for n in range(500)}
    assert all(v.answer == {"job": {"n": int(v.key[1:])}} for v in found)
    assert sorted(wire.ended) == ["a", "b"]
    assert [text.split()[1] for text in heard.warnings] == wire.ended


def test_what_was_on_a_lost_node_goes_out_as_tried_and_nothing_else_does() -> None:
    wire = Scripted(a=0)
    list(made(wire, "ab").run(jobs(50)))
    on_lost = {job["n"] for node, job, _ in wire.ran if node == "a"}
    assert on_lost
    assert {job["n"] for node, job, tried in wire.ran if tried} == on_lost


def test_a_node_that_says_that_it_can_run_nothing_more_keeps_the_verdicts_it_gave() -> None:
    wire = Scripted(a=1)
    wire.says = "The Docker engine could not start a sandbox"
    found = list(made(wire, "ab").run(jobs(50)))
    assert sorted(v.key for v in found) == sorted(key for key, _ in jobs(50))
    assert wire.done["a"] == 1


def test_where_no_node_is_left_the_run_fails_after_the_verdicts_that_there_are() -> None:
    found: list[str] = []
    with pytest.raises(InfrastructureError, match=r"is left to run programs \(a: ActorDiedError"):
        found.extend(verdict.key for verdict in made(Scripted(a=5, b=6), "ab").run(jobs(50)))
    assert len(found) == len(set(found)) > 0


def test_a_job_that_was_on_three_lost_nodes_is_unscored_and_runs_nowhere_else() -> None:
    wire = Scripted(a=0, b=0, c=0)
    dispatcher = made(wire, "abcd")
    wire.silent = {"d"}  # busy with a job of its own, while the other one ends a node after the other
    run = dispatcher.run(jobs(1))
    dispatcher.nodes[-1].lost = "not yet there"
    verdict = next(run)
    assert verdict.answer is None
    assert "3 nodes were lost" in verdict.reason
    assert wire.ended == ["a", "b", "c"]


@pytest.mark.parametrize(
    "reply", [pickle.dumps(Path("forged")), b'{"key": 1, "answer": null}', b'{"key": "0", "answer": [[[[]]]]}']
)
def test_a_reply_that_is_no_verdict_is_never_executed_and_its_node_is_lost(reply: bytes) -> None:
    wire = Scripted()
    wire.forged = {"a": reply}
    found = [verdict.key for verdict in made(wire, "ab").run(jobs(30))]
    assert sorted(found) == sorted(key for key, _ in jobs(30))
    assert wire.ended == ["a"]


def test_a_silent_node_is_lost_and_its_late_word_is_not_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "STALL_SECONDS", 0.0)
    wire = Scripted()
    wire.silent = {"a"}
    found = [verdict.key for verdict in made(wire, "ab").run(jobs(30))]
    assert sorted(found) == sorted(key for key, _ in jobs(30))
    assert wire.ended == ["a"]


def test_a_node_that_waits_for_jobs_is_given_more_and_none_is_given_more_than_the_most() -> None:
    wire = Scripted()
    list(made(wire, "a").run(jobs(3000)))
    assert wire.batches["a"][:4] == [4, 8, 16, 32]
    assert max(wire.batches["a"]) == dispatch.MOST_AHEAD * 2


def test_a_run_that_was_left_in_the_middle_gives_the_next_one_nothing() -> None:
    dispatcher = made(Scripted(), "ab")
    next(dispatcher.run(jobs(100)))
    found = [verdict.key for verdict in dispatcher.run([(f"x{n}", {"n": n}) for n in range(20)])]
    assert sorted(found) == sorted(f"x{n}" for n in range(20))
