"""Programs that return records: named tuples, enumerations and data classes."""

from __future__ import annotations

from .program import honest

PROGRAMS = [
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
        "named-tuple-assigned-at-module-level",
        """
        from collections import namedtuple
        Cell = namedtuple("Cell", "row column")
        def solution(x):
            return [Cell(r, c) for r, line in enumerate(x) for c, mark in enumerate(line) if mark == "#"]
        """,
        "assert solution(['.#', '#.']) == [(0, 1), (1, 0)]\nassert solution(['..']) == []",
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
    honest(
        "enumeration-read-by-name-and-value",
        """
        from enum import Enum
        class Colour(Enum):
            RED = 1
            BLUE = 2
        def solution(x):
            return Colour(x)
        """,
        "assert solution(1).name == 'RED'\nassert solution(2).value == 2",
    ),
    honest(
        "data-class-read-by-attribute",
        """
        from dataclasses import dataclass, field
        @dataclass
        class Summary:
            total: int
            parts: list = field(default_factory=list)
        def solution(x):
            return Summary(sum(x), sorted(x))
        """,
        "summary = solution([3, 1])\nassert summary.total == 4\nassert summary.parts == [1, 3]",
    ),
]
