"""One machine of a cluster: it owns warm sandboxes, and runs the batches of jobs that the driver sends.

This module does not depend on Ray: `grader/executors/ray.py` makes the class an actor on every machine.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.errors import GradeError, InfrastructureError
from grader.executors.messages import Done, NodeFacts, NodeSettings, pack
from grader.observer import Silent
from grader.sandbox import choice, packages
from grader.sandbox.canary_check import Canaries
from grader.sandbox.channel import opened
from grader.sandbox.pool import Pool
from grader.sandbox.stream import Stream

if TYPE_CHECKING:
    from grader.sandbox.interface import Backend

IN_A_POD = (
    "A container of Kubernetes forbids user namespaces by default. Allow the pod's securityContext "
    "`seccompProfile: {type: Unconfined}`, `appArmorProfile: {type: Unconfined}` and `procMount: Unmasked`, or give "
    "the pod a Docker engine (DOCKER_HOST)."
)


class Node:
    """The sandboxes of one machine. Call `check` first; then any number of threads may call `run`."""

    def __init__(self, asked: bytes) -> None:
        self._asked = msgspec.msgpack.decode(asked, type=NodeSettings)
        self._canaries = Canaries()
        self._stream: Stream | None = None

    def ready(self) -> bool:
        """Return True, which shows that this process answers."""
        return True

    def check(self) -> bytes:
        """Start a sandbox and describe it as `NodeFacts`; a text explains why no sandbox can start."""
        try:
            return msgspec.msgpack.encode(self._checked())
        except GradeError as error:
            return msgspec.msgpack.encode(str(error))

    def _checked(self) -> NodeFacts:
        options = self._asked.options
        workers = min(self._asked.workers, options.workers or resources.usable_cores())
        backend = choice.open_backend(options, self._asked.limits, Silent(), self._asked.python)
        pool = Pool(backend, workers, self._asked.answer_seconds, canaries=self._canaries)
        self._stream = Stream(pool, holds=True)
        try:
            python = str(pool.supervisors.get(0).greeting["python"])
        except InfrastructureError as error:
            raise InfrastructureError(f"{error}{_hint(backend)}") from error
        return _facts(backend, python, workers)

    def begin(self, lint: int = 0) -> None:
        """Start the sandboxes in the background."""
        if self._stream is not None:
            self._stream.pool.begin(lint)

    def run(self, jobs: list[bytes]) -> bytes:
        """Run a batch of packed jobs; return `Done`."""
        assert self._stream is not None
        try:
            asked = [(str(place), opened(job)) for place, job in enumerate(jobs)]
            done = Done(verdicts=[pack(verdict) for verdict in self._stream.run(asked)])
        except InfrastructureError as error:
            done = Done(failure=str(error))
        return msgspec.msgpack.encode(msgspec.structs.replace(done, canaries=self._canaries.described()))

    def close(self) -> None:
        """End every sandbox."""
        if self._stream is not None:
            self._stream.close()


def _facts(backend: Backend, python: str, workers: int) -> NodeFacts:
    return NodeFacts(
        kernel=platform.release(),
        architecture=platform.machine(),
        code=packages.code_digest(),
        python=python,
        identity=backend.identity,
        workers=workers,
        sandbox=backend.describe(),
    )


def _hint(backend: Backend) -> str:
    """Return advice for a machine where bubblewrap is installed but not permitted."""
    return f"\n{IN_A_POD}" if backend.name == "bubblewrap" else ""
