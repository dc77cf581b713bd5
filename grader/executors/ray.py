"""The executor of a Ray cluster: batches of jobs are Ray's tasks, which Ray runs again if a node is lost.

The cache of verdicts is on this machine only.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import signal
import socket
import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING, Any, Self

import msgspec

from grader.errors import InfrastructureError
from grader.executors import ray_task
from grader.executors.interface import Executor
from grader.results import NodeProvenance, SandboxProvenance
from grader.sandbox import packages
from grader.sandbox import verdict_cache as verdicts
from grader.sandbox.channel import pack_job
from grader.sandbox.verdict_cache import VerdictCache

try:
    import ray
except ModuleNotFoundError as error:
    raise InfrastructureError(
        f"--executor ray needs Ray, and {error.name} is not installed: pip install 'grade-predictions[ray]' here and "
        "on every node of the cluster."
    ) from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.executors.ray_task import BatchReply, NodeFacts
    from grader.observer import Observer
    from grader.options import Options
    from grader.sandbox.interface import Answer, Limits

REACH_SECONDS = 10.0
ROOM_SECONDS = 120.0
"""Time in which the cluster must have a free CPU."""
BATCH = 16
"""Number of jobs in a batch."""
BATCH_BYTES = 8 << 20
"""A batch is also closed when its jobs reach this size, so that the driver's memory does not grow with theirs."""
TRIES = 3
"""A batch that was lost so often is not sent again, because it may be the cause."""
LOOK_SECONDS = 60.0
"""Time between two looks whether the cluster still has a node."""
NO_ROOM = (
    f"Ray started no process within {ROOM_SECONDS:.0f} s, most likely because all CPUs of the cluster are reserved for "
    "other work: wait, or add a node."
)
NONE_LEFT = (
    "No node of the cluster is left to run programs. Finished verdicts are in the cache: run the same command again to "
    "continue."
)
ADVICE = "Nothing else was sent; finished verdicts are in the cache. Repair the node, or remove it from the cluster."
_MAX_ERROR_CHARS = 400


class Cluster(Executor):
    """Runs jobs in the sandboxes of a Ray cluster's nodes."""

    def __init__(self, queue_settings: ray_task.QueueSettings, observer: Observer, cache: VerdictCache) -> None:
        super().__init__(cache, queue_settings.limits, observer)
        self._queue_settings = queue_settings
        self._connection = connection()  # it connects in `__enter__`
        self._packed_settings = msgspec.json.encode(queue_settings, enc_hook=str)  # paths as texts
        self._facts: list[NodeFacts] = []
        """Of each host that has run a batch."""
        self._answer_counts = Counter[str]()
        """Host -> number of answers."""

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._connection)
            self._open()
            # Without an error, the connection stays open until `__exit__`.
            stack.pop_all()
        return self

    def _open(self) -> None:
        """Run an empty batch on one node, which opens its sandbox: what the node reports is expected of all others."""
        remote: Any = ray.remote
        options = {"num_cpus": 1, "scheduling_strategy": "SPREAD"}
        # The first try counts, too.
        retries = {"max_retries": TRIES - 1, "retry_exceptions": [InfrastructureError]}
        try:
            ray.get(remote(**options)(ray_task.ready).remote(), timeout=ROOM_SECONDS)
        except ray.exceptions.GetTimeoutError:
            raise InfrastructureError(NO_ROOM) from None
        self._task: Any = remote(**options, **retries)(ray_task.run)
        # At first use, this builds the image or installs the packages. `_check_node` adds the node to `_facts`.
        self._answers(self._task.remote(self._packed_settings, []), [])
        self._identity = f"cluster:{hashlib.sha256(self._facts[0].environment.encode()).hexdigest()[:16]}"
        self._observer.message(f"Programs run on a Ray cluster, {self._workers} at a time")

    @property
    def _workers(self) -> int:
        return min(self._queue_settings.options.workers or _cpus(), _cpus())

    def __exit__(self, *_: object) -> None:
        # Interrupted or not: the next run resumes from the finished verdicts. With the connection, its tasks end.
        self._connection.__exit__(None, None, None)
        self._close_cache()

    def begin(self, lint_jobs: int = 0) -> None:
        """Do nothing: a worker process starts sandboxes with its first batch."""

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[tuple[str, Answer | str]]:
        """Yield the answer to every job, or why there is none."""
        batches = _batches(jobs)
        open_tasks: dict[Any, list[str]] = {}
        """Task of Ray -> the keys of its jobs."""
        while True:
            # One batch waits for each that runs.
            while len(open_tasks) < 2 * self._workers and (batch := next(batches, None)) is not None:
                keys, packed = batch
                open_tasks[self._task.remote(self._packed_settings, packed)] = keys
            if not open_tasks:
                return
            ready, _ = ray.wait(list(open_tasks), num_returns=1, timeout=LOOK_SECONDS)
            if not ready and not _cpus():
                raise InfrastructureError(NONE_LEFT)
            for task in ready:
                yield from self._answers(task, open_tasks.pop(task))

    def _answers(self, task: Any, keys: list[str]) -> list[tuple[str, Answer | str]]:
        """Return, for each job of a batch that has ended, its answer or why it has none; raises InfrastructureError."""
        try:
            reply: BatchReply = ray.get(task)
        except InfrastructureError as error:
            # The text that Ray gives this error is a traceback.
            raise InfrastructureError(f"{error.args[0] if error.args else error}\n{ADVICE}") from error
        except ray.exceptions.RayError as error:
            if not keys:  # the empty batch of `_open`
                raise InfrastructureError(f"Ray cannot run programs: {_error_line(error)}") from error
            return [(key, f"it was lost {TRIES} times on nodes of the cluster ({_error_line(error)})") for key in keys]
        self._check_node(reply.facts)
        self._answer_counts[reply.facts.host] += len(reply.answers)
        return list(zip(keys, reply.answers, strict=True))

    def _check_node(self, facts: NodeFacts) -> None:
        """Add a node to `_facts`; raise InfrastructureError if its verdicts could differ from others'."""
        local_code = packages.code_digest()
        if facts.code != local_code:
            raise InfrastructureError(
                f"The code that runs inside sandboxes is {facts.code} on {facts.host} and {local_code} here. Install "
                "the same version of grade on every node."
            )
        if facts not in self._facts:
            self._facts.append(facts)
        first = self._facts[0]
        if facts.environment != first.environment:
            raise InfrastructureError(
                "All nodes of a run must have the same minor version of Python inside the sandbox, and the same "
                f"architecture: {first.environment} ({first.host}); {facts.environment} ({facts.host}). "
                "Give them the same kind of sandbox (--sandbox), or install that Python on all."
            )

    def describe(self) -> SandboxProvenance:
        """Return the provenance of the sandboxes for a report: the common properties of all nodes, and every node."""
        properties: dict[str, Any] = {
            name: ", ".join(sorted({getattr(facts.sandbox, name) for facts in self._facts} - {""}))
            for name in ("backend", "image", "engine", "runtime", "python", "user")
        }
        return SandboxProvenance(
            **properties,
            identity=self._identity,
            workers=self._workers,
            cpu_seconds=self._queue_settings.limits.cpu_seconds,
            memory_bytes=self._queue_settings.limits.memory_bytes,
            nodes=[self._provenance(facts) for facts in self._facts],
        )

    def _provenance(self, facts: NodeFacts) -> NodeProvenance:
        values = msgspec.structs.asdict(facts.sandbox) | msgspec.structs.asdict(facts)
        fields = {field: values[field] for field in NodeProvenance.__struct_fields__ if field in values}
        return NodeProvenance(name=facts.host, verdicts=self._answer_counts[facts.host], **fields)


def open_ray(options: Options, limits: Limits, observer: Observer, python: str | None = None) -> Cluster:
    """Return the executor for these options. It connects when its context is entered."""
    queue_settings = ray_task.QueueSettings(options=options, limits=limits, python=python)
    return Cluster(queue_settings, observer, VerdictCache(verdicts.default_path() if options.cache else None))


def _batches(jobs: Iterable[tuple[str, Job]]) -> Iterator[tuple[list[str], list[bytes]]]:
    """Yield the keys and the packed jobs of batches, in order; they are drawn as batches are needed."""
    keys: list[str] = []
    packed: list[bytes] = []
    size = 0
    for key, job in jobs:
        keys.append(key)
        packed.append(pack_job(job))
        size += len(packed[-1])
        if len(keys) == BATCH or size >= BATCH_BYTES:
            yield keys, packed
            keys, packed, size = [], [], 0
    if keys:
        yield keys, packed


def _cpus() -> int:
    return int(ray.cluster_resources().get("CPU", 0))


def _error_line(error: BaseException) -> str:
    """Return the class of a Ray error and the line of its text that says what happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [""]
    # The error of a task ends with the exception, after a traceback; others begin with what happened.
    line = lines[-1] if isinstance(error, ray.exceptions.RayTaskError) else lines[0]
    return f"{type(error).__name__}: {line}"[:_MAX_ERROR_CHARS]


@contextlib.contextmanager
def connection() -> Iterator[None]:
    """Connect to a cluster, unless this process is already connected; raises InfrastructureError."""
    if ray.is_initialized():
        yield
        return
    with _keep_signal_handler():
        try:
            _reach(os.environ.get("RAY_ADDRESS", ""))
            ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
            raise InfrastructureError(
                f"No usable Ray cluster on this machine or in RAY_ADDRESS ({_error_line(error)}). Start one with "
                "`ray start --head`, or name one with RAY_ADDRESS=HOST:6379. A cluster with token authentication "
                "needs RAY_AUTH_MODE=token and its token in RAY_AUTH_TOKEN or ~/.ray/auth_token here."
            ) from error
    try:
        # Ray prints messages on lost processes to standard output, which is for reports (`-o -`).
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Raise OSError at once if the address does not respond, because Ray itself tries for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()


@contextlib.contextmanager
def _keep_signal_handler() -> Iterator[None]:
    """Keep this process's own handler of SIGTERM, which Ray replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
