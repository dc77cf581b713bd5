"""A program is found by what Python can parse, whatever stands around it."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

import pytest

from grader.scorers.execution.assembly import assemble
from grader.scorers.execution.careful_program import WantedProgram, find

CODE = "import math\n\nN = 3\n\ndef solution(a):\n    x = [\n1,\n2]\n    return math.fsum(a) * N"
DRAFT = "def solution(a):\n    return 0\n"
SIGNATURE = 'def solution(a: list) -> int:\n    """\n    Return the sum.\n    """\n'


def indented(code: str, by: str) -> str:
    return "".join(f"{by}{line}\n" for line in code.split("\n"))


@pytest.mark.parametrize("rules", ["humaneval-v-v1", "humaneval-v-v2", "plain"])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"<think>\nIt's the sum: x = 3\n</think>\n\n{CODE}\n", id="thoughts before a program without a fence"),
        pytest.param(f"<think>hm\n```python\n{CODE}\n```</think>\n", id="a block that ends with a tag"),
        pytest.param(f"<think>```python\n{DRAFT}```\nno</think>\n{CODE}", id="a draft in the thoughts"),
        pytest.param(f"<think>\n```python\n{DRAFT}```\n</think>\n```python\n{CODE}\n```", id="a draft in a block"),
        pytest.param(f"Sure!\n{CODE}\n", id="after a word"),
        pytest.param(f"Here's the code:\n\n{CODE}\n\nIt's O(n).\n", id="between sentences"),
        pytest.param(f"[PYTHON]\n{CODE}\n[/PYTHON]", id="tags in brackets"),
        pytest.param(f"```python\n{CODE}```", id="a fence on the last line"),
        pytest.param(f"1. Here:\n\n   ```python\n{indented(CODE, '   ')}   ```\n2. Done", id="in a list"),
        pytest.param(indented(CODE, "> "), id="a quotation"),
        pytest.param(f"Sure!\n{CODE}\n".replace("\n", "\r\n"), id="line ends of Windows"),
    ],
)  # fmt: skip
def test_a_careful_reader_finds_the_program(text: str, rules: str) -> None:
    made = assemble(text, SIGNATURE, rules)  # type: ignore[arg-type]
    namespace: dict[str, object] = {}
    exec(made.completion if made.recovered is None else made.recovered, namespace)
    assert namespace["solution"]([1, 2]) == 9  # type: ignore[operator]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("class Solution:\n    def solution(self, a):\n        return 1\n", id="a method"),
        pytest.param("def main():\n    def solution(a):\n        return 1\n", id="an inner function"),
        pytest.param("def solution(a):\n    x = 1\n    return x +* 2\n", id="half a function"),
        pytest.param("def solution(a):\n    x = 1\n# here\n    return x +* 2\n", id="half a function with a comment"),
        pytest.param("def solution(a):\n    if a:\n        return 1\nelse 2\n", id="half a condition"),
    ],
)  # fmt: skip
def test_a_part_of_a_program_is_no_program(text: str) -> None:
    assert find(text, WantedProgram(("solution",), SIGNATURE, frozenset())) is None
