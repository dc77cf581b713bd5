"""Without a reference solution: what the tests compare an answer with is the expected answer.

The tests run with an `Expect` for each answer, which notes what it is compared with: by `==`, in an assertion also by
`is` and by truth, or with a usual tolerance. A task whose tests use an answer in any other way is not judged.
"""

from __future__ import annotations

import ast
import sys

from grade_sandbox import values
from grade_sandbox.candidate.answering import RETURNED
from grade_sandbox.confine import process
from grade_sandbox.judging import compiled_tests
from grade_sandbox.judging.asking import Asker, Reply, UnconfirmedError
from grade_sandbox.judging.compiled_tests import CompiledTests
from grade_sandbox.judging.forks import run_in_fork

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from grade_sandbox.jobs import Task

    Note = Callable[[Any], object]

_TRUE, _SAME, _REFUSE = "__expected_true__", "__expected_same__", "__expected_refuse__"


def derive(spec: Task, seconds: float) -> dict[str, Any]:
    """Return calls and expected replies, or why there are none: see the grader's `Recorded`. Call it in a fork."""
    derived = run_in_fork(lambda: _derive_expected(spec), seconds)
    return derived or {"refused": "the tests do not finish without a program"}


def _derive_expected(spec: Task) -> dict[str, Any]:
    """Run the tests without a program; see `derive`."""
    process.swallow_output()
    askers: list[_ExpectingAsker] = []

    def make_asker(classes: dict[str, type[Any]]) -> Asker:
        askers.append(_ExpectingAsker(classes))
        return askers[-1]

    try:
        _wrap_library_comparisons()
        tests = CompiledTests(spec)
        names = dict.fromkeys(compiled_tests.undefined_names(tests), "function")
        tree = ast.fix_missing_locations(_Rewriter().visit(ast.parse(spec["test"], "<tests>")))
        tests.run(compile(tree, "<tests>", "exec", dont_inherit=True), make_asker, names, _define_helpers)
    except BaseException as error:
        why = str(error) if isinstance(error, UnconfirmedError) else values.error_text(error)
        return {"refused": f"without a reference solution, {why}"}
    asker = askers[0]
    if asker.error is not None:
        return {"refused": f"without a reference solution, {asker.error}"}
    if not asker.calls or None in asker.replies:
        return {"refused": "without a reference solution, an answer is compared with nothing"}
    return {"calls": asker.calls, "names": names, "expected": asker.replies}


class _ExpectingAsker(Asker):
    """Answers each call with something that notes what it is compared with."""

    def __init__(self, classes: dict[str, type[Any]]) -> None:
        # Nobody answers calls: `make_call` does not use this function.
        super().__init__(classes, lambda call: (0, ""))
        self.calls: list[str] = []
        self.replies: list[str | None] = []
        """The expected reply to each call; None: it was compared with nothing so far."""

    def make_call(self, target: tuple[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        number = len(self.calls)
        self.calls.append(self.encode_call(target, args, kwargs))
        self.replies.append(None)
        mutables = tuple(self._mutables)

        def note(value: Any) -> None:
            if isinstance(value, Expect):
                self.refuse("the tests compare two answers")
            try:
                reply = values.write(tuple(Reply(RETURNED, value, args, kwargs, mutables=mutables)), self)
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


def _refusing_method(name: str) -> Callable[..., Any]:
    def refuse(self: Expect, *_: object) -> Any:
        return self.__dict__["refuse"](f"the tests use __{name}__ of an answer")

    return refuse


for _name in (
    "bool", "len", "iter", "getitem", "contains", "call", "add", "radd", "mul", "rmul", "truediv", "rtruediv", "ne",
    "floordiv", "mod", "pow", "neg", "abs", "lt", "le", "gt", "ge", "str", "repr", "format", "int", "float", "index",
    "round", "reversed", "enter", "setitem", "next",
):  # fmt: skip
    setattr(Expect, f"__{_name}__", _refusing_method(_name))


class _Difference:
    """An answer minus a number: what is compared with a tolerance, also as `abs(...)`."""

    def __init__(self, note: Note, expected: object) -> None:
        self._note, self._expected = note, expected

    def __abs__(self) -> _Difference:
        return self

    def __lt__(self, tolerance: float) -> bool:
        max_tolerance = _MAX_TOLERANCE * max(1.0, abs(_number(self._expected)))
        if not (isinstance(tolerance, (int, float)) and 0 < tolerance <= max_tolerance):
            raise UnconfirmedError("the tests compare an answer with no usual tolerance")
        self._note(self._expected)
        return True

    __le__ = __lt__


_MAX_TOLERANCE = 0.1
"""The largest tolerance, relative to an expected value above 1."""


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


class _Rewriter(ast.NodeTransformer):
    """Replaces in assertions what no object can notice: truth, identity, and one of several values."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        node.test = self._rewrite(node.test, is_true=True)
        return node

    def _rewrite(self, test: ast.expr, *, is_true: bool) -> ast.expr:
        """Return a condition that must be true or false, so that an answer in it notes what it must be.

        What several answers would satisfy (`or`, `in`, `!=`, `not ... ==`) becomes a call that refuses the tests.
        """
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._rewrite(test.operand, is_true=not is_true)
        if isinstance(test, ast.BoolOp):
            if not (isinstance(test.op, ast.And) and is_true):
                return _call(_REFUSE, test)
            test.values = [self._rewrite(part, is_true=True) for part in test.values]
            return test
        if isinstance(test, ast.Compare):
            if is_true and len(test.ops) == 1 and isinstance(test.ops[0], ast.Is):
                return _call(_SAME, test.left, test.comparators[0])
            if not is_true or any(isinstance(op, (ast.In, ast.NotIn, ast.IsNot)) for op in test.ops):
                return _call(_REFUSE, test.left, *test.comparators)
            self.generic_visit(test)
            return test
        self.generic_visit(test)
        return _call(_TRUE, test, ast.Constant(is_true))


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _define_helpers(namespace: dict[str, Any]) -> None:
    """Define the functions that rewritten tests call (see `_Rewriter`), under names that no test has."""

    def expect_truth(value: Any, truth: bool) -> bool:
        """Whether the truth of a value is `truth`. Of an answer, note that this is expected, and return True."""
        if isinstance(value, Expect):
            value.__dict__["note"](truth)
            return True
        return bool(value) is truth

    def expect_identity(one: Any, two: Any) -> bool:
        """Whether two values are one object. An answer arrives as another one, so equality is what it must have."""
        return bool(one == two) if isinstance(one, Expect) or isinstance(two, Expect) else one is two

    def refuse_several(*_: Any) -> bool:
        raise UnconfirmedError("the tests accept one of several answers")

    namespace.update({_TRUE: expect_truth, _SAME: expect_identity, _REFUSE: refuse_several})


_LIBRARY_COMPARISONS = {
    "math": ("isclose",), "cmath": ("isclose",),
    "numpy": ("isclose", "allclose", "array_equal"),
    "numpy.testing": ("assert_allclose", "assert_almost_equal", "assert_array_equal", "assert_equal",
                      "assert_array_almost_equal"),
}  # fmt: skip


def _wrap_library_comparisons() -> None:
    """Replace library functions that compare, so that they note what they compare an answer with."""
    for module_name, names in _LIBRARY_COMPARISONS.items():
        if module := sys.modules.get(module_name):
            for name in names:
                setattr(module, name, _wrap_comparison(getattr(module, name)))


def _wrap_comparison(compare: Callable[..., Any]) -> Callable[..., Any]:
    """Return a comparison that holds for an answer, and notes what it is compared with; other values are compared."""

    def compare_or_note(one: Any, two: Any, *more: Any, **options: Any) -> Any:
        if isinstance(one, Expect) or isinstance(two, Expect):
            return bool(one == two)  # which is true, and notes the other value
        return compare(one, two, *more, **options)

    return compare_or_note
