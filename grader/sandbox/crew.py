"""Workers that share one stream of jobs, each in its own thread, and the queue of their results."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING

from grader.sandbox.tickets import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.sandbox.interface import Answer
    from grader.sandbox.tickets import Source, Ticket
    from grader.sandbox.worker import Worker

    Heard = Callable[[str, Answer], None]


class End:
    """The last result of a worker: it has no more jobs, or it failed."""

    def __init__(self, crew: Crew, error: BaseException | None) -> None:
        self.crew, self.error = crew, error


Results = SimpleQueue[Verdict | End]
"""The results of one crew, or of several at the same time."""


class Work:
    """What the workers of a crew share."""

    def __init__(
        self,
        source: Source,
        starved: list[Ticket],
        results: Results,
        *,
        heard: Heard | None = None,
        after: Crew | None = None,
    ) -> None:
        """`starved` collects the jobs that will run again alone.

        `heard` is called in a worker's thread with the key and answer of a job, before canaries confirm the answer.
        `after`: another crew. Who works there begins here when that crew is over.
        """
        self.source, self.starved, self.results = source, starved, results
        self.heard, self.after = heard, after


class Crew:
    """Some workers of a pool. They start at once."""

    def __init__(self, workers: Iterable[Worker], results: Results, stop: threading.Event) -> None:
        """`results` gets their verdicts. If a worker fails, `stop` is set, and no worker takes another job."""
        self.workers = list(workers)
        self._results, self._stop = results, stop
        self._unread = len(self.workers)
        """Number of workers whose end was not read from the results."""
        self._threads = [threading.Thread(target=self._work, args=(worker,), daemon=True) for worker in self.workers]
        for thread in self._threads:
            thread.start()

    @property
    def is_over(self) -> bool:
        """Whether no worker is working any more."""
        return not any(thread.is_alive() for thread in self._threads)

    def has(self, index: int) -> bool:
        """Whether a worker with this index belongs to it."""
        return any(worker.index == index for worker in self.workers)

    def verdicts(self) -> Iterator[Verdict]:
        """Yield verdicts until the workers are done, and those of other crews that come meanwhile.

        Raises the error of a worker that failed.
        """
        failure: BaseException | None = None
        while self._unread:
            result = self._results.get()
            if isinstance(result, Verdict):
                yield result
                continue
            result.crew._unread -= 1
            failure = failure or result.error
        for thread in self._threads:
            thread.join()
        if failure is not None:
            raise failure

    def _work(self, worker: Worker) -> None:
        failure: BaseException | None = None
        try:
            worker.loop()
        except BaseException as error:
            failure = error
        self._results.put(End(self, failure))
        if failure is not None:
            # Only now, so that the others end after it: whoever waits for them has read the error before.
            self._stop.set()
