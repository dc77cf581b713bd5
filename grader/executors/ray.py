"""The executor of a Ray cluster: warm sandboxes on every node. The cache of verdicts is on this machine only."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import threading
from typing import TYPE_CHECKING, Any, Self

from grader.errors import InfrastructureError
from grader.executors.dispatch import Dispatcher
from grader.executors.interface import Executor
from grader.executors.messages import NodeSettings
from grader.executors.node import Node
from grader.results import SandboxProvenance
from grader.sandbox import verdict_cache as verdicts
from grader.sandbox.queue import ANSWER_SECONDS
from grader.sandbox.verdict_cache import VerdictCache

try:
    import ray

    from grader.executors import nodes
except ModuleNotFoundError as error:
    raise InfrastructureError(
        f"--executor ray needs Ray, and {error.name} is not installed: pip install 'grade-predictions[ray]' here and "
        "on every node of the cluster."
    ) from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.executors.dispatch import NodeHandle
    from grader.executors.messages import NodeFacts
    from grader.observer import Observer
    from grader.options import Options
    from grader.results import NodeProvenance
    from grader.sandbox.interface import Answer, Limits

REACH_SECONDS = 10.0
NO_NODE = (
    "No node of the Ray cluster can run programs.{reasons}\nRun `grade doctor` on a node to see what is missing there. "
    "Nothing was executed."
)


class Cluster(Executor):
    """Runs jobs in the sandboxes of a Ray cluster's nodes."""

    def __init__(self, asked: NodeSettings, observer: Observer, cache: VerdictCache) -> None:
        super().__init__(cache, asked.limits, observer)
        self._asked, self._connection = asked, connection()
        self._facts: dict[NodeHandle, NodeFacts] = {}
        self._left_out: list[NodeProvenance] = []
        self._dispatcher = Dispatcher([], nodes.RayWire(), observer)

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._connection)
            self._open()
            stack.pop_all()
        return self

    def _open(self) -> None:
        self._facts, self._left_out = nodes.find(Node, self._asked, self._observer)
        if not self._facts:
            reasons = "".join(f"\n{node.name}: {node.lost}" for node in self._left_out)
            raise InfrastructureError(NO_NODE.format(reasons=reasons))
        self._identity = nodes.identity(list(self._facts.values()))
        self._dispatcher.nodes = list(self._facts)
        self._observer.message(f"Programs run on {len(self._facts)} nodes of a Ray cluster, {self._workers} at a time")

    @property
    def _workers(self) -> int:
        return sum(node.workers for node in self._facts)

    def __exit__(self, *_: object) -> None:
        # Interrupted or not: the next run resumes from the finished verdicts.
        try:
            nodes.end(self._dispatcher.living)
        finally:
            self._connection.__exit__(None, None, None)
            self._close_cache()

    def begin(self, lint: int = 0) -> None:
        """Start the sandboxes of all nodes in the background."""
        for node in self._dispatcher.living:
            node.actor.begin.remote(lint)

    def run(self, jobs: Iterable[tuple[str, Job]], *, with_tests: bool = False) -> Iterator[tuple[str, Answer | str]]:
        """Yield the answer to every job, or why there is none. A task's own solution runs where programs do."""
        del with_tests
        return self._dispatcher.run(jobs)

    def describe(self) -> SandboxProvenance:
        """Return the provenance of the sandboxes for a report: the common properties of all nodes, and every node."""
        alike: dict[str, Any] = {
            name: ", ".join(sorted({getattr(facts.sandbox, name) for facts in self._facts.values()} - {""}))
            for name in ("backend", "image", "engine", "runtime", "python", "user")
        }
        return SandboxProvenance(
            **alike,
            identity=self._identity,
            workers=self._workers,
            cpu_seconds=self._asked.limits.cpu_seconds,
            memory_bytes=self._asked.limits.memory_bytes,
            nodes=[*(nodes.provenance(*pair) for pair in self._facts.items()), *self._left_out],
        )


def open_ray(options: Options, limits: Limits, observer: Observer, python: str | None = None) -> Cluster:
    """Return the executor for these options. It connects when its context is entered."""
    asked = NodeSettings(
        options=options,
        limits=limits,
        python=python,
        workers=options.worker_count,
        answer_seconds=ANSWER_SECONDS + 4 * limits.wall_seconds,
    )
    return Cluster(asked, observer, VerdictCache(verdicts.default_path() if options.cache else None))


@contextlib.contextmanager
def connection() -> Iterator[None]:
    """Connect to a cluster, unless this process is already connected; raises InfrastructureError."""
    if ray.is_initialized():
        yield
        return
    with _own_signals():
        try:
            _reach(os.environ.get("RAY_ADDRESS", ""))
            ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
            raise InfrastructureError(
                f"No usable Ray cluster on this machine or in RAY_ADDRESS ({nodes.said(error)}). Start one with "
                "`ray start --head`, or name one with RAY_ADDRESS=HOST:6379. A cluster with token authentication "
                "needs RAY_AUTH_MODE=token and its token in RAY_AUTH_TOKEN or ~/.ray/auth_token here."
            ) from error
    try:
        yield
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Raise OSError at once if the address does not respond, because Ray itself tries for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Keep this process's own handler of SIGTERM, which Ray replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
