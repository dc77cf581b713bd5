"""What a release needs: the version of the tag, workflow files whose own steps run here, the pre-commit hook."""

import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import grader
from tests.acceptance.command import grade


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


def test_the_job_that_publishes_can_do_nothing_else(root: Path) -> None:
    jobs = yaml.safe_load((root / ".github/workflows/release.yml").read_text())["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    uses = [step["uses"].partition("@")[0] for step in jobs["publish"]["steps"]]
    assert uses == ["actions/download-artifact", "pypa/gh-action-pypi-publish"]
    assert "id-token" not in jobs["build"]["permissions"]


def test_actions_are_named_by_commit_and_packages_are_installed_by_hash(root: Path) -> None:
    files = [root / "action.yml", *(root / ".github/workflows").glob("*.yml")]
    used = [line for path in files for line in path.read_text().splitlines() if "uses:" in line]
    assert len(used) >= 10
    assert [line for line in used if not re.search(r"uses: [\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$", line)] == []
    for path in (root / "action.yml", root / "Containerfile"):
        installs = re.findall(r"(?:pip|pip\") (?:install|wheel) [^\n&]*", path.read_text())
        assert len(installs) >= 2
        assert [line for line in installs if "--require-hashes" not in line and "--no-deps" not in line] == []


def test_the_lock_has_every_dependency(root: Path) -> None:
    """A dependency that is added, or needs a newer version, needs `make locks`."""
    names = tomllib.loads((root / "pyproject.toml").read_text())
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", (root / "requirements.lock").read_text(), re.MULTILINE))
    for text in [*names["project"]["dependencies"], *names["build-system"]["requires"]]:
        wanted = Requirement(text)
        assert wanted.specifier.contains(locked[canonicalize_name(wanted.name)]), text


PLACEHOLDERS = re.compile(
    r"(?<![\w/])(?:https?://)?(HOST)/|\b(OWNER)/|\b(?:rev: |grade@)(TAG)\b|\b(TODO|FIXME|TBD|CHANGEME|YOUR[-_]\w+)\b"
)


def test_placeholders_are_those_that_the_release_names(root: Path) -> None:
    """CONTRIBUTING says what a maintainer fills in; nothing else waits for it, and no example names a missing tag."""
    listed = re.findall(r"replace `([A-Z]+)` in `([^`]+)`", (root / "CONTRIBUTING.md").read_text())
    assert listed
    git = ["git", "-C", str(root)]
    names = subprocess.run([*git, "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    tags = set(subprocess.run([*git, "tag"], capture_output=True, text=True, check=True).stdout.split())
    texts = {
        name: (root / name).read_text(encoding="utf-8", errors="replace")
        for name in names
        if not name.startswith("tests/") and (root / name).is_file()
    }
    found = {
        (next(filter(None, match.groups())), name)
        for name, text in texts.items()
        for match in PLACEHOLDERS.finditer(text)
    }
    assert found == set(listed)
    used = {tag for text in texts.values() for tag in re.findall(r"(?:\brev: |/grade@)(v\d\S*)", text)}
    assert used <= tags


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
