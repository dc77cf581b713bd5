"""Samples on the nodes of a Ray cluster: each node assembles, runs and judges them as a pool of one machine does.

Samples, lanes and deadlines stay with the rounds of the pool's process (grader/pool/rounds.py), which ask this class.
Messages are decoded as declared types, because they contain what programs wrote; see docs/scale.md.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Self

import msgspec

from grader.executors.ray import NO_NODE, NodeHere, asked_of, connection  # first: it says how to install Ray

# isort: split
from grader.errors import GradeError, InfrastructureError
from grader.executors import nodes
from grader.executors.dispatch import NodeLostError
from grader.executors.messages import NodeFacts
from grader.observer import Silent
from grader.pool.messages import unscored
from grader.pool.samples import Samples
from grader.results import SampleResult
from grader.sandbox.interface import Limits
from grader.scorers.asking import Asked, Lane, Later

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.executors.dispatch import NodeHandle
    from grader.observer import Observer
    from grader.pool.samples import Loaded

SEARCH_SECONDS = 30.0
"""How often to try the nodes that are not used: new ones, and those that were lost or left out."""


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """A request to a node: samples to score."""

    lane: Lane
    samples: list[Asked]
    rows: dict[str, msgspec.Raw]
    """The rows of samples that bring their tasks, by name."""


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """A node's answer to `Sent`."""

    results: dict[int, SampleResult] = {}
    """Index of the sample -> its result."""
    later: dict[int, Later] = {}
    """Index of the sample -> the lane in which it continues."""
    losses: tuple[int, int]
    """Numbers of lost sandboxes, and of repeated jobs, so far."""
    failure: str = ""
    """Why the node can run nothing; empty if it can."""


class SamplesNode(NodeHere):
    """The samples of one machine. Call `check` first, then `score_data` from any number of callers."""

    def __init__(self, asked: bytes, loaded: Loaded) -> None:
        super().__init__(asked)
        self._loaded = loaded
        self._samples: Samples | None = None

    def check(self) -> NodeFacts | str:
        """Start a sandbox and describe it, then start those for samples; a text explains why none can start."""
        facts = super().check()
        super().close()
        if isinstance(facts, NodeFacts):
            scorer, run = self._loaded
            options = msgspec.structs.replace(run.options, executor="local", ray_address=None, workers=facts.workers)
            try:
                self._samples = Samples(type(self._loaded)(scorer, msgspec.structs.replace(run, options=options)))
                self._samples.__enter__()
            except GradeError as error:
                return str(error)
            self._threads = ThreadPoolExecutor(sum(self._samples.threads.values()))
        return facts

    def threads(self) -> dict[Lane, int]:
        """Return how many calls of `score_data` may run at a time, by lane."""
        assert self._samples is not None
        return dict(self._samples.threads)

    async def score_data(self, data: bytes) -> bytes:
        """Score samples. As this is asynchronous, other methods answer meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._score, data)

    def _score(self, data: bytes) -> bytes:
        assert self._samples is not None
        sent = msgspec.json.decode(data, type=Sent)
        asked = [msgspec.structs.replace(sample, data=bytes(sent.rows.get(sample.row, b""))) for sample in sent.samples]
        try:
            scored = dict(enumerate(self._samples.score(asked, sent.lane)))
        except InfrastructureError as error:
            return msgspec.json.encode(Scored(losses=self._samples.losses, failure=str(error)))
        results = {place: sample for place, sample in scored.items() if isinstance(sample, SampleResult)}
        later = {place: sample for place, sample in scored.items() if isinstance(sample, Later)}
        return msgspec.json.encode(Scored(results=results, later=later, losses=self._samples.losses))

    def close(self) -> None:
        """End every sandbox."""
        if self._samples is not None:
            self._samples.abort()
            self._samples.__exit__(None, None, None)


def _decoded(data: bytes, count: int) -> Scored:
    """Return a node's answer about `count` samples; raises NodeLostError or, if malformed, msgspec.MsgspecError."""
    reply = msgspec.json.decode(data, type=Scored)
    if reply.failure or {*reply.results, *reply.later} != set(range(count)):
        raise NodeLostError(reply.failure or "its answer does not match the request")
    return reply


class _Node:
    """A node in use."""

    def __init__(self, handle: NodeHandle, facts: NodeFacts, threads: Mapping[Lane, int]) -> None:
        self.handle, self.facts, self.threads = handle, facts, threads
        self.busy = collections.Counter[Lane]()
        self.losses = 0, 0


class Cluster:
    """Scores samples on the nodes of a Ray cluster, for any number of threads. Use it as a context manager."""

    def __init__(self, loaded: Loaded, observer: Observer) -> None:
        options, protocol = loaded.run.options, loaded.run.benchmark.protocols[loaded.run.protocol]
        self.benchmark = loaded.run.benchmark.id
        self._loaded, self._observer = loaded, observer
        self._asked = asked_of(options, Limits(), getattr(protocol, "python", None) or None)
        self._connection = connection(options.ray_address)
        self._used: list[_Node] = []
        self._lost: list[_Node] = []
        self.nodes: dict[str, str] = {}
        """Node -> why it is not used; empty if it is."""
        self._changed = threading.Condition()
        self._is_over = False

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._connection)
            self._search()
            if not self._used:
                reasons = "".join(f"\n{name}: {why}" for name, why in self.nodes.items())
                raise InfrastructureError(NO_NODE.format(reasons=reasons))
            stack.pop_all()
        threading.Thread(target=self._keep_searching, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.abort()
        finally:
            self._connection.__exit__(None, None, None)

    def abort(self) -> None:
        """End the sandboxes of all nodes: calls of `score` fail, now and later."""
        with self._changed:
            self._is_over = True
            used, self._used = self._used, []
            self._changed.notify_all()
        nodes.end([node.handle for node in used])

    @property
    def threads(self) -> Mapping[Lane, int]:
        """Lane -> number of threads that may score in it, on all nodes together."""
        counts: dict[Lane, int] = {}
        for node in self._used:
            for lane, count in node.threads.items():
                counts[lane] = counts.get(lane, 0) + count
        return counts

    @property
    def losses(self) -> tuple[int, int]:
        """Number of sandboxes lost so far, and of the jobs that ran again because of it."""
        every = [node.losses for node in [*self._used, *self._lost]]
        return sum(lost for lost, _ in every), sum(jobs for _, jobs in every)

    def score(self, asked: Sequence[Asked], lane: Lane) -> list[SampleResult | Later]:
        """Return one result per sample; they are unscored if their node is lost. Raises a GradeError."""
        sent = Sent(
            lane=lane,
            samples=[msgspec.structs.replace(sample, data=b"") for sample in asked],
            rows={sample.row: msgspec.Raw(sample.data) for sample in asked if sample.row},
        )
        node = self._take(lane)
        try:
            call = node.handle.actor.score_data.remote(msgspec.json.encode(sent))
            reply = _decoded(nodes.result(node.handle.actor, call), len(asked))
        except (NodeLostError, msgspec.MsgspecError) as error:
            self._lose(node, str(error))
            return [unscored(sample, f"node {node.handle.name} was lost: {error}") for sample in asked]
        finally:
            with self._changed:
                node.busy[lane] -= 1
                self._changed.notify_all()
        node.losses = reply.losses
        return [reply.results.get(place) or reply.later[place] for place in range(len(asked))]

    def _take(self, lane: Lane) -> _Node:
        """Wait for a node with a free thread in this lane, and return the one with most of them free."""
        with self._changed:
            while True:
                if self._is_over or not self._used:
                    why = "; ".join(filter(None, self.nodes.values()))
                    raise InfrastructureError(f"No node of the cluster is left to run programs ({why[:400]}).")
                node = min(self._used, key=lambda node: node.busy[lane] / node.threads[lane])
                if node.busy[lane] < node.threads[lane]:
                    node.busy[lane] += 1
                    return node
                self._changed.wait()

    # --- nodes that come and go ---

    def _keep_searching(self) -> None:
        while True:
            with self._changed:
                if self._changed.wait_for(lambda: self._is_over, SEARCH_SECONDS):
                    return
            try:
                self._search()
            except Exception as error:
                self._observer.warning(f"The search for nodes failed: {nodes.said(error)}")

    def _search(self) -> None:
        """Start to use every node that can be used."""
        used = [(node.handle, node.facts) for node in self._used]
        search = nodes.find(SamplesNode, self._asked, Silent(), self._loaded, used=used)
        more = [
            _Node(handle, facts, nodes.result(handle.actor, handle.actor.threads.remote()))
            for handle, facts in search.usable
        ]
        for node in search.left_out:
            self._note(node.name, f"left out: {node.lost}")
        with self._changed:
            self.nodes |= {node.handle.name: "" for node in more}
            self._used += more
            self._changed.notify_all()
        if self._is_over:
            self.abort()

    def _note(self, name: str, why: str) -> None:
        if self.nodes.get(name) != why:
            self._observer.warning(f"Node {name} is not used ({why})")
        self.nodes[name] = why

    def _lose(self, node: _Node, why: str) -> None:
        with self._changed:
            if node not in self._used:
                return
            self._used.remove(node)
            self._lost.append(node)
            self._note(node.handle.name, f"lost: {why}")
            self._changed.notify_all()
        nodes.kill(node.handle.actor)
