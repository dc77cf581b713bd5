"""How often gates on MR-Score decide wrongly: whole gates, on reports of runs whose truth is known.

At the allowed drop a gate passes in at most 5 % of runs and fails in at most 5 %, within three standard errors of the
simulation. `tests/bench/simulations.py` does the same for means over items and tasks.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from grader.decisions.gate import decide_all
from grader.decisions.thresholds import MaxDrop
from grader.results import Report
from grader.scorers.mr_ben.mr_score import Counts, Weights, metric_arrays
from tests.conftest import cases
from tests.made_runs import Row, mr_ben

pytestmark = pytest.mark.generated

Pair = tuple[Report, Report]

GATES = cases(160)
SURE_GATES = cases(120)
"""Of those that should come out one way: each one that does not counts."""


def rates(make: Callable[[np.random.Generator], Pair], drop: float, gates: int) -> dict[str, float]:
    """Return how often a gate at this drop ends in which state; `make` makes a baseline and a run."""
    rng = np.random.default_rng(6)
    states: Counter[str] = Counter()
    for baseline, run in (make(rng) for _ in range(gates)):
        (result,) = decide_all(run, baseline=baseline, drops=[MaxDrop(name=None, value=drop)])
        states[result.state] += 1
    return {state: states[state] / gates for state in ("met", "not met", "inconclusive", "blocked")}


def at_most_5_percent(found: dict[str, float], gates: int) -> bool:
    limit = 0.05 + 3 * math.sqrt(0.05 * 0.95 / gates)
    return found["met"] <= limit and found["not met"] <= limit and found["blocked"] == 0


def nearly_always(state: str, found: dict[str, float]) -> bool:
    never = "not met" if state == "met" else "met"
    return found[state] >= 0.95 and found[never] == 0


VERDICT, STEP, REASON = 0.8, 0.6, 0.7


def solutions(worse: float, other: float, subjects: int = 4, questions: int = 50) -> Callable[..., Pair]:
    """Solutions half of which are correct, read right by chance; a share gets all wrong, a share is read anew."""

    def rows(read: np.ndarray) -> Iterator[Row]:
        for number, (gold, verdict, step, reason) in enumerate(read.tolist()):
            subject, question = number % subjects, number // subjects
            wrong = not gold and verdict
            yield f"s{subject}", f"{subject}.{question}", gold, gold == verdict, wrong and step, wrong and reason

    def reading(rng: np.random.Generator, gold: np.ndarray) -> np.ndarray:
        verdict, step, reason = (rng.random(len(gold)) < chance for chance in (VERDICT, STEP, REASON))
        return np.stack([gold, verdict, verdict & step, verdict & step & reason], axis=1)

    def make(rng: np.random.Generator) -> Pair:
        gold = rng.random(subjects * questions) < 0.5
        before, turn = reading(rng, gold), rng.random(len(gold))
        after = np.where((turn > 1 - other)[:, None], reading(rng, gold), before)
        after[turn < worse, 1:] = False
        return mr_ben(list(rows(before)), summarised=False), mr_ben(list(rows(after)), summarised=False)

    return make


def true_drop(worse: float) -> float:
    """Return by how much MR-Score sinks where a share gets all wrong."""
    sums = []
    for kept in (1, 1 - worse):
        right = VERDICT * kept
        counts = Counts(tp=right, tn=right, fp=1 - right, fn=1 - right, step=right * STEP, reason=right * STEP * REASON)  # type: ignore[arg-type]
        sums.append(counts)
    before, after = metric_arrays(np.array(sums, dtype=float), Weights())["mr_score"]
    return float(before - after)


@pytest.mark.parametrize(("worse", "other"), [(0.03, 0), (0.04, 0.1), (0.04, 0.5)], ids=["few", "some", "many"])
def test_mr_score_at_the_allowed_drop_decides_wrongly_in_at_most_5_percent(worse: float, other: float) -> None:
    assert at_most_5_percent(rates(solutions(worse, other), true_drop(worse), GATES), GATES)


@pytest.mark.parametrize(
    ("make", "drop", "state"), [(solutions(0.25, 0.05), 3, "not met"), (solutions(0, 0.01), 8, "met")]
)
def test_a_change_far_from_the_allowed_drop_is_decided(make: Any, drop: float, state: str) -> None:
    assert nearly_always(state, rates(make, drop, SURE_GATES))
