"""What all tests share: where the project is, and which sandboxes this machine has."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
REQUIRED = set(filter(None, os.environ.get("GRADE_TEST_REQUIRE", "").split(",")))


def _has(backend: str) -> bool:
    from grader.sandbox import docker

    return docker.available() if backend == "docker" else shutil.which("bwrap") is not None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a sandbox that is not here; where it is required, its absence is a failure."""
    for backend in ("docker", "bubblewrap"):
        if item.get_closest_marker(backend) and not _has(backend):
            if backend in REQUIRED:
                pytest.fail(f"{backend} is required here and does not answer")
            pytest.skip(f"{backend} is not available")


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
