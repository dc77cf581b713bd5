"""Measures execution: programs a second, CPU a program, and the ratio to the floor. Run by `make bench`.

CPU is the whole machine's busy time (/proc/stat), so that the engine's share counts as well: run it on a quiet machine.
The floor is the same lint and the same exec in a bare forked process: no sandbox, no confirmation, no watch.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/bench")]

from typing import TYPE_CHECKING

import variations

from grader.data import load as data
from grader.executors.local import Local
from grader.observer import Silent
from grader.options import Options
from grader.predictions.read import read_predictions
from grader.sandbox import choice, pool
from grader.sandbox.interface import Backend, Limits
from grader.sandbox.verdict_cache import VerdictCache
from grader.scorers import declarations
from grader.scorers.execution import jobs
from grader.scorers.execution import phases as execution
from grader.scorers.execution.confirming import Confirmation
from grader.scorers.execution.known import Spool
from grader.scorers.execution.settling import Settler
from grader.scorers.execution.tasks import CodeTask, tasks_from

if TYPE_CHECKING:
    from grader.scorers.execution.declaration import ExecutionProtocol

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


def tasks_and_predictions(folder: Path, protocol: str) -> tuple[dict[str, CodeTask], dict[str, list[str]]]:
    """Read a folder with tasks.jsonl and predictions.json."""
    declared = declarations.load("humaneval-v")
    columns = ["qid", "function_signature", "test_script", "ground_truth_solution"]
    rows = data.load(declared, "test", protocol, folder / "tasks.jsonl", columns)
    files = [p for p in sorted(folder.glob("*.json")) if not p.stem.endswith(("_results", "_executed", "expected"))]
    predictions = {r.qid: r.predictions for r in read_predictions(files[0]).records}
    return tasks_from(rows, declared), predictions


def corpus(folder: Path, protocol: str) -> list[jobs.Attempt]:
    """Assemble every prediction of a folder with tasks.jsonl and predictions.json."""
    declared = declarations.load("humaneval-v").protocols[protocol].limited(2.0)
    return list(jobs.attempts(*tasks_and_predictions(folder, protocol), declared))


def distinct(attempts: list[jobs.Attempt], count: int) -> list[jobs.Attempt]:
    """Return `count` attempts of which no two are the same program."""
    from msgspec.structs import replace

    made = []
    for number in range(count):
        attempt = attempts[number % len(attempts)]
        mark = f"\n\ndef _bench_{number}():\n    return {number}\n\n"
        program = replace(attempt.program, completion=attempt.program.completion + mark)
        made.append(replace(attempt, program=program))
    return made


def run(
    attempts: list[jobs.Attempt], backend: str, *, workers: int = 2, confirm: bool = True, fresh: bool = False
) -> Timer:
    """Run the distinct programs among the attempts; nothing is taken from a cache."""
    limits = Limits()
    declared = declarations.load("humaneval-v")
    protocol = declared.protocols["v1"].limited(2.0)
    opened = choice.open_backend(Options(sandbox=backend), limits, Silent())  # type: ignore[arg-type]
    programs = {attempt.head + attempt.task.tests: attempt for attempt in attempts}
    with Timer() as timer, pool.Pool(opened, workers, 300, fresh=fresh, overlaps=True) as supervisors:
        if confirm:
            lost = _graded(list(programs.values()), opened, supervisors, protocol, limits)
        else:
            batch = ((key, jobs.run_job(a, protocol, limits, gated=False)) for key, a in programs.items())
            lost = sum(verdict.answer is None for verdict in supervisors.run(batch))
    assert not lost
    return timer


def _graded(
    attempts: list[jobs.Attempt], backend: Backend, supervisors: pool.Pool, protocol: ExecutionProtocol, limits: Limits
) -> int:
    """Grade as a run does, without a cache; return how many were lost."""
    tasks = {attempt.task.id: attempt.task for attempt in attempts}
    with Spool() as spool:
        settler = Settler(Local(backend, supervisors, VerdictCache(None), limits), Silent())
        graded = execution.Phases(Confirmation(tasks, settler, spool, limits), protocol, limits, settler, derives=True)
        samples = graded.all(attempts)
    return sum(sample.executed is None or bool(sample.apart.completion.lost) for sample in samples)


def _floor_share(programs: list[str]) -> None:
    sys.path.insert(0, str(ROOT / "sandbox_image"))
    import gc

    import numpy  # noqa: F401
    from grade_sandbox.lint.linter import Linter

    gc.disable()
    with tempfile.TemporaryDirectory() as folder:
        linter = Linter(folder)
        linter.warm()
        for number, program in enumerate(programs):
            if not linter.messages(program):
                pid = os.fork()
                if pid == 0:
                    sys.stdout = sys.stderr = open(os.devnull, "w")
                    try:
                        resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
                        exec(program, {})
                    finally:
                        os._exit(0)
                os.waitpid(pid, 0)
            if number % 64 == 63:
                linter.collect()


def floor(attempts: list[jobs.Attempt], workers: int) -> Timer:
    """Lint and exec the distinct programs in bare forks."""
    programs = list(dict.fromkeys(a.head + a.task.tests for a in attempts))
    context = multiprocessing.get_context("spawn")
    with Timer() as timer:
        shares = [context.Process(target=_floor_share, args=(programs[i::workers],)) for i in range(workers)]
        for share in shares:
            share.start()
        for share in shares:
            share.join()
    return timer


def line(name: str, timer: Timer, programs: int, base: Timer | None = None) -> None:
    """Print one row."""
    ratio = f"{timer.cpu / base.cpu:5.2f} x floor CPU" if base else ""
    print(f"{name:44} {timer.wall:7.2f} s  {programs / timer.wall:7.0f} programs/s  "
          f"{1000 * timer.cpu / programs:6.1f} ms CPU each  {ratio}", flush=True)  # fmt: skip


def _graded_file(place: Path, predictions: Path, tasks: Path, *more: str) -> Timer:
    target = place / "p.json"
    target.write_bytes(predictions.read_bytes())
    command = [sys.executable, "-m", "grader", str(target), "--data", str(tasks), "--protocol", "v1", "-q", *more]
    with Timer() as timer:
        subprocess.run(command, check=True)
    return timer


def commands(folder: Path, samples: int, programs: int, backends: list[str], official: Path | None) -> None:
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
            python = json.loads((place / "p_results.json").read_bytes())["provenance"]["sandbox"]["python"]
            rows.append((f"{number:,} distinct programs, {backend} with Python {python}", distinct, number))
        if official is not None:
            with Timer() as timer:
                subprocess.run(
                    [sys.executable, ROOT / "tests/bench/official.py", official, varied],
                    check=True,
                    stderr=subprocess.DEVNULL,
                )
            rows.append(("the same by the official evaluator (one reading, no sandbox)", timer, number))
        as_it_is = f"{samples:,} samples, {programs:,} distinct programs"
        rows.append((as_it_is, _graded_file(place, file, folder / "tasks.jsonl", "--no-cache"), programs))
        _graded_file(place, file, folder / "tasks.jsonl")
        rows.append(("the same from the cache", _graded_file(place, file, folder / "tasks.jsonl"), programs))
    print("\n| run | seconds | ms of CPU per distinct program |\n|---|---|---|")
    for what, timer, count in rows:
        print(f"| {what} | {timer.wall:.1f} | {1000 * timer.cpu / count:.1f} |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, default=ROOT / "benchmarks/humaneval-v/sample")
    parser.add_argument("--official", type=Path, help="a checkout of HumanEval-V's evaluator, to time it as well")
    parser.add_argument("--only-commands", action="store_true", help="only time whole commands")
    parser.add_argument("--full", action="store_true", help="also 16,400 programs, and a container a program")
    options = parser.parse_args()
    attempts = corpus(options.data, "v1")
    if options.data == parser.get_default("data"):
        honest = [a for a in attempts if not re.search(r"while True|sleep|mmap|fork|_exit|os\.|Exit", a.head)]
        attempts = distinct(honest, 400)
    cores = len(os.sched_getaffinity(0))
    number = len({a.head + a.task.tests for a in attempts})
    print(f"{len(attempts)} samples, {number} distinct programs, {cores} cores, load {os.getloadavg()[0]:.1f}")
    from grader.sandbox import bubblewrap, docker

    backends = [
        name for name, there in (("docker", docker.available()), ("bubblewrap", bubblewrap.executable())) if there
    ]
    if options.data != parser.get_default("data"):
        commands(options.data, len(attempts), number, backends, options.official)
    if not options.only_commands:
        _details(attempts, cores, number, backends, full=options.full)


def _details(attempts: list[jobs.Attempt], cores: int, number: int, backends: list[str], *, full: bool) -> None:
    base = floor(attempts, cores)
    line("floor: lint and exec in a bare fork", base, number)
    for backend in backends:
        line(f"{backend}, with confirmation", run(attempts, backend, workers=cores), number, base)
        line(f"{backend}, without", run(attempts, backend, workers=cores, confirm=False), number, base)
    for workers in (1, 2, 3, 4):
        line(f"{backends[0]}, {workers} workers", run(attempts, backends[0], workers=workers), number, base)
    some = attempts[:20]
    few = len({a.head + a.task.tests for a in some})
    line(f"{backends[0]}, a fresh sandbox a program", run(some, backends[0], workers=cores, fresh=True), few)
    for count in (164, 1640, *((16400,) if full else ())):
        timer = run(distinct(attempts, count), backends[0], workers=cores)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        line(f"{backends[0]}, {count} distinct programs ({peak:.0f} MB here)", timer, count)


if __name__ == "__main__":
    main()
