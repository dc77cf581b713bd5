"""One machine of several, with warm sandboxes. A dispatcher on another machine sends jobs and fetches verdicts.

This module does not depend on Ray: `grader/executors/ray.py` makes it an actor on every machine.
"""

from __future__ import annotations

import collections
import platform
import threading
import time
from typing import TYPE_CHECKING, Literal

from grader import resources
from grader.errors import GradeError, InfrastructureError
from grader.executors.messages import Asked, Exchanged, NodeFacts, Parcel, job_of, pack
from grader.observer import Silent
from grader.sandbox import choice, packages
from grader.sandbox.canary_check import Canaries
from grader.sandbox.pool import Pool
from grader.sandbox.tickets import Ticket

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.sandbox.interface import Backend
    from grader.sandbox.tickets import Verdict

FLUSH_SECONDS = 0.25
"""Maximum time that a verdict waits for others to be sent with it."""
REPLY_SECONDS = 1.0
"""Maximum time of an exchange. A longer silence means that the node is in trouble."""
LOOK_SECONDS = 0.02
"""How often an exchange checks whether a worker is idle: workers do not report it."""
REPLY_BYTES = 16 << 20
"""An exchange returns no further verdicts when they reach this size."""
IN_A_POD = (
    "A container of Kubernetes forbids user namespaces by default. Allow the pod's securityContext "
    "`seccompProfile: {type: Unconfined}`, `appArmorProfile: {type: Unconfined}` and `procMount: Unmasked`, or give "
    "the pod a Docker engine (DOCKER_HOST)."
)


class Node:
    """The sandboxes of one machine. Call `check` first, then `exchange` as long as there are jobs or verdicts."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._pool: Pool | None = None
        self._canaries = Canaries()
        self._parcels: collections.deque[Parcel] = collections.deque()
        self._is_last = False
        """Whether the dispatcher has no more jobs; it may have some again when it loses another node."""
        self._starved: list[Ticket] = []
        self._changed = threading.Condition()
        self._finished: collections.deque[bytes] = collections.deque()
        self._since = 0.0
        """The time of the oldest verdict that is not sent yet."""
        self._unfinished = 0
        self._failure = ""
        self._is_working = False

    def ready(self) -> bool:
        """Return True, which shows that this process has started."""
        return True

    def check(self) -> NodeFacts | str:
        """Start a sandbox and describe it; a text explains why no sandbox can start."""
        try:
            return self._checked()
        except GradeError as error:
            return str(error)

    def _checked(self) -> NodeFacts:
        options = self._asked.options
        workers = min(self._asked.workers, options.workers or resources.usable_cores())
        backend = choice.open_backend(options, self._asked.limits, Silent(), self._asked.python)
        self._pool = Pool(
            backend,
            workers,
            self._asked.answer_seconds,
            fresh=options.isolation == "container",
            canaries=self._canaries,
        )
        self._pool.__enter__()
        try:
            python = str(self._pool.supervisors.get(0).greeting["python"])
        except InfrastructureError as error:
            raise InfrastructureError(f"{error}{_hint(backend)}") from error
        return _facts(backend, python, workers)

    def begin(self, lint: int = 0) -> None:
        """Start the sandboxes in the background."""
        if self._pool is not None:
            self._pool.begin(lint)

    def exchange(self, parcels: list[Parcel], *, last: bool) -> Exchanged:
        """Take jobs, wait a moment for verdicts, and return those that are ready. `last`: no more jobs will come."""
        now = time.monotonic()
        with self._changed:
            self._parcels.extend(parcels)
            self._is_last = last
            self._unfinished += len(parcels)
            if parcels and not self._is_working and not self._failure:
                self._is_working = True
                threading.Thread(target=self._work, daemon=True).start()
            while not self._is_time(now, last=last):
                self._changed.wait(self._wait_seconds(now))
            return Exchanged(
                verdicts=self._taken(),
                aside=self._aside,
                canaries=self._canaries.described(),
                failure=self._failure,
            )

    def close(self) -> None:
        """End every sandbox."""
        if self._pool is not None:
            self._pool.close()

    @property
    def _aside(self) -> int:
        """Number of jobs that have run and wait until the others are done: to run again alone, or for a canary."""
        return len(self._starved) + (self._pool.held if self._pool is not None else 0)

    def _is_time(self, began: float, *, last: bool) -> bool:
        """Whether to reply now."""
        now = time.monotonic()
        if self._failure or now - began >= REPLY_SECONDS:
            return True
        if self._pool is not None and self._unfinished - self._aside < self._pool.workers and not last:
            return True  # a worker is idle
        finished = len(self._finished)
        return bool(finished) and (self._unfinished == 0 or now - self._since >= FLUSH_SECONDS)

    def _wait_seconds(self, began: float) -> float:
        now = time.monotonic()
        until_flush = self._since + FLUSH_SECONDS - now if self._finished else REPLY_SECONDS
        return max(0.0, min(began + REPLY_SECONDS - now, until_flush, LOOK_SECONDS))

    def _taken(self) -> list[bytes]:
        taken: list[bytes] = []
        length = 0
        while self._finished and length < REPLY_BYTES:
            taken.append(self._finished.popleft())
            length += len(taken[-1])
        return taken

    def _work(self) -> None:
        """Run jobs until none is left and no more come. It runs in a thread, in turns with `exchange`."""
        assert self._pool is not None
        try:
            while self._has_work():
                for verdict in self._pool.run_tickets(self._tickets(), self._starved):
                    self._finish(verdict)
        except Exception as error:
            with self._changed:
                self._failure = str(error) or type(error).__name__
                self._is_working = False
                self._changed.notify_all()

    def _has_work(self) -> bool:
        with self._changed:
            self._is_working = bool(self._parcels)
            return self._is_working

    def _tickets(self) -> Iterator[Ticket | None]:
        """Yield jobs as they arrive, or None if there is none at the moment, until no more come."""
        while self._parcels or not self._is_last:
            parcel = self._parcels.popleft() if self._parcels else None
            yield None if parcel is None else Ticket(parcel.number, job_of(parcel.job), tried=parcel.tried)

    def _finish(self, verdict: Verdict) -> None:
        data = pack(verdict)
        with self._changed:
            if not self._finished:
                self._since = time.monotonic()
            self._finished.append(data)
            self._unfinished -= 1
            self._changed.notify_all()


def _facts(backend: Backend, python: str, workers: int) -> NodeFacts:
    major, minor = python.split(".")[:2]
    return NodeFacts(
        kernel=platform.release(),
        architecture=platform.machine(),
        code=packages.code_digest(),
        lock=packages.lock_digest((int(major), int(minor))),
        python=python,
        identity=backend.identity,
        workers=workers,
        sandbox=backend.describe(),
    )


def _hint(backend: Backend) -> str:
    """Return advice for a machine where bubblewrap is installed but not permitted."""
    name: Literal["docker", "bubblewrap"] = backend.name
    return f"\n{IN_A_POD}" if name == "bubblewrap" else ""
