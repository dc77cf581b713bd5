"""The dispatcher: what it does when nodes are lost or slow. Scripted nodes stand in for machines."""

import itertools
from collections import Counter
from typing import Any

import pytest

from grader.errors import InfrastructureError
from grader.executors import dispatch
from grader.executors.dispatch import Dispatcher, NodeHandle, NodeLostError
from grader.executors.messages import Done
from grader.observer import Silent
from grader.sandbox.channel import opened
from tests.observers import Noting


class Scripted:
    """A wire to nodes that do everything at once, until they have done as many batches as the script says."""

    def __init__(self, **batches_left: int) -> None:
        self.batches_left = batches_left
        self.calls: dict[int, Any] = {}
        self.numbers = itertools.count()
        self.ended: list[str] = []
        self.batches: dict[str, list[int]] = {}
        self.ran: list[Any] = []
        self.says = ""
        self.wrong: dict[str, str] = {}
        self.most = 0

    def send(self, node: NodeHandle, jobs: list[bytes]) -> int:
        number = next(self.numbers)
        self.calls[number] = (node, jobs)
        self.batches.setdefault(node.name, []).append(len(jobs))
        self.most = max(self.most, sum(other is node for other, _ in self.calls.values()))
        return number

    def ready(self, calls):
        return list(calls)

    def result(self, call):
        node, jobs = self.calls.pop(call)
        self.ran += [opened(job) for job in jobs]
        if self.batches_left.get(node.name, 1) == 0:
            if not self.says:
                raise NodeLostError("ActorDiedError: it was killed")
            return Done(failure=self.says)
        if node.name in self.batches_left:
            self.batches_left[node.name] -= 1
        if node.name in self.wrong:
            return Done(answers={self.wrong[node.name]: ""})
        return Done(answers={str(n): {"job": opened(job)} for n, job in enumerate(jobs)})

    def end(self, node):
        self.ended.append(node.name)


def made(wire: Scripted, names: str, observer: Silent | None = None) -> Dispatcher:
    return Dispatcher([NodeHandle(name, 2) for name in names], wire, observer or Silent())


def jobs(count: int) -> list[tuple[str, dict[str, object]]]:
    return [(f"k{number}", {"n": number}) for number in range(count)]


def test_every_job_gets_one_verdict_of_its_own_although_nodes_are_lost() -> None:
    heard = Noting()
    wire = Scripted(a=1, b=3)
    found = list(made(wire, "abc", heard).run(jobs(500)))
    assert Counter(key for key, _ in found) == {f"k{n}": 1 for n in range(500)}
    assert all(answer == {"job": {"n": int(key[1:])}} for key, answer in found)
    assert sorted(wire.ended) == ["a", "b"]
    assert [text.split()[1] for text in heard.warnings] == wire.ended


def test_a_node_that_says_that_it_can_run_nothing_more_keeps_the_verdicts_it_gave() -> None:
    wire = Scripted(a=1)
    wire.says = "The Docker engine could not start a sandbox"
    dispatcher = made(wire, "ab")
    found = list(dispatcher.run(jobs(100)))
    assert sorted(key for key, _ in found) == sorted(key for key, _ in jobs(100))
    assert [node.done for node in dispatcher.nodes] == [dispatch.BATCH, 100 - dispatch.BATCH]


def test_where_no_node_is_left_the_run_fails_after_the_verdicts_that_there_are() -> None:
    found: list[str] = []
    with pytest.raises(InfrastructureError, match=r"is left to run programs \(a: ActorDiedError"):
        found.extend(key for key, _ in made(Scripted(a=1, b=2), "ab").run(jobs(100)))
    assert len(found) == len(set(found)) == 3 * dispatch.BATCH


def test_where_all_work_is_done_lost_nodes_are_no_error() -> None:
    dispatcher = made(Scripted(), "a")
    run = dispatcher.run(jobs(5))
    found = [next(run)[0] for _ in range(5)]
    dispatcher.nodes[0].lost = "it was killed"
    assert [*found, *(key for key, _ in run)] == [key for key, _ in jobs(5)]


def test_a_batch_that_was_on_three_lost_nodes_is_unscored_and_runs_nowhere_else() -> None:
    wire = Scripted(a=0, b=0, c=0)
    found = list(made(wire, "abcd").run(jobs(3)))
    assert len(found) == 3
    assert all("3 nodes were lost" in answer for _, answer in found)
    assert wire.ended == ["a", "b", "c"]
    assert "d" not in wire.batches


@pytest.mark.parametrize("key", ["0", "30", "a"])
def test_a_reply_that_does_not_match_its_batch_means_that_the_node_is_lost(key: str) -> None:
    wire = Scripted()
    wire.wrong = {"a": key}
    found = [key for key, _ in made(wire, "ab").run(jobs(30))]
    assert sorted(found) == sorted(key for key, _ in jobs(30))
    assert wire.ended == ["a"]


def test_batches_have_a_fixed_size_each_node_gets_its_share_and_jobs_are_drawn_as_they_are_needed() -> None:
    wire = Scripted()
    drawn = itertools.count()
    run = made(wire, "abc").run((f"k{n}", {"n": next(drawn)}) for n in range(3000))
    next(run)
    assert next(drawn) == 3 * 2 * dispatch.BATCHES * dispatch.BATCH
    assert {name: len(sizes) for name, sizes in wire.batches.items()} == dict.fromkeys("abc", 2 * dispatch.BATCHES)
    assert {size for sizes in wire.batches.values() for size in sizes} == {dispatch.BATCH}
    assert wire.most == 2 * dispatch.BATCHES


def test_large_jobs_make_small_batches() -> None:
    wire = Scripted()
    list(made(wire, "a").run((f"k{n}", {"n": n, "text": "x" * dispatch.BATCH_BYTES}) for n in range(3)))
    assert wire.batches["a"] == [1, 1, 1]


def test_a_run_that_was_left_in_the_middle_gives_the_next_one_nothing() -> None:
    dispatcher = made(Scripted(), "ab")
    next(dispatcher.run(jobs(100)))
    found = [key for key, _ in dispatcher.run([(f"x{n}", {"n": n}) for n in range(20)])]
    assert sorted(found) == sorted(f"x{n}" for n in range(20))
