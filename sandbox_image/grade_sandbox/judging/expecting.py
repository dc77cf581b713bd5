"""Without a reference solution: what the tests compare an answer with is the expected answer.

By `==`, `is`, truth, or a usual form of tolerance. A task whose tests use an answer in any other way is not judged.
"""

from __future__ import annotations

import ast
import math
import sys

from grade_sandbox import values
from grade_sandbox.candidate.answering import RETURNED
from grade_sandbox.confine import process
from grade_sandbox.judging import script
from grade_sandbox.judging.asking import Asker, UnconfirmedError
from grade_sandbox.judging.forks import run_in_fork
from grade_sandbox.judging.script import Script

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from grade_sandbox.jobs import Task

    Note = Callable[[Any], object]

_TRUE, _SAME, _SEVERAL = "__expected_true__", "__expected_same__", "__expected_of_several__"


def expected(spec: Task, seconds: float) -> dict[str, Any]:
    """Return {"calls": ..., "names": ..., "expected": replies} or {"refused": why}. Call it in a fork."""
    return run_in_fork(lambda: _expected(spec), seconds) or {"refused": "the tests do not finish without a program"}


def _expected(spec: Task) -> dict[str, Any]:
    process.swallow_output()
    found: list[_Expecting] = []

    def asker_of(classes: dict[str, type[Any]]) -> Asker:
        found.append(_Expecting(classes))
        return found[-1]

    try:
        _listen()
        made = Script(spec)
        names = {name: script.library(name) or "function" for name in script.open_names(made)}
        tree = ast.fix_missing_locations(_Rewriter().visit(ast.parse(spec["test"], "<tests>")))
        made.run(compile(tree, "<tests>", "exec", dont_inherit=True), asker_of, names, _bind)
    except BaseException as error:
        why = str(error) if isinstance(error, UnconfirmedError) else f"{type(error).__name__}: {str(error)[:200]}"
        return {"refused": f"without a reference solution, {why}"}
    asker = found[0]
    if asker.error is not None:
        return {"refused": f"without a reference solution, {asker.error}"}
    if not asker.calls or None in asker.replies:
        return {"refused": "without a reference solution, an answer is compared with nothing"}
    return {"calls": asker.calls, "names": names, "expected": asker.replies}


class _Expecting(Asker):
    """Answers each call with something that notes what it is compared with."""

    def __init__(self, classes: dict[str, type[Any]]) -> None:
        super().__init__(classes, lambda call: (0, ""))
        self.calls: list[str] = []
        self.replies: list[str | None] = []

    def make_call(self, target: tuple[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        number = len(self.calls)
        self.calls.append(self.message_of(target, args, kwargs))
        self.replies.append(None)
        own = tuple(self._own)

        def note(value: Any) -> None:
            if isinstance(value, Expect):
                self.refuse("the tests compare two answers")
            try:
                reply = values.write((RETURNED, value, args, kwargs, "", 0, own), self)
            except values.UnsendableError as error:
                self.refuse(f"the tests expect a value that cannot be serialized: {error}")
            if self.replies[number] not in (None, reply):
                self.refuse("the tests compare an answer with several values")
            self.replies[number] = reply

        return RETURNED, Expect(note, self.refuse)


class Expect:
    """The answer to a call, of which only is known what the tests compare it with."""

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None

    def __init__(self, note: Note, refuse: Callable[[str], NoReturn]) -> None:
        self.__dict__.update(note=note, refuse=refuse)

    def __eq__(self, other: object) -> bool:
        self.__dict__["note"](other)
        return True

    def __sub__(self, other: object) -> _Difference:
        return _Difference(self.__dict__["note"], other)

    __rsub__ = __sub__

    def __getattribute__(self, name: str) -> Any:
        if name in {"__dict__", "__class__"}:
            return object.__getattribute__(self, name)
        return object.__getattribute__(self, "__dict__")["refuse"](f"the tests use .{name} of an answer")


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(self: Expect, *_: object) -> Any:
        return self.__dict__["refuse"](f"the tests use __{name}__ of an answer")

    return refuse


for _name in (
    "bool", "len", "iter", "getitem", "contains", "call", "add", "radd", "mul", "rmul", "truediv", "rtruediv", "ne",
    "floordiv", "mod", "pow", "neg", "abs", "lt", "le", "gt", "ge", "str", "repr", "format", "int", "float", "index",
    "round", "reversed", "enter", "setitem", "next",
):  # fmt: skip
    setattr(Expect, f"__{_name}__", _refusing(_name))


class _Difference:
    """An answer minus a number: what is compared with a tolerance, also as `abs(...)`."""

    def __init__(self, note: Note, other: object) -> None:
        self._note, self._other = note, other

    def __abs__(self) -> _Difference:
        return self

    def __lt__(self, other: float) -> bool:
        if not (isinstance(other, (int, float)) and 0 < other <= _LARGEST * max(1.0, abs(_number(self._other)))):
            raise UnconfirmedError("the tests compare an answer with no usual tolerance")
        self._note(self._other)
        return True

    __le__ = __lt__


_LARGEST = 0.1
"""The largest tolerance, relative to an expected value above 1."""


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


class _Rewriter(ast.NodeTransformer):
    """Replaces in assertions what no object can notice: truth, identity, and one of several values."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.test = self._tested(node.test, is_true=True)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Rewrite unittest's assertions of truth and identity."""
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in {"assertTrue", "assertFalse"} and node.args:
            node.args[0] = self._tested(node.args[0], is_true=name == "assertTrue")
            node.func.attr = "assertTrue"  # type: ignore[attr-defined]
        elif name in {"assertIs", "assertIsNone"} and node.args:
            other = node.args[1] if len(node.args) > 1 else ast.Constant(None)
            node.args = [_call(_SAME, node.args[0], other)]
            node.func.attr = "assertTrue"  # type: ignore[attr-defined]
        return node

    def _tested(self, test: ast.expr, *, is_true: bool) -> ast.expr:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and is_true:
            test.values = [self._tested(one, is_true=True) for one in test.values]
            return test
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._tested(test.operand, is_true=not is_true)
        if isinstance(test, ast.BoolOp):
            return _call(_SEVERAL, test)
        if isinstance(test, ast.Compare):
            op = test.ops[0]
            if isinstance(op, ast.Is) and is_true and len(test.ops) == 1:
                return _call(_SAME, test.left, test.comparators[0])
            if any(isinstance(one, (ast.In, ast.NotIn, ast.IsNot)) for one in test.ops) or not is_true:
                return _call(_SEVERAL, test.left, *test.comparators)
            self.generic_visit(test)
            return test
        self.generic_visit(test)
        return _call(_TRUE, test, ast.Constant(is_true))


def _call(name: str, *given: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(given), [])


def _bind(space: dict[str, Any]) -> None:
    def is_true(value: Any, wanted: bool) -> bool:
        """Whether the truth of a value is `wanted`; of an answer, note that this is expected."""
        if isinstance(value, Expect):
            value.__dict__["note"](wanted)
            return True
        return bool(value) is wanted

    def is_same(one: Any, two: Any) -> bool:
        """Whether two values are one object. An answer arrives as another one, so equality is what it must have."""
        return bool(one == two) if isinstance(one, Expect) or isinstance(two, Expect) else one is two

    def of_several(*given: Any) -> bool:
        raise UnconfirmedError("the tests accept one of several answers")

    space.update({_TRUE: is_true, _SAME: is_same, _SEVERAL: of_several})


_CLOSE = {
    "math": ("isclose",), "cmath": ("isclose",),
    "numpy": ("isclose", "allclose", "array_equal"),
    "numpy.testing": ("assert_allclose", "assert_almost_equal", "assert_array_equal", "assert_equal",
                      "assert_array_almost_equal"),
}  # fmt: skip


def _listen() -> None:
    """Let functions that compare note what they compare an answer with."""
    for module_name, names in _CLOSE.items():
        module = sys.modules.get(module_name) or (math if module_name == "math" else None)
        for name in names if module is not None else ():
            setattr(module, name, _noting(getattr(module, name)))


def _noting(compare: Callable[..., Any]) -> Callable[..., Any]:
    def compared(one: Any, two: Any, *rest: Any, **options: Any) -> Any:
        if isinstance(one, Expect) or isinstance(two, Expect):
            return bool(one == two)
        return compare(one, two, *rest, **options)

    return compared
