"""One machine of a cluster: it owns warm sandboxes, and runs the batches of jobs that the driver sends.

This module does not depend on Ray: `grader/executors/ray.py` makes the class an actor on every machine.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from grader import resources
from grader.errors import GradeError, InfrastructureError
from grader.executors.messages import Done, NodeFacts
from grader.observer import Silent
from grader.sandbox import choice, packages
from grader.sandbox.channel import opened
from grader.sandbox.queue import JobQueue

if TYPE_CHECKING:
    from grader.executors.messages import NodeSettings
    from grader.sandbox.interface import Answer

IN_A_POD = (
    "A container of Kubernetes forbids user namespaces by default. Allow the pod's securityContext "
    "`seccompProfile: {type: Unconfined}`, `appArmorProfile: {type: Unconfined}` and `procMount: Unmasked`, or give "
    "the pod a Docker engine (DOCKER_HOST)."
)


class Node:
    """The sandboxes of one machine. Call `check` first; then any number of threads may call `run`."""

    def __init__(self, asked: NodeSettings) -> None:
        self._asked = asked
        self._queue: JobQueue | None = None

    def ready(self) -> bool:
        """Return True, which shows that this process answers."""
        return True

    def check(self) -> NodeFacts | str:
        """Start a sandbox and return what it is, or why none can start."""
        asked, backend = self._asked, None
        try:
            backend = choice.open_backend(asked.options, asked.limits, Silent(), asked.python)
            workers = min(asked.workers, asked.options.workers or resources.usable_cores())
            supervisor = backend.start(0)
            python = str(supervisor.greeting["python"])
            supervisor.close()
            bytes_ = asked.limits.sandbox_bytes
            self._queue = JobQueue(backend, workers, asked.answer_seconds, program_bytes=bytes_)
        except GradeError as error:
            return f"{error}\n{IN_A_POD}" if backend is not None and backend.name == "bubblewrap" else str(error)
        return NodeFacts(
            kernel=platform.release(),
            architecture=platform.machine(),
            code=packages.code_digest(),
            python=python,
            workers=workers,
            sandbox=backend.describe(),
        )

    def begin(self, lint: int = 0) -> None:
        """Start the sandboxes in the background."""
        if self._queue is not None and lint:
            self._queue.begin("linting", lint)

    def run(self, jobs: list[bytes]) -> Done:
        """Run a batch of packed jobs."""
        assert self._queue is not None
        answers: dict[str, Answer | str] = {}
        failure = ""
        try:
            answers.update(self._queue.run((str(place), opened(job)) for place, job in enumerate(jobs)))
        except InfrastructureError as error:
            answers, failure = {}, str(error)
        return Done(answers=answers, failure=failure)

    def close(self) -> None:
        """End every sandbox."""
        if self._queue is not None:
            self._queue.close()
