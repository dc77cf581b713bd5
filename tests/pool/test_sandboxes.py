"""A pool with programs in real sandboxes: what is lost is replaced, and nothing is left at the end."""

import contextlib
import itertools
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.results import Outcome, SampleResult
from tests.bench.soak import processes_below
from tests.conftest import BACKENDS

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
    return [lambda child=child: os.kill(child, signal.SIGKILL) for child in processes_below(pid)]


def credits_of(results: list[SampleResult]) -> list[float]:
    assert all(result.careful.outcome is not Outcome.UNSCORED for result in results), results
    return [result.careful.credit for result in results]


@pytest.mark.parametrize(
    "backend", [pytest.param(*BACKENDS[0].values, marks=[*BACKENDS[0].marks, pytest.mark.slow]), BACKENDS[1]]
)
def test_lost_sandboxes_are_replaced_without_the_caller_noticing_and_none_is_left(backend: str) -> None:
    outcomes = json.loads((SAMPLE / "expected.json").read_text())["outcomes"]["careful"]
    expected = [float(outcomes[qid][n % 2] == "passed") for n, (qid, _) in enumerate(samples(2))]
    with grader.Pool(sandbox=backend, shared=False, **OPTIONS) as pool:
        assert credits_of(pool.grade_samples(samples(2))) == expected
        pid = pool.state().pid
        killers = sandboxes(backend, pid)
        assert len(killers) >= 3
        for kill in killers:
            with contextlib.suppress(ProcessLookupError):
                kill()
        assert credits_of(pool.grade_samples(samples(2))) == expected
        state = pool.state()
        # Those that were idle are replaced as well, when they get a job.
        assert state.lost_sandboxes >= 2
        results = pool.grade_samples(samples(1, 1), official=True)
        assert [result.official.outcome for result in results] == [Outcome.PASSED]
    deadline = time.monotonic() + 60
    while (left := sandboxes(backend, pid)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left == []


ROW = {"tests": "assert double(3) == 6\nassert double(4) == 8"}


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_quick_programs_leave_before_endless_ones_and_sleepers() -> None:
    """The endless ones have a minute, so that all the others have a verdict before the first of them has.

    Two workers have room for all of the slow programs beside a quick one, if their memory is free.
    """
    endless = [(ROW, f"def double(n):\n    while True:\n        n += {number}") for number in range(2)]
    asleep = [(ROW, f"import time\ndef double(n):\n    time.sleep(9999 + {number})") for number in range(2)]
    quick = [(ROW, f"def double(n):\n    return 2 * n + {number % 2}  # {number}") for number in range(12)]
    samples = [*endless, *asleep, *quick]
    settings = {"sandbox": "bubblewrap", "workers": 2, "timeout": 60, "memory": "200m"}
    with grader.Pool(benchmark="rows", shared=False, **settings) as pool:
        found = dict(itertools.islice(pool.as_completed(samples), len(quick)))
        first = len(samples) - len(quick)
        assert {place - first: result.careful.credit for place, result in found.items()} == {
            number: 1 - number % 2 for number in range(len(quick))
        }
        assert pool.state().queued.keys() == {"usual", "loops"}


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_slow_programs_have_the_same_verdicts_alone_and_together() -> None:
    """They work or sleep until they count as slow, and are right or wrong."""
    start = "import time\ndef double(n):\n"
    work = f"{start}    end = time.process_time() + 0.6\n    while time.process_time() < end: pass\n"
    sleep = f"{start}    time.sleep(0.8)\n"
    bodies = [f"{slow}    return 2 * n{more}" for slow in (work, sleep) for more in ("", " + n - 3")]
    samples = [({"tests": "assert double(4) == 8"}, body) for body in bodies]
    with grader.Pool(benchmark="rows", sandbox="bubblewrap", shared=False, workers=1, timeout=3, cache=False) as pool:
        together, alone = pool.grade_samples(samples), [pool.grade_samples([sample])[0] for sample in samples]
    readings = [[(one.careful.outcome, one.careful.credit) for one in results] for results in (together, alone)]
    assert readings[0] == readings[1]
    assert [credit for _, credit in readings[0]] == [1, 0, 1, 0]


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_a_slow_program_that_reads_its_input_has_a_verdict_with_the_usual_cache() -> None:
    """It is stopped before it runs to its end, to see whether it is wrong already."""
    row = {"inputs": ["5\n"], "outputs": ["done\n"]}
    start = "import time\nend = time.process_time() + 0.8\nwhile time.process_time() < end: pass\n"
    texts = [f"{start}print('done')", f"{start}print('over')", "import time\ntime.sleep(1.2)\nprint('done')"]
    with grader.Pool(benchmark="rows", sandbox="bubblewrap", shared=False, workers=1, timeout=4) as pool:
        for _ in range(2):
            results = pool.grade_samples([(row, text) for text in texts], wait=120)
            assert [result.careful.outcome.value for result in results] == ["passed", "failed", "passed"]


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_whether_tests_end_by_themselves_or_are_killed_decides_nothing() -> None:
    """Tests that call nothing end at once. Each third verdict was another one."""
    samples = [({"tests": "assert True"}, f"def double(n):\n    return {number}") for number in range(16)]
    with grader.Pool(benchmark="rows", sandbox="bubblewrap", shared=False, workers=1, cache=False) as pool:
        assert {result.careful.outcome for result in pool.grade_samples(samples)} == {Outcome.NOT_JUDGED}
