"""A home and a folder that cannot be written: what can be done is done, and the rest says what to do."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Root passes by the modes of files; without these capabilities it is held to them as an ordinary user is.
HELD = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []

pytestmark = pytest.mark.skipif(bool(HELD) and shutil.which("setpriv") is None, reason="root, and no setpriv")


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A folder with a home and a place for predictions, neither of which can be written."""
    for name in ("home", "in"):
        (tmp_path / name).mkdir()
    yield tmp_path
    for name in ("home", "in"):
        (tmp_path / name).chmod(0o755)


def grade(closed: Path, *words: object) -> subprocess.CompletedProcess[str]:
    for name in ("home", "in"):
        (closed / name).chmod(0o555)
    environment = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    return subprocess.run(
        [*HELD, sys.executable, "-m", "grader", *map(str, words)],
        capture_output=True,
        text=True,
        env={**environment, "HOME": str(closed / "home")},
        timeout=300,
        check=False,
    )


def test_predictions_in_a_read_only_folder_need_an_output_folder_and_the_error_says_so(
    closed: Path, root: Path
) -> None:
    sample = root / "benchmarks" / "vstar" / "sample"
    shutil.copy(sample / "predictions.json", closed / "in")
    words = [closed / "in" / "predictions.json", "-b", "vstar", "--data", sample / "questions.jsonl", "-q"]
    refused = grade(closed, *words)
    assert refused.returncode == 2
    assert "this folder is not writable; name another one with --output-dir." in refused.stderr
    made = grade(closed, *words, "--output-dir", closed / "out")
    assert (made.returncode, made.stderr) == (0, "")
    assert [path.name for path in (closed / "out").iterdir()] == ["predictions_results.json"]


@pytest.mark.docker
@pytest.mark.xdist_group("docker")
def test_a_home_that_cannot_be_written_is_a_warning_and_programs_are_executed(closed: Path, root: Path) -> None:
    sample = root / "benchmarks" / "humaneval-v" / "sample"
    shutil.copy(sample / "predictions.json", closed)
    path, data = closed / "predictions.json", sample / "tasks.jsonl"
    made = grade(closed, path, "--data", data, "--id", "q2", "--sandbox", "docker", "--workers", "1")
    assert made.returncode == 0, made.stderr
    assert "your cache folder is not writable (set" in made.stderr
    assert list(closed.glob("predictions_part-*_executed.json"))
