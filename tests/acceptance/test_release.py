"""What a release needs: the version of the tag, workflow files whose own steps run here, the pre-commit hook."""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import grader
from tests.acceptance.command import grade

if TYPE_CHECKING:
    from pathlib import Path


def steps_of(path: Path) -> list[dict[str, Any]]:
    return [step for job in yaml.safe_load(path.read_text())["jobs"].values() for step in job["steps"]]


def in_a_shell(script: str, cwd: Path, **environment: str) -> int:
    command = ["bash", "-e", "-c", script]
    return subprocess.run(command, cwd=cwd, env={"PATH": "/usr/bin:/bin", **environment}, check=False).returncode


def test_the_command_and_the_package_have_the_version_that_was_installed() -> None:
    said = grade("--version")
    assert said.stdout == f"grade, version {grader.__version__}\n"
    assert re.match(r"\d+\.\d+", grader.__version__)


@pytest.mark.parametrize(
    ("step", "tag", "code"),
    [
        ("The changelog has this version", "v0.2.0", 0),
        ("The changelog has this version", "v0.3.0", 1),
        ("The built version is the tag", "v0.2.0", 0),
        ("The built version is the tag", "v0.2.1", 1),
    ],
)
def test_a_release_stops_where_tag_changelog_and_build_disagree(
    step: str, tag: str, code: int, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-11-22)\n")
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "grade_predictions-0.2.0.tar.gz").touch()
    (script,) = [s["run"] for s in steps_of(root / ".github/workflows/release.yml") if s.get("name") == step]
    assert in_a_shell(script, tmp_path, TAG=tag) == code


def test_only_the_job_that_publishes_may_ask_for_an_identity(root: Path) -> None:
    jobs = yaml.safe_load((root / ".github/workflows/release.yml").read_text())["jobs"]
    assert {name for name, job in jobs.items() if "id-token" in job.get("permissions", {})} == {"publish"}
    uses = [step["uses"].partition("@")[0] for step in jobs["publish"]["steps"]]
    assert uses[-2:] == ["actions/attest-build-provenance", "pypa/gh-action-pypi-publish"]


def test_what_the_workflows_run_is_there(root: Path) -> None:
    run = [
        step["run"] for path in (root / ".github/workflows").glob("*.yml") for step in steps_of(path) if "run" in step
    ]
    targets = {target for script in run for target in re.findall(r"^make (\S+)", script, re.MULTILINE)}
    assert targets <= set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    assert any(".ci/run" in script for script in run)


def test_the_hook_checks_the_files_that_pre_commit_gives_it(root: Path, sample: Any) -> None:
    (hook,) = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())
    path, folder = sample("vstar")
    other = path.with_name("predictions_2.json")
    other.write_text('[{"qid": "none of these", "predictions": ["A"]}]')
    assert all(re.search(hook["files"], file.name) for file in (path, other))
    words = [*shlex.split(hook["entry"])[1:], "-b", "vstar", "--data", folder / "questions.jsonl"]
    assert grade(*words, path).returncode == 0
    said = grade(*words, path, other)
    assert said.returncode == 2
    assert "predictions_2.json:1:" in said.stderr
