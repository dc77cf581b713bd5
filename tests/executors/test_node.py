"""One node: how jobs come in and verdicts go out. Scripted supervisors stand in for real ones."""

import time
from importlib.util import find_spec
from typing import Any

import msgspec
import pytest

from grader.errors import InfrastructureError
from grader.executors.dispatch import NodeHandle
from grader.executors.messages import Asked, NodeFacts, Parcel, pack, verdict_of
from grader.executors.node import Node
from grader.options import Options
from grader.results import SandboxProvenance
from grader.sandbox import choice, packages
from grader.sandbox.interface import Limits
from tests.sandbox.scripted import Backend


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Backend:
    made = Backend()
    monkeypatch.setattr(choice, "open_backend", lambda *_: made)
    return made


@pytest.fixture
def node(backend: Backend):
    made = Node(Asked(options=Options(workers=2), limits=Limits(), python=None, workers=2, answer_seconds=10))
    facts = made.check()
    assert facts.minor == "3.12"
    assert facts.workers == 2
    yield made
    made.close()
    assert backend.closed == backend.started


def parcels(*names: str, do: str = "pass") -> list[Parcel]:
    return [Parcel(number=name, job=pack({"name": name, "do": do})) for name in names]


def answers(node: Node, sent: list[Parcel], *, last: bool) -> dict[str, Any]:
    """Exchange until all that was sent has come back."""
    found: dict[str, Any] = {}
    deadline = time.monotonic() + 30
    reply = node.exchange(sent, last=last)
    while True:
        for data in reply.verdicts:
            verdict = verdict_of(data)
            assert verdict.key not in found
            found[verdict.key] = verdict.answer
        if len(found) == len(sent) or reply.failure:
            return found
        assert time.monotonic() < deadline
        reply = node.exchange([], last=last)


def test_jobs_that_come_in_one_batch_after_the_other_are_all_done(node: Node) -> None:
    for number in range(20):
        names = [f"{number}.{i}\ud83d" for i in range(10)]
        found = answers(node, parcels(*names), last=number == 19)
        assert {key: answer["name"] for key, answer in found.items()} == {name: name for name in names}


def test_starved_programs_wait_aside_until_no_more_jobs_come_and_then_run_alone(node: Node) -> None:
    reply = node.exchange(parcels("a", "b", do="starve"), last=False)
    while reply.aside < 2:
        assert not reply.verdicts
        reply = node.exchange([], last=False)
    assert set(answers(node, parcels("c"), last=False)) == {"c"}
    found = {}
    while len(found) < 2:
        found |= {v.key: v.answer for v in map(verdict_of, node.exchange([], last=True).verdicts)}
    assert all(answer["alone"] for answer in found.values())


def test_a_job_that_comes_after_the_last_one_is_done_too(node: Node) -> None:
    """A lost node's programs come when this one was told that it is over."""
    assert set(answers(node, parcels("a"), last=True)) == {"a"}
    assert set(answers(node, parcels("b"), last=True)) == {"b"}


def test_an_engine_that_stops_is_a_failure_of_the_node_and_not_of_its_programs(node: Node) -> None:
    assert set(answers(node, parcels("a"), last=False)) == {"a"}
    deadline = time.monotonic() + 30
    reply = node.exchange(parcels("b", "c", "d", do="break"), last=False)
    while not reply.failure:
        assert time.monotonic() < deadline
        assert not reply.verdicts
        reply = node.exchange([], last=False)
    assert "nothing starts" in reply.failure
    assert not reply.verdicts


def test_where_no_sandbox_starts_the_check_says_why(backend: Backend) -> None:
    backend.broken = True
    made = Node(Asked(options=Options(workers=1), limits=Limits(), python=None, workers=1, answer_seconds=10))
    assert "nothing starts" in str(made.check())
    made.close()


# To import Ray takes half a second, and every worker collects this file.
pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="no ray")
FACTS = NodeFacts(
    kernel="6.1",
    architecture="x86_64",
    code=packages.code_digest(),
    lock="0" * 16,
    python="3.12.1",
    identity="docker:a",
    workers=2,
    sandbox=SandboxProvenance(backend="docker"),
)


def other(**fields: object) -> NodeFacts:
    return msgspec.structs.replace(FACTS, **fields)


def check(*facts: NodeFacts) -> None:
    from grader.executors import nodes

    nodes.check_agreement([(NodeHandle(f"node{number}", 2), one) for number, one in enumerate(facts)])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"code": "1" * 16}, r"The code that runs inside sandboxes is 1{16} on node1 and [0-9a-f]{16} here"),
        ({"lock": "1" * 16}, "package lock inside the sandbox: 0{16} on node0; 1{16} on node1"),
        ({"python": "3.11.9"}, r"minor version of Python inside the sandbox: 3.12 on node0; 3.11 on node1"),
    ],
)
def test_nodes_that_could_judge_differently_are_an_error_that_names_them(fields: dict[str, str], said: str) -> None:
    with pytest.raises(InfrastructureError, match=said):
        check(FACTS, other(**fields))


def test_another_kernel_backend_or_patch_version_of_python_is_none() -> None:
    check(FACTS, other(kernel="5.15", python="3.12.9", sandbox=SandboxProvenance(backend="bubblewrap")))


def test_nodes_that_are_alike_share_the_cache_with_one_machine_and_others_have_one_by_their_kinds() -> None:
    from grader.executors.nodes import identity

    assert identity([FACTS, FACTS]) == "docker:a"
    built_apart = [FACTS, other(identity="docker:b"), other(identity="docker:c")]
    assert identity(built_apart) == identity(built_apart[1:]) != identity([FACTS])
    assert identity(built_apart) != identity([FACTS, other(identity="bubblewrap:a", python="3.12.9")])
