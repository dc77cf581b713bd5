"""Which part of a text is the code: every official rule, in order."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from grader.scorers.execution import extraction
from grader.scorers.execution.extraction import EMPTY_BODY, MAX_SOURCE, extract, extract_plain, parse_or_none
from tests.tables import each

ONE = "def solution(a):\n    return 1\n"
TWO = "def solution(a):\n    return 2\n"
HELPER = "def helper(a):\n    return 0\n"


def block(code: str, fence: str = "```python") -> str:
    return f"{fence}\n{code}```\n"


@each(
    ("prediction", "v1", "v2"),
    {
        "one python block": (block(ONE), f"\n{ONE}", f"\n{ONE}"),
        "python wins over an earlier plain block": (f"```\nx\n```\n{block(ONE)}", f"\n{ONE}", f"\n{ONE}"),
        "python3 leaves its 3": (block(ONE, "```python3"), f"3\n{ONE}", f"3\n{ONE}"),
        "two blocks": (block(HELPER) + block(ONE), f"\n{HELPER}\n{ONE}", f"\n{ONE}"),
        "two solutions": (block(ONE) + block(TWO), f"\n{ONE}\n{TWO}", f"\n{TWO}"),
        "the second never closed": (f"{block(ONE)}```python\n{TWO}", f"\n{ONE}", f"\n{ONE}"),
        "neither closed": (f"```python\n{ONE}```python\n{TWO}", "", EMPTY_BODY),
        "a piece with further fences": (block(ONE) + "```python\nx\n```\n```\ny\n```\n", f"\n{ONE}", f"\n{ONE}"),
        "a blank before python": (f"``` python\n{ONE}```", f"\n{ONE}", f"\n{ONE}"),
        "only a closing fence": (f"{ONE}```", ONE, ONE),
        "only an opening fence loses the code": (f"```\n{ONE}", "", ""),
        "another language name stays in the code": (block(ONE, "```py"), f"py\n{ONE}", f"py\n{ONE}"),
        "a bare program is thrown away": (ONE, EMPTY_BODY, EMPTY_BODY),
    },
)
def test_the_official_rules_in_their_order(prediction: str, v1: str, v2: str) -> None:
    assert extract(prediction, "humaneval-v-v1") == v1
    assert extract(prediction, "humaneval-v-v2") == v2


FRAGMENTS = st.sampled_from(["```", "```python", "``` python", "\n", "def solution(a):\n    return 1\n", "text ", "  "])
TEXTS = st.lists(FRAGMENTS, max_size=10).map("".join)


@given(TEXTS | st.text())
@example("```python```python```")
def test_every_text_has_a_code_block_and_it_is_the_texts_own(prediction: str) -> None:
    for rules in ("humaneval-v-v1", "humaneval-v-v2"):
        content = extract(prediction, rules)
        assert content == EMPTY_BODY or "```" not in content
        if rules == "humaneval-v-v2":
            assert content == EMPTY_BODY or content in prediction


STUBS = ("solution",)


@each("length", [50_000, MAX_SOURCE, 10 * MAX_SOURCE])
def test_a_code_block_is_found_however_long_it_is(length: int) -> None:
    code = f"{ONE}# {'x' * length}\n"
    for text in (f"```python\n{code}```\n", f"```\nx = 1\n```\nso:\n```python\n{code}```\n"):
        assert extract_plain(text, STUBS) == code


BACKTRACKING = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
"""What a fenced block is, written without possessive repetitions: takes quadratic time, but is easier to trust."""


@given(st.text(alphabet="`~ \ta\n") | st.lists(st.sampled_from(["```", "~~~", "\n", " ", "a", "`"])).map("".join))
@example("~~~~~\nx\n~~~\n~~~~~~` \n~~~~~~ \n")
def test_fenced_blocks_are_found_as_without_possessive_repetitions(text: str) -> None:
    found, wanted = extraction._BLOCK.finditer(text), BACKTRACKING.finditer(text)
    assert [match.span(2) for match in found] == [match.span(2) for match in wanted]


@each("source", ["def f(", "(" * 5000, "\x00", "x = '\ud800'", "-" * 100_000 + "1", "1" * 5000, "a" * (MAX_SOURCE + 1)])
def test_source_that_breaks_the_parser_is_no_program(source: str) -> None:
    assert parse_or_none(source) is None


def test_v2_looks_for_the_solution_in_the_prose_behind_a_block_too() -> None:
    """Found by comparing with the official code on random texts: the whole piece is searched, not the block alone."""
    text = "```python\na = 1\n``` and def solution follows ```python"
    assert extract(text, "humaneval-v-v2") == "\na = 1\n"
    text = "```python\nfirst = 1\n``` x\n```python\nsecond = 2\n``` as def solution says\n```python\n"
    assert extract(text, "humaneval-v-v2") == "\nsecond = 2\n"


def test_a_coroutine_is_found_among_other_blocks() -> None:
    code = "async def solution(a):\n    return 1\n"
    text = "\n".join([block("pip install x\n", "```bash"), block(code), block("solution(1)\n")])
    assert extract_plain(text, ("solution",)).strip() == code.strip()
