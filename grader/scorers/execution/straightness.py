"""Straight tests: they only call the functions that a program must have, and look at the answers.

1. **They read no name of a program** but these functions, in any scope.
2. **They only call these functions**, or pass them to functions of their own that do.
3. **What they use of the library is on a list**: it only computes. They call methods of plain data, and keep none to
   call it later.
4. **They compare sets and count them**, and do not read them in their order, which differs between processes.
5. **They do not iterate over what they give to a program**, which could change it meanwhile.
"""

from __future__ import annotations

import ast
import builtins
import functools
import symtable
from typing import TYPE_CHECKING

from grader.scorers.execution.extraction import parse
from grader.scorers.execution.tame_names import (
    CONSTANTS,
    FUNCTIONS,
    ITERATOR_METHODS,
    ITERATORS,
    METHODS,
    OF_NUMPY,
    READERS,
    READING_METHODS,
)
from grader.scorers.execution.tameness import is_single

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

_NOT_FOR_TESTS = frozenset((
    "breakpoint", "compile", "delattr", "dir", "eval", "exec", "exit", "getattr", "globals", "hasattr", "hash", "help",
    "id", "input", "locals", "memoryview", "object", "open", "quit", "setattr", "super", "vars",
))  # fmt: skip
_STATEMENTS = (
    ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Expr, ast.For, ast.FunctionDef,
    ast.If, ast.Import, ast.ImportFrom, ast.Pass, ast.Raise, ast.Return, ast.While,
)  # fmt: skip
_OTHERS = {"collections.defaultdict", "decimal.Decimal", "fractions.Fraction", "math.nan", "operator.itemgetter"}
_LIBRARY = FUNCTIONS | READERS | ITERATORS | CONSTANTS | OF_NUMPY | _OTHERS
"""Full names of functions and constants that tests may use of the library."""
_TYPING = frozenset((
    "Any", "Callable", "DefaultDict", "Deque", "Dict", "Iterable", "Iterator", "List", "Mapping", "Optional",
    "Sequence", "Set", "Tuple", "Union",
))  # fmt: skip
"""What tests may import of `typing`, for annotations."""
_METHODS = (METHODS - {"format"}) | READING_METHODS | ITERATOR_METHODS | {"add", "all", "any", "item", "tolist"}
"""Methods that tests may call."""
_MODULES = frozenset(name.partition(".")[0] for name in _LIBRARY if "." in name) | {"cmath", "numpy.testing", "typing"}
_CALLERS = frozenset(("callable", "filter", "map"))
"""Functions to which a program's function may be given: they do nothing but call it."""
_SETS = frozenset(("frozenset", "set"))
_READERS = frozenset(("dict", "enumerate", "len", "list", "max", "min", "sorted", "sum", "tuple", "zip"))
_OF_NAMED = frozenset(("enumerate", "filter", "iter", "map", "reversed", "zip"))
"""Functions whose iterators read their arguments later."""
_TRUSTED = _CALLERS | _SETS | _READERS | _OF_NAMED | {"isinstance", "type"}
"""Names that have to mean the built-in functions."""


@functools.lru_cache(maxsize=4096)
def straight(tests: str, asked: tuple[str, ...]) -> frozenset[str] | None:
    """Return the global names that tests define, if they only call the functions `asked` and look at the answers.

    None for all other tests. They catch nothing.
    """
    tree = parse(tests)
    if tree is None or "\r" in tests:
        return None
    try:
        table = symtable.symtable(tests, "tests", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return None  # the parser accepts more than Python does
    nodes = list(ast.walk(tree))
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    taken = frozenset(one.get_name() for one in table.get_symbols() if _is_bound(one))
    scopes = list(_scopes(table))
    bound = {symbol.get_name() for scope in scopes for symbol in scope.get_symbols() if not symbol.is_global()}
    read = {symbol.get_name() for scope in scopes[1:] for symbol in scope.get_symbols() if symbol.is_global()}
    read |= {symbol.get_name() for symbol in table.get_symbols()}
    allowed = taken | {*asked} | ({*dir(builtins)} - _NOT_FOR_TESTS)
    is_odd = any(name.startswith("__") for name in read | bound) or not _TRUSTED.isdisjoint(taken | bound)
    if is_odd or not allowed.issuperset(read) or not all(_is_straight(node, parents) for node in nodes):
        return None
    names = _names_of_functions(nodes, parents, asked)
    if names is None or not _uses_known_library(nodes, parents) or any(_iterates(node, names) for node in nodes):
        return None
    return taken


def _is_bound(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()


def _scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """Yield a scope, and all scopes inside it."""
    yield table
    for inner in table.get_children():
        yield from _scopes(inner)


def _is_straight(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:  # noqa: PLR0911 - a table
    match node:
        case ast.Name(id="set" | "frozenset" | "type" as name):
            return _called(parents[node]) == name
        case ast.FunctionDef(decorator_list=decorators):
            return not decorators
        case ast.Call(func=ast.Name(id="type"), args=given):
            is_asked = isinstance(parents[node], ast.Compare) or _called(parents[node]) == "isinstance"
            return len(given) == 1 and not node.keywords and is_asked
        case ast.Call(func=ast.Attribute(attr="sort")):
            return not node.keywords
        case ast.Call(func=ast.Attribute(attr="copy" | "deepcopy") | ast.Name(id="copy" | "deepcopy"), args=given):
            return len(given) <= 1 and not node.keywords
        case ast.Attribute(ctx=context):
            return isinstance(context, ast.Load)
        case ast.Compare(ops=ops):
            is_asked = any(isinstance(operator, (ast.Is, ast.IsNot)) for operator in ops)
            return not is_asked or (len(ops) == 1 and any(map(is_single, (node.left, *node.comparators))))
        case ast.Set() | ast.SetComp() | ast.Call(func=ast.Name(id="set" | "frozenset")):
            return isinstance(parents[node], ast.Compare) or _called(parents[node]) == "len"
        case ast.Call(func=ast.Attribute(attr="keys" | "items")):
            around = parents[node]
            return isinstance(around, (ast.Compare, ast.For, ast.comprehension)) or _called(around) in _READERS
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
            if any(modules.setdefault(one.asname or one.name, one.name) != one.name for one in node.names):
                return False
        elif isinstance(node, ast.ImportFrom) and (
            node.level or not all(_is_known(f"{node.module}.{alias.name}") for alias in node.names)
        ):
            return False
    of_modules: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in modules:
            full, whole = modules[node.id], parents[node]
            while isinstance(whole, ast.Attribute) and f"{full}.{whole.attr}" in _MODULES:
                of_modules.add(whole)
                full, whole = f"{full}.{whole.attr}", parents[whole]
            if not (isinstance(whole, ast.Attribute) and _is_known(f"{full}.{whole.attr}")):
                return False
            of_modules.add(whole)
    of_values = (node for node in nodes if isinstance(node, ast.Attribute) and node not in of_modules)
    return all(node.attr in _METHODS and getattr(parents[node], "func", None) is node for node in of_values)


def _is_known(full: str) -> bool:
    module, _, name = full.rpartition(".")
    return full in _LIBRARY or (module == "typing" and name in _TYPING) or (module == "cmath" and name != "*")


# --- the functions of a program ---------------------------------------------------------------------------------


def _names_of_functions(
    nodes: list[ast.AST], parents: dict[ast.AST, ast.AST], asked: Iterable[str]
) -> frozenset[str] | None:
    """Return the names of a program's functions, and of those of the tests; None if tests do more than call them."""
    defined = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    own = {node.name: node.args for node in defined}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    if len(own) < len(defined) or not stored.isdisjoint(own):
        return None
    names, before = {*asked}, 0
    while before != len(names):
        before = len(names)
        for node in nodes:
            if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
                other = _other_name(node, parents[node], own)
                if other is None:
                    return None
                names.add(other or node.id)
    return frozenset(names | own.keys())


def _other_name(node: ast.Name, parent: ast.AST, own: dict[str, ast.arguments]) -> str | None:
    """Return the name under which a function goes on from here; empty if it is only called, None if in doubt."""
    match parent:
        case ast.Call(func=function) if function is node:
            return ""
        case ast.Call(func=ast.Name(id=called), args=given) if node in given:
            if called in _CALLERS and given[0] is node:
                return ""
            parameters = [*own[called].posonlyargs, *own[called].args] if called in own else []
            place = given.index(node)
            if place < len(parameters) and not any(isinstance(one, ast.Starred) for one in given):
                return parameters[place].arg
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None


def _iterates(node: ast.AST, functions: Collection[str]) -> bool:
    """Whether a loop iterates over a variable that it gives to a function, of the program or of the tests."""
    repeated: Sequence[ast.AST]
    if isinstance(node, ast.For):
        iterated, repeated = [node.iter], node.body
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        iterated, repeated = [one.iter for one in node.generators], [node]
    else:
        return False
    calls = [call for part in repeated for call in ast.walk(part) if _called(call) in functions]
    given = {part.id for call in calls for part in ast.walk(call) if isinstance(part, ast.Name)}
    return not given.isdisjoint(name for one in iterated for name in _read_later(one))


def _read_later(node: ast.expr) -> Iterator[str]:
    """Yield the variables that an iterator over this value reads while it goes on."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Starred(value=value):
            yield from _read_later(value)
        case ast.Call(func=ast.Name(id=name), args=given) if name in _OF_NAMED:
            for one in given:
                yield from _read_later(one)
        case ast.Call(func=ast.Attribute(value=value, attr="items" | "keys" | "values")):
            yield from _read_later(value)
