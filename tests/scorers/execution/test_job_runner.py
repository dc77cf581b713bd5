"""Phase after phase, with results of earlier runs. A scripted pool stands for sandboxes."""

from collections.abc import Iterable, Iterator
from typing import Any

from grader.observer import Silent
from grader.scorers.execution.sample import Sample
from tests.scorers.execution.test_pipeline import Scripted, job_runner, program
from tests.scorers.execution.test_pipeline import graded as graded_by
from tests.tables import each

Batch = Iterable[tuple[str, dict[str, Any]]]


class Linting(Scripted):
    """A pool with a linter.

    It refuses programs with the name `undefined`. It crashes on programs with the name `breaks`, and its result
    for programs with the name `garbage` cannot be understood.
    """

    def __init__(self) -> None:
        super().__init__()
        self.kept = dict[str, Any]()

    def run(self, batch: Batch, role: str | None = None) -> Iterator[tuple[str, Any]]:
        for key, answer in super().run(batch):
            self.kept[key] = answer
            yield key, answer

    def answer(self, kind: str, job: dict[str, Any]) -> dict[str, Any]:
        if kind == "lint":
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
) -> list[Any]:
    """Grade as a run does. `kept`: the results of earlier runs."""
    runner = job_runner(pool)
    runner.executor.cache.get = lambda keys: {key: kept[key] for key in keys if key in kept} if kept else {}  # type: ignore[method-assign]
    if observer is not None:
        runner._observer = observer
    samples: list[Sample] = graded_by(runner, answers)[1]
    return [(sample.lint, sample.verdicts, sample.official_run, sample.official_failure) for sample in samples]


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


@each("kinds", [{"lint"}, {"answer"}, {"record", "answer"}, {"lint", "answer", "judge"}, {"half"}])
def test_results_of_earlier_runs_are_used_beside_new_ones(kinds: set[str]) -> None:
    first = Linting()
    expected = graded(first, ANSWERS)
    kept = {k: a for n, (k, a) in enumerate(first.kept.items()) if kinds & set(a) or (kinds == {"half"} and n % 2)}
    pool = Linting()
    assert graded(pool, ANSWERS, kept=kept) == expected
    assert len(pool.kinds) < len(first.kinds)


def test_a_program_that_may_never_end_answers_first_and_one_that_the_linter_refuses_answers_too() -> None:
    pool = Linting()
    graded(pool, {"plain": [program("undefined"), *(program(f"a + {n}") for n in range(5)), ENDLESS]})
    assert pool.of("answer") == ["7", "undefined", *(f"a + {n}" for n in range(5))]
    order = ["record", "lint", "answer", "judge", "run"]
    assert pool.kinds == sorted(pool.kinds, key=order.index)


def test_each_phase_is_shown_with_its_steps_and_successes() -> None:
    shown = Shown()
    graded(Linting(), {"plain": [program("a"), program("undefined"), program("a + 1"), program("a")]}, shown)
    assert shown.phases == [
        ["recording calls", 1, 1, 0],
        ["linting", 4, 4, 3],
        ["answering", 3, 3, 0],
        ["judging", 3, 3, 3],
        ["running official tests", 3, 3, 3],
    ]
    shown = Shown()
    graded(Linting(), {"plain": []}, shown)
    assert shown.phases == [], "a phase without steps is not shown"
