"""Rounds: who is scored with whom, what is tried again, and what nobody waits for any more."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from grader.errors import InfrastructureError, UsageError
from grader.pool import rounds
from grader.pool.messages import unscored
from grader.pool.rounds import Rounds, Waiting
from grader.results import Outcome, Reading, SampleResult
from grader.scorers.asked import Asked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PASSED = Reading(outcome=Outcome.PASSED, credit=1)


def passed(one: Asked) -> SampleResult:
    return SampleResult(qid=one.qid, sample=0, official=PASSED, careful=PASSED)


class Scripted:
    """Scores what it is given with `how`, and notes every batch."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.how: Callable[[Sequence[Asked]], list[SampleResult]] = lambda asked: [passed(one) for one in asked]

    def score(self, asked: Sequence[Asked]) -> list[SampleResult]:
        self.batches.append([one.qid for one in asked])
        return self.how(asked)


@pytest.fixture
def scores() -> Scripted:
    return Scripted()


@pytest.fixture
def running(scores: Scripted, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rounds]:
    monkeypatch.setattr(rounds, "BACKOFF_SECONDS", (0.01,))
    made = Rounds(scores)
    yield made
    made.stop()


def ask(running: Rounds, *qids: str, seconds: float = 60.0) -> tuple[list[Waiting], Callable[[], list[SampleResult]]]:
    found: dict[int, SampleResult] = {}
    done = threading.Event()

    def give(number: int, result: SampleResult) -> None:
        assert number not in found
        found[number] = result
        if len(found) == len(qids):
            done.set()

    items = [
        Waiting(Asked(qid=qid, text=""), time.monotonic() + seconds, lambda result, n=number: give(n, result))
        for number, qid in enumerate(qids)
    ]
    running.submit(items)

    def results() -> list[SampleResult]:
        assert done.wait(30)
        return [found[number] for number in range(len(qids))]

    return items, results


def test_what_waits_is_scored_together(running: Rounds, scores: Scripted) -> None:
    _, first = ask(running, "a", "b")
    _, second = ask(running, "c")
    running.start()
    assert [result.qid for result in first() + second()] == ["a", "b", "c"]
    assert scores.batches == [["a", "b", "c"]]
    assert running.counts.outcomes == {"passed": 3}


def test_a_sample_that_infrastructure_lost_is_scored_again_without_its_caller_noticing(
    running: Rounds, scores: Scripted
) -> None:
    def lose_once(asked: Sequence[Asked]) -> list[SampleResult]:
        first = len(scores.batches) == 1
        return [unscored(one, "the sandbox died") if first and one.qid == "b" else passed(one) for one in asked]

    scores.how = lose_once
    _, results = ask(running, "a", "b")
    running.start()
    assert [result.careful.outcome for result in results()] == [Outcome.PASSED, Outcome.PASSED]
    assert scores.batches == [["a", "b"], ["b"]]
    assert running.counts.repeated == 1


def test_a_sample_that_is_lost_every_time_is_unscored_in_the_end(running: Rounds, scores: Scripted) -> None:
    scores.how = lambda asked: [unscored(one, "the sandbox died") for one in asked]
    _, results = ask(running, "a")
    running.start()
    assert results()[0].careful.detail == "the sandbox died"
    assert len(scores.batches) == rounds.MAX_ATTEMPTS


def test_while_there_is_no_sandbox_samples_wait_for_it(running: Rounds, scores: Scripted) -> None:
    def fail_often(asked: Sequence[Asked]) -> list[SampleResult]:
        if len(scores.batches) < 6:
            raise InfrastructureError("the engine has stopped")
        return [passed(one) for one in asked]

    scores.how = fail_often
    _, results = ask(running, "a")
    running.start()
    assert results()[0].careful.outcome is Outcome.PASSED
    assert running.counts.failures == 5
    assert running.counts.problem == ""


def test_an_engine_that_stays_away_leaves_samples_unscored_with_its_reason(
    running: Rounds, scores: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "GIVE_UP_SECONDS", 0.05)

    def fail(asked: Sequence[Asked]) -> list[SampleResult]:
        raise InfrastructureError("the engine has stopped")

    scores.how = fail
    _, results = ask(running, "a")
    running.start()
    assert results()[0].careful.detail == "the engine has stopped"
    assert running.counts.problem == "the engine has stopped"


@pytest.mark.parametrize("error", [UsageError("no such thing"), RecursionError("too deep")])
def test_a_sample_that_cannot_be_scored_costs_no_other_its_result(
    running: Rounds, scores: Scripted, error: Exception
) -> None:
    def refuse_bad(asked: Sequence[Asked]) -> list[SampleResult]:
        if any(one.qid == "bad" for one in asked):
            raise error
        return [passed(one) for one in asked]

    scores.how = refuse_bad
    _, results = ask(running, "a", "b", "bad", "c")
    running.start()
    outcomes = {result.qid: result.careful for result in results()}
    assert [outcomes[qid].outcome for qid in "abc"] == [Outcome.PASSED] * 3
    assert str(error) in outcomes["bad"].detail


def test_what_nobody_waits_for_is_not_scored(running: Rounds, scores: Scripted) -> None:
    late, _ = ask(running, "late", seconds=-1)
    gone, _ = ask(running, "gone")
    gone[0].gone = True
    _, results = ask(running, "a")
    running.start()
    results()
    assert scores.batches == [["a"]]
    assert running.counts.expired == len(late + gone)


def test_rounds_grow_while_they_are_quick(running: Rounds, scores: Scripted) -> None:
    _, results = ask(running, *map(str, range(rounds.FEWEST * 3)))
    running.start()
    results()
    assert [len(batch) for batch in scores.batches] == [rounds.FEWEST, 2 * rounds.FEWEST]
