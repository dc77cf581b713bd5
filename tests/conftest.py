"""What all tests share: where the project is, and which sandboxes this machine has."""

import functools
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, is_hypothesis_test, settings

from grader import resources
from grader.sandbox import packages

ROOT = Path(__file__).resolve().parent.parent
THOROUGH = bool(os.environ.get("GRADE_TEST_THOROUGH"))
"""Whether tests try all the cases that they make up, as `make test-slow` does, or a tenth of them."""

FOLDERS = {
    "hostile": ("tests/sandbox",),
    "cluster": ("tests/executors",),
    "fault": ("tests/faults",),
    "peers": ("tests/peers",),
}
"""Mark -> the folders that its target of the Makefile collects: to collect all tests takes each worker ten seconds."""


def cases(number: int) -> int:
    """Return how many made-up cases a test tries that has this many at its most thorough."""
    return number if THOROUGH else number // 10


# A deadline is a bound on wall-clock time: it fails where the machine is busy, and says nothing of the code. The same
# holds for how long it takes to make examples.
settings.register_profile("grade", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=cases(100))
settings.load_profile("grade")

# A shell that starts the tests in the background has Ctrl-C ignored, and so it would be by all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

MACHINE_CACHE = resources.cache_folder()
"""This machine's, before a test names another."""
REQUIRED = set(filter(None, os.environ.get("GRADE_TEST_REQUIRE", "").split(",")))


def chromium() -> str | None:
    """Return the machine's Chromium, if it has one: without its windows and menus it needs a third of the CPU time."""
    return next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser"))), None)


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


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a folder all of whose tests have a mark that is not wanted: each worker would import them."""
    for mark, folder in (("peers", "peers"), ("fault", "faults")):
        if collection_path == ROOT / "tests" / folder and f"not {mark}" in config.option.markexpr:
            return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put golden views, groups of tests that run one after the other, and what starts processes first.

    Groups are split by file, and those of one browser by folder: it starts in two seconds of CPU time. So no worker is
    left with a group when the others have ended.
    """

    def place(item: pytest.Item) -> tuple[bool, bool, bool]:
        folder = item.path.parent
        starts_processes = folder in (ROOT / "tests", ROOT / "tests" / "acceptance", ROOT / "tests" / "serving")
        return "golden" not in item.path.parts, item.get_closest_marker("xdist_group") is None, not starts_processes

    items.sort(key=place)
    for item in items:
        if is_hypothesis_test(getattr(item, "function", None)):
            item.add_marker("generated")
        for mark, folders in FOLDERS.items():
            if item.get_closest_marker(mark) and not any(item.path.is_relative_to(ROOT / name) for name in folders):
                raise pytest.UsageError(
                    f"{item.nodeid} is marked {mark}, but is not in {' or '.join(folders)}, where make looks for it"
                )
        if item.get_closest_marker("xdist_group") and not item.get_closest_marker("cluster"):
            # xdist joins the names of all marks. One machine has one cluster at a time.
            part = item.path.parent if item.get_closest_marker("browser") else item.path
            item.add_marker(pytest.mark.xdist_group(part.stem))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect the tests without the garbage collector. Nothing made here is garbage before the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


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
def no_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the model servers, keys and proxies of this machine from a test."""
    for name in list(os.environ):
        if name.startswith("OPENAI_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@functools.cache
def _packages() -> list[Path]:
    """Return the folders of this machine's cache that a sandbox with the present code uses."""
    patterns = "site-*[0-9]", f"code-{packages.code_digest()}-*[0-9]"
    return [made for pattern in patterns for made in MACHINE_CACHE.glob(pattern)]


@pytest.fixture
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a test a cache folder of its own, with the machine's sandbox packages: to fetch them takes half a minute."""
    # `mktemp` looks at the folders of all earlier tests to number this one.
    folder = Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp())) / "grade"
    folder.mkdir(mode=0o700)
    for made in _packages():
        (folder / made.name).symlink_to(made)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder.parent))
    return folder


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
