"""Which passes are believed: answers that say nothing earn nothing beside a reference, other right answers do."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

import json
import subprocess
import sys
from typing import Any, NamedTuple

import inside
import phases
import pytest
from phases import SIGNATURE

from grader.scorers.execution.states import Judgeable, NotJudgeable
from tests.tables import each

pytestmark = phases.MARKS


class Task(NamedTuple):
    reference: str
    tests: str
    signature: str = SIGNATURE


def returning(answer: str) -> str:
    return f"import numpy as np\nimport math\ndef solution(a):\n    return {answer}\n"


NEAR = Task(returning("a + 0.5"), "for n in range(3):\n    assert not abs(solution(n) - n - 0.5) > 1e-6")
LOOP = Task(
    returning("[a, a + 1]"), "for n in range(3):\n    for x, y in zip(solution(n), [n, n + 1]):\n        assert x == y"
)
EVERY = Task(returning("[a, a + 1]"), "assert all(x in (1, 2) for x in solution(1))")
ARRAY = Task(
    returning("np.array([1.5, 2, 3])"),
    "import numpy as np\nassert np.all(np.abs(solution(3) - np.array([1.5, 2, 3])) < 1e-6)",
)
TEXT = Task(returning("'abc'"), "assert all(c in 'abc' for c in solution(1)) and float('1.5')")
SORTED = Task("def solution(a):\n    a.sort()\n", "x = [3, 1, 2]\nsolution(x)\nassert x == sorted(x)")
GROWN = Task("def solution(a):\n    a.add(2)\n", "x = {1}\nsolution(x)\nassert max(x) > 0")
NAMED = Task(
    "def solution(a, b):\n    a.sort()\n    b.sort()\n",
    "x, y = [3, 1], [2, 1]\nsolution(x, b=y)\nassert x == sorted(x) and y == sorted(y)",
    "def solution(a, b):\n    pass\n",
)
KEPT = Task(returning("sorted(a)"), "x = [3, 1, 2]\nassert solution(x) == sorted(x)")
PREFIX = Task(returning("[1, 2, 3]"), "R = solution(1)\nassert R == [1, 2, 3][: len(R)]")
PAIRED = Task(
    returning("[[1, 2], [3, 4]]"),
    "assert [list(row) for row in zip(*zip(*solution(1)))] == [list(row) for row in [[1, 2], [3, 4]]][: len(solution(1))]",
)
TRUTH = Task(returning("a > 1"), "assert bool(solution(1)) in (True, False) and solution(2)")
ITEMS = Task(returning("{'a': 7392}"), "for key, value in solution(1).items():\n    assert {'a': 7392}[key] == value")
RAISED = Task(
    "def solution(a):\n    if a < 0:\n        raise ValueError\n    return a\n",
    "try:\n    solution(-1)\nexcept Exception:\n    pass\nassert solution(1) == 1",
)
CAUGHT = Task(returning("a"), "try:\n    assert solution(1) == 1\nexcept BaseException:\n    pass")
FAR = Task(returning("5000.0"), "assert solution(1) > 3")
ANY = Task(returning("[a, a + 1]"), "R = solution(5)\nassert len(R) == 2 and all(type(x) is int for x in R)")
LEFT = Task("def solution(a):\n    a.reverse()\n", "x = [3, 1, 2]\nsolution(x)\nassert sorted(x) == [1, 2, 3]")
PART = Task(
    "import random\ndef solution(a):\n    return random.random(), 7392\n",
    "R = solution(1)\nassert 0 <= R[0] <= 1\nfor x in range(R[1] // 1000):\n    assert x < 10",
)

TOTAL = Task(
    "def solution(a):\n    print('Total:', sum(a))\n",
    "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n    solution([1, 2])\nassert 'total' in out.getvalue().lower()",
)
MARKED = Task(
    "def solution(a):\n    for row in a:\n        row[0] = 0\n    return len(a)\n",
    "assert solution([[1, 1], [0, 1]]) == 2",
)
MESSAGE = Task(
    "def solution(a):\n    raise ValueError('negative')\n",
    "try:\n    solution(1)\n    ok = False\nexcept Exception as e:\n    ok = bool(str(e))\nassert ok",
)

NEAR_ALL = Task(
    returning("sum(1 / n for n in range(1, a + 1))"),
    "for n, e in ((1, 1.0), (2, 1.5), (4, 25 / 12)):\n    assert abs(solution(n) - e) / solution(n) < 1e-6",
)
EITHER = Task(
    "def solution(a):\n    raise ValueError(a)\n",
    "try:\n    solution(1)\n    assert False\nexcept (TypeError, ValueError):\n    pass",
)
COLUMN = Task(
    returning("np.linalg.solve(np.array([[2, 0], [0, 4]]), np.array(a, float))"),
    "import numpy as np\nassert np.allclose(np.ravel(solution([2, 4])), [1, 1])",
)
SUMMED = Task(
    "class Total:\n    def __init__(self, n):\n        self.n = n\n    def __add__(self, other):\n"
    "        if not isinstance(other, Total):\n            raise TypeError\n        return Total(self.n + other.n)\n",
    "try:\n    Total(1) + 'x'\nexcept Exception:\n    pass\nassert (Total(1) + Total(2)).n == 3",
    "class Total:\n    def __init__(self, n): pass\n    def __add__(self, other): pass\n",
)

SAYS_NOTHING: dict[str, tuple[Task, str]] = {
    "NaN": (NEAR, returning("math.nan")),
    "a huge number": (FAR, returning("1e300")),
    "empty list": (LOOP, returning("[]")),
    "no items in an array": (ARRAY, returning("np.empty((0, 1))")),
    "no items for a generator": (EVERY, returning("iter([])")),
    "nothing": (PREFIX, returning("[]")),
    "a shorter list of lists": (PAIRED, returning("[[1, 2]]")),
    "empty text": (TEXT, returning("''")),
    "an emptied argument": (SORTED, "def solution(a):\n    a.clear()\n"),
    "an emptied named argument": (NAMED, "def solution(a, b):\n    a.sort()\n    b.clear()\n"),
    "an argument that is its own copy": (KEPT, "def solution(a):\n    a[:] = []\n    return []\n"),
    "the wrong truth": (TRUTH, returning("True if a > 1 else None or a > 0")),
    "a type in place of a method": (ITEMS, "class Own: pass\ndef solution(a):\n    r = Own()\n    r.items = list\n    return r\n"),
    "an exception that the tests swallow": (CAUGHT, "def solution(a):\n    raise ValueError\n"),
    "an exception of another kind": (RAISED, "def solution(a):\n    if a < 0:\n        raise OSError\n    return a\n"),
    "the wrong part beside a random one": (PART, "import random\ndef solution(a):\n    return random.random(), 0\n"),
    "other integers where only their type is tested": (ANY, returning("[a, a]")),
    "an exception by accident where only its message is tested": (MESSAGE, "def solution(a):\n    return a.lower()\n"),
    "a number that every control but its own answer fails": (NEAR_ALL, returning("-1.0")),
    "an operation that the reference refuses": (SUMMED, SUMMED.reference.replace("            raise TypeError\n", "            return self\n")),
    "an argument that is not changed": (LEFT, "def solution(a):\n    pass\n"),
}  # fmt: skip


@each("name", list(SAYS_NOTHING))
def test_an_answer_that_says_nothing_earns_nothing_beside_a_reference(name: str) -> None:
    task, source = SAYS_NOTHING[name]
    assert passes_in_one_process(source, task)
    assert phases.beside(task.reference, task.tests, task.signature, task.reference) == phases.CONFIRMED
    found = phases.beside(source, task.tests, task.signature, task.reference)
    assert (found["confirmed"], found["kind"]) == (False, "unlike"), found


def passes_in_one_process(source: str, task: Task) -> bool:
    """Whether a program passes as the official evaluator runs it."""
    exec(f"{task.signature}\n{source}\n{task.tests}", {"__name__": "program"})
    return True


ROOT = Task(returning("math.sqrt(a)"), "for n in (1, 2, 4):\n    assert abs(solution(n) - n ** 0.5) < 1e-3")
ANY_OF = Task(returning("[1, 2]"), "assert sorted(solution(1)) == [1, 2]")
AGAIN = Task(
    returning("[1, 2]"),
    "assert solution(1)\nassert sorted(solution(1)) == [1, 2]\nassert len(solution(1)) == 2 and 2 in solution(1)",
)
POWER = Task(returning("10 ** a"), "assert solution(1) == 10 and solution(5000) == 10 ** 5000")
FLAG = Task(returning("a % 2 == 0"), "assert solution(2)\nassert not solution(1)")
IN_PLACE = Task("def solution(a):\n    a.sort()\n", "x = [3, 1, 2]\nsolution(x)\nassert x == [1, 2, 3]")
FILLED = Task("def solution(a):\n    a += [1, 2]\n", "x = []\nsolution(a=x)\nassert sorted(x) == [1, 2]")
COPIED = Task(returning("sorted(a)"), "x = [3, 1, 2]\nassert solution(x) == [1, 2, 3]")
ACCOUNT = Task(
    "class Account:\n    def __init__(self):\n        self.balance = 0\n    def deposit(self, n):\n        if n < 0:\n            raise ValueError(n)\n        self.balance += n\n",
    "account = Account()\naccount.deposit(2)\naccount.deposit(3)\nassert account.balance == 5\ntry:\n    account.deposit(-1)\n    assert False\nexcept ValueError:\n    pass",
    "class Account:\n    def __init__(self): pass\n    def deposit(self, n): pass\n",
)
ADDER = Task(returning("lambda b: a + b"), "assert solution(2)(3) == 5")
SORTED_BAG = Task(
    "class Bag:\n    def __init__(self, items):\n        self.items = items\n    def ordered(self):\n        return sorted(self.items)\n",
    "assert list(Bag([2, 1]).ordered()) == [1, 2] and list(Bag([3]).ordered()) == [3]",
    "class Bag:\n    def __init__(self, items): pass\n    def ordered(self): pass\n",
)
COUNTED = Task(
    "import collections\ndef solution(a):\n    return collections.Counter(a)\n",
    "import collections\nassert collections.Counter(solution('aab')) == collections.Counter(a=2, b=1)",
)

PAIR = Task(
    returning("next([i, j] for i in range(len(a)) for j in range(i + 1, len(a)) if a[i] + a[j] == 5)"),
    "for a in ([1, 2, 3, 4], [2, 2, 3, 3]):\n    i, j = solution(a)\n    assert i != j and a[i] + a[j] == 5",
)

NEGATED = Task(
    "def solution(a):\n    a[0][0] *= -1\n    return a\n", "m = [[1]]\nassert solution(m) is m and m == [[-1]]"
)
LINKED = Task(
    "def solution(a):\n    p = None\n    while a:\n        a.next, p, a = p, a, a.next\n    return p\n",
    "a = Node(1, Node(2, Node(3, None)))\nr, found = solution(a), []\n"
    "while r:\n    found.append(r.val)\n    r = r.next\nassert found == [3, 2, 1]",
    "class Node:\n    def __init__(self, val, next):\n        self.val, self.next = val, next\n"
    "def solution(a):\n    pass\n",
)
FRAME = Task(
    "import pandas as pd\ndef solution(a):\n    return pd.DataFrame({'x': [a + 0.5]})\n",
    "for n in range(3):\n    assert abs(solution(n)['x'][0] - n - 0.5) < 1e-3",
)
VALUES = "v, c = [], a\n    while c:\n        v.append(c.val)\n        c = c.next\n"
RESET = Task(
    "n = 0\ndef reset():\n    global n\n    n = 0\ndef solution():\n    global n\n    n += 1\n    return n\n",
    "reset()\nassert solution() == 1 and solution() == 2\nreset()\nassert solution() == 1",
    "def reset():\n    pass\ndef solution():\n    pass\n",
)
STARS = Task(
    "def solution(a):\n    for n in range(a):\n        print('*' * (n + 1))\n",
    "import contextlib, io\nfor n in (2, 0):\n    with contextlib.redirect_stdout(io.StringIO()) as out:\n"
    "        solution(n)\n    assert out.getvalue().strip() == '*\\n**' * (n > 0)",
)
TOTALED = Task(
    "class Item:\n    def __init__(self, price):\n        self.price = price\ndef total(items):\n    return sum(i.price for i in items)\n",
    "assert total([Item(2), Item(3)]) == 5 and total([]) == 0",
    "class Item:\n    def __init__(self, price): pass\ndef total(items): pass\n",
)

OTHER_ANSWERS: dict[str, tuple[Task, str]] = {
    "another float": (ROOT, returning("a ** 0.5 + 1e-5")),
    "another float in a table": (FRAME, FRAME.reference.replace("0.5", "0.50001")),
    "another pair": (PAIR, "def solution(a):\n    seen = {}\n    for i, x in enumerate(a):\n        if 5 - x in seen:\n            return [seen[5 - x], i]\n        seen[x] = i\n"),
    "another wording": (TOTAL, "def solution(a):\n    print('the total is', float(sum(a)))\n"),
    "another order, of which other lines test less": (AGAIN, returning("[2, 1]")),
    "a number for truth": (FLAG, returning("1 - a % 2")),
    "a list for truth": (FLAG, returning("[] if a % 2 else [a]")),
    "an integer with very many digits": (POWER, returning("10.0 if a == 1 else pow(10, a)")),
    "a tuple": (ANY_OF, returning("(1, 2)")),
    "an exception for truth": (FLAG, returning("a % 2 == 0 and ValueError()")),
    "another order in a named argument": (FILLED, "def solution(a):\n    a += [2, 1]\n"),
    "in place, and returned": (IN_PLACE, "def solution(a):\n    a.sort()\n    return a\n"),
    "sorts its argument, too": (COPIED, "def solution(a):\n    a.sort()\n    return a[:]\n"),
    "marks in its argument that nobody sees": (MARKED, "def solution(a):\n    for row in a:\n        row[0] = '#'\n    return len(a)\n"),
    "values of a linked list exchanged": (LINKED, f"def solution(a):\n    {VALUES}    c = a\n    while c:\n        c.val, c = v.pop(), c.next\n    return a\n"),
    "counts of zero": (COUNTED, "import collections\ndef solution(a):\n    return collections.Counter({c: a.count(c) for c in 'abc'})\n"),
    "another random number beside the right part": (PART, "import random\ndef solution(a):\n    return random.uniform(0, 1), 7392\n"),
    "another list in the argument that is returned": (NEGATED, "def solution(a):\n    a[0] = [-a[0][0]]\n    return a\n"),
    "an answer of a function that only changes what another one returns": (RESET, RESET.reference.replace("n = 0\ndef sol", "n = 0\n    return True\ndef sol")),
    "an answer of a function that prints": (STARS, "def solution(a):\n    text = '\\n'.join('*' * (n + 1) for n in range(a))\n    print(text)\n    return text\n"),
    "another exception that the tests expect": (EITHER, "def solution(a):\n    raise TypeError(a)\n"),
    "a method that returns its object, for one that returns nothing": (ACCOUNT, ACCOUNT.reference + "        return self\n"),
    "an object that is called, for a function": (ADDER, "class Adder:\n    def __init__(self, a):\n        self.a = a\n    def __call__(self, b):\n        return self.a + b\ndef solution(a):\n    return Adder(a)\n"),
    "a generator for a list": (SORTED_BAG, SORTED_BAG.reference.replace("return sorted", "yield from sorted")),
    "a column for a vector": (COLUMN, COLUMN.reference.replace("np.array(a, float)", "np.array(a, float).reshape(-1, 1)")),
    "objects that compare in another way, which the tests do not ask": (TOTALED, TOTALED.reference.replace("def total", "    def __eq__(self, other):\n        return self.price == other.price\ndef total")),
}  # fmt: skip


@each("name", list(OTHER_ANSWERS))
def test_another_right_answer_is_believed(name: str) -> None:
    task, source = OTHER_ANSWERS[name]
    assert passes_in_one_process(source, task)
    assert phases.beside(source, task.tests, task.signature, task.reference) == phases.CONFIRMED


@each(
    ("task", "source", "forged"),
    [
        (SORTED, "a.clear()", {3: ["tuple", []]}),  # without the argument
        (SORTED, "a.clear()", {3: ["tuple", [10]], 10: ["numbers", [1, 2, 3]]}),  # another list than the tests' own
        (GROWN, "a.add(2)", {8: ["frozenset", [10, 11]], 10: ["int", 1], 11: ["int", 2]}),  # leaves the tests' own set
    ],
)
def test_a_forged_reply_with_other_arguments_than_the_call_is_not_believed(
    task: Task, source: str, forged: dict[int, Any]
) -> None:
    spec = phases.task(task.tests)
    recorded = phases.calls_of(spec, task.reference)
    sources = (task.reference, f"def solution(a):\n    {source}\n")
    reference, sample = (phases.answers(source, spec, recorded)["transcript"] for source in sources)
    hello, reply = sample.splitlines()
    nodes = json.loads(reply)
    for number, node in forged.items():
        nodes[number : number + 1] = [node]
    judged = spec | {"calls": recorded["calls"], "names": {}, "expected": [reference]}
    found = phases.do("judge", {"task": judged, "transcript": hello + b"\n" + json.dumps(nodes).encode()})
    assert (found["confirmed"], found["reason"]) == (False, "call 1: its reply has other arguments than the call")
    assert found["likeness"]["calls"]["same"] == 0


def test_what_is_counted_and_shown_is_how_a_sample_differs() -> None:
    """The first call that differs is shown, and not the first of another kind: the text."""
    task = Task(returning("a * a"), "assert solution(2) == 4\nassert solution(3) == 9\nassert solution(4) == 16")
    found = phases.graded(returning("a + a if a < 4 else 'x'"), task.tests, reference=task.reference)
    assert found.kind == "assertion"
    counts = found.likeness.calls
    assert (counts.n, counts.same) == (3, 1)
    assert (counts.first.call, counts.first.expected, counts.first.returned) == ("solution(3)", "9", "6")


def test_a_reference_that_fails_its_tests_serves_for_nothing() -> None:
    with pytest.raises(AssertionError, match="a test fails"):
        phases.graded(returning("a"), "assert solution(1) == 1", reference=returning("a + 1"))


def test_an_examination_that_a_busy_machine_may_have_stopped_says_nothing_about_the_answers() -> None:
    """The grader has it done again, alone. Only replays with controls sleep here for long."""
    test = "import time\nx = solution(1)\ntime.sleep(0.1 if x == 3 else 60)\nassert x > 0\n"
    spec = phases.task(test)
    recorded = {"calls": [phases.call(1)], "names": {}}
    reference, sample = (phases.answers(returning(f"a + {more}"), spec, recorded) for more in (1, 2))
    task = spec | recorded | {"expected": [reference["transcript"]]}
    given = {"task": task, "transcript": sample["transcript"]}
    found = phases.do("judge", given, wall=0.4)
    assert (found["evidence"]["stopped"], "likeness" in found, "confirmed" in found) == ("wall", False, False)
    found = phases.do("judge", given, wall=0.4, alone=True)
    assert (found["confirmed"], found["reason"]) == (False, "examining its answers did not finish")


@pytest.mark.parametrize(
    "before",
    [
        "import os\nos.mkdir('folder')",
        "import os, time\nif os.fork() == 0: time.sleep(30)",
        pytest.param(
            "import time\nend = time.process_time() + 2.3\nwhile time.process_time() < end: pass",
            marks=pytest.mark.slow,
        ),
    ],
    ids=["a folder", "a process", "work"],
)
def test_what_tests_leave_behind_and_the_time_that_they_need_decide_nothing(before: str) -> None:
    """Each replay has an empty folder, ends without its children, and has the time of the first one at least."""
    task = Task("def solution(a):\n    a.append(0)\n    return sum(a)\n", "x = [1, 2]\nassert solution(x) == 3")
    source = returning("sum(a)")
    assert phases.beside(source, f"{before}\n{task.tests}", task.signature, task.reference) == phases.CONFIRMED


# --- without a reference --------------------------------------------------------------------------------------------

WEAK: dict[str, tuple[str, str, bool]] = {
    "an integer with very many digits": (returning("10 ** a"), "assert solution(5000) == 10 ** 5000", True),
    "compared with a tolerance": (returning("a + 0.5"), "assert abs(solution(2) - 2.5) < 1e-6", True),
    "compared by a library": (returning("a + 0.5"), "import math\nassert math.isclose(2.5, solution(2))", True),
    "truth": (returning("a > 1"), "assert solution(2)\nassert not solution(1)", True),
    "truth for a match": ("import re\ndef solution(a):\n    return re.match('a', a)\n", "assert solution('ab')\nassert not solution('b')", True),
    "None": (returning("None"), "assert solution(2) is None", True),
    "sorts its argument": ("def solution(a):\n    a.sort()\n    return a[-1]\n", "assert solution([3, 1]) == 3", True),
    "every one in a list": (returning("a + 1"), "assert [solution(n) for n in (1, 2)] == [2, 3]", True),
    "unittest": (returning("a + 1"), "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(solution(1), 2)\n        self.assertTrue(solution(-2) == -1)\nunittest.defaultTestLoader.loadTestsFromTestCase(T).debug()", True),
    "another number": (returning("a + 0.5 + 1e-3"), "assert abs(solution(2) - 2.5) < 1e-2", True),
    "NaN": (returning("math.nan"), "assert not abs(solution(2) - 2.5) > 1e-6", False),
}  # fmt: skip


@each("name", list(WEAK))
def test_without_a_reference_what_an_answer_is_compared_with_is_expected(name: str) -> None:
    source, tests, is_judged = WEAK[name]
    state = phases.state_of(tests)
    assert isinstance(state, Judgeable) is is_judged, state
    if is_judged:
        found = phases.graded(source, tests)
        assert found.confirmed, found


@each(
    "test",
    [
        "R = solution(2)\nassert R[0] == 2 and R[1] == 3", "for x in solution(2):\n    assert x in (2, 3)",
        "assert solution(2) in (1, 2)", "assert solution(2) == 1 or solution(2) == 2", "assert sorted(solution([1])) == [1]",
        "try:\n    solution(2)\nexcept KeyError:\n    pass", "assert solution(1) == solution(2)", "assert solution(2) != 3",
        "assert solution(2) is not None", "assert abs(solution(2) - 2) < 5",
    ],
)  # fmt: skip
def test_without_a_reference_a_task_that_uses_answers_otherwise_is_not_judged(test: str) -> None:
    state = phases.state_of(test)
    assert isinstance(state, NotJudgeable)
    assert state.reason.startswith("without a reference solution, ")


# --- objects of a class to be written ---------------------------------------------------------------------------------

BOX = "class Box:\n    def __init__(self, items):\n        pass\n    def same(self, other):\n        pass\n"
HONEST = """
class Box:
    def __init__(self, items):
        self.items = items
    def __eq__(self, other):
        return self.items == other.items
    def __lt__(self, other):
        return self.items < other.items
    def same(self, other):
        return self == other
    def doubled(self):
        return Box(self.items * 2)
"""
LIAR = HONEST.replace("return self.items == other.items", "return True")
COMPARING = {
    "equal": "assert Box([1]) == Box([1])\nassert Box([2]).doubled() == Box([2, 2])",
    "a declared method": "assert Box([1]).same(Box([1])) and Box([2]).same(Box([2]))",
    "not unequal": "assert not Box([1]) != Box([1])\nassert not Box([3]) != Box([3])",
}


@each("name", list(COMPARING))
def test_a_class_that_equals_everything_is_found_and_an_honest_one_keeps_its_credit(name: str) -> None:
    own = HONEST.replace("self.items == other.items", "list(self.items) == list(other.items)")
    assert phases.beside(own, COMPARING[name], BOX, HONEST) == phases.CONFIRMED
    found = phases.beside(LIAR, COMPARING[name], BOX, HONEST)
    assert (found["confirmed"], found["kind"]) == (False, "unlike"), found


def test_a_class_that_returns_what_the_tests_constructed_is_found() -> None:
    tests = "b = Box([1, 2])\ne = Box([2, 4])\nassert b.doubled().items == e.items"
    honest = HONEST.replace("self.items * 2", "[2 * item for item in self.items]")
    keeper = HONEST.replace(
        "        self.items = items\n", "        self.items = items\n        Box.last = self\n"
    ).replace("return Box(self.items * 2)", "return Box.last")
    exec(f"{keeper}\n{tests}", {})
    assert phases.beside(honest, tests, BOX, honest) == phases.CONFIRMED
    assert not phases.beside(keeper, tests, BOX, honest)["confirmed"]


# --- a replay in a fork: its result comes back, and nothing else does ---

# In a process with one thread, like the sandbox's: the test's own has several, whose locks a fork would inherit.
BRANCHES = """
import json, os, sys, time
sys.path.insert(0, sys.argv[1])
from grade_sandbox.judging.forks import run_in_fork as branch
held = [1]
def endless():
    while True:
        pass
started = time.process_time()
print(json.dumps({
    "large": branch(lambda: {"a": ["x" * (1 << 20)]}, 5.0) == {"a": ["x" * (1 << 20)]},
    "changed": branch(lambda: held.append(2) or held, 5.0),
    "held": held,
    "ended": branch(lambda: os._exit(0), 5.0),
    "raised": branch(lambda: 1 // 0, 5.0),
    "endless": branch(endless, 0.2),
    "is_stopped": time.process_time() - started < 5,
}))
"""


def test_a_branch_has_a_result_of_any_size_changes_nothing_and_ends_in_time() -> None:
    done = subprocess.run([sys.executable, "-c", BRANCHES, inside.FOLDER], capture_output=True, timeout=60, check=True)
    wanted = {"large": True, "changed": [1, 2], "held": [1], "ended": None, "raised": None, "endless": None}
    assert json.loads(done.stdout) == wanted | {"is_stopped": True}


GROW_IN_PLACE = "def solution(a):\n    for row in a:\n        row.append(0)\n    a.append([])\n    return a\n"
GROW_A_COPY = "def solution(a):\n    return [[*row, 0] for row in a] + [[]]\n"
GROW_TWICE = (
    "a = solution(solution([[1], [2]]))\nassert a == [[1, 0, 0], [2, 0, 0], [0], []]\nassert len(solution(a)) == 5"
)
PAIR = "class Pair:\n    def __init__(self, a, b):\n        self.a, self.b = a, b\ndef solution(p):\n    pass\n"
SWAP_IN_PLACE = "def solution(p):\n    p.a, p.b = p.b, p.a\n    return p\n"
SWAP_A_COPY = "def solution(p):\n    return Pair(p.b, p.a)\n"
SWAP_TWICE = "p = solution(solution(Pair(Pair(1, 2), 3)))\nassert p.a.a == 1 and p.b == 3 and solution(p).b.b == 2"


@each(
    ("source", "reference", "tests", "signature"),
    [
        (GROW_IN_PLACE, GROW_A_COPY, GROW_TWICE, SIGNATURE),
        (SWAP_IN_PLACE, SWAP_A_COPY, SWAP_TWICE, PAIR),
        (SWAP_A_COPY, SWAP_IN_PLACE, SWAP_TWICE, PAIR),
    ],
)
def test_a_program_may_return_a_new_object_where_the_reference_returns_its_argument_and_the_reverse(
    source: str, reference: str, tests: str, signature: str
) -> None:
    assert phases.beside(source, tests, signature, reference) == phases.CONFIRMED
    wrong = source.replace("0", "2").replace("p.b, p.a", "p.b, p.b")
    assert not phases.beside(wrong, tests, signature, reference)["confirmed"]
