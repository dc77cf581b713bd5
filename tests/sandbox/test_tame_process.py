"""Tame programs answer one after another in one process, and each as if it were alone."""

import json
import time
from typing import Any

import phases
import pytest
from test_batches import DECLARED, call

pytestmark = phases.MARKS
GIVEN = call(1)
PID = "import os\ndef solution(a):\n    return os.getpid()\n"
"""A program that is not tame, and can tell what no tame program can."""


def answer(source: str, calls: list[str] | None = None, *, tame: bool = True, **job: Any) -> dict[str, Any]:
    """Let a program answer, marked as tame or not; what it returned is under `values`."""
    spare = {"spare": 200 << 20} if tame else {}
    said = phases.do("answer", {"candidate": DECLARED | {"source": source} | spare, "calls": calls or [GIVEN]}, **job)
    return said | {"values": [json.loads(reply).get("v") for reply in said.get("replies", ())]}


def answer_of(source: str) -> Any:
    return json.loads(answer(source)["replies"][0])


def pid() -> int:
    return int(answer(PID)["values"][0])


@pytest.mark.parametrize(
    ("source", "stopped"),
    [
        pytest.param("def solution(a):\n    while True: pass\n", "cpu", id="endless"),
        pytest.param("import os\nos._exit(0)\n", None, id="ends"),
        pytest.param("import sys\nsys.kept = [7] * 8_000_000\ndef solution(a): return 1\n", None, id="keeps memory"),
        pytest.param(
            "import os, time\ndef solution(a):\n    os.fork() or time.sleep(99)\n", None, id="leaves a process"
        ),
    ],
)
def test_a_program_that_ends_or_leaves_something_has_no_successor(source: str, stopped: str | None) -> None:
    before = pid()
    said = answer(source, cpu=0.3)
    assert said["evidence"]["stopped"] == stopped
    assert pid() != before


@pytest.mark.parametrize("kind", ["another program", "a linter", "tests"])
def test_nothing_else_runs_beside_it(kind: str) -> None:
    before = pid()
    if kind == "another program":
        answer(PID, tame=False)
    elif kind == "tests":
        phases.record(phases.task("assert solution(1) == 1\n"))
    else:
        phases.do("lint", head="x = 1\n", test="")
    assert pid() != before


def test_a_program_that_cannot_be_loaded_is_followed_by_the_next() -> None:
    before = pid()
    for calls in ([GIVEN], []):
        given = {"candidate": DECLARED | {"source": "raise ValueError\n", "spare": 1 << 28}, "calls": calls}
        assert json.loads(phases.do("answer", given)["hello"]) == {"failed": "ValueError: "}
        assert pid() == before


def test_a_process_that_has_ended_meanwhile_costs_no_program_its_answers() -> None:
    ends = (
        "import os, signal\ndef solution(a):\n    signal.setitimer(signal.ITIMER_REAL, 0.05)\n    return os.getpid()\n"
    )
    (before,) = answer(ends)["values"]
    time.sleep(0.2)
    assert answer("def solution(a):\n    return [a, a][0]\n")["values"] == [1]
    assert pid() != before


def test_what_the_library_remembers_is_forgotten() -> None:
    """The keys of its cache of patterns are equal for 2 and 2.0, and a compiled pattern needs no recursion."""
    search = "import re\ndef solution(a):\n    return re.findall('abc', 'ABC', {})\n"
    assert "v" in answer_of(search.format("2"))
    assert "TypeError" in json.dumps(answer_of(search.format("2.0")))


def test_every_program_has_its_own_names_output_input_and_limits() -> None:
    reads = "def solution(a):\n    print('x')\n    return input()\n"
    busy = (
        "from time import process_time as now\ndef solution(a):\n    end = now() + 0.3\n    while now() < end: pass\n"
    )
    given = json.dumps({**json.loads(GIVEN), "i": "a line\n", "p": True})
    before = pid()
    assert answer(reads + "secret = 5\n", [given])["values"] == ["a line"]
    (failed,) = answer(reads)["replies"]
    assert "OSError" in failed
    assert "NameError" in answer("def solution(a):\n    return secret\n")["replies"][0]
    for _ in range(3):
        said = answer(busy, cpu=0.5)
        assert said["evidence"]["stopped"] is None
        assert 0.25 < said["evidence"]["cpu"] < 0.45
    assert answer("def solution(a):\n    return a\n")["evidence"]["cpu"] < 0.1
    assert pid() == before


def test_a_program_that_needs_more_memory_runs_again_alone_with_all_of_it() -> None:
    said = answer("def solution(a):\n    return len([7] * 40_000_000)\n")
    assert (said["values"], said["strained"]) == ([40_000_000], True)
