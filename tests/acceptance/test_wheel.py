"""The built distributions: what is in them, what the wheel puts on the path, and that it grades."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile

import pytest


@pytest.fixture
def built(once, root):
    """Build the source distribution, and of it the wheel: a file that the first lacks is in neither."""

    def build(folder):
        command = [sys.executable, "-m", "build", "--outdir", folder, root]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stdout + made.stderr

    return once("dist", build)


@pytest.fixture
def wheel(built):
    return next(built.glob("*.whl"))


def test_the_packages_metadata_readme_and_layout_are_what_an_index_expects(built):
    for tool in (["twine", "check", "--strict", *built.iterdir()], ["check_wheel_contents", *built.glob("*.whl")]):
        said = subprocess.run([sys.executable, "-m", *tool], capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stdout + said.stderr


def test_licence_and_types_come_with_both(built, wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "grader/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        members = {name.partition("/")[2] for name in archive.getnames()}
    assert members >= {
        "LICENSE",
        "SECURITY.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "grader/py.typed",
        "tests/conftest.py",
    }


def test_only_the_package_is_importable(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"grader"}
    for needed in (
        "grader/sandbox_image/runner.py",
        "grader/sandbox_image/grade_sandbox/values/wire.py",
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
    (written,) = path.parent.glob("predictions_part-*_results.json")
    results = json.loads(written.read_text())
    assert {row["qid"] for row in results["samples"]} == {"q1"}
