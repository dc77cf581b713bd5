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
        "named-tuple-made-inside-the-function",
        """
        def solution(x):
            from collections import namedtuple
            Result = namedtuple("Result", ["total", "count"])
            return Result(sum(x), len(x))
        """,
        "assert solution([1, 2, 3]) == (6, 3)\ntotal, count = solution([5])\nassert total == 5 and count == 1",
    ),
    honest(
        "named-tuple-read-by-attribute",
        """
        from collections import namedtuple
        def solution(x):
            Split = namedtuple("Split", "even odd")
            return Split([n for n in x if n % 2 == 0], [n for n in x if n % 2])
        """,
        "result = solution([1, 2, 3, 4])\nassert result.even == [2, 4]\nassert result.odd == [1, 3]",
    ),
    honest(
        "named-tuples-as-keys",
        """
        from typing import NamedTuple
        class Key(NamedTuple):
            a: int
            b: str
        def solution(x):
            return {Key(len(word), word[0]): word for word in x}
        """,
        "assert solution(['pear', 'fig']) == {(4, 'p'): 'pear', (3, 'f'): 'fig'}\nassert (3, 'f') in solution(['fig'])",
    ),
    honest(
        "integer-enumeration-of-its-own",
        """
        from enum import IntEnum
        class Turn(IntEnum):
            LEFT = -1
            NONE = 0
            RIGHT = 1
        def solution(x):
            return [Turn.RIGHT if n > 0 else Turn.LEFT if n < 0 else Turn.NONE for n in x]
        """,
        "assert solution([5, 0, -2]) == [1, 0, -1]\nassert sum(solution([3, 4])) == 2",
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
        "enumeration-of-texts-made-by-a-call",
        """
        from enum import Enum
        def solution(x):
            Fruit = Enum("Fruit", {"APPLE": "apple", "PLUM": "plum"}, type=str)
            return {name: Fruit.APPLE if name.startswith("a") else Fruit.PLUM for name in x}
        """,
        "assert solution(['anna', 'paul']) == {'anna': 'apple', 'paul': 'plum'}",
    ),
    honest(
        "integer-flags",
        """
        from enum import IntFlag
        class Wall(IntFlag):
            NORTH = 1
            EAST = 2
            SOUTH = 4
        def solution(x):
            found = Wall(0)
            for letter in x:
                found |= {"n": Wall.NORTH, "e": Wall.EAST, "s": Wall.SOUTH}[letter]
            return found
        """,
        "assert solution('ns') == 5\nassert solution('') == 0\nassert solution('e') & 2",
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
    honest(
        "frozen-data-class-in-a-list",
        """
        from dataclasses import dataclass
        @dataclass(frozen=True, order=True)
        class Card:
            rank: int
            suit: str
        def solution(x):
            return sorted(Card(int(text[:-1]), text[-1]) for text in x)
        """,
        """
        hand = solution(['9h', '2s', '5d'])
        assert [card.rank for card in hand] == [2, 5, 9]
        assert hand[0].suit == 's'
        """,
    ),
]
