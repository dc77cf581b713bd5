"""A function that earlier programs had is skipped only where pylint would find nothing in it either."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.sandbox import inside
from tests.sandbox.test_shortcuts import lint

if TYPE_CHECKING:
    from pathlib import Path

# One worker has the fixtures of this file.
pytestmark = pytest.mark.xdist_group("pylint")
repeated = inside.load("repeated")

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


def both(sources: list[str], folder: Path) -> list[tuple[list[str], list[str]]]:
    """Return the messages of every program, with the shortcuts and without."""
    return list(zip(lint(sources, folder, "with"), lint(sources, folder, "without"), strict=True))


def by_case(cases: dict[str, list[str]], folder: Path) -> dict[str, list[tuple[list[str], list[str]]]]:
    """Return the same for the programs of each case. All cases run in one process, one after the other."""
    found = iter(both([source for sources in cases.values() for source in sources], folder))
    return {name: [next(found) for _ in sources] for name, sources in cases.items()}


@pytest.fixture(scope="module")
def in_context(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[str], list[str]]]:
    known = [PLAIN, PLAIN, PLAIN]
    found = both([*known, *CONTEXTS.values()], tmp_path_factory.mktemp("contexts"))[len(known) :]
    return dict(zip(CONTEXTS, found, strict=True))


@pytest.mark.parametrize("name", CONTEXTS)
def test_what_surrounds_a_known_function_changes_its_messages_alike(
    name: str, in_context: dict[str, tuple[list[str], list[str]]]
) -> None:
    with_shortcuts, without = in_context[name]
    assert with_shortcuts == without


def test_many_of_these_contexts_lead_to_messages(in_context: dict[str, tuple[list[str], list[str]]]) -> None:
    assert sum(bool(without) for _, without in in_context.values()) >= 7


@pytest.fixture(scope="module")
def of_functions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[list[str], list[str]]]]:
    cases = {name: [f"{head}{code}" for head in (HEAD, HEAD, HEAD, "")] for name, code in FUNCTIONS.items()}
    return by_case(cases, tmp_path_factory.mktemp("functions"))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_uses_its_module_is_checked_again(
    name: str, of_functions: dict[str, list[tuple[list[str], list[str]]]]
) -> None:
    found = of_functions[name]
    assert all(with_shortcuts == without for with_shortcuts, without in found)
    assert not any(without for _, without in found[:3])


def test_most_of_these_functions_have_a_message_without_their_module(
    of_functions: dict[str, list[tuple[list[str], list[str]]]],
) -> None:
    assert sum(bool(found[3][1]) for found in of_functions.values()) >= 9


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


@pytest.fixture(scope="module")
def of_sequences(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[list[str], list[str]]]]:
    cases = {
        name: [f"{head}{code}" for head in (first, first, last)] for name, (first, code, last) in SEQUENCES.items()
    }
    return by_case(cases, tmp_path_factory.mktemp("sequences"))


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_program_that_was_clean_for_another_reason_hides_nothing(
    name: str, of_sequences: dict[str, list[tuple[list[str], list[str]]]]
) -> None:
    found = of_sequences[name]
    assert all(with_shortcuts == without for with_shortcuts, without in found)
    assert [bool(without) for _, without in found] == [False, False, True]


def test_a_value_that_pylint_infers_only_after_it_checked_the_function(tmp_path: Path) -> None:
    """Both chains together are longer than what pylint infers at once."""
    chain = "".join(f"    v{number} = v{number - 1}\n" for number in range(1, 80))
    code = f"def check(_):\n    def same(value):\n        return value\n    v0 = 5\n{chain}    found = same(v79)\n    found.bit_length()\n    return found\n\n\n"
    more = "".join(f"w{number} = w{number - 1}\n" for number in range(1, 60))
    found = both([code, code, f"{code}w0 = check(0)\n{more}w59.nothing()\n"], tmp_path)
    assert all(with_shortcuts == without for with_shortcuts, without in found)
    assert [bool(without) for _, without in found] == [False, False, True]


VISITS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import linter, shortcuts
visited = []
walk = shortcuts._Walker._walk
shortcuts._Walker._walk = lambda self, node: (visited.append(type(node).__name__), walk(self, node))[1]
linter = linter.Linter(sys.argv[2])
linter.warm()
counts = []
for source in json.load(sys.stdin):
    visited.clear()
    linter.messages(source)
    counts.append(visited.count("Assert"))
print(json.dumps(counts))
"""


def asserts_visited(sources: list[str], folder: Path) -> list[int]:
    command = [sys.executable, "-I", "-c", VISITS, inside.FOLDER, str(folder)]
    done = subprocess.run(command, input=json.dumps(sources), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_function_is_checked_once_and_then_skipped(tmp_path: Path) -> None:
    other = PLAIN.replace("solve", "other")
    assert asserts_visited([PLAIN, other, PLAIN, f"len = 5\n{PLAIN}", PLAIN], tmp_path) == [1, 0, 0, 1, 0]


def test_a_program_with_a_message_teaches_nothing(tmp_path: Path) -> None:
    wrong = f"{PLAIN}print(nowhere)\n"
    silenced = f"{PLAIN}print(nowhere)  # pylint: disable=undefined-variable\n"
    assert asserts_visited([wrong, wrong, silenced, silenced, PLAIN, PLAIN], tmp_path) == [1, 1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    "source",
    [
        PLAIN.replace("    for", "    import math\n    for"),
        PLAIN.replace("    for", "    class Inner:\n        size = 1\n    for"),
        PLAIN.replace("    for", "    global found\n    found = 1\n    for"),
        f"{CHECK}    return candidate\n",
        f"{CHECK}    yield candidate\n",
        f"from __future__ import annotations\n{PLAIN}",
        f"class A:\n    def __init__(self):\n        self.a = 1\n\n\n{PLAIN}",
    ],
    ids=["import", "class", "global", "return", "yield", "future", "attribute"],
)
def test_a_function_that_could_have_other_messages_is_always_checked(source: str, tmp_path: Path) -> None:
    assert asserts_visited([source, source, source], tmp_path) == [1, 1, 1]


def test_a_long_function_is_always_checked(tmp_path: Path) -> None:
    long = f"{HEAD}{CHECK}    # {'x' * repeated.MAX_LENGTH}\n    assert candidate\n"
    assert asserts_visited([long, long, long], tmp_path) == [2, 2, 2]


def test_few_texts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "MAX_KEPT", 3)
    table: dict[str, None] = {}
    for number in range(9):
        repeated._put(table, str(number), None)
    assert list(table) == ["6", "7", "8"]
