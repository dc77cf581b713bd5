"""Many jobs in threads; their results go back to the calling thread."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from grader.models.model import Model
    from grader.observer import Listener

Job = TypeVar("Job")
Result = TypeVar("Result")
_TICK_SECONDS = 1.0
_REPORT_SECONDS = 15.0
_END = object()


def run_in_threads(
    work: Callable[[Job], Iterable[Result]], jobs: Sequence[Job], count: int, *, tick: Callable[[], None]
) -> Generator[Result, None, None]:
    """Yield the results of `work(job)` of all jobs as they come, and call `tick` while there are none.

    Exceptions of `work` are raised here. When the generator is closed, no further job begins. The threads are daemons:
    a request may take minutes, but Ctrl-C must not.
    """
    pending = queue.SimpleQueue[Job]()
    results = queue.SimpleQueue[Any]()
    is_over = threading.Event()
    for job in jobs:
        pending.put(job)
    running = min(count, len(jobs))
    for number in range(running):
        thread = threading.Thread(
            target=_run, args=(work, pending, results, is_over), name=f"request-{number}", daemon=True
        )
        thread.start()
    try:
        while running:
            try:
                result = results.get(timeout=_TICK_SECONDS)
            except queue.Empty:
                tick()
                continue
            if isinstance(result, Exception):
                raise result
            if result is _END:
                running -= 1
            else:
                yield result
    finally:
        is_over.set()


def _run(work: Any, pending: queue.SimpleQueue[Any], results: queue.SimpleQueue[Any], is_over: threading.Event) -> None:
    """Do `work` with each pending job, in a thread, and put its results into `results`; last `_END`, or the error."""
    try:
        while not is_over.is_set():
            for result in work(pending.get_nowait()):
                results.put(result)
                if is_over.is_set():
                    return
    except queue.Empty:
        results.put(_END)
    except Exception as error:  # a thread's outermost edge: the calling thread raises it
        results.put(error)


class TroubleReporter:
    """Says what keeps replies away, while there are none, about four times a minute."""

    def __init__(self, models: Iterable[Model], listener: Listener) -> None:
        self._models = list(models)
        self._listener = listener
        self._last_report = float("-inf")

    def report_if_due(self) -> None:
        """Report the failures of the last attempts, if it is time."""
        if time.monotonic() - self._last_report < _REPORT_SECONDS:
            return
        for model in self._models:
            if problem := model.last_problem:
                self._last_report = time.monotonic()
                self._listener.message(f"{model.name} at {model.address}: {problem}. It is asked again.")
