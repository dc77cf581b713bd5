"""From a code block to the program: the official assembly, what it loses, and what is kept of that."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

import ast
from typing import Any

import pytest

from grader.scorers.execution.assembly import Signature, assemble, head, official_completion, read_signature
from grader.scorers.execution.extraction import Rules, parse

SIGNATURE = 'def solution(a: list) -> int:\n    """\n    Return the sum.\n    """\n'
STUB = 'def solution(a: list) -> int:\n    """\n    Return the sum.\n    """\n    pass'


def fenced(code: str) -> str:
    return f"```python\n{code}\n```"


@pytest.mark.parametrize(
    ("content", "completion"),
    [
        pytest.param("def solution(a):\n    return a", "def solution(a):\n    return a", id="a function"),
        pytest.param("N = 3\nprint(N)\ndef f():\n    return N", "def f():\n    return N", id="top-level code is dropped"),
        pytest.param("import os, sys as s\nfrom m import a as b, c", "import os\nimport sys as s\nfrom m import a as b\nfrom m import c", id="one line a name"),
        pytest.param("from . import x\nfrom ..y import z", "from  import x\nfrom y import z", id="relative imports lose their dots"),
        pytest.param("def f():\n    import os\n    return os", "def f():\n    import os\n    return os\nimport os", id="an import inside comes after its function"),
        pytest.param("if True:\n    def f():\n        pass\ntry:\n    class A:\n        pass\nexcept E:\n    pass", "def f():\n    pass\nclass A:\n    pass", id="defs under if and try"),
        pytest.param("def f():\n    def g():\n        pass\n    return g", "def f():\n\n    def g():\n        pass\n    return g", id="an inner function is not repeated"),
        pytest.param("async def f():\n    pass", "", id="an async function is lost"),
        pytest.param("@cache\ndef f(a, /, *, b=1, **c) -> int:\n    # why\n    return 1", "@cache\ndef f(a, /, *, b=1, **c) -> int:\n    return 1", id="comments are lost, decorators kept"),
        pytest.param("def f(:\n    pass", "def f(:\n    pass", id="what does not parse stays"),
    ],
)  # fmt: skip
def test_the_official_completion(content: str, completion: str) -> None:
    assert official_completion(content, parse(content)) == completion


def test_a_tree_too_deep_to_visit_stays_as_it_is() -> None:
    content = "x = " + "+".join(["1"] * 3000)
    assert official_completion(content, parse(content)) in {content, ""}


def test_the_program_is_signature_pass_completion_and_tests() -> None:
    made = assemble(
        fenced("import math\nX = 1\ndef solution(a):\n    return math.fsum(a)"), SIGNATURE.rstrip(), "humaneval-v-v2"
    )
    completion = "import math\ndef solution(a):\n    return math.fsum(a)"
    assert made.completion == completion
    assert head(SIGNATURE.rstrip(), completion) == f"{STUB}\n\n{completion}\n\n"


@pytest.mark.parametrize("block", ["    return sum(a)", "\n    return sum(a)\n"])
def test_a_body_alone_gets_the_signature(block: str) -> None:
    made = assemble(f"```{block}```", SIGNATURE, "humaneval-v-v1")
    assert made.completion == 'def solution(a: list) -> int:\n    """\n    Return the sum.\n    """\n    return sum(a)'
    assert ast.parse(head(SIGNATURE, made.completion))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(" \n    return sum(a)\n", id="a blank in the first line"),
        pytest.param(" return sum(a)", id="indented by one blank"),
        pytest.param("return sum(a)", id="not indented"),
        pytest.param("x = a\n    return sum(x)", id="only the first line not indented"),
        pytest.param("\n\n    return sum(a)\n", id="empty lines"),
        pytest.param("\treturn sum(a)\n", id="a tab"),
    ],
)
@pytest.mark.parametrize("rules", ["plain", "humaneval-v-v1"])
def test_a_body_has_the_signature_before_it_for_a_careful_reader(body: str, rules: Rules) -> None:
    made = assemble(body, SIGNATURE, rules)
    namespace: dict[str, Any] = {}
    exec(made.completion if made.recovered is None else made.recovered, namespace)
    assert namespace["solution"]([1, 2]) == 3


@pytest.mark.parametrize("text", ["Sure", "x = 3", "solution = 3", "def other(a):\n    return a", "pass", "I cannot."])
def test_what_is_no_body_gets_no_signature(text: str) -> None:
    assert SIGNATURE not in (assemble(text, SIGNATURE, "plain").recovered or "")


@pytest.mark.parametrize("end", ["", "\n", "\n        ", "\n        # your code\n"])
def test_starter_code_that_ends_with_the_first_line_of_a_method_gets_its_body(end: str) -> None:
    signature = read_signature(f"class Solution:\n    def twice(self, x: int) -> int:{end}")
    compile(signature.source, "<signature>", "exec")
    assert signature.tested_classes == ("Solution",)


@pytest.mark.parametrize("signature", ["", "\n", "import math\nfrom typing import List\n", "N = 3"])
def test_a_signature_without_a_function_has_no_body(signature: str) -> None:
    made = assemble("```python\ndef twice(a):\n    return 2 * a\n```", signature, "plain")
    namespace: dict[str, Any] = {}
    exec(head(signature, made.completion), namespace)
    assert namespace["twice"](2) == 4


# --- what a signature declares ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "stubs", "classes"),
    [
        pytest.param(SIGNATURE, ("solution",), (), id="with a docstring"),
        pytest.param("class Node:\n    def __init__(self, v):\n        self.v = v\n\ndef solution(r: Node):\n", ("solution",), ("Node",), id="with a class"),
        pytest.param("def first(x):\n    pass\n\ndef second(x):\n    '''Doc.'''\n\ndef solution(a):\n", ("first", "second", "solution"), (), id="with other stubs"),
        pytest.param("def solution(a:", (), (), id="that does not parse"),
    ],
)  # fmt: skip
def test_what_a_signature_declares(text: str, stubs: tuple[str, ...], classes: tuple[str, ...]) -> None:
    source = text if text.endswith("\n") else text + "\n"
    assert read_signature(text) == Signature(source=f"{source}    pass\n", stubs=stubs, classes=classes)


@pytest.mark.parametrize(
    ("text", "tested", "classes"),
    [
        pytest.param("class A:\n", ("A",), (), id="nothing but a name"),
        pytest.param("class A:\n    def f(self):\n        return 1\n    def g(self):\n        pass\n", ("A",), (), id="half of it"),
        pytest.param("class N:\n    def __init__(self, v):\n        self.v = v\nclass A:\n    def f(self):\n        pass\n", ("A",), ("N",), id="after one that is given"),
        pytest.param("class A:\n    'Doc.'\ndef solution(a):\n", (), ("A",), id="without methods, before a function"),
        pytest.param("class A(Exception):\n", (), ("A",), id="an exception"),
        pytest.param("class A(Generic[T]):\n    def f(self):\n        pass\n", ("A",), (), id="generic"),
    ],
)  # fmt: skip
def test_which_classes_the_candidate_must_write(text: str, tested: tuple[str, ...], classes: tuple[str, ...]) -> None:
    declared = read_signature(text)
    assert (declared.tested_classes, declared.classes) == (tested, classes)


# --- what the official assembly loses ---------------------------------------------------------------------------

USES_N = "def solution(a):\n    return N * a"


@pytest.mark.parametrize(
    ("code", "recovered", "difference"),
    [
        pytest.param(f"N = 3\n{USES_N}", f"N = 3\n{USES_N}", "keeps top-level N", id="a constant"),
        pytest.param(f"N, B = (1, 2)\nfor i in range(3):\n    N += i\n{USES_N}", f"N, B = (1, 2)\nfor i in range(3):\n    N += i\n{USES_N}", "keeps top-level N, B, i", id="a table that is computed"),
        pytest.param(f"import math\nN = math.pi\n{USES_N}\nprint(solution(2))\nassert solution(1)", f"import math\nN = math.pi\n{USES_N}", "keeps top-level N", id="demonstrations are not kept"),
        pytest.param(f"N = 3\n{USES_N}\nif __name__ == '__main__':\n    N = 4", f"N = 3\n{USES_N}", "keeps top-level N", id="a main guard is not kept"),
        pytest.param("async def helper():\n    pass\ndef solution(a):\n    return a", "async def helper():\n    pass\ndef solution(a):\n    return a", "keeps top-level statements", id="an async function"),
        pytest.param("def solution(a):\n    return a", None, "", id="nothing is lost"),
    ],
)  # fmt: skip
def test_what_the_assembly_drops_is_kept_aside_and_named(code: str, recovered: str | None, difference: str) -> None:
    made = assemble(fenced(code), SIGNATURE, "humaneval-v-v2")
    assert (made.recovered, made.difference) == (recovered, difference)


@pytest.mark.parametrize(
    "prediction",
    [
        "def solution(a):\n    return a",
        "~~~python\ndef solution(a):\n    return a\n~~~",
        "```\nprose\n```\nand then\n```\ndef solution(a):\n    return a\n```",
        "```\ndef solution(a):\n    return a",
    ],
    ids=["bare", "tildes", "second block", "never closed"],
)
def test_a_solution_that_the_official_extraction_does_not_find_is_found(prediction: str) -> None:
    made = assemble(prediction, SIGNATURE, "humaneval-v-v2")
    assert made.recovered == "def solution(a):\n    return a"
    assert made.difference == "keeps the code of the answer, which the official extraction does not find"


@pytest.mark.parametrize(
    "held",
    [
        "if True:\n    def solution(a):\n        return 1",
        "try:\n    import nothing\nexcept ImportError:\n    def solution(a):\n        return 1",
    ],
    ids=["if", "except"],
)
def test_a_later_program_replaces_the_one_that_the_official_assembly_keeps(held: str) -> None:
    text = f"```python\n{held}\n```\nor\n```\ndef solution(a):\n    return 2\n```"
    made = assemble(text, SIGNATURE, "humaneval-v-v2")
    assert "return 1" in made.completion
    assert "return 2" in (made.recovered or "")


def test_a_chain_of_conditions_of_any_length_is_assembled() -> None:
    """One hostile text must not cost the run of all the others."""
    chain = "".join(f"elif N == {n}:\n    N = {n}\n" for n in range(700))
    made = assemble(fenced(f"N = 1\nif N == 0:\n    N = 2\n{chain}{USES_N}"), SIGNATURE, "humaneval-v-v2")
    namespace: dict[str, Any] = {}
    exec(made.completion if made.recovered is None else made.recovered, namespace)
    assert namespace["solution"](2) == 2


@pytest.mark.parametrize("rules", ["humaneval-v-v1", "humaneval-v-v2", "plain"])
@pytest.mark.parametrize("prediction", ["", "```", "\x00", "```python\n(((", "\ud800", "# " * 10_000, "``` python"])
def test_no_text_breaks_the_assembly(prediction: str, rules: str) -> None:
    made = assemble(prediction, SIGNATURE, rules)  # type: ignore[arg-type]
    assert head(SIGNATURE, made.completion).startswith(STUB)


SCRIPT = "print(int(input()) + 1)"


@pytest.mark.parametrize("rules", ["plain", "livecodebench"])
@pytest.mark.parametrize(
    "prediction",
    [
        f"```python\n{SCRIPT}\n```",
        f"Answer: ```python\n{SCRIPT}\n``` It adds 1.",
        f"First ```python\nx = 1\n``` and then ```python\n{SCRIPT}\n```",
        f"1. Read and add:\n   ```python\n   {SCRIPT}\n   ```\n",
        f"<think>so ```python\nx\n```?</think>\n```python\n{SCRIPT}",
        SCRIPT,
    ],
    ids=["usual", "inside a line", "the second", "in a list", "never closed", "bare"],
)
def test_a_script_is_found_wherever_a_reader_finds_it(prediction: str, rules: str) -> None:
    made = assemble(prediction, "", rules)  # type: ignore[arg-type]
    assert (made.recovered or made.completion).strip() == SCRIPT


def test_a_reply_has_the_typing_names_that_starter_code_uses_without_an_import() -> None:
    """LeetCode's starter code does: whoever copies it would fail."""
    starter = "class Solution:\n    def two(self, nums: List[int]) -> Optional[int]:\n        "
    reply = fenced("class Solution:\n    def two(self, nums: List[int]) -> Optional[int]:\n        return nums[0]")
    made = assemble(reply, starter, "plain", ("two",), prelude="")
    assert (made.recovered or "").startswith("from typing import List, Optional\n")
    assert made.completion.startswith("class Solution:")
