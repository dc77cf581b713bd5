"""Numbers from a candidate that are not finite: a comparison of one with a finite number confirms nothing.

If the tests do not name such numbers, vacuous.py refuses them. If the tests do, such a number can be right for one call
and wrong for the next, and a comparison may still be true: a NaN is not greater than any tolerance, and an infinity is
within any relative one. So the number remembers that it came from a candidate. Its difference from a finite number is
refused, and so is a comparison by order; a question about its kind (`isnan`, `== inf`) is not.

A number whose square is not finite remembers it too: two infinities that the tests' arithmetic makes of such numbers
are not compared by order.
"""

from __future__ import annotations

import ast
import math
import operator
import sys

import naming

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

WHY = "a number that is not finite is compared as if it were near any other"
_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
_ORDER = ("lt", "le", "gt", "ge")
_ORDERING = {"less", "less_equal", "greater", "greater_equal"}
_COMPARING = _ORDERING | {"equal", "not_equal"}
_DIVIDING = {"divide", "true_divide"}
_KEEPING = {"math": ("fabs", "sqrt"), "numpy": ("abs", "absolute", "fabs", "sqrt", "square")}
"""Module -> functions of one number whose result remembers, too."""
_LIMIT, _LIMITS = 1e150, {2: 200.0, 4: 1e18}
"""Numbers below this have a finite square: in general, and by the size of smaller types."""


class Remembering:
    """A number that came from a candidate, or one that was computed from it. Each type of number gets a subclass."""

    __slots__ = ()
    crosses_as_number = True
    derived = False
    """Whether the tests have computed it."""
    plain: Callable[[], Any]


class Numbers:
    """Creates such numbers, and refuses some of their comparisons.

    `refuse(why)` raises an exception. `marked` returns an array as one that notices comparisons (noticing.py). `tests`:
    the tests' source.
    """

    def __init__(self, refuse: Callable[[str], NoReturn], marked: Callable[[Any], Any], tests: str) -> None:
        self._refuse, self._marked, self._tests = refuse, marked, tests
        self._classes: dict[type[Any], type[Any]] = {}
        self.came = False
        """Whether such a number was created."""

    def remembering(self, value: Any, *, derived: bool = False) -> Any:
        """Return `value` as a number that remembers. `derived`: it was computed from such a number."""
        kind = type(value)
        if kind not in self._classes:
            self._classes[kind] = self._class(kind)
        if not self.came:
            self.came = True
            for module, names in _KEEPING.items():
                for name in names if module in sys.modules else ():
                    self._keep(sys.modules[module], name)
        made = self._classes[kind](value)
        made.derived = derived
        return made

    def _keep(self, module: Any, name: str) -> None:
        original = getattr(module, name)

        def keeping(value: Any, *args: Any, **kwargs: Any) -> Any:
            found = original(plain(value), *args, **kwargs)
            return self._kept(found, value) if isinstance(value, Remembering) else found

        setattr(module, name, keeping)

    def _kept(self, found: Any, source: Any) -> Any:
        """Return `found`, computed from `source`, as a number that remembers if it is not finite."""
        return found if is_ordinary(found) else self.remembering(found, derived=source.derived)

    def _class(self, kind: type[Any]) -> type[Any]:
        def made_plain(value: Any) -> Any:
            return kind(value)

        # An array leaves the operation to the class with the higher priority.
        members: dict[str, Any] = {"plain": made_plain, "__array_priority__": 1e6}
        for name in _ARITHMETIC:
            function = getattr(operator, name)
            members[f"__{name}__"] = self._arithmetic(name, function)
            members[f"__r{name}__"] = self._arithmetic(name, _exchanged(function))
        for name in _ORDER:
            members[f"__{name}__"] = self._order(getattr(operator, name))
        members |= {
            "__abs__": lambda a: self._kept(abs(plain(a)), a),
            "__neg__": lambda a: self._kept(-plain(a), a),
            "__pos__": lambda a: a,
            "__copy__": lambda a: a,
            "__deepcopy__": lambda a, _memo: a,
            "__class__": property(lambda _: kind),
            "__reduce_ex__": lambda a, _protocol: (kind, (plain(a),)),
        }
        if kind is not float:
            # NumPy would convert a large number of Python to the smaller type, in which it is an infinity.
            members["__eq__"] = lambda a, b: operator.eq(*_widened(a, b))
            members["__ne__"] = lambda a, b: operator.ne(*_widened(a, b))
            members["__hash__"] = kind.__hash__
        # NumPy examines only the first base.
        made = type(kind.__name__, (kind, Remembering), members)
        made.__module__ = kind.__module__
        return made

    def _arithmetic(self, name: str, compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def computed(mine: Any, other: Any) -> Any:
            a, b = plain(mine), plain(other)
            if not isinstance(b, (int, float)) and not _is_number(b):
                return self._with_array(compute, a, b)
            if name == "sub" and (a != a) != (b != b):
                self._refuse(WHY)
            made = compute(a, b)
            # Two NaN, or the difference of two equal infinities: the answer may be right.
            alike = (a != a and b != b) or (name == "sub" and a == b)
            # Two infinities that the tests' arithmetic has made are not right.
            alike = alike and not (mine.derived and getattr(other, "derived", False))
            if alike or not isinstance(made, (float, type(a))) or is_ordinary(made):
                return made
            return self.remembering(made, derived=not math.isfinite(made))

        return computed

    def _with_array(self, compute: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
        numpy = sys.modules.get("numpy")
        if numpy is None or not isinstance(b, numpy.ndarray):
            return compute(a, b)
        return compute(self._marked(_array(numpy, a)), b)

    def _order(self, compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def compared(mine: Any, other: Any) -> Any:
            a, b = plain(mine), plain(other)
            if not isinstance(b, (int, float)) and not _is_number(b):
                return self._with_array(compare, a, b)
            derived = mine.derived or getattr(other, "derived", False)
            if (a != a) != (b != b) and (derived or not self.statement_names_nan()):
                self._refuse(WHY)
            if derived and math.isinf(a) and math.isinf(b):
                self._refuse(WHY)
            return compare(a, b)

        return compared

    def statement_names_nan(self) -> bool:
        """Whether the statement of the tests that is being executed names NaN."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != "<tests>":
            frame = frame.f_back  # type: ignore[assignment]
        return frame is not None and naming.names_nan(_statement(self._tests, frame.f_lineno))

    # --- arrays ---

    def check(self, numpy: Any, name: str, inputs: tuple[Any, ...]) -> None:
        """Refuse an operation on two arrays by which a number that is not finite would be near any other."""
        if len(inputs) != 2:
            return
        a, b = (_array(numpy, plain(value)) for value in inputs)
        if not {a.dtype.kind, b.dtype.kind} <= set("fiub"):
            return
        differ = any(getattr(value, "differs", False) for value in inputs)
        if name == "subtract" or name in _ORDERING:
            # A single number beside a larger array may be a mean or a bound instead of the expected value.
            nan, other = numpy.isnan(a), numpy.isnan(b)
            unlike = ((nan & ~other).any() and b.size > 1) or ((other & ~nan).any() and a.size > 1)
            single = a.size == b.size == 1 and (nan != other).any()
            if (unlike or single) and (name == "subtract" or not self.statement_names_nan()):
                self._refuse(WHY)
        if differ and (name in _ORDERING or name in _DIVIDING) and (numpy.isinf(a) & numpy.isinf(b)).any():
            self._refuse(WHY)
        overflowed = any(getattr(value, "overflowed", False) for value in inputs)
        if name in _COMPARING and overflowed and not (numpy.isfinite(a) | numpy.isfinite(b)).all():
            self._refuse(WHY)


def is_ordinary(number: Any) -> bool:
    """Whether a number, or each item of an array, is finite and has a finite square."""
    size = getattr(getattr(number, "dtype", None), "itemsize", 8)
    found = abs(number) < _LIMITS.get(size, _LIMIT)
    return bool(found.all() if hasattr(found, "all") else found)


def plain(value: Any) -> Any:
    """Return the ordinary number for one that remembers; other values unchanged."""
    return value.plain() if isinstance(value, Remembering) else value


def plain_type(value: Any) -> type[Any]:
    """Return the type of a value, as if it were an ordinary array or number."""
    kind = type(value)
    guards = getattr(kind, "crosses_as_array", False) is True or getattr(kind, "crosses_as_number", False) is True
    return kind.__base__ if guards and kind.__base__ is not None else kind


def _array(numpy: Any, value: Any) -> Any:
    """Return an array, also if noticing.py has replaced the function of the tests."""
    return getattr(numpy.asarray, "unguarded", numpy.asarray)(value)


def _widened(mine: Any, other: Any) -> tuple[Any, Any]:
    """Return both numbers as ordinary ones; the first as one of Python if the second is."""
    a, b = plain(mine), plain(other)
    return (float(a), b) if type(b) in {int, float} else (a, b)


def _exchanged(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: compute(b, a)


def holds(value: Any) -> bool:
    """Whether a list contains such a number, at a depth of up to 8."""
    stack = [(value, 0)]
    while stack:
        value, depth = stack.pop()
        if isinstance(value, Remembering):
            return True
        if isinstance(value, (list, tuple)) and depth < 8:
            stack += [(item, depth + 1) for item in value]
    return False


def _is_number(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.floating, numpy.integer, numpy.bool_))


def _statement(source: str, line: int) -> str:
    """Return the text of the innermost statement at a line; only the line if the statement has a body."""
    lines = source.split("\n")
    covering = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    inner = max(covering, key=lambda node: node.lineno, default=None)
    if inner is None or hasattr(inner, "body"):
        return lines[line - 1] if 0 < line <= len(lines) else ""
    return "\n".join(lines[inner.lineno - 1 : inner.end_lineno])
