"""Careful verdicts: calls of tests are recorded, a candidate answers them, and the tests judge the answers."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

import json
from typing import Any

import msgspec
import phases
import pytest
from phases import CONFIRMED

from grader.sandbox.answer import Recording
from grader.scorers.execution import calls

pytestmark = phases.MARKS


def reason(*words: str) -> str:
    """Return why a candidate is not confirmed."""
    result = phases.replayed(*words)
    assert result["confirmed"] is False
    return str(result["reason"])


HONEST = [
    ("def solution(a):\n    a[0].append(1)\n    return a[0]", "x = [[]]\ny = solution(x)\nassert y is x[0] and x == [[1]]"),
    ("def solution(a):\n    return type('R', (), {'x': a})()", "assert solution(3).x == 3"),
    ("def solution(a):\n    a[:] = [a, a]", "x = []\nsolution(x)\nassert x[0] is x and x[1] is x"),
    ("def solution(a):\n    raise ValueError('no', a)", "try:\n    solution(3)\nexcept ValueError as e:\n    assert e.args == ('no', 3)\nelse:\n    assert False"),
    ("def solution(a, *, b=1):\n    return a - b", "assert solution(a=5, b=2) == 3 and solution(5) == 4"),
    ("def solution(a):\n    a.append(1)\n    raise ValueError", "x = []\ntry:\n    solution(x)\nexcept ValueError:\n    assert x == [1]\nelse:\n    assert False"),
    ("def solution(a):\n    return a", "x = [1]\nassert solution(x) is x\nx.append(2)\nassert solution(x) == [1, 2]"),
    ("def solution(a):\n    if a == 0:\n        return 1\n    return a * solution(a - 1)", "assert solution(5) == 120"),
    ("def solution(a):\n    return [a, a + 1]", "x, y = solution(1)\nassert solution(y) == [2, 3]"),
    ("def solution(a):\n    return list(a)", "assert solution(iter([1, 2])) == [1, 2]\nassert solution(n for n in (3,)) == [3]"),
    ("def solution(a):\n    while True:\n        yield a", "import itertools\nassert list(itertools.islice(solution(3), 2)) == [3, 3]"),
    ("def solution(a):\n    def add(b):\n        return a + b\n    return add", "f = solution(1)\nassert f(2) == 3 and f(b=4) == 5\nassert list(map(solution(10), [1, 2])) == [11, 12]"),
    ("class P:\n    def __init__(self, a):\n        self.x = a\n    @property\n    def y(self):\n        return self.x + 1\n    def price(self):\n        return self.x * 10\ndef solution(a):\n    return P(a)", "p = solution(3)\nassert p.x == 3 and p.price() == 30"),
    ("class Bad(ValueError):\n    pass\ndef solution(a):\n    raise Bad('no')", "try:\n    solution(1)\nexcept Exception as e:\n    assert type(e).__name__ == 'Bad' and isinstance(e, ValueError)\nelse:\n    assert False"),
    ("import random\ndef solution(a):\n    return random.randint(0, 10**9)", "import random\nrandom.seed(5)\nx = solution(0)\nrandom.seed(5)\nassert random.randint(0, 10**9) == x"),
    ("import numpy as np\ndef solution(a):\n    return float(np.random.rand())", "import numpy as np\nnp.random.seed(5)\nx = solution(0)\nnp.random.seed(5)\nassert np.random.rand() == x"),
    ("def solution(a):\n    return [a(x) for x in 'ab']", "assert solution(ord) == [97, 98]\nassert solution(str.upper) == ['A', 'B']"),
    ("def solution(a=0):\n    return int(input()) + int(input())", "import io, sys\nsys.stdin = io.StringIO('3\\n4\\n5\\n6\\n')\nassert solution() == 7\nassert sys.stdin.readline() == '5\\n'"),
    ("def solution(a=0):\n    return int(input()) + int(input())", "import io, sys\nfor _ in range(2):\n    sys.stdin = io.StringIO('3\\n4\\n')\n    assert solution() == 7"),
    ("def solution(a=0):\n    return int(input()) + int(input())", "from unittest.mock import patch\nfor _ in range(2):\n    with patch('builtins.input', side_effect=['3', '4', '5']) as read:\n        assert solution() == 7 and read.call_count == 2\n        assert input() == '5'"),
    ("def solution(a):\n    return __name__", "assert solution(1) == __name__"),
    ("import operator\ndef solution(a):\n    return operator.itemgetter(a)", "f = solution(1)\nassert f([4, 5, 6]) == 5"),
    ("import numpy\ndef solution(a):\n    return numpy.vectorize(lambda n: n * a)", "f = solution(3)\nassert list(f([4, 5])) == [12, 15]"),
    ("def solution(a):\n    print('x is', a)\n    return a", "import contextlib, io\nsolution(1)\ntext = io.StringIO()\nwith contextlib.redirect_stdout(text):\n    assert solution(3) == 3\n    print('and', end=' ')\n    solution(4)\nassert text.getvalue() == 'x is 3\\nand x is 4\\n'"),
    ("import datetime\ndef solution(a):\n    return a + datetime.timedelta(days=1)", "import datetime\nzone = datetime.timezone(datetime.timedelta(hours=-2))\nassert solution(datetime.datetime(2024, 2, 28, tzinfo=zone)).isoformat() == '2024-02-29T00:00:00-02:00'"),
    # Later changes of objects that the program keeps are seen.
    ("def solution(a):\n    if a == [[3]]:\n        a[0].append(4)\n    return [[3]]", "x = solution(1)\nassert solution(2) == [[3]]\nsolution(x)\nassert x == [[3, 4]]"),
    # While the tests use an object, they reach whatever programs have put into it.
    ("def solution(a):\n    a[1:] = [[*n, 9] for n in a[1:]] or [[]]\n    a[0].append(a[-1]) if a[0] else a[0].append([1])", "x = [[]]\nfor _ in range(3):\n    solution(x)\nassert len(x[0]) == 3 and x[1] == [9, 9]"),
    ("def solution(a, b=None):\n    if b is not None:\n        a.append(b)\n    for c in a:\n        c.append(9)", "x = []\nsolution(x, [1])\nsolution(x)\nsolution(x)\nassert x == [[1, 9, 9, 9]]"),
    ("import sys\ninput = sys.stdin.buffer.readline\nsys.stdout.reconfigure(encoding='utf-8')\ndef solution(a):\n    return a + len(input())", "assert solution(1) == 1"),
    ("import functools, sys\nsys.setrecursionlimit(10**6)\n@functools.cache\ndef solution(n):\n    return n and solution(n - 1) + 1", "assert solution(20000) == 20000"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "test"), HONEST)
def test_an_honest_solution_is_confirmed(source: str, test: str) -> None:
    assert phases.replayed(source, test) == CONFIRMED


CLASSES = """
from collections import namedtuple
from enum import Enum
from functools import cached_property
from typing import Generic, TypeVar
T = TypeVar("T")
Point = namedtuple("Point", "a b")
Color = Enum("Color", "RED BLUE")
class Box(Generic[T]):
    def __init__(self, value):
        self.value = value
    @cached_property
    def double(self):
        return 2 * self.value
class Named:
    __slots__ = ("name",)
class Tree(Named):
    class Leaf:
        def __init__(self, value):
            self.value = value
    def __init__(self, name, *values):
        self.name = name
        self.leaves = [Tree.Leaf(value) for value in values]
class Refused(ValueError):
    def __init__(self, why, amount):
        super().__init__(why)
        self.amount = amount
def solution(x, y=2):
    '''Solves.'''
"""
OF_CLASSES = [
    ("def solution(x):\n    raise Refused('no', [x])", "try:\n    solution(3)\nexcept Refused as e:\n    assert e.args == ('no',) and e.amount == [3]\nelse:\n    assert False"),
    ("class Own(Refused):\n    pass\ndef solution(x):\n    raise Own('no', x)", "try:\n    solution(5)\nexcept Refused as e:\n    assert e.amount == 5\nelse:\n    assert False"),
    ("def solution(x):\n    return Point(x.b, [x.a, Color.BLUE])", "r = solution(Point(1, 2))\nassert r == Point(2, [1, Color.BLUE]) and r.b[1] is Color.BLUE"),
    ("def solution(x):\n    return Tree('t', x, x + 1)", "t = solution(3)\nassert (t.name, [leaf.value for leaf in t.leaves]) == ('t', [3, 4])\nassert type(t.leaves[0]) is Tree.Leaf"),
    ("def solution(x):\n    box = Box[int](x)\n    box.double\n    return box", "box = solution(3)\nassert (box.value, box.double, type(box)) == (3, 6, Box)"),
    ("def solution(x, y=2):\n    return x * y", "import inspect\nassert list(inspect.signature(solution).parameters) == ['x', 'y']\nassert 'Solves' in solution.__doc__ and solution(4) == 8"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "test"), OF_CLASSES)
def test_a_solution_with_the_signatures_classes_is_confirmed(source: str, test: str) -> None:
    assert phases.replayed(source, test, CLASSES) == CONFIRMED


def test_annotations_are_evaluated_as_in_any_program() -> None:
    signature = f"class Point:\n    x: int\n\n{phases.SIGNATURE}"
    source = "class Mine:\n    x: int\ndef solution(a):\n    return Mine.__annotations__['x'] is int"
    test = "class Own:\n    x: int\nif Point.__annotations__['x'] is Own.__annotations__['x'] is int:\n    assert solution(1) is True"
    assert phases.replayed(source, test, signature) == CONFIRMED


TREE = "class Node:\n    def __init__(self, v, *c):\n        self.v, self.c = v, list(c)\n\ndef solution(a: Node):\n    pass\n"


@pytest.mark.parametrize(
    "source",
    [
        "def solution(a):\n    return Node(a.v, *a.c[::-1])",
        "class Node:\n    def __init__(self, v, *c):\n        self.v, self.c = v, list(c)\n\ndef solution(a):\n    return Node(a.v, *a.c[::-1])",
    ],
)
def test_instances_of_the_signatures_class_are_the_tests_own(source: str) -> None:
    test = "r = solution(Node(1, Node(2), Node(3)))\nassert type(r) is Node and [n.v for n in r.c] == [3, 2]"
    assert phases.replayed(source, test, TREE) == CONFIRMED


def test_a_changed_instance_is_changed_in_place() -> None:
    test = "n = Node(1)\nsolution(n)\nassert n.v == 2 and n.c == [n] and not hasattr(n, 'gone')"
    source = "def solution(a):\n    a.v += 1\n    a.c.append(a)\n    a.gone = 1\n    del a.gone"
    assert phases.replayed(source, test, TREE) == CONFIRMED


LIAR = "class Liar:\n    __eq__ = lambda self, other: True\n    __hash__ = None\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def solution(a):\n    return 4", "a test fails: assert solution(2) == 3"),
        ("def solution(a):\n    raise SystemExit('passed')", "SystemExit: passed"),
        ("import os\ndef solution(a):\n    os._exit(0)", "the candidate's process ended during a call"),
        ("import os\nos._exit(0)", "the candidate's process ended while its code was loading"),
        ("1 / 0", "the candidate's code does not load: ZeroDivisionError: division by zero"),
        (LIAR + "def solution(a):\n    return Liar()", "a test fails: assert solution(2) == 3"),
        ("class Int(int):\n    __eq__ = lambda self, other: True\ndef solution(a):\n    return Int()", "the candidate returned what cannot be serialized: Int"),
        ("import builtins\nbuiltins.AssertionError = Warning\ndef solution(a):\n    return 0", "a test fails: assert solution(2) == 3"),
    ],
)  # fmt: skip
def test_what_is_not_right_is_not_confirmed_and_the_reason_is_said(source: str, expected: str) -> None:
    assert expected in reason(source, "def test():\n    assert solution(2) == 3\ntest()")


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
    assert reason(source, "def test():\n    assert solution(2) == 918273\ntest()").startswith("a test fails")


def test_a_function_that_the_signature_defines_stays_the_signatures() -> None:
    signature = "def check(x):\n    return x == 3\n\ndef solution(a):\n    pass\n"
    source = "def check(x):\n    return True\n\ndef solution(a):\n    return 0"
    assert reason(source, "assert check(solution(2))", signature).startswith("a test fails")


FAILING = {
    "an exception of the tests' own": "for x, e in CASES:\n    if solution(x) != e: raise ValueError",
    "exit": "import sys\nfor x, e in CASES:\n    if solution(x) != e: sys.exit(1)",
    "return": "def test():\n    for x, e in CASES:\n        if solution(x) != e: return False\n    return True\nassert test()",
    "break": "right = 0\nfor x, e in CASES:\n    if solution(x) != e: break\n    right += 1\nassert right == 3",
    "any": "assert not any(solution(x) != e for x, e in CASES)",
}


def settled(test: str) -> Any:
    spec = phases.task(f"CASES = [(1, 1), (2, 4), (3, 9)]\n{test}")
    return spec, calls.agreed_calls(msgspec.convert(phases.record(spec), Recording))


@pytest.mark.parametrize("failing", FAILING)
def test_tests_that_end_at_a_wrong_answer_are_recorded_to_their_end(failing: str) -> None:
    """Else the next call would tell that the last answer was right."""
    spec, recorded = settled(FAILING[failing])
    assert isinstance(recorded, calls.CallList)
    assert [json.loads(call)["arguments"] for call in recorded.calls] == [[1], [2], [3]]
    known = {"calls": recorded.calls, "names": recorded.names, "reads": recorded.reads}
    for source, confirmed in (("a * a", True), ("a * a if a < 3 else 1", False), ("1", False)):
        given = phases.answers(f"def solution(a):\n    return {source}", spec, known)
        judged = phases.judged(spec, known, given)
        assert judged["confirmed"] is confirmed, (source, judged)


@pytest.mark.parametrize("change", ["r[0].append(0)", "del r[0]", "r.x = 1", "import bisect\nbisect.insort(r, 0)"])
def test_an_answer_that_tests_change_is_not_passed_on(change: str) -> None:
    """The candidate still has the answer as it was. If tests only look at what they have changed, this is no problem."""
    test = f"r = solution([3, 1])\n{change}\n"
    refused = phases.record(phases.task(f"{test}assert solution(r)"))["truthy"]["refused"]
    assert refused == "the tests change what the candidate returned"
    assert "refused" not in phases.record(phases.task(f"{test}assert r"))["truthy"]


def test_an_argument_that_cannot_be_serialized_is_said_to_be_the_tests() -> None:
    test = "import threading\nassert solution(threading.Event()) == 1"
    why = "the tests pass a value that cannot be serialized: threading.Event"
    assert phases.record(phases.task(test))["truthy"]["refused"] == why


@pytest.mark.parametrize("handler", ["except:", "except Exception:"])
@pytest.mark.parametrize("end", ["return os", "raise StopIteration", "os._exit(0)"])
def test_no_handler_of_the_tests_swallows_that_a_candidate_cannot_be_confirmed(end: str, handler: str) -> None:
    test = f"try:\n    solution(1)\n{handler}\n    pass"
    said = reason(f"import os\ndef solution(a):\n    {end}", test)
    assert said.startswith(("the candidate returned", "the candidate's process ended", "the candidate raised"))


def test_an_error_of_the_system_that_it_raises_is_its_own() -> None:
    assert reason("def solution(a):\n    raise OSError('none')", "solution(1)") == "OSError: none"


@pytest.mark.parametrize(
    "raw", ["b'[]'", 'b\'{"returned": 3, "nodes": [], "changes": [[7, ["list", []]]]}\'', "b'[' * 50000"]
)
def test_a_candidate_that_writes_to_the_channel_itself_is_not_confirmed(raw: str) -> None:
    """It finds the socket among its own frames and answers the call with what no honest side sends."""
    source = f"""
import os, struct, sys
def solution(a):
    channel = sys._getframe(2).f_locals['channel']
    data = {raw}
    os.write(channel._fd, struct.pack('>I', len(data)) + data)
    return 0
"""
    assert not reason(source, "assert solution(2) == 3").startswith(("a test fails", "AttributeError"))


# --- the calls are the same whatever the answers are -------------------------------------------------------------------


def recorded(test: str, signature: str = phases.SIGNATURE) -> list[list[Any]]:
    """Return the plain arguments of the calls that both recordings agree on."""
    return [json.loads(call)["arguments"] for call in phases.calls_of(phases.task(test, signature))["calls"]]


@pytest.mark.parametrize(
    "test",
    [
        "assert solution(1) is False\nassert solution(2) is False\nassert solution(3) is False",
        "import numpy as np\nfor n in (1, 2, 3):\n    np.testing.assert_equal(solution(n), False)",
        "assert solution(1) == 1 and solution(2) == 2 and solution(3) == 3",
        "assert solution(1) == 2, solution(9)\nassert solution(2) == 3, f'{solution(9)}'\nassert abs(solution(3) - 2) < 1",
        "for n in (1, 2, 3):\n    a, *b, c, d = solution(n)\n    assert a < c",
        "for n in (1, 2, 3):\n    try:\n        solution(n)\n    except ValueError:\n        pass\n    else:\n        assert False",
        "r = solution(1)\nassert r[0] == 1 and len(r) == 2 and r.shape == (1,)\nassert solution(2).sum() == 3\nassert set(solution(3)) == {1}",
        "import numpy as np\nassert np.allclose(solution(1), [1.0])\nassert np.array_equal(solution(2), [1])\nassert (np.array(solution(3)) == 1).all()",
        "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n    solution(1)\n    assert out.getvalue() == 'x'\nassert solution(2) == 1\nassert solution(3) == 1",
        "assert str(solution(1)) == '1'\nassert solution(2) in (1, 2)\nassert solution(3) + 1 == 2",
        "if True:\n    assert solution(1).upper().strip() == 'X'\nassert {**{1: solution(2)}} == {1: 2}\nassert [*map(solution, [3])] == [1]",
    ],
)
def test_calls_are_recorded_without_a_candidate(test: str) -> None:
    assert recorded(test) == [[1], [2], [3]]


@pytest.mark.parametrize(
    "test",
    [
        "if solution(1) == 2:\n    solution(2)", "n = 0\nwhile solution(n):\n    n += 1",
        "x = solution(1)\nwhile x:\n    x = x.next", "for x in solution(3):\n    solution(4)", "solution(len(solution(1)))",
        "assert solution(1) == 2 or solution(2) == 3", "x = solution(1)\nx.value = 3\nsolution(x)",
        "solution(solution(1) + 1)",
        "import json\njson.loads(solution(1))\nsolution(2)", "pass",
    ],
)  # fmt: skip
def test_calls_that_hang_on_the_answers_are_not_recorded(test: str) -> None:
    found = phases.record(phases.task(test))
    calls = [found[kind].get("calls") for kind in ("truthy", "falsy")]
    assert None in calls or calls[0] != calls[1]


def test_an_answer_that_is_handed_on_is_recorded_as_that_answer() -> None:
    test = "x = solution(1)\nsolution([x, x[0]])\nf = solution(2)\nf(3)\na, b = solution(x.left)\nassert solution(b)"
    calls = [json.loads(call) for call in phases.calls_of(phases.task(test))["calls"]]
    assert calls[1]["nodes"] == [["list", [{"earlier": ["ans", 0]}, {"earlier": ["item", ["ans", 0], 0]}]]]
    assert calls[3]["target"] == ["ans", 2]
    assert calls[4]["arguments"] == [{"earlier": ["attr", ["ans", 0], "left"]}]
    assert calls[5]["arguments"] == [{"earlier": ["nth", ["ans", 4], 1]}]


def test_what_became_of_an_argument_is_named_unless_the_tests_have_changed_it() -> None:
    test = "kept = [1, 2]\nsolution(kept)\nsolution([kept])\nkept.append(3)\nsolution(kept)\nsolution(a=kept)"
    calls = [json.loads(call) for call in phases.calls_of(phases.task(test))["calls"]]
    again = {"earlier": ["arg", 0, 0]}
    assert [(call["arguments"], call["named"], call["nodes"]) for call in calls] == [
        ([{"node": 0}], [], [["list", [1, 2]]]),
        ([{"node": 0}], [], [["list", [again]]]),
        ([{"node": 0}], [], [["list", [1, 2, 3]]]),
        ([], [["a", {"earlier": ["arg", 2, 0]}]], []),
    ]


def test_no_comparison_is_recorded_and_no_method_with_an_argument() -> None:
    """What is expected would be among the arguments."""
    test = "r = solution(1)\nassert r == 'secret' and r.equals('secret') and r.index('secret') == 0 and 'secret' in r\nassert r.area() == 'secret'"
    calls = phases.calls_of(phases.task(test))["calls"]
    assert "secret" not in "".join(calls)
    assert [json.loads(call)["target"] for call in calls] == [["name", "solution"], ["attr", ["ans", 0], "area"]]


def test_arguments_are_recorded_as_passed_and_defaults_stay_unfilled() -> None:
    signature = "def solution(a, b=[], *, c=3):\n    pass\n"
    (call,) = map(json.loads, phases.calls_of(phases.task("solution(1, c=2)", signature))["calls"])
    assert (call["arguments"], call["named"]) == ([1], [["c", 2]])


def test_helpers_of_the_signature_call_the_recorder() -> None:
    signature = "def both(a):\n    return solution(a) == solution(-a)\n\ndef solution(a):\n    pass\n"
    assert recorded("assert both(4)", signature) == [[4], [-4]]


def test_two_recordings_draw_the_same_random_numbers() -> None:
    test = "import random, secrets, numpy as np\nassert solution(random.random()) == 1\nassert solution(secrets.token_hex()) == 1\nassert solution(float(np.random.default_rng().random())) == 1\nassert solution(np.random.rand()) == 1\nassert solution(''.join({'a', 'b', 'c', 'd'}))"
    assert recorded(test) == recorded(test)


# --- judging -------------------------------------------------------------------------------------------------------


def test_the_first_failure_ends_the_judgement_and_its_message_calls_nothing() -> None:
    test = "assert solution(1) == 2, solution(7)\nassert solution(2) == 2"
    found = phases.replayed("def solution(a):\n    return a", test)
    assert found["reason"] == "a test fails: assert solution(1) == 2, solution(7)"
    spec = phases.task(test)
    recording = phases.calls_of(spec)
    given = phases.answers("def solution(a):\n    return 2", spec, recording)
    assert phases.judged(spec, recording, given)["confirmed"] is True
    # Of the second answer nothing is read where the first is wrong.
    wrong = phases.answers("def solution(a):\n    return a", spec, recording)
    said = phases.judged(spec, recording, {"said": "\n".join([*phases.texts(wrong)[:2], "not read"]).encode()})
    assert said["reason"] == found["reason"]


def test_assertions_that_the_tests_catch_stay_as_they_are_when_judged() -> None:
    test = "found = 0\ndef check(n):\n    assert solution(n) == 1\nfor n in (1, 2):\n    try:\n        check(n)\n    except AssertionError:\n        found += 1\nassert found == 1"
    source = "def solution(a):\n    return a"
    assert phases.beside(source, test, reference=source) == CONFIRMED


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("def solution(a):\n    return a", "x = solution([1])\nx.append(2)\nassert solution(x[:1]) == [1]"),
        ("def solution(a):\n    a.append(1)", "x = []\nsolution(x)\nsolution(len(x))"),
    ],
)
def test_a_candidate_that_makes_the_tests_call_otherwise_is_not_confirmed(source: str, test: str) -> None:
    """It is suspect; nothing gives it the tests as a living partner."""
    spec = phases.task(test)
    found = phases.record(spec)["truthy"]
    if "refused" in found:
        found = {"calls": [phases.call(9)], "names": [], "reads": []}
    said = phases.judged(spec, found, phases.answers(source, spec, found))
    assert (said["confirmed"], said["kind"]) == (False, "diverged")


@pytest.mark.parametrize("text", ["{}", "[]", "not json", '{"returned": {"node": 9}, "nodes": [], "changes": []}', '{"returned": 3, "nodes": 5, "changes": []}', '{"returned": 3, "nodes": [], "changes": [[7, ["list", []]]]}', '{"returned": 3}', "[" * 50_000, '{"returned": {"earlier": ["ans", 0]}, "nodes": [], "changes": []}', '{"returned": {"node": 0}, "nodes": [["builtin", "builtins", "bool"]], "changes": []}'])  # fmt: skip
def test_an_answer_that_no_honest_process_sends_is_not_confirmed(text: str) -> None:
    spec = phases.task("assert solution(2) == 3")
    recording = phases.calls_of(spec)
    given = phases.answers("def solution(a):\n    return 3", spec, recording)
    said = phases.judged(spec, recording, {"said": "\n".join([phases.texts(given)[0], text]).encode()})
    assert (said["confirmed"], said["kind"]) == (False, "malformed")


@pytest.mark.parametrize("hello", ["{}", "[]", "x", '{"functions": ["solution"], "imported": [], "errors": {"print": "int"}, "values": {}, "nodes": []}'])  # fmt: skip
def test_a_first_message_that_no_honest_process_sends_is_not_confirmed(hello: str) -> None:
    spec = phases.task("assert solution(2) == 3")
    said = phases.judged(spec, phases.calls_of(spec), {"said": hello.encode()})
    assert said["confirmed"] is False


# --- random numbers ------------------------------------------------------------------------------------------------

BACK = """
import random
def solution(x):
    version, words, gauss = random.getstate()
    for back in range(1, words[-1] + 1):
        random.setstate((version, words[:-1] + (words[-1] - back,), gauss))
        drawn = random.randint(0, 1 << 29)
        if random.getstate()[1] == words:
            return drawn
    return 0
"""
NUMPY_BACK = """
import numpy as np
def solution(x):
    name, words, position, *rest = np.random.get_state()
    for back in range(1, position + 1):
        np.random.set_state((name, words, position - back, *rest))
        drawn = int(np.random.randint(0, 1 << 29))
        if np.random.get_state()[2] == position:
            return drawn
    return 0
"""
AHEAD = "import random\ndef solution(x):\n    return random.randint(0, 1 << 29)"
SECRET = "secret = random.randint(0, 1 << 29)\nassert solution(hash(str(secret))) == secret"
NUMPY_SECRET = "secret = int(np.random.randint(0, 1 << 29))\nassert solution(hash(str(secret))) == secret"


@pytest.mark.parametrize(
    ("source", "test"),
    [
        (BACK, f"import random\nrandom.seed(2024)\n{SECRET}"),
        (NUMPY_BACK, f"import numpy as np\nnp.random.seed(2024)\n{NUMPY_SECRET}"),
    ],
)
def test_what_the_tests_have_drawn_cannot_be_drawn_again(source: str, test: str) -> None:
    found = phases.replayed(source, test)
    assert (found["confirmed"], found["kind"]) == (False, "assertion")


def test_what_the_tests_draw_later_cannot_be_drawn_before() -> None:
    """The first call comes when nothing is drawn yet; the state that it gets would give the secret away."""
    keeps = (
        "import random\ndraws = []\ndef solution(x):\n    draws.append(random.randint(0, 1 << 29))\n    return draws[0]"
    )
    found = phases.replayed(keeps, f"import random\nrandom.seed(2024)\nsolution(0)\n{SECRET}")
    assert (found["confirmed"], found["kind"]) == (False, "assertion")


def test_a_program_draws_the_same_after_the_same_seed() -> None:
    test = "import random\nrandom.seed(3)\nx = solution(0)\nrandom.seed(3)\nassert solution(0) == x"
    assert phases.replayed(AHEAD, test) == CONFIRMED
    assert phases.replayed(AHEAD, test.replace("(3)", "(3)\nrandom.random()")) == CONFIRMED


# --- what a living candidate could make of the tests ---------------------------------------------------------------


def test_an_iterator_without_end_is_not_confirmed_by_who_swallows_it() -> None:
    test = "ok = 0\ntry:\n    list(solution(3))\nexcept:\n    ok = 1\nassert ok"
    said = reason("def solution(a):\n    while True:\n        yield a\n", test)
    assert said.startswith("the tests ask for more than the first 1000 items")


def test_tests_with_threads_make_the_same_calls_each_time() -> None:
    test = (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as pool:\n"
        "    found = list(pool.map(solution, range(400)))\nassert found == [[i] for i in range(400)]"
    )
    for _ in range(2):
        assert phases.replayed("def solution(a):\n    return [a]", test) == CONFIRMED


def test_no_reason_has_an_address() -> None:
    """Otherwise two gradings of one file would differ."""
    found = phases.replayed("def solution(a):\n    raise ValueError(f'no {object()}')", "solution(3)")
    assert found["reason"] == "ValueError: no <object object at 0x...>"
