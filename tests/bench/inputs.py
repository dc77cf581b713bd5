"""Measures tasks with inputs: standard inputs per second, and HumanEval+ beside EvalPlus. Run by `make bench`.

    python tests/bench/inputs.py [--plus FOLDER] [--evalplus PYTHON]

`--plus`: a folder with HumanEvalPlus.jsonl.gz and `*.evalplus.jsonl`, samples with `task_id` and `solution`.
`--evalplus`: a Python with EvalPlus, which then evaluates the same programs. Both take the answers of the reference
solutions from an earlier run, which is timed separately.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from bench import Timer, available

TASKS, PROGRAMS, INPUTS = 20, 2, 250
DECLARATION = """
id = "sums"
name = "Sums"
scoring = "execution"
default_split = "test"
default_protocol = "lines"
[columns]
id = "id"
inputs = "inputs"
outputs = "outputs"
[splits.test]
data = "tasks.jsonl"
[protocols.lines]
"""
SOURCE = "a, b = map(int, input().split())\nprint(a + b)\n"


def _grade(predictions: Path, *options: object) -> Timer:
    command = [sys.executable, "-m", "grader", str(predictions), "-k", "1", "-q", *map(str, options)]
    with Timer() as timer:
        subprocess.run(command, check=True)
    return timer


def _write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def standard_inputs(place: Path, backend: str) -> None:
    """Time a trivial program, which runs once for each input."""
    (place / "benchmark.toml").write_text(DECLARATION)
    names = [f"t{number}" for number in range(TASKS)]
    rows = [
        # Equal programs with equal inputs would run once.
        {
            "id": name,
            "inputs": [f"{n} {number}\n" for n in range(INPUTS)],
            "outputs": [f"{n + number}\n" for n in range(INPUTS)],
        }
        for number, name in enumerate(names)
    ]
    _write(place / "tasks.jsonl", rows)
    texts = [f"```python\n# {number}\n{SOURCE}```" for number in range(PROGRAMS)]
    given = _write(place / "sums.jsonl", [{"qid": name, "predictions": texts} for name in names])
    options = "-b", place, "--no-cache", "--sandbox", backend
    few = _grade(given, *options, "--limit", "1")
    timer = _grade(given, *options)
    count = TASKS * PROGRAMS * INPUTS
    rate, cpu = count / timer.wall, 1000 * timer.cpu / count
    name = f"{count:,} standard inputs of {TASKS * PROGRAMS} programs, {backend}"
    print(f"{name}: {timer.wall:.1f} s, {rate:.0f} a second, {cpu:.2f} ms CPU each "
          f"({PROGRAMS * INPUTS} of them: {few.wall:.1f} s)", flush=True)  # fmt: skip


def plus(place: Path, folder: Path, backend: str, evalplus: Path | None) -> None:
    """Time distinct programs of HumanEval+, and EvalPlus with the same ones."""
    (samples,) = [p for p in folder.glob("*.evalplus.jsonl") if "mbpp" not in p.name]
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    with gzip.open(folder / "HumanEvalPlus.jsonl.gz", "rt") as file:
        tasks = [json.loads(line) for line in file]
    nothing = [{"task_id": task["task_id"], "solution": "pass"} for task in tasks]
    options = "-b", "humaneval-plus", "--data", folder / "HumanEvalPlus.jsonl.gz", "--missing", "wrong"
    os.environ["XDG_CACHE_HOME"] = str(place / "cache")
    first = _grade(_write(place / "nothing.jsonl", nothing), *options, "--sandbox", backend)
    timer = _grade(_write(place / "ours.jsonl", rows), *options, "--sandbox", backend)
    print(f"{len(rows)} programs of HumanEval+, {backend}: {timer.wall:.1f} s, {timer.cpu:.0f} s CPU "
          f"(references before: {first.wall:.1f} s)", flush=True)  # fmt: skip
    if evalplus is not None:
        os.environ["HUMANEVAL_OVERRIDE_PATH"] = str(_write(place / "data.jsonl", tasks))
        before = _evaluate(evalplus, place / "nothing.jsonl")
        timer = _evaluate(evalplus, _write(place / "theirs.jsonl", rows))
        print(f"the same by EvalPlus (one reading, no sandbox): {timer.wall:.1f} s, {timer.cpu:.0f} s CPU "
              f"(references before: {before.wall:.1f} s)", flush=True)  # fmt: skip


def _evaluate(python: Path, samples: Path) -> Timer:
    command = [python, "-m", "evalplus.evaluate", "--dataset", "humaneval", "--samples", samples, "--i-just-wanna-run"]
    command += ["--parallel", str(len(os.sched_getaffinity(0)))]
    with Timer() as timer:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return timer


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--plus", type=Path, help="folder with HumanEval+ and samples")
    parser.add_argument("--evalplus", type=Path, help="a Python with EvalPlus")
    options = parser.parse_args()
    print(f"{len(os.sched_getaffinity(0))} cores, load {os.getloadavg()[0]:.1f}")
    for backend in available():
        with tempfile.TemporaryDirectory() as name:
            standard_inputs(Path(name), backend)
            if options.plus is not None:
                plus(Path(name), options.plus, backend, options.evalplus)


if __name__ == "__main__":
    main()
