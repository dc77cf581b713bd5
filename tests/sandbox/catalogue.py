"""Correct programs, each of which a grader that distrusts programs could easily refuse."""

import re
import textwrap
from typing import NamedTuple

SIGNATURES = {
    "": "def solution(x):\n",
    "numpy": "import numpy as np\n\n\ndef solution(x):\n",
    "tree": """
class Node:
    def __init__(self, value, children=None):
        self.value = value
        self.children = children or []
def solution(x):
""",
}


class Program(NamedTuple):
    """One correct program. Its tests pass when they run in the same process, as the official evaluator runs them."""

    name: str
    signature: str
    source: str
    tests: str


CATALOGUE = r"""
=== named-tuple-written-as-a-class
from typing import NamedTuple
class Span(NamedTuple):
    low: int
    high: int
def solution(x):
    return Span(min(x), max(x))
---
assert solution([4, 1, 9]) == (1, 9)
assert solution([3]) == (3, 3)
assert solution([2, 5])[1] == 5
=== enumeration-of-texts
from enum import Enum
class Side(str, Enum):
    UP = "up"
    DOWN = "down"
def solution(x):
    return Side.UP if x > 0 else Side.DOWN
---
assert solution(3) == 'up'
assert solution(-3) == 'down'
assert solution(1) in ('up', 'down')
=== property-of-its-own-class
class Box:
    def __init__(self, side):
        self.side = side
    @property
    def volume(self):
        return self.side ** 3
def solution(x):
    return Box(x)
---
assert solution(2).side == 2
assert solution(3).volume == 27
=== class-of-its-own-turned-to-text
class Clock:
    def __init__(self, minutes):
        self.minutes = minutes
    def __str__(self):
        return "%02d:%02d" % divmod(self.minutes, 60)
def solution(x):
    return Clock(x)
---
assert str(solution(75)) == '01:15'
assert f'{solution(5)}' == '00:05'
=== subclass-of-a-class-of-the-signature (tree)
class Leaf(Node):
    def __init__(self, value):
        super().__init__(value, [])
        self.depth = 1
def solution(x):
    return Node(x[0], [Leaf(value) for value in x[1:]])
---
tree = solution([1, 2, 3])
assert tree.value == 1
assert [child.value for child in tree.children] == [2, 3]
assert all(isinstance(child, Node) for child in tree.children)
=== subclass-of-dict-with-missing
class Tally(dict):
    def __missing__(self, key):
        return 0
def solution(x):
    tally = Tally()
    for letter in x:
        tally[letter] += 1
    return tally
---
assert solution('abca') == {'a': 2, 'b': 1, 'c': 1}
assert solution('zz')['z'] == 2
=== exception-with-a-cause
def solution(x):
    try:
        return {"a": 1}[x]
    except KeyError as error:
        raise LookupError("unknown name") from error
---
assert solution("a") == 1
try:
    solution("b")
except LookupError as error:
    assert isinstance(error.__cause__, KeyError)
else:
    assert False
=== iterator-of-its-own-class
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
---
assert list(solution(3)) == [3, 2, 1]
assert sum(solution(4)) == 10
=== container-of-its-own-class
class Grid:
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return self.rows[index]
def solution(x):
    return Grid([[0] * x for _ in range(x)])
---
grid = solution(2)
assert len(grid) == 2
assert grid[1] == [0, 0]
assert grid[0][1] == 0
=== generator-that-is-sent-values
def solution(x):
    total = x
    while True:
        total += yield total
---
running = solution(5)
assert next(running) == 5
assert running.send(3) == 8
assert running.send(2) == 10
=== groups-of-the-standard-library
from itertools import groupby
def solution(x):
    return groupby(x)
---
assert [(key, len(list(group))) for key, group in solution('aab')] == [('a', 2), ('b', 1)]
=== two-iterators-over-one
import itertools
def solution(x):
    return itertools.tee(n * n for n in x)
---
first, second = solution([1, 2])
assert list(first) == [1, 4]
assert list(second) == [1, 4]
=== generator-over-an-argument-without-end
def solution(x):
    total = 0
    for item in x:
        total += item
        yield total
---
import itertools
assert list(itertools.islice(solution(itertools.count()), 4)) == [0, 1, 3, 6]
=== coroutine
import asyncio
def solution(x):
    async def run():
        await asyncio.sleep(0)
        return x + 1
    return run()
---
import asyncio
assert asyncio.run(solution(3)) == 4
=== record-array (numpy)
import numpy as np
def solution(x):
    return np.rec.array([(n, n * n) for n in x], names="n,square")
---
assert solution([2, 3]).square.tolist() == [4, 9]
=== polynomial-that-is-called (numpy)
import numpy as np
def solution(x):
    return np.poly1d(x)
---
line = solution([2, 1])
assert line(3) == 7
assert solution([1, 0, 0])(4) == 16
=== closure-with-a-state
def solution(x):
    count = x
    def tick():
        nonlocal count
        count += 1
        return count
    return tick
---
first, second = solution(0), solution(10)
assert first() == 1
assert second() == 11
assert first() == 2
=== object-that-is-called
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
---
average = solution([2])
assert average(4) == 3
assert average(6) == 4
=== table-of-known-results-at-module-level
memo = {0: 0, 1: 1}
def solution(x):
    if x not in memo:
        memo[x] = solution(x - 1) + solution(x - 2)
    return memo[x]
---
assert solution(50) == 12586269025
assert [solution(n) for n in range(6)] == [0, 1, 1, 2, 3, 5]
=== given-to-other-functions
def solution(x):
    return -x * x
---
assert list(map(solution, [1, 2])) == [-1, -4]
assert sorted([1, -3, 2], key=solution) == [-3, 2, 1]
assert max(range(-2, 3), key=solution) == 0
=== database-in-a-file
import sqlite3
def solution(x):
    for name in ('numbers.db', '/tmp/numbers.db', ':memory:'):
        base = sqlite3.connect(name)
        base.execute('create table if not exists t (n integer)')
        base.executemany('insert into t values (?)', [(n,) for n in x])
        base.commit()
        total = base.execute('select sum(n) from t').fetchone()[0]
        base.execute('delete from t')
        base.commit()
        base.close()
    return total
---
assert solution([1, 2]) == 3
assert solution([5]) == 5
assert solution([5, 6]) == 11
=== lock-of-a-file
import fcntl, tempfile
def solution(x):
    with open('/tmp/lock', 'w') as one, tempfile.TemporaryFile() as other:
        fcntl.flock(one, fcntl.LOCK_EX)
        fcntl.lockf(other, fcntl.LOCK_EX)
        one.write(x)
    return open('/tmp/lock').read()
---
assert solution('a') == 'a'
assert solution('bc') == 'bc'
"""
"""Each program with its name, the key of its signature in parentheses, its source, and what its tests state."""

PROGRAMS = [
    # HumanEval-V writes its tests as the statements of one function.
    Program(name, SIGNATURES[kind], source, f"def test():\n{textwrap.indent(tests, '    ')}\n\ntest()\n")
    for name, kind, source, tests in re.findall(
        r"^=== ([\w-]+)(?: \((\w+)\))?\n(.*?)^---\n(.*?)\n(?====|\Z)", CATALOGUE, re.MULTILINE | re.DOTALL
    )
]
