"""Programs that keep something from one call to the next, or change what they were given."""

from __future__ import annotations

from .program import honest

_BOX = """
class Box:
    def __init__(self, name):
        self.name = name
        self.items = []
def solution(x):
"""

PROGRAMS = [
    honest(
        "default-list-that-accumulates",
        """
        def solution(x, seen=[]):
            seen.append(x)
            return seen
        """,
        """
        first = solution(1)
        assert first == [1]
        second = solution(2)
        assert second == [1, 2]
        assert first is second
        """,
        "def solution(x, seen=[]):\n",
    ),
    honest(
        "list-returned-earlier-and-changed-later",
        """
        class Log:
            lines = []
        def solution(x):
            Log.lines.append(x)
            return Log.lines
        """,
        "log = solution('a')\nassert log == ['a']\nsolution('b')\nassert log == ['a', 'b']",
    ),
    honest(
        "same-object-returned-twice",
        """
        class Cache:
            known = {}
        def solution(x):
            return Cache.known.setdefault(x, [x, x * 2])
        """,
        "assert solution(3) == [3, 6]\nassert solution(3) is solution(3)\nassert solution(4) is not solution(3)",
    ),
    honest(
        "one-row-many-times",
        """
        def solution(x):
            row = [0] * x
            return [row, row, list(row)]
        """,
        "grid = solution(2)\ngrid[0][1] = 5\nassert grid == [[0, 5], [0, 5], [0, 0]]\nassert grid[0] is grid[1]",
    ),
    honest(
        "list-that-contains-itself",
        """
        def solution(x):
            ring = [x]
            ring.append(ring)
            return ring
        """,
        "ring = solution(1)\nassert ring[1] is ring\nassert ring[1][1][0] == 1",
    ),
    honest(
        "arguments-sorted-in-place",
        """
        def solution(x):
            x.sort()
            return x
        """,
        "values = [3, 1, 2]\nassert solution(values) is values\nassert values == [1, 2, 3]",
    ),
    honest(
        "nested-arguments-changed",
        """
        def solution(x):
            for row in x["rows"]:
                row.insert(0, sum(row))
            x["size"] = len(x.pop("rows"))
        """,
        "rows = [[1, 2], [3]]\ndata = {'rows': rows}\nassert solution(data) is None\n"
        "assert data == {'size': 2} and rows == [[3, 1, 2], [3, 3]]",
    ),
    honest(
        "instance-of-the-signature-changed",
        """
        def solution(x):
            x.items.append(len(x.items))
            x.name = x.name.title()
            return x
        """,
        "box = Box('red box')\nassert solution(box) is box\nassert (box.name, box.items) == ('Red Box', [0])",
        _BOX,
    ),
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
        "result-given-back",
        """
        def solution(x):
            return [list(row) for row in zip(*x[::-1])]
        """,
        "grid = [[1, 2], [3, 4]]\nassert solution(solution(grid)) == [[4, 3], [2, 1]]\n"
        "assert solution(solution(solution(solution(grid)))) == grid",
    ),
]
