"""What nobody expected ends in 3 with one sentence and a file for a report, and never looks like a gate."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from grader import cli
from tests.acceptance.command import grade
from tests.conftest import ROOT

SAMPLE = ROOT / "benchmarks/vstar/sample"
WORDS = ("-b", "vstar", "--data", SAMPLE / "questions.jsonl")


def details(said: str) -> Path:
    (name,) = re.findall(r"(/\S+/grade-error-\w+\.txt) has the details for a report", said)
    return Path(name)


@pytest.mark.parametrize("error", [RecursionError("too deep"), ValueError("\x1b[2J")])
def test_an_error_of_its_own_is_no_gate(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("grader.grading.grade", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "p.json").write_bytes((SAMPLE / "predictions.json").read_bytes())
    words = [str(tmp_path / "p.json"), *map(str, WORDS), "--fail-under", "accuracy=1"]
    assert cli.run(words) == 3
    said = capsysbinary.readouterr().err.decode()
    assert f"error: This is an error of grade itself ({type(error).__name__}). No result is to be trusted." in said
    assert "Traceback" not in said
    file = details(said)
    assert file.stat().st_mode & 0o777 == 0o600
    assert "Traceback" in file.read_text()
    assert f"{type(error).__name__}: {error}" in file.read_text()


def test_where_no_file_can_be_written_the_details_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    monkeypatch.setattr("grader.cli.main.main", lambda *_, **__: 1 / 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert cli.run([]) == 3
    assert "Please report these details:\nTraceback" in capsysbinary.readouterr().err.decode()


def test_a_lack_of_memory_is_no_gate(tmp_path: Path) -> None:
    """A real one: a prediction file that needs more than the process may have."""
    path = tmp_path / "p.json"
    with path.open("wb") as file:
        file.truncate(8 << 30)
    limit = 2 << 30
    done = subprocess.run(
        [sys.executable, "-m", "grader", str(path), *map(str, WORDS), "--fail-under", "accuracy=1"],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "error: There was not enough memory." in done.stderr
    assert "Traceback" not in done.stderr
    assert "MemoryError" in details(done.stderr).read_text()


def test_a_device_is_refused_unread_wherever_a_file_is_named(tmp_path: Path) -> None:
    """It may have no end: reading it takes all memory."""
    place = ("--output-dir", tmp_path)
    server = ("--model", "m", "--base-url", "http://localhost:9/v1", "-o", tmp_path / "o.json")
    for words in (
        ["/dev/null", *WORDS, *place],
        ["/dev/zero", *WORDS, *place],
        [SAMPLE / "predictions.json", *WORDS, *place, "--judge-replies", "/dev/zero"],
        [SAMPLE / "predictions.json", *WORDS, *place, "--baseline", "/dev/zero", "--max-drop", "5"],
        ["serve", "-b", "vstar", "--token-file", "/dev/zero"],
        ["infer", *WORDS, *server, "--prompt", "/dev/zero"],
    ):
        done = grade(*words)
        assert (done.returncode, "it is a device" in done.stderr) == (2, True), done.stderr


def test_links_in_a_circle_and_names_that_are_too_long_are_refused_before_anything_is_graded(tmp_path: Path) -> None:
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    predictions = (SAMPLE / "predictions.json").read_bytes()
    (tmp_path / f"{'a' * 240}.json").write_bytes(predictions)
    done = grade(loop, *WORDS)
    assert (done.returncode, "loop.json: cannot be read: Too many levels" in done.stderr) == (2, True), done.stderr
    done = grade(tmp_path / f"{'a' * 240}.json", *WORDS)
    assert (done.returncode, "File name too long; rename the prediction file" in done.stderr) == (2, True), done.stderr
