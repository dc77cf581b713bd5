"""Whether two answers to the same call are the same, and where they differ.

Not the type of a value decides, but what it contains: a number, a text, items, or named parts.
"""

from __future__ import annotations

import decimal
import fractions
import hashlib
import itertools
import json
import math
from typing import NamedTuple

from grade_sandbox.tests import views
from grade_sandbox.tests.views import CONTAINERS
from grade_sandbox.values.constructed import ERROR, FUNCTION, ITERATOR, MAPPING, NUMBER, OBJECT, SEQUENCE, SET, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from grade_sandbox.tests.views import Messages, Part, View

    Path = tuple[Any, ...]
    Pairs = list[tuple[Any, Part, Part]]
    """Name, part of the reference's value, and part of the sample's."""

RELATIVE, ABSOLUTE = 1e-6, 1e-12
MAX_PLACES = 1000
MAX_MATCHED = 200
"""Up to how many items of two sets are compared one by one if their exact contents differ."""


class Place(NamedTuple):
    """Where an answer differs from the reference's."""

    call: int
    expected: Part
    returned: Part
    path: Path = ()
    """The names on the way to it: attributes, keys, and positions in tuples, which are records; no other indexes."""


class Comparison:
    """Compares the values of two programs' messages: the reference's and a sample's."""

    def __init__(self, expected: Messages, returned: Messages, reads: Collection[str]) -> None:
        """`reads`: the attributes that the tests read; others of a candidate's own object do not matter."""
        self._expected, self._returned, self._reads = expected, returned, reads

    def places(self, call: int, expected: Part, returned: Part, path: Path = ()) -> list[Place]:
        """Return where two values differ; at most MAX_PLACES."""
        found: list[Place] = []
        seen: set[tuple[int, int]] = set()
        stack: list[tuple[Part, Part, Path]] = [(expected, returned, path)]
        while stack and len(found) < MAX_PLACES:
            one, other, way = stack.pop()
            if _is_same_atom(one, other) or self._was_seen(one, other, seen):
                continue
            deeper = self._compared(self._expected.view(one), self._returned.view(other))
            if deeper is None or deeper is False:
                found.append(Place(call, one, other, way))
            elif deeper is not True:
                stack += [(first, second, (*way, name)) for name, first, second in reversed(deeper)]
        return found

    def _was_seen(self, one: Part, other: Part, seen: set[tuple[int, int]]) -> bool:
        nodes = self._expected.node(one), self._returned.node(other)
        if nodes[0] is None or nodes[1] is None:
            return False
        key = id(nodes[0].node), id(nodes[1].node)
        known = key in seen
        seen.add(key)
        return known

    def _compared(self, one: View, other: View) -> bool | Pairs | None:
        """Return whether two values are the same; the pairs of parts that decide; None: they differ as a whole."""
        families = {one.family, other.family}
        if families == {NUMBER}:
            return same_number(one.value, other.value)
        if families == {NUMBER, TEXT}:
            read = [views.as_number(view.value) if view.family == TEXT else view.value for view in (one, other)]
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
        if isinstance(found, list):
            return any(self.places(0, first, second) for _, first, second in found)
        return not found

    def _objects(self, one: View, other: View) -> bool | Pairs | None:
        """Return the attributes to compare: all of two objects of a known class, else those that the tests read."""
        first, second = self._fields(self._expected, one), self._fields(self._returned, other)
        if one.name == other.name != "tree":
            names = [*first]
            if one.value != other.value or len(first) != len(second):
                return None
        else:
            names = [name for name in first if name[0] == '"' and json.loads(name) in self._reads]
            if one.name == other.name:
                names += _facts(one)
            elif not (names and second):
                return False
        return None if any(name not in second for name in names) else [(n, first[n], second[n]) for n in names]

    def _fields(self, messages: Messages, view: View) -> dict[str, Part]:
        """Return the named parts of an object or a named tuple."""
        if view.name == "record" and view.node is not None:
            return dict(zip(map(json.dumps, view.node.node[2]), view.parts, strict=True))
        return self._by_key(messages, view) | _facts(view) if view.family == OBJECT else {}

    def _iterated(self, one: View, other: View) -> bool | Pairs:
        """Compare an object with a container: by what it gives where it is iterated, or by the names of its parts."""
        if "record" in {one.name, other.name}:
            return self._objects(one, other) or False
        first, second = (
            view.part if view.family in CONTAINERS else _facts(view).get("__iter__") for view in (one, other)
        )
        return False if first is None or second is None else [("items", first, second)]

    def _mappings(self, one: View, other: View) -> Pairs | None:
        first, second = self._by_key(self._expected, one), self._by_key(self._returned, other)
        if "counter" in {one.name, other.name}:  # a count of zero says the same as none
            first = {key: part for key, part in first.items() if self._expected.view(part).value != 0}
            second = {key: part for key, part in second.items() if self._returned.view(part).value != 0}
        if first.keys() != second.keys():
            return None
        return [(("value", key), part, second[key]) for key, part in first.items()]

    def _by_key(self, messages: Messages, view: View) -> dict[str, Part]:
        return {exact(messages, key): part for key, part in zip(view.keys, view.parts, strict=True)}

    def _same_set(self, one: View, other: View) -> bool:
        if len(one.parts) != len(other.parts):
            return False
        first = {exact(self._expected, part): part for part in one.parts}
        second = {exact(self._returned, part): part for part in other.parts}
        left = [part for key, part in first.items() if key not in second]
        right = [part for key, part in second.items() if key not in first]
        if len(left) > MAX_MATCHED or len(left) != len(right):
            return False
        return all(self._took(part, right) for part in left)

    def _took(self, part: Part, candidates: list[Part]) -> bool:
        for number, other in enumerate(candidates):
            if not self.places(0, part, other):
                del candidates[number]
                return True
        return False


def _is_same_atom(one: Part, other: Part) -> bool:
    return not isinstance(one.atom, dict) and type(one.atom) is type(other.atom) and bool(one.atom == other.atom)


def _facts(view: View) -> dict[str, Part]:
    """Return what built-in functions got from an object of the program's own class."""
    if view.name != "tree" or view.node is None:
        return {}
    keys, values = (view.node.parts(4, start=start, step=2) for start in (0, 1))
    counting = {"__bool__", "__len__", "__iter__"}
    return {key.atom: value for key, value in zip(keys, values, strict=True) if key.atom in counting}


def _texts(parts: Iterable[Part]) -> str:
    return repr([part.atom if not isinstance(part.atom, dict) else None for part in parts])


def _items(one: View, other: View) -> Pairs | None:
    """Pair the items of two sequences. Arrays of equal size are also compared item by item in their flat order."""
    if len(one.parts) != len(other.parts) or min(len(one.shape), len(other.shape)) < 1:
        one, other = views.rows(one), views.rows(other)
    if len(one.parts) != len(other.parts):
        return None
    names: Iterable[Any] = itertools.count() if one.name in {"tuple", "record", "named"} else itertools.repeat("item")
    return list(zip(names, one.parts, other.parts, strict=False))


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


def exact(messages: Messages, part: Part) -> str:
    """Return a text that is equal for equal values: sets and mappings have no order, and numbers no type."""
    return _exact(messages, part, {}, 0)


def _exact(messages: Messages, part: Part, known: dict[int, str], depth: int) -> str:
    """`known`: id of a node -> text of its value, so that a shared part is read once and a ring ends."""
    view, node = messages.view(part), messages.node(part)
    if view.family == NUMBER:
        return _exact_number(view.value)
    if view.family == TEXT:
        return json.dumps(view.value if isinstance(view.value, str) else ["bytes", view.value.decode("latin-1")])
    if depth > MAX_DEPTH or not view.parts or node is None:
        return json.dumps([view.family, str(view.value)])
    place = id(node.node)
    if place not in known:
        known[place] = view.family
        items = [_exact(messages, one, known, depth + 1) for one in view.parts]
        if view.keys:
            keys = [_exact(messages, one, known, depth + 1) for one in view.keys]
            items = [f"{key}: {item}" for key, item in zip(keys, items, strict=True)]
        items = sorted(items) if view.family in {SET, MAPPING} else items
        known[place] = hashlib.sha256(json.dumps([view.family, items]).encode()).hexdigest()
    return known[place]


def _exact_number(value: Any) -> str:
    if isinstance(value, complex):
        parts = [value.real, value.imag] if value.imag else [value.real]
        return " ".join(map(_exact_number, parts))
    if not views.is_finite(value) or (isinstance(value, decimal.Decimal) and abs(value.adjusted()) > MAX_DIGITS):
        return str(value)
    return "/".join(map(hex, value.as_integer_ratio()))
