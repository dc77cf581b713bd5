"""Whether reading takes time in proportion to length, on a machine of any speed.

How many seconds a text takes depends on the machine. So what counts is the growth: twice the length takes twice the
time in linear time, four times in quadratic time.

Most texts are read at a tenth of their length only: a reader whose time there, grown with the square of the length,
stays within a budget need not show it. The others, and the slowest three in any case, are read at four times that
length; only where that takes more than five times as long, what is said about their full length is measured there.
"""

import gc
import time
from collections.abc import Callable, Iterable
from typing import Any

BUDGET = 1.5
"""Seconds of CPU time for the full length below which the growth is not looked at."""
SHORTER = 10
BENT = 5.0
"""How many times longer four times the length may take without a closer look: 4 is linear, 16 is quadratic."""
GROWTH = 3.0
"""How many times longer twice the length may take: 2 is linear, 4 is quadratic."""

Run = Callable[[int], str]
"""Length in characters -> a text of that length."""


def run_of(unit: str) -> Run:
    """Return texts that repeat a unit."""
    return lambda length: (unit * (length // len(unit) + 1))[:length]


def runs_of(units: Iterable[str]) -> dict[str, Run]:
    """Return name -> texts, for units of which each is a name."""
    return {unit: run_of(unit) for unit in units}


def too_slow(read: Callable[[str], Any], runs: dict[str, Run], length: int, budget: float = BUDGET) -> list[str]:
    """Return the names of the runs that take more than the budget at their full length, and grow faster than linear."""
    short = {name: _cost(read, run(length // SHORTER)) for name, run in runs.items()}
    slowest = sorted(short, key=lambda name: short[name])[-3:]
    tried = [name for name in runs if name in slowest or short[name] * SHORTER**2 > budget]
    bent = [name for name in tried if _cost(read, runs[name](4 * length // SHORTER)) > BENT * short[name]]
    late = [name for name in bent if _cost(read, runs[name](length)) > budget]
    # What disturbs one measurement rarely disturbs three.
    return [name for name in late if all(_growth(read, runs[name], length) > GROWTH for _ in range(3))]


def _cost(read: Callable[[str], Any], text: str) -> float:
    gc.disable()  # it has more to do the more other tests have left
    started = time.process_time()
    try:
        read(text)
        return time.process_time() - started
    finally:
        gc.enable()


def _growth(read: Callable[[str], Any], run: Run, length: int) -> float:
    """Return how many times longer the whole length takes than half of it: the least of two, by turns."""
    pairs = [(_cost(read, run(length)), _cost(read, run(length // 2))) for _ in range(2)]
    return min(whole for whole, _ in pairs) / max(min(half for _, half in pairs), 1e-6)
