"""A real Ray cluster on this machine: three nodes, each a raylet of its own, whose sandboxes are real."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from grader.errors import InfrastructureError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.sandbox.interface import Limits
from tests import clusters
from tests.clusters import assert_gone, children, raylets, sandboxes

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


def workers(cluster) -> list[int]:
    """Return the processes that run batches."""
    return clusters.workers(cluster, "run")


def test_a_node_that_dies_in_the_middle_changes_no_verdict(cluster, predictions, monkeypatch):
    from grader.executors import ray

    monkeypatch.setattr(ray, "BATCH", 4)  # so that every node has some of the thirty answers
    seen: list[int] = []

    def kill_one() -> None:
        seen.extend(sandboxes(clusters.workers(cluster, "")))
        dies, deadline = next(iter(cluster.worker_nodes)), time.monotonic() + 60
        stay = [raylet for node, raylet in raylets(cluster).items() if node is not dies]
        # A sandbox of a node that stays, too, at work or kept for the next task: by now, its tasks may have ended. On a
        # busy machine, it may take a while until there is one.
        while not (there := sandboxes([pid for raylet in stay for pid in children(raylet, b"ray::")])):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.kill(there[0], signal.SIGKILL)
        cluster.remove_node(dies, allow_graceful=False)

    # Most nodes have returned lint results by then, and all get answers to compute afterwards.
    watcher = Watcher("linting", 20, kill_one)
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
    # All nodes have the name of this machine.
    (node,) = got.provenance.sandbox.nodes
    assert node.verdicts > 100
    assert (node.backend, bool(node.kernel)) == ("bubblewrap", True)
    assert len(seen) > 1
    assert_gone(seen)


def _fields(cluster) -> dict[str, Any]:
    options = asked(cluster)
    return {name: getattr(options, name) for name in options.__struct_fields__}


def test_a_batch_that_loses_three_processes_is_unscored_and_leaves_no_sandbox(cluster):
    from grader.executors.ray import TRIES, open_ray
    from tests.executors.test_ray_task import JOB

    seen: set[int] = set()

    def kill_each() -> None:
        killed = 0
        while killed < TRIES:
            for pid in workers(cluster):
                if running := sandboxes([pid]):
                    seen.update(running)
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
            time.sleep(0.05)

    with open_ray(asked(cluster), Limits(), Silent()) as executor:
        killing = threading.Thread(target=kill_each, daemon=True)
        killing.start()
        endless = {**JOB, "cpu": 60.0, "wall": 600.0, "head": "while True: pass\n"}
        ((key, answer),) = executor.run([("a", endless)])
        assert (key, answer.startswith("it was lost 3 times")) == ("a", True)
        killing.join()
        ((_, answer),) = executor.run([("b", JOB)])
        assert answer["run"]["result"] == "passed"
    assert_gone([*seen])


def test_what_ray_tells_about_a_lost_process_is_not_on_standard_output(cluster, capsys):
    from grader.executors.ray import open_ray
    from tests.executors.test_ray_task import JOB

    def kill_one() -> None:
        while not (running := [pid for pid in workers(cluster) if sandboxes([pid])]):
            time.sleep(0.05)
        os.kill(running[0], signal.SIGKILL)

    told = ""
    with open_ray(asked(cluster), Limits(), Silent()) as executor:
        killing = threading.Thread(target=kill_one, daemon=True)
        killing.start()
        ((_, answer),) = executor.run([("a", {**JOB, "cpu": 5.0, "wall": 600.0, "head": "while True: pass\n"})])
        killing.join()
        assert answer["run"]["result"] == "late"
        deadline = time.monotonic() + 60
        while "worker died" not in told:
            assert time.monotonic() < deadline
            printed = capsys.readouterr()
            told += printed.err
            assert printed.out == ""
            time.sleep(0.1)


def test_an_interrupted_command_ends_every_sandbox(cluster, predictions, tmp_path):
    words = [sys.executable, "-m", "grader", str(predictions), "--data", str(SAMPLE / "tasks.jsonl"), "--no-cache"]
    words += ["--executor", "ray", "--sandbox", "bubblewrap", "--missing", "wrong"]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, cwd=ROOT) as command:
        deadline = time.monotonic() + 90
        while not (seen := sandboxes(workers(cluster))):
            assert time.monotonic() < deadline
            assert command.poll() is None
            time.sleep(0.2)
        command.send_signal(signal.SIGTERM)
        assert command.wait(60) == 130
    assert_gone(seen)


def test_without_a_cluster_the_message_says_how_to_get_one(monkeypatch):
    from grader.executors.ray import open_ray

    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    options = Options(executor="ray", cache=False)
    with (
        pytest.raises(InfrastructureError, match=r"ray start --head(.|\n)*RAY_AUTH_TOKEN"),
        open_ray(options, Limits(), Silent()),
    ):
        pass
