"""What the linter leaves out of pylint's work, or does once for several programs, changes no message."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import inside
import pytest
from test_linter import FORKING

if TYPE_CHECKING:
    from pathlib import Path

# One worker has the fixtures of this file.
pytestmark = pytest.mark.xdist_group("pylint")
repeated = inside.load("lint.repeated")

DRIVER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from grade_sandbox.lint import linter, shortcuts
if sys.argv[3] == "without":
    class Shortcuts:
        plain = False
        class repeated:
            def give_up(): pass
            def end(*, is_clean): pass
        def __init__(self, linter): pass
        def look_at(self, source): pass
    shortcuts.Shortcuts = Shortcuts
linter = linter.Linter(sys.argv[2])
linter.warm()
json.dump([[linter.messages(source) for source in sources] for sources in json.load(sys.stdin)], sys.stdout)
"""
TOKENS = """
import json, sys, tokenize
sys.path.insert(0, sys.argv[1])
from grade_sandbox.lint import linter
linter = linter.Linter(sys.argv[2])
linter.warm()
read = []
sound = tokenize.tokenize
tokenize.tokenize = lambda readline: read.append(1) or sound(readline)
counts = []
for source in ("print(nowhere)\\n", "print(nowhere)  # pylint: disable=all\\n", "print('\u00e9')\\n"):
    linter.messages(source)
    counts.append(len(read))
json.dump(counts, sys.stdout)
"""
BESIDE_WHAT_IS_LEFT_OUT = {
    "format of print's result": "print('{}').format(1)\n",
    "reversed without an order": "reversed({1, 2})\n",
    "reversed of its own": "def reversed(a):\n    return a\n\n\nreversed({1, 2})\n",
    "name used before its global statement": "X = 1\n\n\ndef f():\n    print(X)\n    global X\n    X = 2\n",
    "both nonlocal and global": "def f():\n    x = 1\n\n    def g():\n        nonlocal x\n        global x\n        x = 2\n    return g, x\n",
    "nonlocal that nobody has": "def f():\n    nonlocal x\n    x = 1\n",
    "keyword for a positional argument": "def f(a, /, b):\n    return a, b\n\n\nf(a=1, b=2)\n",
    "loop variable after its loop": "for i in range(3):\n    pass\nprint(i, j)\n",
    "loop variable in a closure": "f = [lambda: i + j for i in range(3)]\n",
    "characters that turn the text": "# \u202e\nx = 1\n",
    "control character": "x = '\x1b'\n",
    "another encoding": "# coding: latin-1\nx = 'é' + y\n",
    "continued line": "x = 1 + \\\n    y\n",
    "silenced in a continued line": "x = 1 + \\\n    y  # pylint: disable=undefined-variable\nz = y\n",
    "continued at the end": "x = y\\\n",
    "tabs and form feeds": "if True:\n\tx = y\n\x0c\nz = x\n",
    "imports in odd places": "x = 1\nimport os, sys\nfrom os import nothing_such\nif x:\n    import strings\nimport re as re\n",
    "exception that is none": "raise 5\n",
    "exception with a wrong cause": "raise ValueError('a') from 3\n",
    "bad environment variable": "import os\nos.getenv(5)\n",
    "import of itself": "import program\nprogram.x\n",
    "import beside itself": "from . import nothing\nfrom .program import x\n",
    "silenced at a function's head": "import functools\n\n\nclass A:\n    @functools.cache\n    def __len__(self, a):  # pylint: disable=unexpected-special-method-signature\n        return 1\n\n    def __iter__(self):\n        return 1\n",
    "method that is there twice": "class A:\n    def f(self):\n        return 1\n\n    def f(self):\n        return self.nothing\n",
}  # fmt: skip

# --- functions that earlier programs had -----------------------------------------------------------------------------

CHECK = (
    "def check(candidate):\n    for size in range(len([1, 2])):\n        assert sum(candidate(size)) == abs(-size)\n"
)
HEAD = "def solve(size):\n    return [size]\n\n\n"
PLAIN = f"{HEAD}{CHECK}\n\ncheck(solve)\n"
CONTEXTS = {
    "the same again": PLAIN,
    "another head": f"def other(size):\n    return nowhere\n\n\n{CHECK}\n\ncheck(other)\n",
    "a built-in that is a number": f"len = 5\n{PLAIN}",
    "a built-in that is a class": f"class sum:\n    def __init__(self):\n        pass\n\n\n{PLAIN}",
    "a built-in that takes nothing": f"def abs():\n    return 1\n\n\n{PLAIN}",
    "a built-in that is deleted": f"len = 5\ndel len\n{PLAIN}",
    "a built-in that a loop binds": f"for len in range(3):\n    pass\n{PLAIN}",
    "a built-in that a function binds": f"def bind():\n    global len\n    len = 5\n\n\n{PLAIN}",
    "a built-in that a walrus binds": f"if (len := 5):\n    pass\n{PLAIN}",
    "a built-in that an import binds": f"import math as len\n{PLAIN}",
    "a built-in bound after the function": f"{PLAIN}len = 5\n",
    "names of a star import": f"from math import *\nfrom os import *\n{PLAIN}",
    "a library's attribute": f"import builtins\nbuiltins.len = 5\n{PLAIN}",
    "an attribute of its own": f"class A:\n    def __init__(self):\n        self.a = 1\n\n\nprint(A().b)\n{PLAIN}",
    "instructions for pylint": f"# pylint: disable=all\nlen = 5\n{PLAIN}",
    "in a branch": f"{HEAD}len = 5\nif len:\n    " + CHECK.replace("\n", "\n    ") + "\n",
    "in a class": f"{HEAD}class A:\n    " + CHECK.replace("\n", "\n    ") + "\n",
    "a syntax error before": f"def broken(:\n    pass\n{PLAIN}",
    "twice": f"{HEAD}{CHECK}\n\n{CHECK}\n\ncheck(solve)\n",
}
FUNCTIONS = {
    "a name of the module": "def check(candidate):\n    assert candidate(1) == solve(1)\n",
    "itself": "def check(candidate):\n    assert candidate is check\n",
    "a default value": "def check(candidate, other=solve):\n    assert candidate is other\n",
    "an annotation": "def check(candidate: solve):\n    assert candidate\n",
    "an annotation of the result": "def check(candidate) -> solve:\n    assert candidate\n",
    "a decorator": "@solve\ndef check(candidate):\n    assert candidate\n",
    "an import": "def check(candidate):\n    import math\n    assert candidate(math.pi)\n",
    "a global statement": "def check(candidate):\n    global solve\n    solve = candidate\n",
    "a name used in and out of a comprehension": "def check(candidate):\n    assert [solve for solve in candidate(2)] == solve\n",
    "an inner function": "def check(candidate):\n    def inner(value):\n        return solve(value)\n    assert inner(candidate)\n",
    "an inner class": "def check(candidate):\n    class Inner:\n        value = solve\n    assert Inner.value is candidate\n",
    "a lambda": "def check(candidate):\n    assert candidate(lambda: solve)\n",
    "an annotation inside": "def check(candidate):\n    value: solve = candidate(1)\n    assert value\n",
}
"""Functions without messages below `solve`, and with one where there is none."""
SEQUENCES = {
    "a class of the first program with a built-in name": (
        "class int:\n    @staticmethod\n    def nothing(size):\n        return size\n\n\n",
        "def check(candidate):\n    assert int.nothing(candidate)\n",
        "",
    ),
    "a docstring of the first program": (
        '"""Text."""\n',
        "def check(candidate):\n    assert candidate(__doc__[0])\n",
        "",
    ),
    "a default value of its own name": (
        "check = 5\n",
        "def check(candidate, other=check):\n    assert candidate is other\n",
        "",
    ),
    "a decorator of its own name": (
        "def check(size):\n    return size\n\n\n",
        "@check\ndef check(candidate):\n    assert candidate\n",
        "",
    ),
    "an annotation of its own name": (
        "class check:\n    pass\n\n\n",
        "def check(candidate) -> check:\n    assert candidate\n",
        "",
    ),
    "an import of logging by the second": (
        "",
        "def check(log):\n    log.error('%s %s', 1)\n",
        "import logging as log\n",
    ),
    "an import of logging in a function": (
        "",
        "def check(log):\n    log.error('%s %s', 1)\n",
        "def load():\n    import logging as log\n    return log\n\n\n",
    ),
    "a variable that it has not bound yet": (
        "",
        "def check(candidate):\n    for size in range(3):\n        if size:\n            print(found.nothing)\n        found = candidate(size)\n",
        "found = 5\n",
    ),
    "a variable that it has deleted": (
        "",
        "def check(candidate):\n    if candidate:\n        del candidate\n    print(candidate.nothing)\n",
        "candidate = 5\n",
    ),
    "a variable of an except clause": (
        "",
        "def check(candidate):\n    try:\n        candidate(1)\n    except ValueError as error:\n        print(error)\n\n    def inner():\n        return error.nothing\n\n    print(inner)\n",
        "error = 5\n",
    ),
}
"""Start of the program that teaches a function, the function, and start of a program with a message in or about it."""


def _chain() -> list[str]:
    """Return programs with a value that pylint infers only after it checked a function: the two chains are long."""
    chain = "".join(f"    v{number} = v{number - 1}\n" for number in range(1, 80))
    code = f"def check(_):\n    def same(value):\n        return value\n    v0 = 5\n{chain}    found = same(v79)\n    found.bit_length()\n    return found\n\n\n"
    more = "".join(f"w{number} = w{number - 1}\n" for number in range(1, 60))
    return [code, code, f"{code}w0 = check(0)\n{more}w59.nothing()\n"]


ALONE = {name: [source] for name, source in BESIDE_WHAT_IS_LEFT_OUT.items()}
AFTER_OTHERS = {
    **{f"among {name}": [PLAIN, PLAIN, PLAIN, source] for name, source in CONTEXTS.items()},
    **{f"with {name}": [f"{head}{code}" for head in (HEAD, HEAD, HEAD, "")] for name, code in FUNCTIONS.items()},
    **{name: [f"{head}{code}" for head in (first, first, last)] for name, (first, code, last) in SEQUENCES.items()},
    "an inference that was cut off": _chain(),
}
CASES = ALONE | AFTER_OTHERS
"""Name -> programs that are linted one after the other. With the exception of the last one, they have no messages."""
Messages = list[list[str]]


def lint(way: str, folder: Path) -> list[Messages]:
    """Lint the programs of all cases in one process, with the shortcuts or without."""
    # Messages may name the file: both ways use one folder.
    command = [sys.executable, "-I", "-c", DRIVER, inside.FOLDER, str(folder), way]
    given = json.dumps(list(CASES.values()))
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


@pytest.fixture(scope="module")
def both_ways(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Messages, Messages]]:
    """Messages of the programs of every case, with the shortcuts and without."""
    folder = tmp_path_factory.mktemp("shortcuts")
    return dict(zip(CASES, zip(lint("with", folder), lint("without", folder), strict=True), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_the_messages_are_those_of_all_checks(name: str, both_ways: dict[str, tuple[Messages, Messages]]) -> None:
    with_shortcuts, without = both_ways[name]
    assert with_shortcuts == without
    assert not any(without[:-1])


def test_most_of_these_programs_have_a_message(both_ways: dict[str, tuple[Messages, Messages]]) -> None:
    for cases, least in ((ALONE, 15), (AFTER_OTHERS, 27)):
        assert sum(bool(both_ways[name][1][-1]) for name in cases) >= least


def test_only_programs_that_may_have_instructions_for_pylint_are_split_into_tokens(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-c", TOKENS, inside.FOLDER, str(tmp_path)]
    assert json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout) == [0, 1, 2]


VISITS = """
sys.path.insert(0, sys.argv[1])
from grade_sandbox.lint import linter, shortcuts
visited = []
walk = shortcuts._Walker._walk
shortcuts._Walker._walk = lambda self, node: (visited.append(type(node).__name__), walk(self, node))[1]
linter = linter.Linter(sys.argv[2])
linter.warm()

def counts(sources):
    found = []
    for source in sources:
        visited.clear()
        linter.messages(source)
        found.append(visited.count("Assert"))
    return found

each(json.load(sys.stdin), counts)
"""
OTHER = PLAIN.replace("solve", "other")
WRONG = f"{PLAIN}print(nowhere)\n"
SILENCED = f"{PLAIN}print(nowhere)  # pylint: disable=undefined-variable\n"
LONG = f"{HEAD}{CHECK}    # {'x' * repeated.MAX_LENGTH}\n    assert candidate\n"
ALWAYS = {
    "import": PLAIN.replace("    for", "    import math\n    for"),
    "class": PLAIN.replace("    for", "    class Inner:\n        size = 1\n    for"),
    "global": PLAIN.replace("    for", "    global found\n    found = 1\n    for"),
    "return": f"{CHECK}    return candidate\n",
    "yield": f"{CHECK}    yield candidate\n",
    "future": f"from __future__ import annotations\n{PLAIN}",
    "attribute": f"class A:\n    def __init__(self):\n        self.a = 1\n\n\n{PLAIN}",
}
"""Functions that could have other messages the next time."""
VISITED = {
    "once, and then skipped": ([PLAIN, OTHER, PLAIN, f"len = 5\n{PLAIN}", PLAIN], [1, 0, 0, 1, 0]),
    "a message teaches nothing": ([WRONG, WRONG, SILENCED, SILENCED, PLAIN, PLAIN], [1, 1, 1, 1, 1, 0]),
    "a long function": ([LONG] * 3, [2, 2, 2]),
    **{name: ([source] * 3, [1, 1, 1]) for name, source in ALWAYS.items()},
}
"""Name -> programs, and how many assertions of each are visited."""


def test_a_function_is_checked_once_and_then_skipped_if_it_can_have_no_other_messages(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-c", FORKING + VISITS, inside.FOLDER, str(tmp_path)]
    given = json.dumps([sources for sources, _ in VISITED.values()])
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    assert dict(zip(VISITED, json.loads(done.stdout), strict=True)) == {name: n for name, (_, n) in VISITED.items()}
