"""Correct programs keep their credit, however unusual the values are that they return."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from catalogue import PROGRAMS

from tests.conftest import BACKENDS

if TYPE_CHECKING:
    from pathlib import Path

    from catalogue.program import Program

KEPT_AT_LEAST = 0.9
KNOWN_LOSSES = {
    "default-dictionaries-in-each-other": "a default factory that makes default dictionaries is code, and is not sent",
    "container-of-its-own-class": "an object of a class of its own is sent as its attributes, without its methods",
    "generator-that-is-sent-values": "a generator is sent as its items; it cannot be sent values",
    "coroutine": "a coroutine runs in the event loop of the tests, where no code of a candidate is",
    "polynomial-that-is-called": "numpy.poly1d is a class of NumPy's that is neither an array nor a function",
    "object-with-methods-that-the-tests-call": "methods of an object of its own are not among the recorded calls",
}
"""Program -> why the careful reading does not credit it."""
RUN_ALONE = "import sys; exec(compile(sys.stdin.read(), '<program>', 'exec'), {'__name__': 'program'})"


def test_the_catalogue_has_a_hundred_programs_with_names_of_their_own() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) == 100
    assert set(KNOWN_LOSSES) <= {program.name for program in PROGRAMS}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_program_passes_its_tests_in_one_process(program: Program) -> None:
    code = f"{program.written()}\n"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", RUN_ALONE], check=False, input=code, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr


def _grade(folder: Path, backend: str) -> dict[str, dict[str, Any]]:
    """Grade the catalogue; return name -> sample."""
    rows = [{"qid": p.name, "function_signature": p.signature, "test_script": p.tests} for p in PROGRAMS]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = [{"qid": p.name, "predictions": [f"```python\n{p.source}```"]} for p in PROGRAMS]
    (folder / "predictions.json").write_text(json.dumps(answers))
    words = ["predictions.json", "--data", "tasks.jsonl", "--sandbox", backend, "--no-cache", "-q", "--timeout", "6"]
    command = [sys.executable, "-m", "grader", *words]
    ran = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    results = json.loads((folder / "predictions_results.json").read_text())
    return {sample["qid"]: sample for sample in results["samples"]}


@pytest.mark.parametrize("backend", BACKENDS)
def test_nine_of_ten_honest_programs_keep_their_credit(tmp_path: Path, backend: str) -> None:
    samples = _grade(tmp_path, backend)
    lost = {name: sample["careful"]["detail"] for name, sample in samples.items() if not sample["careful"]["credit"]}
    table = "\n".join(f"{name}: {why[:150]}" for name, why in lost.items())
    assert len(lost) <= (1 - KEPT_AT_LEAST) * len(PROGRAMS), f"{len(lost)} of {len(PROGRAMS)} lost:\n{table}"
    assert set(lost) == set(KNOWN_LOSSES), f"the table of known losses is out of date:\n{table}"
