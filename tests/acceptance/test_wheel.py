"""The built wheel: what it puts on the path, and that it grades."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile

import pytest


@pytest.fixture(scope="module")
def wheel(tmp_path_factory, root):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, root],
        check=True,
        capture_output=True,
    )
    return next(folder.glob("*.whl"))


def test_only_the_package_is_importable(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"grader"}
    for needed in (
        "grader/sandbox_image/runner.py",
        "grader/sandbox_image/requirements.lock",
        "grader/benchmarks/humaneval-v/benchmark.toml",
        "grader/benchmarks/vstar/benchmark.toml",
    ):
        assert needed in names


@pytest.mark.bubblewrap
def test_it_grades_the_sample_it_carries(wheel, tmp_path, sample):
    site = tmp_path / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", site, wheel]
    subprocess.run(command, check=True, capture_output=True)
    path, _ = sample("humaneval-v")
    tasks = site / "grader/benchmarks/humaneval-v/sample/tasks.jsonl"
    environment = {**os.environ, "PYTHONPATH": str(site)}
    where = subprocess.run(
        [sys.executable, "-c", "import grader; print(grader.__file__)"],
        env=environment, capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert where.stdout.startswith(str(site))
    run = subprocess.run(
        [sys.executable, "-m", "grader", path, "--data", tasks, "--sandbox", "bubblewrap", "--id", "q1"],
        env=environment, capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    results = json.loads(path.with_name("predictions_results.json").read_text())
    assert {row["qid"] for row in results["samples"]} == {"q1"}
