"""Lint jobs beside other jobs: who does what, and when. Scripted supervisors stand in for real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from grader.errors import InfrastructureError
from grader.sandbox.interface import FEW_LINTS
from grader.sandbox.pool import Pool
from tests.sandbox.scripted import Backend, lint_jobs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.sandbox.crew import Overlap

MANY = 3 * FEW_LINTS


def job(name: str, what: str, signal: str = "", *, lint: bool = False) -> tuple[str, dict[str, Any]]:
    return name, {"name": name, "do": what, "for": signal} | ({"lint": True} if lint else {})


def jobs(count: int, what: str = "pass") -> list[tuple[str, dict[str, Any]]]:
    return [job(f"k{number}", what) for number in range(count)]


def overlap(pool: Pool, linted: list[tuple[str, dict[str, Any]]], heard: dict[str, Any] | None = None) -> Overlap:
    begun = pool.overlap(linted, len(linted), ({} if heard is None else heard).__setitem__)
    assert begun is not None
    return begun


def test_half_of_the_workers_lint_and_the_others_run_other_jobs_meanwhile() -> None:
    backend, heard = Backend(), dict[str, Any]()
    with Pool(backend, 4, 10, overlaps=True) as pool:
        both = overlap(pool, [job("first", "wait", "end", lint=True), *lint_jobs(MANY)], heard)
        # The first lint job waits for a job that can only run beside it.
        keys = [verdict.key for verdict in both.run([*jobs(9), job("last", "signal", "end")])]
        keys += [verdict.key for verdict in both.rest()]
        assert both.is_over
    linted = {key for key, _ in lint_jobs(MANY)} | {"first"}
    assert sorted(keys) == sorted([*linted, *(key for key, _ in jobs(9)), "last"])
    assert heard.keys() == linted
    assert sorted(backend.linting) == [False, False, True, True]


def test_jobs_that_are_not_there_yet_are_waited_for() -> None:
    """The results of the linter decide which jobs come."""
    backend, heard = Backend(), dict[str, Any]()

    def arriving() -> Iterator[tuple[str, dict[str, Any]] | None]:
        while not both.is_over or heard:
            if heard:
                key, _ = heard.popitem()
                yield f"after {key}", {"name": f"after {key}", "do": "pass"}
            else:
                yield None

    with Pool(backend, 2, 10, overlaps=True) as pool:
        both = overlap(pool, lint_jobs(MANY), heard)
        keys = {verdict.key for verdict in both.run(arriving())}
        keys |= {verdict.key for verdict in both.rest()}
    assert keys == {key for key, _ in lint_jobs(MANY)} | {f"after {key}" for key, _ in lint_jobs(MANY)}


def test_a_starved_job_runs_again_when_nothing_is_linted_any_more() -> None:
    backend = Backend()
    with Pool(backend, 2, 10, overlaps=True) as pool:
        held = [job("first", "wait", "end", lint=True), job("slow", "pause", lint=True)]
        both = overlap(pool, [*held, *lint_jobs(9)])
        verdicts = {v.key: v.answer for v in both.run([job("starved", "starve"), job("last", "signal", "end")])}
    answer = verdicts["starved"]
    assert answer is not None
    assert answer["alone"]
    linter = next(names for names in backend.ran if "j0" in names)
    assert linter == ["first", "slow", *(key for key, _ in lint_jobs(9)), "starved"]


@pytest.mark.parametrize("breaks", ["lint job", "other job"])
def test_the_error_of_any_worker_ends_both(breaks: str) -> None:
    backend = Backend()
    linted = [job("first", "break" if breaks == "lint job" else "pass", lint=True), *lint_jobs(5)]

    def endless() -> Iterator[tuple[str, dict[str, Any]] | None]:
        yield job("other", "break" if breaks == "other job" else "pass")
        while True:
            yield None

    with Pool(backend, 2, 10, overlaps=True) as pool:
        # Both supervisors run before no other one starts.
        for index in range(2):
            pool.supervisors.get(index)
        both = overlap(pool, linted)
        with pytest.raises(InfrastructureError, match="nothing starts"):
            list(both.run(endless()))
    assert backend.started == 2


def test_a_lost_linter_is_replaced() -> None:
    backend = Backend()
    with Pool(backend, 2, 10, overlaps=True) as pool:
        both = overlap(pool, [job("first", "die once", lint=True), *lint_jobs(9)])
        verdicts = {verdict.key: verdict.answer for verdict in (*both.run(jobs(3)), *both.rest())}
    assert len(verdicts) == 13
    assert None not in verdicts.values()


@pytest.mark.parametrize(
    "options", [{"workers": 1, "overlaps": True}, {"workers": 2, "overlaps": True, "fresh": True}, {"workers": 2}]
)
def test_some_pools_do_not_overlap(options: dict[str, Any]) -> None:
    """One worker cannot do two things. If each program has its own sandbox, each one loads a linter anyway."""
    with Pool(Backend(), options.pop("workers"), 10, **options) as pool:
        assert pool.overlap(lint_jobs(5), 5, lambda *_: None) is None
