"""Rewrite a task's tests, so that they report what they compare item by item, and which numbers they convert.

`zip(answer, expected)` stops at the end of the shorter one, and a loop over an answer without items asserts nothing. So
the tests' code is rewritten before it is compiled: calls of `zip` and `map`, loops with assertions, and the assertions
themselves report which names they use. Copies of values are reported too, because a copy of an answer has no name of
its own (itemwise.py). `type(x)` returns the ordinary class of an array that notices (noticing.py) or a number that
remembers (nonfinite.py). `float(x)` reports numbers that are not finite (vacuous.py).
"""

import ast
import builtins
import copy
import functools
import itertools
import re

# No `from __future__ import annotations` here: `compile` would pass it on to the tests.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    Node = TypeVar("Node", bound=ast.AST)

ZIP, MAP, OVER, ABOUT, TYPE = "__zip__", "__map__", "__over__", "__about__", "__type__"
FROM, MADE, PART = "__from__", "__made__", "__part__"
FLOAT, COMPLEX, CONVERTED = "__float__", "__complex__", "__converted__"
"""The functions that the rewritten code calls."""
_NUMBERS = {"float": FLOAT, "complex": COMPLEX}
_COPYING = {
    "dict", "enumerate", "filter", "frozenset", "iter", "list", "map", "reversed", "set", "sorted", "tuple",
}  # fmt: skip
_COPYING_METHODS = {
    "copy", "flatten", "getvalue", "items", "keys", "lower", "lstrip", "ravel", "read", "replace", "rsplit", "rstrip",
    "split", "splitlines", "strip", "tolist", "upper", "values",
}  # fmt: skip
_CONVERTING_METHODS = {
    "Timedelta", "Timestamp", "datetime64", "float32", "float64", "loads", "timedelta64", "to_datetime", "to_numeric",
}  # fmt: skip
_CONCERNED = re.compile(rf"\b(zip|map|for|all|any|type|filter|float|complex|{'|'.join(sorted(_CONVERTING_METHODS))})\b")
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
# The result of these can be true also if the answer that they are called with has no items.
_EMPTY_TALK = {
    "all", "any", "zip", "map", "filter", "isinstance", "type", "hasattr", "callable", "print", ZIP, MAP, OVER, TYPE,
}  # fmt: skip
_EMPTY_ASSERTIONS = {"assertIsInstance", "assertNotIsInstance", "assertIsNotNone", "assertIsNot"}


def rewrite(tree: ast.Module, source: str) -> None:
    """Rewrite the code of tests. `Items.bind` and `Guard.bind` define the functions that it then calls."""
    if not _CONCERNED.search(source):
        return
    defined = {
        name
        for node in ast.walk(tree)
        for name in (
            [node.name] if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            else [node.id] if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
            else [(node.asname or node.name)] if isinstance(node, ast.alias)
            else [node.arg] if isinstance(node, ast.arg)
            else []
        )
    }  # fmt: skip
    comparisons = _Comparisons(defined)
    comparisons.visit(tree)
    if comparisons.loops:
        _Assertions(defined).visit(tree)
    ast.fix_missing_locations(tree)


class _Comparisons(ast.NodeTransformer):
    """Rewrites calls, copies of values, and loops that may decide something.

    `defined`: names that the tests define.
    """

    def __init__(self, defined: "set[str]") -> None:
        self._defined = defined
        self.loops = 0
        self._copies = 0

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "map" and node.args and _id(node.args[0]) in _NUMBERS.keys() - self._defined:
            node.args[0] = ast.copy_location(ast.Name(_NUMBERS[_id(node.args[0])], ast.Load()), node)
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute):
            if function.attr in _CONVERTING_METHODS:
                return _call(node, CONVERTED, node)
            if function.attr not in _COPYING_METHODS:
                return node
            return self._copied(node, functools.partial(setattr, function, "value"), function.value)
        if name in self._defined:
            return node
        if name in {"zip", "map"}:
            self._spread(node)
        plain = not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
        if plain and name in {"zip", "map"}:
            sequences = node.args if name == "zip" else node.args[1:]
            if len(sequences) > 1:
                about = ast.Tuple([_constant(_needed(one)) for one in sequences], ast.Load())
                return _call(node, ZIP if name == "zip" else MAP, about, *node.args)
        if plain and len(node.args) == 1:
            if name == "type":
                return _call(node, TYPE, *node.args)
            if name in _NUMBERS and not isinstance(node.args[0], ast.Constant):
                return _call(node, _NUMBERS[name], *node.args)
            if name in {"all", "any"}:
                node.args[0] = self._decisive(node.args[0])
        if plain and name == "filter" and len(node.args) == 2:
            node.args[1] = self._watched(node.args[1])
        if name in _COPYING and node.args:
            number = 1 if name in {"map", "filter"} and len(node.args) > 1 else 0
            kind = PART if name == "filter" else MADE
            return self._copied(node, lambda given: node.args.__setitem__(number, given), node.args[number], kind)
        return node

    def _spread(self, node: ast.Call) -> None:
        """Turn `zip(*[a, b])` into `zip(a, b)`."""
        if len(node.args) == 1 and isinstance(node.args[0], ast.Starred):
            inner = node.args[0].value
            if isinstance(inner, (ast.List, ast.Tuple)):
                node.args = inner.elts

    def _copied(
        self, node: ast.expr, replace: "Callable[[ast.expr], object]", source: ast.expr, name: str = MADE
    ) -> ast.expr:
        """Return an expression that reports its value as a copy of `source`, which is a part of it."""
        if isinstance(source, (ast.Constant, ast.Starred)):
            return node
        self._copies += 1
        number, names = ast.Constant(self._copies), _constant(_needed(source))
        replace(_call(source, FROM, number, source))
        return _call(node, name, number, names, node)

    def _decisive(self, given: ast.expr) -> ast.expr:
        """Watch what `all` or `any` loops over."""
        inner = given.args[-1] if isinstance(given, ast.Call) and _id(given.func) in {MADE, PART} else given
        if isinstance(inner, _COMPREHENSIONS):
            self._watch_first(inner)
            return given
        return self._watched(given)

    def _comprehension(self, node: "Any") -> ast.expr:
        self.generic_visit(node)
        first = node.generators[0]
        if not _length_of(first.iter):
            return node  # type: ignore[no-any-return]
        replace = functools.partial(setattr, first, "iter")
        if not first.ifs:
            return self._copied(node, replace, first.iter)
        made = self._copied(node, replace, first.iter, PART)
        # What it collects may be what the tests do not expect: `[a for a in answer if a not in E] == []`.
        self._watch_first(node)
        return made

    def visit(self, node: ast.AST) -> "Any":
        """Rewrite one node."""
        return self._comprehension(node) if isinstance(node, _COMPREHENSIONS) else super().visit(node)

    def _watch_first(self, node: "Any") -> None:
        if _id(getattr(node.generators[0].iter, "func", None)) != OVER:
            node.generators[0].iter = self._watched(node.generators[0].iter)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        names = _length_of(node.value)
        if isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load) and names:
            return _call(node, MADE, ast.Constant(0), _constant(names), node)
        return node

    def visit_List(self, node: "Any") -> ast.expr:
        self.generic_visit(node)
        names = _length_of(node)
        if not isinstance(node.ctx, ast.Load) or not names:
            return node  # type: ignore[no-any-return]
        # `[*answer]`
        if len(node.elts) == 1:
            return self._copied(node, functools.partial(setattr, node.elts[0], "value"), node.elts[0].value)
        return _call(node, MADE, ast.Constant(0), _constant(names), node)

    visit_Tuple = visit_List  # noqa: N815 - as ast names them

    def visit_Assign(self, node: ast.Assign) -> "Any":
        self.generic_visit(node)
        names = _constant(_length_of(node.value))
        called = node.value
        while isinstance(called, ast.Subscript):
            called = called.value
        if isinstance(called, ast.Call) and _id(called.func) == CONVERTED:
            called = called.args[0]
        # `r = np.round(answer)`, `r = json.loads(answer)["items"]`
        if isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute):
            node.value = _call(node, MADE, ast.Constant(0), names, node.value)
        rest = [part.value for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Starred)]
        # `first, *rest = answer`
        loaded = [ast.copy_location(ast.Name(_id(part), ast.Load()), node) for part in rest if _id(part)]
        made = [_call(node, MADE, ast.Constant(0), names, name) for name in loaded]
        return [node, *(ast.copy_location(ast.Expr(call), node) for call in made)]

    def visit_For(self, node: ast.For) -> ast.stmt:
        decides = any(map(_may_decide, ast.walk(node)))
        self.generic_visit(node)
        if decides:
            node.iter = self._watched(node.iter)
        return node

    def _watched(self, iterable: ast.expr) -> ast.expr:
        names = _length_of(iterable)
        if not names:
            return iterable
        self.loops += 1
        return _call(iterable, OVER, ast.Constant(self.loops), _constant(_needed(iterable)), iterable)


class _Assertions(ast.NodeTransformer):
    """Makes assertions, and conditions that may be part of one, report which names they depend on.

    `defined`: names that the tests define. A function of the tests is examined at its definition, not at its calls.
    """

    def __init__(self, defined: "set[str]") -> None:
        self._defined = defined

    def visit_Assert(self, node: ast.Assert) -> "Any":
        return self._saying(node, node.test)

    def visit_If(self, node: ast.If) -> "Any":
        return self._saying(node, node.test)

    def visit_Return(self, node: ast.Return) -> "Any":
        return self._saying(node, node.value) if node.value is not None else node

    def visit_Expr(self, node: ast.Expr) -> "Any":
        return self._saying(node, node.value) if _may_fail(node) else self.generic_visit(node)

    def _saying(self, node: ast.stmt, test: ast.expr) -> "Any":
        names = tuple(dict.fromkeys(self._mentioned(test)))
        self.generic_visit(node)
        return [ast.copy_location(ast.Expr(_call(node, ABOUT, _constant(names))), node), node] if names else node

    def _mentioned(self, node: ast.AST) -> "Iterator[str]":
        """Yield the names on which a condition depends even if their values have no items."""
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Compare) and _is_about_none(node):
            # `answer is not None`
            return
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id not in _EMPTY_TALK | self._defined:
                for part in (*node.args, *node.keywords):
                    yield from self._mentioned(part)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _EMPTY_ASSERTIONS:
            return
        elif not isinstance(node, (*_COMPREHENSIONS, ast.Lambda)):
            for part in ast.iter_child_nodes(node):
                yield from self._mentioned(part)


def _is_about_none(node: ast.Compare) -> bool:
    """Whether a comparison only tells whether something is None, or the same object."""
    if all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
        return True
    sides = (node.left, *node.comparators)
    return any(isinstance(side, ast.Constant) and side.value is None for side in sides)


def _may_decide(node: ast.AST) -> bool:
    """Whether this statement of a loop can fail, or what happens in it depends on the items."""
    return _may_fail(node) or isinstance(node, ast.If)


def _may_fail(node: ast.AST) -> bool:
    """Whether a test can fail by this statement itself."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return bool(name.startswith("assert"))
    if isinstance(node, ast.Return):
        return isinstance(node.value, ast.Constant) and node.value.value is False
    return isinstance(node, (ast.Assert, ast.Raise))


def _length_of(node: ast.AST) -> "tuple[str, ...]":
    """Return the names that decide how many items an expression has."""
    if isinstance(node, ast.Name):
        return () if hasattr(builtins, node.id) or node.id.startswith("__") else (node.id,)
    if isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        return _length_of(node.value)
    if isinstance(node, ast.BinOp):
        return _length_of(node.left) + _length_of(node.right)
    if isinstance(node, (ast.List, ast.Tuple)):
        return tuple(itertools.chain(*(_length_of(part) for part in node.elts if isinstance(part, ast.Starred))))
    if isinstance(node, ast.IfExp):
        return _length_of(node.body) + _length_of(node.orelse)
    if isinstance(node, ast.BoolOp):
        return tuple(itertools.chain(*map(_length_of, node.values)))
    if isinstance(node, _COMPREHENSIONS):
        return _length_of(node.generators[0].iter)
    if isinstance(node, ast.Call):
        name = _id(node.func)
        given: list[ast.expr] = node.args
        if name in {"map", "filter", MAP}:
            # The function is applied to each item, so it does not change their number; a filter is not expected to.
            given = given[2:] if name == MAP else given[1:]
        return tuple(dict.fromkeys(itertools.chain(_length_of(node.func), *map(_length_of, given))))
    return ()


def _needed(node: ast.AST) -> "tuple[str, ...]":
    """Return the names by which to find out whether a value came from the candidate.

    It needs no names if the rewritten code has the value itself. To look up local names takes longer than most
    statements of tests.
    """
    known = isinstance(node, ast.Name) or (isinstance(node, ast.Call) and _id(node.func) in {MADE, PART, FROM})
    return () if known else _length_of(node)


def _id(node: "ast.AST | None") -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _call(at: ast.expr | ast.stmt, name: str, *args: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [*args], []), at)


def _constant(names: "tuple[str, ...]") -> ast.Constant:
    # A constant may be a tuple of texts, but the type stubs do not say so.
    return ast.Constant(names)  # type: ignore[arg-type]


def restored(node: "Node") -> "Node":
    """Return a statement as the tests wrote it, for people."""
    return _Restored().visit(copy.deepcopy(node))  # type: ignore[no-any-return]


class _Restored(ast.NodeTransformer):
    """Reverses what `_Comparisons` does."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = _id(node.func)
        if name in {OVER, FROM, MADE, PART, CONVERTED}:
            return node.args[-1]
        if name in {ZIP, MAP}:
            return _call(node, name.strip("_"), *node.args[1:])
        return _call(node, name.strip("_"), *node.args) if name in {TYPE, FLOAT, COMPLEX} else node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(node.id.strip("_"), node.ctx) if node.id in {FLOAT, COMPLEX} else node
