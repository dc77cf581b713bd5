"""Programs that try to learn which of their answers are right, from sample to sample: none earns anything."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hostile import learning
from hostile.arena import VARIANTS, Arena, arena, lend_numpy
from hostile.learning import ATTACKS, CLOSING, RIGHT, SECOND_RUNS, Attack
from hostile.program import fenced

pytestmark = pytest.mark.hostile

LIMITS = ["--timeout", "3", "--workers", "1", "--memory", "512m"]


class EarnedError(AssertionError):
    """A program that does not know the rule has been credited."""


# What these programs count by is the kernel's. bubblewrap is the same to it, whoever starts it.
@pytest.fixture(scope="module", params=[VARIANTS[0], VARIANTS[2]])
def place(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """An arena for all tests of this module."""
    with arena(request.param) as made:
        lend_numpy(made)
        yield made


class Lessons:
    """The samples of each attack after one grading, each run done when it is first asked for."""

    def __init__(self, place: Arena) -> None:
        self._place = place
        self._graded: dict[str, dict[str, list[dict[str, Any]]]] = {}

    def of(self, run: str, attacks: list[Attack]) -> dict[str, list[dict[str, Any]]]:
        """Return attack -> samples of a run; attacks of one run share a sandbox."""
        if run not in self._graded:
            self._graded[run] = self._place.grade(run, *material(attacks), *LIMITS, "--no-cache")
        return self._graded[run]


@pytest.fixture(scope="module")
def lessons(place: Arena) -> Lessons:
    return Lessons(place)


def material(attacks: list[Attack]) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """Return the tasks and the predictions of some attacks."""
    tasks = [
        {
            "qid": attack.name,
            "function_signature": learning.SIGNATURE,
            "test_script": attack.tests,
            "ground_truth_solution": attack.reference,
        }
        for attack in attacks
    ]
    return tasks, [{"qid": attack.name, "predictions": list(map(fenced, attack.samples))} for attack in attacks]


def earns_nothing(samples: list[dict[str, Any]]) -> None:
    """Assert that the careful reading credits none of these, and has judged them all.

    Others may move a counter of the whole machine. Then a sample waits for its number in vain, until its time is up.
    """
    seen = [(sample["official"]["outcome"], sample["careful"]["outcome"]) for sample in samples]
    in_time = [pair for pair in seen if pair != ("timeout", "timeout")]
    assert in_time, seen
    assert all(official == "passed" and careful in {"suspect", "passed"} for official, careful in in_time), seen
    if any(sample["careful"]["credit"] for sample in samples):
        raise EarnedError(seen)


@pytest.mark.parametrize("attack", ATTACKS + SECOND_RUNS, ids=lambda attack: attack.name)
def test_the_reference_of_the_attacked_task_is_right(attack: Attack) -> None:
    namespace: dict[str, Any] = {}
    exec(attack.reference, namespace)
    exec(attack.tests, namespace)
    assert [namespace["solution"](n)[0] for n in range(len(RIGHT))] == [int(bit) for bit in RIGHT]
    assert namespace["solution"](CLOSING) == [0, 7]


# --- they earn nothing -----------------------------------------------------------------------------------------------


def earns_nothing_but_by_chance(samples: Callable[[int], list[dict[str, Any]]]) -> None:
    """Assert that these earn nothing, of the first run (0) or else of two more (1 and 2).

    A counter of the whole machine stands for the rule by chance, once in some hundred samples: other processes move
    it, so what a sample reads there is as good as random. A channel would show the rule each time.
    """
    try:
        earns_nothing(samples(0))
    except EarnedError:
        for number in (1, 2):
            earns_nothing(samples(number))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_what_a_sample_learns_does_not_reach_the_next(lessons: Lessons, attack: Attack) -> None:
    runs = [("samples", ATTACKS), (f"{attack.name} 1", [attack]), (f"{attack.name} 2", [attack])]
    earns_nothing_but_by_chance(lambda number: lessons.of(*runs[number])[attack.name])


@pytest.mark.parametrize("attack", SECOND_RUNS, ids=lambda attack: attack.name)
def test_a_program_that_seems_to_be_starved_learns_nothing_for_its_second_run(lessons: Lessons, attack: Attack) -> None:
    """One single prediction, alone in a run: else other samples would move what it counts by."""
    earns_nothing(lessons.of(attack.name, [attack])[attack.name])


def test_the_next_grading_knows_nothing_of_the_last_one(place: Arena) -> None:
    """With the verdict cache: what is new in the second grading runs, and what is not keeps its verdict."""
    attack = next(a for a in ATTACKS if a.name == "message-by-the-machines-count")
    tasks, _ = material([attack])

    def graded(number: int) -> list[dict[str, Any]]:
        # A comment would not do: without it the program is the same, and its verdict may be in the cache.
        new = f"class New{uuid.uuid4().hex}:\n    pass\n"
        texts = [fenced(f"{text}\n{new}") for text in attack.samples]
        return [
            sample
            for name, predictions in (("first", texts[:2]), ("second", texts))
            for sample in place.grade(
                f"{name} {number}", tasks, [{"qid": attack.name, "predictions": predictions}], *LIMITS
            )[attack.name]
        ]

    earns_nothing_but_by_chance(graded)
