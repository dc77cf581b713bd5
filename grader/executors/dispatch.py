"""The dispatcher: hands jobs to nodes in batches, takes verdicts, and gives a lost node's jobs to the others.

A node has one call under way at a time. What it is given is bounded by what it does in a second, so that no node has a
long queue when the others are done, and by bytes, so that the driver's memory does not grow with the number of jobs.
"""

from __future__ import annotations

import collections
import itertools
import pickle
import time
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from grader.errors import InfrastructureError
from grader.executors.messages import Exchanged, Parcel, pack
from grader.results import CanaryProvenance
from grader.sandbox.tickets import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grader.observer import Observer
    from grader.sandbox.interface import Job

AHEAD_SECONDS = 1.0
"""A node is given about as many jobs as it does in this time."""
LEAST_AHEAD, MOST_AHEAD = 2, 128
"""Jobs a worker is given: at the beginning of a run and at least, and at most."""
BATCH_BYTES = 8 << 20
"""A batch takes no more jobs once they are this long."""
STALL_SECONDS = 120.0
"""A node that is silent for so long is lost; an exchange takes a second."""
MOST_LOST = 3
"""A job that was on so many nodes when they were lost may be what ends them."""
NONE_LEFT = (
    "No node of the cluster is left to run programs ({reason}). What is done is kept in the cache: the same command "
    "goes on from there."
)


class NodeLostError(Exception):
    """A node does not answer any more; what it was doing is not known."""


class Wire(Protocol):
    """How nodes are called."""

    def call(self, node: NodeHandle, parcels: list[Parcel], *, last: bool) -> Any:
        """Begin an exchange with a node; return something that stands for the reply."""

    def ready(self, calls: Sequence[Any], timeout: float) -> list[Any]:
        """Return those calls that have a reply, once there is one or the time is over."""

    def result(self, call: Any) -> Exchanged:
        """Return the reply; raises NodeLostError."""

    def end(self, node: NodeHandle) -> None:
        """End a lost node's process, if it is still there: it may run nothing more."""


class NodeHandle:
    """What the dispatcher knows of a node."""

    def __init__(self, name: str, workers: int, actor: Any = None) -> None:
        self.name, self.workers, self.actor = name, workers, actor
        self.sent: dict[str, _Sent] = {}
        """Number -> job that it has not answered."""
        self.aside = 0
        self.canaries = CanaryProvenance()
        self.done = 0
        """Verdicts that it gave."""
        self.lost = ""
        """Why it is not used any more; empty: it is."""
        self.called = time.monotonic()
        self._measured = 0.0
        self._ahead = 0
        self.begin()

    def begin(self) -> None:
        """Forget how quick it was: the jobs of another run are other jobs."""
        self.sent.clear()  # a run that was ended in the middle leaves some: what comes of them is nobody's
        self.aside = 0
        self._ahead, self._measured = LEAST_AHEAD * self.workers, time.monotonic()

    def note(self, verdicts: int) -> None:
        """Take a reply into account, whose verdicts are still in `sent`."""
        now = time.monotonic()
        if len(self.sent) - self.aside - verdicts < self.workers:
            wanted = 2 * self._ahead  # a worker had to wait for jobs: how quick it could be is not known
        else:
            wanted = int(verdicts / max(now - self._measured, 1e-3) * AHEAD_SECONDS)
        self._ahead = min(max(wanted, LEAST_AHEAD * self.workers), MOST_AHEAD * self.workers)
        self._measured = now
        self.done += verdicts

    @property
    def room(self) -> int:
        """How many more jobs it is to be given."""
        return max(0, self._ahead - (len(self.sent) - self.aside))


class _Sent:
    """A job, and how many nodes were lost while they had it."""

    __slots__ = ("job", "key", "losses")

    def __init__(self, key: str, job: bytes) -> None:
        self.key, self.job, self.losses = key, job, 0


class Dispatcher:
    """Runs jobs on nodes; used by one thread. A node that was lost gets no work again, even if it comes back."""

    def __init__(self, nodes: list[NodeHandle], wire: Wire, observer: Observer) -> None:
        self.nodes = nodes
        self._wire, self._observer = wire, observer
        self._numbers = itertools.count()
        self._calls: dict[Any, NodeHandle] = {}

    @property
    def living(self) -> list[NodeHandle]:
        """Nodes that can be given jobs."""
        return [node for node in self.nodes if not node.lost]

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield one verdict for every job; raises InfrastructureError where no node is left."""
        for node in self.nodes:
            node.begin()
        source = _Source(jobs)
        while True:
            self._hand_out(source)
            if not any(node.sent for node in self.living) and not source:
                return
            yield from self._gather(source)

    def _hand_out(self, source: _Source) -> None:
        """Call every node that has no call under way and something to do."""
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
        """Wait for replies, and yield what they bring."""
        if not self._calls:
            raise InfrastructureError(NONE_LEFT.format(reason=self._reasons()))
        for call in self._wire.ready(list(self._calls), 1.0):
            node = self._calls.pop(call)
            try:
                reply = self._wire.result(call)
            except NodeLostError as error:
                yield from self._lose(node, str(error), source)
                continue
            yield from self._take(node, reply)
            if reply.failure:
                yield from self._lose(node, reply.failure, source)
        for call, node in list(self._calls.items()):
            if time.monotonic() - node.called > STALL_SECONDS:
                del self._calls[call]
                yield from self._lose(node, f"it was silent for {STALL_SECONDS:.0f} s", source)

    def _take(self, node: NodeHandle, reply: Exchanged) -> Iterator[Verdict]:
        node.aside, node.canaries = reply.aside, reply.canaries
        node.note(len(reply.verdicts))
        for data in reply.verdicts:
            verdict: Verdict = pickle.loads(data)  # noqa: S301 - written by grade on a node of the user's own cluster
            sent = node.sent.pop(verdict.key, None)
            if sent is not None:
                yield msgspec.structs.replace(verdict, key=sent.key)

    def _lose(self, node: NodeHandle, reason: str, source: _Source) -> Iterator[Verdict]:
        """Use a node no more. Its jobs go to others, but for those that were on too many lost nodes."""
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
                yield Verdict(key=sent.key, answer=None, reason=f"{MOST_LOST} nodes were lost while it was on them")

    def _reasons(self) -> str:
        return "; ".join(f"{node.name}: {node.lost[:200]}" for node in self.nodes[:4])


class _Source:
    """Jobs in order; what must be run again comes first. False: there is none, and there will be none of its own."""

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
