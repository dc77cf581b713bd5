"""A pool whose samples run on the nodes of a real Ray cluster: same results, whatever happens to a node."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.results import Outcome, SampleResult
from tests import clusters
from tests.clusters import NODE, assert_gone, children, raylets, sandboxes

pytestmark = clusters.MARKS
SAMPLE = Path(__file__).parents[2] / "benchmarks" / "humaneval-v" / "sample"
ROW = {"tests": "assert double(3) == 6\nassert double(4) == 8"}
QUICK, WRONG = "def double(n):\n    return 2 * n  # {}", "def double(n):\n    return 2 * n + 1  # {}"
ENDLESS = "def double(n):\n    while True:\n        n += {}"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with clusters.three_nodes() as made:
        yield made


def actors(cluster: Any) -> list[int]:
    return clusters.actors(cluster, "SamplesNode")


def opened(cluster: Any, **more: Any) -> grader.Pool:
    given = {"benchmark": "rows", "timeout": 1, "cache": False} | more
    return grader.Pool(executor="ray", ray_address=cluster.address, sandbox="bubblewrap", shared=False, **given)


def verdicts(results: list[SampleResult]) -> list[Any]:
    return [(result.qid, result.sample, result.careful, result.official, result.calls) for result in results]


def test_results_are_those_of_one_machine_and_every_node_scores_samples(cluster: Any) -> None:
    """The tasks of the benchmark are read here, and a row brings its own; the node needs neither file."""
    records = json.loads((SAMPLE / "predictions.json").read_text())[:4]
    samples: list[Any] = [(record["qid"], text) for record in records for text in record["predictions"][:2]]
    samples += [("no such task", "x"), {"row": {}, "text": "x"}, {"qid": "q1", "text": "def", "official": True}]
    tasks: dict[str, Any] = {"benchmark": "humaneval-v", "data": SAMPLE / "tasks.jsonl"}
    with opened(cluster, **tasks) as pool:
        results = pool.grade_samples(samples)
        nodes = pool.state().nodes
    assert list(nodes.values()) == [""] * 3
    with grader.Pool(sandbox="bubblewrap", shared=False, timeout=1, cache=False, **tasks) as pool:
        assert verdicts(results) == verdicts(pool.grade_samples(samples))


def test_results_of_quick_programs_come_first_and_each_sample_has_its_own_deadline(cluster: Any) -> None:
    endless = [(ROW, ENDLESS.format(number)) for number in range(8)]
    late = {"row": ROW, "text": ENDLESS.format(99), "wait": 1}
    quick = [(ROW, (QUICK, WRONG)[number % 2].format(number)) for number in range(20)]
    with opened(cluster, timeout=30) as pool:
        found: dict[int, SampleResult] = {}
        for place, result in pool.as_completed([*endless, late, *quick]):
            found[place] = result
            if len(found) == 21:
                break
    assert found.keys() == {*range(8, 29)}
    assert found[8].careful.outcome is Outcome.UNSCORED
    assert "not scored within 1 seconds" in found[8].careful.detail
    assert [found[place].careful.credit for place in range(9, 29)] == [1, 0] * 10


def test_nodes_actors_and_sandboxes_that_die_change_no_reward_and_no_sandbox_is_left(cluster: Any) -> None:
    programs = [((QUICK, QUICK, WRONG)[number % 3]).format(number) for number in range(240)]
    with opened(cluster) as pool:
        pool.grade_samples([(ROW, QUICK.format("warm"))])
        seen = sandboxes(actors(cluster))
        kills = iter([kill_a_sandbox, kill_an_actor, remove_a_node])
        found: dict[int, SampleResult] = {}
        for place, result in pool.as_completed([(ROW, text) for text in programs]):
            found[place] = result
            if len(found) in {20, 60, 110}:
                seen += sandboxes(actors(cluster))
                next(kills)(cluster)
        state = pool.state()
    assert [found[place].careful.credit for place in range(240)] == [1, 1, 0] * 80
    assert [found[place].careful.outcome for place in range(240)].count(Outcome.UNSCORED) == 0
    assert any(why.startswith("lost: ") for why in state.nodes.values())
    assert state.repeated > 0
    assert_gone([*actors(cluster), *seen])
    cluster.add_node(**NODE)


def kill_a_sandbox(cluster: Any) -> None:
    os.kill(sandboxes(actors(cluster))[0], signal.SIGKILL)


def kill_an_actor(cluster: Any) -> None:
    os.kill(children(raylets(cluster)[cluster.head_node], b"ray::SamplesNode")[0], signal.SIGKILL)


def remove_a_node(cluster: Any) -> None:
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)


def test_a_killed_pool_leaves_no_sandbox_on_any_node(cluster: Any) -> None:
    with opened(cluster) as pool:
        pool.grade_samples([(ROW, QUICK.format("once"))])
        seen = [*actors(cluster), *sandboxes(actors(cluster))]
        assert len(seen) >= 6
        os.kill(pool.state().pid, signal.SIGKILL)
        assert_gone(seen)
        # The next call starts another one.
        assert pool.grade_samples([(ROW, QUICK.format("again"))])[0].careful.credit == 1
