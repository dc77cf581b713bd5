"""The scheduler: who is scored with whom, what is tried again, and what nobody waits for any more."""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import pytest

from grader.errors import InfrastructureError, UsageError
from grader.pool import scheduler
from grader.pool.messages import unscored_result
from grader.pool.scheduler import QueuedSample, Scheduler
from grader.results import Outcome, Reading, SampleResult
from grader.scorers.sample_scorer import LaneSize, ScoreRequest

PASSED = Reading(outcome=Outcome.PASSED, credit=1)


def passed(one: ScoreRequest) -> SampleResult:
    return SampleResult(qid=one.qid, sample=0, official=PASSED, careful=PASSED)


class Scripted:
    """Scores what it is given with `how`, and notes every batch."""

    benchmark = "scripted"
    lanes: ClassVar[dict[str, LaneSize]] = {"usual": LaneSize(threads=1, samples=64)}

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.how: Callable[[Sequence[ScoreRequest]], list[SampleResult]] = lambda asked: [passed(one) for one in asked]

    def score(self, asked: Sequence[ScoreRequest]) -> Sequence[SampleResult]:
        self.batches.append([one.qid for one in asked])
        return self.how(asked)


@pytest.fixture
def scores() -> Scripted:
    return Scripted()


@pytest.fixture
def running(scores: Scripted, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scheduler]:
    monkeypatch.setattr(scheduler, "MIN_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(scheduler, "MAX_PAUSE_SECONDS", 0.01)
    made = Scheduler(scores)
    yield made
    made.stop()


def ask(
    running: Scheduler, *qids: str, seconds: float = 60.0
) -> tuple[list[QueuedSample], Callable[[], list[SampleResult]]]:
    found: dict[int, SampleResult] = {}
    done = threading.Event()

    def give(number: int, result: SampleResult) -> None:
        assert number not in found
        found[number] = result
        if len(found) == len(qids):
            done.set()

    items = [
        QueuedSample(
            ScoreRequest(qid=qid, text=""), time.monotonic() + seconds, lambda result, n=number: give(n, result)
        )
        for number, qid in enumerate(qids)
    ]
    running.submit(items)

    def results() -> list[SampleResult]:
        assert done.wait(30)
        return [found[number] for number in range(len(qids))]

    return items, results


def test_a_small_request_does_not_wait_for_a_large_one(running: Scheduler, scores: Scripted) -> None:
    """One client with thousands of samples would keep all others from being graded in their time."""
    _, large = ask(running, *(f"large {number}" for number in range(1000)))
    _, small = ask(running, "small")
    running.start()
    small(), large()
    assert "small" in scores.batches[0]
    assert len(scores.batches) > 1


def test_what_waits_is_scored_together(running: Scheduler, scores: Scripted) -> None:
    _, first = ask(running, "a", "b")
    _, second = ask(running, "c")
    running.start()
    assert [result.qid for result in first() + second()] == ["a", "b", "c"]
    assert [sorted(batch) for batch in scores.batches] == [["a", "b", "c"]]
    state = running.state()
    assert state.outcomes == {"passed": 3}
    ask(running, "d")[1]()
    assert state.outcomes == {"passed": 3}, "a reader's counts do not change while they are read"


def test_a_sample_that_infrastructure_lost_is_scored_again_without_its_caller_noticing(
    running: Scheduler, scores: Scripted
) -> None:
    def lose_once(asked: Sequence[ScoreRequest]) -> list[SampleResult]:
        first = len(scores.batches) == 1
        return [unscored_result(one, "the sandbox died") if first and one.qid == "b" else passed(one) for one in asked]

    scores.how = lose_once
    _, results = ask(running, "a", "b")
    running.start()
    assert [result.careful.outcome for result in results()] == [Outcome.PASSED, Outcome.PASSED]
    assert scores.batches == [["a", "b"], ["b"]]
    assert running.state().repeated == 1


def test_a_sample_that_is_lost_every_time_is_unscored_in_the_end(running: Scheduler, scores: Scripted) -> None:
    scores.how = lambda asked: [unscored_result(one, "the sandbox died") for one in asked]
    _, results = ask(running, "a")
    running.start()
    assert results()[0].careful.detail == "the sandbox died"
    assert len(scores.batches) == scheduler.MAX_ATTEMPTS


def test_while_there_is_no_sandbox_samples_wait_for_it(running: Scheduler, scores: Scripted) -> None:
    def fail_often(asked: Sequence[ScoreRequest]) -> list[SampleResult]:
        if len(scores.batches) < 6:
            raise InfrastructureError("the engine has stopped")
        return [passed(one) for one in asked]

    scores.how = fail_often
    _, results = ask(running, "a")
    running.start()
    assert results()[0].careful.outcome is Outcome.PASSED
    assert running.state().failures == 5
    assert running.state().problem == ""


def test_on_a_full_disk_samples_wait_for_room_and_no_thread_ends(
    running: Scheduler, scores: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log of the process may be on that disk, too."""

    def fail_twice(asked: Sequence[ScoreRequest]) -> list[SampleResult]:
        if len(scores.batches) == 1:
            raise OSError(28, "No space left on device")
        if len(scores.batches) == 2:
            raise RecursionError("too deep")
        return [passed(one) for one in asked]

    scores.how = fail_twice
    with open("/dev/full", "w") as log:
        monkeypatch.setattr("sys.stderr", log)
        _, first = ask(running, "a")
        running.start()
        assert "too deep" in first()[0].careful.detail
        _, second = ask(running, "b")
        assert second()[0].careful.outcome is Outcome.PASSED
        monkeypatch.undo()
        with contextlib.suppress(OSError):
            log.close()
    assert running.state().failures == 1


def test_an_engine_that_stays_away_leaves_samples_unscored_with_its_reason(
    running: Scheduler, scores: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "GIVE_UP_SECONDS", 0.05)

    def fail(asked: Sequence[ScoreRequest]) -> list[SampleResult]:
        raise InfrastructureError("the engine has stopped")

    scores.how = fail
    _, results = ask(running, "a")
    running.start()
    assert results()[0].careful.detail == "the engine has stopped"
    assert running.state().problem == "the engine has stopped"


@pytest.mark.parametrize("error", [UsageError("no such thing"), RecursionError("too deep")])
def test_a_sample_that_cannot_be_scored_costs_no_other_its_result(
    running: Scheduler, scores: Scripted, error: Exception
) -> None:
    def refuse_bad(asked: Sequence[ScoreRequest]) -> list[SampleResult]:
        if any(one.qid == "bad" for one in asked):
            raise error
        return [passed(one) for one in asked]

    scores.how = refuse_bad
    _, results = ask(running, "a", "b", "bad", "c")
    running.start()
    outcomes = {result.qid: result.careful for result in results()}
    assert [outcomes[qid].outcome for qid in "abc"] == [Outcome.PASSED] * 3
    assert str(error) in outcomes["bad"].detail


def test_what_nobody_waits_for_is_not_scored(running: Scheduler, scores: Scripted) -> None:
    late, _ = ask(running, "late", seconds=-1)
    gone, _ = ask(running, "gone")
    gone[0].is_abandoned = True
    _, results = ask(running, "a")
    running.start()
    results()
    assert scores.batches == [["a"]]
    assert running.state().expired == len(late + gone)


class InLanes:
    """Programs with a loop wait for `go`."""

    benchmark = "lanes"
    lanes: ClassVar[dict[str, LaneSize]] = {
        "usual": LaneSize(threads=2, samples=4),
        "loops": LaneSize(threads=2, samples=1),
    }

    def __init__(self) -> None:
        self.go = threading.Event()

    def score(self, asked: Sequence[ScoreRequest]) -> Sequence[SampleResult]:
        if any("while" in one.text for one in asked):
            assert self.go.wait(30)
        return [passed(one) for one in asked]


def test_programs_that_may_never_end_keep_no_other_waiting_however_many_there_are() -> None:
    scores = InLanes()
    running = Scheduler(scores)
    found: queue.SimpleQueue[SampleResult] = queue.SimpleQueue()
    samples = [(f"loop {number}", "while True: pass") for number in range(40)]
    samples += [(f"other {number}", "") for number in range(40)]
    running.submit(
        [QueuedSample(ScoreRequest(qid=qid, text=text), time.monotonic() + 60, found.put) for qid, text in samples]
    )
    running.start()
    assert {found.get(timeout=30).qid.split()[0] for _ in range(40)} == {"other"}
    scores.go.set()
    assert {found.get(timeout=30).qid.split()[0] for _ in range(40)} == {"loop"}
    running.stop()
