"""Measures whole commands: seconds, and CPU a distinct program. Run by `make bench`.

CPU is the whole machine's busy time (/proc/stat), so that the engine's share counts as well: run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/bench")]

import variations

PER_TASK = 20
_TICK = os.sysconf("SC_CLK_TCK")


def machine_cpu() -> float:
    """Return the machine's busy CPU seconds so far."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    return sum(int(fields[i]) for i in (0, 1, 2, 5, 6)) / _TICK


class Timer:
    """Wall and CPU seconds of a block."""

    def __enter__(self) -> Timer:
        self._start = time.perf_counter(), machine_cpu()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall = time.perf_counter() - self._start[0]
        self.cpu = machine_cpu() - self._start[1]


def available() -> list[str]:
    """Return the backends of this machine."""
    from grader.sandbox import bubblewrap, docker

    there = {"docker": docker.available(), "bubblewrap": bubblewrap.executable()}
    return [name for name, is_there in there.items() if is_there]


def _graded_file(place: Path, predictions: Path, tasks: Path, *more: str) -> Timer:
    target = place / "p.json"
    target.write_bytes(predictions.read_bytes())
    command = [sys.executable, "-m", "grader", str(target), "--data", str(tasks), "--protocol", "v1", "-q", *more]
    with Timer() as timer:
        subprocess.run(command, check=True)
    return timer


def commands(folder: Path, backends: list[str], official: Path | None) -> None:
    """Time whole commands, as a table for the README: distinct programs, the file as it is, and again from the cache.

    `official`: a checkout of HumanEval-V's evaluator, which runs the same distinct programs, without protection.
    """
    file = next(p for p in sorted(folder.glob("*.json")) if not p.stem.endswith(("_results", "_executed", "expected")))
    rows: list[tuple[str, Timer, int]] = []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        varied = place / "varied"
        variations.write(folder, PER_TASK, varied)
        number = PER_TASK * len(json.loads((varied / "predictions.json").read_bytes()))
        for backend in backends:
            options = "--no-cache", "--sandbox", backend
            _graded_file(place, file, folder / "tasks.jsonl", *options, "--limit", "1")
            distinct = _graded_file(place, varied / "predictions.json", folder / "tasks.jsonl", *options)
            # One version of Python can take a third longer than the next for the same programs.
            python = _results(place)["provenance"]["sandbox"]["python"]
            rows.append((f"{number:,} distinct programs, {backend} with Python {python}", distinct, number))
        if official is not None:
            with Timer() as timer:
                subprocess.run(
                    [sys.executable, ROOT / "tests/bench/official.py", official, varied],
                    check=True,
                    stderr=subprocess.DEVNULL,
                )
            rows.append(("the same by the official evaluator (one reading, no sandbox)", timer, number))
        as_it_is = _graded_file(place, file, folder / "tasks.jsonl", "--no-cache")
        found = _results(place)
        programs = found["provenance"]["sandbox"]["programs"]
        rows.append((f"{len(found['samples']):,} samples, {programs:,} distinct programs", as_it_is, programs))
        _graded_file(place, file, folder / "tasks.jsonl")
        rows.append(("the same from the cache", _graded_file(place, file, folder / "tasks.jsonl"), programs))
    print("\n| run | seconds | ms of CPU per distinct program |\n|---|---|---|")
    for what, timer, count in rows:
        print(f"| {what} | {timer.wall:.1f} | {1000 * timer.cpu / count:.1f} |")


def _results(place: Path) -> Any:
    return json.loads((place / "p_results.json").read_bytes())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=ROOT / "benchmarks/humaneval-v/sample")
    parser.add_argument("--official", type=Path, help="a checkout of HumanEval-V's evaluator, to time it as well")
    options = parser.parse_args()
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")
    commands(options.data, available(), options.official)


if __name__ == "__main__":
    main()
