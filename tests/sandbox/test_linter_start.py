"""What the linter leaves out of its start, or puts off, changes neither its messages nor the trees of libraries."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import inside
import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("pylint")
CHECKERS = """
import importlib.util, json, sys
sys.path.insert(0, sys.argv[1])
import linter, pylint_imports
here = linter.Linter(sys.argv[2]).linter
left_in_modules = [name for name in (*pylint_imports.UNUSED, *pylint_imports.OPTIONAL) if name in sys.modules]

from pylint.lint import PyLinter
from pylint.checkers import BaseChecker
whole = PyLinter()
whole.load_default_plugins()
known = {type(checker).__module__: [] for checker in whole.get_checkers()}
for checker in whole.get_checkers():
    known[type(checker).__module__] += checker.msgs
serious = lambda linter: [
    type(checker).__name__ for checker in linter.get_checkers() if any(name[0] in "EF" for name in checker.msgs)
]
left_out = {
    name: sum((ids for module, ids in known.items() if f"{module}.".startswith(f"pylint.checkers.{name}.")), [])
    for name in pylint_imports.CHECKERS_WITHOUT_ERRORS
}
missing = [name for name in left_out if not importlib.util.find_spec(f"pylint.checkers.{name}")]
json.dump([left_in_modules, left_out, missing, serious(here), serious(whole)], sys.stdout)
"""
LIBRARY_OF_C = """
import json, sys
sys.path.insert(0, sys.argv[1])
if sys.argv[3] == "deferred":
    import deferred
    deferred.allow()
    deferred.describe_functions_later()
from astroid import MANAGER, nodes
MANAGER.bootstrap()
found = []
seen = set()

def describe(node, name):
    parent = getattr(node.parent, "name", None)
    found.append(f"{name}: {type(node).__name__} {node.name} in {parent}, {sorted(node.locals)}")
    if isinstance(node, nodes.FunctionDef):
        kinds = [
            (name, kind.name, [base.name for base in kind.bases], kind.doc_node and kind.doc_node.value)
            for name, (kind,) in node.instance_attrs.items()
        ]
        text = node.doc_node and node.doc_node.value
        found.append(f"{node.args.repr_tree()} {node.args.parent is node} {text} {kinds} {len(node.body)}")
        return
    found.append(f"{sorted(node.instance_attrs)} {[child.name for child in node.body]}")

def walk(owner, path):
    describe(owner, path)
    for name in sorted(owner.locals):
        for node in owner.locals[name]:
            if isinstance(node, (nodes.FunctionDef, nodes.ClassDef)) and node not in seen:
                seen.add(node)
                (walk if isinstance(node, nodes.ClassDef) else describe)(node, f"{path}.{name}")

for name in ("builtins", "math", "itertools", "_functools", "_collections"):
    module = MANAGER.ast_from_module_name(name)
    module.instance_attrs = {}
    walk(module, name)
json.dump(found, sys.stdout)
"""

INTERRUPTED = """
import json, sys
sys.path.insert(0, sys.argv[1])
import deferred
deferred.allow()
deferred.describe_functions_later()
from astroid import MANAGER, raw_building
MANAGER.bootstrap()
text = MANAGER.ast_from_module_name("builtins").locals["str"][0]
function = next(one for (one, *_) in text.locals.values() if deferred.KEY in vars(one))
build = raw_building.build_function

def fail(*args, **kwargs):
    raise RecursionError

raw_building.build_function = fail
try:
    function.args
except RecursionError:
    raw_building.build_function = build
    json.dump([type(function.args).__name__, hasattr(function, "nothing")], sys.stdout)
"""


def _run(script: str, folder: Path, *words: str) -> Any:
    command = [sys.executable, "-I", "-c", script, inside.FOLDER, str(folder), *words]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout)


@pytest.fixture(scope="module")
def checkers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Stand-ins; left-out checkers with their messages; those that are missing; names of checkers here, in pylint."""
    return _run(CHECKERS, tmp_path_factory.mktemp("checkers"))


def test_no_module_that_stands_in_for_another_is_left_behind(checkers: Any) -> None:
    assert checkers[0] == []


def test_checkers_that_are_not_loaded_have_no_errors(checkers: Any) -> None:
    _, left_out, missing, *_ = checkers
    assert missing == []
    assert not [name for ids in left_out.values() for name in ids if name[0] in "EF"]
    assert sum(bool(ids) for ids in left_out.values()) >= len(left_out) - 1


def test_checkers_that_have_errors_are_loaded_in_pylints_order(checkers: Any) -> None:
    assert checkers[3] == checkers[4]


def test_functions_of_c_that_are_described_late_are_the_same(tmp_path: Path) -> None:
    late, at_once = (_run(LIBRARY_OF_C, tmp_path, how) for how in ("deferred", "at once"))
    assert late == at_once
    assert len(late) > 5_000


def test_a_description_that_fails_once_is_made_at_the_next_reading(tmp_path: Path) -> None:
    assert _run(INTERRUPTED, tmp_path) == ["Arguments", False]
