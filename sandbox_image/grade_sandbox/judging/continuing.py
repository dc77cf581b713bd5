"""Two ways to compile a task's tests: continuing tests go on after a failure, strict ones end with the first.

Continuing tests show what comes after the first failure: the calls that they would make, and which assertions hold.
"""

import ast

# No `from __future__ import annotations` here: `compile` and `exec` would pass it on to the tests.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import CodeType
    from typing import Any, TypeVar

    New = TypeVar("New", bound=ast.AST)

_FAILED, _REACHED, _ALL_READ = "__assertion_failed__", "__assertion_reached__", "__all_read__"
"""The names of the functions that rewritten tests call."""
_CATCHES = {"AssertionError", "Exception", "BaseException"}


class ContinuingTests:
    """A test script, compiled so that it continues after a failed assertion.

    An exception within an assertion is a failure, too. The message of a failed assertion is not evaluated, because it
    may call the candidate again. If the tests themselves catch assertions, these are not changed.
    """

    def __init__(self, source: str, *, notes_reached: bool = False) -> None:
        """`notes_reached`: note which assertions are reached."""
        tree = ast.parse(source, "<tests>")
        rewriter = _AssertionRewriter(notes_reached=notes_reached)
        tree.body = rewriter.statements(tree.body)
        self._assertions = rewriter.assertions
        self.code = compile(tree, "<tests>", "exec")

    @property
    def count(self) -> int:
        """Number of assertions in the script."""
        return len(self._assertions)

    def bind(
        self, namespace: "dict[str, Any]", note: "Callable[[int, bool], object]" = lambda number, passes: None
    ) -> None:
        """Define the functions that the code calls.

        `note(number, passes)` is called with True for each assertion that is reached, and then with False if it fails.
        """
        namespace[_REACHED] = lambda number: note(number, True)
        namespace[_FAILED] = lambda number: note(number, False)
        # All items are read, also those behind a false one: see `_read_all`.
        namespace[_ALL_READ] = lambda items: all(list(items))


def compile_strict(source: str) -> "CodeType":
    """Return the code of a test script. Messages of assertions that call something are removed.

    They are evaluated only after a failure, and so could make a call that was never recorded.
    """
    tree = ast.parse(source, "<tests>")
    for node in _statements(tree.body):
        if isinstance(node, ast.Assert) and node.msg is not None and _has_call(node.msg):
            node.msg = None
    return compile(tree, "<tests>", "exec")


def _statements(nodes: "list[ast.stmt]") -> "Iterator[ast.stmt]":
    """Yield statements and those within them, but no expressions: to visit long lists of data would take long."""
    for node in nodes:
        yield node
        inner = [node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())]
        for part in ("body", "orelse", "finalbody"):
            for holder in inner:
                yield from _statements(getattr(holder, part, []))


def _has_call(node: ast.AST) -> bool:
    return any(isinstance(part, (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)) for part in ast.walk(node))


class _AssertionRewriter:
    """Rewrites `assert test` so that a failure is noted, and the statements behind it run.

        try:
            __assertion_reached__(number)    # if it counts
            if test:
                pass
            else:
                __assertion_failed__(number)
        except Exception:
            __assertion_failed__(number)
        except BaseException:                # the program has ended: no test can go on
            __assertion_failed__(number)
            raise

    It visits only statements, which is fast.
    """

    def __init__(self, *, notes_reached: bool) -> None:
        self.assertions: list[ast.stmt] = []
        self._notes_reached = notes_reached

    def statements(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        """Return rewritten statements."""
        return [self._rewrite(part) for node in nodes for part in _split_conjunction(node)]

    def _rewrite(self, node: "Any") -> "Any":
        """Return a statement rewritten so that failures of its assertions are reported, and do not end the tests."""
        if isinstance(node, ast.Assert):
            branches = ast.If(_read_all(node.test), [_at(node, ast.Pass())], [self._report_failure(node)])
            return self._guard(_at(node, branches), node)
        if isinstance(node, ast.Expr):
            # `np.testing.assert_equal(...)`, `self.assertEqual(...)`
            is_assertion = isinstance(node.value, ast.Call) and _name(node.value.func).startswith("assert")
            return self._guard(node, node) if is_assertion else node
        if isinstance(node, ast.Raise):
            error = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            return self._report_failure(node) if _name(error) == "AssertionError" else node
        names = map(_manager_name, getattr(node, "items", ()))
        if any("assert" in name or "raises" in name for name in names):
            return self._guard(node, node)  # it fails if the block of `with` does not raise the exception
        self._rewrite_blocks(node)
        return node

    def _rewrite_blocks(self, node: "Any") -> None:
        """Rewrite the statements in a compound one, but for a `try` block whose handlers may expect a failure."""
        catches = isinstance(node, ast.Try) and any(_may_catch(handler.type) for handler in node.handlers)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and not (catches and field == "body"):
                setattr(node, field, self.statements(block))
        for handler in getattr(node, "handlers", ()):
            handler.body = self.statements(handler.body)

    def _guard(self, statement: ast.stmt, node: ast.stmt) -> ast.stmt:
        """Return a statement in a `try` that reports any exception as a failure of the assertion `node`."""
        failed = self._report_failure(node)
        bodies: dict[str, list[ast.stmt]] = {"Exception": [failed], "BaseException": [failed, _at(node, ast.Raise())]}
        handlers = [
            _at(node, ast.ExceptHandler(_at(node, ast.Name(kind, ast.Load())), None, body))
            for kind, body in bodies.items()
        ]
        body = [self._call(node, _REACHED), statement] if self._notes_reached else [statement]
        return _at(node, ast.Try(body, handlers, [], []))

    def _report_failure(self, node: ast.stmt) -> ast.stmt:
        """Return the call that reports a failure of the assertion `node`, which gets a number if it has none."""
        if not self.assertions or self.assertions[-1] is not node:
            self.assertions.append(node)
        return self._call(node, _FAILED)

    def _call(self, node: ast.stmt, name: str) -> ast.stmt:
        """Return a call of a function with the number of the last assertion."""
        number = _at(node, ast.Constant(len(self.assertions) - 1))
        return _at(node, ast.Expr(_at(node, ast.Call(_at(node, ast.Name(name, ast.Load())), [number], []))))


def _split_conjunction(node: ast.stmt) -> list[ast.stmt]:
    """Return `assert a and b` as two assertions, because both must hold."""
    if type(node) is ast.Assert and type(node.test) is ast.BoolOp and type(node.test.op) is ast.And:
        assertions = [_at(node, ast.Assert(condition, None)) for condition in node.test.values]
        return [part for assertion in assertions for part in _split_conjunction(assertion)]
    return [node]


def _read_all(test: ast.expr) -> ast.expr:
    """Return `all(...)` in a form that reads all items: with another answer, the first may be false."""
    # `np.all` has read all items of its argument, which may also be a single value.
    if (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == "all"
        and len(test.args) == 1
        and not test.keywords
    ):
        return _at(test, ast.Call(_at(test, ast.Name(_ALL_READ, ast.Load())), test.args, []))
    return test


def _at(node: ast.AST, new: "New") -> "New":
    return ast.copy_location(new, node)


def _manager_name(item: ast.withitem) -> str:
    """Return the name of a context manager; empty if it has none."""
    call = item.context_expr
    return _name(call.func).lower() if isinstance(call, ast.Call) else _name(call)


def _may_catch(error_types: ast.expr | None) -> bool:
    """Whether a handler of these types catches failures; None: of all types."""
    names: Sequence[ast.expr | None] = error_types.elts if isinstance(error_types, ast.Tuple) else [error_types]
    return any(name is None or _name(name) in _CATCHES for name in names)


def _name(node: ast.AST | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
