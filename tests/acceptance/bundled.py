"""The bundled sample of HumanEval-V, graded once in each sandbox for all tests that look at what came of it."""

import json
import shutil
from pathlib import Path

from tests.acceptance.command import grade
from tests.conftest import Once
from tests.made_runs import BENCHMARKS

SAMPLE = BENCHMARKS / "humaneval-v" / "sample"
WORDS = ["-b", "humaneval-v", "--data", SAMPLE / "tasks.jsonl", "-k", "1,3"]
LIMITS = [
    # Less memory than by default: on a busy machine a program's two seconds end before it has filled a gigabyte.
    *("--memory", "256m"),
    # Half of the usual time: what ends needs a hundredth of it. To start another sandbox costs more than it saves.
    *("--timeout", "1", "--workers", "1", "--no-cache"),
]


def humaneval_v(once: Once, backend: str = "bubblewrap") -> Path:
    """Return a folder with predictions.json, its results, report.md and report.html, and said.json: both streams."""

    def run(folder: Path) -> None:
        shutil.copy(SAMPLE / "predictions.json", folder)
        outputs = ["-o", "report.md", "-o", "report.html"]
        done = grade("predictions.json", *WORDS, *LIMITS, "--sandbox", backend, *outputs, cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / "said.json").write_text(json.dumps([done.stdout, done.stderr]))

    return once(f"humaneval-v-{backend}", run)
