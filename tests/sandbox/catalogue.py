"""Correct programs, each of which a grader that distrusts programs could easily refuse."""

import textwrap
from dataclasses import dataclass

SIGNATURE = "def solution(x):\n"
_TREE = """
class Node:
    def __init__(self, value, children=None):
        self.value = value
        self.children = children or []
def solution(x):
"""
_NUMPY = "import numpy as np\n\n\ndef solution(x):\n"


@dataclass(frozen=True, kw_only=True)
class Program:
    """One correct program. Its tests pass when they run in the same process, as the official evaluator runs them."""

    name: str
    signature: str
    source: str
    tests: str


def honest(name: str, source: str, tests: str, signature: str = SIGNATURE) -> Program:
    """Describe a program whose tests are the statements of one function, as HumanEval-V writes them."""
    body = textwrap.indent(textwrap.dedent(tests).strip("\n"), "    ")
    written = f"def test():\n{body}\n\ntest()\n"
    return Program(name=name, signature=signature, source=textwrap.dedent(source).strip("\n") + "\n", tests=written)


PROGRAMS = [
    # They return named tuples, enumerations and data classes.
    honest(
        "named-tuple-written-as-a-class",
        """
        from typing import NamedTuple
        class Span(NamedTuple):
            low: int
            high: int
        def solution(x):
            return Span(min(x), max(x))
        """,
        "assert solution([4, 1, 9]) == (1, 9)\nassert solution([3]) == (3, 3)\nassert solution([2, 5])[1] == 5",
    ),
    honest(
        "enumeration-of-texts",
        """
        from enum import Enum
        class Side(str, Enum):
            UP = "up"
            DOWN = "down"
        def solution(x):
            return Side.UP if x > 0 else Side.DOWN
        """,
        "assert solution(3) == 'up'\nassert solution(-3) == 'down'\nassert solution(1) in ('up', 'down')",
    ),
    # They return instances of its own classes, and of subclasses of the signature's.
    honest(
        "property-of-its-own-class",
        """
        class Box:
            def __init__(self, side):
                self.side = side
            @property
            def volume(self):
                return self.side ** 3
        def solution(x):
            return Box(x)
        """,
        "assert solution(2).side == 2\nassert solution(3).volume == 27",
    ),
    honest(
        "class-of-its-own-turned-to-text",
        """
        class Clock:
            def __init__(self, minutes):
                self.minutes = minutes
            def __str__(self):
                return "%02d:%02d" % divmod(self.minutes, 60)
        def solution(x):
            return Clock(x)
        """,
        "assert str(solution(75)) == '01:15'\nassert f'{solution(5)}' == '00:05'",
    ),
    honest(
        "subclass-of-a-class-of-the-signature",
        """
        class Leaf(Node):
            def __init__(self, value):
                super().__init__(value, [])
                self.depth = 1
        def solution(x):
            return Node(x[0], [Leaf(value) for value in x[1:]])
        """,
        """
        tree = solution([1, 2, 3])
        assert tree.value == 1
        assert [child.value for child in tree.children] == [2, 3]
        assert all(isinstance(child, Node) for child in tree.children)
        """,
        _TREE,
    ),
    # They return subclasses of built-in types, and containers of the standard library.
    honest(
        "subclass-of-dict-with-missing",
        """
        class Tally(dict):
            def __missing__(self, key):
                return 0
        def solution(x):
            tally = Tally()
            for letter in x:
                tally[letter] += 1
            return tally
        """,
        "assert solution('abca') == {'a': 2, 'b': 1, 'c': 1}\nassert solution('zz')['z'] == 2",
    ),
    honest(
        "user-string",
        """
        from collections import UserString
        def solution(x):
            return UserString(x).center(7, "*")
        """,
        "assert solution('abc') == '**abc**'\nassert len(solution('x')) == 7",
    ),
    honest(
        "memory-view",
        """
        def solution(x):
            return memoryview(x)[::2]
        """,
        "assert solution(b'abcd') == b'ac'\nassert bytes(solution(b'xyz')) == b'xz'",
    ),
    # It raises.
    honest(
        "exception-with-a-cause",
        """
        def solution(x):
            try:
                return {"a": 1}[x]
            except KeyError as error:
                raise LookupError("unknown name") from error
        """,
        """
        assert solution("a") == 1
        try:
            solution("b")
        except LookupError as error:
            assert isinstance(error.__cause__, KeyError)
        else:
            assert False
        """,
    ),
    # They return iterators.
    honest(
        "iterator-of-its-own-class",
        """
        class Countdown:
            def __init__(self, start):
                self.left = start
            def __iter__(self):
                return self
            def __next__(self):
                if self.left <= 0:
                    raise StopIteration
                self.left -= 1
                return self.left + 1
        def solution(x):
            return Countdown(x)
        """,
        "assert list(solution(3)) == [3, 2, 1]\nassert sum(solution(4)) == 10",
    ),
    honest(
        "container-of-its-own-class",
        """
        class Grid:
            def __init__(self, rows):
                self.rows = rows
            def __len__(self):
                return len(self.rows)
            def __getitem__(self, index):
                return self.rows[index]
        def solution(x):
            return Grid([[0] * x for _ in range(x)])
        """,
        "grid = solution(2)\nassert len(grid) == 2\nassert grid[1] == [0, 0]\nassert grid[0][1] == 0",
    ),
    honest(
        "generator-that-is-sent-values",
        """
        def solution(x):
            total = x
            while True:
                total += yield total
        """,
        "running = solution(5)\nassert next(running) == 5\nassert running.send(3) == 8\nassert running.send(2) == 10",
    ),
    honest(
        "groups-of-the-standard-library",
        """
        from itertools import groupby
        def solution(x):
            return groupby(x)
        """,
        "assert [(key, len(list(group))) for key, group in solution('aab')] == [('a', 2), ('b', 1)]",
    ),
    honest(
        "two-iterators-over-one",
        """
        import itertools
        def solution(x):
            return itertools.tee(n * n for n in x)
        """,
        "first, second = solution([1, 2])\nassert list(first) == [1, 4]\nassert list(second) == [1, 4]",
    ),
    honest(
        "generator-over-an-argument-without-end",
        """
        def solution(x):
            total = 0
            for item in x:
                total += item
                yield total
        """,
        "import itertools\nassert list(itertools.islice(solution(itertools.count()), 4)) == [0, 1, 3, 6]",
    ),
    honest(
        "coroutine",
        """
        import asyncio
        def solution(x):
            async def run():
                await asyncio.sleep(0)
                return x + 1
            return run()
        """,
        "import asyncio\nassert asyncio.run(solution(3)) == 4",
    ),
    # They return what NumPy makes.
    honest(
        "record-array",
        """
        import numpy as np
        def solution(x):
            return np.rec.array([(n, n * n) for n in x], names="n,square")
        """,
        "assert solution([2, 3]).square.tolist() == [4, 9]",
        _NUMPY,
    ),
    honest(
        "polynomial-that-is-called",
        """
        import numpy as np
        def solution(x):
            return np.poly1d(x)
        """,
        "line = solution([2, 1])\nassert line(3) == 7\nassert solution([1, 0, 0])(4) == 16",
        _NUMPY,
    ),
    # They return something to call, or the program itself is given to functions.
    honest(
        "closure-with-a-state",
        """
        def solution(x):
            count = x
            def tick():
                nonlocal count
                count += 1
                return count
            return tick
        """,
        "first, second = solution(0), solution(10)\nassert first() == 1\nassert second() == 11\nassert first() == 2",
    ),
    honest(
        "object-that-is-called",
        """
        class Average:
            def __init__(self):
                self.values = []
            def __call__(self, value):
                self.values.append(value)
                return sum(self.values) / len(self.values)
        def solution(x):
            average = Average()
            for value in x:
                average(value)
            return average
        """,
        "average = solution([2])\nassert average(4) == 3\nassert average(6) == 4",
    ),
    # They keep something from call to call.
    honest(
        "table-of-known-results-at-module-level",
        """
        memo = {0: 0, 1: 1}
        def solution(x):
            if x not in memo:
                memo[x] = solution(x - 1) + solution(x - 2)
            return memo[x]
        """,
        "assert solution(50) == 12586269025\nassert [solution(n) for n in range(6)] == [0, 1, 1, 2, 3, 5]",
    ),
    honest(
        "cached-recursion",
        """
        from functools import lru_cache
        @lru_cache(maxsize=None)
        def solution(x):
            return 1 if x < 2 else solution(x - 1) * x
        """,
        "assert solution(20) == 2432902008176640000\nassert solution(5) == 120",
    ),
    honest(
        "given-to-other-functions",
        """
        def solution(x):
            return -x * x
        """,
        "assert list(map(solution, [1, 2])) == [-1, -4]\nassert sorted([1, -3, 2], key=solution) == [-3, 2, 1]\n"
        "assert max(range(-2, 3), key=solution) == 0",
    ),
    # It returns a match.
    honest(
        "match-of-a-pattern",
        """
        import re
        def solution(x):
            return re.search(r"(\\w+)@(\\w+)", x)
        """,
        "found = solution('to ann@home')\nassert found and found.group(1) == 'ann' and found.span() == (3, 11)\n"
        "assert found.groups() == ('ann', 'home')\nassert not solution('nothing')",
    ),
]
