"""Which passes are believed: answers that say nothing earn nothing beside a reference, other right answers do."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, NamedTuple

import inside
import phases
import pytest
from phases import SIGNATURE

pytestmark = phases.MARKS


class Task(NamedTuple):
    reference: str
    tests: str
    signature: str = SIGNATURE


def returning(answer: str) -> str:
    return f"import numpy as np\nimport math\ndef solution(a):\n    return {answer}\n"


NEAR = Task(returning("a + 0.5"), "for n in range(3):\n    assert not abs(solution(n) - n - 0.5) > 1e-6")
RELATIVE = Task(returning("7392.0"), "R = solution(1)\nassert abs(R - 7392) <= 1e-9 * max(abs(R), 7392)")
LOOP = Task(
    returning("[a, a + 1]"), "for n in range(3):\n    for x, y in zip(solution(n), [n, n + 1]):\n        assert x == y"
)
EVERY = Task(returning("[a, a + 1]"), "assert all(x in (1, 2) for x in solution(1))")
ARRAY = Task(
    returning("np.array([1.5, 2, 3])"),
    "import numpy as np\nassert np.all(np.abs(solution(3) - np.array([1.5, 2, 3])) < 1e-6)",
)
TEXT = Task(returning("'abc'"), "assert all(c in 'abc' for c in solution(1)) and float('1.5')")
READ = Task(returning("'7392.0'"), "assert not abs(float(solution(1)) - 7392) > 1e-6")
SORTED = Task("def solution(a):\n    a.sort()\n", "x = [3, 1, 2]\nsolution(x)\nassert x == sorted(x)")
UNIQUE = Task(
    "def solution(a):\n    a[:] = dict.fromkeys(a)\n", "x = [3, 1, 3]\nsolution(x)\nassert len(x) == len(set(x))"
)
WITHOUT = Task(
    "def solution(a):\n    for key in [key for key in a if a[key] is None]:\n        del a[key]\n",
    "x = {1: None, 2: 5, 3: 6}\nsolution(x)\nassert None not in x.values()",
)
COMMON = Task(
    "def solution(a):\n    a -= {2, 3}\n",
    "x = {1, 2, 3, 4}\nsolution(x)\nassert 2 not in x and 3 not in x",
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
PRINTED = Task(
    "def solution(a):\n    print(a)\n",
    "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n    solution(1)\nassert out.getvalue().strip() in '1'",
)
FAR = Task(returning("5000.0"), "assert solution(1) > 3")
FRACTION = Task(returning("0.5"), "from fractions import Fraction\nassert not abs(float(solution(1)) - 0.5) > 0.1")
ANY = Task(returning("[a, a + 1]"), "R = solution(5)\nassert len(R) == 2 and all(type(x) is int for x in R)")
ENDS = Task(returning("[1, 2, 3, 4]"), "R = solution(1)\nassert R[0] == 1 and R[-1] == 4 and len(R) > 3")
LENGTH = Task(returning("'abc'"), "assert len(solution(1)) == 3 and solution(1).isalpha()")
WIDE = Task(returning("9.42"), "assert abs(solution(3) - 9.42) < 0.5")
LOWER = Task(returning("a.title()"), "assert solution('the end').lower().strip() == 'the end'")
LEFT = Task("def solution(a):\n    a.reverse()\n", "x = [3, 1, 2]\nsolution(x)\nassert sorted(x) == [1, 2, 3]")
DIGITS = Task(
    "import re\ndef solution(a):\n    return list(re.finditer(r'\\d+', a))\n",
    "assert len(solution('abc 123 d 4')) == 2\nassert solution('x 7')[0].group() == '7'",
)
PART = Task(
    "import random\ndef solution(a):\n    return random.random(), 7392\n",
    "R = solution(1)\nassert 0 <= R[0] <= 1\nfor x in range(R[1] // 1000):\n    assert x < 10",
)

MANY = Task(
    returning("[a / 10, a + 1]"),
    "".join(f"assert len(solution({n})) == 2\n" for n in range(30)) + "assert abs(solution(100)[0] - 10) < 0.02",
)
TOTAL = Task(
    "def solution(a):\n    print('Total:', sum(a))\n",
    "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n    solution([1, 2])\nassert 'total' in out.getvalue().lower()",
)
SUM = Task(
    returning("{k: a.count(k) for k in a}"), "R = solution('aab')\nassert set(R) == {'a', 'b'} and sum(R.values()) == 3"
)
EVENS = Task(
    returning("[x for x in a if x % 2 == 0]"), "R = solution([1, 2, 4])\nassert all(x in (2, 4) for x in R) and 2 in R"
)
EVEN = Task(returning("3 * a"), "R = solution(10)\nassert isinstance(R, int) and R % 2 == 0 and R > 7")
FACTORS = Task(returning("[2, 2, 3, 5]"), "import math\nassert math.prod(solution(60)) == 60")
LATER = Task(
    "import datetime\ndef solution(a):\n    return a + datetime.timedelta(days=30)\n",
    "import datetime\nday = datetime.date(2024, 1, 1)\nassert day < solution(day) < datetime.date(2025, 1, 1)",
)
MARKED = Task(
    "def solution(a):\n    for row in a:\n        row[0] = 0\n    return len(a)\n",
    "assert solution([[1, 1], [0, 1]]) == 2",
)
COUNTS = Task(
    "def solution(a):\n    a.sort()\n    return a[0]\n",
    "x = [3, 1, 2]\nassert solution(x) == 1 and len(x) == 3",
)
MESSAGE = Task(
    "def solution(a):\n    raise ValueError('negative')\n",
    "try:\n    solution(1)\n    ok = False\nexcept Exception as e:\n    ok = bool(str(e))\nassert ok",
)
TOLD = Task(
    "def solution(a):\n    raise ValueError(f'bad value: {a}')\n",
    "try:\n    solution(1)\nexcept ValueError as e:\n    assert str(e) == 'bad value: 1'\nelse:\n    assert False",
)
JSON = Task(
    "import json\ndef solution(a):\n    return json.dumps(a)\n",
    "import json\nd = json.loads(solution({'a': 1, 'b': [1, 2]}))\nassert d['a'] == 1",
)
REVERSED = Task(
    returning("' '.join(reversed(a.split()))"),
    "for t in ('ab cd', 'x yz'):\n    assert sorted(solution(t)) == sorted(t)",
)
POSITIVE = Task(
    "def solution(a):\n    a[:] = [max(0, x) for x in a]\n    return a\n",
    "m = [1, -2, 3]\nassert solution(m) is m and all(x >= 0 for x in m) and m[0] == 1",
)

SAYS_NOTHING: dict[str, tuple[Task, str]] = {
    "NaN": (NEAR, returning("math.nan")),
    "NaN as a decimal": (FRACTION, returning("__import__('decimal').Decimal('NaN')")),
    "infinity": (RELATIVE, returning("math.inf")),
    "a huge number": (FAR, returning("1e300")),
    "empty list": (LOOP, returning("[]")),
    "a prefix": (LOOP, returning("[a]")),
    "no items in an array": (ARRAY, returning("np.empty((0, 1))")),
    "no items for a generator": (EVERY, returning("iter([])")),
    "only the first items": (PREFIX, returning("[1]")),
    "nothing": (PREFIX, returning("[]")),
    "a shorter list of lists": (PAIRED, returning("[[1, 2]]")),
    "nothing in rows": (PAIRED, returning("[]")),
    "empty text": (TEXT, returning("''")),
    "a text that reads as NaN": (READ, returning("'nan'")),
    "bytes that read as NaN": (READ, returning("b'nan'")),
    "an emptied argument": (SORTED, "def solution(a):\n    a.clear()\n"),
    "one item of the argument": (SORTED, "def solution(a):\n    del a[1:]\n"),
    "one item of the argument, all of them different": (UNIQUE, "def solution(a):\n    del a[1:]\n"),
    "other entries of the argument": (WITHOUT, "def solution(a):\n    a.clear()\n    a[7] = 8\n"),
    "other members of the argument": (COMMON, "def solution(a):\n    a.clear()\n    a.add(9)\n"),
    "an argument that is its own copy": (KEPT, "def solution(a):\n    a[:] = []\n    return []\n"),
    "the wrong truth": (TRUTH, returning("True if a > 1 else None or a > 0")),
    "an empty mapping": (ITEMS, returning("{}")),
    "a type in place of a method": (ITEMS, "class Own: pass\ndef solution(a):\n    r = Own()\n    r.items = list\n    return r\n"),
    "an exception that the tests swallow": (CAUGHT, "def solution(a):\n    raise ValueError\n"),
    "an exit that the tests swallow": (CAUGHT, "def solution(a):\n    raise SystemExit\n"),
    "an exception of another kind": (RAISED, "def solution(a):\n    if a < 0:\n        raise OSError\n    return a\n"),
    "the wrong part beside a random one": (PART, "import random\ndef solution(a):\n    return random.random(), 0\n"),
    "other integers where only their type is tested": (ANY, returning("[a, a]")),
    "other items between the tested ones": (ENDS, returning("[1, 7, 7, 7, 4]")),
    "another text where only its length is tested": (LENGTH, returning("'xyz'")),
    "a number that is nearly the right one": (WIDE, returning("9.0")),
    "an argument of which only the length is tested": (COUNTS, "def solution(a):\n    a.reverse()\n    return 1\n"),
    "an exception by accident where only its message is tested": (MESSAGE, "def solution(a):\n    return a.lower()\n"),
    "an argument that is not changed": (LEFT, "def solution(a):\n    pass\n"),
    "what few of very many lines test": (MANY, returning("[10.01, 7] if a == 100 else [7, 7]")),
    "another printed number": (TOTAL, "def solution(a):\n    print('total 99')\n"),
    "numbers with the same sum": (SUM, returning("{'a': 1.5, 'b': 1.5}")),
    "some of the items, twice": (EVENS, returning("[2, 2]")),
    "one number with the right product": (FACTORS, returning("[a]")),
    "another even number": (EVEN, returning("8")),
    "another day": (LATER, "import datetime\ndef solution(a):\n    return datetime.date(2024, 6, 6)\n"),
    "a part of a text that the tests parse": (JSON, returning("'{\"a\": 1}'")),
    "its argument, of which the tests look at the letters": (REVERSED, returning("a")),
    "fewer items in the argument that is returned": (POSITIVE, "def solution(a):\n    a[:] = [1]\n    return a\n"),
    "no output": (PRINTED, "def solution(a):\n    pass\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAYS_NOTHING)
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
PATH = Task(returning("'abc'"), "assert sorted(solution(1)) == list('abc')")
POWER = Task(returning("10 ** a"), "assert solution(1) == 10 and solution(5000) == 10 ** 5000")
SPIED = Task(
    "def solution(a):\n    return [a(1), a(2)]\n",
    "seen = []\ndef spy(x):\n    seen.append(x)\n    return x\nassert solution(spy) == [1, 2] and sorted(seen) == [1, 2]\n"
    "def test():\n    more = []\n    assert solution(lambda x: more.append(x) or x) == [1, 2] and len(more) == 2\ntest()",
)
FLAG = Task(returning("a % 2 == 0"), "assert solution(2)\nassert not solution(1)")
FOUND = Task("def solution(a):\n    return None\n", "x = [2, 1]\nsolution(x)\nassert True and solution(x) != 3")
IN_PLACE = Task("def solution(a):\n    a.sort()\n", "x = [3, 1, 2]\nsolution(x)\nassert x == [1, 2, 3]")
COPIED = Task(returning("sorted(a)"), "x = [3, 1, 2]\nassert solution(x) == [1, 2, 3]")
INVALID = Task(
    "def solution(a):\n    raise KeyError(a)\n",
    "try:\n    solution(1)\n    assert False\nexcept LookupError:\n    pass",
)
EITHER = Task(
    "def solution(a):\n    raise ValueError(a)\n",
    "try:\n    solution(1)\n    assert False\nexcept (TypeError, ValueError):\n    pass",
)
NAMED = Task(
    "import collections\nPoint = collections.namedtuple('Point', 'x y')\ndef solution(a):\n    return Point(a, a + 1)\n",
    "R = solution(1)\nassert (R.x, R.y) == (1, 2)",
)
JOINED = Task(returning("'a/b'"), "assert str(solution(1)) == 'a/b'")
NONZERO = Task(returning("{1, 2}"), "assert sorted(solution([0, 2, 1])) == [1, 2]")
COUNTED = Task(
    "import collections\ndef solution(a):\n    return collections.Counter(a)\n",
    "import collections\nassert collections.Counter(solution('aab')) == collections.Counter(a=2, b=1)",
)
ZERO = Task(returning("a / 2"), "assert solution(3) == 1.5 and abs(solution(4) - 2) < 1e-6")
RANDOM = Task("import random\ndef solution(a):\n    return random.random()\n", "assert 0 <= solution(1) <= 1")

SQUARE = Task(returning("math.sqrt(a)"), "for n in (1, 2, 4):\n    assert abs(solution(n) ** 2 - n) < 1e-3")
PAIR = Task(
    returning("next([i, j] for i in range(len(a)) for j in range(i + 1, len(a)) if a[i] + a[j] == 5)"),
    "for a in ([1, 2, 3, 4], [2, 2, 3, 3]):\n    i, j = solution(a)\n    assert i != j and a[i] + a[j] == 5",
)

PRODUCT = Task(returning("(3, 5)"), "x, y = solution(15)\nassert x * y == 15 and x > 1 and y > 1")
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
VALUES = "v, c = [], a\n    while c:\n        v.append(c.val)\n        c = c.next\n"
VISITED = Task(
    "def solution(a):\n    a[0, 0] = 0\n    return len(a)\n",
    "import numpy as np\nassert solution(np.ones((2, 2))) == 2",
)
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
QUEUE = Task(
    "class Queue:\n    def __init__(self):\n        self.items = []\n    def add(self, x):\n        self.items.append(x)\n"
    "    def take(self):\n        return self.items.pop(0)\n    def size(self):\n        return len(self.items)\n    def is_empty(self):\n        return not self.items\n",
    "q, found = Queue(), []\nfor n in range(3):\n    q.add(n)\nwhile q.size():\n    found.append(q.take())\nassert found == [0, 1, 2]",
    "class Queue:\n    def add(self, x): pass\n    def take(self): pass\n    def size(self): pass\n    def is_empty(self): pass\n",
)
SORTED_BAG = Task(
    "class Bag:\n    def __init__(self, items):\n        self.items = items\n    def ordered(self):\n        return sorted(self.items)\n",
    "assert list(Bag([2, 1]).ordered()) == [1, 2] and list(Bag([3]).ordered()) == [3]",
    "class Bag:\n    def __init__(self, items): pass\n    def ordered(self): pass\n",
)
TOTALED = Task(
    "class Item:\n    def __init__(self, price):\n        self.price = price\ndef total(items):\n    return sum(i.price for i in items)\n",
    "assert total([Item(2), Item(3)]) == 5 and total([]) == 0",
    "class Item:\n    def __init__(self, price): pass\ndef total(items): pass\n",
)

OTHER_ANSWERS: dict[str, tuple[Task, str]] = {
    "another float": (ROOT, returning("a ** 0.5 + 1e-5")),
    "another case and spacing where the tests ignore them": (LOWER, returning("a.upper() + '\\n'")),
    "a float within a wide tolerance": (WIDE, returning("9.425")),
    "a near number whose sign the tests ignore": (SQUARE, returning("a ** 0.5 + 1e-5")),
    "another pair": (PAIR, "def solution(a):\n    seen = {}\n    for i, x in enumerate(a):\n        if 5 - x in seen:\n            return [seen[5 - x], i]\n        seen[x] = i\n"),
    "another wording": (TOTAL, "def solution(a):\n    print('the total is', float(sum(a)))\n"),
    "another spacing": (JSON, "import json\ndef solution(a):\n    return json.dumps(a, indent=2)\n"),
    "another order": (ANY_OF, returning("[2, 1]")),
    "another order, of which other lines test less": (AGAIN, returning("[2, 1]")),
    "another text": (PATH, returning("'cab'")),
    "a number for truth": (FLAG, returning("1 - a % 2")),
    "a count for truth": (FLAG, returning("2 - 2 * (a % 2)")),
    "a text for truth": (FLAG, returning("'' if a % 2 else 'even'")),
    "a set for truth": (FLAG, returning("{2} & {a}")),
    "a list for truth": (FLAG, returning("[] if a % 2 else [a]")),
    "in place by other means": (IN_PLACE, "def solution(a):\n    a[:] = sorted(a)\n"),
    "an integer with very many digits": (POWER, returning("10.0 if a == 1 else pow(10, a)")),
    "calls a function that notes its calls": (SPIED, "def solution(a):\n    return list(map(a, [1, 2]))\n"),
    "None for False": (FLAG, returning("True if a % 2 == 0 else None")),
    "a tuple": (ANY_OF, returning("(1, 2)")),
    "an array of the standard library": (ANY_OF, "import array\ndef solution(a):\n    return array.array('i', [2, 1])\n"),
    "an exception for truth": (FLAG, returning("a % 2 == 0 and ValueError()")),
    "an array": (ANY_OF, returning("np.array([1, 2])")),
    "in place, and returned": (IN_PLACE, "def solution(a):\n    a.sort()\n    return a\n"),
    "sorts its argument, too": (COPIED, "def solution(a):\n    a.sort()\n    return a[:]\n"),
    "marks in its argument that nobody sees": (MARKED, "def solution(a):\n    for row in a:\n        row[0] = '#'\n    return len(a)\n"),
    "marks in an array that nobody sees": (VISITED, "def solution(a):\n    a[0, 0] = 7\n    return len(a)\n"),
    "values of a linked list exchanged": (LINKED, f"def solution(a):\n    {VALUES}    c = a\n    while c:\n        c.val, c = v.pop(), c.next\n    return a\n"),
    "a message that its class makes": (TOLD, "class Bad(ValueError):\n    def __init__(self, v):\n        self.v = v\n    def __str__(self):\n        return f'bad value: {self.v}'\ndef solution(a):\n    raise Bad(a)\n"),
    "the class it derives from": (INVALID, "def solution(a):\n    raise LookupError('no')\n"),
    "an array without a dimension": (ZERO, returning("np.array(a / 2)")),
    "another exception that the tests expect": (EITHER, "def solution(a):\n    raise TypeError(a)\n"),
    "an object for a named tuple": (NAMED, "class P:\n    def __init__(self, x, y):\n        self.x, self.y, self.sum = x, y, x + y\ndef solution(a):\n    return P(a, a + 1)\n"),
    "a namespace for a named tuple": (NAMED, "import types\ndef solution(a):\n    return types.SimpleNamespace(x=a, y=a + 1)\n"),
    "a path for a text": (JOINED, "import pathlib\ndef solution(a):\n    return pathlib.Path('a', 'b')\n"),
    "an iterable of its own": (ANY_OF, "class Own:\n    def __iter__(self):\n        return iter([1, 2])\ndef solution(a):\n    return Own()\n"),
    "an iterator for a set": (NONZERO, returning("filter(None, a)")),
    "counts of zero": (COUNTED, "import collections\ndef solution(a):\n    return collections.Counter({c: a.count(c) for c in 'abc'})\n"),
    "another random number beside the right part": (PART, "import random\ndef solution(a):\n    return random.uniform(0, 1), 7392\n"),
    "matches of another pattern": (DIGITS, "import re\ndef solution(a):\n    return list(re.finditer('[0-9]+', a))\n"),
    "numbers of NumPy, the other way round": (PRODUCT, returning("(np.int64(5), np.int64(3))")),
    "another list in the argument that is returned": (NEGATED, "def solution(a):\n    a[0] = [-a[0][0]]\n    return a\n"),
    "an answer of a function that only changes what another one returns": (RESET, RESET.reference.replace("n = 0\ndef sol", "n = 0\n    return True\ndef sol")),
    "an answer of a function that prints": (STARS, "def solution(a):\n    text = '\\n'.join('*' * (n + 1) for n in range(a))\n    print(text)\n    return text\n"),
    "an answer of a method that changes its object, where the number of calls depends on it": (QUEUE, QUEUE.reference.replace("append(x)", "append(x)\n        return self")),
    "a generator for a list, of which `list` asks the length": (SORTED_BAG, SORTED_BAG.reference.replace("return sorted", "yield from sorted")),
    "objects that compare in another way, which the tests do not ask": (TOTALED, TOTALED.reference.replace("def total", "    def __eq__(self, other):\n        return self.price == other.price\ndef total")),
    "other random numbers": (RANDOM, "import random\ndef solution(a):\n    return random.uniform(0, 1)\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_ANSWERS)
def test_another_right_answer_is_believed(name: str) -> None:
    task, source = OTHER_ANSWERS[name]
    assert passes_in_one_process(source, task)
    assert phases.beside(source, task.tests, task.signature, task.reference) == phases.CONFIRMED


def test_without_a_reference_answers_are_compared_only_with_what_the_tests_compare_them_with() -> None:
    """Beside a program, the tests make other calls than beside a placeholder."""
    tests = "q, found = Queue(), []\nq.add(5)\nassert q.size() == 1\nwhile not q.is_empty():\n    found.append(q.take())\nassert found == [5] and q.size() == 0"
    assert phases.beside(QUEUE.reference, tests, QUEUE.signature) == phases.CONFIRMED


def test_what_is_counted_and_shown_is_how_a_sample_differs() -> None:
    """The first call that differs is shown, and not the first of another kind: the text."""
    task = Task(returning("a * a"), "assert solution(2) == 4\nassert solution(3) == 9\nassert solution(4) == 16")
    found = phases.graded(returning("a + a if a < 4 else 'x'"), task.tests, reference=task.reference)
    assert found.kind == "assertion"
    assert found.likeness is not None
    counts = found.likeness.calls
    assert counts is not None
    assert (counts.n, counts.same) == (3, 1)
    assert counts.first is not None
    assert (counts.first.call, counts.first.expected, counts.first.returned) == ("solution(3)", "9", "6")


def test_a_reference_that_fails_its_tests_serves_for_nothing() -> None:
    with pytest.raises(AssertionError, match="a test fails"):
        phases.graded(returning("a"), "assert solution(1) == 1", reference=returning("a + 1"))


def test_an_examination_that_a_busy_machine_may_have_stopped_says_nothing_about_the_answers() -> None:
    """The grader has it done again, alone."""
    test = "import time\ntime.sleep(0.4)\nassert solution(1) > 0\n"
    spec = phases.task(test)
    recorded = phases.calls_of(spec)
    reference, sample = (phases.answers(returning(f"a + {more}"), spec, recorded) for more in (1, 2))
    task = spec | {name: recorded[name] for name in ("names", "calls", "reads")}
    task["expected"] = [[reference["hello"], *reference["replies"]]]
    given = {name: sample[name] for name in ("hello", "replies")}
    found = phases.do("judge", {"task": task, "answers": given}, wall=1.0)
    assert (found["evidence"]["stopped"], "likeness" in found, "confirmed" in found) == ("wall", False, False)


CODEC = "def encode(a):\n    pass\ndef decode(a):\n    pass\n"
ROUND_TRIP = "for text in ('ab', 'c'):\n    assert decode(encode(text)) == text"


def codec(encoded: str, decoded: str) -> str:
    return f"def encode(a):\n    return {encoded}\ndef decode(a):\n    return {decoded}\n"


@pytest.mark.parametrize("reference", [codec("a[::-1]", "a[::-1]"), None])
def test_an_answer_that_only_goes_back_into_a_call_may_be_any_value_if_the_task_says_so(reference: str | None) -> None:
    source = codec("[ord(c) for c in a]", "''.join(map(chr, a))")
    assert phases.graded(source, ROUND_TRIP, CODEC, reference, opaque=True).confirmed
    assert phases.graded(source, ROUND_TRIP, CODEC, reference).confirmed is (reference is None)
    otherwise = "e = encode('ab')\nassert not set(decode(e)) ^ set('ab')"
    assert phases.graded(source, otherwise, CODEC, reference, opaque=True).confirmed
    weaker = ROUND_TRIP.replace("== text", "in (text, 7)")
    assert not phases.graded(codec("a", "7"), weaker, CODEC, reference, opaque=True).confirmed


def test_a_text_that_the_tests_execute_may_be_the_one_of_the_reference() -> None:
    source = "def solution(a):\n    return f'def {a}():\\n    return 1'"
    tests = "space = {}\nexec(solution('f'), space)\nassert space['f']() == 1"
    assert phases.beside(source, tests, reference=source) == phases.CONFIRMED
    other = phases.beside(source.replace("1", "2 - 1"), tests, reference=source)
    assert not other["confirmed"]


# --- without a reference --------------------------------------------------------------------------------------------

EQUAL = "assert solution(2) == [2, 3]"
FRACTIONAL = "from fractions import Fraction\ndef solution(a):\n    return {Fraction(10 ** a, 3)}\n"
WEAK: dict[str, tuple[str, str, bool]] = {
    "equal to what is expected": (returning("[a, a + 1]"), EQUAL, True),
    "an integer with very many digits": (returning("10 ** a"), "assert solution(5000) == 10 ** 5000", True),
    "a fraction that is too large for a float": (FRACTIONAL, "from fractions import Fraction\nassert solution(400) == {Fraction(10 ** 400, 3)}", True),
    "compared in parts": (returning("[a, a + 1]"), "R = solution(2)\nassert R[0] == 2 and R[1] == 3", True),
    "expected to be empty": (returning("[]"), "assert solution(2) == []", True),
    "compared otherwise": (returning("a + 0.5"), "assert abs(solution(2) - 2.5) < 1e-6", True),
    "nothing where nothing is asked": (returning("[]"), "for x in solution(2):\n    assert x in (2, 3)", False),
    "its argument where nothing is asked": (returning("a"), "assert sorted(solution([1, 2])) == sorted([1, 2])", False),
    "NaN": (returning("math.nan"), "assert not abs(solution(2) - 2.5) > 1e-6", False),
    "NaN that the tests name": (returning("math.nan"), "import math\nassert math.isnan(solution(2))", True),
    "a narrow number": (returning("np.float16(2.5)"), "assert abs(solution(2) - 2.5) < 1e-6", False),
    "an object of its own": ("class Own:\n    x = 3\ndef solution(a):\n    return Own()\n", "assert not abs(solution(2).x - 3) > 1", False),
}  # fmt: skip


@pytest.mark.parametrize("name", WEAK)
def test_without_a_reference_an_answer_has_to_be_the_expected_value_or_ordinary(name: str) -> None:
    source, tests, is_believed = WEAK[name]
    found = phases.graded(source, tests)
    assert (found.confirmed, found.likeness is not None and found.likeness.weak) == (is_believed, True), found


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


@pytest.mark.parametrize("name", COMPARING)
def test_a_class_that_equals_everything_is_found_and_an_honest_one_keeps_its_credit(name: str) -> None:
    own = HONEST.replace("self.items == other.items", "list(self.items) == list(other.items)")
    assert phases.beside(own, COMPARING[name], BOX, HONEST) == phases.CONFIRMED
    found = phases.beside(LIAR, COMPARING[name], BOX, HONEST)
    assert (found["confirmed"], found["kind"]) == (False, "unlike"), found


def test_tests_may_change_what_an_object_holds() -> None:
    tests = "b = Box([1])\nb.items.append(2)\nassert b.doubled().items == [1, 2, 1, 2]"
    assert phases.beside(HONEST, tests, BOX, HONEST) == phases.CONFIRMED


def test_a_class_that_returns_what_the_tests_constructed_is_found() -> None:
    tests = "b = Box([1, 2])\ne = Box([2, 4])\nassert b.doubled().items == e.items"
    honest = HONEST.replace("self.items * 2", "[2 * item for item in self.items]")
    keeper = HONEST.replace(
        "        self.items = items\n", "        self.items = items\n        Box.last = self\n"
    ).replace("return Box(self.items * 2)", "return Box.last")
    exec(f"{keeper}\n{tests}", {})
    assert phases.beside(honest, tests, BOX, honest) == phases.CONFIRMED
    found: Any = phases.beside(keeper, tests, BOX, honest)
    assert (found["confirmed"], found["kind"]) == (False, "unlike"), found


# --- a replay in a fork: its result comes back, and nothing else does ---

# In a process with one thread, like the sandbox's: the test's own has several, whose locks a fork would inherit.
BRANCHES = """
import json, os, sys, time
sys.path.insert(0, sys.argv[1])
from grade_sandbox.tests.belief import branch
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
