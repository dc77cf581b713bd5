"""What the linter leaves out of pylint's work, or does once for several programs, changes no message."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import inside
import pytest

if TYPE_CHECKING:
    from pathlib import Path

# One worker has the fixtures of this file.
pytestmark = pytest.mark.xdist_group("pylint")

DRIVER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from grade_sandbox.lint import linter, shortcuts
if sys.argv[3] == "without":
    class Shortcuts:
        plain = False
        def __init__(self, linter): pass
        def look_at(self, source): pass
    shortcuts.Shortcuts = Shortcuts
linter = linter.Linter(sys.argv[2])
linter.warm()
json.dump([linter.messages(source) for source in json.load(sys.stdin)], sys.stdout)
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

Messages = list[list[str]]


def lint(way: str, folder: Path) -> Messages:
    """Lint all programs in one process, with the shortcuts or without."""
    # Messages may name the file: both ways use one folder.
    command = [sys.executable, "-I", "-c", DRIVER, inside.FOLDER, str(folder), way]
    given = json.dumps(list(BESIDE_WHAT_IS_LEFT_OUT.values()))
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


@pytest.fixture(scope="module")
def both_ways(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[str], list[str]]]:
    """Messages of every program, with the shortcuts and without."""
    folder = tmp_path_factory.mktemp("shortcuts")
    messages = zip(lint("with", folder), lint("without", folder), strict=True)
    return dict(zip(BESIDE_WHAT_IS_LEFT_OUT, messages, strict=True))


@pytest.mark.parametrize("name", BESIDE_WHAT_IS_LEFT_OUT)
def test_the_messages_are_those_of_all_checks(name: str, both_ways: dict[str, tuple[list[str], list[str]]]) -> None:
    with_shortcuts, without = both_ways[name]
    assert with_shortcuts == without


def test_most_of_these_programs_have_a_message(both_ways: dict[str, tuple[list[str], list[str]]]) -> None:
    assert sum(bool(without) for _, without in both_ways.values()) >= 15


def test_only_programs_that_may_have_instructions_for_pylint_are_split_into_tokens(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-c", TOKENS, inside.FOLDER, str(tmp_path)]
    assert json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout) == [0, 1, 2]
