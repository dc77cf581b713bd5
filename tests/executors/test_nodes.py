"""What nodes of one run must have alike, and what their verdicts are kept under."""

from __future__ import annotations

from importlib.util import find_spec

import msgspec
import pytest

from grader.errors import InfrastructureError
from grader.executors.dispatch import NodeHandle
from grader.executors.messages import NodeFacts
from grader.results import SandboxProvenance
from grader.sandbox import packages

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
        ({"architecture": "aarch64"}, "architecture: x86_64 on node0; aarch64 on node1"),
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
