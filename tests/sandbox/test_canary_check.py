"""An answer counts once its sandbox has judged both canaries after it. Supervisors that execute jobs stand in."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from grader.sandbox import canary_check
from grader.sandbox.canary_check import Canaries
from grader.sandbox.interface import SupervisorLostError
from grader.sandbox.pool import Pool
from grader.sandbox.stream import Stream
from grader.sandbox.tickets import Verdict

EVIDENCE = {"stopped": None, "status": None, "cpu": 0.0, "wall": 0.0, "waited": 0.0, "oom": False}
STARVED = {"run": {"evidence": EVIDENCE | {"stopped": "blocked", "waited": 1.0}}}


def job(number: int) -> dict[str, Any]:
    """Return an official run that passes where the number is even."""
    test = f"assert value % 2 == 0  # {number}\n"
    return {
        "id": 0, "cpu": 2.0, "wall": 20.0, "lint": False, "run": True,
        "head": f"value = {number}\n", "test": test, "timed_out": "late", "failed_prefix": "no: ",
    }  # fmt: skip


class Sandbox:
    """A supervisor that executes jobs, and from job number `wrong_from` on says that everything passes."""

    def __init__(self, machine: Machine, wrong_from: int | None, does: str) -> None:
        self.machine, self.wrong_from, self.does = machine, wrong_from, does
        self.jobs: list[dict[str, Any]] = []
        self.ran: list[str] = []
        self.closed = False
        machine.sandboxes.append(self)

    def send(self, job: dict[str, Any], timeout: float) -> None:
        if self.closed:
            raise SupervisorLostError("closed")
        self.jobs.append(job)

    def receive(self, timeout: float) -> dict[str, Any]:
        if self.closed:
            raise SupervisorLostError("closed")
        job = self.jobs.pop(0)
        self.ran.append(job["head"])
        is_canary = not job["head"].startswith("value")
        if self.wrong_from is not None and len(self.ran) > self.wrong_from:
            if is_canary and self.does == "dies":
                raise SupervisorLostError("it died")
            if is_canary and self.does == "starves":
                return STARVED
            if self.does == "retires":
                return self.judged(job) | {"retired": "files stay"}
            if self.does == "misjudges":
                return {"run": {"result": "passed", "evidence": EVIDENCE}}
        return self.judged(job)

    def judged(self, job: dict[str, Any]) -> dict[str, Any]:
        try:
            exec(job["head"] + job["test"], {})
        except AssertionError:
            return {"run": {"result": job["failed_prefix"], "kind": "AssertionError", "evidence": EVIDENCE}}
        return {"run": {"result": "passed", "evidence": EVIDENCE}}

    def close(self) -> None:
        self.closed = True

    @property
    def programs(self) -> list[int]:
        return [int(head[8:]) for head in self.ran if head.startswith("value")]

    @property
    def canaries(self) -> int:
        return len(self.ran) - len(self.programs)


class Machine:
    """A backend whose first sandboxes go wrong after a number of jobs each."""

    name, identity = "docker", "scripted"

    def __init__(self, *wrong_from: int | None, does: str = "misjudges", always: int | None = None) -> None:
        self.wrong_from, self.does, self.always = list(wrong_from), does, always
        self.sandboxes: list[Sandbox] = []
        self.lock = threading.Lock()

    def start(self, index: int, *, lint: bool = False) -> Sandbox:
        with self.lock:
            return Sandbox(self, self.wrong_from.pop(0) if self.wrong_from else self.always, self.does)

    def load(self) -> None:
        pass

    def reap(self) -> int:
        return 0

    def describe(self) -> Any:
        return {}


def run(machine: Machine, count: int = 40, *, workers: int = 1) -> tuple[dict[str, Verdict], Canaries]:
    canaries = Canaries()
    with Pool(machine, workers, 10, canaries=canaries) as pool:
        verdicts = list(pool.run((str(number), job(number)) for number in range(count)))
    assert len(verdicts) == count
    return {verdict.key: verdict for verdict in verdicts}, canaries


def wrong(verdicts: dict[str, Verdict]) -> list[str]:
    """Return the programs whose verdict is not what it should be."""
    return [
        key
        for key, verdict in verdicts.items()
        if verdict.answer is None or (verdict.answer["run"]["result"] == "passed") != (int(key) % 2 == 0)
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sandbox_that_judges_right_has_right_and_wrong_canaries_and_every_job_runs_once(workers: int) -> None:
    machine = Machine()
    verdicts, canaries = run(machine, workers=workers)
    assert wrong(verdicts) == []
    assert sorted(number for sandbox in machine.sandboxes for number in sandbox.programs) == list(range(40))
    for sandbox in machine.sandboxes:
        assert sandbox.canaries >= 2
        assert not sandbox.ran[-1].startswith("value")
    described = canaries.described()
    assert described.right == sum(sandbox.canaries for sandbox in machine.sandboxes)
    assert (described.misjudged, described.run_again, described.unscored) == ({}, 0, 0)


def test_pairs_of_canaries_stand_before_the_first_job_after_many_jobs_and_after_the_last() -> None:
    machine = Machine()
    run(machine, canary_check.MOST_JOBS + 10)
    ran = machine.sandboxes[0].ran
    found = [place for place, head in enumerate(ran) if not head.startswith("value")]
    middle = canary_check.MOST_JOBS + 2
    assert found == [0, 1, middle, middle + 1, len(ran) - 2, len(ran) - 1]


def test_what_a_sandbox_ran_since_its_last_right_canaries_runs_once_more_in_another_one() -> None:
    machine = Machine(12)
    verdicts, canaries = run(machine)
    assert wrong(verdicts) == []
    first, second = machine.sandboxes
    assert first.programs == second.programs == list(range(40))
    described = canaries.described()
    assert (described.run_again, described.unscored) == (40, 0)
    assert described.misjudged == {"run: a wrong program": 1}


def test_a_pool_gives_answers_at_once_and_says_how_many_may_be_wrong() -> None:
    said: list[str] = []
    machine = Machine(canary_check.MOST_JOBS - 10)
    stream = Stream(Pool(machine, 1, 10, canaries=Canaries(said.append)))
    (first,) = stream.run([("0", job(0))])
    assert first.answer["run"]["result"] == "passed"
    assert machine.sandboxes[0].canaries == 2, "nothing comes after it"
    list(stream.run((str(number), job(number)) for number in range(1, canary_check.MOST_JOBS + 5)))
    stream.close()
    assert len(machine.sandboxes) == 2
    assert said == [canary_check.GIVEN.format(what="run: a wrong program", count=canary_check.MOST_JOBS)]


def test_a_node_holds_answers_until_canaries_confirm_them_which_come_when_it_has_nothing_to_do() -> None:
    machine, canaries = Machine(60), Canaries()
    stream = Stream(Pool(machine, 1, 10, canaries=canaries), holds=True)
    found = [{v.key: v for v in stream.run((str(n), job(n)) for n in range(40))} for _ in range(3)]
    stream.close()
    assert [wrong(verdicts) for verdicts in found] == [[]] * 3
    assert [len(verdicts) for verdicts in found] == [40] * 3
    assert sum(canaries.described().misjudged.values()) == 1


def test_where_the_second_sandbox_misjudges_too_nothing_is_known_of_what_ran_there() -> None:
    machine = Machine(always=0)
    verdicts, canaries = run(machine, 10)
    assert all(verdict.answer is None for verdict in verdicts.values())
    assert {verdict.reason for verdict in verdicts.values()} == {canary_check.MISJUDGED}
    ran = [number for sandbox in machine.sandboxes for number in sandbox.programs]
    assert all(ran.count(number) <= 2 for number in range(10))
    assert canaries.described().unscored == 10


@pytest.mark.parametrize("does", ["dies", "starves"])
def test_a_sandbox_that_gives_no_verdict_on_a_canary_has_misjudged_it(does: str) -> None:
    machine = Machine(9, does=does)
    verdicts, canaries = run(machine)
    assert wrong(verdicts) == []
    assert len(machine.sandboxes) == 2
    assert sum(canaries.described().misjudged.values()) == 1
    if does == "starves":
        assert sum(not head.startswith("value") for head in machine.sandboxes[0].ran[9:]) == canary_check.PATIENCE + 1


def test_what_a_sandbox_said_before_it_was_retired_counts() -> None:
    machine = Machine(9, does="retires")
    verdicts, canaries = run(machine)
    assert wrong(verdicts) == []
    assert canaries.described().run_again == 0
    ran = [number for sandbox in machine.sandboxes for number in sandbox.programs]
    assert sorted(set(ran)) == list(range(40))
