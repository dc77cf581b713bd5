"""Hostile programs between honest ones: none is credited, no verdict changes, nothing leaks, nothing remains."""

import contextlib
import dataclasses
import fcntl
import mmap
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile import exhausting, forging, leaking, outside, sources, stubborn, tampering
from hostile.arena import (
    CANARIES,
    END,
    RUNNING,
    SECRET,
    VARIANTS,
    Arena,
    Outside,
    arena,
    judge,
    judge_canaries,
    outcomes,
    table,
)
from hostile.program import SIGNATURE, TESTS, Program, fenced

pytestmark = pytest.mark.hostile


def programs_of(name: str) -> list[Program]:
    """Return the programs of the module of this name."""
    return next(module.PROGRAMS for module in MODULES if module.__name__.endswith(f".{name}"))


MODULES = [tampering, forging, leaking, exhausting, stubborn, outside, sources]
DOCKER, ROOT, USER = VARIANTS
# What is after our own Python code meets the same code in every sandbox: Docker's image brings another Python, and
# test_hostile_scripts.py runs most of these programs in bubblewrap. Memory is limited in two ways, also the linter's.
PLACES = {tampering: [DOCKER], forging: [DOCKER], sources: [DOCKER, USER], exhausting: [DOCKER, USER]}
"""Module -> the arenas that its programs meet, where these are not all."""
RUNS = [
    pytest.param(
        *place.values,
        name := module.__name__.rpartition(".")[2],
        id=f"{place.id or place.values[0]}-{name}",
        marks=[*place.marks, pytest.mark.xdist_group(name)],
    )
    for module in MODULES
    for place in PLACES.get(module, VARIANTS)
]
ATTACKS = [
    pytest.param(*run.values, program.name, id=f"{run.id}-{program.name}", marks=run.marks)
    for run in RUNS
    for program in programs_of(run.values[1])
]
# As root and as an ordinary user, bubblewrap counts time and memory in the same way.
COUNTING = pytest.mark.parametrize("place", [DOCKER, USER], indirect=True, scope="module")
# Short, so that what sits out its limit does not make this suite long; honest programs need a hundredth of it.
LIMITS = ["--timeout", "0.5", "--workers", "1", "--no-cache", "--memory"]
MEMORY = {"exhausting": "256m"}
"""Module -> its limit, where half of the others' will do: to fill more memory takes longer and shows the same."""
BEHIND = {"sources": tuple(CANARIES)}
"""Module -> the canaries behind each of its programs, where these are not those that programs could disturb."""


@pytest.fixture(scope="module")
def place(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """An arena for all tests of this module, checked for leftovers at the end."""
    with arena(request.param) as made:
        yield made
        assert made.settled() == []


@contextlib.contextmanager
def machine_memory() -> Iterator[None]:
    """Hold the machine's shared memory: where no cgroup counts it, who fills it disturbs the others."""
    with (Path(tempfile.gettempdir()) / "grade-tests-shared-memory.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Battle:
    """The verdicts on the programs of one module, each module graded when its first program is asked for."""

    def __init__(self, place: Arena) -> None:
        self._place = place
        self._samples: dict[str, Any] = {}
        self._failures: dict[str, BaseException] = {}
        self.outside = Outside()

    def samples(self, module: str) -> Any:
        """Return the samples of a module's table by task; a run that failed fails for each of its programs."""
        if module in self._failures:
            raise AssertionError(f"the run failed: {self._failures[module]}") from self._failures[module]
        if module not in self._samples:
            memory, given = MEMORY.get(module, "512m"), table(self.programs(module), BEHIND.get(module, RUNNING))
            try:
                with machine_memory() if module == "exhausting" else contextlib.nullcontext():
                    self._samples[module] = self._place.grade(module, *given, *LIMITS, memory)
            except BaseException as error:
                self._failures[module] = error
                raise
        return self._samples[module]

    def programs(self, module: str) -> list[Program]:
        """Return a module's programs, the places to reach filled in."""
        return [dataclasses.replace(program, source=self._located(program.source)) for program in programs_of(module)]

    def _located(self, source: str) -> str:
        words = {"tcp": str(self.outside.tcp), "abstract": self.outside.abstract, "secret": SECRET}
        for name, word in words.items():
            source = source.replace(f"{{{name}}}", word)
        return source


@pytest.fixture(scope="module")
def battle(place: Arena) -> Iterator[Battle]:
    """The verdicts of this module's arena."""
    made = Battle(place)
    yield made
    made.outside.close()
    assert made.outside.visits == []


@pytest.mark.parametrize(("place", "module", "name"), ATTACKS, indirect=["place"], scope="module")
def test_hostile_program(battle: Battle, module: str, name: str) -> None:
    """It is not credited unless its tests are satisfied, and the honest programs after it are judged as ever."""
    samples = battle.samples(module)
    judge_canaries(samples, "")
    program = next(p for p in battle.programs(module) if p.name == name)
    judge(program, samples[f"hostile/{name}"])
    judge_canaries(samples, name, BEHIND.get(module, RUNNING))


@pytest.mark.parametrize(("place", "module"), RUNS, indirect=["place"], scope="module")
def test_nothing_remains_after_a_run(battle: Battle, place: Arena, module: str) -> None:
    """All honest programs are judged as ever in the end, and no process, container, mount or file is left."""
    judge_canaries(battle.samples(module), END)
    assert place.settled() == []


@COUNTING
def test_same_verdicts_under_load(place: Arena) -> None:
    """With four busy loops beside the grader, honest programs pass and the others fail, for the same reasons."""
    programs = {
        "working": (_WORKING, ("passed", "passed")),
        "children": (exhausting.PROGRAMS[-1].source, ("passed", "passed")),
        "wrong": ("def solution(x):\n    return x\n", ("failed", "failed")),
        "asleep": ("import time\n\n\ndef solution(x):\n    time.sleep(60)\n", ("timeout", "timeout")),
        "unlinted": ("def solution(x):\n    return y\n", ("lint_failed", "lint_failed")),
    }
    tasks = [{"qid": name, "function_signature": SIGNATURE, "test_script": TESTS} for name in programs]
    records = [{"qid": name, "predictions": [fenced(source)]} for name, (source, _) in programs.items()]
    # Each in a session of its own: the kernel shares the processors out by session. They end with whoever started them.
    busy = [sys.executable, "-c", "import os\nstarter = os.getppid()\nwhile os.getppid() == starter: pass"]
    loops = [subprocess.Popen(busy, start_new_session=True) for _ in range(4)]
    try:
        samples = place.grade("load", tasks, records, "--timeout", "0.5", "--no-cache", "--workers", "2")
    finally:
        for loop in loops:
            loop.kill()
        for loop in loops:
            loop.wait()
    assert {name: outcomes(found[0]) for name, found in samples.items()} == {
        name: expected for name, (_, expected) in programs.items()
    }
    assert place.settled() == []


@COUNTING
def test_memory_of_strangers_is_nobodys(place: Arena) -> None:
    """Shared memory that comes and goes elsewhere on the machine does not count against an honest program."""
    tasks = [{"qid": "honest", "function_signature": SIGNATURE, "test_script": TESTS}]
    records = [{"qid": "honest", "predictions": [fenced(_WORKING.replace("0.1", "0.5"))]}]
    command = [*place.write("strangers", tasks, records), "--timeout", "4", "--memory", "64m", "--no-cache"]
    with machine_memory():
        process = place.start(command)
        while process.poll() is None:
            with mmap.mmap(-1, 300 << 20) as area:
                for start in range(0, len(area), 4 << 20):
                    area[start : start + (4 << 20)] = b"x" * (4 << 20)
                time.sleep(0.1)
            time.sleep(0.1)
        place.finish(process)
    assert outcomes(place.results("strangers")["honest"][0]) == ("passed", "passed")


_WORKING = """
import time
def solution(x):
    # Two calls, in two processes' worth of limits, together well below half a second of CPU time.
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    return {3: 7392, 5: 1187}[x]
"""
