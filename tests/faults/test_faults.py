"""What goes wrong around a run: 200 passing programs end with the same verdicts, and nothing is left (`make fault`).

`tests/executors/test_ray.py` kills nodes of a cluster, `tests/sandbox/test_supervisor_lifetime.py` the grader itself.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.errors import InfrastructureError
from grader.files import key_value
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import Outcome
from grader.sandbox import packages, verdict_cache
from tests.bench.soak import containers, processes_below
from tests.bench.variations import variations
from tests.conftest import MACHINE_CACHE

pytestmark = [pytest.mark.fault, pytest.mark.bubblewrap]
DATA = Path(__file__).parents[2] / "benchmarks" / "humaneval" / "sample" / "tasks.jsonl"
PROGRAMS = 200
PHASES = ("recording calls", "answering", "judging", "running official tests")
Verdicts = list[tuple[Any, ...]]


class Watcher(Silent):
    """Calls a function with the phase and the number of its steps so far, at every step."""

    def __init__(self, fault: Callable[[str, int], object]) -> None:
        self.fault, self.now, self.done = fault, "", 0

    def phase(self, name: str, total: int | None) -> None:
        self.now, self.done = name, 0
        self.fault(name, 0)

    def advance(self, steps: int = 1, *, passed: int = 0) -> None:
        self.done += steps
        self.fault(self.now, self.done)


@pytest.fixture(scope="module")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 distinct programs of the sample's tasks."""
    tasks = [json.loads(line) for line in DATA.read_text().splitlines()]
    each = -(-PROGRAMS // len(tasks))
    samples = {t["task_id"]: variations([f"{t['prompt']}{t['canonical_solution']}"], each) for t in tasks}
    pairs = [(qid, text) for qid, texts in samples.items() for text in texts][:PROGRAMS]
    records = [{"qid": qid, "predictions": [text for other, text in pairs if other == qid]} for qid in samples]
    path = tmp_path_factory.mktemp("faults") / "predictions.json"
    path.write_text(json.dumps(records))
    return path


@pytest.fixture(autouse=True)
def folder() -> Iterator[Path]:
    """Give each run temporary files and a cache of its own, with the packages of this machine; check what is left.

    The path of a socket has at most 107 characters, so the folder's path is shorter than `tmp_path`.
    """
    with (
        tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as name,
        pytest.MonkeyPatch.context() as patched,
    ):
        place = Path(name)
        cache = place / "cache" / "grade"
        cache.mkdir(parents=True, mode=0o700)
        lend_packages(cache)
        (place / "temporary").mkdir()
        use(patched, place)
        yield place
        assert left(place) == []


def lend_packages(cache: Path) -> None:
    own = f"code-{packages.code_digest()}-"
    for path in MACHINE_CACHE.iterdir():
        if path.is_dir() and path.name.startswith(("site-", own)):
            if path.stat().st_dev == cache.stat().st_dev:
                shutil.copytree(path, cache / path.name, copy_function=os.link)  # an image takes no links to elsewhere
            else:
                cache.joinpath(path.name).symlink_to(path)


def use(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", f"{place / 'cache'}")
    monkeypatch.setenv("TMPDIR", f"{place / 'temporary'}")
    monkeypatch.setattr(tempfile, "tempdir", f"{place / 'temporary'}")


def left(place: Path) -> list[Any]:
    """Return processes, containers and files that a run has left, after a moment in which they may end."""
    deadline = time.monotonic() + 30
    while True:
        files = [path for path in place.joinpath("temporary").rglob("*") if path.suffix not in {".lock", ".log"}]
        files = [path for path in files if not path.name.startswith("grade-pool-")]
        found = [*processes_below(os.getpid()), *containers(os.getpid()), *files]
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.2)


def run(path: Path, fault: Callable[[str, int], object] = lambda *_: None, **options: Any) -> Verdicts:
    """Return what is known of each sample after a run."""
    given = {"benchmark": "humaneval", "data": DATA, "sandbox": "bubblewrap", "missing": "wrong", **options}
    samples = grade(path, Options(**given), Watcher(fault)).report.samples
    return [(s.qid, s.sample, s.official, s.careful) for s in samples]


@pytest.fixture(scope="module")
def expected(predictions: Path) -> Verdicts:
    verdicts = run(predictions, cache=False)
    assert len(verdicts) == PROGRAMS
    assert {(official.credit, careful.credit) for _, _, official, careful in verdicts} == {(1.0, 1.0)}
    return verdicts


def every(phase: str, steps: int, do: Callable[[], object]) -> Callable[[str, int], object]:
    """Return a fault that happens each time a phase has made so many steps more."""
    due = [1]

    def fault(now: str, done: int) -> None:
        if now == phase and done >= due[0]:
            due[0] = done + steps
            do()

    return fault


def once(phase: str, steps: int, do: Callable[[], object]) -> Callable[[str, int], object]:
    """Return a fault that happens once, after so many steps of a phase."""
    return lambda now, done: do() if (now, done) == (phase, steps) else None


@pytest.mark.parametrize("phase", PHASES)
def test_killed_processes_of_sandboxes(phase: str, predictions: Path, expected: Verdicts) -> None:
    """Whichever it is: a supervisor, the process that programs are forked from, a program."""
    chance = random.Random(phase)
    killed = []

    def kill_one() -> None:
        with contextlib.suppress(ProcessLookupError, IndexError):
            killed.append(chance.choice(processes_below(os.getpid())))
            os.kill(killed[-1], signal.SIGKILL)

    assert run(predictions, every(phase, 3 if phase == PHASES[0] else 40, kill_one), cache=False) == expected
    assert killed


@pytest.mark.docker
def test_killed_containers(predictions: Path, expected: Verdicts) -> None:
    killed = []

    def kill_all() -> None:
        for pid in containers(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    assert run(predictions, once("answering", 50, kill_all), sandbox="docker", cache=False) == expected
    assert killed


def samples_of(predictions: Path) -> list[tuple[str, str]]:
    return [(record["qid"], text) for record in json.loads(predictions.read_text()) for text in record["predictions"]]


@pytest.mark.parametrize("sandbox", ["bubblewrap", pytest.param("docker", marks=pytest.mark.docker)])
def test_killed_sandboxes_of_a_pool(sandbox: str, predictions: Path) -> None:
    """Whichever process is killed, no program loses its reward, and none gets one that it has not earned."""
    tasks = {task["task_id"]: task for task in map(json.loads, DATA.read_text().splitlines())}
    passing = samples_of(predictions)
    wrong = [
        (qid, f"{tasks[qid]['prompt']}    return {number}  # wrong") for number, (qid, _) in enumerate(passing[:60])
    ]
    endless = [(qid, f"{tasks[qid]['prompt']}    while True: pass  # {n}") for n, (qid, _) in enumerate(passing[:6])]
    slow = [(qid, f"import time\nwhile time.process_time() < 0.3: pass\n{text}") for qid, text in passing[-20:]]
    samples = [*endless, *slow, *passing, *wrong]
    random.Random(1).shuffle(samples)
    chance = random.Random(sandbox)
    options: Any = {"benchmark": "humaneval", "data": DATA, "sandbox": sandbox, "timeout": 1}
    with grader.Pool(cache=False, shared=False, **options) as pool:
        pid = pool.state().pid

        def kill_one() -> None:
            found = containers(pid) if sandbox == "docker" else processes_below(pid)
            with contextlib.suppress(ProcessLookupError, IndexError):
                os.kill(chance.choice(found), signal.SIGKILL)

        found: dict[int, Any] = {}
        for place, result in pool.as_completed(samples):
            found[place] = result.careful
            if len(found) % 20 == 0:
                kill_one()
        state = pool.state()
    earned = [float(sample in passing or sample in slow) for sample in samples]
    assert [found[place].credit for place in range(len(samples))] == earned
    assert Outcome.UNSCORED not in {reading.outcome for reading in found.values()}
    assert state.lost_sandboxes


class Engine:
    """The way to the Docker engine, which can be cut."""

    def __init__(self, path: Path) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(f"{path}")
        self._listener.listen(64)
        self._open: list[socket.socket] = []
        self.is_down = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Lose all connections, and take no new one."""
        self.is_down = True
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            near, _ = self._listener.accept()
            if self.is_down:
                near.close()
                continue
            far = socket.socket(socket.AF_UNIX)
            far.connect("/var/run/docker.sock")
            self._open += [near, far]
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


@pytest.mark.docker
@pytest.mark.skipif(not Path("/var/run/docker.sock").exists(), reason="the engine has no such socket")
def test_an_engine_that_stops(
    predictions: Path, expected: Verdicts, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends with exit code 3 or waits for it; the same command then continues."""
    engine = Engine(folder / "engine.sock")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{folder / 'engine.sock'}")
    with pytest.raises(InfrastructureError) as raised:
        run(predictions, once("answering", 100, engine.cut), sandbox="docker")
    assert raised.value.exit_code == 3
    engine.is_down = False
    assert run(predictions, sandbox="docker") == expected


@pytest.mark.docker
@pytest.mark.skipif(not Path("/var/run/docker.sock").exists(), reason="the engine has no such socket")
def test_a_pool_waits_for_an_engine_that_comes_back(
    predictions: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(folder / "engine.sock")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{folder / 'engine.sock'}")
    with grader.Pool(benchmark="humaneval", data=DATA, sandbox="docker", cache=False, shared=False) as pool:
        earned = []
        for _, result in pool.as_completed(samples_of(predictions)):
            earned.append(result.careful.credit)
            if len(earned) == 40:
                engine.cut()
                threading.Timer(5, setattr, (engine, "is_down", False)).start()
        assert earned == [1.0] * PROGRAMS
        assert pool.state().failures


@pytest.fixture
def disk(folder: Path) -> Iterator[Path]:
    """A small disk for temporary files and the cache."""
    place = folder / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place], check=False).returncode:
        pytest.skip("this user cannot mount a file system")
    place.joinpath("cache/grade").mkdir(parents=True, mode=0o700)
    lend_packages(place / "cache" / "grade")
    place.joinpath("temporary").mkdir()
    # What it changes is restored before what `folder` changed is: else later tests would be in a folder that is gone.
    with pytest.MonkeyPatch.context() as patched:
        use(patched, place)
        yield place
    assert left(place) == []
    subprocess.run(["umount", "--lazy", place], check=True)


def fill(place: Path) -> None:
    with contextlib.suppress(OSError), place.joinpath("filling").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)


@pytest.mark.parametrize("phase", PHASES)
def test_a_disk_that_fills_up(phase: str, predictions: Path, expected: Verdicts, disk: Path) -> None:
    """The run ends with exit code 3 or does without the cache; the same command with room then ends well."""
    error = ""
    try:
        assert run(predictions, once(phase, 0, lambda: fill(disk))) == expected
    except (InfrastructureError, OSError) as raised:
        error = str(raised)
    assert not error or "No space left on device" in error
    disk.joinpath("filling").unlink(missing_ok=True)
    assert run(predictions) == expected


def test_results_that_do_not_fit(predictions: Path, disk: Path) -> None:
    target = disk / "out"
    target.mkdir()
    command = [sys.executable, "-m", "grader", f"{predictions}", "-b", "humaneval", "--data", f"{DATA}", "-q"]
    command += ["--sandbox", "bubblewrap", "-o", f"{target / 'results.json'}"]
    fill(disk)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, list(target.iterdir())) == (3, []), done.stderr
    disk.joinpath("filling").unlink()
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 0


def locked(path: Path) -> Any:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    return connection.close


def read_only(path: Path) -> Any:
    if subprocess.run(["mount", "--bind", "-o", "ro", path, path], check=False).returncode:
        pytest.skip("this user cannot mount a file system")
    return lambda: subprocess.run(["umount", "--lazy", path], check=True)


def damaged(path: Path) -> Any:
    data = bytearray(path.read_bytes())
    data[4096 : len(data) - 4096] = b"\xa5" * max(0, len(data) - 8192)
    path.write_bytes(data)
    return lambda: None


def newer_columns(path: Path) -> Any:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript("ALTER TABLE entries RENAME COLUMN value TO content; PRAGMA user_version = 99")
    return lambda: None


@pytest.mark.parametrize("spoil", [locked, read_only, damaged, newer_columns])
def test_a_cache_that_cannot_be_used(
    spoil: Callable[[Path], Any], predictions: Path, expected: Verdicts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_value, "_BUSY_SECONDS", 0.5)
    assert run(predictions) == expected
    repair = spoil(verdict_cache.default_path())
    try:
        assert run(predictions) == expected
    finally:
        repair()


@pytest.mark.parametrize("seconds", [-400 * 86_400, 400 * 86_400])
def test_a_clock_that_jumps(
    seconds: float, predictions: Path, expected: Verdicts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock that people set; the other one cannot jump."""
    true, jumps = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: true() + jumps[0])

    def jump() -> None:
        jumps[0] = seconds if not jumps[0] else 0.0

    assert run(predictions, every("answering", 20, jump)) == expected
    assert run(predictions) == expected
