"""Refuse answers with too few items, if the tests compare item by item.

`zip(answer, expected)` stops at the end of the shorter one, and a loop over an answer without items asserts nothing. So
the tests' code is rewritten before it is compiled: calls of `zip` and `map`, loops with assertions, and the assertions
themselves report which names they use. At run time, only names whose value came from the candidate matter. `type(x)` is
rewritten too: it returns the ordinary class of an array that notices (noticing.py) or a number that remembers
(nonfinite.py).
"""

import ast
import builtins
import itertools
import re
import sys

import crossing
import nonfinite
import opaque
from standing_in import Proxy

# No `from __future__ import annotations` here: `compile` would pass it on to the tests.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType
    from typing import Any

SHORT = "an answer has fewer items than what it is compared with, item by item"
UNREACHED = "no assertion is about an answer without items, and no loop over an answer has asserted anything"
_ZIP, _MAP, _OVER, _ABOUT = "__zip__", "__map__", "__over__", "__about__"
_TYPE = "__type__"
_CONCERNED = re.compile(r"\b(zip|map|for|all|any|type)\b")
# No test compares with the end of these, or they have none. A generator of the tests may also be endless.
_WITHOUT_END = (range, itertools.count, itertools.cycle, itertools.repeat)
_LAZY: "tuple[type[Any], ...]" = (map, filter, reversed, enumerate, type(iter([])), type(iter(())))
_COPYING = {"sorted", "list", "tuple", "reversed", "map", "filter"}
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
# The result of these can be true also if the answer that they are called with has no items.
_EMPTY_TALK = {
    "all",
    "any",
    "zip",
    "map",
    "isinstance",
    "type",
    "hasattr",
    "callable",
    "print",
    _ZIP,
    _MAP,
    _OVER,
    _TYPE,
}


def rewrite(tree: ast.Module, source: str) -> None:
    """Make the code report what it compares item by item. `Items.bind` defines the functions that it calls for that."""
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
    comparisons = _Comparisons(defined, _copies(tree))
    comparisons.visit(tree)
    if comparisons.loops:
        _Assertions(defined).visit(tree)
    ast.fix_missing_locations(tree)


class _Comparisons(ast.NodeTransformer):
    """Rewrites calls of `zip`, `map`, `all`, `any` and `type`, and loops that assert.

    `defined`: names that the tests define. `copies`: variable -> names of the values that the tests have copied to it.
    """

    def __init__(self, defined: "set[str]", copies: "dict[str, set[str]]") -> None:
        self._defined, self._copies = defined, copies
        self.loops = 0

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in self._defined or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            return node
        if name in {"zip", "map"}:
            sequences = node.args if name == "zip" else node.args[1:]
            if len(sequences) > 1:
                about = ast.Tuple([_constant(self._with_copied(_length_of(one))) for one in sequences], ast.Load())
                return _call(node, _ZIP if name == "zip" else _MAP, about, *node.args)
        elif name == "type" and len(node.args) == 1:
            return _call(node, _TYPE, *node.args)
        elif name in {"all", "any"} and len(node.args) == 1:
            given = node.args[0]
            if isinstance(given, _COMPREHENSIONS):
                given.generators[0].iter = self._watched(given.generators[0].iter)
            else:
                node.args[0] = self._watched(given)
        return node

    def _with_copied(self, names: "tuple[str, ...]") -> "tuple[str, ...]":
        copied = (sorted(self._copies.get(name, ())) for name in names)
        return tuple(dict.fromkeys(itertools.chain(names, *copied)))

    def visit_For(self, node: ast.For) -> ast.stmt:
        decides = any(map(_may_fail, ast.walk(node)))
        self.generic_visit(node)
        if decides:
            node.iter = self._watched(node.iter)
        return node

    def _watched(self, iterable: ast.expr) -> ast.expr:
        names = _length_of(iterable)
        if not names:
            return iterable
        self.loops += 1
        return _call(iterable, _OVER, ast.Constant(self.loops), _constant(names), iterable)


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
        return [ast.copy_location(ast.Expr(_call(node, _ABOUT, _constant(names))), node), node] if names else node

    def _mentioned(self, node: ast.AST) -> "Iterator[str]":
        """Yield the names on which a condition depends even if their values have no items."""
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Compare) and all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            # `answer is not None`
            return
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id not in _EMPTY_TALK | self._defined:
                for part in (*node.args, *node.keywords):
                    yield from self._mentioned(part)
        elif not isinstance(node, (*_COMPREHENSIONS, ast.Lambda)):
            for part in ast.iter_child_nodes(node):
                yield from self._mentioned(part)


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
        return () if hasattr(builtins, node.id) else (node.id,)
    if isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        return _length_of(node.value)
    if isinstance(node, ast.BinOp):
        return _length_of(node.left) + _length_of(node.right)
    if isinstance(node, _COMPREHENSIONS):
        return _length_of(node.generators[0].iter)
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", "")
        given: list[ast.expr] = node.args
        if name in {"map", "filter", _MAP}:
            # The function is applied to each item, so it does not change their number; a filter is not expected to.
            given = given[2:] if name == _MAP else given[1:]
        return tuple(dict.fromkeys(itertools.chain(_length_of(node.func), *map(_length_of, given))))
    return ()


def _copies(tree: ast.Module) -> "dict[str, set[str]]":
    """Return variable -> names of the values copied to it, for instance by `r = sorted(answer)`."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
            function = node.value.func
            if isinstance(function, ast.Attribute) or getattr(function, "id", "") in _COPYING:
                found.setdefault(node.targets[0].id, set()).update(_length_of(node.value))
    return found


def _call(at: ast.expr | ast.stmt, name: str, *args: ast.expr) -> ast.Call:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [*args], []), at)


def _constant(names: "tuple[str, ...]") -> ast.Constant:
    # A constant may be a tuple of texts, but the type stubs do not say so.
    return ast.Constant(names)  # type: ignore[arg-type]


class Items:
    """The reports of the rewritten code in one run. `note` gets the reason why nothing can be confirmed."""

    def __init__(self, note: "Callable[[BaseException], BaseException]") -> None:
        self._note = note
        self._answers: dict[int, Any] = {}
        self._some_are_empty = False
        self._asserted: set[int] = set()
        self._reached: set[int] = set()
        self._unreached: dict[int, list[Any]] = {}

    def bind(self, namespace: "dict[str, Any]") -> None:
        """Define in a namespace the functions that the rewritten code calls."""
        namespace |= {
            _ZIP: self._zip,
            _MAP: self._map,
            _OVER: self._over,
            _ABOUT: self._about,
            _TYPE: nonfinite.plain_type,
        }

    def came(self, built: "list[Any]", result: "Any") -> None:
        """Record an answer and its parts."""
        for value in (*built, result):
            if opaque.is_object(value) or hasattr(value, "__iter__"):
                self._answers[id(value)] = value
                self._some_are_empty = self._some_are_empty or _may_be_empty(value)

    def finish(self) -> None:
        """Refuse the run if a loop had only answers without items, and some of them are in no assertion."""
        for loop, answers in self._unreached.items():
            if loop not in self._reached and any(id(value) not in self._asserted for value in answers):
                self._refuse(UNREACHED)

    def _refuse(self, why: str) -> None:
        raise self._note(crossing.UnconfirmedError(why))

    def _about(self, names: "tuple[str, ...]") -> None:
        if self._some_are_empty:
            self._asserted.update(id(value) for value in self._named(sys._getframe(1), names))

    def _named(self, frame: "FrameType", names: "Iterable[str]") -> "list[Any]":
        """Return the answers and the candidate's functions that have these names."""
        local, outer = frame.f_locals, frame.f_globals
        values = [local[name] if name in local else outer.get(name) for name in names]
        return [value for value in values if type(value) is Proxy or self._is_answer(value)]

    def _is_answer(self, value: "Any") -> bool:
        # Python has only one empty text and one empty tuple. Tests do not loop over an empty one of their own.
        return self._answers.get(id(value)) is value is not None or (type(value) in {str, tuple} and not value)

    # --- called by the rewritten code ---

    def _over(self, loop: int, names: "tuple[str, ...]", iterable: "Any") -> "Any":
        if loop in self._reached:
            return iterable
        answers = self._named(sys._getframe(1), names)
        if not answers:
            return iterable
        return self._first_of(loop, answers, iter(iterable))

    def _first_of(self, loop: int, answers: "list[Any]", items: "Iterator[Any]") -> "Iterator[Any]":
        for item in items:
            self._reached.add(loop)
            yield item
            yield from items
            return
        self._unreached.setdefault(loop, []).extend(answers)

    def _zip(self, names: "tuple[tuple[str, ...], ...]", *given: "Any") -> "Any":
        theirs = self._theirs(sys._getframe(1), names, given)
        return self._pairs(theirs, given) if any(theirs) and not all(theirs) else zip(*given, strict=False)

    def _map(self, names: "tuple[tuple[str, ...], ...]", function: "Any", *given: "Any") -> "Any":
        theirs = self._theirs(sys._getframe(1), names, given)
        if any(theirs) and not all(theirs):
            return itertools.starmap(function, self._pairs(theirs, given))
        return map(function, *given)

    def _theirs(
        self, frame: "FrameType", names: "tuple[tuple[str, ...], ...]", given: "tuple[Any, ...]"
    ) -> "list[bool]":
        return [bool(self._named(frame, some)) or self._is_answer(one) for some, one in zip(names, given, strict=True)]

    def _pairs(self, theirs: "list[bool]", given: "tuple[Any, ...]") -> "Iterator[tuple[Any, ...]]":
        """Yield tuples as `zip` does; refuse if an iterable of the candidate ends before one of the tests."""
        iterators = [*map(iter, given)]
        for count in itertools.count():
            items = []
            for number, iterator in enumerate(iterators):
                for item in iterator:
                    items.append(item)
                    break
                else:
                    own = (n for n in range(len(given)) if not theirs[n])
                    if theirs[number] and any(_has_more(given[n], iterators[n], count, n < number) for n in own):
                        self._refuse(SHORT)
                    return
            yield (*items,)


def _may_be_empty(value: "Any") -> bool:
    if opaque.is_object(value):
        return True
    try:
        return not len(value)
    except (TypeError, ValueError, OverflowError):
        # An iterator, an array without dimensions, or an object that does not tell its length.
        return True


def _has_more(given: "Any", iterator: "Any", count: int, taken: bool) -> bool:
    """Whether an iterable has more than `count` items. `taken`: `iterator` has already yielded one more."""
    if isinstance(given, _WITHOUT_END):
        return False
    if hasattr(given, "__len__"):
        return len(given) > count
    if not isinstance(given, _LAZY):
        return False
    return taken or any(True for _ in iterator)
