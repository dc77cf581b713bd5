"""The Python inside: declared by protocol, named by the report, and a mismatch stands beside the official values."""

import platform

import pytest

from grader.results import READINGS, Metric, Provenance, Report, SandboxProvenance
from grader.scorers.execution.scorer import _python_notes
from tests.reports.shown import as_file, on_terminal
from tests.tables import each


def test_the_note_names_the_sandbox_that_has_the_official_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.bubblewrap.executable", lambda: "/usr/bin/bwrap")
    here = ".".join(platform.python_version_tuple()[:2])
    (note,) = _python_notes(SandboxProvenance(backend="docker", python="3.1.2", official_python=here))
    assert note.text.endswith(f"To use {here}: `--sandbox bubblewrap`, which finds it on this machine.")
    (note,) = _python_notes(SandboxProvenance(backend="docker", python="3.1.2", official_python="3.0"))
    assert "grade image build --python 3.0" in note.text
    monkeypatch.setattr("grader.sandbox.bubblewrap.executable", lambda: None)
    (note,) = _python_notes(SandboxProvenance(backend="docker", python="3.1.2", official_python=here))
    assert f"grade image build --python {here}" in note.text


@each(
    ("inside", "official", "other"),
    [("3.12.1", "3.12", False), ("3.11.2", "3.12", True), ("3.12.1", "", False),
     ("", "3.12", False), ],
)  # fmt: skip
def test_a_mismatch_is_noted_and_marks_the_official_values(inside: str, official: str, other: bool) -> None:
    sandbox = SandboxProvenance(backend="docker", python=inside, official_python=official)
    notes = _python_notes(sandbox)
    assert bool(notes) is other
    report = Report(
        benchmark="humaneval-v",
        scorer="execution",
        split="test",
        protocol="v2",
        metrics=[Metric(name="pass@1", reading=reading, value=50.0, n=2) for reading in READINGS],
        samples=[],
        provenance=Provenance(sandbox=sandbox),
        notes=notes,
    )
    assert ("official †" in on_terminal(report)) is other
    assert (f"† Programs ran on Python {inside}; the official environment" in on_terminal(report)) is other
    made = as_file("x.md", report).decode()
    assert ("| official † |" in made) is other
