"""A module that the sandbox does not have is no program's fault."""

import json
from pathlib import Path

import pytest

from tests.acceptance.command import grade

DECLARATION = """
id = "own"
name = "Own"
scoring = "execution"
default_split = "t"
default_protocol = "p"
columns = { id = "id", signature = "stub", tests = "tests", solution = "ref" }
splits.t.data = "tasks.jsonl"
protocols.p.assembly = "plain"
"""
PROGRAM = "def f(x):\n    return x\n"


@pytest.mark.bubblewrap
def test_a_task_whose_reference_or_tests_need_it_is_unscored_and_named(tmp_path: Path) -> None:
    task = {"stub": "def f(x):\n", "tests": "assert f(1) == 1\n", "ref": PROGRAM}
    rows = [
        task | {"id": "usable"},
        task | {"id": "reference", "ref": f"import no_such_module\n{PROGRAM}"},
        task | {"id": "tests", "tests": "import no_such_module\nassert f(1) == 1\n"},
        task | {"id": "large", "ref": "def f(x):\n    return len(bytearray(3 << 30)) and x\n"},
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "benchmark.toml").write_text(DECLARATION)
    predictions = [{"qid": row["id"], "predictions": [f"```python\n{PROGRAM}```"]} for row in rows]
    (tmp_path / "p.json").write_text(json.dumps(predictions))
    ran = grade("p.json", "-b", ".", "--sandbox", "bubblewrap", "--no-cache", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    samples = json.loads((tmp_path / "p_results.json").read_text())["samples"]
    for reading in ("official", "careful"):
        assert [s[reading]["outcome"] for s in samples] == ["passed", "unscored", "unscored", "passed"]
    assert "need a module that it does not have: tests (no_such_module); reference (no_such_module)" in ran.stderr
    assert "large (it needs more memory than the limit, so give more with --memory)" in ran.stderr
