"""The bundled samples, graded by the command as a user grades them, once per test run."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.command import grade
from tests.conftest import Once
from tests.made_runs import BENCHMARKS, SAMPLES


@pytest.fixture(scope="session")
def graded(once: Once) -> Callable[[str], tuple[Path, Path]]:
    """Grade a bundled sample; return the folder with its results, which all tests share, and its data."""

    def run(benchmark: str) -> tuple[Path, Path]:
        sample = BENCHMARKS / benchmark / "sample"
        data, replies = sample / SAMPLES[benchmark], sample / "judge_replies.json"

        def fill(folder: Path) -> None:
            shutil.copy(sample / "predictions.json", folder)
            words = ["-b", benchmark, "--data", data, *(["--judge-replies", replies] if replies.is_file() else [])]
            done = grade(folder / "predictions.json", *words, cwd=folder)
            assert done.returncode == 0, done.stderr

        return once(f"graded-{benchmark}", fill), data

    return run
