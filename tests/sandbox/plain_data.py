"""Plain data for property tests: what honest programs answer."""

import collections
import decimal
import fractions
import re
from typing import Any

import numpy as np
from hypothesis import strategies as st

NUMBERS: st.SearchStrategy[Any] = (
    st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.decimals(allow_nan=False, allow_infinity=False).map(decimal.Decimal)
    | st.fractions().map(fractions.Fraction)
    | st.integers(-(1 << 40), 1 << 40).map(np.int64)
    | st.floats().map(np.float64)
)
TEXTS: st.SearchStrategy[Any] = st.text(max_size=6) | st.binary(max_size=6)
KEYS = st.integers() | st.text(max_size=4) | st.tuples(st.integers(), st.text(max_size=2))


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=4)
    return (
        lists
        | lists.map(tuple)
        | lists.map(collections.deque)
        | lists.map(iter)
        | st.sets(KEYS, max_size=4)
        | st.frozensets(KEYS, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.lists(st.floats(), max_size=4).map(np.array)
    )


DATA: st.SearchStrategy[Any] = st.recursive(st.none() | NUMBERS | TEXTS, _containers, max_leaves=8)


def written(value: object) -> str:
    """Return the name of a case: the same in every process."""
    return re.sub(r" at 0x\w+", "", repr(value))
