"""Code benchmarks by a TOML file alone: HumanEval, and one of somebody's own; no Python."""

# ruff: noqa: E501 - a task on one line

from __future__ import annotations

import json

import pytest

from tests.acceptance.command import grade
from tests.own import own

BUBBLEWRAP = ["--sandbox", "bubblewrap", "--workers", "1", "--no-cache"]

pytestmark = pytest.mark.bubblewrap

DECLARED = """
scoring = "execution"
unit = "task"
columns = { id = "name", signature = "stub", tests = "asserts", groups = ["level"] }
protocols.p.timed_out = "too slow"
"""
SOLVED = DECLARED.replace("groups", 'solution = "known", groups')
TASKS = [
    {"name": "twice", "stub": "def twice(x):\n", "asserts": "assert twice(3) == 6\n", "level": "easy"},
    {"name": "half", "stub": "def half(x):\n", "asserts": "assert half(4) == 2\n", "level": "hard"},
]  # fmt: skip
REPLIES = {
    "twice": ["```python\ndef twice(x):\n    return x + x\n```", "    return 4\n"],
    "half": ["HALF = 2\n\ndef half(x):\n    return x // HALF\n", "I do not know."],
}


def graded(folder, rows, replies, *options, declared=DECLARED):
    """Grade replies on a benchmark of somebody's own; return their file and what was said."""
    path = own(folder, declared, rows, replies)
    done = grade(path, "-b", folder, *options, *BUBBLEWRAP)
    assert done.returncode == 0, done.stderr
    return path, " ".join(done.stderr.split())


def outcomes(path, reading):
    """Return the outcomes of a results file by task."""
    found: dict[str, list[str]] = {}
    for row in json.loads(path.with_name(f"{path.stem}_results.json").read_text())["samples"]:
        found.setdefault(row["qid"], []).append(row[reading]["outcome"])
    return found


def test_humaneval_written_like_humaneval_v_gives_the_metrics_worked_out_by_hand(sample, tmp_path):
    path, folder = sample("humaneval")
    rows = [json.loads(line) for line in (folder / "tasks.jsonl").read_text().splitlines()]
    with (tmp_path / "ours.jsonl").open("w") as file:
        for row in rows:
            tests = f"{row['test']}\n\ncheck({row['entry_point']})\n"
            ours = {"qid": row["task_id"], "function_signature": row["prompt"], "test_script": tests}
            file.write(json.dumps(ours) + "\n")
    done = grade(path, "-b", "humaneval", "--data", tmp_path / "ours.jsonl", "-k", "1,2", *BUBBLEWRAP)
    assert done.returncode == 0, done.stderr
    expected = json.loads((folder / "expected.json").read_text())
    results = json.loads(path.with_name("predictions_results.json").read_text())
    for reading in ("official", "careful"):
        assert outcomes(path, reading) == expected["outcomes"][reading]
        for name, value in expected["metrics"][reading].items():
            (row,) = [m for m in results["metrics"] if (m["name"], m["reading"], m["group"]) == (name, reading, None)]
            assert row["value"] == pytest.approx(value)


PLUS = {
    "task_id": "HumanEval/0", "entry_point": "total", "canonical_solution": "    return scaled(sum(values))\n", "atol": 0,
    "prompt": 'from typing import List\n\n\ndef scaled(x):\n    return 2 * x\n\n\ndef total(values: List[int]) -> int:\n    """Sum."""\n',
    "base_input": [[[1, 2]]], "plus_input": [[[3, 4]]],
}  # fmt: skip


def test_completions_of_evalplus_follow_the_prompt_and_solutions_run_as_they_are(tmp_path):
    (tmp_path / "tasks.jsonl").write_text(json.dumps(PLUS))
    whole = "def total(values: List[int]) -> int:\n    return scaled(sum(values))\n"
    rows = [{"completion": whole}, {"completion": PLUS["canonical_solution"]}, {"solution": whole}]
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(json.dumps({"task_id": "HumanEval/0", **row}) + "\n" for row in rows))
    done = grade(path, "-b", "humaneval-plus", "--data", tmp_path / "tasks.jsonl", *BUBBLEWRAP)
    assert done.returncode == 0, done.stderr
    assert outcomes(path, "official") == {"HumanEval/0": ["passed", "passed", "error"]}
    assert outcomes(path, "careful") == {"HumanEval/0": ["passed", "passed", "passed"]}


def test_a_sandbox_without_the_required_packages_is_an_error_with_the_command_that_builds_it(tmp_path):
    path = own(tmp_path, 'requirements = "more.txt"\n' + DECLARED, TASKS, REPLIES)
    done = grade(path, "-b", tmp_path, *BUBBLEWRAP)
    assert (done.returncode, "more.txt: the requirements cannot be read" in done.stderr) == (2, True)
    (tmp_path / "more.txt").write_text("nowhere==1.0\n")
    done = grade(path, "-b", tmp_path, *BUBBLEWRAP)
    assert done.returncode == 3
    assert f"grade image build -b {tmp_path} --sandbox bubblewrap" in " ".join(done.stderr.split())
    assert not (tmp_path / "p_results.json").exists()


def test_a_benchmark_of_ones_own_needs_a_toml_file_and_data(tmp_path):
    path, said = graded(tmp_path, TASKS, REPLIES, "-k", "1,2")
    assert outcomes(path, "careful") == {"twice": ["passed", "failed"], "half": ["passed", "no_answer"]}
    assert "pass@1 by level" in said


BY_NAME = [
    {"name": "scaled", "stub": "", "asserts": "assert scaled(3) == 6\n", "level": "easy", "known": "R = 2\ndef scaled(x):\n    return R * x\n"},
    {"name": "lcm", "stub": "import math\n", "asserts": "assert lcm(4, 6) == 12\n", "level": "hard", "known": "def lcm(x, y):\n    return x * y // math.gcd(x, y)\n"},
]  # fmt: skip


def test_tests_that_call_by_name_need_no_signature(tmp_path):
    wrong = ["```python\ndef scaled(x):\n    return x\n```", "```python\ndef lcm(x, y):\n    return x\n```"]
    given = {
        row["name"]: [f"<think>hm</think>Sure!\n{row['known']}", row["known"], bad]
        for row, bad in zip(BY_NAME, wrong, strict=True)
    }
    path, _ = graded(tmp_path, BY_NAME, given, declared=SOLVED)
    assert outcomes(path, "careful") == {row["name"]: ["passed", "passed", "failed"] for row in BY_NAME}
    assert outcomes(path, "official")["lcm"] == ["error", "passed", "failed"]


def test_a_class_needs_no_signature_and_without_a_solution_it_is_not_judged_carefully(tmp_path):
    asserts = "p = Purse(1)\np.put(2)\nassert p.total() == 3\nassert len(p) == 2\nassert p + p == Purse(6)\n"
    right = """class Purse(list):
    def __init__(self, coin):
        self.append(coin)
    def put(self, coin):
        self.append(coin)
    def total(self):
        return sum(self)
    def __add__(self, other):
        return Purse(self.total() + other.total())
    def __eq__(self, other):
        return self.total() == other.total()
"""
    wrong = right.replace("sum", "max")
    rows = [{"name": name, "asserts": asserts, "level": "easy"} for name in ("solved", "purse")]
    rows[0]["known"] = right
    replies = {row["name"]: [right, wrong] for row in rows}
    path, said = graded(tmp_path, rows, replies, declared=SOLVED.replace('signature = "stub", ', ""))
    both = ["passed", "failed"]
    assert outcomes(path, "official") == {"solved": both, "purse": both}
    assert outcomes(path, "careful") == {"solved": both, "purse": ["not_judged"] * 2}
    assert "purse (without a reference solution, the tests use " in said


def test_each_assertion_of_a_list_is_judged(tmp_path):
    tests = ["assert twice(3) == 6", "assert twice(0) == 0", "assert twice(2) == 4"]
    graded(tmp_path, [{**TASKS[0], "asserts": tests}], {"twice": ["    return 2 * abs(x) % 5\n"]})
    (sample,) = json.loads((tmp_path / "p_results.json").read_text())["samples"]
    assert sample["tests"] == [False, True, True]
    shown = grade("show", tmp_path, "twice", "--sample", "0", "--results", tmp_path / "p_results.json")
    assert "right tests: 2 of 3" in shown.stdout


FIRST = DECLARED.replace("groups", 'setup = "first", groups')


def test_programs_may_use_the_modules_and_classes_of_the_code_before_a_list_of_tests(tmp_path):
    setup = "import math\n\n\nclass Node:\n    def __init__(self, value):\n        self.value = value\n"
    bodies = {"math.ceil(x) * 2": "twice(3) == 6", "Node(2 * x)": "twice(3).value == 6"}
    rows = [
        {**TASKS[0], "name": body, "first": setup, "asserts": [f"assert {test}"], "known": f"    return {body}\n"}
        for body, test in bodies.items()
    ]
    declared = FIRST.replace("groups", 'solution = "known", groups')
    path, _ = graded(tmp_path, rows, {row["name"]: [row["known"]] for row in rows}, declared=declared)
    for reading in ("official", "careful"):
        assert outcomes(path, reading) == {body: ["passed"] for body in bodies}


def test_other_names_of_that_code_are_not_for_programs(tmp_path):
    """Else a program could return the expected value, or have it computed."""
    setup = "WANTED = {3: 6}\n\n\ndef table(x):\n    return WANTED[x]\n\n\ndef wanted(x):\n    return table(x)\n"
    row = {**TASKS[0], "first": setup, "asserts": ["assert twice(3) == wanted(3)"]}
    replies = {"twice": [f"    return {body}\n" for body in ("WANTED[x]", "table(x)", "wanted(x)")]}
    path, _ = graded(tmp_path, [row], replies, declared=FIRST)
    assert outcomes(path, "official") == {"twice": ["passed"] * 3}
    assert outcomes(path, "careful") == {"twice": ["suspect"] * 3}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('tests = "asserts", ', "", "[columns] needs `tests`"),
        ('signature = "stub"', 'prompt = "stub"', "has `prompt`, so it needs `entry_point`"),
    ],
)
def test_a_declaration_that_is_wrong_is_answered_with_what_is_allowed(tmp_path, before, after, said):
    path = own(tmp_path, DECLARED.replace(before, after), TASKS, REPLIES)
    done = grade(path, "-b", tmp_path, "--sandbox", "bubblewrap")
    assert done.returncode == 2
    assert said in done.stderr


MOCKED = {
    "name": "mocked",
    "stub": "def call(f):\n",
    "asserts": "from unittest.mock import Mock\nm = Mock(return_value=3)\nassert call(m) == 3\nm.assert_called_once()",
    "known": "def call(f):\n    return f()",
}
FOLDER = {
    "name": "folder",
    "stub": "def save(folder):\n",
    "asserts": "import os, tempfile\nwith tempfile.TemporaryDirectory() as d:\n    assert save(d) is None\n    assert os.listdir(d)",
    "known": "def save(folder):\n    open(folder + '/x', 'w').close()",
}
TWICE = TASKS[0] | {"known": "def twice(x):\n    return 2 * x"}


def with_tasks(folder, *tasks):
    """Write a benchmark of one's own, and predictions that are the reference solutions."""
    declared = SOLVED.replace(', groups = ["level"]', "")
    return own(folder, declared, tasks, {task["name"]: [f"```python\n{task['known']}\n```"] for task in tasks})


def test_tasks_whose_tests_cannot_judge_a_program_apart_from_them_are_outside_the_careful_reading(tmp_path):
    path = with_tasks(tmp_path, TWICE, MOCKED, FOLDER)
    done = grade(path, "-b", tmp_path, "--fail-under", "pass@1=99", "-o", tmp_path / "p.html", *BUBBLEWRAP)
    assert done.returncode == 0, done.stderr
    assert "2 tasks not judged" in done.stderr
    said = " ".join(done.stderr.split())
    assert "mocked (the tests pass a value that cannot be serialized: the function unittest.mock.Mock)" in said
    assert "folder (" in done.stderr
    assert "Official over the 1 judged task: pass@1 100.0" in done.stderr
    assert "2 tasks not judged" in (tmp_path / "p.html").read_text()
    results = json.loads((tmp_path / "p_results.json").read_text())
    found = {
        s["qid"]: (s["official"]["outcome"], s["careful"]["outcome"], s["careful"]["credit"])
        for s in results["samples"]
    }
    outside = ("passed", "not_judged", None)
    assert found == {"twice": ("passed", "passed", 1), "mocked": outside, "folder": outside}
    assert {m["reading"]: m["n"] for m in results["metrics"] if m["name"] == "pass@1"} == {"official": 3, "careful": 1}
    assert results["unscored"] == 0


def test_a_row_whose_tests_are_not_python_is_failed_officially_and_not_judged_carefully(tmp_path):
    rows = [TWICE | {"name": f"t{n}"} for n in range(30)]
    path = with_tasks(tmp_path, *rows, TWICE | {"name": "odd", "asserts": "assert ("})
    done = grade(path, "-b", tmp_path, "--limit", "31", *BUBBLEWRAP)
    assert done.returncode == 0, done.stderr
    assert "The official reading counts them as the published scorer does" in " ".join(done.stderr.split())
    results = json.loads((tmp_path / "p_results.json").read_text())
    (odd,) = [sample for sample in results["samples"] if sample["qid"] == "odd"]
    assert [(odd[name]["outcome"], odd[name]["credit"]) for name in ("official", "careful")] == [
        ("error", 0),
        ("not_judged", None),
    ]
    assert {m["reading"]: m["n"] for m in results["metrics"] if m["name"] == "pass@1"} == {
        "official": 31,
        "careful": 30,
    }
    assert results["unscored"] == 0


def test_no_gate_is_met_without_a_judged_task(tmp_path):
    path = with_tasks(tmp_path, MOCKED)
    done = grade(path, "-b", tmp_path, "--fail-under", "pass@1=1", *BUBBLEWRAP)
    assert done.returncode == 3, done.stderr
    assert "the careful reading judges no task" in done.stderr
    (careful,) = [
        m for m in json.loads((tmp_path / "p_results.json").read_text())["metrics"] if m["reading"] == "careful"
    ]
    assert (careful["value"], careful["n"]) == (None, 0)


def test_check_names_the_tasks_that_are_not_judged(tmp_path):
    path = with_tasks(tmp_path, TWICE, MOCKED)
    done = grade("check", path, "-b", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 task not judged" in done.stdout + done.stderr
