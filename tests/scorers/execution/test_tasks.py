"""Tasks made from rows: groups, blocks, and every row that is wrong."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.data.load import load
from grader.data.tables import Rows
from grader.errors import InputError
from grader.pool.settings import ROWS_BENCHMARK
from grader.scorers import declarations
from grader.scorers.execution.assembly import assemble
from grader.scorers.execution.phases import limits_of
from grader.scorers.execution.tasks import read_tasks
from grader.task import Block

HUMANEVAL_V: Any = declarations.load("humaneval-v")

ROW: dict[str, Any] = {"qid": "q1", "function_signature": "def solution(a):", "test_script": "assert solution(1)"}


def rows(*items: dict[str, Any]) -> Rows:
    return Rows(rows=list(items), origin="tasks.jsonl", digest="")


def test_groups_are_the_task_type_and_the_aspects_that_a_task_has() -> None:
    aspects = {
        "Geometric Objects": ["Circle"],
        "Data Structures": [],
        "Common Sense": None,
        "Dynamic Patterns": ["Spiral"],
    }
    made = read_tasks(rows(ROW | {"task_type": "Aggregation", "capability_aspects": aspects}), HUMANEVAL_V)
    assert made["q1"].groups == {
        "task_type": "Aggregation", "capability_aspects": ["Geometric Objects", "Dynamic Patterns"],
    }  # fmt: skip


def test_every_row_that_lacks_something_is_named() -> None:
    with pytest.raises(InputError) as caught:
        read_tasks(rows(ROW, ROW, {"qid": "q2"}, ROW | {"qid": "q3", "test_script": 3}, {}), HUMANEVAL_V)
    assert caught.value.problems == [
        'tasks.jsonl: row 2: "q1" is a duplicate: an earlier row has it',
        "tasks.jsonl: row 5: no text in column qid, function_signature, test_script",
        "tasks.jsonl: row 3: q2: no text in column function_signature, test_script",
        "tasks.jsonl: row 4: q3: no text in column test_script",
    ]


def test_many_rows_with_one_id_on_one_line_are_an_error() -> None:
    items = [ROW] * 4 + [ROW | {"qid": f"q{number}"} for number in range(2, 30)]
    minified = Rows(rows=items, origin="tasks.json", digest="", place="tasks.json", lines=[1] * len(items))
    with pytest.raises(InputError) as caught:
        read_tasks(minified, HUMANEVAL_V)
    line = 'tasks.json:1: "q1" is a duplicate: an earlier row has it'
    assert caught.value.problems == [f"{line} (also at line 1 and line 1)"]


@pytest.mark.parametrize(
    ("row", "why"),
    [({"test_script": "assert ("}, "invalid Python"), ({"io": "{"}, "column io is not JSON"), ({"io": 1}, "")],
)
def test_a_broken_row_among_many_stops_only_itself(row: dict[str, Any], why: str) -> None:
    columns = msgspec.structs.replace(HUMANEVAL_V.columns, inputs="io.input", outputs="io.output")
    every = [ROW | {"qid": f"q{number}"} for number in range(30)]
    benchmark = msgspec.structs.replace(HUMANEVAL_V, columns=columns)
    made = read_tasks(rows(*every, ROW | {"qid": "odd"} | row), benchmark)
    assert why in made["odd"].broken
    assert bool(made["odd"].broken) == bool(why)
    assert not made["q1"].broken


def test_every_limit_of_a_task_is_read_from_its_column(tmp_path: Path) -> None:
    limits = {"timeout": 3.0, "memory": "256m", "wall": 40.0}
    columns = msgspec.structs.replace(HUMANEVAL_V.columns, **{name: name for name in limits})
    benchmark = msgspec.structs.replace(HUMANEVAL_V, columns=columns)
    file = tmp_path / "tasks.jsonl"
    file.write_text(json.dumps(ROW | limits) + "\n")
    split = next(iter(benchmark.splits))
    loaded = load(benchmark, split, benchmark.default_protocol, file, benchmark.scored_columns(split))
    task = read_tasks(loaded, benchmark)["q1"]
    assert (task.cpu_seconds, task.memory_bytes, task.wall_seconds) == (3.0, 256 << 20, 40.0)


def test_a_skeleton_that_is_not_python_leaves_the_task_without_one() -> None:
    (task,) = read_tasks(rows(ROW | {"function_signature": "def solution(a):\n    “doc”"}), HUMANEVAL_V).values()
    assert (task.signature_text, task.broken, task.names_to_define) == ("", "", ("solution",))


@pytest.mark.parametrize("between", ["", "Imports:\n```python\nimport math\n```\nThen:\n"])
def test_a_method_of_solution_is_found_where_no_signature_asks_for_it(between: str) -> None:
    """As in rows of APPS and TACO: only the function's name is given."""
    columns = msgspec.structs.replace(
        HUMANEVAL_V.columns, tests=None, signature=None, inputs="i", outputs="o", function="f"
    )
    row = {"qid": "q1", "i": [[1]], "o": [2], "f": "next"}
    (task,) = read_tasks(rows(row), msgspec.structs.replace(HUMANEVAL_V, columns=columns)).values()
    method = "class Solution:\n    def next(self, x):\n        return math.floor(x) + 1\n"
    reply = f"A draft:\n```python\nx = 1\n```\n{between}```python\n{method}```\n"
    program = assemble(reply, "", "plain", task.names_to_define, prelude="")
    assert program.completion == method
    assert (program.recovered_completion or "").startswith("import math") is bool(between)


def test_what_belongs_to_the_question_is_shown_and_the_tests_are_closed() -> None:
    made = read_tasks(rows(ROW | {"ground_truth_solution": "def solution(a): return 1"}), HUMANEVAL_V)["q1"]
    shown = [(block.kind, block.title, block.content, block.is_open) for block in made.blocks]
    assert shown[:2] == [
        ("code", "Signature", "def solution(a):", True),
        ("code", "Tests", "assert solution(1)", False),
    ]
    assert made.blocks[2:] == (Block(kind="code", title="Reference solution", content="def solution(a): return 1"),)


def test_a_row_with_tests_and_with_inputs_is_broken() -> None:
    declared: Any = declarations.load(str(ROWS_BENCHMARK))
    row = {"qid": "q1", "tests": "assert f(1) == 1", "inputs": ["1"], "outputs": ["1"]}
    assert read_tasks(rows(row | {"tests": None}), declared)["q1"].cases is not None
    with pytest.raises(InputError, match="it has both tests and inputs, and only one of them can judge a program"):
        read_tasks(rows(row), declared)


@pytest.mark.parametrize("tests", ["assert f(K) == 9", ["assert f(K) == 9"], '["assert f(K) == 9"]'])
@pytest.mark.parametrize("setup", ["import math\nK = 3", ["import math", "K = 3"]])
def test_set_up_code_stands_before_a_script_and_before_a_list(tests: object, setup: object) -> None:
    declared: Any = declarations.load(str(ROWS_BENCHMARK))
    task = read_tasks(rows({"qid": "q1", "tests": tests, "setup": setup}), declared)["q1"]
    assert task.tests.strip() == "import math\nK = 3\nassert f(K) == 9"
    assert task.signature.source.startswith("import math\n")


def test_sanitized_mbpp_brings_its_imports_as_a_list(tmp_path: Path) -> None:
    row = {"task_id": 1, "prompt": "Write f.", "code": "def f(): return 1", "test_imports": ["import math", "y = 1"]}
    file = tmp_path / "sanitized-mbpp.json"
    file.write_text(json.dumps([row | {"test_list": ["assert math.floor(f()) == y"]}]), encoding="utf-8")
    mbpp: Any = declarations.load("mbpp")
    (task,) = read_tasks(load(mbpp, "test", "google", file, None), mbpp).values()
    assert task.tests == "import math\ny = 1\nassert math.floor(f()) == y\n"
    assert task.text == "Write f."


@pytest.mark.parametrize(
    ("benchmark", "protocol", "given", "seconds"),
    [("humaneval-v", "v2", None, 2.0), ("livecodebench", None, None, 6.0), ("livecodebench", None, 2.0, 2.0),
     ("humaneval-v", "v2", 3.5, 3.5), ],
)  # fmt: skip
def test_a_program_has_the_protocols_time_if_none_is_given(
    benchmark: str, protocol: str | None, given: float | None, seconds: float
) -> None:
    declared: Any = declarations.load(benchmark)
    chosen = declared.protocols[declared.resolve_protocol(protocol)].with_timeout(given)
    assert limits_of(chosen, 1 << 30, []).cpu_seconds == seconds
    if benchmark == "humaneval-v":
        assert f"(> {seconds:g} seconds)" in chosen.timed_out
