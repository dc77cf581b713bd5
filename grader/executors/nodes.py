"""The nodes of a Ray cluster: an actor on each, checked before it gets work; incompatible nodes are refused."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING, Any

import msgspec
import ray

from grader.errors import InfrastructureError
from grader.executors.dispatch import BATCHES, NodeHandle, NodeLostError
from grader.executors.messages import Done, NodeFacts, NodeSettings
from grader.results import NodeProvenance
from grader.sandbox import packages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grader.observer import Observer

START_SECONDS = 120.0
"""Time in which a node's process starts, unless Ray has no free CPUs for it."""
CHECK_SECONDS = 1800.0
"""Time in which the first sandbox starts, including building the image or installing the packages at first use."""
END_SECONDS = 10.0
NO_ROOM = (
    "Ray started no process on it within {seconds:.0f} s, most likely because its CPUs are reserved for other work: "
    "ask for fewer with --workers, or wait."
)


class RayWire:
    """Calls the nodes' actors."""

    def send(self, node: NodeHandle, jobs: list[bytes]) -> Any:
        """Send a batch."""
        return node.actor.run.remote(jobs)

    def ready(self, calls: Sequence[Any]) -> list[Any]:
        """Wait for the first call. Ray finds out by itself whether a node has died."""
        return list(ray.wait(list(calls), num_returns=1)[0])

    def result(self, call: Any) -> Done:
        """Return the reply. Any error of Ray or of the node's process means that the node is lost."""
        try:
            done: Done = ray.get(call, timeout=END_SECONDS)
        except Exception as error:
            raise NodeLostError(said(error)) from error
        return done

    def end(self, node: NodeHandle) -> None:
        """Kill the node's process; its sandboxes end with it."""
        kill(node.actor)


def find(
    kind: Callable[..., object], asked: NodeSettings, observer: Observer
) -> tuple[dict[NodeHandle, NodeFacts], list[NodeProvenance]]:
    """Start an actor of this class on every node and check it; return the usable nodes, and those that are left out.

    Raises InfrastructureError if nodes could disagree on a verdict.
    """
    alive = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    actors = {name(node): _start(kind, node, asked) for node in alive}
    usable: dict[NodeHandle, NodeFacts] = {}
    left_out: list[NodeProvenance] = []
    try:
        waits = {node: actor.ready.remote() for node, actor in actors.items()}
        started = _replies(waits, START_SECONDS, NO_ROOM.format(seconds=START_SECONDS))
        waits = {node: actors[node].check.remote() for node, said_ in started.items() if said_ is True}
        checked = started | _replies(waits, CHECK_SECONDS, f"it was not ready within {CHECK_SECONDS:.0f} s")
        for node, facts in checked.items():
            if isinstance(facts, NodeFacts):
                usable[NodeHandle(node, facts.workers, actors[node])] = facts
            else:
                left_out.append(NodeProvenance(name=node, lost=_explained(facts)))
                observer.warning(f"Node {node} is left out: {left_out[-1].lost}")
                kill(actors[node])
        check_agreement(usable)
    except BaseException:
        for actor in actors.values():
            kill(actor)
        raise
    return usable, left_out


def _explained(reason: str) -> str:
    if "No module named" in reason:
        return f"grade is not installed there (`pip install 'grade-predictions[ray]'`): {reason}"
    return reason


def _replies(calls: dict[str, Any], seconds: float, too_late: str) -> dict[str, Any]:
    """Return every node's reply within the time; for a node without a reply, the text `too_late`."""
    if not calls:
        return {}
    done, _ = ray.wait(list(calls.values()), num_returns=len(calls), timeout=seconds)
    return {node: _reply(call) if call in done else too_late for node, call in calls.items()}


def _reply(call: Any) -> Any:
    try:
        return ray.get(call, timeout=END_SECONDS)
    except Exception as error:
        return said(error)


def name(node: dict[str, Any]) -> str:
    """Return a node's name for messages and reports. It is unique even for two nodes on one host."""
    return f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']}, {node['NodeID'][:8]})"


def check_agreement(nodes: Mapping[NodeHandle, NodeFacts]) -> None:
    """Raise InfrastructureError if the content of the sandboxes differs, so that nodes could disagree on a verdict."""
    own = packages.code_digest()
    for node, facts in nodes.items():
        if facts.code != own:
            raise InfrastructureError(
                f"The code that runs inside sandboxes is {facts.code} on {node.name} and {own} here. Install the same "
                "version of grade on every node."
            )
    kinds = {f"Python {facts.minor} on {facts.architecture}": node.name for node, facts in nodes.items()}
    if len(kinds) > 1:
        listed = "; ".join(f"{kind} ({name})" for kind, name in kinds.items())
        raise InfrastructureError(
            f"All nodes of a run must have the same minor version of Python inside the sandbox, and the same "
            f"architecture: {listed}. Give them the same kind of sandbox (--sandbox), or install that Python on all."
        )


def identity(nodes: Sequence[NodeFacts]) -> str:
    """Return the nodes' identity for the cache: the common one of all nodes, or a hash of the kinds of nodes.

    Images built on several nodes have several ids, and nodes come and go. A kind contains neither ids nor names.
    """
    names = {facts.sandbox.identity for facts in nodes}
    if len(names) == 1:
        return names.pop()
    kinds = {(f.sandbox.backend, f.sandbox.runtime, f.code, f.python, f.architecture) for f in nodes}
    return f"cluster:{hashlib.sha256(repr(sorted(kinds)).encode()).hexdigest()[:16]}"


def provenance(node: NodeHandle, facts: NodeFacts) -> NodeProvenance:
    """Return the provenance of a node for a report."""
    known = msgspec.structs.asdict(facts.sandbox) | msgspec.structs.asdict(facts)
    fields = {field: known[field] for field in NodeProvenance.__struct_fields__ if field in known}
    return NodeProvenance(name=node.name, verdicts=node.done, lost=node.lost, **fields)


def end(nodes: Sequence[NodeHandle]) -> None:
    """Close all sandboxes properly, then end the processes; a process that does not answer in time is killed."""
    try:
        _replies({node.name: node.actor.close.remote() for node in nodes}, END_SECONDS, "")
    finally:
        for node in nodes:
            kill(node.actor)


def kill(actor: Any) -> None:
    """End an actor's process now, if it still exists."""
    with contextlib.suppress(Exception):  # it is gone already, or the cluster is
        ray.kill(actor, no_restart=True)


def said(error: BaseException) -> str:
    """Return the class of a Ray error and the line of its text that says what happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if isinstance(error, ray.exceptions.RayTaskError) else lines[0]}"[:400]


def _start(kind: Callable[..., object], node: dict[str, Any], asked: NodeSettings) -> Any:
    """Start an actor on a node. It reserves one CPU per worker, so that Ray puts no other work there."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    cpus = int(node["Resources"]["CPU"])
    workers = min(asked.options.workers or cpus, cpus)
    options: Any = ray.remote(kind).options(
        num_cpus=workers,
        # All batches at a time, and calls that must not wait for them.
        max_concurrency=BATCHES * workers + 2,
        max_restarts=0,
        max_task_retries=0,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
    )
    return options.remote(msgspec.structs.replace(asked, workers=workers))
