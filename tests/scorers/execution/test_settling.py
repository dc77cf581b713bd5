"""Linting beside other phases. A scripted pool stands for sandboxes: it lints one program when no other job is ready.

The verdicts must be those of a run without overlap.
"""

import collections
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from grader.observer import Silent
from grader.sandbox.tickets import Verdict
from grader.scorers.execution import jobs
from grader.scorers.execution.confirming import Confirmation
from grader.scorers.execution.known import Spool
from grader.scorers.execution.phases import Phases
from grader.scorers.execution.settling import Settler
from tests.scorers.execution.test_confirming import LIMITS, PROTOCOL, TASKS, Scripted, program, settler

Batch = Iterable[tuple[str, dict[str, Any]]]


class Overlapping(Scripted):
    """A pool that lints beside other jobs.

    Its linter refuses programs with the name `undefined`. It crashes on programs with the name `breaks`, and its result
    for programs with the name `garbage` cannot be understood.
    """

    def __init__(self, *, overlaps: bool = True, unheard: int = 0) -> None:
        """`unheard`: number of lint jobs, from the first, for which `heard` is not called."""
        super().__init__()
        self.overlaps, self.unheard, self.kept = overlaps, unheard, dict[str, Any]()
        self.refuses = True

    def overlap(self, batch: Batch, count: int, heard: Any) -> Any:
        return _Overlap(self, batch, count, heard) if self.overlaps else None

    def run(self, batch: Batch) -> Iterator[Verdict]:
        for verdict in super().run(batch):
            self.kept[verdict.key] = verdict.answer
            yield verdict

    def answer(self, kind: str, job: dict[str, Any]) -> dict[str, Any]:
        if kind == "lint" and self.refuses:
            head = job["head"]
            if "undefined" in head:
                return {"messages": ["Undefined variable 'undefined'"]}
            if "breaks" in head:
                return {"broken": "the linter crashed"}
            if "garbage" in head:
                return {"messages": 1}
        return super().answer(kind, job)

    def of(self, kind: str) -> list[str]:
        """Return the programs of the jobs of a kind, in order."""
        found = [job for name, job in self.jobs if name == kind]
        sources = [job["answer"]["candidate"]["source"] if kind == "answer" else job["head"] for job in found]
        return [source.rpartition("return ")[2].strip() for source in sources]


class _Overlap:
    """It yields the linter's verdicts together, after the last one, as if they waited for a canary."""

    def __init__(self, pool: Overlapping, batch: Batch, count: int, heard: Any) -> None:
        self._pool, self._left, self._heard = pool, collections.deque(batch), heard
        self._held: list[Verdict] = []
        self._is_finished = False
        assert len(self._left) == count > 0

    @property
    def is_over(self) -> bool:
        return not self._left

    def run(self, batch: Iterable[tuple[str, dict[str, Any]] | None]) -> Iterator[Verdict]:
        assert not self._is_finished
        for one in batch:
            yield from self._lint() if one is None else self._pool.run([one])

    def rest(self) -> Iterator[Verdict]:
        while self._left:
            yield from self._lint()
        self._is_finished = True

    def _lint(self) -> Iterator[Verdict]:
        (verdict,) = self._pool.run([self._left.popleft()])
        self._pool.unheard -= 1
        if self._pool.unheard < 0 and verdict.answer is not None:
            self._heard(verdict.key, verdict.answer)
        self._held.append(verdict)
        if not self._left:
            yield from self._held


class Shown(Silent):
    """What an observer saw: each phase with its total, its steps and its successes."""

    def __init__(self) -> None:
        self.phases: list[list[Any]] = []

    def phase(self, name: str, total: int | None) -> None:
        self.phases.append([name, total, 0, 0])

    def advance(self, steps: int = 1, *, passed: int = 0) -> None:
        self.phases[-1][2] += steps
        self.phases[-1][3] += passed


def graded(
    pool: Scripted, answers: dict[str, list[str]], observer: Any = None, kept: dict[str, Any] | None = None
) -> tuple[Phases, list[Any]]:
    """Grade as a run does. `kept`: the results of earlier runs."""
    settling: Settler = settler(pool)
    settling.executor.cache.get = lambda keys: {key: kept[key] for key in keys if key in kept} if kept else {}  # type: ignore[method-assign]
    if observer is not None:
        settling._observer = observer
    with Spool() as spool:
        phases = Phases(Confirmation(TASKS, settling, spool, LIMITS), PROTOCOL, LIMITS, settling)
        samples = phases.all(jobs.attempts(TASKS, answers, PROTOCOL))
    return phases, [(sample.lint, sample.apart, sample.ran, sample.not_run) for sample in samples]


ENDLESS = "```python\ndef solution(a):\n    while a:\n        a -= 1\n    return 7\n```"
DROPPED = "```python\nX = 1\ndef solution(a):\n    return X\n```"
"""The official assembly drops the constant."""
REBOUND = "```python\ndef solution(a):\n    return 0\nsolution = lambda a: a\n```"
"""The official assembly drops code that gives the function's name to something else."""
ANSWERS = {
    "odd": [program("a"), program("undefined")],
    "plain": [
        program("a"), program("undefined"), program("breaks"), program("garbage"), program("a + 1"), program("a"),
        REBOUND, DROPPED,
    ],
    "same": [program("a")],
    "strange": [program("a"), DROPPED],
}  # fmt: skip


@pytest.mark.parametrize("unheard", [0, 1, 99])
@pytest.mark.parametrize("lost", [set(), {"lint"}, {"answer"}, {"record"}])
def test_the_verdicts_are_those_of_phases_one_after_the_other(lost: set[str], unheard: int) -> None:
    pool, other = Overlapping(unheard=unheard), Overlapping(overlaps=False)
    pool.lost = other.lost = lost
    phases, found = graded(pool, ANSWERS)
    before, expected = graded(other, ANSWERS)
    assert found == expected
    assert list(phases._confirmation.unrecordable.items()) == list(before._confirmation.unrecordable.items())
    kinds, expected_kinds = (collections.Counter(one.kinds) for one in (pool, other))
    if "lint" in lost:
        # The calls of a task are recorded before it is known whether the linter accepts any of its programs.
        assert kinds.pop("record") > expected_kinds.pop("record")
    assert kinds == expected_kinds


@pytest.mark.parametrize("kinds", [{"lint"}, {"answer"}, {"record", "answer"}, {"lint", "answer", "judge"}, {"half"}])
def test_results_of_earlier_runs_are_used_beside_new_ones(kinds: set[str]) -> None:
    first = Overlapping(overlaps=False)
    _, expected = graded(first, ANSWERS)
    kept = {k: a for n, (k, a) in enumerate(first.kept.items()) if kinds & set(a) or (kinds == {"half"} and n % 2)}
    pool, other = Overlapping(), Overlapping(overlaps=False)
    assert graded(pool, ANSWERS, kept=kept)[1] == graded(other, ANSWERS, kept=kept)[1] == expected
    assert collections.Counter(pool.kinds) == collections.Counter(other.kinds)


def test_a_program_answers_when_the_linter_has_accepted_it_and_never_if_it_refuses_it() -> None:
    """A program with a `while` loop, which may never end, is linted and answers first."""
    pool = Overlapping()
    graded(pool, {"plain": [program("undefined"), *(program(f"a + {n}") for n in range(5)), ENDLESS]})
    assert pool.of("lint")[0] == "7"
    assert pool.of("answer") == ["7", *(f"a + {n}" for n in range(5))]
    place = {kind: [number for number, name in enumerate(pool.kinds) if name == kind] for kind in pool.kinds}
    assert place["answer"][0] < place["lint"][1]
    assert place["answer"][-1] < place["judge"][0]
    for source in pool.of("answer"):
        assert place["lint"][pool.of("lint").index(source)] < place["answer"][pool.of("answer").index(source)]


def test_one_phase_at_a_time_is_shown_and_the_one_beside_it_when_it_is_done() -> None:
    shown = Shown()
    graded(Overlapping(), {"plain": [program("a"), program("undefined"), program("a + 1"), program("a")]}, shown)
    assert shown.phases == [
        ["linting", 4, 4, 3],
        ["answering", 2, 2, 0],
        ["judging", 2, 2, 2],
        ["running official tests", 3, 3, 3],
    ]
    shown = Shown()
    graded(Overlapping(overlaps=False), {"plain": []}, shown)
    assert shown.phases == [], "a phase without steps is not shown"
