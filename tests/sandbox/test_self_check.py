"""Sandboxes that are broken on purpose: the self-check at their start finds it, and they judge nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, get_args

import pytest

from grader import resources
from grader.errors import InfrastructureError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import Outcome, Report
from grader.sandbox import bubblewrap, interpreters, packages, self_check
from grader.sandbox.interface import Limits
from grader.sandbox.roles import ROLE_OF_KIND, Role
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


@pytest.mark.parametrize(
    ("name", "what", "to", "kind"),
    [
        ("grade_sandbox/judging/server.py", '"confirmed": not reason', '"confirmed": bool(reason)', "judge"),
        pytest.param(
            "grade_sandbox/judging/server.py",
            '"confirmed": not reason',
            '"confirmed": True',
            "judge",
            marks=pytest.mark.slow,
        ),
        ("grade_sandbox/official/official_run.py", 'append("passed")', 'append("right")', "run"),
    ],
)
def test_where_every_sandbox_misjudges_the_run_ends_without_a_verdict(
    name: str, what: str, to: str, kind: str, tmp_path: Path, broken: Broken
) -> None:
    broken(name, what, to)
    with pytest.raises(InfrastructureError, match=f"misjudges the fixed (right|wrong) program of the job `{kind}`"):
        graded(tmp_path)


def test_a_sandbox_that_misjudges_is_replaced_before_it_judges_anything(
    tmp_path: Path, broken: Broken, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound_folder = resources.folder
    broken("grade_sandbox/judging/server.py", '"confirmed": not reason', '"confirmed": bool(reason)')
    broken_folder, sound = resources.folder, bubblewrap.Bubblewrap.start
    folders = [broken_folder]

    def start(self: bubblewrap.Bubblewrap, index: int, *, for_linting: bool = False) -> bubblewrap.ProcessSupervisor:
        monkeypatch.setattr(resources, "folder", folders.pop() if folders and not for_linting else sound_folder)
        self._code = packages.prepare_code(interpreters.current_interpreter())
        return sound(self, index, for_linting=for_linting)

    monkeypatch.setattr(bubblewrap.Bubblewrap, "start", start)
    report = graded(tmp_path)
    assert folders == []
    assert report.samples[0].careful.outcome is Outcome.PASSED
    assert report.unscored == 0


@pytest.mark.parametrize("role", get_args(Role))
def test_a_sound_sandbox_passes_the_self_check_of_every_role(role: Role) -> None:
    supervisor = bubblewrap.Bubblewrap(Limits(), Silent()).start(0, for_linting=role == "linting")
    try:
        assert self_check.find_problem(supervisor, role, 60) == ""
    finally:
        supervisor.close()


def test_every_kind_of_job_is_checked() -> None:
    assert {kind for role in get_args(Role) for check in self_check.checks(role) for kind in check.job} >= {
        *ROLE_OF_KIND
    }
