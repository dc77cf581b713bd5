"""What a worker process of a Ray cluster does: it keeps one queue of sandboxes, and runs batches of jobs in it.

This module does not import Ray: `ray.py` makes tasks of its functions.
"""

from __future__ import annotations

import atexit
import platform
from typing import TYPE_CHECKING

import msgspec

from grader.errors import GradeError, InfrastructureError
from grader.observer import Silent
from grader.options import Options
from grader.results import SandboxProvenance
from grader.sandbox import choice, packages
from grader.sandbox.channel import unpack_job
from grader.sandbox.interface import Answer, Limits
from grader.sandbox.queue import JobQueue, answer_seconds

if TYPE_CHECKING:
    from grader.sandbox.interface import Backend

KUBERNETES_ADVICE = (
    "A container of Kubernetes forbids user namespaces by default. Allow the pod's securityContext "
    "`seccompProfile: {type: Unconfined}`, `appArmorProfile: {type: Unconfined}` and `procMount: Unmasked`, or give "
    "the pod a Docker engine (DOCKER_HOST)."
)


class QueueSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What identifies a queue."""

    options: Options
    limits: Limits
    python: str | None


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The machine of a worker process, and its sandboxes."""

    host: str
    kernel: str
    architecture: str
    code: str
    """Hash of the code that runs inside the sandbox, and of the lock files of the packages inside."""
    sandbox: SandboxProvenance

    @property
    def environment(self) -> str:
        """Python, processor and code, in words: they must be the same on all nodes."""
        return f"Python {'.'.join(self.sandbox.python.split('.')[:2])} on {self.architecture}, code {self.code}"


class BatchReply(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to a batch of jobs."""

    facts: NodeFacts
    answers: list[Answer | str]
    """In the order of the jobs; a text says why there is none."""


_queues: dict[bytes, tuple[JobQueue, NodeFacts]] = {}
"""The settings of the open queue -> the queue. There is one at most."""


def ready() -> None:
    """Do nothing, which shows that a process could start."""


def run(packed_settings: bytes, jobs: list[bytes]) -> BatchReply:
    """Run a batch of packed jobs; raises InfrastructureError with this machine's name."""
    try:
        queue, facts = _open_queue(packed_settings)
        answers = dict(queue.run((str(index), unpack_job(job)) for index, job in enumerate(jobs)))
    except GradeError as error:
        raise InfrastructureError(f"The node {platform.node()} cannot run programs: {error}") from None
    return BatchReply(facts=facts, answers=[answers[str(index)] for index in range(len(jobs))])


def _open_queue(packed_settings: bytes) -> tuple[JobQueue, NodeFacts]:
    """Return this process's queue with these settings. Only one is open: for other settings, it is closed first."""
    if packed_settings not in _queues:
        close()
        # The hook makes paths of texts.
        settings = msgspec.json.decode(packed_settings, type=QueueSettings, dec_hook=lambda kind, value: kind(value))
        limits = settings.limits
        backend = choice.open_backend(settings.options, limits, Silent(), settings.python)
        # A task has one core, so its queue has one worker.
        queue = JobQueue(backend, 1, answer_seconds(limits), program_bytes=limits.sandbox_bytes)
        _check_sandbox_starts(backend)
        _queues[packed_settings] = queue, _node_facts(backend)
    return _queues[packed_settings]


def _check_sandbox_starts(backend: Backend) -> None:
    """Start a sandbox, so that a node without one says why; raises InfrastructureError."""
    try:
        backend.start(0).close()
    except InfrastructureError as error:
        raise InfrastructureError(
            f"{error}\n{KUBERNETES_ADVICE}" if backend.name == "bubblewrap" else str(error)
        ) from None


def _node_facts(backend: Backend) -> NodeFacts:
    return NodeFacts(
        host=platform.node(),
        kernel=platform.release(),
        architecture=platform.machine(),
        code=packages.code_digest(),
        sandbox=backend.describe(),
    )


@atexit.register
def close() -> None:
    """End the sandboxes."""
    while _queues:
        _queues.popitem()[1][0].close()
