"""Programs that read standard input: each input is a whole run of the program, as a script runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import grade
from tests.own import own

pytestmark = pytest.mark.bubblewrap

SANDBOX = ["--sandbox", "bubblewrap", "--workers", "1", "--no-cache"]
DECLARED = """
scoring = "execution"
columns = { id = "id", question = "text", inputs = "inputs", outputs = "outputs" }
protocols.p.compare = "lines"
"""
SUMS = {"id": 7, "text": "Add two numbers.", "inputs": ["1\n2\n", "3\n4\n", "10\n2\n"], "outputs": ["3\n", "7", "12\n"]}
SUM = "print(int(input()) + int(input()))\n"
HONEST = {
    "plain": SUM,
    "the buffer": "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))",
    "the descriptor": "import os\nos.write(1, b'%d' % sum(map(int, os.read(0, os.fstat(0).st_size).split())))",
    "exits in the end": f"import sys\n{SUM}sys.exit(3)",
    "a thread with a large stack": (
        "import sys, threading\nsys.setrecursionlimit(1 << 25)\nthreading.stack_size(1 << 27)\n"
        "def depth(n):\n    return 0 if n == 0 else 1 + depth(n - 1)\n"
        f"def main():\n    assert depth(50000) == 50000\n    {SUM}\nthreading.Thread(target=main).start()"
    ),
    "a guarded main": (
        "total = 0\ndef add():\n    global total\n    total += int(input())\n"
        "if __name__ == '__main__':\n    add()\n    add()\n    print(total)"
    ),
    "prints at exit": f"import atexit\natexit.register(lambda: {SUM.strip()})",
    "leaves a thread": (
        f"import threading, time\nthreading.Thread(target=time.sleep, args=[9], daemon=True).start()\n{SUM}"
    ),
    "closes its output": f"import sys\n{SUM}sys.stdout.close()",
    "equal decimals": "print(f'{int(input()) + int(input())}.00')",
    "finds nothing of the run before": (
        "import os, socket, time\nknown = {'run', 'lint'}\n"
        "found = [name for place in ('..', '/dev/shm', '.') for name in os.listdir(place) if name not in known]\n"
        "alive = socket.socket(socket.AF_UNIX).connect_ex('\\0left') == 0\n"
        "for place in ('../left', '/dev/shm/left', 'left'):\n    os.makedirs(place + '/deep')\n"
        "ready, tell = os.pipe()\n"
        "if os.fork() == 0:\n    os.setsid()\n    slow_to_end = b'x' * (100 << 20)\n"
        "    listener = socket.socket(socket.AF_UNIX)\n"
        "    listener.bind('\\0left')\n    listener.listen()\n    os.write(tell, b'x')\n    time.sleep(1000)\n"
        f"os.read(ready, 1)\nassert not found and not alive, (found, alive)\n{SUM}"
    ),
    "is alone in its folder": f"import os\nassert not os.listdir('.')\nopen('left', 'x').close()\n{SUM}",
}
WRONG = {
    "right for two": ("failed", SUM.replace("print", "x = ").rstrip() + "\nprint(x if x < 9 else 1)"),
    "an error after the output": ("error", f"{SUM}1 / 0"),
    "endless": ("timeout", "while True:\n    pass"),
    "asleep": ("timeout", "import time\ntime.sleep(1000)"),
    "huge output": ("failed", "while True:\n    print('x' * 1000)"),
    "huge memory": ("out_of_memory", "held = []\nwhile True:\n    held.append(bytearray(1 << 20))"),
    "kills its starter": ("crashed", f"{SUM}import os\nos.kill(os.getppid(), 9)"),
    "crashes": ("crashed", "import ctypes\nctypes.string_at(0)"),
    "contains it": ("failed", f"print('The answer is')\n{SUM}"),
}


def graded(
    folder: Path, rows: list[dict[str, Any]], replies: dict[str, list[str]], *options: str, declared: str = DECLARED
) -> Any:
    """Grade with this declaration; return the command's result, and the samples if there are any."""
    done = grade(own(folder, declared, rows, replies), "-b", folder, *SANDBOX, *options)
    results = folder / "p_results.json"
    return done, json.loads(results.read_text())["samples"] if results.exists() else []


def test_programs_run_as_scripts_and_wrong_ones_earn_nothing(tmp_path: Path) -> None:
    sources = [*HONEST.values(), *(source for _, source in WRONG.values())]
    texts = [f"```python\n{source}\n```" for source in sources]
    done, samples = graded(tmp_path, [SUMS], {"7": texts}, "--timeout", "1", "--memory", "256m")
    assert done.returncode == 0, done.stderr
    wanted = dict.fromkeys(HONEST, "passed") | {name: outcome for name, (outcome, _) in WRONG.items()}
    for reading in ("official", "careful"):
        assert dict(zip(wanted, (s[reading]["outcome"] for s in samples), strict=True)) == wanted
    assert [metric for metric in done.stderr.splitlines() if "calls_right" in metric]
    endless = samples[list(wanted).index("endless")]
    # Its other two inputs would take 2 s more.
    assert endless["seconds"] < 2
    partly = samples[len(HONEST)]
    first = {"call": "10\n2\n", "expected": "12\n", "returned": "1\n"}
    assert partly["calls"] == {"n": 3, "same": 2, "first": first}
    assert partly["careful"]["detail"] == "input 3 of 3: the answer is `1`, expected `12`"


BAD_ROWS = {
    "each input needs one output": {"outputs": ["3"]},
    "column outputs: item 1 has more than 4,000,000 bytes": {"outputs": ["é" * 2_000_001, "1", "12"]},
    "NaN is not a JSON number": {"outputs": "[NaN, NaN, NaN]"},
    "no list in column inputs": {"inputs": None},
    "column inputs is an empty list": {"inputs": [], "outputs": []},
}


def test_each_bad_row_is_named(tmp_path: Path) -> None:
    rows = [SUMS | {"id": str(number)} | row for number, row in enumerate(BAD_ROWS.values())]
    done, _ = graded(tmp_path, rows, {"0": [SUM]})
    assert done.returncode == 2
    for number, why in enumerate(BAD_ROWS, 1):
        (line,) = [line for line in done.stderr.splitlines() if f"rows.jsonl:{number}:" in line]
        assert why in line, line


CHECKED = {
    "id": "halves",
    "text": "Print two numbers with this sum.",
    "inputs": ["4\n", "7\n"],
    "outputs": ["2 2\n", "3 4\n"],
    "check": (
        "def check(input, output, expected):\n    print('noise')\n"
        "    if '\\0' in output:\n        return False\n"
        "    if 'boom' in output:\n        raise ValueError('boom')\n"
        "    return sum(map(int, output.split())) == int(input)\n"
        "if __name__ == '__main__':\n    raise SystemExit('called by nobody')\n"
    ),
}


CHECKING = DECLARED.replace("inputs =", 'checker = "check", inputs =')


def test_a_checker_accepts_other_right_outputs_and_one_that_raises_rejects(tmp_path: Path) -> None:
    programs = ["print(1, int(input()) - 1)", "print(2, 2)", "print('boom')", "print(true)", "print('\\0' * 3_900_000)"]
    done, samples = graded(tmp_path, [CHECKED], {"halves": programs}, declared=CHECKING)
    assert done.returncode == 0, done.stderr
    for reading in ("official", "careful"):
        assert [s[reading]["outcome"] for s in samples] == ["passed", "failed", "failed", "error", "failed"]
    assert samples[1]["careful"]["detail"] == "input 2 of 2: the checker rejects the answer `2 2`"
    assert samples[2]["careful"]["detail"] == "input 1 of 2: the checker rejects the answer `boom`"


def test_a_checker_that_raises_on_the_expected_output_leaves_samples_unscored(tmp_path: Path) -> None:
    row = CHECKED | {"outputs": ["boom\n", "3 4\n"]}
    done, samples = graded(tmp_path, [row], {"halves": ["print('boom')"]}, declared=CHECKING)
    why = "task halves: the checker fails with the output for input 1: ValueError: boom"
    assert (samples[0]["careful"]["outcome"], samples[0]["careful"]["detail"]) == ("unscored", why)
    assert "the checker in the data failed" in done.stderr, done.stderr
    said = " ".join(done.stderr.split())
    assert 'The checker of 1 task failed, so samples are unscored. "halves": the checker fails with' in said


def test_an_output_that_ends_its_checker_is_wrong_and_one_that_ends_it_always_is_unscored(tmp_path: Path) -> None:
    sometimes = "import os\ndef check(input, output, expected):\n    return output.strip() == '4' or os._exit(0)"
    always = "def check(input, output, expected):\n    import os\n    os._exit(0)"
    rows = [
        {"id": name, "text": "Print the number.", "inputs": ["4"], "outputs": ["4"], "check": check}
        for name, check in (("sometimes", sometimes), ("always", always))
    ]
    programs = ["print(input())", "print(5)"]
    done, samples = graded(tmp_path, rows, {"sometimes": programs, "always": programs[:1]}, declared=CHECKING)
    assert [s["careful"]["outcome"] for s in samples] == ["passed", "failed", "unscored"], done.stderr
    why = "input 1 of 1: comparing it with the expected answer did not finish"
    assert (samples[1]["careful"]["detail"], samples[1]["careful"]["credit"]) == (why, 0)
    assert samples[2]["careful"]["detail"] == "task always: the checker does not finish"


def test_a_checker_in_a_file_decides_about_tasks_without_one_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "check.py").write_text(CHECKED["check"])
    row = {name: value for name, value in CHECKED.items() if name != "check"}
    declared = 'checker = "check.py"\n' + DECLARED
    done, samples = graded(tmp_path, [row], {"halves": ["print(1, int(input()) - 1)"]}, declared=declared)
    assert done.returncode == 0, done.stderr
    assert samples[0]["careful"]["outcome"] == "passed"
    (tmp_path / "check.py").write_text("def chekc(input, output, expected):\n    return True\n")
    done, _ = graded(tmp_path, [row], {"halves": ["print(1)"]}, declared=declared)
    assert done.returncode == 2
    assert "the checker defines no function check(input, output, expected)" in done.stderr


def test_memory_by_task(tmp_path: Path) -> None:
    declared = DECLARED.replace("inputs =", 'memory = "memory", inputs =')
    one = {"text": "", "inputs": [""], "outputs": ["done"]}
    memories = {"usual": None, "less": "128m", "more": 700 << 20}
    rows: list[dict[str, Any]] = [one | {"id": name, "memory": memory} for name, memory in memories.items()]
    # Memory is looked at several times a second: a shorter life than that is not seen.
    holds = "import time\nheld = bytearray(b'x') * (%d << 20)\ntime.sleep(0.3)\nprint('done')"
    programs = {name: [holds % 200, holds % 500] for name in memories}
    done, samples = graded(tmp_path, rows, programs, "--memory", "300m", declared=declared)
    assert done.returncode == 0, done.stderr
    found = {(s["qid"], s["sample"]): s["careful"]["outcome"] for s in samples}
    passed = {("usual", 0), ("more", 0), ("more", 1)}
    assert found == {
        (name, number): "passed" if (name, number) in passed else "out_of_memory"
        for name in memories
        for number in (0, 1)
    }


def test_long_answers_are_compared_where_long_ones_are_expected(tmp_path: Path) -> None:
    count, times = 6_000, 5  # more than one job may return
    row = {"id": "long", "text": "", "inputs": [[count]] * times, "outputs": [[*range(count)]] * times}
    tenths = "def f(n):\n    return [i / 10 for i in range(n)]"
    rows = [
        row | {"function": "f"},
        row | {"id": "shared rows", "function": "f", "inputs": [[300]], "outputs": [[[0] * 300] * 300]},
        row | {"id": "a text", "function": "f", "inputs": [[count]], "outputs": ["🎉" * count]},
        row | {"id": "digits", "function": "f", "inputs": ["1" * 5000], "outputs": ["1" * 5000]},
        row | {"id": "a reference", "function": "f", "inputs": [[count]], "outputs": None, "solution": tenths},
    ]
    programs = {
        "long": ["def f(n):\n    return list(range(n))", "def f(n):\n    return list(range(n % 7))"],
        "shared rows": ["def f(n):\n    return [[0] * n] * n"],
        "a text": ["def f(n):\n    return '🎉' * n"],
        "digits": ["def f(n):\n    return n", "def f(n):\n    return 10 * n"],
        "a reference": [tenths.replace("i / 10", "i * 0.1")],
    }
    declared = FUNCTION.replace("function =", 'solution = "solution", function =')
    done, samples = graded(tmp_path, rows, programs, declared=declared)
    assert done.returncode == 0, done.stderr
    assert [sample["careful"]["outcome"] for sample in samples] == [
        *("passed", "failed", "passed", "passed"),
        *("passed", "failed", "passed"),
    ]
    rows[-1]["solution"] = "def f(n):\n    return map(str, range(n))"
    done, samples = graded(tmp_path, rows, programs, declared=declared)
    why = f"fails with its input 1, f({count}): its answer cannot be compared: <a value of type iterator>"
    notes = json.loads((tmp_path / "p_results.json").read_text())["notes"]
    assert f'The reference solution of 1 task failed, so samples are unscored. "a reference": {why}' in [
        note["text"] for note in notes
    ]
    assert [sample["careful"]["outcome"] for sample in samples][-2:] == ["failed", "unscored"]
    (tmp_path / "p.json").unlink()
    done, _ = graded(tmp_path, rows[-1:], {"a reference": programs["a reference"]}, declared=declared)
    assert (done.returncode, why in done.stderr) == (2, True)


FUNCTION = DECLARED.replace("inputs =", 'function = "function", inputs =')
WRITES = """import os, struct
for fd in range(3, 64):
    try:
        os.write(fd, struct.pack(">I", 8) + b"not json")
    except OSError:
        pass
os._exit(0)
"""
ODD_ANSWERS = {
    "no message": (1, WRITES, "crashed"),
    "no array": ([1, 1], "import numpy\ndef f(x):\n    return numpy.int64(x)", "failed"),
    "beyond every float": (1.5, "def f(x):\n    return 10 ** 400", "failed"),
    "a signalling NaN": (5, "from decimal import Decimal\ndef f(x):\n    return Decimal('sNaN')", "failed"),
    "half a character": ("a", "def f(x):\n    return '\\ud800'", "failed"),
    "half a character in an exception": ("a", "def f(x):\n    raise ValueError('\\ud800')", "error"),
    "half a character at the start": ("a", "```python\nraise ValueError('\\ud800')\n```", "error"),
}


def test_an_answer_that_nothing_can_be_done_with_is_wrong_and_ends_no_run(tmp_path: Path) -> None:
    rows = [
        {"id": name, "text": "", "inputs": [[1]], "outputs": [expected], "function": "f"}
        for name, (expected, _, _) in ODD_ANSWERS.items()
    ]
    programs = {name: [source] for name, (_, source, _) in ODD_ANSWERS.items()}
    done, samples = graded(tmp_path, rows, programs, declared=FUNCTION)
    assert done.returncode == 0, done.stderr
    found = [sample["careful"]["outcome"] for sample in samples]
    assert found == [outcome for _, _, outcome in ODD_ANSWERS.values()]


def test_a_task_whose_expected_outputs_are_all_null_is_not_judged(tmp_path: Path) -> None:
    """`pass` would pass. Official compares None with None all the same."""
    row = {"id": "rotate", "text": "", "inputs": [[[1, 2]]], "outputs": [None], "function": "rotate"}
    programs = {"rotate": ["def rotate(x):\n    x.reverse()", "def rotate(x):\n    pass"]}
    _, samples = graded(tmp_path, [row], programs, declared=FUNCTION)
    assert [sample["official"]["outcome"] for sample in samples] == ["passed", "passed"]
    assert {(sample["careful"]["outcome"], sample["careful"]["credit"]) for sample in samples} == {("not_judged", None)}
