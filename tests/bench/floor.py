"""Measures 400 distinct programs beside a bare floor: `python tests/bench/floor.py FOLDER`. Run by `make bench DATA=`.

The floor has neither a sandbox nor a judge. For each program a kept pylint checks it, and Python starts twice to run it
with its tests, on as many cores as `grade` has. FOLDER has `tasks.jsonl` and predictions, as in `bench.py`. A program
is one sample of a task, so most of what `grade` does is done once a task, such as asking its reference solution.
"""

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "sandbox_image"), str(ROOT / "tests/bench")]

import variations
from bench import Timer, available

PROGRAMS = 400
SECONDS = 3.0
kept: dict[str, Any] = {}
"""The linter of this worker."""


def load(folder: str) -> None:
    """Start a worker: its linter stays."""
    from grade_sandbox.lint.linter import Linter

    kept["linter"] = Linter(tempfile.mkdtemp(dir=folder))
    kept["linter"].warm()


def run(program: tuple[str, str]) -> bool:
    """Lint a program, and run it twice with its tests; return whether it passed both times."""
    source, tests = program
    kept["linter"].lint(source)
    passed = True
    for _ in range(2):
        try:
            command = [sys.executable, "-I", "-c", f"{source}\n{tests}"]
            passed &= subprocess.run(command, timeout=SECONDS, capture_output=True, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            passed = False
    return passed


def floor(programs: list[tuple[str, str]]) -> Timer:
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(initializer=load, initargs=(folder,)) as workers:
        list(workers.map(run, [("pass", "")] * 16))
        with Timer() as timer:
            passed = sum(workers.map(run, programs))
    print(f"{passed} of {len(programs)} passed")
    return timer


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        variations.write(Path(sys.argv[1]), 20, folder)
        path, tasks = folder / "predictions.json", folder / "tasks.jsonl"
        rows = {row["qid"]: row for row in map(json.loads, tasks.read_text().splitlines())}
        records = json.loads(path.read_text())
        for number, record in enumerate(records):
            record["predictions"] = record["predictions"][number % 2 :][
                : PROGRAMS // len(records) + (number < PROGRAMS % len(records))
            ]
        path.write_text(json.dumps(records))
        programs = [
            (f"{rows[record['qid']]['function_signature']}\n{code}", rows[record["qid"]]["test_script"])
            for record in records
            for code in (text.removeprefix("```python\n").removesuffix("\n```") for text in record["predictions"])
        ]
        found = {"bare floor": floor(programs)}
        command = [sys.executable, "-m", "grader", str(path), "--data", str(tasks), "--protocol", "v1", "-q", "-k", "1"]
        for backend in available():
            with Timer() as timer:
                subprocess.run([*command, "--no-cache", "--sandbox", backend], check=True)
            found[backend] = timer
    print("| 400 distinct programs | seconds | of the floor | s of CPU |\n|---|---|---|---|")
    for what, timer in found.items():
        print(f"| {what} | {timer.wall:.1f} | {timer.wall / found['bare floor'].wall:.2f} | {timer.cpu:.1f} |")


if __name__ == "__main__":
    main()
