"""Where hostile programs meet honest ones: real grading runs, on every backend, and what is left after them."""

import contextlib
import importlib.util
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from .program import SIGNATURE, TESTS, Program, fenced

SECRET = f"grade-secret-{uuid.uuid4().hex}"
USER = 64_242
"""An unprivileged user that needs no name."""
NEEDED = (
    "cachetools",
    "click",
    "click_default_group",
    "filelock",
    "msgspec",
    "packaging",
    "platformdirs",
    "typing_extensions",
)
"""What the command imports on its way to a bubblewrap verdict, beside the standard library."""
VARIANTS = [
    pytest.param("docker", marks=[pytest.mark.docker, pytest.mark.xdist_group("docker")]),
    pytest.param("root", marks=[pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")], id="bubblewrap-root"),
    pytest.param("user", marks=[pytest.mark.bubblewrap, pytest.mark.xdist_group("hostile-user")], id="bubblewrap-user"),
]

CLEAN = """
import os
SALT = {salt}
def solution(x):
    salt = {salt}
    room = os.statvfs("/scratch")
    mine = others = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/" + pid + "/status") as file:
                uids = [line.split()[1] for line in file if line.startswith("Uid:")]
        except OSError:
            continue
        mine += uids == [str(os.getuid())]
        others += 1
    # Alone in a namespace there is the first process as well; a split run has a second program, of another user.
    if mine > 2 or others > 6:
        raise ValueError("processes are left: %d %d" % (mine, others))
    left = os.listdir(".") + os.listdir("/dev/shm")
    left += [name for name in os.listdir("/scratch") if name != "program" and not name.isdigit()]
    if left:
        raise ValueError("files are left: %s" % left[:5])
    if (room.f_blocks - room.f_bfree) * room.f_frsize > 1 << 18:
        raise ValueError("space is taken: %d" % (room.f_blocks - room.f_bfree))
    with open("file", "w") as file:
        file.write("x" * 100000)
    os.unlink("file")
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    if os.umask(0o077) != 0o077 or len(os.listdir("/proc/self/fd")) > 6:
        raise ValueError("this process was tampered with")
    held = bytearray(1 << 20)
    return {{3: 7392, 5: 1187}}[x] + 0 * salt * len(held)
"""
WRONG = "def solution(x):\n    salt = {salt}\n    return {{3: 7392, 5: 1188}}[x] + 0 * salt\n"
UNLINTED = """
import math, random
def solution(x):
    salt = {salt}
    random.shuffle(3, 4)
    return math.cbrtt(x) + 0 * salt
"""
DROPPED = "TABLE = {{3: 7392, 5: 1187}}\n\n\ndef solution(x):\n    salt = {salt}\n    return TABLE[x] + 0 * salt\n"
CANARIES = {
    "clean": (CLEAN, ("passed", "passed")),
    "wrong": (WRONG, ("failed", "failed")),
    "unlinted": (UNLINTED, ("lint_failed", "lint_failed")),
    "dropped": (DROPPED, ("lint_failed", "passed")),
}
RUNNING = ("clean", "wrong")
"""The canaries that follow a program whose attack is not on the linter, in whose sandbox no program runs."""
END = "the end"


@dataclass
class Arena:
    """One way of running `grade`: a backend, and a user."""

    variant: str
    folder: Path
    """Everything that this arena's graders read and write is in here."""
    python: str
    environment: dict[str, str]
    identity: dict[str, Any] = field(default_factory=dict)
    graders: list[subprocess.Popen[str]] = field(default_factory=list)
    """Every grader that was started."""

    @property
    def backend(self) -> str:
        """The value of `--sandbox`."""
        return "docker" if self.variant == "docker" else "bubblewrap"

    def write(self, name: str, tasks: list[dict[str, str]], records: list[dict[str, Any]]) -> list[str]:
        """Write a task file and a prediction file; return the command that grades them."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
        (folder / "predictions.json").write_text(json.dumps(records))
        for path in (folder, *folder.iterdir()):
            if self.identity:
                os.chown(path, USER, USER)
        words = [self.python, "-m", "grader", str(folder / "predictions.json")]
        return [*words, "--data", str(folder / "tasks.jsonl"), "--sandbox", self.backend, "-q"]

    def start(self, command: list[str], **extra: str) -> subprocess.Popen[str]:
        """Start a grader."""
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment | extra,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            **self.identity,
        )
        self.graders.append(process)
        return process

    def finish(self, process: subprocess.Popen[str], seconds: float = 1800) -> str:
        """Wait for a grader that must succeed; return what it said. Only one that hangs takes half an hour."""
        try:
            output, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=20)
            process.kill()
            process.communicate()
            raise
        assert process.returncode == 0, f"exit {process.returncode}\n{output[-500:]}\n{errors[-3000:]}"
        return output + errors

    def results(self, name: str) -> dict[str, list[dict[str, Any]]]:
        """Return the samples of a results file by task."""
        report = json.loads((self.folder / name / "predictions_results.json").read_bytes())
        found: dict[str, list[dict[str, Any]]] = {}
        for sample in report["samples"]:
            found.setdefault(sample["qid"], []).append(sample)
        return found

    def grade(self, name: str, tasks: list[dict[str, str]], records: list[dict[str, Any]], *words: str) -> Any:
        """Grade to the end; return the samples by task."""
        self.finish(self.start([*self.write(name, tasks, records), *words]))
        return self.results(name)

    def close(self) -> None:
        """End graders that a failed test has left."""
        for process in self.graders:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def leftovers(self) -> list[str]:
        """Name what remains of this arena's graders: processes, containers, mounts, files."""
        found = [f"process {pid}: {text}" for pid, text in self.processes()]
        found += [f"container {name}" for name in self.containers()]
        found += [line for line in Path("/proc/mounts").read_text().splitlines() if str(self.folder) in line]
        for place in ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/", "/etc", tempfile.gettempdir(), "."):
            found += [f"file {path}" for path in Path(place).glob("grade-hostile-*")]
        found += [f"file {path}" for path in (self.folder / "tmp").iterdir()]
        for path in self.folder.rglob("*.partial"):
            found.append(f"file {path}")
        return found

    def settled(self, seconds: float = 120) -> list[str]:
        """Return what is left once what is on its way out is gone."""
        deadline = time.monotonic() + seconds
        while (left := self.leftovers()) and time.monotonic() < deadline:
            time.sleep(0.1)
        return left

    def processes(self) -> Iterator[tuple[int, str]]:
        """Processes that see this arena's folder mounted, or were started with it: no other test has the same."""
        for name in map(str, pids()):
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
                if state not in "ZX" and (str(self.folder) in words or self._mounted(name)):
                    yield int(name), words[:200]

    def _mounted(self, pid: str) -> bool:
        with contextlib.suppress(OSError):
            return f"{self.folder}/" in Path(f"/proc/{pid}/mountinfo").read_text()
        return False

    def containers(self) -> list[str]:
        if self.variant != "docker":
            return []
        return [name for name, owner in containers() if any(f"/{g.pid}/" in owner for g in self.graders)]


def pids() -> list[int]:
    """Return the pids of all processes."""
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def containers() -> list[tuple[str, str]]:
    """Return (name, owner) of every container that a grader made."""
    from grader.sandbox.docker import OWNER_LABEL

    form = '{{.Names}} {{.Label "' + OWNER_LABEL + '"}}'
    command = ["docker", "ps", "--all", "--no-trunc", "--filter", f"label={OWNER_LABEL}", "--format", form]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [tuple(line.split(" ", 1)) for line in said.splitlines()]  # type: ignore[misc]


# --- who grades -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def arena(variant: str) -> Iterator[Arena]:
    """Make an arena; skips where this machine cannot have it."""
    if variant == "root" and os.getuid() != 0:
        pytest.skip("bubblewrap as root needs root")
    # Not in pytest's own folder: that is closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="grade-arena-"))
    try:
        folder.chmod(0o755)
        (folder / "tmp").mkdir()
        made = _arena(variant, folder)
        try:
            yield made
        finally:
            made.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _arena(variant: str, folder: Path) -> Arena:
    from grader import resources

    # With their byte code: no grader of this arena writes any.
    source = folder / "source"
    package = Path(importlib.util.find_spec("grader").origin).parent  # type: ignore[union-attr,arg-type]
    shutil.copytree(package, source / "grader")
    for name in ("sandbox_image", "benchmarks"):
        if not (source / "grader" / name).is_dir():
            shutil.copytree(resources.folder(name), source / name)
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(folder / "tmp"),
        "HOME": os.environ.get("HOME", "/"),
        "OPENAI_API_KEY": SECRET,
        "HF_TOKEN": SECRET,
        **{name: value for name, value in os.environ.items() if name.startswith(("DOCKER_", "XDG_", "PIP_"))},
    }
    made = Arena(variant=variant, folder=folder, python=sys.executable, environment=environment)
    if variant == "user" and os.getuid() == 0:
        _become_ordinary(made)
    # Builds the image or fetches the packages if that was not done, and says why where this cannot work.
    made.finish(made.start([made.python, "-m", "grader", "doctor", "--sandbox", made.backend]))
    return made


def own_cache(made: Arena) -> None:
    """Give an arena a cache folder of its own, with the packages that are fetched already."""
    from grader.observer import Silent
    from grader.sandbox import packages

    site = packages.prepare((sys.version_info[0], sys.version_info[1]), Silent())
    target = made.folder / "cache" / "grade" / site.name
    target.parent.mkdir(parents=True)
    if made.identity:
        shutil.copytree(site, target, copy_function=_link)
        os.chown(target.parent, USER, USER)
    else:
        target.symlink_to(site)
    made.environment["XDG_CACHE_HOME"] = str(made.folder / "cache")


def lend_numpy(made: Arena) -> None:
    """Give an ordinary user's grader NumPy, which it needs where some samples of a task pass and others fail."""
    if made.identity:
        found = importlib.util.find_spec("numpy")
        assert found.origin is not None
        package = Path(found.origin).parent
        for folder in package.parent.glob("numpy*"):
            if not folder.name.endswith("-info"):
                shutil.copytree(folder, made.folder / "source" / folder.name, ignore=shutil.ignore_patterns("tests"))


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _become_ordinary(made: Arena) -> None:
    """Let an unprivileged user run this arena's graders: with an interpreter and packages that it can read."""
    made.identity = {"user": USER, "group": USER, "extra_groups": []}
    os.chown(made.folder / "tmp", USER, USER)
    made.environment["HOME"] = str(made.folder / "tmp")
    for name in NEEDED:
        found = importlib.util.find_spec(name)
        assert found.origin is not None
        path = Path(found.origin)
        target = made.folder / "source"
        if found.submodule_search_locations:
            shutil.copytree(path.parent, target / path.parent.name)
        else:
            shutil.copy2(path, target)
    own_cache(made)
    made.python = _readable_python(made)
    for path in itertools.chain([made.folder / "source"], (made.folder / "source").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _readable_python(made: Arena) -> str:
    """Return an interpreter of this version that the ordinary user may run."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    question = "import sys, ctypes, ssl; print('%d.%d' % sys.version_info[:2])"
    for candidate in (sys.executable, f"/usr/bin/python{version}", f"/usr/local/bin/python{version}"):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            said = subprocess.run(
                [candidate, "-I", "-c", question], capture_output=True, text=True, check=True, cwd="/", **made.identity
            )
            if said.stdout.strip() == version:
                return candidate
    pytest.skip(f"an ordinary user may run no Python {version} of this machine")


# --- the table --------------------------------------------------------------------------------------------------


def table(programs: list[Program], kinds: Iterable[str]) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """Return tasks and predictions: all canaries, each hostile program with some behind it, and all again.

    Each canary is a different program.
    """
    tasks: list[dict[str, str]] = []
    records: list[dict[str, Any]] = []
    salts = itertools.count()

    def add(qid: str, texts: list[str], signature: str = SIGNATURE, tests: str = TESTS, reference: str = "") -> None:
        row = {"qid": qid, "function_signature": signature, "test_script": tests}
        tasks.append(row | ({"ground_truth_solution": reference} if reference else {}))
        records.append({"qid": qid, "predictions": texts})

    def canaries(place: str, kinds: Iterable[str] = CANARIES) -> None:
        for kind in kinds:
            add(f"{kind}/{place}", [fenced(CANARIES[kind][0].format(salt=next(salts)))])

    canaries("")
    for program in programs:
        texts = [program.answer(), *map(fenced, program.more)]
        add(f"hostile/{program.name}", texts, program.signature, program.tests, program.reference)
        canaries(program.name, kinds)
    canaries(END)
    return tasks, records


def outcomes(sample: dict[str, Any]) -> tuple[str, str]:
    """Return a sample's official and careful outcome."""
    return sample["official"]["outcome"], sample["careful"]["outcome"]


def judge(program: Program, samples: list[dict[str, Any]]) -> None:
    """Assert what must be true of a hostile program's verdicts."""
    assert len(samples) == 1 + len(program.more)
    for sample in samples:
        official, careful = outcomes(sample)
        said = f"{official}: {sample['official']['detail'][:300]!r}; {careful}: {sample['careful']['detail'][:300]!r}"
        assert official in program.official, said
        assert "unscored" not in (official, careful), said
        if official != "passed" or not program.honest:
            assert not sample["careful"]["credit"], said
        elif program.official == {"passed"}:
            assert sample["careful"]["credit"] == 1, said
        is_judged = careful != "not_judged"  # without a reference, tests may use an answer in a way that needs one
        assert is_judged or not program.reference, said
        if program.careful and is_judged:
            assert careful == program.careful, said
        details = sample["official"]["detail"] + sample["careful"]["detail"]
        assert len(details) < 400_000
        assert SECRET not in details
        if program.says and is_judged:
            assert re.search(program.says, details), said
        if program.never:
            assert not re.search(program.never, details), said


def judge_canaries(samples: dict[str, list[dict[str, Any]]], place: str, kinds: Iterable[str] = CANARIES) -> None:
    """Assert that the canaries after `place` have the verdicts they have anywhere."""
    for kind in kinds:
        (sample,) = samples[f"{kind}/{place}"]
        said = f"{kind}: {sample['official']['detail'][:300]!r} {sample['careful']['detail'][:300]!r}"
        assert outcomes(sample) == CANARIES[kind][1], said


# --- something to reach -----------------------------------------------------------------------------------------


class Outside:
    """Listens where no program may get: on a port of this machine, and on an abstract socket."""

    def __init__(self) -> None:
        self.abstract = f"grade-outside-{uuid.uuid4().hex}"
        self.visits: list[str] = []
        self._servers = [socket.create_server(("0.0.0.0", 0)), socket.socket(socket.AF_UNIX)]
        self._servers[1].bind("\0" + self.abstract)
        self._servers[1].listen()
        self.tcp = self._servers[0].getsockname()[1]
        for server in self._servers:
            threading.Thread(target=self._serve, args=(server,), daemon=True).start()

    def _serve(self, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, address = server.accept()
                self.visits.append(str(address))
                client.close()

    def close(self) -> None:
        """Stop listening."""
        for server in self._servers:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
