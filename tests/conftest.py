"""What all tests share: where the project is, and which sandboxes this machine has."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
REQUIRED = set(filter(None, os.environ.get("GRADE_TEST_REQUIRE", "").split(",")))


def chromium() -> str | None:
    """Return the machine's Chromium, if it has one."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def _has(need: str) -> bool:
    if need == "browser":
        return chromium() is not None
    from grader.sandbox import docker

    return docker.available() if need == "docker" else shutil.which("bwrap") is not None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a sandbox or a browser that is not here; where it is required, its absence is a failure."""
    for need in ("docker", "bubblewrap", "browser"):
        if item.get_closest_marker(need) and not _has(need):
            if need in REQUIRED:
                pytest.fail(f"{need} is required here and does not answer")
            pytest.skip(f"{need} is not available")


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture
def sample(tmp_path: Path):
    """Copy a bundled sample's predictions to a folder of the test's own: grading writes beside them."""

    def copy(benchmark: str) -> tuple[Path, Path]:
        folder = ROOT / "benchmarks" / benchmark / "sample"
        target = tmp_path / "predictions.json"
        shutil.copy(folder / "predictions.json", target)
        return target, folder

    return copy


BACKENDS = [
    pytest.param("docker", marks=[pytest.mark.docker, pytest.mark.xdist_group("docker")]),
    pytest.param("bubblewrap", marks=[pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")]),
]
