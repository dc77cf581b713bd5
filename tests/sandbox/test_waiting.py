"""How long a program was kept waiting: from what the kernel says of its threads, look by look."""

from __future__ import annotations

from typing import Any

import inside
import pytest

waiting = inside.load("supervise.waiting")

LOOK = 0.05


def thread(ran: float, delay: float = 0.0, slept: int = 0, state: str = "R") -> Any:
    """Return what the kernel says of a thread."""
    return waiting.Thread(ran, delay, slept, state)


def counted(*looks: dict[int, Any]) -> float:
    """Return what is counted after looks at equal distances."""
    sum_ = waiting.Waiting({})
    for number, threads in enumerate(looks, 1):
        sum_.note(number * LOOK, threads)
    return float(sum_.seconds)


def test_a_wait_of_many_looks_that_is_told_at_its_end_counts_in_full() -> None:
    """The kernel tells of a wait when it is over: ten looks saw a thread that did not change."""
    still = thread(0.02, slept=3)
    looks = [{1: still}] * 10 + [{1: thread(0.03, delay=0.52, slept=4)}]
    assert counted(*looks) == pytest.approx(0.52, abs=0.01)


def test_a_wait_that_is_not_over_counts_already() -> None:
    """A program must not be stopped for having slept while it waits for a processor."""
    assert counted(*[{1: thread(0.05)}] * 10) == pytest.approx(9 * LOOK)


def test_no_moment_counts_twice() -> None:
    """Seen while it lasts, and told at its end: by one thread, or by several that waited together."""
    looks = [{1: thread(0.05), 2: thread(0.0)}] * 10 + [{1: thread(0.06, 0.49), 2: thread(0.0, 0.55)}]
    assert counted(*looks) == pytest.approx(11 * LOOK - 0.05, abs=0.011)


def test_a_thread_that_sleeps_is_not_kept_waiting() -> None:
    assert counted(*[{1: thread(0.01, slept=2, state="S")}] * 10) == 0


def test_a_thread_that_sleeps_between_looks_is_not_kept_waiting() -> None:
    """It works at every look; the number of its sleeps tells."""
    assert counted(*[{1: thread(0.001 * number, slept=number)} for number in range(10)]) == 0


def test_who_waits_for_another_is_as_that_one_is() -> None:
    main = thread(0.0, slept=1, state="S")
    assert counted(*[{1: main, 2: thread(0.05, state="R")}] * 10) == pytest.approx(9 * LOOK)
    assert counted(*[{1: main, 2: thread(0.05, state="S")}] * 10) == 0


def test_two_threads_that_share_one_processor_are_kept_waiting_half_the_time_at_most() -> None:
    looks = [{1: thread(n * LOOK / 2, n * LOOK / 2), 2: thread(n * LOOK / 2, n * LOOK / 2)} for n in range(1, 11)]
    assert counted(*looks) <= 10 * LOOK / 2 + 1e-9


def test_waiting_for_a_page_or_a_disk_counts() -> None:
    looks = [{1: thread(0.01, slept=number, state="D")} for number in range(10)]
    assert counted(*looks) == pytest.approx(10 * LOOK - 0.01)
