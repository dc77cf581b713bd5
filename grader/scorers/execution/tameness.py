"""Tame programs: they can only compute. Their syntax tree shows it before anything runs.

A tame program is written in a small part of Python. All its values are plain data: numbers, texts, lists, dictionaries.
It never holds a function, an iterator, a class or an object as a value, so it can reach nothing but its arguments and
its own variables, and no address in memory influences it. It may ask a set, but not read it in order. It catches no
exception that a limit raises. So the same calls get the same answers whatever process it is in.

This is a grammar of what is allowed. Everything else is not tame, also if it is harmless.
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
import string
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.execution.extraction import parse
from grader.scorers.execution.tame_names import (
    CATCHABLE,
    CONSTANTS,
    CONVERSIONS,
    COUNTED,
    DECORATORS,
    ITERATOR_METHODS,
    ITERATORS,
    MAPPING,
    METHODS,
    MODULES,
    ORDERED_BY_VALUE,
    PLAIN,
    READERS,
    READING_METHODS,
    SET_METHODS,
    SET_QUESTIONS,
    SET_RESULTS,
    SORTED,
    TYPES,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Position = Callable[[ast.expr], None]

MOST_CHARACTERS = 20_000
"""Longer programs are not examined."""


class Tame(NamedTuple):
    """What a tame program needs to know about its names."""

    names: frozenset[str]
    """All its names."""
    functions: frozenset[str]
    """The functions that it defines at the top level."""
    sorts_sets: bool
    """Whether it brings sets into an order. It is well defined for texts and integers, not for a NaN."""


@functools.lru_cache(maxsize=4096)
def tame(source: str) -> Tame | None:
    """Return what there is to know about a tame program; None for any other program."""
    # Lines that end otherwise would be counted otherwise.
    tree = parse(source) if len(source) <= MOST_CHARACTERS and "\r" not in source else None
    if tree is None:
        return None
    try:
        return _Reader(tree).read()
    except (_WildError, RecursionError):
        return None


class _WildError(Exception):
    """Raised for what is not in the grammar."""


def _require(condition: object) -> None:
    if not condition:
        raise _WildError


_SETS = (ast.Set, ast.SetComp)
_SET_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)


class _Reader:
    """Reads a program by the grammar: one method for each position in which an expression can be."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        nodes = list(ast.walk(tree))
        self._variables = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        self._variables |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        assigned = [node for node in nodes if isinstance(node, ast.Assign)]
        lambdas = {_name(node.targets[0]) for node in assigned if isinstance(node.value, ast.Lambda)}
        self._functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)} | lambdas
        self._variables -= lambdas
        self._sets: set[str] = set()
        self._find_sets(nodes)
        self._imported: dict[str, str] = {}
        """Name -> module, or module and the name in it."""
        for node in nodes:
            if isinstance(node, ast.Import):
                self._imported |= {alias.asname or alias.name: alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                self._imported |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        self._has_floats = any(map(_may_be_float, nodes)) or not {"math", "statistics"}.isdisjoint(
            name.partition(".")[0] for name in self._imported.values()
        )
        self._catches = any(isinstance(node, ast.Try) for node in nodes)
        self._sorts_sets = False

    def _find_sets(self, nodes: Iterable[ast.AST]) -> None:
        """Find the variables that are sets wherever they are assigned."""
        pairs = [(target, n.value) for n in nodes if isinstance(n, ast.Assign) for target in n.targets]
        pairs += [(n.target, n.value) for n in nodes if isinstance(n, ast.AnnAssign) and n.value is not None]
        before = -1
        while before < len(self._sets):
            before = len(self._sets)
            self._sets |= {_name(target) for target, value in pairs if self._is_set(value)}

    def read(self) -> Tame:
        bound = self._variables | self._functions | self._imported.keys()
        _require(not any(name.startswith("__") or hasattr(builtins, name) for name in bound))
        _require(self._variables.isdisjoint(self._functions | self._imported.keys()))
        _require(self._functions.isdisjoint(self._imported))
        self._statements(self._tree.body)
        top = {node.name for node in self._tree.body if isinstance(node, ast.FunctionDef)}
        read = {node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)}
        return Tame(frozenset(bound | read), frozenset(top), self._sorts_sets)

    # --- statements ---

    def _statements(self, nodes: Iterable[ast.stmt]) -> None:
        for node in nodes:
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:  # noqa: C901, PLR0912 - a table
        match node:
            case ast.FunctionDef():
                self._function(node)
            case ast.Return(value=value):
                self._optional(value)
            case ast.Assign(targets=targets, value=value):
                self._assignment(targets, value)
            case ast.AnnAssign(target=target, value=value, annotation=annotation):
                self._annotation(annotation)
                self._assignment([target], value) if value is not None else self._target(target)
            case ast.AugAssign(target=target, value=value):
                is_set = _name(target) in self._sets
                _require(not is_set or isinstance(node.op, _SET_OPERATORS))
                self._set(value) if is_set else self._data(value)
                self._target(target)
            case ast.For(target=target, iter=iterable, type_comment=None):
                self._target(target)
                self._iterable(iterable)
                self._statements([*node.body, *node.orelse])
            case ast.If(test=test) | ast.While(test=test):
                if isinstance(node, ast.If) and ast.unparse(test) == "__name__ == '__main__'":
                    self._statements(node.orelse)  # a module's name in an official run is `builtins`
                    return
                self._condition(test)
                self._statements([*node.body, *node.orelse])
            case ast.Expr(value=value):
                self._data(value)
            case ast.Assert(test=test, msg=said):
                self._condition(test)
                self._optional(said)
            case ast.Raise(exc=error, cause=cause):
                _require(cause is None or (isinstance(cause, ast.Constant) and cause.value is None))
                if error is not None:
                    self._exception(error)
            case ast.Try():
                self._try(node)
            case ast.Import(names=names):
                _require(all(alias.name in MODULES for alias in names))
            case ast.ImportFrom(module=module, names=names, level=0):
                _require(module in MODULES and all(alias.name != "*" for alias in names))
            case ast.Delete(targets=targets):
                for target in targets:
                    self._target(target)
            case ast.Pass() | ast.Break() | ast.Continue() | ast.Global() | ast.Nonlocal():
                pass
            case _:
                raise _WildError

    def _function(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            _require(self._library(called) in DECORATORS)
            if isinstance(decorator, ast.Call):
                self._all_data([*decorator.args, *(keyword.value for keyword in decorator.keywords)])
        self._arguments(node.args)
        if node.returns is not None:
            self._annotation(node.returns)
        self._statements(node.body)

    def _arguments(self, node: ast.arguments) -> None:
        self._all_data([*node.defaults, *(one for one in node.kw_defaults if one is not None)])
        every = [*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg]
        for one in every:
            _require(one is None or one.arg not in self._sets)
            if one is not None and one.annotation is not None:
                self._annotation(one.annotation)

    def _annotation(self, node: ast.expr) -> None:
        kinds = (
            ast.Name, ast.Subscript, ast.Attribute, ast.Tuple, ast.List, ast.Constant, ast.BinOp, ast.BitOr, ast.Load
        )  # fmt: skip
        _require(all(isinstance(part, kinds) and not _is_private(part) for part in ast.walk(node)))

    def _assignment(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        if isinstance(value, ast.Lambda):
            _require(len(targets) == 1 and isinstance(targets[0], ast.Name))
            self._lambda(value)
            return
        if self._is_set(value):
            _require(all(isinstance(target, ast.Name) for target in targets))
            self._set(value)
        elif all(isinstance(target, (ast.Tuple, ast.List)) for target in targets):
            self._iterable(value)
        else:
            # A variable that is a set somewhere is never anything else.
            _require(self._sets.isdisjoint(map(_name, targets)))
            self._data(value)
        for target in targets:
            self._target(target)

    def _target(self, node: ast.expr) -> None:
        match node:
            case ast.Name(id=name):
                _require(name in self._variables)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    _require(_name(part) not in self._sets)
                    self._target(part)
            case ast.Starred(value=value):
                self._target(value)
            case ast.Subscript():
                self._subscript(node)
            case _:
                raise _WildError

    def _exception(self, node: ast.expr) -> None:
        """An exception is only raised; it is no value."""
        if isinstance(node, ast.Call):
            self._all_data(node.args)
            _require(not node.keywords)
            node = node.func
        name = _name(node)
        kind = getattr(builtins, name, None)
        _require(isinstance(kind, type) and issubclass(kind, Exception) and not name.endswith("Warning"))

    def _try(self, node: ast.Try) -> None:
        for handler in node.handlers:
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            _require(handler.name is None and all(kind is not None and _name(kind) in CATCHABLE for kind in kinds))
            self._statements(handler.body)
        # A `finally` can end or replace the exception that a limit has raised.
        _require(not node.finalbody)
        self._statements([*node.body, *node.orelse])

    # --- expressions whose value is plain data ---

    def _optional(self, node: ast.expr | None) -> None:
        if node is not None:
            self._data(node)

    def _all_data(self, nodes: Iterable[ast.expr]) -> None:
        for node in nodes:
            self._data(node)

    def _data(self, node: ast.expr) -> None:  # noqa: C901, PLR0912 - a table
        match node:
            case ast.Constant(value=value):
                _require(value is not ... and not isinstance(value, complex))
            case ast.Name(id=name) if name in self._variables:
                _require(name not in self._sets)
            case ast.BoolOp(values=values):
                self._all_data(values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._condition(operand)
            case ast.UnaryOp(operand=operand):
                self._data(operand)
            case ast.BinOp(left=left, right=right):
                self._all_data((left, right))
            case ast.Compare():
                self._compare(node)
            case ast.Call():
                self._call(node)
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                self._condition(test)
                self._all_data((body, otherwise))
            case ast.NamedExpr(target=target, value=value):
                _require(target.id not in self._sets)
                self._target(target)
                self._data(value)
            case ast.Dict(keys=keys, values=values):
                self._all_data([*filter(None, keys), *values])
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                self._several(parts)
            case ast.Subscript():
                self._subscript(node)
            case ast.ListComp(elt=item):
                self._comprehension(node.generators, item)
            case ast.DictComp(key=key, value=value):
                self._comprehension(node.generators, key, value)
            case ast.JoinedStr(values=values):
                self._all_data(values)
            case ast.FormattedValue(value=value, format_spec=spec):
                self._data(value)
                self._optional(spec)
            case ast.Attribute() | ast.Name():
                _require(self._library(node) in CONSTANTS)
            case _:
                raise _WildError

    def _several(self, nodes: Iterable[ast.expr]) -> None:
        for node in nodes:
            self._iterable(node.value) if isinstance(node, ast.Starred) else self._data(node)

    def _subscript(self, node: ast.Subscript) -> None:
        self._data(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            if isinstance(part, ast.Slice):
                self._all_data(filter(None, (part.lower, part.upper, part.step)))
            else:
                self._data(part)

    def _condition(self, node: ast.expr) -> None:
        """Only the truth of it matters."""
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                self._condition(value)
        else:
            self._set_or(self._data, node)

    def _compare(self, node: ast.Compare) -> None:
        pairs = zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
        for left, operator, right in pairs:
            if isinstance(operator, (ast.In, ast.NotIn)):
                self._data(left)
                self._set_or(self._iterable, right)
            elif isinstance(operator, (ast.Is, ast.IsNot)):
                # Whether two equal numbers or texts are one object depends on what was compiled together.
                _require(any(map(is_single, (left, right))))
                self._all_data((left, right))
            else:
                self._set_or(self._data, left)
                self._set_or(self._data, right)

    def _comprehension(self, generators: Iterable[ast.comprehension], *items: ast.expr) -> None:
        for one in generators:
            _require(not one.is_async)
            self._target(one.target)
            _require(self._sets.isdisjoint(map(_name, ast.walk(one.target))))
            self._iterable(one.iter)
            for condition in one.ifs:
                self._condition(condition)
        self._all_data(items)

    # --- what is read at once ---

    def _iterable(self, node: ast.expr) -> None:
        """Data, or an iterator that is read where it is made, and then gone."""
        if isinstance(node, ast.GeneratorExp):
            self._comprehension(node.generators, node.elt)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ITERATOR_METHODS:
            _require(not node.args and not node.keywords)
            self._data(node.func.value)
        elif isinstance(node, ast.Call) and (name := self._library(node.func)) in ITERATORS:
            given = self._after_callback(name, node.args)
            if name == "itertools.accumulate" and len(given) > 1:
                self._callback(given.pop())
            for one in given:
                self._iterable(one.value if isinstance(one, ast.Starred) else one)
            self._keywords(node.keywords)
        else:
            self._data(node)

    def _after_callback(self, name: str, given: Sequence[ast.expr]) -> list[ast.expr]:
        """Return the arguments of a function that are not the function which it takes first."""
        if name not in MAPPING:
            return [*given]
        _require(given)
        self._callback(given[0])
        return [*given[1:]]

    def _keywords(self, keywords: Iterable[ast.keyword]) -> None:
        for keyword in keywords:
            self._callback(keyword.value) if keyword.arg in {"key", "func"} else self._data(keyword.value)

    # --- sets: they may be asked, and never read in order ---

    def _is_set(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self._sets
            case ast.Call(func=ast.Name(id="set" | "frozenset")):
                return True
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                return name in SET_RESULTS and self._is_set(value)
            case ast.BinOp(left=left, right=right):
                return isinstance(node.op, _SET_OPERATORS) and (self._is_set(left) or self._is_set(right))
        return isinstance(node, _SETS)

    def _set_or(self, other: Position, node: ast.expr) -> None:
        self._set(node) if self._is_set(node) else other(node)

    def _set(self, node: ast.expr) -> None:
        match node:
            case ast.Name(id=name):
                _require(name in self._sets)
            case ast.Set(elts=parts):
                self._several(parts)
            case ast.SetComp(elt=item):
                self._comprehension(node.generators, item)
            case ast.Call(func=ast.Name(id="set" | "frozenset"), args=given):
                _require(not node.keywords)
                self._of_sets(given)
            case ast.Call(func=ast.Attribute(value=value), args=given):
                _require(self._is_set(node) and not node.keywords)
                self._set(value)
                self._of_sets(given)
            case ast.BinOp(left=left, right=right) if isinstance(node.op, _SET_OPERATORS):
                self._set(left)
                self._set(right)
            case _:
                raise _WildError

    def _of_sets(self, nodes: Iterable[ast.expr]) -> None:
        for node in nodes:
            self._set_or(self._iterable, node.value if isinstance(node, ast.Starred) else node)

    # --- calls ---

    def _library(self, node: ast.expr) -> str:
        """Return the full name of a function or constant of the library, or the name of a built-in one."""
        match node:
            case ast.Name(id=name) if name in self._imported:
                return self._imported[name]
            case ast.Name(id=name) if name not in self._functions and name not in self._variables:
                return name
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in self._imported:
                return f"{self._imported[module]}.{name}"
        return ""

    def _call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in self._functions:
            self._several(node.args)
            self._all_data(keyword.value for keyword in node.keywords)
        elif name := self._library(node.func):
            self._call_of_library(name, node)
        else:
            self._method(node)

    def _call_of_library(self, name: str, node: ast.Call) -> None:
        given, only = list(node.args), node.args[0] if len(node.args) == 1 else None
        if only is not None and self._is_set(only) and name in SET_QUESTIONS | ORDERED_BY_VALUE:
            if name in ORDERED_BY_VALUE:
                _require(not (self._has_floats or self._catches))
                self._sorts_sets = True
                _require(all(keyword.arg == "reverse" for keyword in node.keywords))
            self._set(only)
            self._keywords(node.keywords)
        elif name == "isinstance":
            _require(len(given) == 2 and not node.keywords)
            self._data(given[0])
            kinds = given[1].elts if isinstance(given[1], ast.Tuple) else [given[1]]
            _require(all(isinstance(kind, ast.Name) and self._library(kind) in TYPES for kind in kinds))
        elif name == "collections.defaultdict":
            _require(given and _name(given[0]) in CONVERSIONS and not node.keywords)
            self._several(given[1:])
        elif name in READERS:
            # Only what is read may be an iterator: `max(a, b)` and `sum((), a)` return one of their arguments.
            rest = self._after_callback(name, given)
            reads = name not in {"min", "max"} or len(rest) == 1
            for place, one in enumerate(rest):
                is_read = reads and place == (name in COUNTED)
                self._iterable(one) if is_read and not isinstance(one, ast.Starred) else self._several([one])
            self._keywords(node.keywords)
        else:
            _require(name in PLAIN)
            _require(name != "print" or all(keyword.arg in {"sep", "end"} for keyword in node.keywords))
            self._several(given)
            self._all_data(keyword.value for keyword in node.keywords)

    def _method(self, node: ast.Call) -> None:
        _require(isinstance(node.func, ast.Attribute))
        assert isinstance(node.func, ast.Attribute)
        value, name, keywords = node.func.value, node.func.attr, node.keywords
        if isinstance(value, ast.Name) and value.id in self._sets:
            _require(name in SET_METHODS and not keywords)
            self._all_data(node.args) if name in {"add", "discard", "remove"} else self._of_sets(node.args)
            return
        if self._library(value) not in TYPES:
            self._data(value)
        if name == "format":
            _require(isinstance(value, ast.Constant) and _is_plain_format(value.value))
        if name in READING_METHODS and node.args:
            self._iterable(node.args[0])
            self._several(node.args[1:])
            self._all_data(keyword.value for keyword in keywords)
        else:
            _require(name in METHODS | READING_METHODS)
            self._several(node.args)
            self._keywords(keywords)

    # --- functions that are handed over, and called at once ---

    def _callback(self, node: ast.expr) -> None:
        match node:
            case ast.Lambda():
                self._lambda(node)
            case ast.Name(id=name) if name in self._functions:
                pass
            case ast.Constant(value=None):
                pass
            case ast.Call(func=called, args=[one], keywords=[]) if self._library(called) == SORTED:
                self._callback(one)
            case ast.Call(func=called, args=given, keywords=[]) if self._library(called) == "operator.itemgetter":
                self._all_data(given)
            case ast.Attribute(value=value, attr=name) if name in METHODS and name != "format":
                if self._library(node) not in PLAIN and self._library(value) not in TYPES:
                    self._data(value)
            case _:
                _require(self._library(node) in PLAIN | CONVERSIONS)

    def _lambda(self, node: ast.Lambda) -> None:
        self._arguments(node.args)
        self._data(node.body)


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def is_single(node: ast.expr) -> bool:
    """Whether an expression is None, True or False: there is only one of each."""
    return isinstance(node, ast.Constant) and (node.value is None or type(node.value) is bool)


def _is_plain_format(text: object) -> bool:
    """Whether a format names no attributes, which would show what is no data."""
    try:
        fields = [(name or "", spec or "") for _, name, spec, _ in string.Formatter().parse(str(text))]
    except ValueError:
        return False
    return all(not re.search(r"[.\[]", name) and _is_plain_format(spec) for name, spec in fields)


def _is_private(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr.startswith("_")


def _may_be_float(node: ast.AST) -> bool:
    """Whether a value may become a float here. Without any, there is no NaN."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, float)
        case ast.Div():
            return True
        case ast.BinOp(op=ast.Pow(), right=right):
            return not (isinstance(right, ast.Constant) and isinstance(right.value, int))
        case ast.Name(id=name):
            return name in {"float", "pow"}
    return False
