"""A program is found by what Python can parse, whatever stands around it."""

from grader.scorers.execution.assembly import assemble
from grader.scorers.execution.careful_program import WantedProgram, find
from tests.tables import each

CODE = "import math\n\nN = 3\n\ndef solution(a):\n    x = [\n1,\n2]\n    return math.fsum(a) * N"
DRAFT = "def solution(a):\n    return 0\n"
SIGNATURE = 'def solution(a: list) -> int:\n    """\n    Return the sum.\n    """\n'


def indented(code: str, by: str) -> str:
    return "".join(f"{by}{line}\n" for line in code.split("\n"))


@each("rules", ["humaneval-v-v1", "humaneval-v-v2", "plain"])
@each(
    "text",
    {
        "thoughts before a program without a fence": f"<think>\nIt's the sum: x = 3\n</think>\n\n{CODE}\n",
        "a block that ends with a tag": f"<think>hm\n```python\n{CODE}\n```</think>\n",
        "a draft in the thoughts": f"<think>```python\n{DRAFT}```\nno</think>\n{CODE}",
        "a draft in a block": f"<think>\n```python\n{DRAFT}```\n</think>\n```python\n{CODE}\n```",
        "after a word": f"Sure!\n{CODE}\n",
        "between sentences": f"Here's the code:\n\n{CODE}\n\nIt's O(n).\n",
        "tags in brackets": f"[PYTHON]\n{CODE}\n[/PYTHON]",
        "a fence on the last line": f"```python\n{CODE}```",
        "in a list": f"1. Here:\n\n   ```python\n{indented(CODE, '   ')}   ```\n2. Done",
        "a quotation": indented(CODE, "> "),
        "line ends of Windows": f"Sure!\n{CODE}\n".replace("\n", "\r\n"),
    },
)  # fmt: skip
def test_a_careful_reader_finds_the_program(text: str, rules: str) -> None:
    made = assemble(text, SIGNATURE, rules)  # type: ignore[arg-type]
    namespace: dict[str, object] = {}
    exec(made.completion if made.recovered is None else made.recovered, namespace)
    assert namespace["solution"]([1, 2]) == 9  # type: ignore[operator]


@each(
    "text",
    {
        "a method": "class Solution:\n    def solution(self, a):\n        return 1\n",
        "an inner function": "def main():\n    def solution(a):\n        return 1\n",
        "half a function": "def solution(a):\n    x = 1\n    return x +* 2\n",
        "half a function with a comment": "def solution(a):\n    x = 1\n# here\n    return x +* 2\n",
        "half a condition": "def solution(a):\n    if a:\n        return 1\nelse 2\n",
    },
)  # fmt: skip
def test_a_part_of_a_program_is_no_program(text: str) -> None:
    assert find(text, WantedProgram(("solution",), SIGNATURE, frozenset())) is None
