"""Send many distinct programs through one `Pool` from eight threads, and watch what grows. `make soak` runs it.

    python tests/bench/soak.py --programs 200000
    python tests/bench/soak.py --seconds 600

It prints one line at each step and a summary, also after Ctrl-C, and exits 1 where memory grows, a verdict is missing
or wrong, or a process of the pool is left.
"""

import argparse
import itertools
import json
import signal
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import grader
from tests.bench.variations import varied

SAMPLE = ROOT / "benchmarks" / "humaneval-v" / "sample"
THREADS = 8
BATCH = 16
EVERY_SECONDS = 20.0
MOST_GROWTH = 8 << 10
"""Bytes a program that memory may grow by in the second half: a kept result has more."""
ALLOWED = 64 << 20
"""Growth in the second half that no slope is made of: sandboxes start again and again."""


class Point(NamedTuple):
    programs: int
    pool_bytes: int
    sandbox_bytes: int
    descriptors: int
    sandboxes: int


def corpus() -> list[tuple[str, str, str]]:
    """Return (qid, text, careful outcome) of sample programs that end by themselves, right ones and wrong ones."""
    predictions = json.loads((SAMPLE / "predictions.json").read_text())
    pairs = [(record["qid"], text) for record in predictions for text in record["predictions"]]
    with grader.Pool(benchmark="humaneval-v", data=SAMPLE / "tasks.jsonl", shared=False) as pool:
        results = pool.grade_samples(pairs)
    quick = {"passed", "failed", "error"}
    return [
        (qid, text, result.careful.outcome.value)
        for (qid, text), result in zip(pairs, results, strict=True)
        if result.careful.outcome.value in quick and result.seconds < 0.5
    ]


def processes_below(pid: int) -> list[int]:
    found = []
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        try:
            children = [int(child) for child in (thread / "children").read_text().split()]
        except OSError:
            continue
        found += [*children, *(below for child in children for below in processes_below(child))]
    return found


def resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    except (OSError, IndexError):
        return 0


def containers(pid: int) -> list[int]:
    """Return the pids of the first processes of the containers that belong to a grader, where Docker is used."""
    try:
        import docker

        from grader.sandbox.docker import OWNER_LABEL

        listed = docker.from_env().containers.list(filters={"label": OWNER_LABEL}, ignore_removed=True)
    except Exception:
        return []
    return [c.attrs["State"]["Pid"] for c in listed if c.labels[OWNER_LABEL].split("/")[1] == f"{pid}"]


def point(programs: int, pid: int) -> Point:
    tops = containers(pid)
    below = [*processes_below(pid), *tops, *(p for top in tops for p in processes_below(top))]
    descriptors = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return Point(programs, resident(pid), sum(map(resident, below)), descriptors, len(below))


class Run:
    """Threads that send programs until there are enough of them, or the time is over."""

    def __init__(self, pool: grader.Pool, programs: int, seconds: float) -> None:
        self.pool, self.programs, self.deadline = pool, programs, time.monotonic() + seconds
        self.texts = corpus()
        self.numbers = itertools.count()
        self.lock = threading.Lock()
        self.done, self.wrong = 0, []

    def end(self) -> None:
        """Send no more programs. Those that were sent are finished."""
        self.deadline = 0.0

    def send(self) -> None:
        while time.monotonic() < self.deadline:
            with self.lock:
                numbers = list(itertools.islice(self.numbers, BATCH))
            if numbers[0] >= self.programs:
                return
            chosen = [self.texts[number % len(self.texts)] for number in numbers]
            pairs = [(qid, varied(text, n)) for (qid, text, _), n in zip(chosen, numbers, strict=True)]
            for result, (_, _, expected) in zip(self.pool.grade_samples(pairs), chosen, strict=True):
                if result.careful.outcome.value != expected:
                    self.wrong.append((result.qid, expected, result.careful))
            with self.lock:
                self.done += len(pairs)


def soak(programs: int, seconds: float, sandbox: str) -> int:
    with grader.Pool(
        benchmark="humaneval-v", data=SAMPLE / "tasks.jsonl", sandbox=sandbox, shared=False, cache=False
    ) as pool:
        run = Run(pool, programs, seconds)
        pid = pool.state().pid
        began = time.monotonic()
        threads = [threading.Thread(target=run.send) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        points, due = [], began
        signal.signal(signal.SIGINT, lambda *_: run.end())
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.2)
            if time.monotonic() >= due:
                points.append(point(run.done, pid))
                print(*points[-1], f"{time.monotonic() - began:.0f}s", sep="\t", flush=True)
                due = time.monotonic() + EVERY_SECONDS
        took = time.monotonic() - began
        points.append(point(run.done, pid))
        state = pool.state()
    time.sleep(2)
    left = [*processes_below(pid), *containers(pid)] + ([pid] if Path(f"/proc/{pid}").exists() else [])
    return verdict(points, run, took, state.outcomes, left)


def slope(points: list[Point], field: str) -> float:
    """Return bytes a program in the second half, by least squares."""
    half = [p for p in points if p.programs >= points[-1].programs / 2] or points
    if len({p.programs for p in half}) < 3:
        return 0.0
    return float(np.polyfit([p.programs for p in half], [getattr(p, field) for p in half], 1)[0])


def verdict(points: list[Point], run: Run, took: float, outcomes: dict[str, int], left: list[int]) -> int:
    slopes = {field: slope(points, field) for field in ("pool_bytes", "sandbox_bytes")}
    print(f"{run.done} programs in {took:.0f} s from {THREADS} threads ({run.done / took:.1f} a second): {outcomes}")
    for field, value in slopes.items():
        end = getattr(points[-1], field) >> 20
        print(f"{field}: {end} MB at the end, {value:+.1f} bytes a program in the second half")
    print(
        f"descriptors {points[0].descriptors} -> {points[-1].descriptors}; wrong verdicts {len(run.wrong)}; left {left}"
    )
    for found in run.wrong[:5]:
        print("wrong:", found)
    second = run.done / 2
    grown = [field for field, value in slopes.items() if value > MOST_GROWTH and value * second > ALLOWED]
    return 1 if grown or run.wrong or left else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=200_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--sandbox", default="auto")
    given = parser.parse_args()
    return soak(given.programs, given.seconds, given.sandbox)


if __name__ == "__main__":
    sys.exit(main())
