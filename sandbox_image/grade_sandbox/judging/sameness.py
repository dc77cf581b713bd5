"""Whether two answers to the same call are the same, and where they differ."""

from __future__ import annotations

import fractions
import math

from grade_sandbox.judging.seen import CONTAINER, ERROR, NUMBER, OBJECT, TEXT, TRUTH, View, is_unordered, view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    Way = tuple[Any, ...]
    """Keys, positions and names of attributes that lead to a part."""
    Pairs = tuple[tuple[int, int], ...]
    """The id() of two values, of what contains them, and so on."""

RELATIVE, ABSOLUTE = 1e-6, 1e-12
MAX_DEPTH = 200
MAX_PLACES = 1000
MAX_LEAVES = 100_000


def same(one: Any, two: Any) -> bool:
    """Whether two values are equal as Python's `==` has it, but for True, which is not 1.

    So 64 is 64.0, and a Counter a dict. Floats may differ by 1e-6, relatively, or by 1e-12. NaN is NaN. Sets and
    mappings have no order.
    """
    return next(places(one, two), None) is None


def places(one: Any, two: Any, way: Way = (), above: Pairs = ()) -> Iterator[tuple[Way, Any, Any]]:
    """Yield where two values differ: the way to the smallest parts, and the parts.

    Parts below MAX_DEPTH are compared by their leaves. `above`: the pairs that contain these two. A pair that contains
    itself is the same if nothing else in it differs.
    """
    pair = id(one), id(two)
    if one is two or pair in above:
        return
    above = (*above, pair)
    first, second = view(one), view(two)
    if len(above) > MAX_DEPTH and first.parts:
        if not same_leaves(one, two):
            yield way, one, two
    elif first.family != second.family or not _of_one_kind(first, second):
        if _named_alike(first, second):
            yield from _parts(first, second, way, above)
        else:
            yield way, one, two
    elif first.family == NUMBER:
        if not same_number(first.value, second.value):
            yield way, one, two
    elif first.family not in {CONTAINER, OBJECT, ERROR}:
        if first.value != second.value:
            yield way, one, two
    elif first.value != second.value or len(first.parts) != len(second.parts):
        yield way, one, two
    elif is_unordered(one):
        if not _same_items(first.parts, second.parts, above):
            yield way, one, two
    elif first.keys is not None and not _same_items(first.keys, second.keys or (), above):
        yield way, one, two
    elif first.family == ERROR:
        if not all(same(p, q) for p, q in zip(first.parts, second.parts, strict=True)):
            yield way, one, two
    else:
        yield from _parts(first, second, way, above)


_ATOMS = {NUMBER, TRUTH, TEXT}
_EQUAL_KINDS = {"Counter": "dict", "defaultdict": "dict", "OrderedDict": "dict", "frozenset": "set"}
"""Kind -> the kind whose values equal those of the first in Python."""
USUAL_TYPES = {"", "int64", "float64", "bool", "complex128"}
"""The types of NumPy whose operations give what Python's do. Smaller ones overflow silently."""


def _of_one_kind(one: View, two: View) -> bool:
    """Whether values of one family can be equal in Python, and are computed with in the same way."""
    if one.family in _ATOMS:
        return one.dtype == two.dtype or {one.dtype, two.dtype} <= USUAL_TYPES
    return one.dtype == two.dtype and _EQUAL_KINDS.get(one.kind, one.kind) == _EQUAL_KINDS.get(two.kind, two.kind)


def _named_alike(one: View, two: View) -> bool:
    """Whether two objects are of different classes with the same names: a named tuple and a data class."""
    return one.family == two.family == OBJECT and list(one.keys or ()) == list(two.keys or ())


def _parts(one: View, two: View, way: Way, above: Pairs) -> Iterator[tuple[Way, Any, Any]]:
    if one.keys is None or one.family == OBJECT or list(map(id, one.keys)) == list(map(id, two.keys or ())):
        others: Sequence[Any] = two.parts
        if one.family == OBJECT and two.keys is not None:
            by_name = dict(zip(two.keys, two.parts, strict=True))
            others = [by_name.get(name) for name in one.keys or ()]
    else:
        found = dict(zip(two.keys or (), two.parts, strict=True))
        others = [found.get(key) for key in one.keys]
    for name, first, second in zip(one.names, one.parts, others, strict=True):
        yield from places(first, second, (*way, name), above)


def _same_items(one: Sequence[Any], two: Sequence[Any], above: Pairs) -> bool:
    """Whether two collections have the same items, in any order."""
    left = list(two)
    for item in one:
        at = next((at for at, other in enumerate(left) if next(places(item, other, (), above), None) is None), None)
        if at is None:
            return False
        del left[at]
    return not left


def leaves(value: Any) -> list[View]:
    """Return what a value consists of, without its shape: the views of parts that have no parts, in order.

    Empty for a value that has more than MAX_LEAVES parts, or contains itself.
    """
    found: list[View] = []
    stack = [value]
    for _ in range(MAX_LEAVES):
        if not stack:
            return found
        seen = view(stack.pop())
        if seen.family not in {CONTAINER, OBJECT} or (seen.kind == "iterator" and not seen.value):
            found.append(seen)
        names = seen.keys if seen.family == CONTAINER and seen.keys is not None else ()
        stack += [*reversed([*names, *seen.parts])]
    return []


def same_leaves(one: Any, two: Any) -> bool:
    """Whether two values with parts differ in nothing but their shape, or the kinds of their containers."""
    first, second = leaves(one), leaves(two)
    pairs = zip(first, second, strict=False)
    return len(first) == len(second) > 0 and all(p.family == q.family and same(p.value, q.value) for p, q in pairs)


def same_number(one: Any, two: Any) -> bool:
    """Whether two numbers are the same: where one is whole or a fraction, exactly, else nearly; NaN is NaN."""
    if isinstance(one, complex) or isinstance(two, complex):
        first, second = complex(one), complex(two)
        return same_number(first.real, second.real) and same_number(first.imag, second.imag)
    if isinstance(one, (int, fractions.Fraction)) or isinstance(two, (int, fractions.Fraction)):
        return bool(one == two)
    try:
        first, second = float(one), float(two)
    except OverflowError:
        return bool(one == two)
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return first == second or math.isclose(first, second, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value with lists for all sequences, and Python's numbers for NumPy's."""
    seen = view(value)
    if seen.family == CONTAINER and seen.keys is None and not is_unordered(value) and depth <= MAX_DEPTH:
        return [plain(part, depth + 1) for part in seen.parts]
    return seen.value if seen.kind == "scalar" or (seen.dtype and not seen.parts) else value


def without_order(value: Any, depth: int = 0) -> Any:
    """Return a value whose sequences are sorted, as texts."""
    seen = view(value)
    if not seen.parts or depth > MAX_DEPTH:
        return repr((seen.family, seen.value))
    items = [without_order(part, depth + 1) for part in seen.parts]
    if seen.keys is not None:
        items = [f"{without_order(k, depth + 1)}: {item}" for k, item in zip(seen.keys, items, strict=True)]
    return f"{seen.kind} {sorted(items)}"
