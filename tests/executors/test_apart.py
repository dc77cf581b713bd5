"""Sets of sandboxes: each kind of job has its own, a broken set is begun anew, an old one is replaced."""

from typing import Any

import pytest

from grader.errors import InfrastructureError
from grader.executors import apart
from grader.executors.apart import Apart
from tests.sandbox.scripted import Backend


def jobs(*kinds: str) -> list[tuple[str, dict[str, Any]]]:
    """Return jobs whose names are their kinds."""
    part = {"candidate": {"signature": ""}, "calls": [], "tests": {"signature": "", "test": ""}}
    return [(f"{number}", {"name": kind, "do": "pass", kind: part}) for number, kind in enumerate(kinds)]


EVERY = ("lint", "record", "answer", "judge", "run")


def test_a_sandbox_that_runs_programs_never_sees_a_test_and_one_that_judges_never_sees_a_program() -> None:
    backend = Backend()
    with Apart(backend, 1, 10) as sets:
        for _ in range(3):
            assert len(list(sets.run(jobs(*EVERY)))) == len(EVERY)
    together = {frozenset(kinds) for kinds in backend.ran}
    assert together == {frozenset(kinds) for kinds in (["lint"], ["answer"], ["record", "judge"], ["run"])}
    assert backend.closed == backend.started
    # The others load no linter.
    assert backend.linting == ["lint" in kinds for kinds in backend.ran]


def test_a_tasks_own_solution_answers_where_the_tests_are() -> None:
    backend = Backend()
    with Apart(backend, 1, 10) as sets:
        list(sets.run_in_judging(jobs("answer")))
        list(sets.run(jobs("judge", "answer")))
    assert backend.ran == [["answer", "judge"], ["answer"]]


def test_after_a_failure_of_the_engine_the_next_jobs_start_new_sandboxes() -> None:
    backend = Backend()
    with Apart(backend, 1, 10) as sets:
        backend.broken = True
        with pytest.raises(InfrastructureError, match="nothing starts"):
            list(sets.run(jobs("answer")))
        backend.broken = False
        assert len(list(sets.run(jobs("answer", "answer")))) == 2


def test_sandboxes_are_replaced_after_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "RENEWED_AFTER", 5)
    backend = Backend()
    with Apart(backend, 1, 10) as sets:
        for _ in range(6):
            list(sets.run(jobs("answer", "answer")))
    assert [len(kinds) for kinds in backend.ran] == [6, 6]
    assert backend.closed == 2
