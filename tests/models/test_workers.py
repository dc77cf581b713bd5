"""Jobs in threads."""

import threading
import time
from collections.abc import Iterator

import pytest

from grader.models.workers import TroubleReporter, run_in_threads
from tests.judge.made import Watcher
from tests.models.made import model, request
from tests.models.server import ModelServer, fail, say


def nothing() -> None:
    """Do nothing while results are waited for."""


def test_the_results_of_all_jobs_come_and_no_more_threads_work_than_allowed() -> None:
    names = set()

    def work(job: int) -> Iterator[int]:
        names.add(threading.current_thread().name)
        yield job
        yield -job

    assert sorted(run_in_threads(work, range(1, 50), 3, tick=nothing)) == [*range(-49, 0), *range(1, 50)]
    assert names <= {"request-0", "request-1", "request-2"}
    assert list(run_in_threads(work, [], 3, tick=nothing)) == []


def test_an_exception_of_a_job_is_raised_where_results_are_awaited() -> None:
    def work(job: int) -> Iterator[int]:
        yield 1 // job

    with pytest.raises(ZeroDivisionError):
        list(run_in_threads(work, [1, 0, 1], 1, tick=nothing))


def test_no_job_begins_after_the_generator_is_closed() -> None:
    begun = []

    def work(job: int) -> Iterator[int]:
        begun.append(job)
        yield job

    results = run_in_threads(work, range(100_000), 1, tick=nothing)
    next(results)
    results.close()
    count = -1
    while count != len(begun):
        count = len(begun)
        time.sleep(0.05)
    assert count < 100_000


def test_what_keeps_replies_away_is_said_once_in_a_while() -> None:
    watcher = Watcher()
    with ModelServer.playing(fail(503), say("A")) as server, model(server, retries=0) as it:
        reporter = TroubleReporter([it], watcher)
        it.ask(request())
        reporter.report_if_due()
        reporter.report_if_due()
        it.ask(request())
        TroubleReporter([it], watcher).report_if_due()
    assert watcher.messages == [f"m at {server.url}: HTTP 503. It is asked again."]
