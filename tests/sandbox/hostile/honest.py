"""Honest programs that a grader built against the others could easily lose: each is to be credited."""

from __future__ import annotations

from .program import LINT, PASSED, SIGNATURE, TESTS, Program


def _honest(name: str, source: str, tests: str, signature: str = SIGNATURE) -> Program:
    return Program(name=name, source=source, official=PASSED, signature=signature, tests=tests, honest=True)


_EXCEPTIONS = """
class Refused(ValueError):
    def __init__(self, why, amount):
        super().__init__(why)
        self.amount = amount


def solution(x):
"""
_CLASSES = """
from collections import namedtuple
from enum import Enum, Flag
from functools import cached_property
from typing import Generic, TypeVar

T = TypeVar("T")
Point = namedtuple("Point", "a b")
Color = Enum("Color", "RED BLUE")


class Rights(Flag):
    READ = 1
    WRITE = 2


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


def solution(x):
"""

PROGRAMS = [
    _honest(
        "exception-of-the-signature",
        "def solution(x):\n    raise Refused('no', [x])\n",
        """
try:
    solution(3)
except Refused as error:
    assert error.args == ("no",) and error.amount == [3]
else:
    assert False
""",
        _EXCEPTIONS,
    ),
    _honest(
        "exceptions-of-its-own",
        "class Own(Refused):\n    pass\n\n\nclass Other(LookupError):\n    pass\n\n\n"
        "def solution(x):\n    raise Own('no', x) if x > 3 else Other('what')\n",
        """
for x, kind in ((5, Refused), (3, LookupError)):
    try:
        solution(x)
    except kind as error:
        assert getattr(error, "amount", 5) == 5
    else:
        assert False
""",
        _EXCEPTIONS,
    ),
    _honest(
        "classes-that-are-assigned",
        "def solution(x):\n    return Point(x.b, [x.a, Color.BLUE])\n",
        "\nresult = solution(Point(1, 2))\nassert result == Point(2, [1, Color.BLUE]) and result.b[1] is Color.BLUE\n",
        _CLASSES,
    ),
    _honest(
        "classes-inside-others-and-slots-of-a-base",
        "def solution(x):\n    return Tree('t', x, x + 1)\n",
        "\nt = solution(3)\nassert (t.name, [leaf.value for leaf in t.leaves]) == ('t', [3, 4])\n"
        "assert type(t.leaves[0]) is Tree.Leaf\n",
        _CLASSES,
    ),
    _honest(
        "generic-class-with-its-parameter",
        "def solution(x):\n    box = Box[int](x)\n    box.double\n    return box\n",
        "\nbox = solution(3)\nassert (box.value, box.double, type(box)) == (3, 6, Box)\n",
        _CLASSES,
    ),
    _honest(
        "flags-together",
        "def solution(x):\n    return x | Rights.WRITE\n",
        "\nassert solution(Rights.READ) == Rights.READ | Rights.WRITE\n",
        _CLASSES,
    ),
    _honest(
        "prints-what-the-tests-read",
        "def solution(x):\n    print('x is', x)\n    return x\n",
        """
import contextlib, io

solution(1)
text = io.StringIO()
with contextlib.redirect_stdout(text):
    assert solution(3) == 3
    print("and", end=" ")
    solution(4)
assert text.getvalue() == "x is 3\\nand x is 4\\n", text.getvalue()
""",
    ),
    _honest(
        "generator-without-an-end",
        "def solution(x):\n    while True:\n        yield x\n        x += 1\n",
        "\nnumbers = solution(3)\nassert [next(numbers) for _ in range(900)] == list(range(3, 903))\n",
    ),
    _honest(
        "generator-that-fails",
        "def solution(x):\n    yield x\n    raise KeyError(x)\n",
        "\nn = solution(3)\nassert next(n) == 3\ntry:\n    next(n)\nexcept KeyError:\n    pass\nelse:\n    assert 0\n",
    ),
    _honest(
        "asked-for-its-signature",
        "def solution(x, y=2):\n    '''Solves.'''\n    return x * y\n",
        "\nimport inspect\n\nassert list(inspect.signature(solution).parameters) == ['x', 'y']\n"
        "assert 'Solves' in solution.__doc__ and solution(4) == 8\n",
        "def solution(x, y=2):\n    '''Solves.'''\n",
    ),
    _honest(
        "times-of-a-zone",
        "import datetime\n\n\ndef solution(x):\n    return x + datetime.timedelta(days=1)\n",
        "\nzone = datetime.timezone(datetime.timedelta(hours=-2))\n"
        "assert solution(datetime.datetime(2024, 2, 28, tzinfo=zone)).isoformat() == '2024-02-29T00:00:00-02:00'\n",
        "import datetime\n\n\ndef solution(x):\n",
    ),
    _honest(
        "empty-arrays",
        "import numpy as np\n\n\ndef solution(x):\n    return np.zeros((0, 3))\n",
        "\nassert np.allclose(solution(3), np.zeros((0, 3))) and solution(3).shape == (0, 3)\n",
        "import numpy as np\n\n\ndef solution(x):\n",
    ),
    # What the official assembly drops is given back, and not a second time limit with it.
    Program(
        name="more-time-by-a-dropped-constant",
        source="""
import time

FACTOR = 1


def solution(x):
    end = time.process_time() + 0.42
    while time.process_time() < end:
        sum(range(20000))
    return FACTOR * {3: 7392, 5: 1187}[x]
""",
        official=LINT,
        tests=TESTS,
    ),
]
