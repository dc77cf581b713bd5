"""The program that a person would find in a reply, whatever frames it and however it is cut into blocks."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

import contextlib
import html
import io
import json
import sys
import textwrap
from typing import Any
from unittest import mock

from grader.scorers.execution.assembly import assemble
from grader.scorers.execution.careful_program import WantedProgram, find_program
from tests.tables import each

SIGNATURE = 'def total(xs):\n    """Return the sum."""\n'
WHOLE = "def total(xs):\n    t = 0\n    for x in xs:\n        t += x\n    return t\n"
BODY = "    t = 0\n    for x in xs:\n        t += x\n    return t\n"
STRIPPED = BODY.lstrip()
PREPARES = "TABLE = []\ndef build():\n    TABLE.append(0)\nbuild()\ndef total(xs):\n    return sum(xs) + TABLE[0]\n"
STUB = "def total(xs):\n    pass\n"
IMPORT, HELPER = "import functools\n", "def add(a, b):\n    return a + b\n"
USES = "def total(xs):\n    return functools.reduce(add, xs, 0)\n"
USAGE = "print(total([1, 2, 3]))\n"
OTHER = "def total(xs):\n    return 1\n"
ESCAPED = WHOLE.replace("\n", "\\n")


def block(code: str, language: str = "python") -> str:
    return f"```{language}\n{code}```\n"


def marked(code: str, mark: str) -> str:
    """Return the lines of a program behind a mark."""
    return "".join(f"{mark}{line}\n" for line in code.splitlines())


ODD = "import math\n\nN = 1\n\ndef total(xs):\n    y = [\n1,\n2]\n    return math.fsum(xs) * N\n"
COMPARES = "def total(xs):\n    return sum(x for x in xs if x < 9 and x > 0)\n"
CALL = json.dumps({"name": "python", "arguments": {"code": WHOLE}})


REPLIES = {
    "a body, then a closing fence": f"{BODY}```\n",
    "a body, then a fence and prose": f"{BODY}```\n\nThis function adds the numbers.",
    "a body, then prose": f"{BODY}\nThis function adds the numbers.\n",
    "a body without its first indentation, then a fence": f"{STRIPPED}```",
    "a body without indentation, then prose": "return sum(xs)\n\nThis returns the sum.",
    "a body, then a test in a block": f"{BODY}```\n\nTest:\n{block(USAGE)}",
    "a body, then the next function cut off": f"{BODY}\n\ndef other(a):\n    for i in range(",
    "a body, then a class cut off": f"{BODY}\n\nclass Other:\n    def __init__(self",
    "a body, then a docstring cut off": f'{BODY}\n\ndef other(a):\n    """This one is',
    "a body, then a heading and a question": f"{BODY}\n### Instruction:\nWrite a function that sorts.\n\n### Response:\ndef sort(a):\n    return sorted(a)\n",
    "a body in a block": f"The body is\n{block(BODY)}",
    "a body with its helper behind it": f"    return add_all(xs)\n\n\ndef add_all(xs):\n    return sum(xs)\n\n\n{USAGE}",
    "the prompt again and a body that lost its indentation": f"{SIGNATURE}{STRIPPED}",
    "the same in a block": block(f"{SIGNATURE}{STRIPPED}"),
    "the same in a block within a block": f"```\n{block(SIGNATURE + STRIPPED)}```",
    "the same behind a mark of the chat": f"<|im_start|>assistant\n{SIGNATURE}{STRIPPED}<|im_end|>",
    "a mark of the chat at the last line": f"{WHOLE.rstrip()}<|im_end|>\n",
    "a mark of the chat, and more of the chat": f"{WHOLE}<|eot_id|>\n<|start_header_id|>user<|end_header_id|>\nThanks!",
    "an end of the text behind a body": f"{BODY}</s>",
    "another mark": f"{BODY}<｜end▁of▁sentence｜>",  # noqa: RUF001
    "a byte order mark": f"\ufeff{WHOLE}",
    "a byte order mark in a block": block(f"\ufeff{WHOLE}"),
    "tags": f"[PYTHON]\n{WHOLE}[/PYTHON]",
    "tags in a line": f"Sure! <code>{WHOLE}</code>",
    "a fence in a fence": f"```python\n{block(WHOLE)}```\n",
    "a fence in a bare fence, and prose": f"```\n{block(WHOLE)}```\nIt adds.",
    "a fence that nobody opened": f"{WHOLE}```\nIt adds.",
    "a fence that nobody closed": f"It adds.\n```python\n{WHOLE}",
    "a fence at the end of the last line": f"```python\n{WHOLE.rstrip()}```",
    "a fence of tildes": f"~~~python\n{WHOLE}~~~\n",
    "tildes in a docstring, and prose": "It adds:\ndef total(xs):\n    '''Sum.\n~~~\n1\n~~~\n    '''\n    return sum(xs)\nThat is all.",
    "thoughts with a draft": f"<think>\n{block(STUB)}</think>\n{block(WHOLE)}",
    "thoughts that end in the line of the code": f"<think>hm</think>{WHOLE}",
    "thoughts without a beginning": f"hm, total = x\n</think>\n\n{BODY}",
    "imports in a block of their own": f"{block(IMPORT + HELPER)}then\n{block(USES)}",
    "a helper after the function": f"{block(IMPORT + USES)}where\n{block(HELPER)}",
    "three blocks": f"{block(IMPORT)}and\n{block(HELPER)}and\n{block(USES)}{block(USAGE)}",
    "a stub as the last block": f"{block(WHOLE)}This fills the stub:\n{block(STUB)}",
    "a stub that raises": f"{block('def total(xs):' + chr(10) + '    raise NotImplementedError' + chr(10))}becomes\n{block(WHOLE)}",
    "a usage example as the last block": f"{block(WHOLE)}Use it:\n{block('from solution import total' + chr(10) + USAGE)}",
    "a corrected program": f"{block('def total(xs):' + chr(10) + '    return 0' + chr(10))}No, rather:\n{block(WHOLE)}",
    "an example of its output": f"{block(WHOLE)}Output:\n{block('6' + chr(10), 'text')}",
    "another language as the last block": f"{block(WHOLE)}Run it:\n{block('python main.py' + chr(10), 'bash')}",
    "a future import": block(f"from __future__ import annotations\n{WHOLE}"),
    "a future import behind a docstring": block(f'"""Adds."""\nfrom __future__ import annotations\n{WHOLE}'),
    "a future import and a helper in another block": f"{block(HELPER)}\n{block('from __future__ import annotations' + chr(10) + IMPORT + USES)}",
    "one line with escaped line ends": ESCAPED,
    "the same in a block that is not closed": f"```python\n{ESCAPED}",
    "the same with escaped quotation marks": f'{SIGNATURE}{BODY}'.replace("\n", "\\n").replace('"', '\\"'),
    "the same with a line end in a text": 'def total(xs):\\n    "a\\\\nb"\\n    return sum(xs)',
    "a docstring with a fence": f'```python\ndef total(xs):\n    """Add.\n\n    ```\n    total([1])\n    ```\n    """\n{BODY}```\n',
    "the same without a fence around it": f'Here:\n\ndef total(xs):\n    """Add.\n\n    ```\n    total([1])\n    ```\n    """\n{BODY}\nIt adds.',
    "a page": f'<pre><code class="language-python">\n{WHOLE}</code></pre>',
    "a call of a tool with parameters": f"<function=submit>\n<parameter=code>\n{WHOLE}</parameter>\n</function>",
    "harmony": f"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>{block(WHOLE)}<|return|>",
    "blanks that do not break": block(WHOLE.replace(" ", "\xa0")),
    "an object of JSON": json.dumps({"reason": "It\nadds.", "code": WHOLE}),
    "an object of JSON in a block": block(json.dumps({"code": WHOLE}, indent=1) + "\n", "json"),
    "a call of a tool": f"I run it.\n<tool_call>\n{CALL}\n</tool_call>",
    "a call of a tool whose arguments are JSON again": json.dumps({"arguments": CALL}),
    "signs that a page writes as names": block(html.escape(COMPARES)),
    "a page with them": f'<pre><code class="language-python">{html.escape(COMPARES)}</code></pre><p>It adds.</p>',
    "characters that nobody sees": f"\u200b{WHOLE}".replace("t = 0", "t\u2060 = 0"),
    "another character for line ends": WHOLE.replace("\n", "\u2028"),
    "a label before it": f"Answer: {WHOLE}",
    "a bold label before it": f"**Code:** {WHOLE}",
    "JSON with real line ends": f'{{"code": "{WHOLE}"}}',
    "a lambda": block("total = lambda xs: sum(xs)\n"),
    "an assertion of its own that fails": block(f"{WHOLE}assert total([1]) == 2\n"),
    "demonstrations that read": block(f"{WHOLE}xs = input().split()\nfor x in xs:\n    y = int(x)\nz = total(xs)\nw = z + 1\n"),
    "a function with tests that fail": block(f"{WHOLE}def check():\n    assert total([]) == 1\ndef run():\n    check()\nrun()\n"),
    "an end of the process": block(f"import os, sys\n{WHOLE}if len(sys.argv):\n    os._exit(0)\nsys.exit(total([]))\n"),
    "a constant that the function computed": block("def total(xs):\n    return sum(xs) + ZERO if xs else 0\nZERO = total([])\n"),
    "an attribute of the function": block("def total(xs):\n    return sum(xs) + total.start\ntotal.start = 0\n"),
    "a set-up call": block(f"import sys\nsys.setrecursionlimit(5000)\nTABLE = []\nTABLE.append(0)\ndef total(xs):\n    return sum(xs) + TABLE[0]\n{USAGE}"),
    "a version with a comment for the rest": f"{block(WHOLE)}It begins with\n{block('def total(xs):' + chr(10) + '    t = 0' + chr(10) + '    # ... add' + chr(10))}",
    "the same with an ellipsis": f"{block(WHOLE)}It begins with\n{block('def total(xs):' + chr(10) + '    t = 0' + chr(10) + '    ...' + chr(10))}",
    "another question": f"{block(WHOLE)}\n### Question:\nThe product?\n\n{block(OTHER)}",
    "another turn": f"{block(WHOLE)}user\nThe product?\nassistant\n{block(OTHER)}",
    "thoughts with a draft, and the question again": f"<think>\n{block(OTHER)}</think>\n### Problem\nThe sum?\n\n{WHOLE}",
    "another numbered problem": f"{WHOLE}\nProblem 2. The product?\n\n{OTHER}",
    "a library for its own tests": block(f"import nowhere\n{WHOLE}@nowhere.mark\ndef test():\n    assert total([]) == 0\n"),
    "a test without its import": block(f"{WHOLE}class Test(nowhere.TestCase):\n    pass\n"),
    "a plot": block(f"import nowhere as plt\n{WHOLE}def plot(xs: pd.DataFrame):\n    plt.plot(xs)\nplt.plot(total([1]))\n"),
    "a helper with a local name of a demonstration": block("def total(xs):\n    result = sum(xs)\n    return result\nresult = total(1)\n"),
    "tags of few-shot prompts": f"[BEGIN]\n{WHOLE}[DONE]\n",
    "a line in backticks": "It is `def total(xs): return sum(xs)`, of course.",
    "a box around a fence": f"\\boxed{{\n{block(WHOLE)}}}",
    "a list that indents a fence": f"1. Add:\n\n{textwrap.indent(block(WHOLE), '   ')}",
    "a block of another language's name": block(WHOLE, "json"),
    "a body with a blank in its first line": " \n    return sum(xs)\n",
    "a body indented by one blank": " return sum(xs)",
    "a body without indentation": "return sum(xs)",
    "a body without its first indentation": "x = xs\n    return sum(x)",
    "a body after empty lines": "\n\n    return sum(xs)\n",
    "a body after a tab": "\treturn sum(xs)\n",
    "thoughts before a program without a fence": f"<think>\nIt's the sum: x = 3\n</think>\n\n{ODD}\n",
    "a block that ends with a tag": f"<think>hm\n```python\n{ODD}```</think>\n",
    "a draft in the thoughts": f"<think>```python\n{STUB}```\nno</think>\n{ODD}",
    "after a word": f"Sure!\n{ODD}\n",
    "between sentences": f"Here's the code:\n\n{ODD}\nIt's O(n).\n",
    "line ends of Windows": f"Sure!\n{ODD}\n".replace("\n", "\r\n"),
}  # fmt: skip


@each("reply", REPLIES)
@each("rules", ["plain", "humaneval-v-v1", "humaneval-v-v2"])
def test_the_function_is_found(reply: str, rules: str) -> None:
    made = assemble(reply, SIGNATURE, rules)  # type: ignore[arg-type]
    namespace: dict[str, Any] = {}
    exec(made.completion if made.recovered_completion is None else made.recovered_completion, namespace)
    assert namespace["total"]([1, 2, 3]) == 6
    assert not made.is_missing


LINES = "n = int(input())\nprint(n * (n + 1) // 2)\n"
MAIN = "def main():\n    n = int(input())\n    print(n * (n + 1) // 2)\n"
SOLVES = "def solve(n):\n    return n * (n + 1) // 2\n\nn = int(input())\nprint(solve(n))\n"
FENCE_INSIDE = f'"""Reads a number:\n```\n4\n```\n"""\n{LINES}'
SCRIPTS = {
    "an object of JSON": json.dumps({"code": LINES}),
    "signs that a page writes as names": block(html.escape(LINES + "if n < 1:\n    print(0)\n")),
    "no opening fence": f"{LINES}```\nThis prints the sum.",
    "no opening fence, a function": f"{MAIN}\nmain()\n```\n",
    "after prose": f"We sum the numbers.\n\n{LINES}",
    "before prose": f"{LINES}\nThis prints the sum of the first n numbers.",
    "between prose": f"Sure\n{LINES}\nThis prints the sum.",
    "a mark of the chat": f"{LINES.rstrip()}<|im_end|>",
    "a fence in a docstring": FENCE_INSIDE,
    "a fence in a docstring in a block": block(FENCE_INSIDE),
    "a fence in a docstring between prose": f"Here it is:\n\n{FENCE_INSIDE}\nThat is all.",
    "an example input as the last block": f"{block(LINES)}Input:\n{block('4' + chr(10), '')}",
    "a usage example as the last block": f"{block(LINES)}The formula:\n{block('print(4 * 5 // 2)' + chr(10))}",
    "a function in one block and its call in another": f"{block(MAIN)}Call it:\n{block('main()' + chr(10))}",
    "a block within a block": f"```python\n{block(LINES)}```",
    "tags": f"[PYTHON]\n{LINES}[/PYTHON]",
    "one line with escaped line ends": LINES.replace("\n", "\\n"),
    "a corrected program": f"{block('n = int(input())' + chr(10) + 'print(n)' + chr(10))}Better:\n{block(LINES)}",
    "names of signs that the program writes": block(f"x = '&lt;'\nassert len(x) == 4\n{LINES}"),
    "a file to write as the last block": f"{block(LINES)}An example:\n{block('with open(name, mode) as file:' + chr(10) + '    file.write(str(4))' + chr(10))}",
    "a call of its function": f"{block(SOLVES)}Try it:\n{block('print(solve(4))' + chr(10))}",
    "assertions about its function": f"{block(SOLVES)}Tests:\n{block('assert solve(4) == 10' + chr(10) + 'print(0)' + chr(10))}",
    "a test with an input of its own": f"{block(SOLVES)}Test:\n{block('import io, sys' + chr(10) + 'sys.stdin = io.StringIO(str(1))' + chr(10) + 'print(solve(int(input())))' + chr(10))}",
    "its first line": f"{block(LINES)}It reads by\n{block('n = int(input())' + chr(10))}",
    "another language that happens to be Python": f"{block(LINES)}Pseudocode:\n{block('n = input()' + chr(10) + 'print(n)' + chr(10), 'pseudocode')}",
    "a thread in a block of its own": f"{block(MAIN)}Run it:\n{block('import threading' + chr(10) + 'one = threading.Thread(target=main)' + chr(10) + 'one.start()' + chr(10) + 'one.join()' + chr(10))}",
    "another question": f"{block(LINES)}\n### Question:\nThe same number?\n\n{block('print(input())' + chr(10))}",
    "words that happen to be Python": f"{LINES}\nComplexity: O(n)\nOutput: 10\n",
    "a typed constant": block(f"STEP: int = 1\n{LINES}"),
    "a block inside a line": f"Answer: ```python\n{LINES}``` It adds.",
    "the second block inside a line": f"First ```python\nx = 1\n``` and then ```python\n{LINES}```",
    "a block in a list": f"1. Read and add:\n   ```python\n{marked(LINES, '   ')}   ```\n",
    "a block that is never closed behind thoughts with one": f"<think>so ```python\nx\n```?</think>\n```python\n{LINES}",
    "bare": LINES,
    "a usage example without a fence": f"{block(LINES)}For example, 4 gives\nprint(10)\n",
}


@each("reply", SCRIPTS)
@each("rules", ["plain", "livecodebench"])
def test_the_script_is_found(reply: str, rules: str) -> None:
    made = assemble(reply, "", rules)  # type: ignore[arg-type]
    source = made.completion if made.recovered_completion is None else made.recovered_completion
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), mock.patch.object(sys, "stdin", io.StringIO("4\n")):
        exec(source, {"__name__": "__main__"})
    assert printed.getvalue() == "10\n"


@each(
    "reply",
    [
        "",
        " \n",
        "I cannot help with that.",
        "Sure",
        "42",
        "```\n```",
        "The sum of the numbers is 6.",
        "```text\nno\n```",
    ],
)
@each("rules", ["plain", "livecodebench", "humaneval-v-v2"])
@each("signature", ["", SIGNATURE])
def test_a_reply_without_a_program_is_no_answer(reply: str, rules: str, signature: str) -> None:
    assert assemble(reply, signature, rules).is_missing  # type: ignore[arg-type]


@each("reply", ["pass", "```python\ndef total(xs:\n```", "```\nprint(\n```", "```cpp\nint main() {}\n```"])
def test_a_program_that_does_not_run_is_an_answer(reply: str) -> None:
    made = assemble(f"```python\n{reply}\n```" if reply == "pass" else reply, SIGNATURE, "plain")
    assert not made.is_missing


def test_the_body_of_another_function_is_not_put_behind_the_signature() -> None:
    other = 'def digits(xs):\n    """Add.\n    """\n    return sum(xs)\n'
    assert assemble(other, SIGNATURE, "plain").recovered_completion is None


def test_a_script_that_does_nothing_is_one() -> None:
    made = assemble(block("pass\n"), "", "plain")
    assert (made.completion, made.recovered_completion, made.is_missing) == ("pass\n", None, False)


def test_a_class_goes_on_with_methods_behind_blank_lines() -> None:
    signature = (
        'class Tally:\n    """Counts."""\n\n    def __init__(self):\n        self.n = 0\n\n    def add(self, x):\n'
    )
    reply = "        self.n += x\n\n\n    def value(self):\n        return self.n\n```\nThat is all."
    namespace: dict[str, Any] = {}
    exec(find_program(reply, WantedProgram(("Tally",), signature, frozenset())) or "", namespace)
    tally = namespace["Tally"]()
    tally.add(2)
    assert tally.value() == 2


def test_starter_code_of_a_method_gets_its_body() -> None:
    signature = "class Solution:\n    def total(self, xs: list) -> int:\n"
    for reply in (
        "        return self.of(xs)\n\n    def of(self, xs):\n        return sum(xs)\n",
        "return sum(xs)\n```",
        "    def total(self, xs: list) -> int:\n        return self.of(xs)\n\n    def of(self, xs):\n        return sum(xs)\n",
        block("def total(self, xs):\n    return sum(xs)\n"),
    ):
        namespace: dict[str, Any] = {}
        exec(find_program(reply, WantedProgram(("Solution",), signature, frozenset())) or "", namespace)
        assert namespace["Solution"]().total([1, 2]) == 3


def test_a_function_is_not_put_into_the_class_of_the_starter_code() -> None:
    signature = "class Solution:\n    def total(self, xs: list) -> int:\n"
    made = assemble(block("def total(xs):\n    return sum(xs)\n"), signature, "livecodebench", ("total",))
    assert made.recovered_completion is None


@each(
    "code",
    [
        "def total(xs: List[int]) -> int:\n    return add(xs) + floor(0.5)\n",
        "MEMO: List[int] = []\ndef total(xs):\n    return add(xs)\n",
        "    return add(xs)\n",
    ],
)
def test_what_the_model_was_given_is_part_of_a_program_that_runs_without_the_signature(code: str) -> None:
    given = "from typing import List\ndef add(xs):\n    return sum(xs)\n"
    made = assemble(block(code), f"{given}def total(xs: List[int]) -> int:\n", "plain", (), "from math import *\n")
    namespace: dict[str, Any] = {}
    exec(f"from math import *\n{made.recovered_completion or made.completion}", namespace)
    assert namespace["total"]([1, 2, 3]) == 6


@each(
    "text",
    {
        "a method": "class Solution:\n    def total(self, xs):\n        return 1\n",
        "an inner function": "def main():\n    def total(xs):\n        return 1\n",
        "half a function": "def total(xs):\n    x = 1\n    return x +* 2\n",
        "half a function with a comment": "def total(xs):\n    x = 1\n# here\n    return x +* 2\n",
        "half a condition": "def total(xs):\n    if xs:\n        return 1\nelse 2\n",
    },
)
def test_a_part_of_a_program_is_no_program(text: str) -> None:
    assert find_program(text, WantedProgram(("total",), SIGNATURE, frozenset())) is None


def test_names_that_the_signature_gives_are_not_taken_from_drafts() -> None:
    draft = "class Node:\n    pass\ndef total(xs):\n    return Node()\n"
    reply = block(draft) + block("def total(xs):\n    return Node\n")
    found = find_program(reply, WantedProgram(("total",), SIGNATURE, frozenset({"Node"})))
    assert found == "def total(xs):\n    return Node"
