"""Programs with a wanted function, as LiveCodeBench's harness sees them and as a careful person would."""

import contextlib
from typing import Any

from grader.scorers.execution.inputs.livecodebench import with_method_as_function
from tests.tables import each

METHOD = "class Solution:\n    def solve(self, x):\n        return x + 1\n"
STATEFUL = """
class Solution:
    def __init__(self):
        self.held = []
    def solve(self, x):
        self.held.append(x)
        return len(self.held)
"""


def answers(source: str, *, is_official: bool) -> list[Any]:
    """Return what a program answers to two calls; fewer if it fails."""
    namespace: dict[str, Any] = {}
    found: list[Any] = []
    with contextlib.suppress(SyntaxError, NameError, AttributeError):
        exec(with_method_as_function(source, "import math", "solve", is_official=is_official), namespace)
        for x in (1, 2):
            found.append(namespace["solve"](x))
    return found


@each(
    ("source", "officially", "carefully"),
    [
        (METHOD, [2, 3], [2, 3]),
        (STATEFUL, [1, 2], [1, 1]),
        ("# no class Solution\ndef solve(x):\n    return x + 1\n", [], [2, 3]),
        ("class SolutionNode:\n    pass\ndef solve(x):\n    return x + 1\n", [], [2, 3]),
        (METHOD.replace("solve", "other") + "def solve(x):\n    return Solution().other(x)\n", [], [2, 3]),
        ("from __future__ import (\n    annotations,\n)\ndef solve(x: Undefined):\n    return x + 1\n", [], [2, 3]),
        ("from __future__ import annotations; one = 1\ndef solve(x):\n    return x + one\n", [], [2, 3]),
        ('"""\nfrom __future__ import nothing\n"""\ndef solve(x):\n    return x + 1\n', [2, 3], [2, 3]),
    ],
)
def test_the_function_is_found(source: str, officially: list[int], carefully: list[int]) -> None:
    assert answers(source, is_official=True) == officially
    assert answers(source, is_official=False) == carefully
