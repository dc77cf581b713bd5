"""The linter that is kept alive says what a fresh `pylint` says of every program, whatever came before it.

Its shortcuts (shortcuts.py) change no message either.
"""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import inside
import pytest

# One worker has the fixtures of this file.
pytestmark = pytest.mark.xdist_group("pylint")
PARTS = {
    "undefined name": "def solution(a):\n    return deque(a)\n",
    "no member": "import math\n\n\ndef solution(a):\n    return math.square(a) + a.anything\n",
    "redefinition alone": "def solution(a):\n    pass\n\n\ndef solution(a):\n    return a\n",
    "text that is not ASCII": "def solution(a):\n    return 'дом 家' + ünknown\n",
    # Beside what shortcuts.py leaves out of pylint's work.
    "format of print's result": "print('{}').format(1)\n",
    "reversed without an order": "reversed({1, 2})\n",
    "name used before its global statement": "X = 1\n\n\ndef f():\n    print(X)\n    global X\n    X = 2\n",
    "both nonlocal and global": "def f():\n    x = 1\n\n    def g():\n        nonlocal x\n        global x\n        x = 2\n    return g, x\n",
    "keyword for a positional argument": "def f(a, /, b):\n    return a, b\n\n\nf(a=1, b=2)\n",
    "loop variable in a closure": "f = [lambda: i + j for i in range(3)]\n",
    "imports in odd places": "x = 1\nimport os, sys\nfrom os import nothing_such\nif x:\n    import strings\nimport re as re\n",
    "exception with a wrong cause": "raise ValueError('a') from 3\n",
    "bad environment variable": "import os\nos.getenv(5)\n",
    "import beside itself": "from . import nothing\nfrom .program import x\n",
    "silenced at a function's head": "import functools\n\n\nclass A:\n    @functools.cache\n    def __len__(self, a):  # pylint: disable=unexpected-special-method-signature\n        return 1\n\n    def __iter__(self):\n        return 1\n",
    "method that is there twice": "class A:\n    def f(self):\n        return 1\n\n    def f(self):\n        return self.nothing\n",
}  # fmt: skip
"""Each but the redefinition has an error of its own: in one program, as each fresh pylint takes a fifth of a second."""
SOURCES = {
    "all parts": "\n\n".join(PARTS.values()),
    "clean": "import math\n\n\ndef solution(a):\n    return math.gcd(*a)\n\n\nassert solution([4, 6]) == 2\n",
    "syntax error": "def solution(a:\n    return a\n",
    "bad indentation": "def solution(a):\n    b = 1\n  return b\n",
    "silenced": "# pylint: disable=undefined-variable\nprint(nowhere)\n",
    "null byte": "def solution(a):\n    return '\x00'\n",
    "reversed of its own": "def reversed(a):\n    return a\n\n\nreversed({1, 2})\n",
    "characters that turn the text": "# \u202e\nx = 1\n",
    "control character": "x = '\x1b'\n",
    "another encoding": "# coding: latin-1\nx = 'é' + y\n",
    "continued line": "x = 1 + \\\n    y\n",
    "continued at the end": "x = y\\\n",
    "tabs and form feeds": "if True:\n\tx = y\n\x0c\nz = x\n",
}  # fmt: skip
FORKING = """
import json, os, sys

def each(groups, work):
    '''Print what `work` returns for each group; every group has a process of its own, forked from this one.'''
    found = []
    for group in groups:
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(ours)
            with open(theirs, "w") as file:
                json.dump(work(group), file)
            os._exit(0)
        os.close(theirs)
        with open(ours) as file:
            found.append(json.load(file))
        os.waitpid(pid, 0)
    json.dump(found, sys.stdout)
"""
KEPT_ALIVE = """
sys.path.insert(0, sys.argv[1])
from grade_sandbox.lint import linter
linter = linter.Linter(sys.argv[2])
linter.warm()

def messages(sources):
    found = []
    for number, source in enumerate(sources):
        found.append(linter.lint(source))
        if number % 4 == 3:
            linter.collect()
    return found

each(json.load(sys.stdin), messages)
"""
REPLACED = """
sys.path.insert(0, sys.argv[1])
from grade_sandbox.lint import linter
linter = linter.Linter(sys.argv[2])

def must_be_replaced(source):
    linter.lint(source)
    return linter.must_be_replaced

each(json.load(sys.stdin), must_be_replaced)
"""
GROWTH = """
import gc, json, sys
sys.path.insert(0, sys.argv[1])
from grade_sandbox.lint import linter
gc.disable()
linter = linter.Linter(sys.argv[2])
linter.warm()
kept = []
for round in range(3):
    for number in range(20):
        name = f"of_{round}_{number}"
        linter.lint(f"import typing\\ndef {name}(x: typing.List[int]):\\n    return [{name}(y) for y in x][0].z\\n")
    linter.collect()
    kept.append(gc.get_freeze_count())
json.dump(kept, sys.stdout)
"""
FRESH = """
import importlib, io, pkgutil
import pylint.checkers
from pylint import lint

# Imported, as every pylint does first; what a pylint knows of programs it keeps elsewhere.
for module in pkgutil.iter_modules(pylint.checkers.__path__, "pylint.checkers."):
    importlib.import_module(module.name)

def run(source):
    path = os.path.join(sys.argv[2], "program.py")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(source)
    sys.stdout = io.StringIO()
    lint.Run(["--rcfile=", "--output-format=json", path], exit=False)
    return json.loads(sys.stdout.getvalue() or "[]")

each(json.load(sys.stdin), run)
"""


def _run(script: str, given: object, folder: Path) -> Any:
    command = [sys.executable, "-I", "-c", FORKING + script, inside.FOLDER, str(folder)]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kept_alive(groups: list[list[str]], folder: Path) -> list[list[list[str]]]:
    """Lint the programs of each group one after another in one process."""
    work = folder / "linter"
    work.mkdir(exist_ok=True)
    found: list[list[list[str]]] = _run(KEPT_ALIVE, groups, work)
    return found


def fresh(sources: list[str], folder: Path) -> list[list[str]]:
    """Lint each program with a new pylint in its default configuration; return errors and fatal messages only."""
    return [
        [
            message["message"]
            for message in messages
            if message["type"] in {"error", "fatal"} and message["symbol"] != "function-redefined"
        ]
        for messages in _run(FRESH, sources, folder)
    ]


@pytest.fixture(scope="module")
def alive(tmp_path_factory: pytest.TempPathFactory) -> list[list[list[str]]]:
    """Messages of all programs, of all in reverse, of some with half characters, and of those after another."""
    folder = tmp_path_factory.mktemp("alive")
    pairs = [group for first, second in LEAVERS.values() for group in ([first, second], [second])]
    groups = [list(SOURCES.values()), list(SOURCES.values())[::-1], ["x = '\ud800'\n", "print(nowhere)\n"], *pairs]
    found = kept_alive(groups, folder)
    assert list((folder / "linter").iterdir()) == [], "files stay behind"
    return found


@pytest.fixture(scope="module")
def one_after_another(alive: list[list[list[str]]]) -> dict[str, list[str]]:
    return dict(zip(SOURCES, alive[0], strict=True))


@pytest.fixture(scope="module")
def of_fresh_ones(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Messages of every program, each from a pylint that has seen no other."""
    sources = {**SOURCES, **{name: second for name, (_, second) in LEAVERS.items()}}
    return dict(zip(sources, fresh(list(sources.values()), tmp_path_factory.mktemp("fresh")), strict=True))


# The fresh ones take longest, and change only with pylint or with shortcuts.py.
@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_the_messages_are_those_of_a_fresh_pylint(
    name: str, one_after_another: dict[str, list[str]], of_fresh_ones: dict[str, list[str]]
) -> None:
    assert one_after_another[name] == of_fresh_ones[name]


def test_every_part_has_its_errors(one_after_another: dict[str, list[str]]) -> None:
    assert len(one_after_another["all parts"]) == 17


def test_the_order_of_programs_does_not_matter(alive: list[list[list[str]]]) -> None:
    assert alive[1][::-1] == alive[0]


LEAVERS = {
    "a name": ("leftover = 1\n", "print(leftover)\n"),
    "a file to skip": ("# pylint: skip-file\n", "print(leftover)\n"),
    "a module of its own name": ("import program\nprogram.x = 1\n", "import program\nprint(program.x)\n"),
    "more values than astroid infers": ("import string\nx = 0\n" + "".join(f"if x == {i}:\n    m = {i}\n" for i in range(21)) + "if x:\n    m = string\nm.ascii_letters.foo\nm.printable.foo\n",
                                        "import string\nstring.ascii_letters.foo\nstring.printable.foo\n"),
    "a changed import path": ("import sys\nsys.path.insert(0, '/tmp')\n", "import strings\n"),
}  # fmt: skip


def test_a_linter_is_replaced_whose_libraries_a_program_has_changed(tmp_path: Path) -> None:
    sources = ["import math\nmath.square = abs\n", "import fractions\nfractions.Fraction.halved = 1\n",
               "class Own:\n    pass\nOwn.a = 1\nOwn().b = 2\n"]  # fmt: skip
    assert _run(REPLACED, sources, tmp_path) == [True, True, False]


@pytest.fixture(scope="module")
def after_another(alive: list[list[list[str]]]) -> dict[str, tuple[list[str], list[str]]]:
    last = [messages[-1] for messages in alive[3:]]
    return dict(zip(LEAVERS, zip(last[::2], last[1::2], strict=True), strict=True))


@pytest.mark.parametrize("name", LEAVERS)
def test_nothing_a_program_says_changes_what_is_said_of_the_next(
    name: str, after_another: dict[str, tuple[list[str], list[str]]]
) -> None:
    after, alone = after_another[name]
    assert after == alone


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAVERS)
def test_what_is_said_alone_is_what_a_fresh_pylint_says(
    name: str, after_another: dict[str, tuple[list[str], list[str]]], of_fresh_ones: dict[str, list[str]]
) -> None:
    _, alone = after_another[name]
    assert alone == of_fresh_ones[name]


def test_lone_surrogates_do_not_stop_the_linter(alive: list[list[list[str]]]) -> None:
    broken, after = alive[2]
    assert len(broken) == 1
    assert after == ["Undefined variable 'nowhere'"]


def test_the_linter_keeps_little_of_each_program(tmp_path: Path) -> None:
    """With cached inferences, each of these programs would leave 69 objects."""
    command = [sys.executable, "-I", "-c", GROWTH, inside.FOLDER, str(tmp_path)]
    _, before, after = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert after - before < 20 * 20
