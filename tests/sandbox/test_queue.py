"""The queue: who gets which job, and what happens if supervisors are lost, damaged or slow. Scripted ones stand in."""

import itertools
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from grader import resources
from grader.errors import InfrastructureError
from grader.sandbox import queue as queues
from grader.sandbox import self_check
from grader.sandbox.interface import FEW_LINTS, SupervisorLostError
from grader.sandbox.queue import JobQueue
from grader.sandbox.roles import role_of
from grader.sandbox.starvation import was_starved
from tests.sandbox.scripted import Backend, lint_jobs


@pytest.fixture(autouse=True)
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripted supervisors judge nothing."""
    monkeypatch.setattr(self_check, "find_problem", lambda *_: "")


def job(name: str, what: str = "pass", kind: str = "run", **more: Any) -> Any:
    return {"name": name, "do": what, kind: {"candidate": {}}, **more}


def run(jobs: dict[str, str], backend: Backend, workers: int = 2) -> dict[str, Any]:
    with JobQueue(backend, workers, 10) as queue:
        return dict(queue.run((name, job(name, what)) for name, what in jobs.items()))


# --- supervisors that are lost ---


@pytest.mark.parametrize("happens", ["die once", "damage once"])
def test_a_lost_or_damaged_supervisor_is_replaced_and_its_job_runs_again(happens: str) -> None:
    backend = Backend()
    answers = run({"a": "pass", "b": happens, "c": "pass"}, backend, workers=1)
    assert {name: answer["run"]["result"] for name, answer in answers.items()} == dict.fromkeys("abc", "passed")
    assert backend.seen == {"a": 1, "b": 2, "c": 1}
    assert backend.started == backend.closed == 2


def test_a_job_that_loses_two_supervisors_has_no_answer_and_costs_no_other_its_own() -> None:
    answers = run({"a": "pass", "b": "die", "c": "pass", "d": "pass"}, Backend())
    assert answers["b"] == "it died"
    assert all(answers[name]["run"]["result"] == "passed" for name in "acd")


def test_a_job_that_runs_again_gets_a_sandbox_in_which_nothing_has_run() -> None:
    """Else a program could leave there what its second run finds."""
    backend = Backend()
    jobs = {"a": "pass", "b": "starve", "c": "die once", "d": "pass", "e": "starve"}
    run(jobs, backend, workers=1)
    seen: set[str] = set()
    for names in backend.ran:
        for position, name in enumerate(names):
            assert name not in seen or position == 0
            seen.add(name)


def test_where_no_supervisor_starts_the_jobs_fail_with_the_reason_and_later_ones_try_again() -> None:
    backend = Backend(broken=True)
    with JobQueue(backend, 1, 10) as queue:
        futures = [queue.submit(job(name)) for name in "abc"]
        for future in futures:
            with pytest.raises(InfrastructureError, match="nothing starts"):
                future.result()
        backend.broken = False
        assert queue.submit(job("d")).result()["name"] == "d"


def test_a_sandbox_that_misjudges_the_self_check_is_replaced_and_three_of_them_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problems = ["it misjudges"]
    monkeypatch.setattr(self_check, "find_problem", lambda *_: problems.pop() if problems else "")
    backend = Backend()
    with JobQueue(backend, 1, 10) as queue:
        assert queue.submit(job("a")).result()["name"] == "a"
    assert backend.ran == [[], ["a"]]
    problems += ["it misjudges"] * 3
    with JobQueue(backend, 1, 10) as queue, pytest.raises(InfrastructureError, match="it misjudges"):
        queue.submit(job("a")).result()
    assert backend.closed == backend.started


# --- the machine ---


def test_a_starved_program_runs_again_while_nothing_else_runs() -> None:
    backend = Backend()
    answers = run({"a": "starve", **dict.fromkeys("bcdef", "pause")}, backend)
    assert answers["a"]["alone"] is True
    assert not any(answers[name]["alone"] for name in "bcdef")
    assert backend.seen["a"] == 2
    assert backend.together["a"] == 1


def test_a_starved_program_runs_alone_also_if_another_job_goes_back_to_the_queue_meanwhile() -> None:
    backend = Backend()
    with JobQueue(backend, 3, 10) as queue:
        futures = [
            queue.submit(job("a", "wait", **{"for": "end"})),
            queue.submit(job("b", "starve", after="all run")),
            queue.submit(job("c", "die once", after="b waits")),
        ]
        backend.signals["all run"].set()
        while not queue._waiting:
            time.sleep(0.01)
        backend.signals["b waits"].set()
        while not backend.closed:
            time.sleep(0.01)
        time.sleep(0.2)
        backend.signals["end"].set()
        assert [future.result()["name"] for future in futures] == ["a", "b", "c"]
    assert backend.together["b"] == 1


def test_a_program_that_starves_also_alone_has_its_answer() -> None:
    assert run({"a": "sleep"}, Backend())["a"]["run"]["evidence"]["stopped"] == "blocked"


def test_while_a_program_is_slow_another_supervisor_does_what_comes_next() -> None:
    """The second job wakes the first one."""
    backend = Backend()
    with JobQueue(backend, 1, 10) as queue:
        jobs = [job("a", "doze", **{"for": "up"}), job("b", "signal", **{"for": "up"})]
        assert {key for key, _ in queue.run((one["name"], one) for one in jobs)} == {"a", "b"}
    assert (backend.started, backend.closed) == (2, 2)


@pytest.mark.parametrize(("workers", "free", "most"), [(1, 1 << 40, 4), (2, 1 << 40, 8), (2, 3000, 3), (2, 0, 2)])
def test_slow_programs_let_others_start_while_there_is_memory_and_no_more_than_four_a_worker(
    workers: int, free: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "free_memory", lambda: free)
    backend = Backend()
    with JobQueue(backend, workers, 10, program_bytes=1000) as queue:
        futures = [queue.submit(job(f"{n}", "doze", **{"for": "up"})) for n in range(12)]
        while backend.running < most:
            time.sleep(0.01)
        time.sleep(0.2)
        backend.signals["up"].set()
        assert len([future.result() for future in futures]) == 12
    assert backend.most == most


@pytest.mark.parametrize(("delay", "order"), [(0, "1 2 3 4"), (1000, "2 4 1 3")])
def test_where_loops_come_later_a_job_without_one_waits_for_none(delay: float, order: str) -> None:
    loop, backend = {"head": "while True: pass"}, Backend()
    with JobQueue(backend, 1, 10) as queue:
        queue.loop_delay = delay
        first = queue.submit(job("0", "wait", **{"for": "up"}))
        others = [queue.submit(job(f"{n}", **loop if n % 2 else {})) for n in range(1, 5)]
        backend.signals["up"].set()
        assert [future.result()["name"] for future in (first, *others)] == ["0", "1", "2", "3", "4"]
    assert backend.ran == [["0", *order.split()]]


# --- roles ---

PARTS = ("lint", "record", "answer", "judge", "compare", "run")


def test_no_supervisor_serves_two_roles() -> None:
    """So a sandbox that runs programs never sees a test, and one that judges never sees a program."""
    backend = Backend()
    with JobQueue(backend, 1, 10) as queue:
        for _ in range(3):
            list(queue.run((part, job(part, kind=part)) for part in PARTS))
    together = [set(kinds) for kinds in backend.ran]
    assert sorted(map(sorted, together)) == [["answer"], ["compare", "judge", "record"], ["lint"], ["run"]]
    # The others load no linter.
    assert backend.linting == ["lint" in kinds for kinds in backend.ran]


def test_limits_count_the_jobs_of_all_roles_together() -> None:
    backend = Backend()
    with JobQueue(backend, 2, 10) as queue:
        list(queue.run((f"{n}", job(f"{n}", "pause", PARTS[n % len(PARTS)])) for n in range(12)))
    assert backend.most == 2


def test_an_idle_supervisor_ends_where_another_role_needs_its_place() -> None:
    backend, deadline = Backend(), time.monotonic() + 60
    with JobQueue(backend, 1, 10) as queue:
        for number in range(3):
            list(queue.run((part, job(f"{part}{number}", kind=part)) for part in ("lint", "answer", "judge", "run")))
            # A sleeper's place is the fifth.
            sleeper, waker = (job(f"{what}{number}", what, **{"for": f"{number}"}) for what in ("doze", "signal"))
            list(queue.run([("a", sleeper), ("b", waker)]))
            while backend.open > 4:  # those without a place are ending
                assert time.monotonic() < deadline
                time.sleep(0.01)
    assert backend.closed == backend.started > 4


@pytest.mark.parametrize(("announced", "linters"), [(1, 1), (FEW_LINTS + 1, 3)])
def test_few_programs_are_linted_by_one_supervisor(announced: int, linters: int) -> None:
    """Loading a linter takes longer than linting a few programs."""
    backend = Backend()
    with JobQueue(backend, 3, 10) as queue:
        queue.prestart("linting", announced)
        assert len(list(queue.run(lint_jobs(9)))) == 9
    assert sum(backend.linting) == backend.started == linters


def test_a_job_that_asks_for_nothing_has_no_role() -> None:
    with pytest.raises(ValueError, match="asks for nothing"):
        role_of({"id": 0, "run": False})


# --- beginning and ending ---


def test_what_dead_graders_left_is_removed_when_the_first_supervisor_starts() -> None:
    backend = Backend()
    with JobQueue(backend, 2, 10) as queue:
        assert backend.reaped == 0
        list(queue.run((f"{n}", job(f"{n}", "pause")) for n in range(4)))
    assert (backend.reaped, backend.started) == (1, 2)


def test_the_threads_that_start_supervisors_outlive_them() -> None:
    """A process that is to die with its parent dies when the thread that started it does."""
    backend = Backend()
    with JobQueue(backend, 2, 10) as queue:
        queue.prestart("official")
        list(queue.run((name, job(name, what)) for name, what in {"a": "pass", "b": "die once"}.items()))
    assert backend.closers == backend.starters
    assert not any(thread.is_alive() for thread in backend.starters.values())


def test_supervisors_are_replaced_after_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "RENEWED_AFTER", 5)
    backend = Backend()
    run({f"{n}": "pass" for n in range(12)}, backend, workers=1)
    assert [len(names) for names in backend.ran] == [5, 5, 2]


def test_closing_answers_every_job_and_ends_supervisors_that_start_or_are_busy() -> None:
    backend = Backend(slow=0.3)
    with JobQueue(backend, 2, 10) as queue:
        futures = [queue.submit(job(f"{n}", "wait", **{"for": "never"})) for n in range(6)]
        while backend.started < 2:
            time.sleep(0.01)
    for future in [*futures, queue.submit(job("late"))]:
        with pytest.raises(InfrastructureError, match="stopped"):
            future.result(timeout=0)
    assert backend.closed == backend.started


def test_closing_is_no_error_where_the_last_thread_ends_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    class Threads(set[threading.Thread]):
        def __iter__(self) -> Iterator[threading.Thread]:
            for thread in (listed := set.copy(self)):
                thread.join()  # so it has removed itself by now
            return iter(listed & self)

    queue = JobQueue(Backend(), 1, 10)
    monkeypatch.setattr(queue, "_threads", Threads())
    queue.submit(job("a")).result()
    queue.close()


def test_a_finished_queue_ends_its_supervisors_in_the_background() -> None:
    backend = Backend()
    with JobQueue(backend, 2, 10) as queue:
        list(queue.run([("a", job("a")), ("b", job("b"))]))
        backend.may_close.clear()
        queue.finish()
        assert backend.closed == 0
        backend.may_close.set()
    assert backend.closed == backend.started > 0


def test_busy_supervisors_are_closed_at_once_not_one_after_the_other() -> None:
    backend = Backend()
    with JobQueue(backend, 2, 10) as queue:
        futures = [queue.submit(job(name, "wait", **{"for": "never"})) for name in "ab"]
        while backend.running < 2:
            time.sleep(0.01)
        backend.may_close = threading.Barrier(2, timeout=10)
        queue.finish()
    assert [type(future.exception()) for future in futures] == [InfrastructureError] * 2
    assert backend.started == backend.closed == 2


def test_a_consumer_that_stops_early_leaves_nothing_running() -> None:
    backend = Backend()
    with JobQueue(backend, 2, 10) as queue:
        next(queue.run((f"j{i}", job(f"j{i}")) for i in itertools.count()))
    assert backend.started == backend.closed


def test_several_threads_get_their_own_answers() -> None:
    with JobQueue(Backend(), 2, 10) as queue:
        found: dict[int, Iterable[Any]] = {}

        def ask(number: int) -> None:
            found[number] = sorted(
                (key, answer["name"]) for key, answer in queue.run((f"{n}", job(f"{number}.{n}")) for n in range(40))
            )

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {number: sorted((f"{n}", f"{number}.{n}") for n in range(40)) for number in range(8)}


def test_a_lost_job_is_an_error_of_its_future() -> None:
    with JobQueue(Backend(), 1, 10) as queue, pytest.raises(SupervisorLostError, match="it died"):
        queue.submit(job("a", "die")).result()


# --- what a busy machine may have caused ---


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
    assert was_starved({part: {"evidence": {"stopped": stopped, "waited": waited}}}) is again


@pytest.mark.parametrize(("status", "oom", "again"), [(-9, False, True), (-9, True, False), (-11, False, False)])
def test_what_somebody_has_killed_runs_again_but_not_what_the_memory_limit_has_killed(
    status: int, oom: bool, again: bool
) -> None:
    evidence = {"stopped": None, "status": status, "oom": oom, "waited": 0.0}
    assert was_starved({"answer": {"evidence": evidence}}) is again


def test_what_has_failed_for_good_is_never_starved() -> None:
    """Else a program could fail, pretend to be starved, and have a second run that knows it."""
    seen = {"evidence": {"stopped": "wall", "waited": 9.0}, "confirmed": False, "reason": "a test fails"}
    assert was_starved({"judge": seen}) is False
