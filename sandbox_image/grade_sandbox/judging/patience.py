"""Two ways to run a task's tests: patient tests continue after a failure, strict ones end with the first.

Patient tests are for what comes after the first failure: the calls that they would make, and which assertions hold.
"""

import ast

# No `from __future__ import annotations` here: `compile` and `exec` would pass it on to the tests.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType
    from typing import Any, TypeVar

    New = TypeVar("New", bound=ast.AST)

_FAILED, _BEGUN, _EVERY = "__failed_assertion__", "__begun_assertion__", "__every_one__"
_CATCHES = {"AssertionError", "Exception", "BaseException"}


class Patient:
    """A test script, compiled so that it continues after a failed assertion.

    An exception within an assertion is a failure, too. The message of a failed assertion is not evaluated, because it
    may call the candidate again. If the tests themselves catch assertions, these are not changed.
    """

    def __init__(self, source: str, *, counts: bool = False) -> None:
        """`counts`: note which assertions begin."""
        tree = ast.parse(source, "<tests>")
        rewriter = _Patient(counts=counts)
        tree.body = rewriter.statements(tree.body)
        self._assertions = rewriter.assertions
        self.code = compile(tree, "<tests>", "exec")

    @property
    def count(self) -> int:
        """Number of assertions in the script."""
        return len(self._assertions)

    def bind(self, namespace: "dict[str, Any]", begun: "Callable[[int, bool], object] | None" = None) -> None:
        """Define the functions that the code calls.

        `begun(number, is_right)` is called before each assertion, and again after one that fails.
        """

        def tell(number: int) -> None:
            if begun is not None:
                begun(number, False)

        namespace[_FAILED] = tell
        namespace[_BEGUN] = (lambda number: begun(number, True)) if begun is not None else None
        namespace[_EVERY] = lambda items: all(list(items))


def compile_strict(source: str) -> "CodeType":
    """Return the code of a test script. Messages of assertions are removed if they call something."""
    tree = ast.parse(source, "<tests>")
    for node in _statements(tree.body):
        if isinstance(node, ast.Assert) and node.msg is not None and _calls(node.msg):
            node.msg = None
    return compile(tree, "<tests>", "exec")


def _statements(nodes: "list[ast.stmt]") -> "Iterator[ast.stmt]":
    """Yield statements and those within them, but no expressions: long data are visited slowly."""
    for node in nodes:
        yield node
        inner = [node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())]
        for part in ("body", "orelse", "finalbody"):
            for holder in inner:
                yield from _statements(getattr(holder, part, []))


def _calls(node: ast.AST) -> bool:
    return any(isinstance(part, (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)) for part in ast.walk(node))


class _Patient:
    """Rewrites statements. It visits only statements, which is fast."""

    def __init__(self, *, counts: bool) -> None:
        self.assertions: list[ast.stmt] = []
        self._counts = counts

    def statements(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        return [self.rewrite(one) for node in nodes for one in _apart(node)]

    def rewrite(self, node: "Any") -> "Any":
        kind = type(node)
        if kind is ast.Assert:
            checked = _at(node, ast.If(_exhaustive(node.test), [_at(node, ast.Pass())], [self._telling(node)]))
            return self._guard(checked, node)
        if kind is ast.Expr:
            # `np.testing.assert_equal(...)`, `self.assertEqual(...)`
            if isinstance(node.value, ast.Call) and _name(node.value.func).startswith("assert"):
                return self._guard(node, node)
            return node
        if kind is ast.Raise:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            return self._telling(node) if _name(raised) == "AssertionError" else node
        if kind in {ast.With, ast.AsyncWith}:
            names = list(map(_manager, node.items))
            if any("assert" in name or "raises" in name for name in names):
                return self._guard(node, node)  # it fails if its block does not raise the exception
            if any(not name or "suppress" in name for name in names):
                return node
        protected = kind is ast.Try and any(_may_catch(handler.type) for handler in node.handlers)
        for part in ("body", "orelse", "finalbody"):
            inner = getattr(node, part, None)
            if isinstance(inner, list) and not (protected and part == "body"):
                setattr(node, part, self.statements(inner))
        for handler in getattr(node, "handlers", ()):
            handler.body = self.statements(handler.body)
        return node

    def _guard(self, statement: ast.stmt, node: ast.stmt) -> ast.stmt:
        caught = ast.ExceptHandler(_at(node, ast.Name("Exception", ast.Load())), None, [self._telling(node)])
        body = [self._noting(node, _BEGUN), statement] if self._counts else [statement]
        return _at(node, ast.Try(body, [_at(node, caught)], [], []))

    def _telling(self, node: ast.stmt) -> ast.stmt:
        if not self.assertions or self.assertions[-1] is not node:
            self.assertions.append(node)
        return self._noting(node, _FAILED)

    def _noting(self, node: ast.stmt, name: str) -> ast.stmt:
        """Return a call of a function with the number of the last assertion."""
        number = _at(node, ast.Constant(len(self.assertions) - 1))
        return _at(node, ast.Expr(_at(node, ast.Call(_at(node, ast.Name(name, ast.Load())), [number], []))))


def _apart(node: ast.stmt) -> list[ast.stmt]:
    """Return `assert a and b` as two assertions, because both must hold."""
    if type(node) is ast.Assert and type(node.test) is ast.BoolOp and type(node.test.op) is ast.And:
        return [one for part in node.test.values for one in _apart(_at(node, ast.Assert(part, None)))]
    return [node]


def _exhaustive(test: ast.expr) -> ast.expr:
    """Return `all(...)` in a form that reads all items, because all must be true."""
    # `np.all` has read all items of its argument, which may also be a single value.
    if (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == "all"
        and len(test.args) == 1
        and not test.keywords
    ):
        return _at(test, ast.Call(_at(test, ast.Name(_EVERY, ast.Load())), test.args, []))
    return test


def _at(node: ast.AST, new: "New") -> "New":
    return ast.copy_location(new, node)


def _manager(item: ast.withitem) -> str:
    """Return the name of a context manager; empty if it has none."""
    call = item.context_expr
    return _name(call.func).lower() if isinstance(call, ast.Call) else _name(call)


def _may_catch(kind: ast.expr | None) -> bool:
    names: Sequence[ast.expr | None] = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(name is None or _name(name) in _CATCHES for name in names)


def _name(node: ast.AST | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
