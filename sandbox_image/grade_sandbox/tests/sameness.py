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
from grade_sandbox.tests.views import CONTAINERS
from grade_sandbox.values import standing_in
from grade_sandbox.values.constructed import ERROR, FUNCTION, ITERATOR, MAPPING, NUMBER, OBJECT, SEQUENCE, SET, TEXT
from grade_sandbox.values.messages import RETURNED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from grade_sandbox.tests.views import Step, View

    Path = tuple[Any, ...]
    Way = tuple[Step, ...]
    Pairs = list[tuple[Way, Way, Any, Any]]
    """The steps to both parts, the part of the reference's value, and that of the sample's."""

RELATIVE, ABSOLUTE = 1e-6, 1e-12
MAX_PLACES = 1000
MAX_MATCHED = 200
"""Up to how many items of two sets are compared one by one if their exact contents differ."""


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
        return (root, *("item" if how in {"item", "flat"} else str(key) for how, key in self.ways[0]))


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
        if families == {NUMBER, TEXT}:
            read = [views.as_number(seen.value) if seen.family == TEXT else seen.value for seen in (one, other)]
            return None not in read and same_number(*read)
        if OBJECT in families:
            return self._iterated(one, other) if families & CONTAINERS else self._objects(one, other)
        if families <= {SEQUENCE, ITERATOR}:
            return _items(one, other)
        if families & {TEXT, MAPPING} and families & {SEQUENCE, ITERATOR, SET}:
            return not self._differ(views.opened(one), views.opened(other))
        if families <= {SEQUENCE, ITERATOR, SET}:
            return self._same_set(one, other) or None
        if families == {MAPPING}:
            return self._mappings(one, other)
        if families == {FUNCTION}:
            return "type" not in {one.name, other.name} or one.value == other.value
        if families == {ERROR}:
            is_same = "args" not in self._reads or _texts(one.parts) == _texts(other.parts)
            return bool(one.value == other.value and is_same)
        if families == {TEXT}:
            return bool(one.value == other.value)
        return one.name == other.name and one.value == other.value

    def _differ(self, one: View, other: View) -> bool:
        found = self._compared(one, other)
        return any(self.places(0, *pair[2:]) for pair in found) if isinstance(found, list) else not found

    def _objects(self, one: View, other: View) -> bool | Pairs | None:
        """Return the attributes to compare: all of two objects of a known class, else those that the tests read."""
        first, second = _fields(one), _fields(other)
        if one.name == other.name != "tree":
            names = [*first]
            if one.value != other.value or len(first) != len(second):
                return None
        else:
            names = [step for step in first if step[0] == "attribute" and step[1] in self._reads]
            if one.name == other.name:
                names += _facts(one)
            elif not (names and second):
                return False
        if any(step not in second for step in names):
            return None
        return [((_exact_step(one, n),), (_exact_step(other, n),), first[n], second[n]) for n in names]

    def _iterated(self, one: View, other: View) -> bool | Pairs:
        """Compare an object with a container: by what it gives where it is iterated, or by the names of its parts."""
        if "named tuple" in {one.name, other.name}:
            return self._objects(one, other) or False
        sides = [((), seen.it) if seen.family in CONTAINERS else _iteration(seen) for seen in (one, other)]
        (way, first), (other_way, second) = sides
        return False if first is None or second is None else [(way, other_way, first, second)]

    def _mappings(self, one: View, other: View) -> Pairs | None:
        first, second = (
            {exact(key): (key, item) for key, item in zip(seen.keys, seen.parts, strict=True)} for seen in (one, other)
        )
        if "counter" in {one.name, other.name}:  # a count of zero says the same as none
            first, second = ({k: p for k, p in side.items() if views.view(p[1]).value != 0} for side in (first, second))
        if first.keys() != second.keys():
            return None
        pairs = ((first[name], second[name]) for name in first)
        return [((("key", k),), (("key", q),), part, other_part) for (k, part), (q, other_part) in pairs]

    def _same_set(self, one: View, other: View) -> bool:
        if len(one.parts) != len(other.parts):
            return False
        first, second = {exact(part): part for part in one.parts}, {exact(part): part for part in other.parts}
        left = [part for key, part in first.items() if key not in second]
        right = [part for key, part in second.items() if key not in first]
        if len(left) > MAX_MATCHED or len(left) != len(right):
            return False
        return all(self._took(part, right) for part in left)

    def _took(self, part: Any, candidates: list[Any]) -> bool:
        for number, other in enumerate(candidates):
            if not self.places(0, part, other):
                del candidates[number]
                return True
        return False


def _is_same_atom(one: Any, other: Any) -> bool:
    return type(one) is type(other) and type(one) in {int, str, bool, type(None)} and bool(one == other)


def _fields(seen: View) -> dict[Step, Any]:
    """Return the named parts of an object or a named tuple."""
    if seen.name == "named tuple":
        return {("attribute", name): part for name, part in zip(seen.it._fields, seen.parts, strict=True)}
    if seen.family != OBJECT:
        return {}
    named = {("attribute", name): part for name, part in zip(seen.keys, seen.parts, strict=True)}
    return named | _facts(seen)


def _exact_step(seen: View, step: Step) -> Step:
    """Return the step to a part; in a named tuple, it is a position."""
    return ("at", seen.it._fields.index(step[1])) if seen.name == "named tuple" else step


def _facts(seen: View) -> dict[Step, Any]:
    """Return the length and the items of an object of the program's own class."""
    return {("fact", name): fact for name, fact in standing_in.facts_of(seen.it).items()} if seen.name == "tree" else {}


def _iteration(seen: View) -> tuple[Way, Any]:
    step = "fact", "__iter__"
    return (step,), _facts(seen).get(step)


def _texts(parts: Iterable[Any]) -> str:
    return repr([part if type(part) in {int, float, str, bool} else None for part in parts])


def _items(one: View, other: View) -> Pairs | None:
    """Pair the items of two sequences. Arrays of equal size are also compared item by item in their flat order."""
    if len(one.parts) != len(other.parts) or min(len(one.shape), len(other.shape)) < 1:
        one, other = views.rows(one), views.rows(other)
    if len(one.parts) != len(other.parts):
        return None
    hows = ["flat" if seen.shape else "at" if isinstance(seen.it, tuple) else "item" for seen in (one, other)]
    pairs = enumerate(zip(one.parts, other.parts, strict=True))
    return [(((hows[0], at),), ((hows[1], at),), first, second) for at, (first, second) in pairs]


def same_number(one: Any, other: Any) -> bool:
    """Whether two numbers are the same: integers exactly, others nearly; True is 1, and NaN is NaN."""
    if isinstance(one, complex) or isinstance(other, complex):
        first, second = complex(one), complex(other)
        return same_number(first.real, second.real) and same_number(first.imag, second.imag)
    if isinstance(one, (int, fractions.Fraction)) and isinstance(other, (int, fractions.Fraction)):
        return one == other
    if isinstance(one, decimal.Decimal) and isinstance(other, decimal.Decimal) and one == other:
        return True
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
