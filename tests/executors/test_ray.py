"""A real Ray cluster on this machine: three nodes, each a raylet of its own, whose sandboxes are real."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grader.errors import InfrastructureError
from grader.executors import dispatch
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.sandbox.interface import Limits
from tests import clusters
from tests.clusters import NODE, assert_gone, children, raylets, sandboxes

pytestmark = clusters.MARKS
ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "benchmarks/humaneval-v/sample"


@pytest.fixture(scope="module")
def cluster():
    with clusters.three_nodes() as made, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", made.address)
        yield made


@pytest.fixture
def predictions(tmp_path) -> Path:
    """Some thirty different programs of the sample that end soon."""
    slow = re.compile(r"while True|sleep|mmap|fork|_exit|os\.|Exit")
    records = json.loads((SAMPLE / "predictions.json").read_text())
    for record in records:
        texts = [text for text in record["predictions"] if not slow.search(text)][:2]
        record["predictions"] = [
            text.replace("def solution(", f"def _n():\n    return {n}\n\n\ndef solution(", 1)
            for text in texts
            for n in range(2)
        ]
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps([record for record in records if record["predictions"]]))
    return path


class Watcher(Silent):
    """Counts, and does something once after so many steps of a phase."""

    def __init__(self, phase: str = "", steps: int = 0, do: Any = None) -> None:
        self.wanted, self.steps, self.do = phase, steps, do
        self.now, self.done, self.totals, self.warnings = "", Counter(), Counter(), []

    def phase(self, name, total):
        self.now = name
        self.totals[name] += total or 0

    def advance(self, steps=1, *, passed=0):
        self.done[self.now] += steps
        if self.do is not None and self.now == self.wanted and self.done[self.now] >= self.steps:
            do, self.do = self.do, None
            do()

    def warning(self, text):
        self.warnings.append(text)


def asked(cluster, **more: Any) -> Options:
    given = {"sandbox": "bubblewrap", "cache": False, "missing": "wrong", "data": SAMPLE / "tasks.jsonl"}
    return Options(**given | {"executor": "ray"} | more)


def verdicts(report) -> list[Any]:
    read = [(s.qid, s.sample, s.official, s.careful) for s in report.samples]
    return [(q, n, o.outcome, o.credit, o.detail, c.outcome, c.credit, c.detail) for q, n, o, c in read]


def actors(cluster) -> list[int]:
    return clusters.actors(cluster, "Node")


def test_a_node_that_dies_in_the_middle_changes_no_verdict(cluster, predictions, monkeypatch):
    monkeypatch.setattr(dispatch, "BATCH", 4)  # so that every node has some of the thirty answers
    seen: list[int] = []

    def kill_one() -> None:
        seen.extend(sandboxes(actors(cluster)))
        # A sandbox of a node that stays, too.
        os.kill(sandboxes(children(raylets(cluster)[cluster.head_node], b"ray::Node"))[0], signal.SIGKILL)
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)

    # Every node has returned lint results by then, and gets answers to compute afterwards: its loss has to be noticed.
    watcher = Watcher("running references", 1, kill_one)
    got = grade(predictions, asked(cluster), watcher).report
    expected = grade(predictions, Options(**{**_fields(cluster), "executor": "local"}), Silent())
    assert verdicts(got) == verdicts(expected.report)
    assert {metric.name: metric.value for metric in got.metrics} == {
        metric.name: metric.value for metric in expected.report.metrics
    }
    assert got.unscored == 0
    # None is lost, and none is counted twice.
    phases = ("linting", "recording calls", "answering", "judging", "running official tests")
    assert {name: watcher.done[name] for name in phases} == {name: watcher.totals[name] for name in phases}
    assert all(watcher.done[name] for name in phases)
    nodes = got.provenance.sandbox.nodes
    assert len(nodes) == 3
    assert [bool(node.lost) for node in nodes].count(True) == 1
    assert all(node.verdicts and node.kernel and node.backend == "bubblewrap" for node in nodes)
    assert any("was lost" in text and "run elsewhere" in text for text in watcher.warnings)
    assert len(seen) == 3
    assert_gone(seen)


def _fields(cluster) -> dict[str, Any]:
    options = asked(cluster)
    return {name: getattr(options, name) for name in options.__struct_fields__}


def test_killed_actors_leave_no_sandbox_and_what_is_done_is_in_the_cache(cluster, predictions, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    seen: list[int] = []

    def kill_all() -> None:
        pids = actors(cluster)
        seen.extend(sandboxes(pids))
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    watcher = Watcher("answering", 10, kill_all)
    with pytest.raises(InfrastructureError, match="No node of the cluster is left") as raised:
        grade(predictions, asked(cluster, cache=True), watcher)
    assert raised.value.exit_code == 3
    assert seen
    assert_gone(seen)
    report = grade(predictions, asked(cluster, cache=True), Silent()).report
    assert report.provenance.sandbox.verdicts_from_cache == report.provenance.sandbox.programs
    assert report.unscored == 0


def test_an_interrupted_command_ends_every_sandbox(cluster, predictions, tmp_path):
    words = [sys.executable, "-m", "grader", str(predictions), "--data", str(SAMPLE / "tasks.jsonl"), "--no-cache"]
    words += ["--executor", "ray", "--sandbox", "bubblewrap", "--missing", "wrong"]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, cwd=ROOT) as command:
        deadline = time.monotonic() + 90
        while not (seen := sandboxes(actors(cluster))):
            assert time.monotonic() < deadline
            assert command.poll() is None
            time.sleep(0.2)
        command.send_signal(signal.SIGTERM)
        assert command.wait(60) == 130
    assert_gone(seen)


def test_a_node_that_cannot_run_programs_is_left_out_with_its_reason(cluster, tmp_path):
    from grader.executors.ray import open_ray

    nothing, forbidden = tmp_path / "nothing", tmp_path / "forbidden"
    nothing.mkdir()
    forbidden.mkdir()
    said = "bwrap: No permissions to create new namespace, likely because the kernel does not allow it"
    forbidden.joinpath("bwrap").write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    forbidden.joinpath("bwrap").chmod(0o755)
    engine = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}
    added = [
        cluster.add_node(**NODE, env_vars={**engine, "PATH": str(nothing)}, wait=False),
        cluster.add_node(**NODE, env_vars={**engine, "PATH": f"{forbidden}:{os.environ['PATH']}"}),
    ]
    cluster.wait_for_nodes()
    watcher = Watcher()
    try:
        with open_ray(asked(cluster, sandbox="auto"), Limits(), watcher) as executor:
            nodes = executor.describe().nodes
            assert len([node for node in nodes if not node.lost]) >= 1
            assert len([node for node in nodes if node.lost]) == 2
    finally:
        for node in added:
            cluster.remove_node(node)
    first, second = sorted(watcher.warnings, key=lambda text: said in text)
    assert "is left out: There is nothing to run untrusted code in" in first
    assert said in second
    assert "seccompProfile" in second
    assert all(re.match(r"Node \S+ \(\S+, [0-9a-f]{8}\) is left out", text) for text in (first, second))


def test_without_a_cluster_the_message_says_how_to_get_one(monkeypatch):
    from grader.executors.ray import open_ray

    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    options = Options(executor="ray", cache=False)
    with (
        pytest.raises(InfrastructureError, match=r"ray start --head(.|\n)*RAY_AUTH_TOKEN"),
        open_ray(options, Limits(), Silent()),
    ):
        pass
