"""How many requests are under way at once."""

import threading

from grader.models.workers import Pace


def enter(pace: Pace) -> float:
    entered = pace.enter()
    assert entered is not None
    return entered


def limit(pace: Pace) -> int:
    return pace.status().limit


def test_no_more_than_the_most_are_given_a_slot() -> None:
    pace, given = Pace(2), threading.Event()
    first = enter(pace)
    enter(pace)
    waiting = threading.Thread(target=lambda: (pace.enter(), given.set()))
    waiting.start()
    assert not given.wait(0.05)
    pace.leave(first, crowded=False, calm=True)
    assert given.wait(60)
    waiting.join()


def test_a_429_halves_the_limit_and_those_of_the_same_round_cut_once() -> None:
    pace = Pace(16)
    round_ = [enter(pace) for _ in range(16)]
    for entered in round_:
        pace.leave(entered, crowded=True, calm=False)
    assert limit(pace) == 8
    later = enter(pace)
    pace.leave(later, crowded=True, calm=False)
    assert limit(pace) == 4


def test_a_halt_ends_every_wait_and_the_first_reason_stays() -> None:
    pace, ended = Pace(1), []
    enter(pace)
    threads = [
        threading.Thread(target=lambda: ended.append(pace.enter())),
        threading.Thread(target=lambda: ended.append(pace.pause(60))),
    ]
    for thread in threads:
        thread.start()
    pace.halt("first")
    pace.halt("second")
    for thread in threads:
        thread.join(60)
    assert sorted(map(str, ended)) == ["False", "None"]
    assert (pace.halted, pace.enter()) == ("first", None)
