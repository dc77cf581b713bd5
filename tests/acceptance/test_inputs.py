"""A run reads its declaration and its data once, and a report changes no result."""

import shutil
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from grader.cli import run
from grader.data import load
from grader.scorers import declarations
from tests.made_runs import BENCHMARKS


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What was read, by its name -> how often. All is really read."""
    found: Counter[str] = Counter()

    def count(module: ModuleType, name: str) -> None:
        function = getattr(module, name)

        def counted(given: object, *more: Any) -> Any:
            found[Path(str(given)).name] += 1
            return function(given, *more)

        monkeypatch.setattr(module, name, counted)

    count(declarations, "load")
    count(load, "read")
    return found


@pytest.mark.parametrize(("benchmark", "data"), [("vstar", "questions.jsonl"), ("mmbench", "questions.tsv")])
def test_a_run_with_a_page_reads_everything_once_and_has_the_results_of_a_run_without(
    tmp_path: Path, read: Counter[str], capfd: pytest.CaptureFixture[str], benchmark: str, data: str
) -> None:
    shutil.copytree(BENCHMARKS / benchmark / "sample", tmp_path, dirs_exist_ok=True)
    results, page = tmp_path / "predictions_results.json", tmp_path / "r.html"
    words = [str(tmp_path / "predictions.json"), "-b", benchmark, "--data", str(tmp_path / data), "-q"]
    assert run(words) == 0
    without = results.read_bytes()
    read.clear()
    assert run([*words, "-o", str(page)]) == 0
    assert read == {benchmark: 1, data: 1}
    assert results.read_bytes() == without
    assert page.is_file()
    for options in (["--score-only"], ["--score-only", "--missing", "skip"]):
        read.clear()
        assert run([*words, "-o", str(page), *options]) == 0
        assert read == {benchmark: 1, data: 1}
