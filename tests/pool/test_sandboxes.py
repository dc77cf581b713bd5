"""A pool with programs in real sandboxes: what is lost is replaced, and nothing is left at the end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import grader
from grader.results import Outcome, SampleResult
from tests.conftest import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLE = Path(__file__).parents[2] / "benchmarks" / "humaneval-v" / "sample"
OPTIONS: dict[str, Any] = {
    "benchmark": "humaneval-v",
    "data": SAMPLE / "tasks.jsonl",
    "workers": 1,
    "timeout": 1,
    "cache": False,
}


def samples(each: int, tasks: int = 3) -> list[tuple[str, str]]:
    records = json.loads((SAMPLE / "predictions.json").read_text())[:tasks]
    return [(record["qid"], text) for record in records for text in record["predictions"][:each]]


def children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        found = [
            int(child)
            for thread in Path(f"/proc/{pid}/task").iterdir()
            for child in (thread / "children").read_text().split()
        ]
        return found + [grandchild for child in found for grandchild in children(child)]
    return []


def containers(pid: int) -> list[Any]:
    import docker

    from grader.sandbox.docker import OWNER_LABEL

    client = docker.from_env()
    listed = client.containers.list(filters={"label": OWNER_LABEL}, ignore_removed=True)
    return [found for found in listed if found.labels[OWNER_LABEL].split("/")[1] == f"{pid}"]


def sandboxes(backend: str, pid: int) -> list[Callable[[], None]]:
    """Return what kills each sandbox of a pool."""
    if backend == "docker":
        return [container.kill for container in containers(pid)]
    return [lambda child=child: os.kill(child, signal.SIGKILL) for child in children(pid)]


def credits_of(results: list[SampleResult]) -> list[float]:
    assert all(result.careful.outcome is not Outcome.UNSCORED for result in results), results
    return [result.careful.credit for result in results]


@pytest.mark.parametrize("backend", BACKENDS)
def test_lost_sandboxes_are_replaced_without_the_caller_noticing_and_none_is_left(backend: str) -> None:
    report = grader.grade(
        {qid: [text for other, text in samples(2) if other == qid] for qid, _ in samples(2)},
        **OPTIONS | {"sandbox": backend, "missing": "wrong", "ids": [qid for qid, _ in samples(1)]},
    )
    expected = [sample.careful.credit for sample in report.samples]
    with grader.Pool(sandbox=backend, shared=False, **OPTIONS) as pool:
        assert credits_of(pool.grade_samples(samples(2))) == expected
        pid = pool.state().pid
        killers = sandboxes(backend, pid)
        assert len(killers) >= 3
        for kill in killers:
            with contextlib.suppress(ProcessLookupError):
                kill()
        assert credits_of(pool.grade_samples(samples(2))) == expected
        results = pool.grade_samples(samples(1, 1), official=True)
        assert [result.official.outcome for result in results] == [Outcome.PASSED]
    deadline = time.monotonic() + 60
    while (left := sandboxes(backend, pid)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left == []
