"""Measures what a cluster and the cache cost: numbers of docs/scale.md.

`python tests/bench/scale.py cache` measures the cache of verdicts.
`python tests/bench/scale.py overhead --data FOLDER --address A` grades the programs of a folder on this machine, with
and without a cluster of one node, by turns. `tests/bench/variations.py` makes such a folder.
`python tests/bench/scale.py run` grades distinct programs of HumanEval-V's sample on this machine, or with
`--address A` on a cluster (`local`: one that it starts), and measures the driver's CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT)]

from grader import grading
from grader.observer import Silent
from grader.options import Options
from grader.sandbox import verdict_cache
from grader.sandbox.interface import Limits
from grader.sandbox.verdict_cache import VerdictCache
from tests.bench.variations import variations

JOB_CHARACTERS, ANSWER_CHARACTERS = 4000, 1500
"""Of a typical job and a typical answer of HumanEval-V."""


def job(number: int) -> Any:
    """Return a job of typical size, unlike every other."""
    return {"id": 0, "answer": {"signature": "def solution(a):", "candidate": f"{number}" + "x" * JOB_CHARACTERS}}


def cache(options: argparse.Namespace) -> None:
    """Print what the cache of verdicts takes: the disk's share is in the wall time."""
    answer = {"id": 0, "answer": {"said": "y" * ANSWER_CHARACTERS}}
    names = [verdict_cache.key(job(index), "scale", Limits()) for index in range(options.rows)]
    with tempfile.TemporaryDirectory() as folder:
        kept = VerdictCache(Path(folder) / "cache.sqlite3")
        for what, do in (
            ("put", lambda name: kept.put(name, answer)),
            ("get", lambda name: kept.get([name])),
            ("has", kept.has),
        ):
            wall, cpu = time.perf_counter(), time.process_time()
            for name in names:
                do(name)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            print(f"{what}: {1000 * wall / len(names):.3f} ms, {1000 * cpu / len(names):.3f} ms of CPU a verdict")
        kept.close()


def overhead(options: argparse.Namespace) -> None:
    """Print the times of whole commands, on this machine alone and through a cluster of one node."""
    source = options.data / "predictions.json"
    programs = sum(len(record["predictions"]) for record in json.loads(source.read_text(encoding="utf-8")))
    times: dict[str, list[float]] = {"local": [], "ray": []}
    cpu: dict[str, list[float]] = {"local": [], "ray": []}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "predictions.json"
        target.write_bytes(source.read_bytes())
        words = [sys.executable, "-m", "grader", str(target), "--data", str(options.data / "tasks.jsonl")]
        words += ["--protocol", "v1", "--no-cache", "-q", "--sandbox", options.sandbox]
        more: dict[str, list[str]] = {"local": [], "ray": ["--executor", "ray"]}
        for _ in range(options.rounds):
            for name, walls in times.items():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                start = time.perf_counter()
                environment = os.environ | ({} if options.address == "auto" else {"RAY_ADDRESS": options.address})
                subprocess.run([*words, *more[name]], check=True, stdout=subprocess.DEVNULL, cwd=ROOT, env=environment)
                walls.append(time.perf_counter() - start)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"{programs} programs, {options.rounds} runs each, by turns; median seconds")
    for name, walls in times.items():
        said = f"{statistics.median(walls):7.2f} s  (from {min(walls):.2f} to {max(walls):.2f})"
        print(f"{name:6} {said}  {statistics.median(cpu[name]):6.2f} s of CPU in the command itself, and its children")
    ratio = statistics.median(times["ray"]) / statistics.median(times["local"])
    print(f"the cluster takes {100 * (ratio - 1):+.1f} % more time")


SAMPLE = ROOT / "benchmarks/humaneval-v/sample"


def run(options: argparse.Namespace) -> None:
    """Print the driver's CPU time for a whole run, with the start of the sandboxes here or on the nodes."""
    records = json.loads((SAMPLE / "predictions.json").read_text(encoding="utf-8"))
    place: dict[str, Any] = {}
    if options.address != "auto":
        import ray

        # The time of the import and of the connection does not count.
        environment = {"env_vars": {"PYTHONPATH": str(ROOT)}}
        ray.init(address=options.address, log_to_driver=False, runtime_env=environment)
        place = {"executor": "ray"}
    with tempfile.TemporaryDirectory() as folder:
        # The first run loads the modules, and its time does not count.
        for count, where in ((1, {}), (options.programs // len(records), place)):
            made = [{"qid": r["qid"], "predictions": variations(r["predictions"][:1], count)} for r in records]
            path = Path(folder) / "predictions.json"
            path.write_text(json.dumps(made), encoding="utf-8")
            asked = Options(data=SAMPLE / "tasks.jsonl", sandbox="bubblewrap", cache=False, **where)
            wall, cpu = time.perf_counter(), time.process_time()
            graded = grading.grade(path, asked, Silent())
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    number = len(graded.report.samples)
    print(f"{number} programs: {wall:.1f} s, {cpu:.2f} s of the driver's CPU, {1000 * cpu / number:.1f} ms a program")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["cache", "overhead", "run"])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--address", default="auto", help="of the cluster; `run` uses this machine without it")
    parser.add_argument("--data", type=Path, help="of `overhead`: a folder with tasks.jsonl and predictions.json")
    parser.add_argument("--sandbox", default="docker", help="of `overhead`")
    parser.add_argument("--rounds", type=int, default=3, help="of `overhead`")
    parser.add_argument("--programs", type=int, default=80, help="of `run`")
    options = parser.parse_args()
    each = {"cache": cache, "overhead": overhead, "run": run}
    each[options.what](options)


if __name__ == "__main__":
    main()
