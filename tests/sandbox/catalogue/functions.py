"""Programs that return something to call, and programs that are given something to call."""

from __future__ import annotations

from .program import honest

PROGRAMS = [
    honest(
        "closure-that-the-tests-call",
        """
        def solution(x):
            def scale(value):
                return value * x
            return scale
        """,
        "double = solution(2)\nassert double(4) == 8\nassert solution(3)(5) == 15\nassert double('a') == 'aa'",
    ),
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
        "partial",
        """
        from functools import partial
        def solution(x):
            return partial(pow, x)
        """,
        "assert solution(2)(5) == 32\nassert solution(3)(2) == 9",
    ),
    honest(
        "functions-of-functions",
        """
        def solution(x):
            return lambda y: lambda z: x * 100 + y * 10 + z
        """,
        "assert solution(1)(2)(3) == 123\nhalf = solution(4)(5)\nassert half(6) == 456",
    ),
    honest(
        "dictionary-of-functions",
        """
        import operator
        def solution(x):
            return {"add": lambda n: n + x, "neg": operator.neg}
        """,
        "table = solution(5)\nassert table['add'](2) == 7\nassert table['neg'](3) == -3",
    ),
    honest(
        "object-with-methods-that-the-tests-call",
        """
        class Stack:
            def __init__(self, items):
                self._items = list(items)
            def push(self, item):
                self._items.append(item)
            def pop(self):
                return self._items.pop()
        def solution(x):
            return Stack(x)
        """,
        "stack = solution([1])\nstack.push(2)\nassert stack.pop() == 2\nassert stack.pop() == 1",
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
    honest(
        "bound-method",
        """
        def solution(x):
            return {"a": 1, "b": x}.get
        """,
        "find = solution(7)\nassert find('b') == 7\nassert find('c') is None\nassert find('c', 0) == 0",
    ),
    honest(
        "callback-that-is-a-built-in",
        """
        def solution(x, key):
            return sorted(x, key=key)
        """,
        "assert solution([-3, 1, -2], abs) == [1, -2, -3]\nassert solution(['ccc', 'a'], key=len) == ['a', 'ccc']",
        "def solution(x, key):\n",
    ),
    honest(
        "callback-of-the-standard-library",
        """
        from functools import reduce
        def solution(x, combine):
            return reduce(combine, x)
        """,
        """
        import math
        import operator
        assert solution([1, 2, 4], operator.add) == 7
        assert solution([8, 12], math.gcd) == 4
        """,
        "def solution(x, combine):\n",
    ),
    honest(
        "callback-that-is-a-type-or-a-method",
        """
        def solution(x, change):
            return [change(item) for item in x]
        """,
        "assert solution(['1', '2'], int) == [1, 2]\nassert solution(['a'], str.upper) == ['A']",
        "def solution(x, change):\n",
    ),
]
