"""Arrays that notice what they are compared with, and NumPy's functions that compare two values.

NumPy broadcasts an array without items to almost any shape, and then it has no item that differs from the expected one.
So arrays that could be compared like this get a subclass that refuses such comparisons. The subclass also passes on
that an array came from non-finite numbers (nonfinite.py).
"""

from __future__ import annotations

import array
import collections
import functools
import math
import sys

import nonfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

EMPTY = "an array without items is compared with something that has some"
OVERFLOW = "a complex number whose absolute value overflows is close to anything"
FAR = "two values that are far from each other are found equal"
MASKED = "a masked item is compared with one that is not masked"
_TESTING = (
    "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_equal", "assert_array_less", "assert_array_max_ulp", "assert_equal",
)  # fmt: skip
_CLOSE = ("allclose", "isclose", "array_equiv", "array_equal")
_COMPARISONS = {
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor",
}  # fmt: skip
# A difference is usually compared next.
_DIFFERING = _COMPARISONS | {"subtract"}
_PAIRING = (*sorted(_DIFFERING), "divide", "true_divide", "maximum", "minimum", "hypot")
# Only these convert a list, a text or bytes without items to an array.
_MAKING = (
    "array", "asarray", "asanyarray", "ravel", "concatenate", "atleast_1d", "atleast_2d", "loadtxt", "genfromtxt",
    "fromstring", "frombuffer", "fromiter",
)  # fmt: skip
_REDUCING_METHODS = ("dot", "mean", "prod", "std", "sum", "var")
_REDUCING = (*_REDUCING_METHODS, "inner", "vdot")
_SEQUENCES = (
    list, tuple, range, collections.deque, array.array, bytearray, memoryview, collections.UserList,
    collections.UserDict, collections.UserString, collections.ChainMap,
)  # fmt: skip
"""Classes that NumPy treats as sequences, besides arrays."""


class Arrays:
    """Creates such arrays, and replaces what compares arrays or creates them. It changes NumPy in this process.

    `refuse(why)` raises an exception. `text`: the tests and the signature, in lower case. `tests`: the tests.
    `expect_named(array)` refuses numbers that are not finite, if the tests do not name such numbers.
    """

    def __init__(
        self, refuse: Callable[[str], NoReturn], text: str, tests: str, expect_named: Callable[[Any], None]
    ) -> None:
        self.refuse, self._text, self._expect_named = refuse, text, expect_named
        self.numbers = nonfinite.Numbers(refuse, self.marked, tests)
        """The numbers that are not finite."""
        self._marks: dict[type[Any], type[Any]] = {}
        """Class -> subclass that notices; empty before `prepare`."""
        self.trusting = False
        """Whether NumPy is comparing two values that were checked before; its own steps are not checked."""

    def prepare(self) -> None:
        """Replace NumPy's functions that compare arrays and that create them. Import NumPy if it is not loaded yet."""
        if self._marks:
            return
        import numpy

        kinds = numpy.ndarray, numpy.matrix, numpy.recarray
        self._marks = {kind: _noticing_class(numpy, kind, self) for kind in kinds}
        for name in _CLOSE:
            setattr(numpy, name, self.checked(getattr(numpy, name)))
        if "testing" in self._text or "assert_" in self._text:
            import numpy.testing

            for name in filter(functools.partial(hasattr, numpy.testing), _TESTING):
                setattr(numpy.testing, name, self.checked(getattr(numpy.testing, name), near=name.endswith("nulp")))
        for name in _PAIRING:
            if f"{name}(" in self._text:
                setattr(numpy, name, self.checked(getattr(numpy, name)))
        for name in _MAKING:
            setattr(numpy, name, self._marking(getattr(numpy, name)))
        for name in ("allclose", "allequal"):
            if f"ma.{name}(" in self._text:
                # Masked items are equal to anything.
                setattr(numpy.ma, name, self.checked(getattr(numpy.ma, name)))
        numpy.linalg.norm = self._reducing(numpy.linalg.norm)
        for name in _REDUCING:
            setattr(numpy, name, self._reducing(getattr(numpy, name)))

    def could_notice(self, value: Any) -> bool:
        """Whether `marked` would change this value."""
        return type(value) in self._marks

    def mark(self, value: Any) -> Any:
        """Return the array as one that notices, if it or what it is combined with could have no items."""
        if self.could_notice(value) and (value.size == 0 or value.ndim == 0 or 1 in value.shape):
            return self.marked(value)
        return value

    def marked(self, array: Any) -> Any:
        """Return an array as one that notices what it is combined with; unchanged if its class has no such subclass."""
        return array.view(self._marks[type(array)]) if self.could_notice(array) else array

    def _marking(self, make: Callable[..., Any]) -> Callable[..., Any]:
        make = _unguarded(make)

        @functools.wraps(make)
        def made(*args: Any, **kwargs: Any) -> Any:
            array = make(*args, **kwargs)
            if self.trusting or not hasattr(array, "dtype"):
                return array
            if array.dtype.kind == "c" and overflows(sys.modules["numpy"], array):
                self.refuse(OVERFLOW)
            # The tests may have made it of texts. NumPy itself fills masked arrays with infinities.
            of_tests = sys._getframe(1).f_code.co_filename == "<tests>"
            if of_tests and array.dtype.kind == "f" and not is_finite(array):
                self._expect_named(array)
            if self.numbers.came and nonfinite.holds(args[0]):
                return self.marked(array)
            return self.mark(array)

        made.unguarded = make  # type: ignore[attr-defined]
        return made

    def _reducing(self, reduce: Callable[..., Any]) -> Callable[..., Any]:
        reduce = _unguarded(reduce)

        @functools.wraps(reduce)
        def reduced(*args: Any, **kwargs: Any) -> Any:
            return self.reduced(reduce(*args, **kwargs), args)

        reduced.unguarded = reduce  # type: ignore[attr-defined]
        return reduced

    def reduced(self, found: Any, given: tuple[Any, ...]) -> Any:
        """Return a number computed from arrays as one that remembers, if it may have become infinite."""
        arrays = [value for value in given if getattr(type(value), "crosses_as_array", False)]
        if not arrays or not isinstance(found, sys.modules["numpy"].floating) or nonfinite.is_ordinary(found):
            return found
        return self.numbers.remembering(found, derived=not is_finite(found) and _overflowed((*arrays,)))

    def checked(self, compare: Callable[..., Any], *, near: bool = False) -> Callable[..., Any]:
        """Return a comparison of two values that refuses values for which it would be true of anything.

        `near`: two values that it finds equal must also be near each other by another measure, because differences of
        unsigned integers wrap around.
        """
        compare = _unguarded(compare)

        @functools.wraps(compare)
        def check(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
            if self.trusting:
                return compare(a, b, *args, **kwargs)
            self.trusting = True
            try:
                self._compare(sys.modules.get("numpy"), a, b)
                found = compare(a, b, *args, **kwargs)
                if near:
                    self._far(sys.modules["numpy"], a, b)
            finally:
                self.trusting = False
            return found

        check.unguarded = compare  # type: ignore[attr-defined]
        return check

    def _compare(self, numpy: Any, a: Any, b: Any) -> None:
        """Refuse two values if a comparison of them may be true whatever the values are."""
        if overflows(numpy, a) or overflows(numpy, b):
            self.refuse(OVERFLOW)
        if getattr(a, "overflowed", False) or getattr(b, "overflowed", False):
            self.refuse(nonfinite.WHY)
        if numpy is not None:
            if (_size(numpy, a) == 0) != (_size(numpy, b) == 0):
                self.refuse(EMPTY)
            if not numpy.array_equal(_mask(numpy, a), _mask(numpy, b)):
                self.refuse(MASKED)

    def _far(self, numpy: Any, a: Any, b: Any) -> None:
        """Refuse two values that are not near each other."""
        if not numpy.allclose(1.0 * numpy.asarray(a), 1.0 * numpy.asarray(b), rtol=1e-3):
            self.refuse(FAR)


def is_finite(array: Any) -> bool:
    """Whether all items of an array of floats are finite."""
    return bool(sys.modules["numpy"].isfinite(array).all())


def _noticing_class(numpy: Any, base: type[Any], arrays: Arrays) -> type[Any]:
    """Return a subclass of `base`, a class of arrays, that notices what its arrays are compared with."""

    class Noticing(base):  # type: ignore[misc]
        """An array of class `base`, as far as the tests and the candidate can tell."""

        crosses_as_array = True
        differs = False
        """Whether it is a difference, or was computed from one."""
        overflowed = False
        """Whether the tests' arithmetic made items that are not finite of finite ones."""

        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            return base

        def __reduce_ex__(self, protocol: Any) -> Any:
            # A copy by pickle of an ordinary array is ordinary. Other arrays must keep this class, so pickle fails.
            odd = not self.size or (self.dtype.kind == "f" and not is_finite(self))
            return base.__reduce_ex__(self if odd else _bare(self), protocol)  # type: ignore[call-arg]

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
            sizes = [_size(numpy, value) for value in inputs] if method == "__call__" and len(inputs) > 1 else [1]
            # Arithmetic of an array without items and a single number is not yet a comparison, except a difference.
            if not arrays.trusting and min(sizes) == 0 and max(sizes) > (0 if ufunc.__name__ in _DIFFERING else 1):
                arrays.refuse(EMPTY)
            if not arrays.trusting and method == "__call__":
                arrays.numbers.check(numpy, ufunc.__name__, inputs)
            if out := kwargs.get("out"):
                kwargs["out"] = tuple(map(_bare, out))
            made = getattr(ufunc, method)(*map(_bare, inputs), **kwargs)
            # Both arrays have no items, so they are equal. The result needs no further checks.
            if max(sizes) == 0 and ufunc.__name__ in _DIFFERING:
                return made
            differs = ufunc.__name__ == "subtract" or any(getattr(value, "differs", False) for value in inputs)
            odd = (
                getattr(made, "dtype", None) is not None and made.dtype.kind == "f" and not nonfinite.is_ordinary(made)
            )
            overflowed = odd and not is_finite(made) and _overflowed(inputs)
            if odd and not isinstance(made, numpy.ndarray):
                return arrays.numbers.remembering(made, derived=overflowed or differs)
            made = arrays.marked(made) if odd else arrays.mark(made)
            if getattr(made, "crosses_as_array", False):
                made.differs, made.overflowed = differs, overflowed
            return made

    for name in _REDUCING_METHODS:
        setattr(Noticing, name, _reducing_method(getattr(base, name), arrays))
    # `repr` writes this name in front of the items.
    Noticing.__name__ = "array" if base is numpy.ndarray else base.__name__
    return Noticing


def _reducing_method(reduce: Callable[..., Any], arrays: Arrays) -> Callable[..., Any]:
    def reduced(array: Any, *args: Any, **kwargs: Any) -> Any:
        return arrays.reduced(reduce(array, *args, **kwargs), (array, *args))

    return reduced


def _overflowed(inputs: tuple[Any, ...]) -> bool:
    """Whether a result that is not finite comes from finite numbers, or from such a result."""
    return any(getattr(value, "overflowed", False) for value in inputs) or all(map(is_finite, map(_bare, inputs)))


def _bare(value: Any) -> Any:
    """Return an ordinary array or number for one that notices or remembers."""
    kind = type(value)
    return value.view(kind.__base__) if getattr(kind, "crosses_as_array", False) else nonfinite.plain(value)


def _unguarded(function: Callable[..., Any]) -> Callable[..., Any]:
    return getattr(function, "unguarded", function)


def holds_nothing(value: Any) -> bool:
    """Whether a list or an array has no items at any depth. A list may contain itself."""
    seen: set[int]
    stack, seen = [value], set()
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, _SEQUENCES):
            if not all(map(_may_hold_nothing, value)):
                return False
            stack.extend(value)
        elif getattr(value, "size", None) != 0:
            return False
    return True


def _may_hold_nothing(value: Any) -> bool:
    return isinstance(value, _SEQUENCES) or getattr(value, "size", None) == 0


def _size(numpy: Any, value: Any) -> int:
    """Return how many items an array of this value would have; for a list, 2 means 2 or more."""
    if isinstance(value, (list, tuple, range)):
        # NumPy would follow lists that contain each other to a depth of 64.
        return 0 if holds_nothing(value) else min(len(value), 2) if numpy.isscalar(value[0]) else 2
    size: int = numpy.size(value)
    return size


def overflows(numpy: Any, value: Any) -> bool:
    """Whether a value has a finite complex number whose absolute value is infinite."""
    if type(value) is complex:
        return (
            math.isinf(math.hypot(value.real, value.imag)) and math.isfinite(value.real) and math.isfinite(value.imag)
        )
    if numpy is None or isinstance(value, (int, float, str)):
        return False
    try:
        array = _unguarded(numpy.asarray)(value)
    except ValueError:
        return False
    if array.dtype.kind != "c":
        return False
    with numpy.errstate(over="ignore"):
        return bool((numpy.isfinite(array) & numpy.isinf(numpy.abs(array))).any())


def _mask(numpy: Any, value: Any) -> Any:
    return numpy.ma.getmaskarray(value) if isinstance(value, numpy.ma.MaskedArray) else False
