"""Correct programs keep their credit, however unusual the values are that they return."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

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


def test_programs_have_names_of_their_own() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
    assert set(KNOWN_LOSSES) <= {program.name for program in PROGRAMS}


def test_every_program_passes_its_tests_in_a_process_of_its_own() -> None:
    codes = {program.name: f"{program.written()}\n" for program in PROGRAMS}
    ran = subprocess.run(
        [sys.executable, "-I", "-c", RUN_ALONE], check=True, input=json.dumps(codes), capture_output=True, text=True
    )
    assert json.loads(ran.stdout) == dict.fromkeys(codes, 0), ran.stderr


@pytest.mark.bubblewrap
def test_nine_of_ten_honest_programs_keep_their_credit_and_eight_without_a_reference_solution(tmp_path: Path) -> None:
    rows = [{"qid": p.name, "function_signature": p.signature, "test_script": p.tests} for p in PROGRAMS]
    rows += [
        row | {"qid": f"{p.name} beside its reference", "ground_truth_solution": p.source}
        for row, p in zip(rows, PROGRAMS, strict=True)
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = zip(rows, PROGRAMS * 2, strict=True)
    predictions = [{"qid": row["qid"], "predictions": [f"```python\n{p.source}```"]} for row, p in answers]
    (tmp_path / "predictions.json").write_text(json.dumps(predictions))
    words = ["predictions.json", "--data", "tasks.jsonl", "--no-cache", "-q", "--timeout", "6", "--workers", "1"]
    ran = grade(*words, "--sandbox", "bubblewrap", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    samples = json.loads((tmp_path / "predictions_results.json").read_text())["samples"]
    lost = {one["qid"]: one["careful"]["detail"][:150] for one in samples if not one["careful"]["credit"]}
    beside = {name.partition(" beside ")[0] for name in lost if " beside " in name}
    assert len(beside) <= (1 - KEPT_AT_LEAST) * len(PROGRAMS), lost
    assert beside == set(KNOWN_LOSSES), f"the table of known losses is out of date: {lost}"
    assert len(lost) - len(beside) <= (1 - KEPT_WITHOUT) * len(PROGRAMS), lost
