"""Sets of sandboxes: each kind of job has its own, a broken set is begun anew, an old one is replaced."""

import threading
from typing import Any

import pytest

from grader.errors import InfrastructureError
from grader.executors import apart
from grader.executors.apart import Apart
from grader.sandbox.interface import SupervisorLostError

ANSWER = {"evidence": {"stopped": None, "status": None, "cpu": 0.0, "wall": 0.0, "waited": 0.0, "oom": False}}


class Noting:
    """A supervisor that notes the kinds of the jobs it is given."""

    def __init__(self, lint: bool) -> None:
        self.lint, self.kinds, self.jobs, self.closed, self.greeting = lint, [], [], False, {}

    def send(self, job: dict[str, Any], timeout: float) -> None:
        self.jobs.append(job)

    def receive(self, timeout: float) -> dict[str, Any]:
        if not self.jobs:
            raise SupervisorLostError("closed")
        job = self.jobs.pop(0)
        self.kinds.append(next(kind for kind in apart.OF_KIND if job.get(kind)))
        return {"id": 0, self.kinds[-1]: ANSWER}

    def close(self) -> None:
        self.closed = True


class Backend:
    name, identity = "docker", "noting"

    def __init__(self) -> None:
        self.started: list[Noting] = []
        self.broken = False
        self.lock = threading.Lock()

    def start(self, index: int, *, lint: bool = False) -> Noting:
        if self.broken:
            raise InfrastructureError("the engine has stopped")
        with self.lock:
            self.started.append(Noting(lint))
            return self.started[-1]

    def load(self) -> None:
        pass

    def reap(self) -> int:
        return 0


def jobs(*kinds: str) -> list[tuple[str, dict[str, Any]]]:
    part = {"candidate": {"signature": ""}, "calls": [], "tests": {"signature": "", "test": ""}}
    return [(f"{number}", {"id": number, kind: part}) for number, kind in enumerate(kinds)]


EVERY = ("lint", "record", "answer", "judge", "split", "run")


def test_a_sandbox_that_runs_programs_never_sees_a_test_and_one_that_judges_never_sees_a_program() -> None:
    backend = Backend()
    with Apart(backend, 1, 10) as sets:  # type: ignore[arg-type]
        for _ in range(3):
            assert len(list(sets.run(jobs(*EVERY)))) == len(EVERY)
    together = {frozenset(supervisor.kinds) for supervisor in backend.started}
    assert together == {frozenset(kinds) for kinds in (["lint"], ["answer"], ["record", "judge"], ["split"], ["run"])}
    assert all(supervisor.closed for supervisor in backend.started)
    # The others load no linter.
    assert all(supervisor.lint == ("lint" in supervisor.kinds) for supervisor in backend.started)


def test_a_tasks_own_solution_answers_where_the_tests_are() -> None:
    backend = Backend()
    with Apart(backend, 1, 10) as sets:  # type: ignore[arg-type]
        list(sets.run_in_judging(jobs("answer")))
        list(sets.run(jobs("judge", "answer")))
    assert [supervisor.kinds for supervisor in backend.started] == [["answer", "judge"], ["answer"]]


def test_after_a_failure_of_the_engine_the_next_jobs_start_new_sandboxes() -> None:
    backend = Backend()
    with Apart(backend, 1, 10) as sets:  # type: ignore[arg-type]
        backend.broken = True
        with pytest.raises(InfrastructureError, match="the engine has stopped"):
            list(sets.run(jobs("answer")))
        backend.broken = False
        assert len(list(sets.run(jobs("answer", "answer")))) == 2


def test_sandboxes_are_replaced_after_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "RENEWED_AFTER", 5)
    backend = Backend()
    with Apart(backend, 1, 10) as sets:  # type: ignore[arg-type]
        for _ in range(6):
            list(sets.run(jobs("answer", "answer")))
    assert [len(supervisor.kinds) for supervisor in backend.started] == [6, 6]
    assert all(supervisor.closed for supervisor in backend.started)
