"""Straight tests: they only call the functions that a program must have, and look at the answers."""

from __future__ import annotations

import ast
import builtins
import functools
from typing import TYPE_CHECKING

from grader.scorers.execution.extraction import parse
from grader.scorers.execution.tameness import is_single

if TYPE_CHECKING:
    from collections.abc import Iterable

_TEST_MODULES = frozenset((
    "bisect", "cmath", "collections", "copy", "decimal", "fractions", "functools", "heapq", "itertools", "math",
    "numpy", "operator", "re", "statistics", "string", "typing",
))  # fmt: skip
_NOT_FOR_TESTS = frozenset((
    "breakpoint", "compile", "delattr", "dir", "eval", "exec", "exit", "getattr", "globals", "hasattr", "hash", "help",
    "id", "input", "locals", "memoryview", "object", "open", "quit", "setattr", "super", "vars",
))  # fmt: skip
_TEST_STATEMENTS = (
    ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Expr, ast.For, ast.FunctionDef,
    ast.If, ast.Import, ast.ImportFrom, ast.Pass, ast.Raise, ast.Return, ast.While,
)  # fmt: skip


@functools.lru_cache(maxsize=4096)
def straight(tests: str, asked: tuple[str, ...]) -> frozenset[str] | None:
    """Return the global names that tests define, if they only call the functions `asked` and look at the answers.

    None for all other tests. They catch nothing, and read no names of a program but these.
    """
    tree = parse(tests)
    if tree is None or "\r" in tests:
        return None
    nodes = list(ast.walk(tree))
    used = {node.id: node for node in nodes if isinstance(node, ast.Name)}
    known = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    known |= {node.arg for node in nodes if isinstance(node, ast.arg)} | _defined(nodes)
    allowed = known | {*asked} | ({*dir(builtins)} - _NOT_FOR_TESTS)
    if not used.keys() <= allowed or not all(map(_is_straight, nodes)):
        return None
    outside = [part for node in tree.body if not isinstance(node, ast.FunctionDef) for part in ast.walk(node)]
    stored = {node.id for node in outside if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    return frozenset(stored | _defined([*tree.body, *outside]))


def _defined(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names of functions and imports."""
    found = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    return found | {(alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names}


def _is_straight(node: ast.AST) -> bool:  # noqa: PLR0911 - a table
    match node:
        case ast.Import(names=names):
            return all(alias.name.partition(".")[0] in _TEST_MODULES for alias in names)
        case ast.ImportFrom(module=module, names=names, level=0):
            known = (module or "").partition(".")[0] in _TEST_MODULES
            return known and all(alias.name not in {"*", "random"} for alias in names)
        case ast.FunctionDef(name=name) | ast.Name(id=name):
            return not name.startswith("__") and not getattr(node, "decorator_list", ())
        case ast.Attribute(attr=name, ctx=context):
            return isinstance(context, ast.Load) and not name.startswith(("_", "cache_")) and name != "random"
        case ast.Compare(ops=ops):
            is_asked = any(isinstance(operator, (ast.Is, ast.IsNot)) for operator in ops)
            return not is_asked or (len(ops) == 1 and any(map(is_single, (node.left, *node.comparators))))
        case ast.stmt():
            return isinstance(node, _TEST_STATEMENTS)
    return not isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom))
