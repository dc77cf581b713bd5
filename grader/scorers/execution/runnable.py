"""Tests that only define tests, as a script that runs them.

Three frameworks find their tests by themselves: unittest (classes derived from `TestCase`), pytest (functions
`test_...`) and HumanEval's (`check(candidate)`). Without one of them, such a script calls nothing, and every program
would pass. A script that tests something outside its functions, or uses them there, runs as it is.
"""

from __future__ import annotations

import ast

from grader.files.python_source import tree_from
from grader.scorers.execution.extraction import parse_any_length
from grader.scorers.execution.inputs.cases import BadRowError
from grader.scorers.execution.statements import has_calls, is_main_guard

_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_RUNNER_CALLS = {"unittest.main", "pytest.main"}


def runnable_script(tests: str, entry_point: str, program: str) -> str:
    """Return a script that runs its tests; raises BadRowError if it has none.

    `check(candidate)` is called with `entry_point`; if that is empty, with the only function of `program`. A script
    that tests something itself stays as it is. Else the calls of a framework are added, or what stands behind
    `if __name__ == "__main__"`. What only calls something stays as it is, too, because that may be a test.
    """
    try:
        return _runnable_script(tests, entry_point, program)
    except RecursionError:  # Python cannot write what is nested deeply, such as a sum of a thousand terms.
        return tests


def _runnable_script(tests: str, entry_point: str, program: str) -> str:
    """Do the work of `runnable_script`; also raises RecursionError."""
    tree = parse_any_length(tests)
    if tree is None:  # the caller says what is invalid
        return tests
    tests = _without_program_imports(tests, tree)
    body = tree.body
    has_check = any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in body)
    if has_check and entry_point:
        return f"{tests.rstrip()}\n\n\ncheck({entry_point})\n"
    needed = [node for node in body if not _is_needless(node, tests)]
    # A script that uses one of these outside functions starts its tests itself.
    test_starters = {"unittest", "globals"} | {
        node.name for node in body if isinstance(node, (*_FUNCTIONS, ast.ClassDef))
    }
    if any(_is_test(node, test_starters) for node in body):
        return tests if needed == body else _script(needed)
    if has_check:
        calls = [f"check({_only_function(program)})"]
    else:
        test_cases = _test_case_names(body)
        calls = [call for node in body for call in _test_calls(node, test_cases)] or _calls_in_main_guards(body)
    if calls:
        return "\n".join([_script([node for node in needed if not _is_runner_call_or_main_guard(node)]), *calls, ""])
    if has_calls(node for node in body if not isinstance(node, _DEFINITIONS)):
        return tests
    raise BadRowError("its tests only define names and call nothing, so every program would pass")


def _without_program_imports(tests: str, tree: ast.Module) -> str:
    """Return tests without imports of the program under test, which are removed from their tree, too."""
    if not any(map(_is_program_import, ast.walk(tree))):
        return tests
    _WithoutImports().visit(tree)
    tree.body = [node for node in tree.body if not isinstance(node, ast.Pass)]
    return ast.unparse(ast.fix_missing_locations(tree))


def _is_test(node: ast.stmt, test_starters: set[str]) -> bool:
    """Whether a statement outside functions and classes asserts something, or uses a name that starts tests.

    `test_starters`: the names of the script's functions and classes, and of what finds these.
    """
    if isinstance(node, _DEFINITIONS) or _is_runner_call_or_main_guard(node):
        return False
    parts = list(ast.walk(node))
    has_assertion = any(isinstance(part, ast.Assert) for part in parts)
    return has_assertion or any(isinstance(part, ast.Name) and part.id in test_starters for part in parts)


def _is_runner_call_or_main_guard(node: ast.stmt) -> bool:
    """Whether a statement leaves the start to a framework, or is run only in the main module."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return ast.unparse(node.value.func) in _RUNNER_CALLS
    return is_main_guard(node)


def _script(body: list[ast.stmt]) -> str:
    return ast.unparse(ast.Module(body, type_ignores=[]))


def _only_function(program: str) -> str:
    """Return the name of the function of a program, or of a signature without a body; raises BadRowError."""
    tree = parse_any_length(program) or parse_any_length(f"{program}\n    pass\n")
    names = [node.name for node in tree.body if isinstance(node, _FUNCTIONS)] if tree else []
    if len(names) != 1:
        raise BadRowError("its tests define check(candidate): a column `entry_point` must name the function to check")
    return names[0]


def _is_needless(node: ast.stmt, tests: str) -> bool:
    """Whether a statement imports pytest without a use: the sandbox has none."""
    return isinstance(node, ast.Import) and node.names[0].name == "pytest" and "pytest." not in tests


_PROGRAM = "solution"
"""The module that the tests of some data sets (KodCode) import the program from. Its names are already there."""


def _is_program_import(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == _PROGRAM


class _WithoutImports(ast.NodeTransformer):
    """Removes imports of the program under test; `from solution import twice as t` becomes `t = twice`."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | list[ast.stmt]:
        names = [f"{alias.asname} = {alias.name}" for alias in node.names if alias.asname]
        return (tree_from("\n".join(names)).body or ast.Pass()) if _is_program_import(node) else node


def _test_case_names(body: list[ast.stmt]) -> set[str]:
    """Return the names of the classes that derive from unittest.TestCase, or from another such class."""
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.ClassDef):
            bases = map(ast.unparse, node.bases)
            if any(base.endswith("TestCase") or base in names for base in bases):
                names.add(node.name)
    return names


def _test_calls(node: ast.stmt, test_cases: set[str]) -> list[str]:
    """Return the calls of the tests that a statement defines, as pytest or unittest makes them."""
    if isinstance(node, _FUNCTIONS):
        return _pytest_calls(node)
    if not isinstance(node, ast.ClassDef):
        return []
    if node.name in test_cases:
        return [f"__import__('unittest').defaultTestLoader.loadTestsFromTestCase({node.name}).debug()"]
    has_tests = any(isinstance(part, _FUNCTIONS) and part.name.startswith("test") for part in node.body)
    if node.name.startswith("Test") and has_tests:
        raise BadRowError(f"its test class {node.name} needs pytest")
    return []


def _calls_in_main_guards(body: list[ast.stmt]) -> list[str]:
    guards = [node for node in body if isinstance(node, ast.If) and is_main_guard(node)]
    return [ast.unparse(node) for guard in guards for node in guard.body]


def _pytest_calls(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return the call of a function that pytest would call; nothing for another one."""
    if not node.name.startswith("test"):
        return []
    decorators = " ".join(map(ast.unparse, node.decorator_list))
    has_parameters = len(node.args.args) > len(node.args.defaults)
    if "pytest" in decorators or (has_parameters and not decorators):
        raise BadRowError(f"its test {node.name} needs pytest: it has parameters or a decorator of pytest's")
    call = f"{node.name}()"
    return [f"__import__('asyncio').run({call})" if isinstance(node, ast.AsyncFunctionDef) else call]
