"""Measures what a cluster costs, and how far one driver goes: the numbers of docs/scale.md.

`python tests/bench/scale.py driver` needs no cluster: the real dispatcher hands jobs to simulated nodes. The clock
is simulated as well: it is the CPU time of this process plus the time that it would have waited, so that the load
of the machine does not count.

`python tests/bench/scale.py ray --address A` measures a batch's way to one node of a cluster and back.
`python tests/bench/scale.py cache` measures the cache of verdicts.
`python tests/bench/scale.py overhead --data FOLDER --address A` grades the programs of a folder on this machine, with
and without a cluster of one node, by turns. `tests/bench/variations.py` makes such a folder.
`python tests/bench/scale.py run` grades distinct programs of HumanEval-V's sample on this machine, or with
`--address A` on a cluster (`local`: one that it starts), and measures the driver's CPU time.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT)]

from grader import grading
from grader.executors import dispatch, node
from grader.executors.dispatch import Dispatcher, NodeHandle
from grader.executors.messages import Exchanged, Parcel, pack
from grader.observer import Silent
from grader.options import Options
from grader.sandbox import verdict_cache
from grader.sandbox.interface import Limits
from grader.sandbox.tickets import Verdict
from grader.sandbox.verdict_cache import VerdictCache
from tests.bench.variations import variations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grade_sandbox.jobs import Job

JOB_CHARACTERS, ANSWER_CHARACTERS = 4000, 1500
"""Of a typical job and a typical answer of HumanEval-V."""


def job(number: int) -> Any:
    """Return a job of typical size, unlike every other."""
    return {"id": 0, "answer": {"signature": "def solution(a):", "candidate": f"{number}" + "x" * JOB_CHARACTERS}}


class Clock:
    """The simulated time: the dispatcher's CPU time, plus what it waits."""

    def __init__(self) -> None:
        self.waited = self.calls = 0.0

    def now(self) -> float:
        """Return the simulated time."""
        return time.process_time() + self.waited + self.calls


class Simulated:
    """A wire to nodes that take `seconds` a job on each worker, each call costing the driver `call_seconds`."""

    def __init__(self, clock: Clock, seconds: float, call_seconds: float) -> None:
        self._clock, self._seconds, self._call_seconds = clock, seconds, call_seconds
        self._free: dict[str, list[float]] = {}
        self._done: dict[str, list[tuple[float, str]]] = {}
        self._calls: dict[int, tuple[NodeHandle, float]] = {}
        self._numbers = itertools.count()
        self.busy = 0.0
        self.exchanges = 0

    def call(self, node_: NodeHandle, parcels: list[Parcel], *, last: bool) -> int:
        """Give jobs to the first free workers of a node; the reply comes as `Node.exchange` would send it."""
        self._clock.calls += self._call_seconds
        self.exchanges += 1
        msgspec.msgpack.encode(parcels)
        now = self._clock.now()
        free = self._free.setdefault(node_.name, [now] * node_.workers)
        done = self._done.setdefault(node_.name, [])
        for parcel in parcels:
            end = max(now, heapq.heappop(free)) + self._seconds
            heapq.heappush(free, end)
            heapq.heappush(done, (end, parcel.number))
            self.busy += self._seconds
        flush = max(now, done[0][0]) + node.FLUSH_SECONDS if done else now + node.REPLY_SECONDS
        latest = max((end for end, _ in done), default=now)
        number = next(self._numbers)
        self._calls[number] = node_, min(flush, max(latest, now), now + node.REPLY_SECONDS)
        return number

    def ready(self, calls: Any, timeout: float) -> list[int]:
        """Wait for the first reply on the simulated clock."""
        due = min(self._calls[call][1] for call in calls)
        self._clock.waited += max(0.0, due - self._clock.now())
        now = self._clock.now()
        return [call for call in calls if self._calls[call][1] <= now]

    def result(self, call: int) -> Exchanged:
        """Return what is done by now."""
        node_, _ = self._calls.pop(call)
        done, now, verdicts = self._done[node_.name], self._clock.now(), []
        while done and done[0][0] <= now:
            answer = {"id": 0, "answer": {"replies": ["y" * ANSWER_CHARACTERS]}}
            verdicts.append(pack(Verdict(key=heapq.heappop(done)[1], answer=answer)))
        return Exchanged(verdicts=verdicts, aside=0)

    def end(self, node_: NodeHandle) -> None:
        """No node is lost here."""


def driver(options: argparse.Namespace) -> None:
    """Print how one driver keeps a growing number of nodes busy."""
    print(
        f"{options.workers} workers a node, {options.seconds * 1000:.0f} ms a job, {options.call * 1000:.2f} ms a call"
    )
    print("nodes  jobs/s  of the ideal  driver busy  driver ms a job  jobs an exchange")
    for count in options.nodes:
        clock = Clock()
        dispatch.time = node.time = type("time", (), {"monotonic": staticmethod(clock.now)})  # type: ignore[assignment]
        wire = Simulated(clock, options.seconds, options.call)
        number = max(5000, int(options.length * count * options.workers / options.seconds))
        number = min(number, options.most)
        cache = Kept()
        began, cpu = clock.now(), time.process_time() + clock.calls
        handles = [NodeHandle(f"n{index}", options.workers) for index in range(count)]
        for _ in Dispatcher(handles, wire, Silent()).run(cache.keyed(number)):
            pass
        wall, used = clock.now() - began, time.process_time() + clock.calls - cpu
        ideal = count * options.workers / options.seconds
        print(
            f"{count:5}  {number / wall:6.0f}  {100 * number / wall / ideal:10.0f} %  {100 * used / wall:9.0f} %"
            f"  {1000 * used / number:15.3f}  {number / wire.exchanges:16.1f}"
        )


class Kept:
    """What the driver does for a job beside handing it out: its name in the cache."""

    def keyed(self, number: int) -> Iterator[tuple[str, Job]]:
        """Yield jobs with their names."""
        limits = Limits()
        for index in range(number):
            made = job(index)
            yield verdict_cache.key(made, "scale", limits), made


def cache(options: argparse.Namespace) -> None:
    """Print what the cache of verdicts takes: the disk's share is in the wall time."""
    answer = {"id": 0, "answer": {"replies": ["y" * ANSWER_CHARACTERS]}}
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


class Echo:
    """An actor that does nothing, to measure the way."""

    def exchange_data(self, parcels: bytes, *, last: bool) -> bytes:
        """Give a verdict for every job at once."""
        answer = {"id": 0, "answer": {"replies": ["y" * ANSWER_CHARACTERS]}}
        numbers = [parcel.number for parcel in msgspec.msgpack.decode(parcels, type=list[Parcel])]
        verdicts = [pack(Verdict(key=number, answer=answer)) for number in numbers]
        return msgspec.msgpack.encode(Exchanged(verdicts=verdicts, aside=0))


def ray_(options: argparse.Namespace) -> None:
    """Print what a batch's way costs the driver, by its size."""
    import ray

    from grader.executors.nodes import RayWire

    ray.init(address=options.address, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}})
    handle, wire = NodeHandle("n", 1, ray.remote(Echo).options(num_cpus=0).remote()), RayWire()
    print("jobs a batch  wall ms a batch  driver's CPU ms a batch  a job")
    for size in (0, 1, 8, 64, 512):
        parcels = [Parcel(number=str(n), job=pack(job(n))) for n in range(size)]
        wire.result(wire.call(handle, parcels, last=False))
        times = max(20, 2000 // max(size, 10))
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(times):
            (call,) = wire.ready([wire.call(handle, parcels, last=False)], 60)
            wire.result(call)
        wall, cpu = (time.perf_counter() - wall) / times * 1000, (time.process_time() - cpu) / times * 1000
        print(f"{size:12}  {wall:15.2f}  {cpu:23.2f}  {cpu / max(size, 1):5.3f}")
    ray.shutdown()


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
        more: dict[str, list[str]] = {"local": [], "ray": ["--executor", "ray", "--ray-address", options.address]}
        for _ in range(options.rounds):
            for name, walls in times.items():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                start = time.perf_counter()
                subprocess.run([*words, *more[name]], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
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
    parser.add_argument("what", choices=["driver", "cache", "ray", "overhead", "run"])
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 3, 10, 30, 100])
    parser.add_argument("--workers", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=0.03, help="that a job takes in a sandbox")
    parser.add_argument("--call", type=float, default=0.001, help="that a call costs the driver: see `ray`")
    parser.add_argument("--length", type=float, default=10, help="seconds that a simulated run lasts, at best")
    parser.add_argument("--most", type=int, default=100_000, help="jobs of a simulated run, at most")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--address", default="auto", help="of the cluster; `run` uses this machine without it")
    parser.add_argument("--data", type=Path, help="of `overhead`: a folder with tasks.jsonl and predictions.json")
    parser.add_argument("--sandbox", default="docker", help="of `overhead`")
    parser.add_argument("--rounds", type=int, default=3, help="of `overhead`")
    parser.add_argument("--programs", type=int, default=80, help="of `run`")
    options = parser.parse_args()
    each = {"driver": driver, "cache": cache, "ray": ray_, "overhead": overhead, "run": run}
    each[options.what](options)


if __name__ == "__main__":
    main()
