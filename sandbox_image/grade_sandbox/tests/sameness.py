"""Whether two answers to the same call are the same, and where they differ.

Not the type of a value decides, but what it contains: a number, a text, items, or named parts.
"""

from __future__ import annotations

import decimal
import fractions
import hashlib
import json
import math
from typing import NamedTuple

from grade_sandbox.tests import views
from grade_sandbox.values.constructed import FUNCTION, ITERATOR, MAPPING, NUMBER, OBJECT, SEQUENCE, SET, TEXT
from grade_sandbox.values.messages import RETURNED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from grade_sandbox.tests.views import Step, View

    Path = tuple[Any, ...]
    Way = tuple[Step, ...]
    Pairs = list[tuple[Way, Way, Any, Any]]
    """The steps to both parts, the part of the reference's value, and that of the sample's."""

RELATIVE, ABSOLUTE = 1e-6, 1e-12
MAX_PLACES = 1000
"""Maximum number of places that are returned in which two values differ."""


class Place(NamedTuple):
    """Where an answer differs from the reference's."""

    call: int
    expected: Any
    returned: Any
    root: Any = RETURNED
    """What the value is a part of; see `tried.Change`."""
    ways: tuple[Way, Way] = ((), ())
    """The steps to the part of the reference's value, and of the sample's."""

    @property
    def path(self) -> Path:
        """The root and the names on the way: attributes, keys, and positions in tuples, which are records."""
        root = self.root[0] if isinstance(self.root, tuple) else self.root
        return (root, *("item" if how == "item" else str(key) for how, key in self.ways[0]))


class Comparison:
    """Compares the values of the reference with those of a sample."""

    def __init__(self, reads: Collection[str]) -> None:
        """`reads`: the attributes that the tests read; others of a candidate's own object do not matter."""
        self._reads = reads

    def places(self, call: int, expected: Any, returned: Any, root: Any = RETURNED) -> list[Place]:
        """Return where two values differ; at most MAX_PLACES."""
        found: list[Place] = []
        seen: dict[tuple[int, int], Any] = {}
        stack: list[tuple[Any, Any, Way, Way]] = [(expected, returned, (), ())]
        while stack and len(found) < MAX_PLACES:
            one, other, way, other_way = stack.pop()
            if _is_same_atom(one, other) or (id(one), id(other)) in seen:
                continue
            first, second = views.view(one), views.view(other)
            if first.parts or second.parts:
                seen[id(one), id(other)] = one, other  # kept alive: an id() is that of one object
            deeper = self._compared(first, second)
            if deeper is None or deeper is False:
                found.append(Place(call, one, other, root, (way, other_way)))
            elif deeper is not True:
                stack += [(p, q, (*way, *step), (*other_way, *step_)) for step, step_, p, q in reversed(deeper)]
        return found

    def _compared(self, one: View, other: View) -> bool | Pairs | None:
        """Return whether two values are the same; the pairs of parts that decide; None: they differ as a whole."""
        families = {one.family, other.family}
        if families == {NUMBER}:
            return same_number(one.value, other.value)
        if families == {OBJECT}:
            return self._objects(one, other)
        if families <= {SEQUENCE, ITERATOR}:
            return _items(one, other)
        if families <= {SEQUENCE, ITERATOR, SET}:
            return sorted(map(exact, one.parts)) == sorted(map(exact, other.parts)) or _are_near(one, other) or None
        if families == {MAPPING}:
            return self._mappings(one, other)
        if families == {FUNCTION}:
            return "type" not in {one.name, other.name} or one.value == other.value
        return one.name == other.name and one.value == other.value

    def _objects(self, one: View, other: View) -> bool | Pairs | None:
        """Return the attributes to compare: all of two objects of a known class, else those that the tests read."""
        first, second = (dict(zip(seen.keys, seen.parts, strict=True)) for seen in (one, other))
        names = [*first]
        if one.name == other.name != "tree":
            if one.value != other.value or len(first) != len(second):
                return None
        else:
            names = [name for name in names if name in self._reads]
            if one.name != other.name and not names:
                return False
        if any(name not in second for name in names):
            return None
        return [((("attribute", n),), (("attribute", n),), first[n], second[n]) for n in names]

    def _mappings(self, one: View, other: View) -> Pairs | None:
        first, second = (
            {exact(key): (key, item) for key, item in zip(seen.keys, seen.parts, strict=True)} for seen in (one, other)
        )
        if first.keys() != second.keys():
            return None
        pairs = ((first[name], second[name]) for name in first)
        return [((("key", k),), (("key", q),), part, other_part) for (k, part), (q, other_part) in pairs]


def _is_same_atom(one: Any, other: Any) -> bool:
    return type(one) is type(other) and type(one) in {int, str, bool, type(None)} and bool(one == other)


def _are_near(one: View, other: View) -> bool:
    """Whether two collections have numbers that differ only a little."""
    are_numbers = all(type(part) in {int, float} for part in (*one.parts, *other.parts))
    is_like = are_numbers and len(one.parts) == len(other.parts)
    return is_like and all(map(same_number, sorted(one.parts), sorted(other.parts)))


def _items(one: View, other: View) -> bool | Pairs | None:
    """Pair the items of two sequences. Arrays of equal size and other shapes are compared in their flat order."""
    if one.name == other.name == "array" and one.it.shape != other.it.shape and one.it.size == other.it.size:
        return all(map(same_number, one.it.ravel().tolist(), other.it.ravel().tolist())) or None
    if len(one.parts) != len(other.parts):
        return None
    hows = ["at" if isinstance(seen.it, tuple) else "item" for seen in (one, other)]
    pairs = enumerate(zip(one.parts, other.parts, strict=True))
    return [(((hows[0], at),), ((hows[1], at),), first, second) for at, (first, second) in pairs]


def same_number(one: Any, other: Any) -> bool:
    """Whether two numbers are the same: integers exactly, others nearly; True is 1, and NaN is NaN."""
    if isinstance(one, complex) or isinstance(other, complex):
        first, second = complex(one), complex(other)
        return same_number(first.real, second.real) and same_number(first.imag, second.imag)
    if isinstance(one, (int, fractions.Fraction)) and isinstance(other, (int, fractions.Fraction)):
        return one == other
    try:
        first, second = float(one), float(other)
    except OverflowError:
        return bool(one == other)
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return first == second or math.isclose(first, second, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


MAX_DEPTH, MAX_DIGITS = 200, 5000


def exact(value: Any) -> str:
    """Return a text that is equal for equal values: sets and mappings have no order, and numbers no type."""
    return _exact(value, {}, 0)


def _exact(value: Any, known: dict[int, tuple[Any, str]], depth: int) -> str:
    """`known`: id of a container -> itself and the text of its value: a shared one is read once, and a ring ends."""
    if id(value) in known:
        return known[id(value)][1]
    seen = views.view(value)
    if seen.family == NUMBER:
        return _exact_number(seen.value)
    if seen.family == TEXT:
        return json.dumps(seen.value if isinstance(seen.value, str) else ["bytes", bytes(seen.value).decode("latin-1")])
    if depth > MAX_DEPTH or not seen.parts:
        return json.dumps([seen.family, str(seen.value)])
    known[id(value)] = value, seen.family
    items = [_exact(one, known, depth + 1) for one in seen.parts]
    if seen.keys:
        keys = [_exact(one, known, depth + 1) for one in seen.keys]
        items = [f"{key}: {item}" for key, item in zip(keys, items, strict=True)]
    items = sorted(items) if seen.family in {SET, MAPPING} else items
    known[id(value)] = value, hashlib.sha256(json.dumps([seen.family, items]).encode()).hexdigest()
    return known[id(value)][1]


def _exact_number(value: Any) -> str:
    if isinstance(value, complex):
        parts = [value.real, value.imag] if value.imag else [value.real]
        return " ".join(map(_exact_number, parts))
    if not views.is_finite(value) or (isinstance(value, decimal.Decimal) and abs(value.adjusted()) > MAX_DIGITS):
        return str(value)
    return "/".join(map(hex, value.as_integer_ratio()))
