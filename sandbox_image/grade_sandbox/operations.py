"""Operations on objects that stay with the program: each is a call, with one of these names as its target."""

from __future__ import annotations

import copy
import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift")
IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ior", "iand", "ixor")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
CONVERSIONS: tuple[type[Any], ...] = (bool, str, int, float)


def _items(value: Any) -> Iterator[Any]:
    # An object may be its own iterator. A generator is sent as its items.
    return (item for item in value)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in (*BINARY, *IN_PLACE, *COMPARISONS)},
    **{name: getattr(operator, name) for name in ("getitem", "setitem", "delitem", "contains", "neg", "pos", "abs")},
    **{kind.__name__: kind for kind in CONVERSIONS},
    "isinstance": isinstance, "issubclass": issubclass, "getattr": getattr, "setattr": setattr, "delattr": delattr,
    "len": len, "repr": repr, "format": format, "index": operator.index, "iter": _items, "next": next, "round": round,
    "reversed": lambda value: _items(reversed(value)), "copy": copy.copy, "deepcopy": copy.deepcopy,
    "call": lambda value, /, *args, **kwargs: value(*args, **kwargs),
    "enter": lambda value: type(value).__enter__(value),
    "exit": lambda value: bool(type(value).__exit__(value, None, None, None)),
}  # fmt: skip
"""Name -> the function that carries it out, in the program's process."""
