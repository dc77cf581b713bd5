"""One node: how jobs come in and verdicts go out. Scripted supervisors stand in for real ones."""

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import msgspec
import pytest

from grader.errors import InfrastructureError
from grader.executors.dispatch import NodeHandle
from grader.executors.messages import NodeFacts, NodeSettings
from grader.executors.node import Node
from grader.options import Options
from grader.results import SandboxProvenance
from grader.sandbox import choice, packages, self_check
from grader.sandbox.channel import parcel
from grader.sandbox.interface import Limits
from tests.sandbox.scripted import Backend


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Backend:
    made = Backend()
    monkeypatch.setattr(self_check, "problem", lambda *_: "")
    monkeypatch.setattr(choice, "open_backend", lambda *_: made)
    return made


def made() -> Node:
    asked = NodeSettings(options=Options(workers=2), limits=Limits(), python=None, workers=2, answer_seconds=10)
    return Node(asked)


@pytest.fixture
def node(backend: Backend):
    one = made()
    facts = one.check()
    assert isinstance(facts, NodeFacts), facts
    assert facts.minor == "3.12"
    assert facts.workers == 2
    yield one
    one.close()
    assert backend.closed == backend.started


def batch(*names: str, do: str = "pass") -> list[bytes]:
    return [parcel({"name": name, "do": do, "run": True}) for name in names]


def test_every_batch_gets_its_own_verdicts_although_several_run_at_a_time(node: Node) -> None:
    names = [[f"{number}.{i}\ud83d" for i in range(10)] for number in range(20)]
    with ThreadPoolExecutor(4) as threads:
        replies = list(threads.map(lambda some: node.run(batch(*some)), names))
    for some, reply in zip(names, replies, strict=True):
        assert {key: answer["name"] for key, answer in reply.answers.items()} == {
            str(n): name for n, name in enumerate(some)
        }


def test_a_starved_program_runs_again_with_more_patience(node: Node) -> None:
    answers = node.run(batch("a", "b", do="starve")).answers
    assert [answer["alone"] for answer in answers.values()] == [True, True]


def test_an_engine_that_stops_is_a_failure_of_the_node_and_not_of_its_programs(node: Node) -> None:
    assert len(node.run(batch("a")).answers) == 1
    reply = node.run(batch("b", "c", "d", do="break"))
    assert "nothing starts" in reply.failure
    assert not reply.answers


def test_where_no_sandbox_starts_the_check_says_why(backend: Backend) -> None:
    backend.broken = True
    one = made()
    assert "nothing starts" in one.check()
    one.close()


# To import Ray takes half a second, and every worker collects this file.
pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="no ray")
FACTS = NodeFacts(
    kernel="6.1",
    architecture="x86_64",
    code=packages.code_digest(),
    python="3.12.1",
    workers=2,
    sandbox=SandboxProvenance(backend="docker", identity="docker:a"),
)


def other(**fields: object) -> NodeFacts:
    return msgspec.structs.replace(FACTS, **fields)


def check(*facts: NodeFacts) -> None:
    from grader.executors import nodes

    nodes.check_agreement({NodeHandle(f"node{number}", 2): one for number, one in enumerate(facts)})


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"code": "1" * 16}, r"The code that runs inside sandboxes is 1{16} on node1 and [0-9a-f]{16} here"),
        ({"python": "3.11.9"}, r"Python 3.12 on x86_64 \(node0\); Python 3.11 on x86_64 \(node1\)"),
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
    built_apart = [FACTS, *(other(sandbox=SandboxProvenance(backend="docker", identity=f"docker:{n}")) for n in "bc")]
    assert identity(built_apart) == identity(built_apart[1:]) != identity([FACTS])
    assert identity(built_apart) != identity(
        [FACTS, other(sandbox=SandboxProvenance(backend="bubblewrap", identity="b"))]
    )
