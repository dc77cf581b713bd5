"""What a program's process says of it: the official way, its holes included, and split from its tests."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import Any

import inside
import pytest

wire = inside.load("wire")

DRIVER = """
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy  # as the process has it that programs are forked from
import harness
getattr(harness, sys.argv[2])(json.loads(sys.argv[3]), *map(int, sys.argv[4:]))
"""


def start(kind: str, spec: dict[str, object], *fds: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-c", DRIVER, inside.FOLDER, kind, json.dumps(spec), *map(str, fds)]
    return subprocess.Popen(
        command, pass_fds=fds, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def result_of(read_end: int) -> dict[str, Any] | None:
    with os.fdopen(read_end, "rb") as file:
        try:
            return dict(wire.receive(file.read))
        except wire.ClosedError:
            return None


def official(program: str, prefix: str = "", timed_out: str = "timed out") -> tuple[dict[str, Any] | None, bytes]:
    """Run a program as the official evaluator does; return what it reported and what it printed."""
    read_end, write_end = os.pipe()
    process = start("official", {"program": program, "failed_prefix": prefix, "timed_out": timed_out}, write_end)
    os.close(write_end)
    result = result_of(read_end)
    output, errors = process.communicate(timeout=60)
    return result, output + errors


def split(
    source: str, test: str, signature: str = "def solution(a):\n    pass\n", classes: tuple[str, ...] = ()
) -> dict[str, Any] | None:
    """Run a candidate and its tests apart."""
    ours, theirs = socket.socketpair()
    read_end, write_end = os.pipe()
    shared = {"signature": signature, "classes": list(classes)}
    first = start("candidate", shared | {"source": source}, theirs.fileno())
    theirs.close()
    second = start("tests", shared | {"test": test, "stubs": ["solution"]}, ours.fileno(), write_end)
    ours.close()
    os.close(write_end)
    result = result_of(read_end)
    for process in (second, first):
        process.communicate(timeout=60)
    return result


CONFIRMED = {"confirmed": True, "reason": "", "kind": ""}


def reason(*args: Any, **kwargs: Any) -> str:
    result = split(*args, **kwargs)
    assert result is not None
    assert result["confirmed"] is False
    return str(result["reason"])


# --- official ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "prefix", "text", "kind"),
    [
        ("x = 1", "failed: ", "passed", ""),
        ("assert 1 == 2", "failed: ", "failed: ", "AssertionError"),
        ("assert 1 == 2, 'not so'", "", "not so", "AssertionError"),
        ("1 / 0", "failed: ", "failed: division by zero", "ZeroDivisionError"),
        ("def f(:", "", "invalid syntax (<string>, line 1)", "SyntaxError"),
        ("raise SystemExit('passed')", "", "passed", "SystemExit"),
        ("raise SystemExit('passed')", "failed: ", "failed: passed", "SystemExit"),
        ("raise KeyboardInterrupt", "", "", "KeyboardInterrupt"),
        ("input()", "", "", "OSError"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGALRM)\nwhile True: pass", "", "timed out", "timeout"),
        ("import sys\nsys._getframe(1).f_locals['result'].append('passed')\n1 / 0", "", "passed", ""),
        ("raise ValueError('x' * 30_000)", "", "x" * 20_000 + "... [10000 more characters]", "ValueError"),
        ("raise ValueError('\\ud800\\x00\\x1b')", "", "\ud800\x00\x1b", "ValueError"),
    ],
)
def test_the_official_run_reports_what_the_published_evaluator_would(
    program: str, prefix: str, text: str, kind: str
) -> None:
    result, output = official(program, prefix)
    assert result is not None
    result.pop("lines", None)
    assert result == {"result": text, "kind": kind}
    assert output == b""


def test_a_process_that_ends_itself_reports_nothing() -> None:
    assert official("import os\nos._exit(0)") == (None, b"")


def test_what_a_program_prints_is_swallowed_and_bounded() -> None:
    program = "import sys\nfor _ in range(300):\n    print('x' * 100_000)\n    sys.stderr.write('y')\nassert sys.stdout.tell() < 2_000_000"
    assert official(program) == ({"result": "passed", "kind": ""}, b"")


def test_a_long_message_of_wide_characters_and_a_long_name_arrive_clipped() -> None:
    result, _ = official("class E(Exception):\n    pass\nE.__name__ = 'n' * 10**6\nraise E('\\U0001f600' * 10**5)")
    assert result is not None
    assert (len(result["result"]), len(result["kind"])) == (20_027, 200)


def test_an_exception_without_a_text_is_reported_with_its_own() -> None:
    program = "class E(Exception):\n    def __str__(self):\n        return 'passed'\nraise E"
    result, _ = official(program, "failed: ")
    assert result == {"result": "failed: passed", "kind": "E", "lines": "4"}


def test_the_lines_an_exception_came_by_are_told_outermost_first_and_bounded() -> None:
    program = "def f(n):\n    if n:\n        return f(n - 1)\n    raise ValueError\n\n\nf(2)"
    result, _ = official(program)
    assert result == {"result": "", "kind": "ValueError", "lines": "7,3,3,4"}
    result, _ = official(program.replace("f(2)", "f(300)"))
    assert result is not None
    assert result["lines"] == "7,3,3,3,3,3,3,3"


# --- split ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("def solution(a):\n    return sum(a)", "assert solution([1, 2]) == 3"),
        ("def solution(a):\n    a.sort()", "x = [2, 1]\nassert solution(x) is None\nassert x == [1, 2]"),
        ("def solution(a):\n    a['new'] = [1]\n    a.pop('old')", "x = {'old': 1}\nsolution(x)\nassert x == {'new': [1]}"),
        ("def solution(a):\n    a[0].append(1)\n    return a[0]", "x = [[]]\ny = solution(x)\nassert y is x[0] and x == [[1]]"),
        ("def solution(a):\n    return a", "x = [1]\nassert solution(x) is x"),
        ("def solution(a):\n    a[:] = [a, a]", "x = []\nsolution(x)\nassert x[0] is x and x[1] is x"),
        (
            "def solution(a):\n    raise ValueError('no', a)",
            "try:\n    solution(3)\nexcept ValueError as e:\n    assert e.args == ('no', 3)\nelse:\n    assert False",
        ),
        ("def solution(a, *, b=1):\n    return a - b", "assert solution(a=5, b=2) == 3 and solution(5) == 4"),
        ("def solution(a):\n    yield from a", "assert list(solution([1, 2])) == [1, 2]"),
        (
            "N = 0\ndef solution(a):\n    global N\n    N += a\n    return N",
            "assert [solution(1), solution(2)] == [1, 3]",
        ),
        ("import math\ndef solution(a):\n    return math.pi * a", "assert math.isclose(solution(2), 2 * math.pi)"),
        ("def helper(a):\n    return a\ndef solution(a):\n    return helper(a)", "def test():\n    assert solution(2) == 2\ntest()"),
        ("solution = lambda a: a + 1", "assert solution(1) == 2"),
        ("def solution(a):\n    print('noise' * 1000)\n    return a", "assert solution(1) == 1"),
    ],
)  # fmt: skip
def test_an_honest_solution_is_confirmed(source: str, test: str) -> None:
    assert split(source, test) == CONFIRMED


TREE = "class Node:\n    def __init__(self, v, *c):\n        self.v, self.c = v, list(c)\n\ndef solution(a: Node):\n    pass\n"


@pytest.mark.parametrize(
    "source",
    [
        "def solution(a):\n    return Node(a.v, *a.c[::-1])",
        "class Node:\n    def __init__(self, v, *c):\n        self.v, self.c = v, list(c)\n\ndef solution(a):\n    return Node(a.v, *a.c[::-1])",
        "def solution(a):\n    a.c.reverse()\n    return a",
    ],
)
def test_instances_of_the_signatures_class_are_the_tests_own(source: str) -> None:
    test = "r = solution(Node(1, Node(2), Node(3)))\nassert type(r) is Node and [n.v for n in r.c] == [3, 2]"
    assert split(source, test, TREE, ("Node",)) == CONFIRMED


def test_a_changed_instance_is_changed_in_place() -> None:
    test = "n = Node(1)\nsolution(n)\nassert n.v == 2 and n.c == [n] and not hasattr(n, 'gone')"
    source = "def solution(a):\n    a.v += 1\n    a.c.append(a)\n    a.gone = 1\n    del a.gone"
    assert split(source, test, TREE, ("Node",)) == CONFIRMED


LIAR = "class Liar:\n    __eq__ = lambda self, other: True\n    __hash__ = None\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def solution(a):\n    return 4", "a test fails"),
        ("def solution(a):\n    return a.x", "AttributeError: 'int' object has no attribute 'x'"),
        ("def solution(a):\n    raise SystemExit('passed')", "the candidate's process ended during a call"),
        ("import os\ndef solution(a):\n    os._exit(0)", "the candidate's process ended during a call"),
        ("import os\nos._exit(0)", "the candidate's process ended while its code was loading"),
        ("raise SystemExit(0)", "the candidate's code does not load: SystemExit: 0"),
        ("1 / 0", "the candidate's code does not load: ZeroDivisionError: division by zero"),
        ("x = 1", "a test fails"),  # the signature's own stub answers None
        (
            LIAR + "def solution(a):\n    return Liar()",
            "the candidate returned what cannot cross to the tests: Liar",
        ),
        (
            LIAR + "def solution(a):\n    return [(Liar(),)]",
            "the candidate returned what cannot cross to the tests: Liar",
        ),
        (
            "class Int(int):\n    __eq__ = lambda self, other: True\ndef solution(a):\n    return Int()",
            "the candidate returned what cannot cross to the tests: Int",
        ),
        ("import builtins\nbuiltins.AssertionError = Warning\ndef solution(a):\n    return 0", "a test fails"),
        ("import builtins\nbuiltins.check = lambda: None\ndef solution(a):\n    return 0", "a test fails"),
        ("def test():\n    pass\ndef check(*a):\n    return True\ndef solution(a):\n    return 0", "a test fails"),
    ],
)
def test_what_is_not_right_is_not_confirmed_and_the_reason_is_said(source: str, expected: str) -> None:
    assert reason(source, "def test():\n    assert solution(2) == 3\ntest()") == expected


def test_the_expected_values_are_nowhere_in_the_candidates_frames() -> None:
    source = (
        "import sys, gc\n"
        "def solution(a):\n"
        "    frame = sys._getframe(1)\n"
        "    while frame:\n"
        "        found = [c for c in frame.f_code.co_consts if c == 918273]\n"
        "        if found or 918273 in frame.f_locals.values():\n"
        "            return 918273\n"
        "        frame = frame.f_back\n"
        "    return 0\n"
    )
    assert reason(source, "def test():\n    assert solution(2) == 918273\ntest()") == "a test fails"


def test_a_function_that_the_signature_defines_stays_the_signatures() -> None:
    signature = "def check(x):\n    return x == 3\n\ndef solution(a):\n    pass\n"
    source = "def check(x):\n    return True\n\ndef solution(a):\n    return 0"
    assert reason(source, "assert check(solution(2))", signature) == "a test fails"


def test_an_argument_that_cannot_cross_is_said_to_be_the_tests() -> None:
    expected = "the test passes a function, which cannot cross to the candidate"
    assert reason("def solution(a):\n    return a(1)", "assert solution(lambda x: x) == 1") == expected


def test_no_handler_of_the_tests_swallows_that_a_candidate_cannot_be_confirmed() -> None:
    test = "try:\n    solution(1)\nexcept Exception:\n    pass"
    assert reason(LIAR + "def solution(a):\n    return Liar()", test).endswith(": Liar")


@pytest.mark.parametrize("end", ["return Liar()", "raise SystemExit", "raise StopIteration", "os._exit(0)"])
def test_no_handler_at_all_swallows_it_either(end: str) -> None:
    test = "try:\n    solution(1)\nexcept:\n    pass"
    said = reason(f"import os\n{LIAR}def solution(a):\n    {end}", test)
    assert said.startswith(("the candidate returned", "the candidate's process ended", "the candidate raised"))


def test_what_it_prints_reaches_tests_that_listen() -> None:
    test = "import io, sys\nsys.stdout = io.StringIO()\nsolution(2)\nassert sys.stdout.getvalue() == 'got 2\\n'"
    assert split("def solution(a):\n    print('got', a)", test) == CONFIRMED


def test_an_error_of_the_system_that_it_raises_is_its_own() -> None:
    assert reason("def solution(a):\n    raise OSError('none')", "solution(1)") == "OSError: none"


@pytest.mark.parametrize(
    "raw", ["b'[]'", "b'not json'", 'b\'{"v": ["r", 9], "n": [], "m": []}\'', 'b\'{"v": 3, "n": 5, "m": []}\'',
            'b\'{"v": 3, "n": [], "m": [[7, ["list", []]]]}\'', 'b\'{"v": 3, "n": []}\'', "b'[' * 50000"]
)  # fmt: skip
def test_a_candidate_that_writes_to_the_channel_itself_is_not_confirmed(raw: str) -> None:
    """It finds the socket among its own frames and answers the call with what no honest side sends."""
    source = (
        "import struct, sys\n"
        "def solution(a):\n"
        "    frame = sys._getframe(2)\n"
        "    channel = frame.f_locals['channel']\n"
        f"    data = {raw}\n"
        "    channel.socket.sendall(struct.pack('>I', len(data)) + data)\n"
        "    return 0\n"
    )
    assert reason(source, "assert solution(2) == 3")


# --- what a candidate could make of the tests -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "test",
    [
        "assert solution(1) is False\nassert solution(2) is False\nassert solution(3) is False",
        "def test():\n    for n in range(3):\n        assert solution(n) is False, 'no'\ntest()",
        "import numpy as np\nfor n in range(3):\n    np.testing.assert_equal(solution(n), False)",
    ],
)
def test_a_wrong_answer_is_followed_by_the_same_calls_as_a_right_one(test: str) -> None:
    """Else the call that does not come would tell a candidate which of its answers was wrong."""
    last = test + "\nassert solution('count') == 4, 'it was called less often'"
    count = "calls = []\ndef solution(a):\n    calls.append(a)\n    return len(calls) if a == 'count' else len(calls) == 1\n"
    said = reason(count, last)
    assert said.startswith("a test fails")
    assert "less often" not in said


def test_assertions_that_the_tests_catch_stay_as_they_are() -> None:
    test = """
try:
    assert solution(1) == 3
    raise SystemError("the assertion let it through")
except AssertionError:
    pass
with __import__("contextlib").suppress(AssertionError):
    assert solution(1) == 3
    raise SystemError("the assertion let it through")
"""
    assert (found := split("def solution(a):\n    return 2", test))["confirmed"], found


EMPTY = "import numpy as np\ndef solution(a):\n    return np.empty((0, 1))\n"
LISTED = "def solution(a):\n    return []\n"


@pytest.mark.parametrize(
    ("source", "test"),
    [
        (EMPTY, "assert (solution(3) == np.array([1, 2, 3])).all()"),
        (EMPTY, "assert all(solution(3) == np.array([1, 2, 3]))"),
        (EMPTY, "assert np.all(np.abs(solution(3) - np.array([1.5, 2, 3])) < 1e-6)"),
        (EMPTY, "assert np.linalg.norm(solution(3) - np.array([1.5, 2, 3])) < 1e-6"),
        (EMPTY, "np.testing.assert_allclose(solution(3), 3.25)"),
        (EMPTY, "np.testing.assert_array_equal(solution(3), 7)"),
        (EMPTY, "assert np.array_equiv(solution(3), [1, 2, 3])"),
        (LISTED, "assert np.all(np.abs(np.array(solution(3)) - 3.25) < 1e-6)"),
        (LISTED, "assert (np.array(solution(3)) == np.array([[1], [2], [3]])).all()"),
        (LISTED, "np.testing.assert_almost_equal(solution(3), 3.25)"),
    ],
)
def test_nothing_is_not_equal_to_something(source: str, test: str) -> None:
    test = f"import numpy as np\n{test}"
    assert (run := reason(source, test)).startswith("an array without items is compared"), run


@pytest.mark.parametrize(
    "test",
    [
        "assert (solution(0) == np.array([])).all() and solution(0).size == 0",
        "assert np.allclose(solution(0), []) and solution(0).shape == (0,)",
        "np.testing.assert_array_equal(solution(0), np.array([]))",
        "assert isinstance(solution(0), np.ndarray) and solution(0).tolist() == []",
        "assert solution(solution(0)).size == 0 and len(np.concatenate([solution(0), [1.0]])) == 1",
        "assert (solution(0) * 2 + 1).sum() == 0",
    ],
)
def test_nothing_is_equal_to_nothing(test: str) -> None:
    source = "import numpy as np\ndef solution(a):\n    return np.array([])\n"
    assert (found := split(source, f"import numpy as np\n{test}"))["confirmed"], found


@pytest.mark.parametrize("handler", ["except:", "except BaseException:"])
def test_an_iterator_without_end_is_not_confirmed_by_who_swallows_it(handler: str) -> None:
    test = f"ok = 0\ntry:\n    list(solution(3))\n{handler}\n    ok = 1\nassert ok"
    said = reason("def solution(a):\n    while True:\n        yield a\n", test)
    assert said.startswith("the tests ask for more than the first 1000 items")
