"""From a code block to the program: the official assembly, what it loses, and what is kept of that."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

import ast
from typing import Any

from grader.scorers.execution.assembly import Signature, assemble, head, official_completion, read_signature
from grader.scorers.execution.extraction import parse_or_none
from tests.tables import each

SIGNATURE = 'def solution(a: list) -> int:\n    """\n    Return the sum.\n    """\n'
STUB = 'def solution(a: list) -> int:\n    """\n    Return the sum.\n    """\n    pass'


def fenced(code: str) -> str:
    return f"```python\n{code}\n```"


@each(
    ("content", "completion"),
    {
        "a function": ("def solution(a):\n    return a", "def solution(a):\n    return a"),
        "top-level code is dropped": ("N = 3\nprint(N)\ndef f():\n    return N", "def f():\n    return N"),
        "one line a name": ("import os, sys as s\nfrom m import a as b, c", "import os\nimport sys as s\nfrom m import a as b\nfrom m import c"),
        "relative imports lose their dots": ("from . import x\nfrom ..y import z", "from  import x\nfrom y import z"),
        "an import inside comes after its function": ("def f():\n    import os\n    return os", "def f():\n    import os\n    return os\nimport os"),
        "defs under if and try": ("if True:\n    def f():\n        pass\ntry:\n    class A:\n        pass\nexcept E:\n    pass", "def f():\n    pass\nclass A:\n    pass"),
        "an inner function is not repeated": ("def f():\n    def g():\n        pass\n    return g", "def f():\n\n    def g():\n        pass\n    return g"),
        "an async function is lost": ("async def f():\n    pass", ""),
        "comments are lost, decorators kept": ("@cache\ndef f(a, /, *, b=1, **c) -> int:\n    # why\n    return 1", "@cache\ndef f(a, /, *, b=1, **c) -> int:\n    return 1"),
        "what does not parse stays": ("def f(:\n    pass", "def f(:\n    pass"),
    },
)  # fmt: skip
def test_the_official_completion(content: str, completion: str) -> None:
    assert official_completion(content, parse_or_none(content)) == completion


def test_a_tree_too_deep_to_visit_stays_as_it_is() -> None:
    content = "x = " + "+".join(["1"] * 3000)
    assert official_completion(content, parse_or_none(content)) in {content, ""}


def test_the_program_is_signature_pass_completion_and_tests() -> None:
    made = assemble(
        fenced("import math\nX = 1\ndef solution(a):\n    return math.fsum(a)"), SIGNATURE.rstrip(), "humaneval-v-v2"
    )
    completion = "import math\ndef solution(a):\n    return math.fsum(a)"
    assert made.completion == completion
    assert head(SIGNATURE.rstrip(), completion) == f"{STUB}\n\n{completion}\n\n"


@each("block", ["    return sum(a)", "\n    return sum(a)\n"])
def test_a_body_alone_gets_the_signature(block: str) -> None:
    made = assemble(f"```{block}```", SIGNATURE, "humaneval-v-v1")
    assert made.completion == 'def solution(a: list) -> int:\n    """\n    Return the sum.\n    """\n    return sum(a)'
    assert ast.parse(head(SIGNATURE, made.completion))


@each("text", ["Sure", "x = 3", "solution = 3", "def other(a):\n    return a", "pass", "I cannot."])
def test_what_is_no_body_gets_no_signature(text: str) -> None:
    assert SIGNATURE not in (assemble(text, SIGNATURE, "plain").recovered_completion or "")


@each("end", ["", "\n", "\n        ", "\n        # your code\n"])
def test_starter_code_that_ends_with_the_first_line_of_a_method_gets_its_body(end: str) -> None:
    signature = read_signature(f"class Solution:\n    def twice(self, x: int) -> int:{end}")
    compile(signature.source, "<signature>", "exec")
    assert signature.required_classes == ("Solution",)


@each("signature", ["", "\n", "import math\nfrom typing import List\n", "N = 3"])
def test_a_signature_without_a_function_has_no_body(signature: str) -> None:
    made = assemble("```python\ndef twice(a):\n    return 2 * a\n```", signature, "plain")
    namespace: dict[str, Any] = {}
    exec(head(signature, made.completion), namespace)
    assert namespace["twice"](2) == 4


# --- what a signature declares ----------------------------------------------------------------------------------


@each(
    ("text", "stubs", "classes"),
    {
        "with a docstring": (SIGNATURE, ("solution",), ()),
        "with a class": ("class Node:\n    def __init__(self, v):\n        self.v = v\n\ndef solution(r: Node):\n", ("solution",), ("Node",)),
        "with other stubs": ("def first(x):\n    pass\n\ndef second(x):\n    '''Doc.'''\n\ndef solution(a):\n", ("first", "second", "solution"), ()),
        "that does not parse": ("def solution(a:", (), ()),
    },
)  # fmt: skip
def test_what_a_signature_declares(text: str, stubs: tuple[str, ...], classes: tuple[str, ...]) -> None:
    source = text if text.endswith("\n") else text + "\n"
    assert read_signature(text) == Signature(
        source=f"{source}    pass\n", required_functions=stubs, shared_classes=classes
    )


@each(
    ("text", "tested", "classes"),
    {
        "nothing but a name": ("class A:\n", ("A",), ()),
        "half of it": ("class A:\n    def f(self):\n        return 1\n    def g(self):\n        pass\n", ("A",), ()),
        "after one that is given": ("class N:\n    def __init__(self, v):\n        self.v = v\nclass A:\n    def f(self):\n        pass\n", ("A",), ("N",)),
        "without methods, before a function": ("class A:\n    'Doc.'\ndef solution(a):\n", (), ("A",)),
        "an exception": ("class A(Exception):\n", (), ("A",)),
        "generic": ("class A(Generic[T]):\n    def f(self):\n        pass\n", ("A",), ()),
    },
)  # fmt: skip
def test_which_classes_the_candidate_must_write(text: str, tested: tuple[str, ...], classes: tuple[str, ...]) -> None:
    declared = read_signature(text)
    assert (declared.required_classes, declared.shared_classes) == (tested, classes)


# --- what the official assembly loses ---------------------------------------------------------------------------

USES_N = "def solution(a):\n    return N * a"


@each(
    ("code", "recovered", "difference"),
    {
        "a constant": (f"N = 3\n{USES_N}", f"N = 3\n{USES_N}", "keeps top-level N"),
        "a table that is computed": (f"N, B = (1, 2)\nfor i in range(3):\n    N += i\n{USES_N}", f"N, B = (1, 2)\nfor i in range(3):\n    N += i\n{USES_N}", "keeps top-level N, B, i"),
        "demonstrations are not kept": (f"import math\nN = math.pi\n{USES_N}\nprint(solution(2))\nassert solution(1)", f"import math\nN = math.pi\n{USES_N}", "keeps top-level N"),
        "a main guard is not kept": (f"N = 3\n{USES_N}\nif __name__ == '__main__':\n    N = 4", f"N = 3\n{USES_N}", "keeps top-level N"),
        "an async function": ("async def helper():\n    pass\ndef solution(a):\n    return a", "async def helper():\n    pass\ndef solution(a):\n    return a", "keeps top-level statements"),
        "nothing is lost": ("def solution(a):\n    return a", None, ""),
    },
)  # fmt: skip
def test_what_the_assembly_drops_is_kept_aside_and_named(code: str, recovered: str | None, difference: str) -> None:
    made = assemble(fenced(code), SIGNATURE, "humaneval-v-v2")
    assert (made.recovered_completion, made.difference) == (recovered, difference)


@each(
    "prediction",
    [
        "def solution(a):\n    return a",
        "~~~python\ndef solution(a):\n    return a\n~~~",
        "```\nprose\n```\nand then\n```\ndef solution(a):\n    return a\n```",
        "```\ndef solution(a):\n    return a",
    ],
)
def test_a_solution_that_the_official_extraction_does_not_find_is_found(prediction: str) -> None:
    made = assemble(prediction, SIGNATURE, "humaneval-v-v2")
    assert made.recovered_completion == "def solution(a):\n    return a"
    assert made.difference == "keeps the code of the answer, which the official extraction does not find"


@each(
    "held",
    [
        "if True:\n    def solution(a):\n        return 1",
        "try:\n    import nothing\nexcept ImportError:\n    def solution(a):\n        return 1",
    ],
)
def test_a_later_program_replaces_the_one_that_the_official_assembly_keeps(held: str) -> None:
    text = f"```python\n{held}\n```\nor\n```\ndef solution(a):\n    return 2\n```"
    made = assemble(text, SIGNATURE, "humaneval-v-v2")
    assert "return 1" in made.completion
    assert "return 2" in (made.recovered_completion or "")


def test_a_chain_of_conditions_of_any_length_is_assembled() -> None:
    """One hostile text must not cost the run of all the others."""
    chain = "".join(f"elif N == {n}:\n    N = {n}\n" for n in range(700))
    made = assemble(fenced(f"N = 1\nif N == 0:\n    N = 2\n{chain}{USES_N}"), SIGNATURE, "humaneval-v-v2")
    namespace: dict[str, Any] = {}
    exec(made.completion if made.recovered_completion is None else made.recovered_completion, namespace)
    assert namespace["solution"](2) == 2


@each("rules", ["humaneval-v-v1", "humaneval-v-v2", "plain"])
@each("prediction", ["", "```", "\x00", "```python\n(((", "\ud800", "# " * 10_000, "``` python"])
def test_no_text_breaks_the_assembly(prediction: str, rules: str) -> None:
    made = assemble(prediction, SIGNATURE, rules)  # type: ignore[arg-type]
    assert head(SIGNATURE, made.completion).startswith(STUB)


def test_a_reply_has_the_typing_names_that_starter_code_uses_without_an_import() -> None:
    """LeetCode's starter code does: whoever copies it would fail."""
    starter = "class Solution:\n    def two(self, nums: List[int]) -> Optional[int]:\n        "
    reply = fenced("class Solution:\n    def two(self, nums: List[int]) -> Optional[int]:\n        return nums[0]")
    made = assemble(reply, starter, "plain", ("two",), prelude="")
    assert (made.recovered_completion or "").startswith("from typing import List, Optional\n")
    assert made.completion.startswith("class Solution:")
