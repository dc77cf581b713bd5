"""The hostile programs of the containment suite as programs that read standard input: none earns anything."""

import json
from importlib import import_module
from pathlib import Path

import pytest

from tests.acceptance.command import grade
from tests.own import own
from tests.sandbox.hostile.program import SIGNATURE, TESTS, Program, fenced

pytestmark = [pytest.mark.hostile, pytest.mark.bubblewrap]

NAMES = ("exhausting", "forging", "leaking", "outside", "sources", "stubborn", "tampering")
DECLARED = 'scoring = "execution"\ncolumns = { id = "id", inputs = "inputs", outputs = "outputs" }\nprotocols.p = {}\n'
TASK = {"id": "rule", "inputs": ["3\n", "5\n"], "outputs": ["7392\n", "1187\n"]}
CALLED = "\n\nprint(solution(int(input())))\n"


def scripts() -> list[Program]:
    """Return the programs that do not know the rule, and whose task is the usual one."""
    every = [one for name in NAMES for one in getattr(import_module(f"tests.sandbox.hostile.{name}"), "PROGRAMS", ())]
    usual = [one for one in every if (one.signature, one.tests) == (SIGNATURE, TESTS) and not one.honest]
    return [one for one in usual if "7392" not in one.source and len(one.source) < 100_000]


def test_no_hostile_script_earns_anything(tmp_path: Path) -> None:
    programs = scripts()
    assert len(programs) > 50
    honest = "def solution(x):\n    return {3: 7392, 5: 1187}[x]\n"
    texts = [fenced(source + CALLED) for source in [honest, *(one.source for one in programs), f"{honest}\n"]]
    path = own(tmp_path, DECLARED, [TASK], {"rule": texts})
    options = ["--sandbox", "bubblewrap", "--workers", "2", "--no-cache", "--timeout", "0.5", "-q"]
    done = grade(path, "-b", tmp_path, *options)
    assert done.returncode == 0, done.stderr
    samples = json.loads((tmp_path / "p_results.json").read_text())["samples"]
    assert {s[reading]["outcome"] for s in (samples[0], samples[-1]) for reading in ("official", "careful")} == {
        "passed"
    }
    earned = [
        (one.name, reading, sample[reading]["outcome"])
        for one, sample in zip(programs, samples[1:-1], strict=True)
        for reading in ("official", "careful")
        if sample[reading]["credit"] or sample[reading]["outcome"] == "unscored"
    ]
    assert earned == []
