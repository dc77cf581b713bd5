"""What all tests share: where the project is, and which sandboxes this machine has."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
# A deadline is a bound on wall-clock time: it fails where the machine is busy, and says nothing of the code.
settings.register_profile("usual", deadline=None)
# The same for how long it takes to make examples: HYPOTHESIS_PROFILE=slow, and whenever CI is set.
settings.register_profile("slow", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("slow" if os.environ.get("CI") else "usual"))

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


Once = Callable[[str, Callable[[Path], object]], Path]
"""`once(name, fill)` returns a folder that `fill(folder)` has filled, once per test run."""


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Make what is costly once per test run, however many workers there are: the first fills the folder."""
    own = tmp_path_factory.getbasetemp()
    # A worker's folder is in the run's; without workers the folder is the run's already.
    of_run = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def made(name: str, fill: Callable[[Path], object]) -> Path:
        folder, filled = of_run / name, of_run / f"{name}.filled"
        with FileLock(of_run / f"{name}.lock"):
            if not filled.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                filled.touch()
        return folder

    return made


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
