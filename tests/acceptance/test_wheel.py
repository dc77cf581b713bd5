"""The built distributions: what is in them, what the wheel puts on the path, and that it grades."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def built(once, root):
    """Build the source distribution, and of it the wheel: a file that the first lacks is in neither."""

    def build(folder):
        command = [sys.executable, "-m", "build", "--outdir", folder, root]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stdout + made.stderr

    return once("dist", build)


def test_the_packages_metadata_readme_and_layout_are_what_an_index_expects(built):
    for tool in (["twine", "check", "--strict", *built.iterdir()], ["check_wheel_contents", *built.glob("*.whl")]):
        said = subprocess.run([sys.executable, "-m", *tool], capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stdout + said.stderr


def test_both_have_all_that_is_needed_and_only_the_package_is_importable(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"grader"}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert {*names} >= {
        "grader/py.typed",
        "grader/sandbox_image/runner.py",
        "grader/sandbox_image/grade_sandbox/judging/asking.py",
        "grader/sandbox_image/requirements.lock",
        "grader/benchmarks/vstar/benchmark.toml",
    }
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


@pytest.mark.bubblewrap
def test_the_wheel_grades_the_sample_it_carries(built, tmp_path, sample):
    site = tmp_path / "site"
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        archive.extractall(site)
    path, _ = sample("humaneval-v")
    tasks = site / "grader/benchmarks/humaneval-v/sample/tasks.jsonl"
    code = "import grader, grader.__main__ as command; print(grader.__file__, flush=True); command.main()"
    words = [path, "--data", tasks, "--sandbox", "bubblewrap", "--id", "q1"]
    run = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(str(site))
    (written,) = path.parent.glob("predictions_part-*_results.json")
    results = json.loads(written.read_text())
    assert {row["qid"] for row in results["samples"]} == {"q1"}
