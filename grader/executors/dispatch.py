"""The dispatcher: it sends jobs to nodes in batches of a fixed size, and a lost node's batches to other nodes."""

from __future__ import annotations

import collections
import itertools
from typing import TYPE_CHECKING, Any, Protocol

from grader.errors import InfrastructureError
from grader.executors.messages import Done
from grader.sandbox.channel import parcel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grade_sandbox.jobs import Job

    from grader.observer import Observer
    from grader.sandbox.interface import Answer

BATCH = 16
"""Number of jobs in a batch."""
BATCH_BYTES = 8 << 20
"""A batch is also closed when its jobs reach this size, so that the driver's memory does not grow with theirs."""
BATCHES = 2
"""Number of batches that a node has at a time, for each of its workers."""
MOST_LOST = 3
"""A batch is not sent again after this many nodes were lost with it, because it may be the cause."""
NONE_LEFT = (
    "No node of the cluster is left to run programs ({reason}). Finished verdicts are in the cache: run the same "
    "command again to continue."
)


class NodeLostError(Exception):
    """Raised if a node no longer answers. The state of its jobs is unknown."""


class Wire(Protocol):
    """The way to call nodes."""

    def send(self, node: NodeHandle, jobs: list[bytes]) -> Any:
        """Send a batch to a node; return a handle for the reply."""

    def ready(self, calls: Sequence[Any]) -> list[Any]:
        """Wait until one of the calls has ended, and return those that have."""

    def result(self, call: Any) -> Done:
        """Return the reply; raises NodeLostError."""

    def end(self, node: NodeHandle) -> None:
        """End a lost node's process if it still exists: it must not run anything more."""


class NodeHandle:
    """The dispatcher's state of a node."""

    def __init__(self, name: str, workers: int, actor: Any = None) -> None:
        self.name, self.workers, self.actor = name, workers, actor
        self.done = 0
        """Number of verdicts that it returned."""
        self.lost = ""
        """Why it is no longer used; empty if it is used."""


class _Batch:
    """Some jobs, and the number of nodes that were lost with them."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.jobs: list[bytes] = []
        self.losses = 0


class Dispatcher:
    """Runs jobs on nodes, in one thread. A lost node gets no work again, even if it comes back."""

    def __init__(self, nodes: list[NodeHandle], wire: Wire, observer: Observer) -> None:
        self.nodes = nodes
        self._wire, self._observer = wire, observer

    @property
    def living(self) -> list[NodeHandle]:
        """The nodes that can get jobs."""
        return [node for node in self.nodes if not node.lost]

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[tuple[str, Answer | str]]:
        """Yield the answer to every job, or why there is none; raises InfrastructureError if no node is left."""
        rest = _batches(jobs)
        again: list[_Batch] = []
        calls: dict[Any, tuple[NodeHandle, _Batch]] = {}
        while True:
            while (node := self._free(calls)) is not None:
                if not again:
                    again.extend(itertools.islice(rest, 1))
                if not again:
                    break
                waiting = again.pop()
                calls[self._wire.send(node, waiting.jobs)] = node, waiting
            if not calls:
                if again or any(True for _ in rest):
                    raise InfrastructureError(NONE_LEFT.format(reason=self._reasons()))
                return
            for call in self._wire.ready(list(calls)):
                node, batch = calls.pop(call)
                verdicts = self._verdicts(call, node, batch)
                if verdicts is not None:
                    yield from verdicts
                elif batch.losses < MOST_LOST:
                    again.append(batch)
                else:
                    for key in batch.keys:
                        yield key, f"{MOST_LOST} nodes were lost while they ran it"

    def _free(self, calls: dict[Any, tuple[NodeHandle, _Batch]]) -> NodeHandle | None:
        """Return the node with the most room for a batch; None if no node has room."""
        busy = collections.Counter(id(node) for node, _ in calls.values())
        node = min(self.living, key=lambda node: busy[id(node)] / node.workers, default=None)
        return node if node is not None and busy[id(node)] < BATCHES * node.workers else None

    def _verdicts(self, call: Any, node: NodeHandle, batch: _Batch) -> list[tuple[str, Answer | str]] | None:
        """Return the verdicts of a batch that has ended; None if its node is lost."""
        try:
            reply = self._wire.result(call)
        except NodeLostError as error:
            reply = Done(failure=str(error))
        found = reply.answers
        if found.keys() != {str(place) for place in range(len(batch.keys))}:
            batch.losses += 1
            self._lose(node, reply.failure or "its reply does not match the batch")
            return None
        node.done += len(found)
        return [(key, found[str(place)]) for place, key in enumerate(batch.keys)]

    def _lose(self, node: NodeHandle, reason: str) -> None:
        """Stop using a node."""
        if not node.lost:
            node.lost = " ".join(reason.split()) or "unknown"
            self._wire.end(node)
            again = "; its programs run elsewhere" if self.living else ""
            self._observer.warning(f"Node {node.name} was lost ({node.lost[:300]}){again}")

    def _reasons(self) -> str:
        return "; ".join(f"{node.name}: {node.lost[:200]}" for node in self.nodes[:4])


def _batches(jobs: Iterable[tuple[str, Job]]) -> Iterator[_Batch]:
    """Yield jobs in batches, in order; they are drawn as batches are needed."""
    batch, size = _Batch(), 0
    for key, job in jobs:
        batch.keys.append(key)
        batch.jobs.append(parcel(job))
        size += len(batch.jobs[-1])
        if len(batch.keys) == BATCH or size >= BATCH_BYTES:
            yield batch
            batch, size = _Batch(), 0
    if batch.keys:
        yield batch
