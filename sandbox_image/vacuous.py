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
import decimal
import math
import re
import sys

import crossing
import itemwise
import naming
import nonfinite
import noticing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

_WITHOUT_NUMPY = {decimal.Decimal, array.array, bytearray, memoryview}
"""Classes with numbers, or that are converted to one, besides those of JSON and NumPy."""


def refuse_empty_comparisons(
    note: Callable[[BaseException], BaseException], text: str, tests: str | None = None
) -> Guard:
    """Return the guard of one run of tests: it refuses comparisons that are true of several expected values.

    `note` gets the reason why nothing can be confirmed, and returns the exception to raise. `text`: the tests and the
    signature. Only the libraries that it names are prepared, because that takes longer than a test. `tests`: the part
    of `text` whose statements are executed.
    """
    guard = Guard(note, text, text if tests is None else tests)
    if re.search(r"\bnp\b|numpy", text):
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
        self.arrays = noticing.Arrays(self.refuse, self._text, tests)
        self.items = itemwise.Items(note)
        """The comparisons item by item."""
        self._lists_matter = bool(naming.NUMPY.search(self._text)) and not naming.EMPTY.search(self._text)
        self._texts_matter = bool(naming.CONVERTING.search(self._text))
        self.suspicious = False
        """Whether the last message may have numbers, or texts of numbers, that must be checked one by one."""

    def __call__(self, array: Any) -> Any:
        odd = array.dtype.kind == "f" and not noticing.is_finite(array)
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
        return "systemexit" in self._text and not re.search(r"\bexit\(|\bquit\(|raise systemexit|\bmain\(", self._text)

    def refuse(self, why: str) -> NoReturn:
        """Raise the exception after which nothing can be confirmed."""
        raise self._note(crossing.UnconfirmedError(why))

    # --- values that are refused unless the tests name them ---

    def constant(self, name: str) -> float:
        """Return NaN or an infinity of a message, for `json.loads`; refuse it if no test names it."""
        self._expect(naming.NAN if name == "NaN" else naming.INF, name)
        return float(name)

    def load(self, message: str | bytes) -> dict[str, Any]:
        """Decode a message of the candidate; record whether its numbers and texts must be checked one by one."""
        text = message if isinstance(message, str) else message.decode("ascii", "replace")
        self.suspicious = not text.isascii() or naming.SUSPICIOUS.search(text) is not None
        return crossing.loads(message, self.constant)

    def plain(self, value: Any) -> Any:
        """Return a number or text of the candidate; refuse it if it is, or converts to, a number that no test names."""
        if isinstance(value, (float, complex)):
            self._number(value)
            if type(value) is float and not math.isfinite(value):
                return self.arrays.numbers.remembering(value)
        elif isinstance(value, (str, bytes)) and self._texts_matter:
            self._read(value if isinstance(value, str) else value.decode("latin-1"))
        return value

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
        """Refuse values that no test names in the objects of an answer: in arrays, NumPy scalars and empty lists."""
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
                self._look_into(numpy, value)

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

    def _look_into(self, numpy: Any, value: Any) -> None:
        for name in value.dtype.names or ():
            self._look_into(numpy, value[name])
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
