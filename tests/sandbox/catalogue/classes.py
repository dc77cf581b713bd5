"""Programs that return instances of classes of their own, and of subclasses of the signature's."""

from __future__ import annotations

from .program import honest

_TREE = """
class Node:
    def __init__(self, value, children=None):
        self.value = value
        self.children = children or []
def solution(x):
"""
_SHAPE = """
from dataclasses import dataclass
@dataclass
class Shape:
    width: int
    height: int
    def area(self):
        return self.width * self.height
def solution(x):
"""

PROGRAMS = [
    honest(
        "linked-list-of-its-own",
        """
        class Link:
            __slots__ = ("value", "next")
            def __init__(self, value, next=None):
                self.value, self.next = value, next
        def solution(x):
            head = None
            for item in reversed(x):
                head = Link(item, head)
            return head
        """,
        """
        link, values = solution([4, 5, 6]), []
        while link:
            values.append(link.value)
            link = link.next
        assert values == [4, 5, 6]
        assert solution([]) is None
        """,
    ),
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
        "simple-namespace-compared",
        """
        import types
        def solution(x):
            return types.SimpleNamespace(area=x * x)
        """,
        "from types import SimpleNamespace\nassert solution(3) == SimpleNamespace(area=9)",
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
]
