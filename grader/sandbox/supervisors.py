"""The supervisors of one backend, one per worker: starts them in the background, and ends them."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.sandbox.interface import Backend, Supervisor


class Supervisors:
    """The supervisors of a fixed number of workers."""

    def __init__(self, backend: Backend, workers: int) -> None:
        self._backend = backend
        self.stop = threading.Event()
        """If set, the run is ending and no supervisor is started any more."""
        self._lock = threading.Lock()
        # The system ends such a child when its parent thread ends, so these threads stay until the end.
        self._starters = ThreadPoolExecutor(workers, "starter")
        self._running: dict[int, Future[Supervisor]] = {}
        """Worker -> its supervisor, which may still be starting."""
        self._tasks: dict[int, set[int]] = {}
        """Worker -> the tasks whose candidates were sent to its supervisor."""
        self._started = 0
        self._ending: list[threading.Thread] = []

    def get(self, worker: int) -> Supervisor:
        """Return a worker's supervisor, started now if it is missing; raises InfrastructureError."""
        future = self.start(worker)
        if future.exception() is not None:
            with self._lock:
                self._running.pop(worker, None)
        return future.result()

    def start(self, worker: int, *, lint: bool = False) -> Future[Supervisor]:
        """Start a worker's supervisor in the background, if it is missing; raises InfrastructureError after `stop`.

        `lint`: it will soon get lint jobs, and loads the linter at once.
        """
        with self._lock:
            if self.stop.is_set():
                raise InfrastructureError("The run was stopped.")
            if worker not in self._running:
                if not self._started:
                    # A run whose results are all in the cache starts nothing, and does not wait for this.
                    self._starters.submit(self._backend.reap)
                self._running[worker] = self._starters.submit(self._backend.start, self._started, lint=lint)
                self._started += 1
            return self._running[worker]

    def has_run(self, worker: int, task: int | None) -> bool:
        """Whether a candidate of this task was sent to a worker's supervisor."""
        return task is not None and task in self._tasks.get(worker, ())

    def note_run(self, worker: int, task: int | None) -> None:
        """Record that a job was sent to a worker's supervisor, with the task of its candidate, if it has one."""
        if task is not None:
            self._tasks.setdefault(worker, set()).add(task)

    def discard(self, worker: int) -> None:
        """End a worker's supervisor; the next job gets a new one."""
        with self._lock:
            supervisor = self._running.pop(worker, None)
            self._tasks.pop(worker, None)
        if supervisor is not None:
            _wait(_begin_to_end([supervisor]))

    def finish(self) -> None:
        """Begin to end every supervisor, including those that are still starting. `close` waits for their end."""
        self.stop.set()
        with self._lock:
            supervisors = list(self._running.values())
            self._running.clear()
            self._tasks.clear()
        self._ending += _begin_to_end(supervisors)

    def close(self) -> None:
        """End every supervisor."""
        self.finish()
        _wait(self._ending)
        self._starters.shutdown()


def _begin_to_end(supervisors: Iterable[Future[Supervisor]]) -> list[threading.Thread]:
    """End supervisors in parallel, in the background."""

    def end(supervisor: Future[Supervisor]) -> None:
        if supervisor.exception() is None:
            supervisor.result().close()

    threads = [threading.Thread(target=end, args=(supervisor,), daemon=True) for supervisor in supervisors]
    for thread in threads:
        thread.start()
    return threads


def _wait(threads: Iterable[threading.Thread]) -> None:
    for thread in threads:
        thread.join()
