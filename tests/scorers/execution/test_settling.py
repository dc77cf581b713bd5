"""Phases that run beside others. A scripted pool stands for sandboxes, and lints one program when it is asked for more.

What programs answer, and when they may, is that of a run without overlap.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

import pytest

from grader.observer import Silent
from grader.sandbox.interface import FEW_LINTS
from grader.scorers.execution import jobs
from grader.scorers.execution.accepted import FIRST_LINTS
from grader.scorers.execution.confirming import Confirmation
from grader.scorers.execution.phases import Phases
from grader.scorers.execution.spool import Spool
from tests.scorers.execution.test_confirming import LIMITS, TASKS, WORDS, Scripted, program, settler

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.sandbox.tickets import Verdict
    from grader.scorers.execution.settling import Settler

    Batch = Iterable[tuple[str, dict[str, Any]]]


class Overlapping(Scripted):
    """A pool that lints beside other jobs. The linter refuses a program that names `undefined`."""

    def __init__(self, *, overlaps: bool = True, unheard: int = 0) -> None:
        """`unheard`: so many results of the linter are heard of only when they are valid."""
        super().__init__()
        self.overlaps, self.unheard = overlaps, unheard

    def overlap(self, batch: Batch, count: int, heard: Any) -> Any:
        return _Overlap(self, batch, count, heard) if self.overlaps else None

    def answer(self, kind: str, job: dict[str, Any]) -> dict[str, Any]:
        if kind == "lint" and "undefined" in job["head"]:
            return {"messages": ["Undefined variable 'undefined'"]}
        return super().answer(kind, job)

    def of(self, kind: str) -> list[str]:
        """Return the programs of the jobs of a kind, in order."""
        found = [
            job["answer"]["source"] if kind == "answer" else job["head"] for name, job in self.jobs if name == kind
        ]
        return [source.partition("return ")[2].strip() for source in found]


class _Overlap:
    def __init__(self, pool: Overlapping, batch: Batch, count: int, heard: Any) -> None:
        self._pool, self._left, self._heard = pool, collections.deque(batch), heard
        assert len(self._left) == count

    @property
    def is_over(self) -> bool:
        return not self._left

    def run(self, batch: Iterable[tuple[str, dict[str, Any]] | None]) -> Iterator[Verdict]:
        for one in batch:
            yield from self._lint() if one is None else self._pool.run([one])

    def rest(self) -> Iterator[Verdict]:
        while self._left:
            yield from self._lint()

    def _lint(self) -> Iterator[Verdict]:
        (verdict,) = self._pool.run([self._left.popleft()])
        self._pool.unheard -= 1
        if self._pool.unheard < 0 and verdict.answer is not None:
            self._heard(verdict.key, verdict.answer)
        yield verdict


class Shown(Silent):
    """What an observer saw: each phase with its total, its steps and its successes."""

    def __init__(self) -> None:
        self.phases: list[list[Any]] = []

    def phase(self, name: str, total: int | None) -> None:
        self.phases.append([name, total, 0, 0])

    def advance(self, steps: int = 1, *, passed: int = 0) -> None:
        self.phases[-1][2] += steps
        self.phases[-1][3] += passed


def graded(pool: Scripted, answers: dict[str, list[str]], observer: Any = None) -> tuple[Phases, list[Any]]:
    settling: Settler = settler(pool)
    if observer is not None:
        settling._observer = observer
    with Spool() as spool:
        phases = Phases(Confirmation(TASKS, settling, spool, LIMITS), WORDS, LIMITS, settling)
        samples = phases.all(jobs.attempts(TASKS, answers, WORDS))
    return phases, [(sample.lint, sample.apart, sample.ran, sample.not_run) for sample in samples]


ENDLESS = "```python\ndef solution(a):\n    while a:\n        a -= 1\n    return 7\n```"
DROPPED = "```python\nX = 1\ndef solution(a):\n    return X\n```"
"""The official assembly drops the constant."""
ANSWERS = {
    "plain": [program("a"), program("undefined"), program("a + 1"), program("a"), DROPPED],
    "odd": [program("a"), program("undefined")],
}


@pytest.mark.parametrize("unheard", [0, 1, 99])
@pytest.mark.parametrize("lost", [set(), {"lint"}, {"answer"}, {"record"}])
def test_the_verdicts_are_those_of_phases_one_after_the_other(lost: set[str], unheard: int) -> None:
    pool, other = Overlapping(unheard=unheard), Overlapping(overlaps=False)
    pool.lost = other.lost = lost
    phases, found = graded(pool, ANSWERS)
    before, expected = graded(other, ANSWERS)
    assert found == expected
    assert phases.unrecordable == before.unrecordable
    kinds, expected_kinds = (collections.Counter(one.kinds) for one in (pool, other))
    # The calls of a task are recorded before it is known whether the linter accepts any of its programs.
    assert kinds.pop("record") >= expected_kinds.pop("record", 0)
    assert kinds == expected_kinds


def test_a_program_answers_when_the_linter_has_accepted_it_and_never_if_it_refuses_it() -> None:
    """As early as that, and the one that may never end first."""
    pool = Overlapping()
    graded(pool, {"plain": [program("undefined"), *(program(f"a + {n}") for n in range(5)), ENDLESS]})
    assert pool.of("lint")[0] == "7"
    assert pool.of("answer") == ["7", *(f"a + {n}" for n in range(5))]
    place = {kind: [number for number, name in enumerate(pool.kinds) if name == kind] for kind in pool.kinds}
    assert place["answer"][0] < place["lint"][1]
    assert place["answer"][-1] < place["judge"][0]
    for source in pool.of("answer"):
        assert place["lint"][pool.of("lint").index(source)] < place["answer"][pool.of("answer").index(source)]


def test_a_task_whose_programs_are_all_refused_is_not_in_the_note_on_tasks_that_cannot_be_recorded() -> None:
    for pool in (Overlapping(), Overlapping(overlaps=False)):
        phases, _ = graded(pool, {"odd": [program("undefined")], "plain": [program("a")]})
        assert phases.unrecordable == {}


def test_if_the_linter_is_slower_than_the_programs_all_workers_lint() -> None:
    """Nobody waits for a linter while many programs are left. Few are left to one linter."""
    for count in (FEW_LINTS, FIRST_LINTS + FEW_LINTS + 9):
        pool = Overlapping()
        graded(pool, {"plain": [program(f"a + {number}") for number in range(count)]})
        answered_first = pool.kinds[: len(pool.kinds) - 1 - pool.kinds[::-1].index("lint")].count("answer")
        assert answered_first == (count - 1 if count == FEW_LINTS else FIRST_LINTS)
        assert pool.kinds.count("answer") == pool.kinds.count("lint") == count


def test_one_phase_at_a_time_is_shown_and_the_one_beside_it_when_it_is_done() -> None:
    shown = Shown()
    graded(Overlapping(), {"plain": [program("a"), program("undefined"), program("a + 1"), program("a")]}, shown)
    assert shown.phases == [
        ["linting", 4, 4, 3],
        ["answering", 3, 3, 0],
        ["judging", 2, 2, 2],
        ["running official tests", 3, 3, 3],
    ]
    shown = Shown()
    graded(Overlapping(overlaps=False), {"plain": [program("a"), program("a")]}, shown)
    assert [name for name, *_ in shown.phases] == [
        "linting", "recording calls", "answering", "judging", "running official tests",
    ]  # fmt: skip
