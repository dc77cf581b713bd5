"""Whose fault a failure is: a module that the sandbox lacks, standard input that is not there, an assertion."""

import json
from pathlib import Path

import pytest

from tests.acceptance.command import grade
from tests.own import own

DECLARED = """
scoring = "execution"
columns = { id = "id", signature = "stub", tests = "tests", solution = "ref" }
protocols.p.assembly = "plain"
"""
PROGRAM = "def f(x):\n    return x\n"


@pytest.mark.bubblewrap
def test_a_task_whose_reference_or_tests_need_it_is_unscored_and_named(tmp_path: Path) -> None:
    task = {"stub": "def f(x):\n", "tests": "assert f(1) == 1\n", "ref": PROGRAM}
    rows = [
        task | {"id": "usable"},
        task | {"id": "reference", "ref": "import no_such_module\ndef f(x):\n    return no_such_module.g(x)\n"},
        task | {"id": "tests", "tests": "import no_such_module\nassert f(1) == 1\n"},
        task | {"id": "large", "ref": "def f(x):\n    return len(bytearray(3 << 30)) and x\n"},
    ]
    own(tmp_path, DECLARED, rows, {row["id"]: [f"```python\n{PROGRAM}```"] for row in rows})
    ran = grade("p.json", "-b", ".", "--sandbox", "bubblewrap", "--no-cache", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    samples = json.loads((tmp_path / "p_results.json").read_text())["samples"]
    for reading in ("official", "careful"):
        assert [s[reading]["outcome"] for s in samples] == ["passed", "unscored", "unscored", "passed"]
    said = " ".join(ran.stderr.split())
    assert "need a module that it does not have: reference (no_such_module); tests (no_such_module)" in said
    assert "does not have these modules: no_such_module: 2 samples of 2 tasks." in said
    assert "large (it needs more memory than the limit, so give more with --memory)" in said


@pytest.mark.bubblewrap
def test_what_a_program_does_itself_is_told_apart_from_its_tests(tmp_path: Path) -> None:
    programs = [
        "def f(x):\n    return int(input())\n",
        "def f(x):\n    assert x > 5\n    return x\n",
        "def f(x):\n    return 2\n",
    ]
    row = {"id": "a", "stub": "def f(x):\n", "tests": "assert f(1) == 1\n", "ref": PROGRAM}
    own(tmp_path, DECLARED, [row], {"a": [f"```python\n{source}```" for source in programs]})
    ran = grade("p.json", "-b", ".", "-q", "--sandbox", "bubblewrap", "--no-cache", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    samples = json.loads((tmp_path / "p_results.json").read_text())["samples"]
    assert [sample["careful"]["detail"] for sample in samples] == [
        "OSError: the program reads standard input, which this task does not have",
        "an assertion of the program itself failed",
        "a test's assertion failed",
    ]
