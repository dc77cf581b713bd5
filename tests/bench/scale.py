"""Measures what a run costs its driver: a number of docs/scale.md.

`python tests/bench/scale.py run` grades distinct programs of HumanEval-V's sample on this machine, or with
`--address A` on a cluster (`local`: one that it starts), and measures the driver's CPU time.
"""

from __future__ import annotations

import argparse
import json
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
from tests.bench.variations import variations

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
    parser.add_argument("what", choices=["run"])
    parser.add_argument("--address", default="auto", help="of the cluster; without it, this machine")
    parser.add_argument("--programs", type=int, default=80)
    run(parser.parse_args())


if __name__ == "__main__":
    main()
