"""The conformance suite: its data say what is so, and the adapter of `grade` agrees on a part of it."""

import json
import subprocess
import sys
from typing import Any

import pytest

from conformance import run

pytestmark = pytest.mark.slow

TASKS = {task["id"]: task for task in run.lines("tasks.jsonl")}
PROGRAMS = run.lines("programs.jsonl")
FUNCTION = """
import json, sys
given = json.load(sys.stdin)
scope = {"__name__": "program"}
exec(compile(given["source"], "program", "exec"), scope)
if given["calls"] is None:
    exec(given["check"], scope)
    scope["check"](scope[given["entry_point"]])
for call, expected in given["calls"] or []:
    assert scope[given["entry_point"]](*call) == expected, call
"""


def plain(task: dict[str, Any], source: str, hidden: bool = False) -> bool:
    """Whether a program passes in plain Python; `hidden`: by inputs that no grader gets."""
    before = "hidden_" if hidden else ""
    if task["form"] == "function":
        calls = list(zip(task["hidden_inputs"], task["hidden_outputs"], strict=True)) if hidden else None
        given = json.dumps(task | {"source": source, "calls": calls})
        return ran(["-c", FUNCTION], given).returncode == 0
    pairs = zip(task[f"{before}inputs"], task[f"{before}outputs"], strict=True)
    return all(
        done.returncode == 0 and [line.strip() for line in done.stdout.strip().splitlines()] == expected.splitlines()
        for done, expected in ((ran(["-c", source], given), expected) for given, expected in pairs)
    )


def ran(command: list[str], given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", *command], input=given, capture_output=True, text=True, check=False, timeout=300
    )


def of(*classes: str) -> list[Any]:
    return [pytest.param(one, id=one["id"]) for one in PROGRAMS if one["class"] in classes]


def test_data_is_well_formed() -> None:
    assert len({one["id"] for one in PROGRAMS}) == len(PROGRAMS)
    assert {one["task"] for one in PROGRAMS} == set(TASKS)
    assert {one["class"] for one in PROGRAMS} == set(run.CLASSES)
    for one in PROGRAMS:
        assert one.keys() == {"id", "task", "class", "source", "must_pass", "why"}
        assert one["must_pass"] is (one["class"] == "honest"), one["id"]
        assert one["why"].endswith("."), one["id"]


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_references_pass_all_tests(task: dict[str, Any]) -> None:
    assert plain(task, task["solution"])
    assert plain(task, task["solution"], hidden=True)


@pytest.mark.parametrize("program", of("honest"))
def test_honest_programs_pass_all_tests(program: dict[str, Any]) -> None:
    assert plain(TASKS[program["task"]], program["source"])
    assert plain(TASKS[program["task"]], program["source"], hidden=True)


@pytest.mark.parametrize("program", of("wrong"))
def test_wrong_programs_fail(program: dict[str, Any]) -> None:
    assert not plain(TASKS[program["task"]], program["source"])


@pytest.mark.parametrize("program", of("weak_tests"))
def test_what_satisfies_weak_tests_fails_others(program: dict[str, Any]) -> None:
    assert plain(TASKS[program["task"]], program["source"])
    assert not plain(TASKS[program["task"]], program["source"], hidden=True)


@pytest.mark.bubblewrap
@pytest.mark.parametrize("name", ["script-plain", "exit-0-when-loaded", "equal-to-everything"])
def test_the_adapter_of_grade(name: str) -> None:
    (program,) = (one for one in PROGRAMS if one["id"] == name)
    verdict, reason = run.judged("grade, careful", TASKS[program["task"]], program)
    assert verdict == ("passed" if program["must_pass"] else "failed"), reason
