"""The time to encode, send and decode arguments and answers is not the program's: its limit is for its own work."""

import functools
import time
from collections.abc import Callable
from typing import Any

import phases
import pytest
from phases import call

pytestmark = phases.MARKS


def seconds(work: Callable[[], object]) -> float:
    """Return how long a program's own work takes on this machine: the least of five."""
    taken = []
    for _ in range(5):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return min(taken)


@functools.cache
def limit() -> float:
    """Twelve times what the program needs; its arguments are six megabytes, which take twice as long to decode."""
    rows = [[i * j for i in range(100_000)] for j in range(10)]
    return 12 * seconds(lambda: list(map(sum, rows)))


DECLARED = {"signature": "def solution(rows):\n    pass\n", "classes": [], "stubs": ["solution"]}
SOURCE = "def solution(rows):\n    return list(map(sum, rows))\n"
TEST = "rows = [[i * j for i in range(100_000)] for j in range(10)]\nassert solution(rows) == list(map(sum, rows))\n"


def do(kind: str, cpu: float = 0, **part: Any) -> Any:
    """Have a sandbox do a job; return what it observed, and why it stopped the program."""
    seen = phases.do(kind, part, cpu=cpu or limit())
    return seen, seen["evidence"]["stopped"]


def answered(source: str, calls: list[str], cpu: float = 0) -> Any:
    """Have a program answer calls."""
    return do("answer", cpu, candidate=phases.candidate(source, DECLARED, {}), calls=calls)


@pytest.fixture(scope="module")
def calls() -> list[str]:
    return list(phases.calls_of({**DECLARED, "test": TEST})["calls"])


def test_large_arguments_cost_a_program_and_its_judge_no_time(calls: list[str]) -> None:
    answer, stopped = answered(SOURCE, calls)
    assert (stopped, len(phases.texts(answer))) == (None, 2)
    given = {"said": answer["said"]}
    judged, stopped = do("judge", task={**DECLARED, "test": TEST, "names": [], "calls": calls}, answers=given)
    assert (stopped, judged["confirmed"]) == (None, True)


def test_nor_do_large_answers() -> None:
    """To make eight lists of one number is nothing beside the second or more that it takes to encode the answer."""
    source = "def solution(n):\n    return [[7] * n for _ in range(8)]\n"
    answer, stopped = answered(source, [call(600_000), call(1)], cpu=0.5)
    assert (stopped, len(phases.texts(answer))) == (None, 3)


ANNOUNCE = """
import sys, time
def solution(rows):
    frame = sys._getframe(1)
    while '_announce' not in vars(frame.f_locals.get('self')):
        frame = frame.f_back
    frame.f_locals['self']._announce()
    end = time.process_time() + 1
    while time.process_time() < end:
        pass
    return 1
"""


@pytest.mark.parametrize(
    ("source", "used"), [("def solution(rows):\n    while True:\n        pass\n", 0.0), (ANNOUNCE, 0.9)]
)
def test_without_large_messages_the_limit_is_that_of_the_program(source: str, used: float) -> None:
    """Also of a program that announces a large answer, and sends a small one."""
    answer, stopped = answered(source, [call(1)])
    assert (stopped, phases.texts(answer)[1:]) == ("cpu", [])
    assert used < answer["evidence"]["cpu"] < 10 * limit() + used
