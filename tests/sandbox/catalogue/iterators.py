"""Programs that return iterators: generators, iterators of classes of their own, the standard library's."""

from __future__ import annotations

from .program import honest

PROGRAMS = [
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
        "iterable-of-its-own-class",
        """
        class Pairs:
            def __init__(self, items):
                self.items = items
            def __iter__(self):
                for a, b in zip(self.items, self.items[1:]):
                    yield a, b
        def solution(x):
            return Pairs(x)
        """,
        "assert list(solution([1, 2, 3])) == [(1, 2), (2, 3)]\nassert [a + b for a, b in solution('ab')] == ['ab']",
    ),
    honest(
        "generator",
        """
        def solution(x):
            a, b = 0, 1
            while a < x:
                yield a
                a, b = b, a + b
        """,
        "assert list(solution(10)) == [0, 1, 1, 2, 3, 5, 8]\nassert list(solution(0)) == []",
    ),
    honest(
        "generator-without-end",
        """
        def solution(x):
            n = x
            while True:
                yield n
                n = n // 2 if n % 2 == 0 else 3 * n + 1
        """,
        """
        import itertools
        assert list(itertools.islice(solution(6), 5)) == [6, 3, 10, 5, 16]
        numbers = solution(4)
        assert next(numbers) == 4 and next(numbers) == 2
        """,
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
        "generators-in-a-list",
        """
        def multiples(n):
            return (n * k for k in range(1, 4))
        def solution(x):
            return [multiples(n) for n in x]
        """,
        "assert [list(line) for line in solution([1, 2])] == [[1, 2, 3], [2, 4, 6]]",
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
]
