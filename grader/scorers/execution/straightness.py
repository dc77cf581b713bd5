"""Straight tests: they only call the functions that a program must have, and look at the answers.

1. **They read no name of a program** but these functions, in any scope.
2. **They only call these functions**, or pass them to functions of their own that do.
3. **What they use of the library is on a list**: it only computes.
4. **They compare sets and count them**, and do not read them in their order, which differs between processes.
"""

from __future__ import annotations

import ast
import builtins
import functools
import symtable
from typing import TYPE_CHECKING

from grader.scorers.execution.extraction import parse
from grader.scorers.execution.tame_names import CONSTANTS, FUNCTIONS, ITERATORS, OF_NUMPY, READERS
from grader.scorers.execution.tameness import is_single

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NOT_FOR_TESTS = frozenset((
    "breakpoint", "compile", "delattr", "dir", "eval", "exec", "exit", "getattr", "globals", "hasattr", "hash", "help",
    "id", "input", "locals", "memoryview", "object", "open", "quit", "setattr", "super", "vars",
))  # fmt: skip
_STATEMENTS = (
    ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Expr, ast.For, ast.FunctionDef,
    ast.If, ast.Import, ast.ImportFrom, ast.Pass, ast.Raise, ast.Return, ast.While,
)  # fmt: skip
_LIBRARY = (
    FUNCTIONS | READERS | ITERATORS | CONSTANTS | OF_NUMPY
    | {"collections.defaultdict", "decimal.Decimal", "fractions.Fraction", "functools.partial", "math.nan",
       "operator.itemgetter"}
)  # fmt: skip
"""Full names of functions and constants that tests may use of the library."""
_MODULES = frozenset(name.partition(".")[0] for name in _LIBRARY if "." in name) | {"cmath", "numpy.testing", "typing"}
_CALLERS = frozenset(("callable", "filter", "map"))
"""Functions to which a program's function may be given: they do nothing but call it."""


@functools.lru_cache(maxsize=4096)
def straight(tests: str, asked: tuple[str, ...]) -> frozenset[str] | None:
    """Return the global names that tests define, if they only call the functions `asked` and look at the answers.

    None for all other tests. They catch nothing.
    """
    tree = parse(tests)
    if tree is None or "\r" in tests:
        return None
    nodes = list(ast.walk(tree))
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    table = symtable.symtable(tests, "tests", "exec")
    taken = frozenset(one.get_name() for one in table.get_symbols() if _is_bound(one))
    allowed = taken | {*asked} | ({*dir(builtins)} - _NOT_FOR_TESTS)
    if not allowed.issuperset(_globals(table)) or not all(_is_straight(node, parents) for node in nodes):
        return None
    if not (_uses_known_library(nodes, parents) and _only_calls(nodes, parents, asked)):
        return None
    return taken


def _is_bound(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the names that are read or written outside the functions that define them."""
    for symbol in table.get_symbols():
        if table.get_type() == "module" or symbol.is_global():
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _globals(inner)


def _is_straight(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:  # noqa: PLR0911 - a table
    match node:
        case ast.FunctionDef(name=name) | ast.Name(id=name):
            return not name.startswith("__") and not getattr(node, "decorator_list", ())
        case ast.Attribute(attr=name, ctx=context):
            return isinstance(context, ast.Load) and not name.startswith(("_", "cache_"))
        case ast.Compare(ops=ops):
            is_asked = any(isinstance(operator, (ast.Is, ast.IsNot)) for operator in ops)
            return not is_asked or (len(ops) == 1 and any(map(is_single, (node.left, *node.comparators))))
        case ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set" | "frozenset")):
            return isinstance(parents[node], ast.Compare) or _called(parents[node]) == "len"
        case ast.Call(func=ast.Attribute(attr="keys" | "items")):
            return not isinstance(parents[node], ast.BinOp)
        case ast.stmt():
            return isinstance(node, _STATEMENTS)
    return not isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom))


def _called(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


# --- the library ------------------------------------------------------------------------------------------------


def _uses_known_library(nodes: Iterable[ast.AST], parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether all that is imported, and all that is used of imported modules, is on the list."""
    modules: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            if not all(alias.name in _MODULES and (alias.asname or "." not in alias.name) for alias in node.names):
                return False
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (
            node.level or not all(_is_known(f"{node.module}.{alias.name}") for alias in node.names)
        ):
            return False
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in modules:
            full, whole = modules[node.id], parents[node]
            while isinstance(whole, ast.Attribute) and f"{full}.{whole.attr}" in _MODULES:
                full, whole = f"{full}.{whole.attr}", parents[whole]
            if not (isinstance(whole, ast.Attribute) and _is_known(f"{full}.{whole.attr}")):
                return False
    return True


def _is_known(full: str) -> bool:
    module, _, name = full.rpartition(".")
    return full in _LIBRARY or (module == "typing" and name[0].isupper()) or (module == "cmath" and name != "*")


# --- the functions of a program ---------------------------------------------------------------------------------


def _only_calls(nodes: list[ast.AST], parents: dict[ast.AST, ast.AST], asked: Iterable[str]) -> bool:
    """Whether tests do nothing with a program's functions but call them, under whatever name."""
    own = {node.name: node.args for node in nodes if isinstance(node, ast.FunctionDef)}
    names, before = {*asked}, 0
    while before != len(names):
        before = len(names)
        for node in nodes:
            if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
                other = _other_name(node, parents[node], own)
                if other is None:
                    return False
                names.add(other or node.id)
    return True


def _other_name(node: ast.Name, parent: ast.AST, own: dict[str, ast.arguments]) -> str | None:
    """Return the name under which a function goes on from here; empty if it is only called, None if in doubt."""
    match parent:
        case ast.Call(func=function) if function is node:
            return ""
        case ast.Call(func=ast.Name(id=called), args=given) if node in given:
            if called in _CALLERS and given[0] is node:
                return ""
            parameters = own.get(called)
            place = given.index(node)
            if parameters is not None and not parameters.vararg and place < len(parameters.args):
                return parameters.args[place].arg
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None
