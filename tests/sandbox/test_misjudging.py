"""Sandboxes that are broken on purpose: canaries void what they judged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from grader import resources
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import Outcome, Report
from grader.sandbox import bubblewrap, interpreters, packages
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")]

TASKS = ROOT / "benchmarks" / "humaneval-v" / "sample" / "tasks.jsonl"
Broken = Callable[[str, str, str], None]


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Broken:
    """Return what changes one place of the code inside the sandbox."""

    def change(name: str, what: str, to: str) -> None:
        copy = tmp_path / "sandbox_image"
        shutil.copytree(resources.folder("sandbox_image"), copy)
        source = (copy / name).read_text()
        assert what in source
        (copy / name).write_text(source.replace(what, to))
        sound = resources.folder
        monkeypatch.setattr(resources, "folder", lambda asked: copy if asked == "sandbox_image" else sound(asked))

    return change


def graded(folder: Path) -> Report:
    """Grade a right and a wrong program."""
    (row,) = (line for line in TASKS.read_text().splitlines() if json.loads(line)["qid"] == "q3")
    data = folder / "tasks.jsonl"
    data.write_text(row)
    right = f"```python\n{json.loads(row)['ground_truth_solution']}```"
    predictions = folder / "p.json"
    predictions.write_text(json.dumps([{"qid": "q3", "predictions": [right, "no code"]}]))
    options = Options(sandbox="bubblewrap", data=data, cache=False, workers=1)
    return grade(predictions, options, Silent()).report


def test_where_every_sandbox_misjudges_no_verdict_is_given(tmp_path: Path, broken: Broken) -> None:
    broken("grade_sandbox/tests/judging.py", '"confirmed": not reason', '"confirmed": bool(reason)')
    report = graded(tmp_path)
    assert report.samples[0].careful.outcome is Outcome.UNSCORED
    assert "misjudged a program with a known verdict" in report.samples[0].careful.detail
    canaries = report.provenance.sandbox.canaries
    assert canaries.unscored > 0
    # What other kinds of jobs showed stands.
    assert report.samples[0].official.outcome is Outcome.PASSED
    assert set(canaries.misjudged) <= {"judge: a right program", "judge: a wrong program"}


def test_where_one_sandbox_misjudges_its_programs_run_again_elsewhere(
    tmp_path: Path, broken: Broken, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound_folder = resources.folder
    broken("grade_sandbox/tests/judging.py", '"confirmed": not reason', '"confirmed": bool(reason)')
    broken_folder, sound = resources.folder, bubblewrap.Bubblewrap.start

    def start(self: bubblewrap.Bubblewrap, index: int, *, lint: bool = False) -> bubblewrap.ProcessSupervisor:
        monkeypatch.setattr(resources, "folder", broken_folder if index == 0 else sound_folder)
        self._code = packages.prepare_code(interpreters.own())
        return sound(self, index, lint=lint)

    monkeypatch.setattr(bubblewrap.Bubblewrap, "start", start)
    report = graded(tmp_path)
    assert report.samples[0].careful.outcome is Outcome.PASSED
    assert report.unscored == 0
    canaries = report.provenance.sandbox.canaries
    assert (sum(canaries.misjudged.values()), canaries.unscored) == (1, 0)
    assert canaries.run_again > 0
