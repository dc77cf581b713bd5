"""Comparisons that are true of anything: with values of which nothing differs from anything, nothing is confirmed.

An array without items is broadcast to almost any shape, and then no item of it differs. A NaN is not greater than any
tolerance, an infinity is within any relative one, a masked item is compared with nothing, and a complex number whose
absolute value overflows is as near as it likes. Such a value counts only where the tests' own text speaks of its kind.
Where it does, arrays without items still notice what they are compared with, and numbers remember that they came from a
candidate (nonfinite.py). Answers with too few items are the business of itemwise.py.
"""

from __future__ import annotations

import array
import cmath
import collections
import decimal
import functools
import math
import re
import sys

import crossing
import itemwise
import nonfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

EMPTY = "an array without items is compared with something that has some"
OVERFLOW = "a complex number whose absolute value overflows is close to anything"
FAR = "what is far from each other is found equal"
MASKED = "what is masked is compared with something that is not"
_TESTING = (
    "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_equal", "assert_array_less", "assert_array_max_ulp", "assert_equal",
)  # fmt: skip
_CLOSE = ("allclose", "isclose", "array_equiv", "array_equal")
_COMPARISONS = {
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor",
}  # fmt: skip
# A difference is on its way to a comparison.
_DIFFERING = _COMPARISONS | {"subtract"}
_PAIRING = (*sorted(_DIFFERING), "divide", "true_divide", "maximum", "minimum", "hypot")
_NUMPY = re.compile(r"\b(np|numpy)\b")
_EMPTY_VALUES = re.compile(r"\[\]|(?<!\w)\(\)|\{\}|\blen\b|\bsize\b|empty|not solution|zeros\(\(?0")
# How the tests' text speaks of a kind of value; "banana", "info" and "definite" do not.
_NAN = (
    r"(?<![a-z])(is|any|no_?)?nan((?![a-z])|arg|max|mean|med|min|prod|std|sum|var)"
    # Only a NaN differs from itself.
    r"|(?<![\w.])(?P<one>[a-z_]\w*) != (?P=one)(?![\w.(\[])"
)
_INF = r"(?<![a-z])(is|pos|neg|[np])?inf(?![a-z])|infinit(?!es)|(?<![a-z])(is|all|non)?finite|1e[34]\d\d|1e\d{4}"
_COMPLEX = r"complex(?!it)|cmath\.|\dj(?![a-z])"
_NAT = rf"(?<![a-z])(is)?nat(?![a-z])|{_NAN}"
_DECIMAL = r"decimal\(|\bdecimal\.\w|\bfrom decimal\b|\bimport decimal as\b"
# A variable may be called "mask".
_MASKED = r"(?<![a-z])masked|\b(no|get)mask|\.(mask\b|filled\(|compressed\()|\b(numpy|np)\.ma\b|import ma\b"
# Texts that Python, NumPy or a decoder reads as such a number, and what reads them.
_NAN_TEXT = re.compile(r"(?<![a-z])s?nan\d*(?![a-z])", re.IGNORECASE)
_INF_TEXT = re.compile(r"(?<![a-z])inf(inity)?(?![a-z])", re.IGNORECASE)
_NUMBER_TEXT = re.compile(r"(\d[\d_.]*)(?:e\+?([\d_]+))?", re.IGNORECASE)
# An infinity needs an exponent of three digits, or, before one of two, as many digits as this.
_MANY_DIGITS = 209
_READING = re.compile(
    r"float|complex|double|decimal|json|eval|loads|fromstring|astype|dtype|genfromtxt|loadtxt|array\("
)
# What a message must have in it before its texts and numbers are looked at one by one; an escape may hide anything.
_SUSPICIOUS = re.compile(rf"nan|inf|\d\.?e\+?\d[\d_]{{2}}|(?<!\d)[\d_.]{{{_MANY_DIGITS}}}|\\u|\"[sbc]\"", re.IGNORECASE)
# A list without items becomes an array only here.
_MAKING = ("array", "asarray", "asanyarray", "ravel", "concatenate")


def refuse_empty_comparisons(
    note: Callable[[BaseException], BaseException], text: str, tests: str | None = None
) -> Guard:
    """Return the guard of one run of tests: it refuses comparisons that are true of several expected values.

    `note` is told why nothing can be confirmed, and returns the exception to raise. `text` is all that the tests may
    say: what it does not mention is not prepared for, which takes longer than a test. `tests`: the part of it whose
    statements are executed.
    """
    guard = Guard(note, text, text if tests is None else tests)
    if re.search(r"\bnp\b|numpy", text):
        guard.prepare()
    if "cmath" in text:
        cmath.isclose = guard.checked(cmath.isclose)
    return guard


class Guard:
    """Stands between the values that came from a candidate and the tests.

    Called with an array that came, it returns what the tests are given for it.
    """

    def __init__(self, note: Callable[[BaseException], BaseException], text: str, tests: str) -> None:
        self._note, self._text = note, text.lower()
        self.numbers = nonfinite.Numbers(self, tests, lambda part: re.search(_NAN, part.lower()) is not None)
        """What is not finite."""
        self._lists_matter = _NUMPY.search(self._text) and not _EMPTY_VALUES.search(self._text)
        self._texts_matter = bool(_READING.search(self._text))
        self.suspicious = False
        """Whether the last message may hold numbers, or texts of such, that no test names."""
        self._marks: dict[type[Any], type[Any]] = {}
        self.items = itemwise.Items(note)
        """What is compared item by item."""
        self.trusting = False
        """Whether NumPy is at work on two values that may be compared: what it does with them is its own affair."""

    def __call__(self, array: Any) -> Any:
        odd = array.dtype.kind == "f" and not _is_finite(array)
        if array.size and not odd:
            return array
        # Arrays can come although the tests do not name NumPy.
        self.prepare()
        if odd and isinstance(array, sys.modules["numpy"].generic):
            return self.numbers.remembering(array)
        marked = self.marked(array)
        if type(marked) is type(array) and not array.size and not _EMPTY_VALUES.search(self._text):
            self.refuse(EMPTY)
        return marked

    def masked(self, array: Any) -> Any:
        """Return a masked array that came; an ordinary one where it masks nothing, and no test names masks.

        Arithmetic masks what overflows in a masked array, and no comparison is made with it.
        """
        if re.search(_MASKED, self._text) or sys.modules["numpy"].ma.getmaskarray(array).any():
            return array
        return self(array.data)

    def refuse(self, why: str) -> NoReturn:
        """Raise the exception after which nothing counts any more."""
        raise self._note(crossing.UnconfirmedError(why))

    # --- what no test asks for unless it says so ---

    def constant(self, name: str) -> float:
        """Return NaN or an infinity of a message (as `json.loads` asks for it); refuse it where no test names one."""
        self._expect(_NAN if name == "NaN" else _INF, name)
        return float(name)

    def load(self, message: str | bytes) -> dict[str, Any]:
        """Return a message of the candidate's; note whether what is in it must be looked at one by one."""
        text = message if isinstance(message, str) else message.decode("ascii", "replace")
        self.suspicious = not text.isascii() or _SUSPICIOUS.search(text) is not None
        return crossing.loads(message, self.constant)

    def plain(self, value: Any) -> Any:
        """Return a number or a text that came; refuse it where it is, or is read as, what no test names."""
        if isinstance(value, (float, complex)):
            self._number(value)
            if type(value) is float and not math.isfinite(value):
                return self.numbers.remembering(value)
        elif isinstance(value, (str, bytes)) and self._texts_matter:
            self._read(value if isinstance(value, str) else value.decode("latin-1"))
        return value

    def _number(self, value: Any) -> None:
        if isinstance(value, complex) and not cmath.isfinite(value):
            self._expect(_COMPLEX, "a complex number that is not finite")
        if value != value:
            self._expect(_NAN, "NaN")
        elif abs(value.real) == math.inf or abs(value.imag) == math.inf:
            self._expect(_INF, "Infinity")

    def _read(self, text: str) -> None:
        if _NAN_TEXT.search(text):
            self._expect(_NAN, "the text of a NaN")
        if _INF_TEXT.search(text) or any(map(_is_too_large, _NUMBER_TEXT.finditer(text))):
            self._expect(_INF, "the text of a number that is not finite")

    def examine(self, objects: list[Any]) -> None:
        """Refuse what no test asks for in the objects of an answer: arrays, NumPy scalars, lists that hold nothing."""
        if not _WITHOUT_NUMPY.isdisjoint(map(type, objects)):
            for value in objects:
                if type(value) in _WITHOUT_NUMPY:
                    self._look_into_other(value)
        numpy = sys.modules.get("numpy")
        if numpy is None or not objects:
            return
        # A scalar takes such a list for an array, and no guard of an array is asked.
        if self._lists_matter and any(_holds_nothing(v) for v in objects if not isinstance(v, numpy.ndarray)):
            self.refuse(EMPTY)
        for value in objects:
            if isinstance(value, (numpy.ndarray, numpy.generic)):
                self._look_into(numpy, value)

    def changed(self, value: Any, *, came: bool) -> None:
        """Look at what the candidate has changed; where it `came` as an answer, an array cannot notice any more."""
        self.examine([value])
        numpy = sys.modules.get("numpy")
        if not came or numpy is None or not isinstance(value, numpy.ndarray) or value.dtype.kind != "f":
            return
        if type(value) in self._marks and not _is_finite(value):
            self.refuse(nonfinite.WHY)

    def _look_into_other(self, value: Any) -> None:
        if isinstance(value, decimal.Decimal):
            # As a float it may be one that no test names, and nothing of it tells.
            self._number(math.nan if value.is_nan() else float(value))
            if not value.is_finite():
                self._expect(_DECIMAL, "a decimal number that is not finite")
            return
        code = str(getattr(value, "typecode", "") or getattr(value, "format", "B"))
        # A format may begin with a sign for the order of bytes.
        if code[-1] in "efd":
            odd = [number for number in value.tolist() if not math.isfinite(number)]
            for number in odd:
                self._number(number)
            if odd:
                # Its items cannot remember that they came.
                self.refuse(nonfinite.WHY)
        elif self._texts_matter and code[-1] in "bBc":
            # `float` reads such bytes.
            self._read(bytes(value).decode("latin-1"))

    def _look_into(self, numpy: Any, value: Any) -> None:
        for name in value.dtype.names or ():
            self._look_into(numpy, value[name])
            if value.size and not value[name].size:
                # A field has items of its own; without a width it has none.
                self.refuse(EMPTY)
        kind = value.dtype.kind
        if kind in "fc":
            # What is finite as a long double need not be as the float that a test makes of it.
            if value.dtype.itemsize > 8:
                with numpy.errstate(over="ignore"):
                    value = value.astype("c16" if kind == "c" else "f8")
            if numpy.isnan(value).any():
                self._expect(_NAN, "NaN")
            if numpy.isinf(value).any():
                self._expect(_INF, "Infinity")
            if kind == "c" and not numpy.isfinite(value).all():
                self._expect(_COMPLEX, "a complex number that is not finite")
        elif kind in "SU" and self._texts_matter:
            self._read(" ".join(map(str, numpy.char.decode(value, "latin-1").flat if kind == "S" else value.flat)))
        elif kind in "Mm" and numpy.isnat(value).any():
            self._expect(_NAT, "NaT")
        if isinstance(value, numpy.ma.MaskedArray) and numpy.ma.getmaskarray(value).any():
            self._expect(_MASKED, "a masked item")
        if kind == "c" and _overflows(numpy, value):
            self.refuse(OVERFLOW)

    def _expect(self, pattern: str, what: str) -> None:
        if not re.search(pattern, self._text):
            self.refuse(
                f"the candidate returned {what}, which no test names: comparisons with it may be true of anything"
            )

    # --- NumPy ---

    def prepare(self) -> None:
        """Replace what compares and what makes arrays; NumPy is imported if it is not there yet."""
        if self._marks:
            return
        import numpy

        self._marks = {base: _noticing(numpy, base, self) for base in (numpy.ndarray, numpy.matrix, numpy.recarray)}
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

    def mark(self, value: Any) -> Any:
        """Return an array that notices what it is combined with, where that could be something without items."""
        if type(value) in self._marks and (value.size == 0 or value.ndim == 0 or 1 in value.shape):
            return self.marked(value)
        return value

    def marked(self, array: Any) -> Any:
        """Return an array, of the class that it has, that notices what it is combined with."""
        return array.view(self._marks[type(array)]) if type(array) in self._marks else array

    def _marking(self, make: Callable[..., Any]) -> Callable[..., Any]:
        make = _unguarded(make)

        @functools.wraps(make)
        def made(*args: Any, **kwargs: Any) -> Any:
            array = make(*args, **kwargs)
            if self.trusting:
                return array
            if array.dtype.kind == "c" and _overflows(sys.modules["numpy"], array):
                self.refuse(OVERFLOW)
            if self.numbers.came and nonfinite.holds(args[0]):
                return self.marked(array)
            return self.mark(array)

        made.unguarded = make  # type: ignore[attr-defined]
        return made

    def checked(self, compare: Callable[..., Any], *, near: bool = False) -> Callable[..., Any]:
        """Return a comparison of two values that refuses what it would be true of in any case.

        `near`: what it finds equal must be near each other by another measure too (differences of unsigned integers
        wrap around).
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
        """Refuse two values of which any comparison may be true."""
        if _overflows(numpy, a) or _overflows(numpy, b):
            self.refuse(OVERFLOW)
        if numpy is not None:
            if (_size(numpy, a) == 0) != (_size(numpy, b) == 0):
                self.refuse(EMPTY)
            if not numpy.array_equal(_mask(numpy, a), _mask(numpy, b)):
                self.refuse(MASKED)

    def _far(self, numpy: Any, a: Any, b: Any) -> None:
        """Refuse two values that are not near each other."""
        if not numpy.allclose(1.0 * numpy.asarray(a), 1.0 * numpy.asarray(b), rtol=1e-3):
            self.refuse(FAR)


def _is_too_large(number: re.Match[str]) -> bool:
    """Whether a text that begins like a number is read as an infinity."""
    digits, exponent = number[1], number[2] or ""
    if len(exponent) < 3 and (len(digits) < _MANY_DIGITS or len(re.sub(r"\D", "", digits)) < _MANY_DIGITS):
        return False
    try:
        return math.isinf(float(number[0].replace("_", "")))
    except ValueError:
        return True


def _is_finite(array: Any) -> bool:
    return bool(sys.modules["numpy"].isfinite(array).all())


def _noticing(numpy: Any, base: type[Any], guard: Guard) -> type[Any]:
    """Return the class of arrays (or matrices) that notice what they are compared with."""

    class Noticing(base):  # type: ignore[misc]
        """An array to the tests, and to the candidate."""

        crosses_as_array = True
        differs = False
        """Whether it is a difference, or was made of one."""

        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            return base

        def __reduce_ex__(self, protocol: Any) -> Any:
            # What a copy by way of pickle must not forget cannot be pickled.
            odd = not self.size or (self.dtype.kind == "f" and not _is_finite(self))
            return base.__reduce_ex__(self if odd else _bare(self), protocol)  # type: ignore[call-arg]

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
            sizes = [_size(numpy, value) for value in inputs] if method == "__call__" and len(inputs) > 1 else [1]
            # Other arithmetic with a single number is no comparison yet.
            if not guard.trusting and min(sizes) == 0 and max(sizes) > (0 if ufunc.__name__ in _DIFFERING else 1):
                guard.refuse(EMPTY)
            if not guard.trusting and method == "__call__":
                guard.numbers.check(numpy, ufunc.__name__, inputs)
            if out := kwargs.get("out"):
                kwargs["out"] = tuple(map(_bare, out))
            made = getattr(ufunc, method)(*map(_bare, inputs), **kwargs)
            # Nothing has been compared with nothing: what is asked of the result tells no more.
            if max(sizes) == 0 and ufunc.__name__ in _DIFFERING:
                return made
            differs = ufunc.__name__ == "subtract" or any(getattr(value, "differs", False) for value in inputs)
            odd = isinstance(made, numpy.ndarray) and made.dtype.kind == "f" and not _is_finite(made)
            made = guard.marked(made) if odd else guard.mark(made)
            if differs and getattr(made, "crosses_as_array", False):
                made.differs = True
            return made

    # What `repr` writes in front of the items.
    Noticing.__name__ = "array" if base is numpy.ndarray else base.__name__
    return Noticing


def _bare(value: Any) -> Any:
    """Return an array that notices nothing."""
    kind = type(value)
    return value.view(kind.__base__) if getattr(kind, "crosses_as_array", False) else nonfinite.plain(value)


def _unguarded(function: Callable[..., Any]) -> Callable[..., Any]:
    return getattr(function, "unguarded", function)


def _holds_nothing(value: Any) -> bool:
    """Whether a list, or an array, holds no item at any depth; one that contains itself ends here too."""
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


_WITHOUT_NUMPY = {decimal.Decimal, array.array, bytearray, memoryview}
"""What holds numbers, or is read as one, besides what JSON and NumPy have."""
_SEQUENCES = (
    list, tuple, range, collections.deque, array.array, bytearray, memoryview, collections.UserList,
    collections.UserDict, collections.UserString, collections.ChainMap,
)  # fmt: skip
"""What NumPy takes for a sequence, besides arrays."""


def _may_hold_nothing(value: Any) -> bool:
    return isinstance(value, _SEQUENCES) or getattr(value, "size", None) == 0


def _size(numpy: Any, value: Any) -> int:
    """Return how many items an array made of this has; 2 stands for any number above."""
    if isinstance(value, (list, tuple, range)):
        # NumPy would follow lists that contain each other, 64 levels deep.
        return 0 if _holds_nothing(value) else min(len(value), 2) if numpy.isscalar(value[0]) else 2
    size: int = numpy.size(value)
    return size


def _overflows(numpy: Any, value: Any) -> bool:
    """Whether some complex number in a value is finite and its absolute value is not."""
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
