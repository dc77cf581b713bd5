"""Machines that are broken on purpose, with a real sandbox: the self-test fails on each, and canaries void verdicts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
import pytest

from grader import resources
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import Outcome, Report
from grader.sandbox import bubblewrap, interpreters, packages
from grader.selftest import verdict
from grader.selftest.run import grade as grade_probes
from tests.selftest.made import plan
from tests.selftest.test_run import tasks

if TYPE_CHECKING:
    from pathlib import Path

    from grader.selftest.outcome import Tested

pytestmark = [pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")]


def self_test(folder: Path, kinds: set[str], protocol: str | None = None) -> Tested:
    """Self-test the programs of some kinds, of one task."""
    data = tasks(folder / "tasks.jsonl", {"q3": ""})
    whole = plan("humaneval-v", data=data, sandbox="bubblewrap", workers=1, protocol=protocol)
    probes = {qid: [probe for probe in own if probe.kind in kinds] for qid, own in whole.probes.items()}
    chosen = msgspec.structs.replace(whole, probes=probes)
    return verdict.judge(chosen, [grade_probes(chosen, Silent()).report])


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


def test_a_sound_machine_passes_and_says_what_a_second_of_its_cpu_is_worth(tmp_path: Path) -> None:
    found = self_test(tmp_path, {"reference", "calibration", "python"})
    assert found.problems == []
    # Slower than a twentieth of the standard machine, or faster than twenty of them, is no machine but a mistake.
    assert 0.05 < found.cpu_ratio < 20


def test_a_clock_that_runs_wild_is_noticed(tmp_path: Path, broken: Broken) -> None:
    broken("grade_sandbox/supervise/watch.py", "time.monotonic()", "1_000_000 * time.monotonic()")
    found = self_test(tmp_path, {"reference"})
    # Which limit seems to be too low depends on the load: the watch takes what others do for the program's work.
    assert any(problem.kind == "reference" for problem in found.problems)


def test_a_sandbox_that_confirms_what_is_wrong_is_noticed(tmp_path: Path, broken: Broken) -> None:
    broken("grade_sandbox/tests/judging.py", '"confirmed": not reason', '"confirmed": True')
    found = self_test(tmp_path, {"reference", "wrong"})
    assert any("a canary was misjudged: judge: a wrong program" in problem.what for problem in found.problems)


# --- canaries in runs of predictions ------------------------------------------------------------------------------


def graded(folder: Path) -> Report:
    """Grade a right and a wrong program."""
    data = tasks(folder / "tasks.jsonl", {"q3": ""})
    right = f"```python\n{json.loads(data.read_text())['ground_truth_solution']}```"
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
