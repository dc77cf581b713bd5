"""Tests that only define tests, as a script that runs them.

Three frameworks find their tests by themselves: unittest (classes derived from `TestCase`), pytest (functions
`test_...`, classes `Test...`) and HumanEval's (`check(candidate)`). Without one of them, such a script calls nothing,
and every program would pass. A script that does more than define names runs as it is.
"""

from __future__ import annotations

import ast

from grader.scorers.execution.extraction import parse
from grader.scorers.execution.inputs.cases import BadRowError

_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_STARTS = ("unittest.main(", "pytest.main(")


def runnable(tests: str, entry_point: str, program: str) -> str:
    """Return a script that runs its tests; raises BadRowError if it has none.

    `check(candidate)` is called with `entry_point`; if that is empty, with the only function of `program`.
    """
    tree = parse(tests)
    body: list[ast.stmt] = [] if tree is None else tree.body
    checks = any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in body)
    if checks and entry_point:
        return f"{tests.rstrip()}\n\n\ncheck({entry_point})\n"
    kept = [node for node in body if not _is_needless(node, tests)]
    if not body or not all(map(_only_defines, body)):
        return tests if kept == body else _script(kept)
    calls = [f"check({_only_function(program)})"] if checks else [call for node in body for call in _calls(node)]
    if not calls:
        calls = [ast.unparse(node) for guard in body if isinstance(guard, ast.If) for node in guard.body]
    if calls:
        kept = [node for node in kept if isinstance(node, _DEFINITIONS)]
        return "\n".join([_script(kept), *calls, ""])
    if any(isinstance(part, ast.Call) for node in body if isinstance(node, ast.Assign) for part in ast.walk(node)):
        return tests
    raise BadRowError("its tests only define names and call nothing, so every program would pass")


def _only_defines(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or ast.unparse(node).startswith(_STARTS)
    return isinstance(node, _DEFINITIONS) or (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test))


def _script(body: list[ast.stmt]) -> str:
    return ast.unparse(ast.Module(body, type_ignores=[]))


def _only_function(program: str) -> str:
    tree = parse(program) or parse(f"{program}\n    pass\n")
    names = [node.name for node in tree.body if isinstance(node, _FUNCTIONS)] if tree else []
    if len(names) != 1:
        raise BadRowError("its tests define check(candidate): a column `entry_point` must name the function to check")
    return names[0]


def _is_needless(node: ast.stmt, tests: str) -> bool:
    """Whether a statement imports the program under test, or pytest without a use: the sandbox has neither."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "solution"
    return isinstance(node, ast.Import) and node.names[0].name == "pytest" and "pytest." not in tests


def _calls(node: ast.stmt) -> list[str]:
    """Return the calls of the tests that a statement defines, as their framework makes them."""
    if isinstance(node, _FUNCTIONS):
        return _called([node], "")
    if not isinstance(node, ast.ClassDef):
        return []
    if any(ast.unparse(base).endswith("TestCase") for base in node.bases):
        return [f"__import__('unittest').defaultTestLoader.loadTestsFromTestCase({node.name}).debug()"]
    return _called(node.body, f"{node.name}().") if node.name.startswith("Test") else []


def _called(body: list[ast.stmt], owner: str) -> list[str]:
    calls = []
    for node in body:
        if not isinstance(node, _FUNCTIONS) or not node.name.startswith("test"):
            continue
        decorators = " ".join(map(ast.unparse, node.decorator_list))
        needed = len(node.args.args) - len(node.args.defaults) - bool(owner)
        if "pytest" in decorators or (needed > 0 and not decorators):
            raise BadRowError(f"its test {node.name} needs pytest: it has parameters or a decorator of pytest's")
        call = f"{owner}{node.name}()"
        calls.append(f"__import__('asyncio').run({call})" if isinstance(node, ast.AsyncFunctionDef) else call)
    return calls
