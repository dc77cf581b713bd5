"""Whether two answers to the same call are the same, and where they differ."""

from __future__ import annotations

import fractions
import math

from grade_sandbox.judging.comparisons import ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE
from grade_sandbox.judging.views import CONTAINER, ERROR, NUMBER, OBJECT, TEXT, TRUTH, View, is_unordered, view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    Path = tuple[Any, ...]
    """Keys, positions and names of attributes that lead to a part."""
    Pairs = tuple[tuple[int, int], ...]
    """The id() of two values, of what contains them, and so on."""

MAX_DEPTH = 200
MAX_PLACES = 1000
MAX_LEAVES = 100_000


def are_same(one: Any, two: Any) -> bool:
    """Whether two values are equal as Python's `==` has it, but for True, which is not 1.

    So 64 is 64.0, and a Counter a dict. Floats may differ by 1e-6, relatively, or by 1e-12. NaN is NaN. Sets and
    mappings have no order.
    """
    return next(differing_parts(one, two), None) is None


def differing_parts(one: Any, two: Any, path: Path = (), open_pairs: Pairs = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Yield where two values differ: the path to the smallest parts, and the parts.

    Parts below MAX_DEPTH are compared by their leaves. `open_pairs`: the pairs that contain these two, and whose
    comparison is not finished. A pair that contains itself is the same if nothing else in it differs.
    """
    pair = id(one), id(two)
    if one is two or pair in open_pairs:
        return
    open_pairs = (*open_pairs, pair)
    first, second = view(one), view(two)
    is_same: bool | None
    """None: their parts decide."""
    if len(open_pairs) > MAX_DEPTH and first.parts:
        is_same = have_same_leaves(one, two)
    else:
        is_same = _is_same_whole(first, second, open_pairs, in_any_order=is_unordered(one))
    if is_same is None:
        yield from _differing_parts_within(first, second, path, open_pairs)
    elif not is_same:
        yield path, one, two


def _is_same_whole(one: View, two: View, open_pairs: Pairs, *, in_any_order: bool) -> bool | None:
    """Whether two values are the same; None: each part is compared with its counterpart, by its key or position."""
    if one.family != two.family or not _are_of_one_kind(one, two):
        return False
    if one.family == NUMBER:
        return are_same_number(one.value, two.value)
    if one.value != two.value or len(one.parts) != len(two.parts):
        return False
    if one.family not in {CONTAINER, OBJECT, ERROR}:
        return True
    if in_any_order:
        return _have_same_items(one.parts, two.parts, open_pairs)
    if one.keys is not None and not _have_same_items(one.keys, two.keys or (), open_pairs):
        return False
    if one.family == ERROR:  # it differs as a whole: the difference is not looked for within it
        return all(map(are_same, one.parts, two.parts))
    return None


_ATOMS = {NUMBER, TRUTH, TEXT}
_EQUAL_KINDS = {"Counter": "dict", "defaultdict": "dict", "OrderedDict": "dict", "frozenset": "set"}
"""Kind -> the kind whose values equal those of the first in Python."""
USUAL_TYPES = {"", "int64", "float64", "bool", "complex128"}
"""The types of NumPy whose operations give what Python's do. Smaller ones overflow silently."""


def _are_of_one_kind(one: View, two: View) -> bool:
    """Whether the types of two values of one family make no difference: 1 and 1.0, or a set and a frozenset.

    Types make a difference if their values are never equal in Python, or if NumPy computes otherwise with one of them:
    see `USUAL_TYPES`.
    """
    if one.family in _ATOMS:
        return one.dtype == two.dtype or {one.dtype, two.dtype} <= USUAL_TYPES
    return one.dtype == two.dtype and _EQUAL_KINDS.get(one.kind, one.kind) == _EQUAL_KINDS.get(two.kind, two.kind)


def _differing_parts_within(one: View, two: View, path: Path, open_pairs: Pairs) -> Iterator[tuple[Path, Any, Any]]:
    """Yield where the parts of two values differ. Mappings and objects have the same keys, in any order."""
    parts: Sequence[Any] = two.parts
    if one.family == OBJECT and two.keys is not None:
        by_name = dict(zip(two.keys, two.parts, strict=True))
        parts = [by_name.get(name) for name in one.keys or ()]
    elif one.keys is not None and list(map(id, one.keys)) != list(map(id, two.keys or ())):
        # Equal keys of one message are one object. So these are in another order, or come from another message.
        by_key = dict(zip(two.keys or (), two.parts, strict=True))
        parts = [by_key.get(key) for key in one.keys]
    for name, first, second in zip(one.names, one.parts, parts, strict=True):
        yield from differing_parts(first, second, (*path, name), open_pairs)


def _have_same_items(one: Sequence[Any], two: Sequence[Any], open_pairs: Pairs) -> bool:
    """Whether two collections have the same items, in any order."""
    unmatched = list(two)
    for item in one:
        for position, other in enumerate(unmatched):
            if next(differing_parts(item, other, (), open_pairs), None) is None:
                del unmatched[position]
                break
        else:
            return False
    return not unmatched


def leaves(value: Any) -> list[View]:
    """Return what a value consists of, without its shape: the views of parts that have no parts, in order.

    Empty for a value that has more than MAX_LEAVES parts, or contains itself.
    """
    leaf_views: list[View] = []
    stack = [value]
    for _ in range(MAX_LEAVES):
        if not stack:
            return leaf_views
        part = view(stack.pop())
        # An iterator that was not sent whole is a leaf beside its items, so it is no list of these items.
        is_incomplete = part.kind == "iterator" and not part.value
        if part.family not in {CONTAINER, OBJECT} or is_incomplete:
            leaf_views.append(part)
        # The keys of a mapping are data, the names of attributes are not.
        keys = part.keys if part.family == CONTAINER and part.keys is not None else ()
        stack += [*reversed([*keys, *part.parts])]
    return []


def have_same_leaves(one: Any, two: Any) -> bool:
    """Whether two values with parts differ in nothing but their shape, or the kinds of their containers."""
    first, second = leaves(one), leaves(two)
    pairs = zip(first, second, strict=False)
    return len(first) == len(second) > 0 and all(p.family == q.family and are_same(p.value, q.value) for p, q in pairs)


def are_same_number(one: Any, two: Any) -> bool:
    """Whether two numbers are the same: where one is whole or a fraction, exactly, else nearly; NaN is NaN."""
    if isinstance(one, complex) or isinstance(two, complex):
        first, second = complex(one), complex(two)
        return are_same_number(first.real, second.real) and are_same_number(first.imag, second.imag)
    if isinstance(one, (int, fractions.Fraction)) or isinstance(two, (int, fractions.Fraction)):
        return bool(one == two)
    try:
        first, second = float(one), float(two)
    except OverflowError:
        return bool(one == two)
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return first == second or math.isclose(first, second, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE)
