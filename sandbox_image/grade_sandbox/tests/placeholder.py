"""The recorder's answer to a test's call: an object that supports most of the operations of tests on an answer.

It is either truthy or falsy. Every plain value derived from it (a number, a text, a length, a truth value) differs
between the two cases. So if such a value reaches a later call, the two recordings differ, and neither is used. An
answer that is passed on unchanged, or an item or attribute of it, is represented by an expression:

    ["ans", k]   the answer to call k          ["name", n]   what the candidate calls n
    ["arg", k, i]      argument i of call k (a number or a name), as that call left it
    ["item", expression, atom]                 ["nth", expression, i]   item i of an iteration
    ["attr", expression, name]
    ["op", name]       an operation on such values (remote_objects.py)
"""

from __future__ import annotations

import collections
import dis
import sys

from grade_sandbox.values import remote_objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType
    from typing import Any, Literal

    Recorder = Any
    """recording.Recorder, which imports this module."""


_OWN_NAMES = ("_expression", "_recorder", "_holds")
_LOCAL = frozenset(
    name
    for kind in (list, dict, set, str, int, float, complex, tuple, bytes, collections.deque, collections.Counter)
    for name in dir(kind)
)
# Further methods of NumPy arrays, in all recent versions: no answer to a call may depend on whether NumPy is loaded.
# `test_the_names_of_arrays_are_those_of_numpy` compares them with NumPy.
_ARRAY = frozenset((
    "T", "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "base", "byteswap", "choose",
    "clip", "compress", "conj", "conjugate", "ctypes", "cumprod", "cumsum", "data", "device", "diagonal", "dot",
    "dtype", "dump", "dumps", "fill", "flags", "flat", "flatten", "getfield", "imag", "item", "itemset", "itemsize",
    "mT", "max", "mean", "min", "nbytes", "ndim", "newbyteorder", "nonzero", "partition", "prod", "ptp", "put",
    "ravel", "real", "repeat", "reshape", "resize", "round", "searchsorted", "setfield", "setflags", "shape",
    "size", "sort", "squeeze", "std", "strides", "sum", "swapaxes", "take", "to_device", "tobytes", "tofile",
    "tolist", "tostring", "trace", "transpose", "var", "view",
))  # fmt: skip


class UnrecordableError(BaseException):
    """Raised if the calls of these tests cannot be known without the answers; the text says why."""


class Placeholder:
    """Represents an answer, or a value that a test derived from one (then its expression is None)."""

    __slots__ = (*_OWN_NAMES, "__weakref__")
    if TYPE_CHECKING:
        _recorder: Recorder

    def __init__(self, recorder: Recorder, expression: list[Any] | None, holds: Any = None) -> None:
        object.__setattr__(self, "_recorder", recorder)
        object.__setattr__(self, "_expression", expression)
        object.__setattr__(self, "_holds", holds)
        recorder.count()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name != "__name__":
            raise AttributeError(name)
        return self._recorder.attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._recorder.set_attribute(self, name, value)

    def __getitem__(self, key: Any) -> Any:
        return self._recorder.item(self, key)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._recorder.called(self, args, kwargs)

    def __index__(self) -> int:
        return int(self._recorder.asked())

    def __complex__(self) -> complex:
        return complex(self._recorder.asked())

    def __str__(self) -> str:
        return str(int(self._recorder.converted(self, "str")))

    def __repr__(self) -> str:
        return str(int(self._recorder.converted(self, "repr")))

    def __format__(self, spec: str) -> str:
        return str(self)

    def __bytes__(self) -> bytes:
        return str(self).encode()

    def __hash__(self) -> int:
        return id(self)

    def __iter__(self) -> Iterator[Any]:
        count = _wanted_items(sys._getframe(1))
        if count is None:
            count = 2 * self._recorder.asked()
        return iter([self._recorder.nth(self, number) for number in range(count)])

    __reversed__ = __iter__

    def __contains__(self, item: Any) -> bool:
        return bool(self._recorder.asked())

    def __enter__(self) -> Any:
        return self._recorder.entered("enter", self)

    def __exit__(self, *error: Any) -> Literal[False]:
        self._recorder.entered("exit", self)
        return False

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy

        return numpy.array(float(self._recorder.asked()), dtype=dtype)


def _derive(self: Placeholder, *others: Any, **more: Any) -> Any:
    return self._recorder.derived(self)


def _change(self: Placeholder, *others: Any) -> None:
    self._recorder.changed(self)


def _conversion(name: str, kind: Callable[[bool], Any]) -> Callable[[Any], Any]:
    return lambda self: kind(self._recorder.converted(self, name))


def _operation(name: str, *, reflected: bool = False) -> Callable[..., Any]:
    if reflected:
        return lambda self, other: self._recorder.operated(name, other, self)
    return lambda self, *others: self._recorder.operated(name, self, *others)


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: self._recorder.compared(name, self, other)


for _name in (
    "divmod", "invert", "rdivmod", "next", "round", "trunc", "floor", "ceil", "copy", "deepcopy", "array_ufunc",
    "array_function",
):  # fmt: skip
    setattr(Placeholder, f"__{_name}__", _derive)
for _name in ("setitem", "delitem"):
    setattr(Placeholder, f"__{_name}__", _change)
for _name, _kind in {"bool": bool, "len": int, "int": int, "float": float}.items():
    setattr(Placeholder, f"__{_name}__", _conversion(_name, _kind))
for _name in remote_objects.BINARY:
    setattr(Placeholder, f"__{_name.rstrip('_')}__", _operation(_name))
    setattr(Placeholder, f"__r{_name.rstrip('_')}__", _operation(_name, reflected=True))
for _name in ("neg", "pos", "abs"):
    setattr(Placeholder, f"__{_name}__", _operation(_name))
for _name in remote_objects.COMPARISONS:
    setattr(Placeholder, f"__{_name}__", _comparison(_name))


def expression_of(value: Placeholder) -> Any:
    """Return a placeholder's expression; raises UnrecordableError if it has none."""
    if value._expression is None:
        raise UnrecordableError("the tests call with what they computed from an answer")
    if value._recorder.is_changed(value):
        raise UnrecordableError("the tests change what the candidate returned")
    return value._expression


def is_local(name: str, classes: Iterable[type[Any]]) -> bool:
    """Whether a method of this name belongs to plain data or to the signature's classes, so no candidate is called."""
    return name in _LOCAL or name in _ARRAY or any(hasattr(kind, name) for kind in classes)


def _wanted_items(frame: FrameType) -> int | None:
    """Return how many items the statement `a, b = placeholder` needs, if it is the caller; else None."""
    code, at = frame.f_code.co_code, frame.f_lasti
    name, count = dis.opname[code[at]], code[at + 1]
    if name == "UNPACK_EX":  # a, *b, c = placeholder
        return count + (code[at - 1] if code[at - 2] == dis.EXTENDED_ARG else 0) + 1
    return count if name == "UNPACK_SEQUENCE" else None
