"""Tame programs: they can only compute. Their syntax tree shows it before anything runs.

1. **They keep nothing.** No state outlives a call: variables of the module that functions read are constant.
2. **They handle only plain data**: numbers, texts, lists, dictionaries. Functions, iterators and sets are used where
   they are named or made, and are never returned or put into other data. So neither addresses in memory nor the order
   of a set influence an answer.
3. **They catch no limit**: no exception that a limit of time, memory or recursion can raise.

So the same calls get the same answers in every process, also after other tame programs. The grammar says what is
allowed; every other program is not tame, even if it is harmless.
"""

from __future__ import annotations

import ast
import builtins
import enum
import functools
import re
import string
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.execution.extraction import parse
from grader.scorers.execution.tame_names import (
    CALLBACKS,
    CATCHABLE,
    CHANGES_OF_SETS,
    CODECS,
    CONSTANTS,
    DECORATORS,
    FUNCTIONS,
    HANDED_OVER,
    ITERATOR_METHODS,
    ITERATORS,
    MAPPING,
    METHODS,
    MODULES,
    ORDERED_BY_VALUE,
    QUESTIONS_TO_SETS,
    READ_SECOND,
    READERS,
    READING_METHODS,
    RESULTS_OF_SETS,
    TABLE_METHODS,
    TYPES,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_CHARACTERS = 20_000
"""Longer programs are not examined."""


class Tame(NamedTuple):
    """The names of a tame program, and whether it sorts sets."""

    names: frozenset[str]
    """All its names."""
    functions: frozenset[str]
    """The functions that it defines at the top level."""
    sorts_sets: bool
    """Whether it sorts sets. The result is well defined for texts and integers, but not if one of them has a NaN."""


@functools.lru_cache(maxsize=4096)
def tame(source: str) -> Tame | None:
    """Return the names of a tame program; None if the program is not tame."""
    # With other line endings, the numbers of lines would differ.
    tree = parse(source) if len(source) <= MOST_CHARACTERS and "\r" not in source else None
    if tree is None:
        return None
    try:
        return _Reader(tree).read()
    except (_WildError, RecursionError):
        return None


class _WildError(Exception):
    """Raised for a program that does not follow the grammar."""


def _require(condition: object) -> None:
    if not condition:
        raise _WildError


class _Kind(enum.Flag):
    """What the value of an expression can be."""

    DATA = enum.auto()
    SET = enum.auto()
    """It may be asked about its items and combined with other sets, but not read in order."""
    TABLE = enum.auto()
    """A list, dictionary or set of constants that the module defines. It may only be read."""
    ITERATOR = enum.auto()
    """It is read once, where it is made."""
    FUNCTION = enum.auto()
    """It is called, or passed to a function that calls it at once."""


_DATA, _SET, _TABLE, _FUNCTION = _Kind.DATA, _Kind.SET, _Kind.TABLE, _Kind.FUNCTION
_READ = _DATA | _TABLE | _Kind.ITERATOR
_ASKED = _READ | _SET
_SET_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Scope = dict[str, _Kind]
"""Variable -> kind of its values."""


class _Reader:
    """Checks a program against the grammar."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        nodes = list(ast.walk(tree))
        names = [node for node in nodes if isinstance(node, ast.Name)]
        self._read = {node.id for node in names}
        self._variables = {node.id for node in names if _is_stored(node)}
        self._variables |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        lambdas = {_name(n.targets[0]) for n in nodes if isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda)}
        self._lambdas = lambdas
        self._functions = {node.name for node in nodes if isinstance(node, ast.FunctionDef)} | lambdas
        self._variables -= lambdas
        self._imported: dict[str, str] = {}
        """Name -> module, or module and the name in it."""
        for name, full in _imports(nodes):
            _require(self._imported.setdefault(name, full) == full)
        modules = {name.partition(".")[0] for name in self._imported.values()}
        self._has_floats = any(map(_may_be_float, nodes)) or not modules.isdisjoint({"math", "operator", "statistics"})
        self._catches = any(isinstance(node, ast.Try) for node in nodes)
        self._sorts_sets = False
        self._scopes: list[_Scope] = []
        """The scopes around the node that is being read, outermost first: module, functions, comprehensions."""
        self._depth = 0
        """Number of functions around the node that is being read."""
        self._kept: _Scope = {}
        """Variable of the module -> kind, for those that functions may read."""

    def read(self) -> Tame:
        named = self._functions | self._imported.keys()
        bound = named | self._variables
        _require(self._variables.isdisjoint(named) and self._functions.isdisjoint(self._imported))
        own = list(_own(self._tree.body))
        # A local variable may have the name of a built-in function: `_library` does not take it for the function.
        public = named | {node.id for node in own if isinstance(node, ast.Name) and _is_stored(node)}
        _require(not any(hasattr(builtins, name) for name in public))
        _require(not any(name.startswith("__") for name in bound))
        self._kept = self._constant(own)
        self._scopes.append(self._scope((), own) | self._kept)
        self._statements(self._tree.body)
        # Messages about a wrong call have the name `<lambda>` if a lambda has replaced the function.
        top = {node.name for node in self._tree.body if isinstance(node, ast.FunctionDef)} - self._lambdas
        return Tame(frozenset(bound | self._read), frozenset(top), self._sorts_sets)

    # --- scopes ---

    def _constant(self, own: Iterable[ast.AST]) -> _Scope:
        """Return the variables of the module that are constants or tables."""
        values: dict[str, list[ast.expr | None]] = {}
        for node in own:
            if isinstance(node, ast.Name) and _is_stored(node):
                values.setdefault(node.id, []).append(None)
        for name, value in _assigned(own):
            values[name].remove(None)
            values[name].append(value)
        found = {name: _DATA for name, given in values.items() if all(map(self._is_constant, given))}
        tables = {name: _TABLE for name, given in values.items() if len(given) == 1 and self._is_table(given[0])}
        return found | tables

    def _is_constant(self, node: ast.expr | None) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.UnaryOp(operand=operand):
                return self._is_constant(operand)
            case ast.BinOp(left=left, right=right):
                return self._is_constant(left) and self._is_constant(right)
            case ast.Tuple(elts=parts):
                return all(map(self._is_constant, parts))
            case ast.Call(func=function, args=given, keywords=[]):
                return self._library(function) in {"int", "float", "str"} and all(map(self._is_constant, given))
        return isinstance(node, (ast.Name, ast.Attribute)) and self._library(node) in CONSTANTS

    def _is_table(self, node: ast.expr | None) -> bool:
        match node:
            case ast.List(elts=parts):
                return all(map(self._is_constant, parts))
            case ast.Dict(keys=keys, values=values):
                return all(map(self._is_constant, (*keys, *values)))
            case ast.Call(func=function, args=[ast.Constant(value=str())], keywords=[]):
                return self._library(function) in {"set", "frozenset", "list"}
            case ast.Call(func=function, args=[ast.List(elts=parts) | ast.Set(elts=parts)], keywords=[]):
                return self._library(function) in {"set", "frozenset"} and all(map(_is_ordered, parts))
            case ast.Set(elts=parts):
                return all(map(_is_ordered, parts))
        return False

    def _scope(self, given: Iterable[str], own: Iterable[ast.AST]) -> _Scope:
        """Return the variables of a function or of the module: those that are `given`, and those that it stores."""
        elsewhere = {name for node in own if isinstance(node, ast.Nonlocal) for name in node.names}
        stored = {node.id for node in own if isinstance(node, ast.Name) and _is_stored(node)} - elsewhere
        found = dict.fromkeys({*given, *stored}, _DATA)
        self._scopes.append(found)
        count = -1
        while count < len(sets := {name for name, value in _assigned(own) if name in found and self._is_set(value)}):
            count = len(sets)
            found |= dict.fromkeys(sets, _SET)
        self._scopes.pop()
        _require(sets.isdisjoint(given))
        return found

    def _variable(self, name: str) -> _Kind:
        """Return the kind of a variable. What a function reads of the module has to be constant."""
        for scope in reversed(self._scopes[1:]):
            if name in scope:
                return scope[name]
        _require(name in self._scopes[0])
        _require(not self._depth or name in self._kept)
        return self._scopes[0][name]

    # --- statements ---

    def _statements(self, nodes: Iterable[ast.stmt]) -> None:
        for node in nodes:
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:  # noqa: C901, PLR0912 - a table
        match node:
            case ast.FunctionDef():
                self._function(node)
            case ast.Assign(targets=targets, value=value):
                self._assignment(targets, value)
            case ast.AnnAssign(target=target, value=value, annotation=annotation):
                self._annotation(annotation)
                self._assignment([target], value) if value is not None else self._target(target)
            case ast.AugAssign(target=target, value=value):
                kind = self._target(target)
                _require(kind is _DATA or isinstance(node.op, _SET_OPERATORS))
                self._expect(kind, value)
            case ast.For(target=target, iter=iterable, type_comment=None):
                self._expect(_READ, iterable)
                _require(self._target(target) is _DATA)
                self._statements([*node.body, *node.orelse])
            case ast.If(test=test) | ast.While(test=test):
                is_of_module = isinstance(node, ast.If) and not self._depth
                if is_of_module and ast.unparse(test) == "__name__ == '__main__'":
                    self._statements(node.orelse)  # a module's name in an official run is `builtins`
                    return
                self._expect(_DATA | _SET, test)
                self._statements([*node.body, *node.orelse])
            case ast.Return(value=value) | ast.Expr(value=value):
                self._expect(_DATA, value)
            case ast.Assert(test=test, msg=said):
                self._expect(_DATA | _SET, test)
                self._expect(_DATA, said)
            case ast.Raise(exc=error, cause=cause):
                _require(cause is None or (isinstance(cause, ast.Constant) and cause.value is None))
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
            case ast.Pass() | ast.Break() | ast.Continue() | ast.Nonlocal():
                pass
            case _:
                raise _WildError

    def _function(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            # The cache of a function of the module would outlive a call.
            _require(self._depth and self._library(called) in DECORATORS)
            if isinstance(decorator, ast.Call):
                self._expect(_DATA, *decorator.args, *(keyword.value for keyword in decorator.keywords))
        _require(not getattr(node, "type_params", None))
        if node.returns is not None:
            self._annotation(node.returns)
        self._inside(node.args, node.body)

    def _inside(self, given: ast.arguments, body: list[ast.stmt] | ast.expr) -> None:
        """Read the arguments and the body of a function."""
        defaults = [*given.defaults, *filter(None, given.kw_defaults)]
        self._expect(_DATA, *defaults)
        # A default value lives as long as its function; for a function of the module, this is longer than a call.
        _require(self._depth or all(map(self._is_constant, defaults)))
        every = list(filter(None, [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]))
        for one in every:
            if one.annotation is not None:
                self._annotation(one.annotation)
        self._scopes.append(self._scope([one.arg for one in every], [*_own(body if isinstance(body, list) else [])]))
        self._depth += 1
        self._statements(body) if isinstance(body, list) else self._expect(_DATA, body)
        self._depth -= 1
        self._scopes.pop()

    def _annotation(self, node: ast.expr) -> None:
        """Require that an annotation names types only. It is computed when its function is defined."""
        match node:
            case ast.Constant():
                pass
            case ast.Name(id=name):
                _require(name not in self._variables | self._functions and not name.startswith("__"))
                full = self._imported.get(name, "")
                _require(not full or full.startswith(("typing.", "collections.")))
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                _require(self._imported.get(name) in {"typing", "collections"} and not attribute.startswith("_"))
            case ast.Subscript(value=kind, slice=parts) | ast.BinOp(left=kind, right=parts, op=ast.BitOr()):
                self._annotation(kind)
                self._annotation(parts)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self._annotation(item)
            case _:
                raise _WildError

    def _assignment(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        if isinstance(value, ast.Lambda):
            _require(len(targets) == 1 and isinstance(targets[0], ast.Name))
            self._inside(value.args, value.body)
            return
        is_unpacked = all(isinstance(target, (ast.Tuple, ast.List)) for target in targets)
        for target in targets:
            kind = self._target(target, is_defined=self._is_table(value))
            self._expect(_READ if is_unpacked else _ASKED if kind is _TABLE else kind, value)

    def _target(self, node: ast.expr, *, is_defined: bool = False) -> _Kind:
        """Return the kind of values that can be assigned to a target. `is_defined`: a table is assigned as a whole."""
        match node:
            case ast.Name(id=name):
                kind = self._variable(name)
                _require(name in self._variables and (kind is not _TABLE or is_defined))
                return kind
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                _require(all(self._target(part) is _DATA for part in parts))
            case ast.Starred(value=value):
                _require(self._target(value) is _DATA)
            case ast.Subscript(value=value):
                self._expect(_DATA, value)
                self._index(node.slice)
            case _:
                raise _WildError
        return _DATA

    def _exception(self, node: ast.expr | None) -> None:
        """An exception is only raised; it is no value."""
        if isinstance(node, ast.Call):
            self._expect(_DATA, *node.args)
            _require(not node.keywords)
            node = node.func
        if node is not None:
            kind = getattr(builtins, self._library(node), None)
            _require(isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, Warning))

    def _try(self, node: ast.Try) -> None:
        for handler in node.handlers:
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            _require(
                handler.name is None and all(kind is not None and self._library(kind) in CATCHABLE for kind in kinds)
            )
            self._statements(handler.body)
        # A `finally` can end or replace the exception that a limit has raised.
        _require(not node.finalbody)
        self._statements([*node.body, *node.orelse])

    # --- expressions ---

    def _expect(self, allowed: _Kind, *nodes: ast.expr | None) -> None:
        """Require that the values of expressions are of the kinds that are allowed here."""
        for node in nodes:
            if isinstance(node, ast.Starred):
                self._expect(_READ, node.value)
            elif node is not None:
                _require(self._kind(node) in allowed)

    def _kind(self, node: ast.expr) -> _Kind:  # noqa: C901, PLR0911, PLR0912 - a table
        """Return what the value of an expression can be."""
        match node:
            case ast.Constant(value=value):
                _require(value is not ... and not isinstance(value, complex))
            case ast.Name(id=name) if name in self._variables:
                return self._variable(name)
            case ast.Lambda():
                self._inside(node.args, node.body)
                return _FUNCTION
            case ast.BoolOp(values=parts):
                return functools.reduce(lambda one, other: one | other, map(self._kind, parts))
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                self._expect(_DATA | _SET, test)
                return self._kind(body) | self._kind(otherwise)
            case ast.UnaryOp(operand=operand):
                self._expect(_DATA | _SET if isinstance(node.op, ast.Not) else _DATA, operand)
            case ast.BinOp(left=left, right=right):
                if isinstance(node.op, _SET_OPERATORS) and self._is_set(node):
                    self._expect(_SET | _TABLE, left, right)
                    return _SET
                self._expect(_DATA if isinstance(node.op, _SET_OPERATORS) else _DATA | _TABLE, left, right)
            case ast.Compare():
                self._compare(node)
            case ast.NamedExpr(target=target, value=value):
                _require(target.id in self._scopes[-1] and self._target(target) is _DATA)
                self._expect(_DATA, value)
            case ast.Call():
                return self._call(node)
            case ast.Dict(keys=keys, values=values):
                self._expect(_DATA, *keys, *values)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.JoinedStr(values=parts):
                self._expect(_DATA, *parts)
            case ast.Set(elts=parts):
                self._expect(_DATA, *parts)
                return _SET
            case ast.FormattedValue(value=value, format_spec=spec):
                self._expect(_DATA, value, spec)
            case ast.Subscript(value=value):
                self._expect(_DATA | _TABLE, value)
                self._index(node.slice)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._comprehension(node)
            case ast.Attribute() | ast.Name():
                return self._named(node)
            case _:
                raise _WildError
        return _DATA

    def _index(self, node: ast.expr) -> None:
        for part in node.elts if isinstance(node, ast.Tuple) else [node]:
            if isinstance(part, ast.Slice):
                self._expect(_DATA, part.lower, part.upper, part.step)
            else:
                self._expect(_DATA, part)

    def _compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            if isinstance(operator, (ast.In, ast.NotIn)):
                self._expect(_DATA, left)
                self._expect(_ASKED, right)
            elif isinstance(operator, (ast.Is, ast.IsNot)):
                # Whether two equal numbers or texts are one object depends on what was compiled together.
                _require(any(map(is_single, (left, right))))
                self._expect(_DATA, left, right)
            else:
                self._expect(_DATA | _SET | _TABLE, left, right)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> _Kind:
        targets = [part for one in node.generators for part in ast.walk(one.target) if isinstance(part, ast.Name)]
        names = {target.id for target in targets if _is_stored(target)}
        self._expect(_READ, node.generators[0].iter)
        self._scopes.append(dict.fromkeys(names, _DATA))
        for number, one in enumerate(node.generators):
            _require(not one.is_async and self._target(one.target) is _DATA)
            self._expect(_READ, one.iter if number else None)
            self._expect(_DATA | _SET, *one.ifs)
        self._expect(_DATA, *((node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)))
        self._scopes.pop()
        kinds = {ast.SetComp: _SET, ast.GeneratorExp: _Kind.ITERATOR}
        return kinds.get(type(node), _DATA)

    def _named(self, node: ast.Attribute | ast.Name) -> _Kind:
        """Return the kind of a constant of the library, or of a function that is named and not called."""
        name = self._library(node)
        if name in CONSTANTS:
            return _DATA
        if _name(node) not in self._functions and name not in HANDED_OVER:
            # What these do depends on their arguments, which are examined where they are called.
            if not isinstance(node, ast.Attribute) or node.attr not in METHODS - {"format", "encode", "decode"}:
                raise _WildError
            if self._library(node.value) not in TYPES:
                self._expect(_DATA, node.value)
        return _FUNCTION

    def _is_set(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return any(scope.get(name) is _SET for scope in self._scopes)
            case ast.Call(func=ast.Name(id="set" | "frozenset")):
                return True
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                return name in RESULTS_OF_SETS and self._is_set(value)
            case ast.BinOp(left=left, right=right):
                return isinstance(node.op, _SET_OPERATORS) and (self._is_set(left) or self._is_set(right))
            case ast.IfExp(body=body, orelse=otherwise):
                return self._is_set(body) or self._is_set(otherwise)
        return isinstance(node, (ast.Set, ast.SetComp))

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

    def _call(self, node: ast.Call) -> _Kind:
        if _name(node.func) in self._functions:
            self._expect(_DATA, *node.args, *(keyword.value for keyword in node.keywords))
            return _DATA
        if name := self._library(node.func):
            return self._call_of_library(name, node)
        if not isinstance(node.func, ast.Attribute):
            raise _WildError
        return self._method(node.func, node)

    def _call_of_library(self, name: str, node: ast.Call) -> _Kind:
        given, only = list(node.args), node.args[0] if len(node.args) == 1 else None
        # The memory of `deepcopy` has addresses in it.
        _require(not name.startswith("copy.") or (only is not None and not node.keywords))
        if name in {"set", "frozenset"}:
            _require(not node.keywords)
            self._expect(_ASKED, *given)
            return _SET
        if only is not None and self._is_set(only) and name in QUESTIONS_TO_SETS | ORDERED_BY_VALUE:
            if name in ORDERED_BY_VALUE:
                _require(not (self._has_floats or self._catches))
                self._sorts_sets = True
                _require(all(keyword.arg == "reverse" for keyword in node.keywords))
            self._expect(_SET, only)
            self._keywords(name, node.keywords)
        elif name == "isinstance":
            _require(len(given) == 2 and not node.keywords)
            self._expect(_DATA, given[0])
            kinds = given[1].elts if isinstance(given[1], ast.Tuple) else [given[1]]
            _require(all(isinstance(kind, ast.Name) and self._library(kind) in TYPES for kind in kinds))
        elif name == "collections.defaultdict":
            _require(given and self._library(given[0]) in TYPES - {"set", "frozenset"} and not node.keywords)
            self._expect(_DATA, *given[1:])
        elif name == "operator.itemgetter":
            _require(not node.keywords)
            self._expect(_DATA, *given)
            return _FUNCTION
        else:
            self._arguments(name, given)
            _require(name != "print" or all(keyword.arg in {"sep", "end"} for keyword in node.keywords))
            self._keywords(name, node.keywords)
        return _Kind.ITERATOR if name in ITERATORS else _DATA

    def _arguments(self, name: str, given: list[ast.expr]) -> None:
        """Read what a function of the library is called with: functions, what it reads, and data."""
        if name in MAPPING:
            _require(given)
            self._callback(given.pop(0))
        if name == "itertools.accumulate" and len(given) > 1:
            self._callback(given.pop())
        if name in ITERATORS:
            self._expect(_READ, *given)
            return
        _require(name in FUNCTIONS | READERS)
        # Only what is read may be an iterator: `max(a, b)` and `sum((), a)` return one of their arguments.
        place = 1 if name in READ_SECOND else 0
        reads = name in READERS and (name not in {"min", "max"} or len(given) == 1)
        for number, one in enumerate(given):
            self._expect(_READ if reads and number == place else _DATA, one)

    def _keywords(self, name: str, keywords: Iterable[ast.keyword]) -> None:
        for keyword in keywords:
            value = keyword.value
            if keyword.arg != CALLBACKS.get(name, ""):
                self._expect(_DATA, value)
            elif isinstance(value, ast.Call) and self._library(value.func) == "functools.cmp_to_key":
                # Its results are no data, and only a `key` does nothing but compare them.
                _require(keyword.arg == "key" and len(value.args) == 1 and not value.keywords)
                self._callback(value.args[0])
            else:
                self._callback(value)

    def _callback(self, node: ast.expr) -> None:
        if not (isinstance(node, ast.Constant) and node.value is None):
            _require(self._kind(node) is _FUNCTION)

    def _method(self, function: ast.Attribute, node: ast.Call) -> _Kind:
        value, name, given = function.value, function.attr, node.args
        kind = _DATA if self._library(value) in TYPES else self._kind(value)
        if kind is _SET:
            _require(name in CHANGES_OF_SETS | RESULTS_OF_SETS and not node.keywords)
            # A set without a name was just made; one with a name is a local variable.
            self._expect(_DATA if name in {"add", "discard", "remove"} else _ASKED, *given)
            return _SET if name in RESULTS_OF_SETS else _DATA
        _require(kind is _DATA or (kind is _TABLE and name in TABLE_METHODS))
        if name in ITERATOR_METHODS:
            _require(not given and not node.keywords)
            return _Kind.ITERATOR
        if name == "format":
            _require(isinstance(value, ast.Constant) and _is_plain_format(value.value))
        if name in {"encode", "decode"}:
            # Others are loaded at first use. If this fails for lack of memory, the error is a LookupError.
            _require(all(isinstance(one, ast.Constant) and one.value in CODECS for one in given) and not node.keywords)
        _require(name in METHODS | READING_METHODS)
        # The first argument of `list.extend(a, b)` is what it changes.
        reads = name in READING_METHODS and (name == "fromkeys" or self._library(value) not in TYPES)
        for number, one in enumerate(given):
            self._expect(_READ if reads and not number else _DATA, one)
        self._keywords(f".{name}", node.keywords)
        return _DATA


def _own(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of a scope: not those inside its functions and comprehensions."""
    for node in body:
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, *_COMPREHENSIONS)):
            yield from _own(ast.iter_child_nodes(node))


def _assigned(own: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Yield each variable that is assigned as a whole, and the value."""
    for node in own:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and not isinstance(node.value, ast.Lambda):
                    yield target.id, node.value


def _imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _is_stored(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def is_single(node: ast.expr) -> bool:
    """Whether an expression is None, True or False: there is only one of each."""
    return isinstance(node, ast.Constant) and (node.value is None or type(node.value) is bool)


def _is_ordered(node: ast.expr) -> bool:
    """Whether an item has the same hash in every process; `None` and NaN do not."""
    return isinstance(node, ast.Constant) and type(node.value) in {int, str}


def _is_plain_format(text: object) -> bool:
    """Whether a format names no attributes, which would show what is no data."""
    try:
        fields = [(name or "", spec or "") for _, name, spec, _ in string.Formatter().parse(str(text))]
    except ValueError:
        return False
    return all(not re.search(r"[.\[]", name) and _is_plain_format(spec) for name, spec in fields)


def _may_be_float(node: ast.AST) -> bool:
    """Whether a value may become a float here. Without any, there is no NaN."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, float)
        case ast.Div():
            return True
        case ast.BinOp(op=ast.Pow(), right=power) | ast.AugAssign(op=ast.Pow(), value=power):
            return not (isinstance(power, ast.Constant) and isinstance(power.value, int))
        case ast.Name(id=name):
            return name in {"float", "pow"}
    return False
