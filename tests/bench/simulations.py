"""Simulates what the intervals, tests, gates and leaderboards of `grade` promise, with their own functions.

`make bench-statistics` prints the coverage of 95 % intervals, and how often tests and gates decide wrongly. Chances of
tasks follow a beta distribution (most tasks are easy or hard for a model), and tasks count as sampled.
"""

import argparse
import math
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from multiprocessing import Pool
from typing import Any, NamedTuple

import msgspec
import numpy as np

from grader.decisions.gate import decide_all
from grader.decisions.policy import Gate, Policy, decide
from grader.decisions.thresholds import FailUnder, MaxDrop
from grader.results import Aggregation, Report
from grader.scorers.mr_ben.mr_score import Counts, RowFacts, Weights, jackknife_intervals, metric_arrays
from grader.scorers.pairing import Side
from grader.scorers.registry import scorer_of
from grader.statistics.corrections import benjamini_hochberg, holm
from grader.statistics.intervals import mean
from grader.statistics.paired import difference, permutation_p_value, smallest_margin
from tests.made_runs import choice, circular, report, sample, tasks

Random = np.random.Generator
Chances = np.ndarray[Any, Any]

CONCENTRATION = 1.2
LEAST, MOST_ERRORS = 0.93, 0.05


class Cell(NamedTuple):
    """One line of the output: `count` says how often something is so in a number of runs."""

    section: str
    name: str
    count: Callable[[Random, int], int]
    is_held: Callable[[float, float], bool] | None
    """Whether a share is as promised, with this standard error; None: it is only shown."""
    part: float = 1.0
    """Part of the runs, for cells whose runs are slow."""


def at_least_93(share: float, error: float) -> bool:
    return share + 1.96 * error >= LEAST


def at_most_5(share: float, error: float) -> bool:
    return share - 1.96 * error <= MOST_ERRORS


def at_least_80(share: float, error: float) -> bool:
    return share + 1.96 * error >= 0.8


def about_80(share: float, error: float) -> bool:
    return abs(share - 0.8) <= 0.05 + 1.96 * error


def chances(rng: Random, rate: float, n: int) -> Chances:
    return rng.beta(CONCENTRATION * rate, CONCENTRATION * (1 - rate), n)


# --- means --------------------------------------------------------------------------------------------------------


def means(rng: Random, runs: int, *, n: int, samples: int, rate: float) -> int:
    held = 0
    for passed in rng.binomial(samples, chances(rng, rate, runs * n).reshape(runs, n)).tolist():
        low, high = mean([number / samples for number in passed]).ci95  # type: ignore[union-attr]
        held += low <= 100 * rate <= high
    return held


def families(rng: Random, runs: int, *, number: int, correlation: float) -> int:
    """Families of one to six variants; the chances of variants have this correlation."""
    held = 0
    for _ in range(runs):
        names = np.repeat(np.arange(number), rng.integers(1, 7, number))
        shared, own = chances(rng, 0.5, number)[names], chances(rng, 0.5, len(names))
        chance = np.where(rng.random(len(names)) < math.sqrt(correlation), shared, own)
        values = (rng.binomial(6, chance) / 6).tolist()
        low, high = mean(values, names.tolist()).ci95  # type: ignore[union-attr]
        held += low <= 50 <= high
    return held


# --- MR-Score -----------------------------------------------------------------------------------------------------

FACTS = ("gold_correct", "predicted_correct", "step", "reason")
ROWS = {key: RowFacts(**dict(zip(FACTS, map(bool, key), strict=True))) for key in np.ndindex(2, 2, 2, 2)}


def mr_score(
    rng: Random, runs: int, *, subjects: int, questions: int, verdict: float, step: float, reason: float
) -> int:
    """Three solutions of each question, half of them correct on average."""
    share = Counts(tp=verdict, tn=verdict, fp=1 - verdict, fn=1 - verdict,  # type: ignore[arg-type]
                   step=verdict * step, reason=verdict * step * reason)  # type: ignore[arg-type]  # fmt: skip
    truth = float(metric_arrays(np.array([share], dtype=float), Weights())["mr_score"][0])
    held, shape = 0, (subjects, questions, 3)
    for _ in range(runs):
        gold = rng.random(shape) < 0.5
        right = rng.random(shape) < verdict
        found = right & (rng.random(shape) < step)
        why = found & (rng.random(shape) < reason)
        keys = np.stack([gold, gold == right, found & ~gold, why & ~gold], axis=-1).astype(int).tolist()
        rows = {
            str(s): [(str(q), ROWS[tuple(key)]) for q, members in enumerate(subject) for key in members]
            for s, subject in enumerate(keys)
        }
        made = jackknife_intervals(rows)[None, "mr_score"]
        held += made.low <= truth <= made.high
    return held


# --- differences --------------------------------------------------------------------------------------------------


def pairs(rng: Random, runs: int, *, n: int, samples: int, rate: float, kept: float) -> Iterator[tuple[Any, Any]]:
    for _ in range(runs):
        chance = chances(rng, rate, n)
        before, after = rng.binomial(samples, chance) / samples, rng.binomial(samples, chance * kept) / samples
        yield before.tolist(), after.tolist()


def differences(rng: Random, runs: int, *, rate: float, kept: float, **fields: Any) -> int:
    held = 0
    for before, after in pairs(rng, runs, rate=rate, kept=kept, **fields):
        low, high = difference(before, after).ci95
        held += low <= 100 * rate * (kept - 1) <= high
    return held


def disagreements(rng: Random, runs: int, **fields: Any) -> int:
    found = (difference(*sides) for sides in pairs(rng, runs, **fields))
    return sum((one.p_value < 0.05) == (one.ci95[0] <= 0 <= one.ci95[1]) for one in found)


def f1_runs(rng: Random, *, wrong: int, right: int, rate: float, kept: float) -> tuple[Report, Report, float]:
    """Two runs of two kinds of questions with the F1 of their accuracies, and its true change in points.

    The accuracy of the second kind is 90 %; the second run keeps a part of the correct answers of the first kind.
    """
    chance = {"wrong": chances(rng, rate, wrong), "right": chances(rng, 0.9, right)}
    sides = []
    for part in (1.0, kept):
        hits = {kind: rng.random(len(of)) < of * (part if kind == "wrong" else 1) for kind, of in chance.items()}
        answers = [
            sample(f"{kind}{at}", "correct" if hit else "wrong", group=f"kind={kind}")
            for kind, of in hits.items()
            for at, hit in enumerate(of)
        ]
        made = report(answers, [], scorer="multiple_choice")
        sides.append(msgspec.structs.replace(made, aggregation=Aggregation(f1_of=["kind=wrong", "kind=right"])))
    before, after = (100 * 2 * of * 0.9 / (of + 0.9) for of in (rate, rate * kept))
    return sides[0], sides[1], after - before


def f1_changes(rng: Random, runs: int, *, of: str, **fields: Any) -> int:
    """Return how often the F1 of two runs differs significantly, or how often the interval of its change is right."""
    count = 0
    for _ in range(runs):
        *sides, change = f1_runs(rng, **fields)
        before, after = (Side(side, "careful") for side in sides)
        found = scorer_of(after.report).compare(before, after, "f1")
        low, high = found.difference.ci95
        count += low <= change <= high if of == "interval" else found.difference.p_value < MOST_ERRORS
    return count


# --- gates --------------------------------------------------------------------------------------------------------


def items(rng: Random, fall: float, rise: float, n: int = 191) -> tuple[Any, Any]:
    turn = rng.random(n)
    falls, rises = turn < fall, turn > 1 - rise
    before = np.where(falls, True, np.where(rises, False, rng.random(n) < 0.6))
    return choice(before), choice(before & ~falls | rises)


def noisy(rng: Random, kept: float, n: int = 164) -> tuple[Any, Any]:
    chance = chances(rng, 0.5, n)
    return tasks(rng.binomial(10, chance)), tasks(rng.binomial(10, chance * kept))


def gates(rng: Random, runs: int, *, make: Callable[[Random], Any], drop: float, state: str, number: int = 1) -> int:
    found = 0
    drops = [MaxDrop(name=None, value=drop)] * number
    for _ in range(runs):
        baseline, run = make(rng)
        found += any(result.state == state for result in decide_all(run, baseline=baseline, drops=drops))
    return found


def several(rng: Random, runs: int, *, number: int) -> int:
    """Independent models at the allowed drop, judged together as one family: how often any of them fails."""
    failed = 0
    for _ in range(runs):
        found = []
        for _ in range(number):
            baseline, run = items(rng, 0.08, 0.03)
            found.append(decide_all(run, baseline=baseline, drops=[MaxDrop(name=None, value=5)])[0])
        failed += any(p < MOST_ERRORS for p in holm([one.p_failed or 0.0 for one in found]))
    return failed


POLICY = Policy(
    gate=[
        Gate(benchmark="vstar", metric="accuracy", max_drop=3),
        Gate(benchmark="mmbench", metric="circular_accuracy", max_drop=3),
        Gate(benchmark="humaneval-v", metric="pass@1", max_drop=3),
    ]
)


def checkpoints(rng: Random, runs: int, *, lost: float, code: int) -> int:
    """A policy over 191 questions, 1,164 circular questions, and 253 tasks with 6 samples, each of which lost points.

    One item in ten changes by chance. Returns how often `grade gate` exits with this code.
    """
    found = 0
    for _ in range(runs):
        turn = rng.random(191)
        before = rng.random(191) < 0.6
        after = np.where(turn < 0.1, rng.random(191) < 0.6, before) & (rng.random(191) > lost / 60)
        each = rng.random(1164) < 0.6
        kept = np.where(rng.random(1164) < 0.1, rng.random(1164) < 0.6, each) & (rng.random(1164) > lost / 60)
        chance = chances(rng, 0.4, 253)
        baselines = [choice(before), circular([[one] for one in each]), tasks(rng.binomial(6, chance), 6)]
        runs_now = [
            choice(after),
            circular([[one] for one in kept]),
            tasks(rng.binomial(6, chance * (1 - lost / 40)), 6),
        ]
        sides = [[(run.benchmark, run) for run in side] for side in (runs_now, baselines)]
        found += decide(POLICY, "policy.toml", *sides).exit_code == code
    return found


def confident(rng: Random, runs: int, *, state: str, n: int = 191) -> int:
    from grader.scorers.means import each_observation, metric_rows

    found = 0
    for _ in range(runs):
        answers = [sample(f"q{at}", "correct" if good else "wrong") for at, good in enumerate(rng.random(n) < 0.75)]
        made = report(answers, metric_rows(answers, "accuracy", each_observation), scorer="multiple_choice")
        (result,) = decide_all(made, thresholds=[FailUnder(name="accuracy", group=None, value=75)], confident=True)
        found += result.state == state
    return found


def proposed_margin(rng: Random, runs: int, *, n: int, samples: int) -> int:
    met = 0
    for _ in range(max(1, runs // 20)):
        chance = chances(rng, 0.5, n)
        margin = smallest_margin((rng.binomial(samples, chance) / samples).tolist(), [samples] * n, 0.1)
        for _ in range(20):
            before, after = (rng.binomial(samples, chance) / samples for _ in range(2))
            met += difference(before.tolist(), after.tolist()).ci90[0] >= -margin
    return met


# --- many runs ----------------------------------------------------------------------------------------------------


def equal_leaderboards(rng: Random, runs: int, *, number: int, n: int, samples: int) -> int:
    wrong = 0
    for _ in range(runs):
        passed = rng.binomial(samples, chances(rng, 0.5, n), (number, n)) / samples
        changes = [passed[b] - passed[a] for a in range(number) for b in range(a)]
        p_values = [permutation_p_value(change[change != 0].tolist()) for change in changes]
        wrong += any(p < MOST_ERRORS for p in holm(p_values))
    return wrong


def equal_categories(rng: Random, runs: int, *, categories: int, each: int) -> int:
    shown = 0
    for _ in range(runs):
        sides = rng.random((2, categories, each)) < 0.5
        p_values = [difference(*side.astype(float).tolist()).p_value for side in sides.transpose(1, 0, 2)]
        shown += any(p < MOST_ERRORS for p in benjamini_hochberg(p_values))
    return shown


# --- all of them --------------------------------------------------------------------------------------------------


def cells() -> Iterator[Cell]:
    """Yield every cell."""
    for n in (8, 20, 40, 164, 253):
        for samples in (1, 6, 20):
            for rate in (0.02, 0.1, 0.5):
                wanted = None if samples == 1 else at_least_93
                name = f"{n:3} tasks x {samples:2} samples at {100 * rate:2.0f} %"
                yield Cell("interval of pass@1", name, partial(means, n=n, samples=samples, rate=rate), wanted)
    for n in (1, 2, 3, 4, 5):
        for samples in (6, 20):
            for rate in (0.1, 0.5):
                name = f"group of {n} tasks x {samples:2} samples at {100 * rate:2.0f} %"
                yield Cell("interval of pass@1", name, partial(means, n=n, samples=samples, rate=rate), at_least_93)
    for number in (20, 60):
        count = partial(families, number=number, correlation=0.6)
        yield Cell("interval of pass@1", f"{number} families of 1 to 6 variants", count, at_least_93)
    for subjects, questions in ((1, 10), (4, 10), (7, 40)):
        for verdict, step in ((0.5, 0.02), (0.5, 0.3), (0.6, 0.5), (0.8, 0.6)):
            where = "at chance" if verdict == 0.5 else "above chance"
            count = partial(mr_score, subjects=subjects, questions=questions, verdict=verdict, step=step, reason=0.6)
            name = f"{subjects} subjects x {questions:2} questions {where}, step {step}"
            yield Cell("interval of MR-Score", name, count, at_least_93, 0.5)
    for n in (8, 40, 164):
        for samples in (1, 6, 20):
            for rate in (0.02, 0.1, 0.5):
                for kept in (1.0, 0.7):
                    fields = {"n": n, "samples": samples, "rate": rate, "kept": kept}
                    change = "equal" if kept == 1 else "30 % lower"
                    name = f"{n:3} tasks x {samples:2} samples at {100 * rate:2.0f} %, {change}"
                    yield Cell("interval of a difference", name, partial(differences, **fields), at_least_93)
    for wrong, rate, right in ((20, 0.6, 40), (80, 0.1, 20), (200, 0.1, 200)):
        for of, kept, is_held in (
            ("p < 0.05", 1.0, at_most_5),
            ("interval", 1.0, at_least_93),
            ("interval", 0.7, at_least_93),
        ):
            change = "equal" if kept == 1 else "30 % fewer of the first"
            count = partial(f1_changes, of=of, wrong=wrong, right=right, rate=rate, kept=kept)
            name = f"{of}: {wrong:3} tasks at {100 * rate:2.0f} %, {right:3} at 90 %, {change}"
            yield Cell("difference of F1 of two groups", name, count, is_held, 0.25)
    for kept in (1.0, 0.8):
        count = partial(disagreements, n=40, samples=20, rate=0.5, kept=kept)
        yield Cell("p < 0.05 and an interval with 0, or neither", f"40 tasks x 20 samples, kept {kept}", count, never)
    at_margin: list[tuple[str, Callable[[Random], Any], float]] = [
        ("191 items, few fall", partial(items, fall=0.03, rise=0.0), 3),
        ("191 items, some fall", partial(items, fall=0.08, rise=0.03), 5),
        ("191 items, many fall", partial(items, fall=0.25, rise=0.2), 5),
        ("164 tasks x 10 samples", partial(noisy, kept=0.9), 5),
    ]
    for name, make, drop in at_margin:
        for state in ("met", "not met"):
            count = partial(gates, make=make, drop=drop, state=state)
            yield Cell("gate at its margin, decided wrongly", f"{name}: {state}", count, at_most_5, 0.5)
    yield Cell("gate at its margin, decided wrongly", "5 gates: any fails", partial(several, number=5), at_most_5, 0.25)
    for name, lost, code, is_held in (
        ("no change: not met", 0.0, 1, at_most_5),
        ("3 points lost, as allowed: not met", 3.0, 1, at_most_5),
        ("5.3 points lost: not met", 5.3, 1, about_80),
        ("no change: met", 0.0, 0, None),
    ):
        count = partial(checkpoints, lost=lost, code=code)
        yield Cell("policy over three benchmarks, drops of 3 points allowed", name, count, is_held, 0.5)
    for state in ("met", "not met"):
        count = partial(confident, state=state)
        yield Cell("--confident at its threshold", f"191 items: {state}", count, at_most_5, 0.5)
    for n, samples in ((164, 6), (40, 20)):
        count = partial(proposed_margin, n=n, samples=samples)
        yield Cell(
            "the proposed margin is met by an unchanged model", f"{n} tasks x {samples} samples", count, about_80
        )
    for number, n, samples in ((8, 164, 6), (20, 40, 6)):
        count = partial(equal_leaderboards, number=number, n=n, samples=samples)
        name = f"{number} equal runs, {n} tasks x {samples} samples"
        yield Cell("leaderboard with a false difference", name, count, at_most_5, 0.5)
    count = partial(equal_categories, categories=20, each=20)
    yield Cell(
        "comparison of equal runs with a significant category", "20 categories of 20 items", count, at_most_5, 0.5
    )


def never(share: float, error: float) -> bool:
    del error
    return share == 0


def simulate(cell: Cell, runs: int, seed: int) -> float:
    number = max(20, round(runs * cell.part / 20) * 20)
    rng = np.random.default_rng([seed, zlib.crc32(f"{cell.section} {cell.name}".encode())])
    return cell.count(rng, number) / number


def shown(cell: Cell, share: float, runs: int) -> tuple[str, bool]:
    number = max(20, round(runs * cell.part / 20) * 20)
    held = cell.is_held is None or cell.is_held(share, math.sqrt(max(share * (1 - share), 1 / number) / number))
    mark = (
        "  Wilson of a plain proportion"
        if cell.is_held is None and share < LEAST and "interval" in cell.section
        else ""
        if held
        else "  NOT AS PROMISED"
    )
    return f"  {cell.name:56} {100 * share:5.1f} %{mark}", held


def main(words: Sequence[str]) -> int:
    """Print every cell; return 1 if one is not as promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000, help="runs a cell (default: 4000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="only the sections with this text in their name")
    asked = parser.parse_args(words)
    began, section, broken = time.monotonic(), "", 0
    wanted = [cell for cell in cells() if asked.only in cell.section]
    with Pool(asked.workers) as pool:
        made = pool.imap(partial(simulate, runs=asked.runs, seed=asked.seed), wanted)
        for cell, share in zip(wanted, made, strict=True):
            if cell.section != section:
                section = cell.section
                print(f"\n{section}")
            line, held = shown(cell, share, asked.runs)
            broken += not held
            print(line, flush=True)
        pool.close()
        pool.join()
    print(f"\n{len(wanted)} cells of up to {asked.runs} runs, seed {asked.seed}, {time.monotonic() - began:.0f} s; "
          f"{broken} not as promised")  # fmt: skip
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
