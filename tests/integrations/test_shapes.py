"""Rows in the shapes of published data sets: each is a task that its own solution passes, and a wrong program fails."""

import base64
import json
import pickle
import zlib
from collections.abc import Callable
from typing import Any

import pytest

import grader
from grader.errors import UsageError
from grader.integrations import shapes
from grader.pool.rewards import rewarded
from tests.conftest import BACKENDS, ROOT
from tests.tables import each

SUM = "a, b = map(int, input().split())\nprint(a {} b)"
ADD = "def add(a, b):\n    return a {} b"
PACKED = base64.b64encode(
    zlib.compress(pickle.dumps(json.dumps([{"input": "2 2", "output": "4", "testtype": "stdin"}])))
).decode()
ROWS: dict[str, tuple[Callable[[Any], dict[str, Any]], Any, str]] = {
    "APPS, standard input": (shapes.inputs_outputs, '{"inputs": ["1 2\\n"], "outputs": ["3\\n"]}', SUM),
    "APPS, a function": (
        shapes.inputs_outputs,
        {"fn_name": "add", "inputs": [[1, 2], [3, 4]], "outputs": [[3], [7]]},
        ADD,
    ),
    "TACO, a method": (
        shapes.inputs_outputs,
        {"fn_name": "add", "inputs": [[1, 2]], "outputs": [3]},
        "class Solution:\n    def add(self, a, b):\n        return a {} b",
    ),
    "CodeContests": (
        shapes.code_contests,
        {
            "name": "1_A. Sum",
            "public_tests": {"input": ["1 2\n"], "output": ["3\n"]},
            "private_tests": {"input": ["5 5\n"], "output": ["10\n"]},
            "generated_tests": {"input": [], "output": []},
        },
        SUM,
    ),
    "PrimeIntellect, standard input": (
        shapes.prime_intellect,
        {
            "problem_id": "vcp_0",
            "verification_info": json.dumps(
                {"language": "python", "test_cases": [{"type": "stdin_stdout", "input": "1 2\n", "output": "3\n"}]}
            ),
        },
        SUM,
    ),
    "PrimeIntellect, a function": (
        shapes.prime_intellect,
        {"test_cases": [{"type": "function_call", "fn_name": "add", "input": [1, 2], "output": [3]}]},
        ADD,
    ),
    "assert_case": (
        shapes.assert_case,
        {"assert_case": ["assert add(1, 2) == 3", "assert add(0, 5) == 5"], "import_prefix": "import math\n"},
        ADD,
    ),
    "LiveCodeBench": (
        shapes.livecodebench,
        {
            "question_id": "1873_A",
            "starter_code": "",
            "public_test_cases": json.dumps([{"input": "1 2", "output": "3", "testtype": "stdin"}]),
            "private_test_cases": PACKED,
            "metadata": "{}",
        },
        # 2 + 2 is also 2 * 2: only the public case tells them apart.
        SUM,
    ),
    "LiveCodeBench, a function": (
        shapes.livecodebench,
        {
            "public_test_cases": json.dumps([{"input": "1\n2", "output": "3", "testtype": "functional"}]),
            "metadata": json.dumps({"func_name": "add"}),
            "starter_code": "class Solution:\n    def add(self, a: Optional[int], b: int) -> int:\n        ",
        },
        "class Solution:\n    def add(self, a: Optional[int], b: int) -> int:\n        return a {} b",
    ),
    "KodCode": (
        shapes.kodcode,
        {
            "question_id": "Filter_1_I",
            "solution": ADD.format("+"),
            "test": "from solution import add\nimport pytest\n\ndef test_one():\n    assert add(1, 2) == 3\n\n"
            "def test_two():\n    assert add(4, 4) == 8\n",
        },
        ADD,
    ),
    "MBPP": (
        shapes.mbpp,
        {
            "task_id": 11,
            "code": ADD.format("+"),
            "test_list": ["assert add(1, 2) == 3"],
            "test_setup_code": "",
            "challenge_test_list": [],
        },
        ADD,
    ),
}


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_every_shape_is_a_task_and_dense_rewards_tell_how_much_is_right(backend: str) -> None:
    made = {name: (shape(row), program) for name, (shape, row, program) in ROWS.items()}
    assert {name: shapes.any_of(row) for name, (_, row, _) in ROWS.items()}.keys() == made.keys()
    samples = [(row, program.format(sign)) for row, program in made.values() for sign in "+*"]
    inputs = {"inputs": ["1 2\n", "2 2\n", "0 0\n"], "outputs": ["3\n", "4\n", "0\n"]}
    tests = {"tests": [f"assert add({a}, {b}) == {a + b}" for a, b in ((1, 2), (2, 2), (0, 0), (3, 1))]}
    partly = [
        (inputs, SUM.format("*")),
        (tests, ADD.format("*")),
        (tests, "def add(a, b):\n    assert a != 2, 'no twos'\n    return a + b"),
    ]
    with grader.Pool(benchmark="rows", sandbox=backend, shared=False, workers=1, reward="tests_right") as pool:
        results = pool.grade_samples([*samples, *partly])
        assert [result.careful.credit for result in results] == [1, 0] * len(made) + [0, 0, 0], [
            result.careful for result in results
        ]
        assert [result.reward for result in results[-3:]] == [2 / 3, 2 / 4, 3 / 4]
        assert [result.tests for result in results[-2:]] == [[False, True, True, False], [True, False, True, True]]
        assert rewarded(results[-3], "calls_right").reward == 2 / 3
        assert rewarded(results[-3]).reward == 0


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_an_assertion_in_which_the_program_ends_is_not_right(backend: str) -> None:
    listed = {"tests": [f"assert add({a}, 1) == {a + 1}" for a in (1, 2, 3)]}
    looped = {"tests": "for a in (1, 2):\n    assert add(a, 1) == a + 1\nassert add(0, 0) == 0"}
    ends = [
        "raise SystemExit('passed')",
        "__import__('os')._exit(0)",
        "raise KeyboardInterrupt",
        "\n        while True: pass",
    ]
    programs = [f"def add(a, b):\n    if a == 2: {end}\n    return a + b" for end in ends]
    with grader.Pool(
        benchmark="rows", sandbox=backend, shared=False, workers=1, reward="tests_right", timeout=0.5
    ) as pool:
        results = pool.grade_samples([(row, program) for row in (listed, looped) for program in programs])
    assert [result.tests for result in results] == [[True, False, False]] * 4 + [[False, False]] * 4


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_references_and_limits_come_with_the_row(backend: str) -> None:
    wrong, right = "def add(a, b):\n    return a - b", ADD.format("+")
    tests = {"tests": ["assert add(1, 2) == 3", "assert add(5, 5) == 10"]}
    memory = "def add(a, b):\n    a = bytearray(200 << 20)\n    a[::4096] = b'x' * len(a[::4096])\n    while True: pass"
    samples = [
        (tests | {"solution": wrong}, right),
        (tests | {"solution": right}, right),
        ({"inputs": ["1 2\n"], "solution": "raise ValueError('no')"}, SUM.format("+")),
        ({"inputs": ["1 2\n"], "solution": SUM.format("+")}, SUM.format("+")),
        ({"inputs": ["1 2\n"], "solution": SUM.format("+")}, SUM.format("*")),
        {"row": tests, "text": memory, "memory": "128m"},
        {"row": tests | {"memory": "128m"}, "text": memory},
        {"row": tests, "text": "import time\ndef add(a, b):\n    time.sleep(99)\n    return a + b", "wall": 0.5},
        {"row": tests, "text": "def add(a, b):\n    while True: pass", "timeout": 0.2},
        (tests | {"memory": "much"}, right),
        (tests | {"solution": "def add(a, b):\n    while True: pass", "timeout": 0.3}, right),
        ({"inputs": [[0]], "outputs": [float("nan")], "function": "f"}, "def f(x):\n    return None"),
    ]
    with grader.Pool(benchmark="rows", sandbox=backend, shared=False, workers=1) as pool:
        results = [result.careful for result in pool.grade_samples(samples)]
    assert [reading.outcome.value for reading in results] == [
        "unscored", "passed", "unscored", "passed", "failed", "out_of_memory", "out_of_memory", "timeout", "timeout",
        "unscored", "unscored", "unscored",
    ]  # fmt: skip
    assert "reference solution does not pass" in results[0].detail
    assert "assert add(1, 2) == 3" in results[0].detail
    assert "ValueError: no" in results[2].detail
    assert "the memory is" in results[9].detail
    assert "reference solution does not pass" in results[10].detail


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_a_program_that_may_have_more_memory_than_the_sandbox_has_is_not_wrong(backend: str) -> None:
    memory = "def add(a, b):\n    c = bytearray(200 << 20)\n    c[::4096] = b'x' * len(c[::4096])\n    return a + b"
    row = {"tests": "assert add(1, 2) == 3", "memory": "512m"}
    samples = [(row, memory), (row, ADD.format("+")), (row, ADD.format("-")), (row | {"memory": "100m"}, memory)]
    with grader.Pool(benchmark="rows", sandbox=backend, shared=False, workers=1, memory="128m") as pool:
        results = pool.grade_samples(samples, official=True)
    outcomes = ["unscored", "passed", "failed", "out_of_memory"]
    assert [result.careful.outcome.value for result in results] == outcomes
    assert [result.official.outcome.value for result in results] == outcomes
    assert "sandboxes have (128 MB), but its task allows 512 MB" in results[0].careful.detail


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_a_row_of_a_benchmark_is_judged_as_its_task_is(backend: str) -> None:
    """EvalPlus compares this function's tuples as sets, because its id is one of MBPP."""
    data = ROOT / "benchmarks" / "mbpp-plus" / "sample" / "tasks.jsonl"
    row = json.loads(data.read_text().splitlines()[0])
    text = "def similar_elements(one, other):\n    return tuple(sorted({*one} & {*other}, reverse=True))"
    with grader.Pool(benchmark="mbpp-plus", data=data, sandbox=backend, shared=False, workers=1) as pool:
        by_id, by_row = pool.grade_samples([(row["task_id"], text), (row, text)], official=True)
    assert by_id.careful.outcome.value == by_row.careful.outcome.value == "passed"
    assert by_id.official == by_row.official


@each(
    ("shape", "row", "why"),
    [
        (shapes.inputs_outputs, {"inputs": []}, "no outputs"),
        (shapes.inputs_outputs, "not JSON", "not JSON"),
        (shapes.inputs_outputs, {"inputs": 3, "outputs": []}, "not a list"),
        (shapes.prime_intellect, {"verification_info": "{}"}, "no test_cases"),
        (
            shapes.prime_intellect,
            {"test_cases": [{"input": "", "output": "", "fn_name": name} for name in ({}, "f")]},
            "different functions",
        ),
        (shapes.livecodebench, {"private_test_cases": "no!"}, "neither JSON nor a packed text"),
        (shapes.livecodebench, {"public_test_cases": [{"inputs": "1"}]}, "no input and no output; it has inputs"),
        (shapes.livecodebench, {"public_test_cases": ["1"]}, "expected an object with input, output"),
        (
            shapes.livecodebench,
            {"public_test_cases": [{"input": "1", "output": "1", "testtype": "functional"}], "metadata": "{}"},
            "call a function, but the row has no metadata with its func_name",
        ),
        (
            shapes.prime_intellect,
            {"test_cases": [{"input": [1], "output": [1], "type": "function_call"}]},
            "call a function, but have no fn_name",
        ),
        (shapes.assert_case, {"assert_case": 1}, "assert_case is 1, not a list"),
        (shapes.mbpp, {"test_list": [], "test_imports": "import math"}, "test_imports is not JSON"),
    ],
)
def test_a_row_of_another_shape_is_refused_with_the_reason(shape: Callable[[Any], Any], row: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        shape(row)


@each("row", [{"inputs": ["1"], "solution": "print(input())"}, {"tests": "assert f() == 1"}, {"any": "thing"}])
def test_a_row_with_the_columns_of_grade_or_of_no_shape_stays_as_it_is(row: dict[str, Any]) -> None:
    assert shapes.any_of(row) == shapes.any_of(json.dumps(row)) == row


def test_an_unknown_reward_is_refused() -> None:
    with pytest.raises(UsageError, match="expected passed, calls_right, tests_right, not 'half'"):
        grader.Pool(benchmark="rows", reward="half")  # type: ignore[arg-type]
