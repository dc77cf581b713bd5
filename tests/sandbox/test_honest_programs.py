"""Correct programs keep their credit, however unusual the values are that they return."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from catalogue import PROGRAMS

from tests.acceptance.command import grade

if TYPE_CHECKING:
    from pathlib import Path

KEPT_AT_LEAST, KEPT_WITHOUT = 0.9, 0.8
KNOWN_LOSSES = {
    "container-of-its-own-class": "an object of a class of its own is sent as its attributes, without its methods",
    "generator-that-is-sent-values": "a generator is sent as its items; it cannot be sent values",
    "coroutine": "a coroutine runs in the event loop of the tests, where no code of a candidate is",
}
"""Program -> why the careful reading does not credit it."""
RUN_ALONE = """
import json, os, sys, traceback
import numpy
codes, found = json.load(sys.stdin), {}
for name, code in codes.items():
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(2, 1)
            exec(compile(code, name, "exec"), {"__name__": "program"})
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    found[name] = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(json.dumps(found))
"""
"""Runs each program in a fork; says name -> exit code."""


def test_the_catalogue_has_a_hundred_programs_with_names_of_their_own() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) == 100
    assert set(KNOWN_LOSSES) <= {program.name for program in PROGRAMS}


def test_every_program_passes_its_tests_in_a_process_of_its_own() -> None:
    codes = {program.name: f"{program.written()}\n" for program in PROGRAMS}
    ran = subprocess.run(
        [sys.executable, "-I", "-c", RUN_ALONE], check=True, input=json.dumps(codes), capture_output=True, text=True
    )
    assert json.loads(ran.stdout) == dict.fromkeys(codes, 0), ran.stderr


def _grade(folder: Path, *, references: bool) -> dict[str, dict[str, Any]]:
    """Grade the catalogue, each program beside itself or without a reference solution; return name -> sample."""
    rows = [{"qid": p.name, "function_signature": p.signature, "test_script": p.tests} for p in PROGRAMS]
    if references:
        rows = [row | {"ground_truth_solution": p.source} for row, p in zip(rows, PROGRAMS, strict=True)]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = [{"qid": p.name, "predictions": [f"```python\n{p.source}```"]} for p in PROGRAMS]
    (folder / "predictions.json").write_text(json.dumps(answers))
    words = ["predictions.json", "--data", "tasks.jsonl", "--no-cache", "-q", "--timeout", "6", "--workers", "1"]
    ran = grade(*words, "--sandbox", "bubblewrap", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    results = json.loads((folder / "predictions_results.json").read_text())
    return {sample["qid"]: sample for sample in results["samples"]}


def _lost(samples: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: one["careful"]["detail"][:150] for name, one in samples.items() if not one["careful"]["credit"]}


@pytest.mark.bubblewrap
def test_nine_of_ten_honest_programs_keep_their_credit(tmp_path: Path) -> None:
    lost = _lost(_grade(tmp_path, references=True))
    assert len(lost) <= (1 - KEPT_AT_LEAST) * len(PROGRAMS), lost
    assert set(lost) == set(KNOWN_LOSSES), f"the table of known losses is out of date: {lost}"


@pytest.mark.bubblewrap
def test_eight_of_ten_keep_it_without_a_reference_solution(tmp_path: Path) -> None:
    lost = _lost(_grade(tmp_path, references=False))
    assert len(lost) <= (1 - KEPT_WITHOUT) * len(PROGRAMS), lost
