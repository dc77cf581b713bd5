"""A full disk under the temporary folder and the cache: the error says what to do. A real file system, so root only."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")]
POOL = """
import sys, grader
with grader.Pool(benchmark="humaneval-v", data=sys.argv[1], sandbox="bubblewrap") as pool:
    pool.grade_samples([("q1", "text")])
"""


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own, without a free byte."""
    folder = tmp_path / "full"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this user cannot mount a file system")
    for name in ("grade", f"grade-pool-{os.getuid()}"):
        (folder / name).mkdir(mode=0o700)
    with contextlib.suppress(OSError), (folder / "filling").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    assert shutil.disk_usage(folder).free == 0
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def run(full: Path, *words: object) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"TMPDIR": str(full), "XDG_CACHE_HOME": str(full)}
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


def test_a_run_names_the_folders_that_can_be_moved(full: Path, root: Path, tmp_path: Path) -> None:
    sample = root / "benchmarks" / "humaneval-v" / "sample"
    path = tmp_path / "predictions.json"
    shutil.copy(sample / "predictions.json", path)
    said = run(
        full, "-m", "grader", path, "--data", sample / "tasks.jsonl", "--id", "q1", "--sandbox", "bubblewrap", "-q"
    )
    assert said.returncode == 3
    assert ("No space left on device" in said.stderr, "Errno" in said.stderr) == (True, False)
    assert "Make room, or set TMPDIR (temporary files) and XDG_CACHE_HOME (the cache)" in said.stderr
    assert list(tmp_path.glob("*_results.json")) == []


def test_a_pool_that_cannot_start_says_that_the_disk_is_full(full: Path, root: Path) -> None:
    sample = root / "benchmarks" / "humaneval-v" / "sample"
    said = run(full, "-c", POOL, sample / "tasks.jsonl")
    assert "The disk is full: make room, or set TMPDIR and XDG_CACHE_HOME to folders on another disk" in said.stderr
