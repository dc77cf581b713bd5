"""What a training run can expect of a pool: `python tests/bench/rewards.py WHAT`.

quick    20 quick samples beside 16 endless ones: the order of the results, and their times
behind   16 endless samples, and half a second later 20 quick ones, one after the other: the time of the slowest quick
         one, and until the 16 are done
wrapper  64 right programs and 12 endless ones, one call each with 15 s and four tries, then 0, as AReaL's wrapper does
stream   1,024 mixed programs in a warm pool: when the first result and half of them are there
flat     20,000 programs of which 5 % are endless (limit 0.3 s): the memory of the pool's process at each quarter;
         exits 1 if the last quarter adds more than 2.5 MB, or a sample is unscored. (It adds 3 MB in a
         pool that forgets no results.)
cores    cores that grade 1,000 prompts x 16 in a minute, by share of endless programs and limit, from CPU times
"""

import argparse
import asyncio
import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grader

ROW = {"tests": "assert double(3) == 6\nassert double(4) == 8"}
QUICK = "def double(n):\n    return 2 * n  # {}"
ENDLESS = "def double(n):\n    while True:\n        n += {}"
MB = 1 << 20
TICKS = os.sysconf("SC_CLK_TCK")


def mixed(count: int, endless: float) -> list[tuple[Any, str]]:
    """Return distinct programs, evenly mixed."""
    every = round(1 / endless) if endless else count + 1
    return [(ROW, (QUICK if (n + 1) % every else ENDLESS).format(n)) for n in range(count)]


def warm(pool: grader.Pool) -> None:
    pool.grade_samples([(ROW, QUICK.format(f"warm {n}")) for n in range(64)])


def quick(pool: grader.Pool) -> None:
    samples = [(ROW, ENDLESS.format(n)) for n in range(16)] + [(ROW, QUICK.format(n)) for n in range(20)]
    pid = pool.state().pid
    began, used, quick_ones, endless = time.monotonic(), cpu_of(pid), 0, 0
    for place, _ in pool.as_completed(samples):
        quick_ones, endless = quick_ones + (place >= 16), endless + (place < 16)
        if quick_ones == 20:
            break
    took, used = time.monotonic() - began, cpu_of(pid) - used
    print(f"{endless} endless results came before the last quick one, which came after {took:.2f} s. The pool used "
          f"{used:.2f} s of CPU until then (all of it with --sandbox bubblewrap).")  # fmt: skip


def behind(pool: grader.Pool) -> None:
    began, times = time.monotonic(), []
    with ThreadPoolExecutor(1) as threads:
        endless = threads.submit(pool.grade_samples, [(ROW, ENDLESS.format(n)) for n in range(16)])
        time.sleep(0.5)
        for number in range(20):
            start = time.monotonic()
            pool.grade_samples([(ROW, QUICK.format(number))])
            times.append(time.monotonic() - start)
        outcomes = Counter(result.careful.outcome.value for result in endless.result())
    took, median = time.monotonic() - began, sorted(times)[9]
    print(f"the slowest of 20 quick samples took {max(times):.2f} s, half of them at most {median:.3f} s; the 16 "
          f"endless ones were done after {took:.1f} s ({dict(outcomes)})")  # fmt: skip


def wrapper(pool: grader.Pool) -> None:
    async def reward(sample: tuple[Any, str]) -> float:
        for _ in range(4):
            try:
                (result,) = await asyncio.wait_for(pool.grade_samples_async([sample]), 15)
            except TimeoutError:
                continue
            return result.careful.credit
        return 0.0

    async def every() -> list[float]:
        return await asyncio.gather(*map(reward, mixed(76, 12 / 76)))

    rewards = asyncio.run(every())
    endless = sum("while" in text for _, text in mixed(76, 12 / 76))
    print(f"mean reward {sum(rewards) / 76:.4f}; {76 - endless}/76 is {(76 - endless) / 76:.4f}")


def stream(pool: grader.Pool) -> None:
    began = time.monotonic()
    times = [time.monotonic() - began for _ in pool.as_completed(mixed(1024, 0.05))]
    print(f"first result after {times[0]:.2f} s, half of them after {times[512]:.2f} s, all after {times[-1]:.2f} s")


def flat(pool: grader.Pool) -> None:
    sizes = [pool.state().memory_bytes]
    outcomes = Counter[str]()
    print(f"at the start: {sizes[0] / MB:.1f} MB", flush=True)
    for part in range(20):
        samples = [(row, f"{text}  # {part}") for row, text in mixed(1000, 0.05)]
        outcomes.update(result.careful.outcome.value for result in pool.grade_samples(samples))
        if part % 5 == 4:
            sizes.append(pool.state().memory_bytes)
            print(f"{outcomes.total():6} programs: {sizes[-1] / MB:.1f} MB, {dict(outcomes)}", flush=True)
    if sizes[-1] - sizes[-2] > 2.5 * MB or outcomes["unscored"]:
        raise SystemExit("The memory still grows, or samples are unscored.")


def own_cpu_of(pid: int, *, ended: bool = False) -> float:
    """Return the CPU seconds of a process. `ended`: with those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if ended else 13])) / TICKS


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process, its descendants, and their children that have ended."""
    own = own_cpu_of(pid, ended=True)
    children = " ".join(task.joinpath("children").read_text() for task in Path(f"/proc/{pid}/task").iterdir())
    return own + sum(cpu_of(int(child)) for child in children.split())


def cores(sandbox: str) -> None:
    if sandbox != "bubblewrap":
        raise SystemExit("The processes of a container are not below the pool's: give --sandbox bubblewrap.")
    costs: dict[float, tuple[float, float]] = {}
    own: list[float] = []
    for limit in (0.3, 1.0, 2.0):
        with grader.Pool(benchmark="rows", sandbox=sandbox, shared=False, timeout=limit) as pool:
            warm(pool)
            pool.grade_samples([(ROW, ENDLESS.format(f"0.{n}")) for n in range(2)])
            pid = pool.state().pid
            marks, before = [cpu_of(pid)], own_cpu_of(pid)
            for samples in (mixed(200, 0), [(ROW, ENDLESS.format(n)) for n in range(8)]):
                pool.grade_samples(samples)
                marks.append(cpu_of(pid))
                own.append((own_cpu_of(pid) - before) / len(samples))
                before = own_cpu_of(pid)
            costs[limit] = (marks[1] - marks[0]) / 200, (marks[2] - marks[1]) / 8
    print(f"The pool's process itself: {min(own[::2]):.5f} to {max(own[::2]):.5f} s for a quick program")
    print("| limit, s | a quick program, s | an endless one, s | 0 % endless | 1 % | 5 % | 20 % |")
    print("|---|---|---|---|---|---|---|")
    for limit, (one, other) in costs.items():
        needed = (16_000 * ((1 - share) * one + share * other) / 60 for share in (0, 0.01, 0.05, 0.2))
        print(f"| {limit} | {one:.4f} | {other:.2f} | {' | '.join(f'{found:.0f}' for found in needed)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["quick", "behind", "wrapper", "stream", "flat", "cores"])
    parser.add_argument("--sandbox", default="auto")
    given = parser.parse_args()
    if given.what == "cores":
        cores(given.sandbox)
        return
    limit = 0.3 if given.what == "flat" else 2.0
    with grader.Pool(benchmark="rows", sandbox=given.sandbox, shared=False, timeout=limit, wait=3600) as pool:
        warm(pool)
        {"quick": quick, "behind": behind, "wrapper": wrapper, "stream": stream, "flat": flat}[given.what](pool)


if __name__ == "__main__":
    main()
