"""The dispatcher: it sends jobs to nodes in batches, receives verdicts, and moves a lost node's jobs to other nodes.

A node has one open call at a time. The jobs of a node are limited by its speed, so that no node has a long queue when
the others are done, and by bytes, so that the driver's memory does not grow with the number of jobs.
"""

from __future__ import annotations

import collections
import itertools
import time
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from grader.errors import InfrastructureError
from grader.executors.messages import Exchanged, Parcel, pack, verdict_of
from grader.results import CanaryProvenance
from grader.sandbox.tickets import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grade_sandbox.jobs import Job

    from grader.observer import Observer

AHEAD_SECONDS = 1.0
"""A node gets about as many jobs as it does in this time."""
LEAST_AHEAD, MOST_AHEAD = 2, 128
"""Minimum (also at the start of a run) and maximum number of jobs per worker."""
BATCH_BYTES = 8 << 20
"""A batch is closed when its jobs reach this size."""
STALL_SECONDS = 120.0
"""A node that sends nothing for this time is lost. A normal exchange takes a second."""
MOST_LOST = 3
"""A job is not sent again after this many nodes were lost with it, because it may be the cause."""
NONE_LEFT = (
    "No node of the cluster is left to run programs ({reason}). Finished verdicts are in the cache: run the same "
    "command again to continue."
)


class NodeLostError(Exception):
    """Raised if a node no longer answers. The state of its jobs is unknown."""


class Wire(Protocol):
    """The way to call nodes."""

    def call(self, node: NodeHandle, parcels: list[Parcel], *, last: bool) -> Any:
        """Begin an exchange with a node; return a handle for the reply."""

    def ready(self, calls: Sequence[Any], timeout: float) -> list[Any]:
        """Return the calls that have a reply, as soon as there is one or the time is over."""

    def result(self, call: Any) -> Exchanged:
        """Return the reply; raises NodeLostError."""

    def end(self, node: NodeHandle) -> None:
        """End a lost node's process if it still exists: it must not run anything more."""


class NodeHandle:
    """The dispatcher's state of a node."""

    def __init__(self, name: str, workers: int, actor: Any = None) -> None:
        self.name, self.workers, self.actor = name, workers, actor
        self.sent: dict[str, _Sent] = {}
        """Number -> job without an answer yet."""
        self.aside = 0
        self.canaries = CanaryProvenance()
        self.done = 0
        """Number of verdicts that it returned."""
        self.lost = ""
        """Why it is no longer used; empty if it is used."""
        self.called = time.monotonic()
        self._measured = 0.0
        self._ahead = 0
        self.begin()

    def begin(self) -> None:
        """Reset the measured speed, because another run has other jobs."""
        self.sent.clear()  # an interrupted run leaves some jobs, and nobody needs their results
        self.aside = 0
        self._ahead, self._measured = LEAST_AHEAD * self.workers, time.monotonic()

    def note(self, verdicts: int) -> None:
        """Update the speed from a reply whose verdicts are still in `sent`."""
        now = time.monotonic()
        if len(self.sent) - self.aside - verdicts < self.workers:
            wanted = 2 * self._ahead  # a worker had to wait for jobs, so the node can be faster than measured
        else:
            wanted = int(verdicts / max(now - self._measured, 1e-3) * AHEAD_SECONDS)
        self._ahead = min(max(wanted, LEAST_AHEAD * self.workers), MOST_AHEAD * self.workers)
        self._measured = now
        self.done += verdicts

    @property
    def room(self) -> int:
        """Number of further jobs that it can get."""
        return max(0, self._ahead - (len(self.sent) - self.aside))


class _Sent:
    """A job, and the number of nodes that were lost with it."""

    __slots__ = ("job", "key", "losses")

    def __init__(self, key: str, job: bytes) -> None:
        self.key, self.job, self.losses = key, job, 0


class Dispatcher:
    """Runs jobs on nodes, in one thread. A lost node gets no work again, even if it comes back."""

    def __init__(self, nodes: list[NodeHandle], wire: Wire, observer: Observer) -> None:
        self.nodes = nodes
        self._wire, self._observer = wire, observer
        self._numbers = itertools.count()
        self._calls: dict[Any, NodeHandle] = {}

    @property
    def living(self) -> list[NodeHandle]:
        """The nodes that can get jobs."""
        return [node for node in self.nodes if not node.lost]

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield one verdict for every job; raises InfrastructureError if no node is left."""
        for node in self.nodes:
            node.begin()
        source = _Source(jobs)
        while True:
            self._hand_out(source)
            if not any(node.sent for node in self.living) and not source:
                return
            yield from self._gather(source)

    def _hand_out(self, source: _Source) -> None:
        """Call every node that has no open call and has something to do."""
        busy = set(map(id, self._calls.values()))
        for node in self.living:
            if id(node) not in busy:
                parcels = self._batch(node, source)
                if parcels or node.sent:
                    node.called = time.monotonic()
                    self._calls[self._wire.call(node, parcels, last=not source)] = node

    def _batch(self, node: NodeHandle, source: _Source) -> list[Parcel]:
        parcels: list[Parcel] = []
        length, room = 0, node.room
        while len(parcels) < room and length < BATCH_BYTES and (sent := source.next()) is not None:
            number = str(next(self._numbers))
            node.sent[number] = sent
            parcels.append(Parcel(number=number, job=sent.job, tried=bool(sent.losses)))
            length += len(sent.job)
        return parcels

    def _gather(self, source: _Source) -> Iterator[Verdict]:
        """Wait for replies and yield their verdicts."""
        if not self._calls:
            raise InfrastructureError(NONE_LEFT.format(reason=self._reasons()))
        for call in self._wire.ready(list(self._calls), 1.0):
            node = self._calls.pop(call)
            try:
                reply = self._wire.result(call)
                verdicts = [verdict_of(data) for data in reply.verdicts]
            except (NodeLostError, ValueError, msgspec.MsgspecError) as error:
                yield from self._lose(node, str(error), source)
                continue
            yield from self._take(node, reply, verdicts)
            if reply.failure:
                yield from self._lose(node, reply.failure, source)
        for call, node in list(self._calls.items()):
            if time.monotonic() - node.called > STALL_SECONDS:
                del self._calls[call]
                yield from self._lose(node, f"it did not answer for {STALL_SECONDS:.0f} s", source)

    def _take(self, node: NodeHandle, reply: Exchanged, verdicts: list[Verdict]) -> Iterator[Verdict]:
        node.aside, node.canaries = reply.aside, reply.canaries
        node.note(len(verdicts))
        for verdict in verdicts:
            sent = node.sent.pop(verdict.key, None)
            if sent is not None:
                yield msgspec.structs.replace(verdict, key=sent.key)

    def _lose(self, node: NodeHandle, reason: str, source: _Source) -> Iterator[Verdict]:
        """Stop using a node. Its jobs go to other nodes, except those that were on too many lost nodes."""
        node.lost = " ".join(reason.split())
        self._wire.end(node)
        open_ = list(node.sent.values())
        node.sent.clear()
        again = f"; {len(open_)} programs run elsewhere" if open_ and self.living else ""
        self._observer.warning(f"Node {node.name} was lost ({node.lost[:300]}){again}")
        for sent in open_:
            sent.losses += 1
            if sent.losses < MOST_LOST:
                source.again(sent)
            else:
                yield Verdict(key=sent.key, answer=None, reason=f"{MOST_LOST} nodes were lost while they ran it")

    def _reasons(self) -> str:
        return "; ".join(f"{node.name}: {node.lost[:200]}" for node in self.nodes[:4])


class _Source:
    """Jobs in order, with jobs to repeat first. It is false if none is left; only `again` can add more."""

    def __init__(self, jobs: Iterable[tuple[str, Job]]) -> None:
        self._jobs, self._again = iter(jobs), collections.deque[_Sent]()
        self._peeked: _Sent | None = None

    def __bool__(self) -> bool:
        if self._peeked is None:
            self._peeked = self._draw()
        return bool(self._again) or self._peeked is not None

    def next(self) -> _Sent | None:
        if self._again:
            return self._again.popleft()
        peeked, self._peeked = self._peeked, None
        return peeked or self._draw()

    def again(self, sent: _Sent) -> None:
        self._again.append(sent)

    def _draw(self) -> _Sent | None:
        item = next(self._jobs, None)
        return None if item is None else _Sent(item[0], pack(item[1]))
