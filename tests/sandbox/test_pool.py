"""The pool: what it does when supervisors are lost, damaged or starved. Scripted supervisors stand in for real ones."""

import itertools
import time
from typing import Any

import pytest

from grader.errors import InfrastructureError
from grader.sandbox.interface import FEW_LINTS
from grader.sandbox.pool import Pool
from tests.sandbox.scripted import Backend, lint_jobs


def run(jobs: dict[str, str], backend: Backend, workers: int = 2, **options: Any) -> dict[str, Any]:
    batch = [(name, {"name": name, "do": what}) for name, what in jobs.items()]
    with Pool(backend, workers, 10, **options) as pool:
        return {verdict.key: verdict for verdict in pool.run(batch)}


def test_what_dead_graders_left_is_removed_when_the_first_supervisor_starts():
    backend = Backend()
    with Pool(backend, 2, 10) as pool:
        assert backend.reaped == 0
        # The first job waits for the last one, so both supervisors start.
        jobs = [{"name": f"j{i}", "do": {0: "wait", 8: "signal"}.get(i, "pass"), "for": "end"} for i in range(9)]
        list(pool.run([(job["name"], job) for job in jobs]))
    assert (backend.reaped, backend.started) == (1, 2)


def test_a_finished_pool_ends_its_supervisors_in_the_background():
    backend = Backend()
    with Pool(backend, 2, 10) as pool:
        list(pool.run([("job", {"name": "job", "do": "pass"}), ("other", {"name": "other", "do": "pass"})]))
        backend.may_close.clear()
        pool.finish()
        assert backend.closed == 0
        backend.may_close.set()
    assert backend.closed == backend.started > 0


@pytest.mark.parametrize("happens", ["die once", "damage once"])
def test_a_lost_or_damaged_supervisor_is_replaced_and_its_job_runs_again(happens: str):
    backend = Backend()
    verdicts = run({"a": "pass", "b": happens, "c": "pass"}, backend, workers=1)
    assert {name: v.answer["run"]["result"] for name, v in verdicts.items()} == dict.fromkeys("abc", "passed")
    assert backend.seen == {"a": 1, "b": 2, "c": 1}
    assert backend.started == backend.closed == 2


def test_a_job_that_loses_two_supervisors_is_unscored_and_costs_no_other_its_verdict():
    verdicts = run({"a": "pass", "b": "die", "c": "pass", "d": "pass"}, Backend())
    assert verdicts["b"].answer is None
    assert verdicts["b"].reason == "it died"
    assert all(verdicts[name].answer["run"]["result"] == "passed" for name in "acd")


def test_a_starved_program_runs_again_alone_before_it_is_judged():
    verdicts = run({"a": "starve", "b": "pass", "c": "sleep"}, Backend())
    assert verdicts["a"].answer["run"]["result"] == "passed"
    assert verdicts["a"].answer["alone"] is True
    assert verdicts["b"].answer["alone"] is False
    assert verdicts["c"].answer["run"]["evidence"]["stopped"] == "blocked"
    assert verdicts["c"].answer["alone"] is True


def test_while_a_program_sleeps_another_supervisor_does_what_comes_next():
    """The second job is already where the first one sleeps; the third wakes it."""
    backend = Backend()
    jobs = [{"name": "a", "do": "doze", "for": "up"}, {"name": "b", "do": "pass"}]
    jobs += [{"name": "c", "do": "signal", "for": "up"}]
    with Pool(backend, 1, 10) as pool:
        assert {verdict.key for verdict in pool.run((job["name"], job) for job in jobs)} == {"a", "b", "c"}
    assert (backend.started, backend.closed) == (2, 2)


def test_where_no_supervisor_starts_the_run_fails_with_the_reason():
    with pytest.raises(InfrastructureError, match="nothing starts"):
        run({"a": "pass"}, Backend(broken=True))


@pytest.mark.parametrize(("count", "linters"), [(0, 0), (FEW_LINTS, 1), (FEW_LINTS + 1, 3)])
def test_few_programs_are_linted_by_one_supervisor(count: int, linters: int):
    """Loading a linter takes longer than linting a few programs. The others start meanwhile, for what comes next."""
    backend = Backend()
    with Pool(backend, 3, 10) as pool:
        pool.begin(lint=min(count, 1))
        if count > FEW_LINTS:
            pool.begin(lint=FEW_LINTS + 1)
        assert len(list(pool.run(lint_jobs(count)))) == count
        assert len(list(pool.run((f"k{i}", {"name": f"k{i}", "do": "pass"}) for i in range(30)))) == 30
    assert sum(backend.linting) == linters
    assert backend.started == 3


def test_a_supervisor_that_fails_to_begin_fails_the_run_and_the_others_end():
    backend = Backend(broken_once=True)
    with Pool(backend, 2, 10) as pool:
        pool.begin()
        with pytest.raises(InfrastructureError, match="this one did not start"):
            list(pool.run((f"j{i}", {"name": f"j{i}", "do": "pass"}) for i in range(20)))
    assert backend.started == 2
    assert backend.closed == 1


def test_the_threads_that_start_supervisors_outlive_them():
    """A process that is to die with its parent dies when the thread that started it does."""
    backend = Backend()
    with Pool(backend, 2, 10) as pool:
        pool.begin()
        list(pool.run([("a", {"name": "a", "do": "pass"}), ("b", {"name": "b", "do": "die once"})]))
        assert len(backend.starters) >= 2
        assert all(thread.is_alive() for thread in backend.starters)
    assert not any(thread.is_alive() for thread in backend.starters)


def test_a_pool_that_closes_while_supervisors_start_ends_those_as_well():
    backend = Backend(slow=0.3)
    with Pool(backend, 2, 10) as pool:
        pool.begin()
        while backend.started < 2:
            time.sleep(0.01)
    assert backend.closed == 2


def test_a_consumer_that_stops_early_leaves_nothing_running():
    backend = Backend()
    with Pool(backend, 2, 10) as pool:
        # Jobs without end: only stopping ends the workers.
        next(pool.run((f"j{i}", {"name": f"j{i}", "do": "pass"}) for i in itertools.count()))
    assert backend.started == backend.closed


@pytest.mark.parametrize(
    ("part", "stopped", "waited", "again"),
    [
        ("run", "blocked", 0.0, False), ("run", "blocked", 0.1, True),
        ("judge", "blocked", 0.0, False), ("judge", "blocked", 0.5, True),
        ("judge", "wall", 0.0, True), ("judge", "cpu", 0.5, False), ("answer", "blocked", 0.0, False),
        ("answer", "blocked", 0.5, True), ("record", "disturbed", 0.0, True),
    ],
)  # fmt: skip
def test_what_the_machine_may_have_caused_runs_again_but_not_what_slept_in_peace(
    part: str, stopped: str, waited: float, again: bool
) -> None:
    from grader.sandbox.tickets import was_starved

    assert was_starved({part: {"evidence": {"stopped": stopped, "waited": waited}}}) is again


@pytest.mark.parametrize(("status", "oom", "again"), [(-9, False, True), (-9, True, False), (-11, False, False)])
def test_what_somebody_has_killed_runs_again_but_not_what_the_memory_limit_has_killed(
    status: int, oom: bool, again: bool
) -> None:
    from grader.sandbox.tickets import was_starved

    evidence = {"stopped": None, "status": status, "oom": oom, "waited": 0.0}
    assert was_starved({"answer": {"evidence": evidence}}) is again


def test_what_has_failed_for_good_is_never_starved() -> None:
    """Else a program could fail, pretend to be starved, and have a second run that knows it."""
    from grader.sandbox.tickets import was_starved

    seen = {"evidence": {"stopped": "wall", "waited": 9.0}, "confirmed": False, "reason": "a test fails"}
    assert was_starved({"judge": seen}) is False


def test_a_candidate_that_runs_again_runs_where_no_candidate_of_its_task_has_run() -> None:
    backend = Backend()
    part = lambda task: {"candidate": {"signature": task}, "calls": []}  # noqa: E731
    jobs = [(name, {"name": name, "do": "pass", "answer": part(name[0])}) for name in ("a1", "a2", "b1", "c1")]
    jobs[1][1]["do"], jobs[2][1]["do"], jobs[3][1]["do"] = "starve", "die once", "starve"
    with Pool(backend, 1, 10) as pool:
        list(pool.run(jobs))
    seen: set[str] = set()
    again = 0
    for names in backend.ran:
        for position, name in enumerate(names):
            if name in seen:
                again += 1
                assert name[0] not in {before[0] for before in names[:position]}
            seen.add(name)
    # Second runs of different tasks may share a supervisor: each new one takes a second to start.
    assert (again, len(backend.ran)) == (3, 3)
