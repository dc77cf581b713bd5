"""Each benchmark of `examples/benchmarks` with rows grades them as its README says, and gives what it expects."""

import json
import shutil
from pathlib import Path

import pytest

from tests.acceptance.command import grade
from tests.conftest import ROOT

FOLDERS = sorted(path.parent for path in (ROOT / "examples" / "benchmarks").glob("*/expected.json"))
PARTS = ("**Source**", "**Official rule**", "**Data**")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_rows_of_a_folder_grade_at_the_first_try(folder: Path, tmp_path: Path) -> None:
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert all(f"- {part}: " in readme for part in PARTS)
    assert len(readme.splitlines()) <= 10
    place = shutil.copytree(folder, tmp_path / folder.name)
    words = readme.strip().rpartition("`grade ")[2].rstrip("`").split()
    done = grade(*words, "-q", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads((place / "predictions_results.json").read_bytes())
    assert len({sample["qid"] for sample in report["samples"]}) >= 5
    found: dict[str, dict[str, float]] = {}
    for metric in report["metrics"]:
        if metric["group"] is None:
            found.setdefault(metric["name"], {})[metric["reading"]] = round(metric["value"], 2)
    assert found == json.loads((place / "expected.json").read_bytes())


def test_ten_benchmarks_have_rows() -> None:
    assert len(FOLDERS) == 10
