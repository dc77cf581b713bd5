"""Refuse values from a candidate for which a comparison is true of almost anything, so that it confirms nothing.

An array without items is broadcast to almost any shape, and then none of its items differs. A NaN is not greater than
any tolerance, and an infinity is within any relative one. A masked item is not compared at all, and a complex number
whose absolute value overflows is close to anything. Such a value is accepted only if the tests' own text names its kind
(naming.py). Even then, arrays without items notice what they are compared with (noticing.py), and numbers that are not
finite remember that they came from a candidate (nonfinite.py). itemwise.py refuses answers with too few items.
"""

from __future__ import annotations

import array
import cmath
import contextlib
import decimal
import functools
import io
import math
import re
import sys

import crossing
import itemwise
import naming
import nonfinite
import noticing
import rewriting
import standing_in
from instances import MalformedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

_WITHOUT_NUMPY = {decimal.Decimal, array.array, bytearray, memoryview}
"""Classes with numbers, or that are converted to one, besides those of JSON and NumPy."""

# Compiled here, because a pattern that is compiled in a fork is compiled for each candidate.
_NAMES_NUMPY = re.compile(r"\bnp\b|numpy")
_CALLED = re.compile(r"\.\s*(\w+)\s*\(")
_EXITS = re.compile(r"\bexit\(|\bquit\(|raise systemexit|\bmain\(")

WRAPPED = "the type of a number that the candidate returned is too small for what the tests compute with it"
MAX_PARTS = 100_000
"""How many parts of a value that a text has computed are checked."""


def refuse_empty_comparisons(
    note: Callable[[BaseException], BaseException], text: str, tests: str | None = None
) -> Guard:
    """Return the guard of one run of tests: it refuses comparisons that are true of several expected values.

    `note` gets the reason why nothing can be confirmed, and returns the exception to raise. `text`: the tests and the
    signature. Only the libraries that it names are prepared, because that takes longer than a test. `tests`: the part
    of `text` whose statements are executed.
    """
    guard = Guard(note, text, text if tests is None else tests)
    if _NAMES_NUMPY.search(text):
        guard.arrays.prepare()
    if "cmath" in text:
        cmath.isclose = guard.arrays.checked(cmath.isclose)
    return guard


class Guard:
    """Checks the values from a candidate before the tests get them.

    Called with an array from the candidate, it returns the array that the tests get.
    """

    def __init__(self, note: Callable[[BaseException], BaseException], text: str, tests: str) -> None:
        self._note, self._text = note, text.lower()
        self.arrays = noticing.Arrays(self.refuse, self._text, tests, self._look_into)
        self.items = itemwise.Items(note)
        """The comparisons item by item."""
        self._lists_matter = bool(naming.NUMPY.search(self._text)) and not naming.EMPTY.search(self._text)
        self._texts_matter = bool(naming.CONVERTING.search(self._text))
        self._called = set(_CALLED.findall(text))
        """The names of methods that the tests call."""
        self._types_came = False
        self.suspicious = False
        """Whether the last message may have numbers, or texts of numbers, that must be checked one by one."""

    def __call__(self, array: Any) -> Any:
        odd = array.dtype.kind == "f" and not nonfinite.is_ordinary(array)
        if array.size and not odd:
            return array
        # An answer can be an array even if the tests do not name NumPy.
        self.arrays.prepare()
        if odd and isinstance(array, sys.modules["numpy"].generic):
            return self.arrays.numbers.remembering(array)
        marked = self.arrays.marked(array)
        if type(marked) is type(array) and not array.size and not naming.EMPTY.search(self._text):
            self.refuse(noticing.EMPTY)
        return marked

    def masked(self, array: Any) -> Any:
        """Return the array that the tests get: an ordinary one if it masks nothing and no test names masks.

        In a masked array, arithmetic masks the items that overflow, and masked items are not compared.
        """
        if re.search(naming.MASKED, self._text) or sys.modules["numpy"].ma.getmaskarray(array).any():
            return array
        return self(array.data)

    def expects_exit(self) -> bool:
        """Whether the tests expect that a program raises SystemExit: they name it, and do not raise it themselves."""
        return "systemexit" in self._text and not _EXITS.search(self._text)

    def refuse(self, why: str) -> NoReturn:
        """Raise the exception after which nothing can be confirmed."""
        raise self._note(crossing.UnconfirmedError(why))

    def bind(self, namespace: dict[str, Any]) -> None:
        """Define in a namespace the functions that the tests' rewritten code calls (rewriting.py)."""
        self.items.bind(namespace)
        namespace[rewriting.FLOAT] = functools.partial(self._converted, float)
        namespace[rewriting.CONVERTED] = self._checked
        namespace[rewriting.COMPLEX] = functools.partial(self._converted, complex)

    def printed(self, text: Any) -> None:
        """Check a text that the candidate has printed. The stream in which the tests keep it is an answer as well."""
        if isinstance(text, str):
            self.plain(text)
        if type(sys.stdout) is io.StringIO:
            self.items.came([], sys.stdout)

    # --- values that are refused unless the tests name them ---

    def constant(self, name: str) -> float:
        """Return NaN or an infinity of a message, for `json.loads`; refuse it if no test names it."""
        self._expect(naming.NAN if name == "NaN" else naming.INF, name)
        return float(name)

    def load(self, message: str | bytes) -> dict[str, Any]:
        """Decode a message of the candidate; record whether its numbers and texts must be checked one by one."""
        try:
            # `json.loads` would also accept bytes in UTF-16, in which the next line would not find a number.
            text = message if isinstance(message, str) else message.decode("ascii")
        except UnicodeDecodeError as error:
            raise MalformedError(str(error)) from None
        self.suspicious = not text.isascii() or naming.SUSPICIOUS.search(text) is not None
        # A type may be sent before the object that holds it. An escape can hide anything.
        self._types_came = self._types_came or '"type"' in text or "\\u" in text
        return crossing.loads(text, self.constant)

    def plain(self, value: Any) -> Any:
        """Return a number or text of the candidate; refuse it if it is, or converts to, a number that no test names."""
        if isinstance(value, (float, complex)):
            self._number(value)
            if type(value) is float and not nonfinite.is_ordinary(value):
                return self.arrays.numbers.remembering(value)
        elif isinstance(value, (str, bytes)) and self._texts_matter:
            self._read(value if isinstance(value, str) else value.decode("latin-1"))
        return value

    def _converted(self, kind: type[Any], value: Any) -> Any:
        """Convert a value of the tests, which may be made of answers, to a number."""
        found = kind(value)
        self._number(found)
        if kind is float and not math.isfinite(found):
            return self.arrays.numbers.remembering(found)
        return found

    def _number(self, value: Any) -> None:
        if isinstance(value, complex) and not cmath.isfinite(value):
            self._expect(naming.COMPLEX, "a complex number that is not finite")
        if value != value:
            self._expect(naming.NAN, "NaN")
        elif abs(value.real) == math.inf or abs(value.imag) == math.inf:
            self._expect(naming.INF, "Infinity")

    def _read(self, text: str) -> None:
        if naming.reads_as_nan(text):
            self._expect(naming.NAN, "the text of a NaN")
        if naming.reads_as_infinity(text):
            self._expect(naming.INF, "the text of a number that is not finite")

    def examine(self, objects: list[Any]) -> None:
        """Refuse values that no test names in the objects of an answer: in arrays, NumPy scalars and empty lists.

        Also refuse an object with a type as a method: `bool` would be a method `count` that always returns 1.
        """
        if self._types_came:
            for value in objects:
                names = [key for key, item in standing_in.parts_by_name(value).items() if isinstance(item, type)]
                if not self._called.isdisjoint(names):
                    self.refuse("the tests call a method that is a type in what the candidate returned")
        if not _WITHOUT_NUMPY.isdisjoint(map(type, objects)):
            for value in objects:
                if type(value) in _WITHOUT_NUMPY:
                    self._look_into_other(value)
        numpy = sys.modules.get("numpy")
        if numpy is None or not objects:
            return
        # Arithmetic with a NumPy scalar converts such a list to an ordinary array, which notices nothing.
        if self._lists_matter and any(noticing.holds_nothing(v) for v in objects if not isinstance(v, numpy.ndarray)):
            self.refuse(noticing.EMPTY)
        for value in objects:
            if isinstance(value, (numpy.ndarray, numpy.generic)):
                self._look_into(value)
                if not naming.NUMPY.search(self._text):
                    # All numbers of NumPy are then the candidate's. Those of a small type wrap around.
                    numpy.seterr(over="call")
                    numpy.seterrcall(lambda *_: self.refuse(WRAPPED))

    def computed(self, value: Any) -> Any:
        """Check a value that a text of the candidate has computed as if it were an answer; return it for the tests."""
        self.items.came(self._parts_of(value), value)
        self._checked(value)
        if type(value).__module__ == "numpy" and hasattr(value, "dtype"):
            return self(value)
        return self.plain(value)

    def _checked(self, value: Any) -> Any:
        """Refuse what no test names in a value that the tests may have made of an answer; return the value.

        A number in a container does not remember that it came from a candidate.
        """
        if type(value).__name__ == "NaTType":
            self._expect(naming.NAT, "NaT")
        parts = self._parts_of(value.to_numpy() if type(value).__name__ in {"Series", "Index"} else value)
        for part in parts:
            self.plain(part)
        self.examine(parts)
        return value

    def _parts_of(self, value: Any) -> list[Any]:
        """Return a value and everything in it, up to a number of parts."""
        parts: list[Any]
        parts, seen = [value], set()
        for part in parts:
            if id(part) in seen or len(parts) > MAX_PARTS:
                continue
            seen.add(id(part))
            if isinstance(part, (list, tuple, set, frozenset)):
                parts += part
            elif isinstance(part, dict):
                parts += (*part, *part.values())
        return parts

    def changed(self, value: Any, *, came: bool) -> None:
        """Check an object that the candidate has changed. `came`: the candidate had sent the object itself.

        Such an array is refused if it is no longer finite, because the tests may already have an ordinary array.
        """
        self.examine([value])
        numpy = sys.modules.get("numpy")
        if not came or numpy is None or not isinstance(value, numpy.ndarray) or value.dtype.kind != "f":
            return
        if self.arrays.could_notice(value) and not noticing.is_finite(value):
            self.refuse(nonfinite.WHY)

    def _look_into_other(self, value: Any) -> None:
        if isinstance(value, decimal.Decimal):
            # Converted to a float, it may be infinite, and that float does not remember that it came from a candidate.
            self._number(math.nan if value.is_nan() else float(value))
            if not value.is_finite():
                self._expect(naming.DECIMAL, "a decimal number that is not finite")
            return
        code = str(getattr(value, "typecode", "") or getattr(value, "format", "B"))
        # A format may begin with a sign for the byte order.
        if code[-1] in "efd":
            odd = [number for number in value.tolist() if not math.isfinite(number)]
            for number in odd:
                self._number(number)
            if odd:
                # Its items cannot remember that they came from a candidate.
                self.refuse(nonfinite.WHY)
        elif self._texts_matter and code[-1] in "bBc":
            # `float` converts such bytes.
            self._read(bytes(value).decode("latin-1"))
        elif self._texts_matter:
            # It also converts the bytes of larger integers, but only all of them.
            with contextlib.suppress(ValueError):
                self._number(float(memoryview(value).tobytes()))

    def _look_into(self, value: Any) -> None:
        numpy = sys.modules["numpy"]
        for name in value.dtype.names or ():
            self._look_into(value[name])
            if value.size and not value[name].size:
                # A field of width 0 has no items, even if the array has some.
                self.refuse(noticing.EMPTY)
        kind = value.dtype.kind
        if kind in "iuf" and value.dtype.itemsize <= 2 and not value.ndim:
            # The tests' own numbers take over its type: `(np.uint8(3) - 19) ** 2` is 0.
            self._expect(naming.NARROW, f"a number of the type {value.dtype}")
        if kind in "fc":
            # A finite long double may become infinite as the float to which a test converts it.
            if value.dtype.itemsize > 8:
                with numpy.errstate(over="ignore"):
                    value = value.astype("c16" if kind == "c" else "f8")
            if numpy.isnan(value).any():
                self._expect(naming.NAN, "NaN")
            if numpy.isinf(value).any():
                self._expect(naming.INF, "Infinity")
            if kind == "c" and not numpy.isfinite(value).all():
                self._expect(naming.COMPLEX, "a complex number that is not finite")
            if value.dtype.itemsize == 2:
                # Beside it, the expected number is rounded to three digits, and a large one becomes an infinity.
                self._expect(naming.HALF, "a number of half precision")
        elif kind in "SU" and self._texts_matter:
            self._read(" ".join(map(str, numpy.char.decode(value, "latin-1").flat if kind == "S" else value.flat)))
        elif kind in "Mm" and numpy.isnat(value).any():
            self._expect(naming.NAT, "NaT")
        if isinstance(value, numpy.ma.MaskedArray) and numpy.ma.getmaskarray(value).any():
            self._expect(naming.MASKED, "a masked item")
        if kind == "c" and noticing.overflows(numpy, value):
            self.refuse(noticing.OVERFLOW)

    def _expect(self, pattern: str, what: str) -> None:
        if not re.search(pattern, self._text):
            self.refuse(
                f"the candidate returned {what}, which no test names: comparisons with it may be true of anything"
            )
