"""Convert NumPy arrays and scalars to nodes and back: dtype, shape, bytes, memory order."""

from __future__ import annotations

import base64
import sys

from grade_sandbox.values import plain_forms
from grade_sandbox.values.wire import NUMPY_KINDS, MalformedError, UncrossableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from grade_sandbox.values.wire import NodeEncoder

_COMPARING = ("__array_ufunc__", "__array_function__")


def node(encoder: NodeEncoder, numpy: Any, value: Any) -> list[Any] | None:
    """Return the node of an array or scalar; None for anything else. Raises UncrossableError."""
    kind = type(value)
    if isinstance(value, numpy.ma.MaskedArray):
        return None
    if isinstance(value, numpy.ndarray):
        return _array(encoder, numpy, value, kind)
    if isinstance(value, numpy.generic) and kind.__module__ == "numpy":
        dtype = _described(value.dtype, "scalar")
        return ["scalar", dtype, base64.b64encode(value.tobytes()).decode()]
    return None


def _array(encoder: NodeEncoder, numpy: Any, value: Any, kind: type[Any]) -> list[Any] | None:
    guise = {numpy.matrix: "matrix", numpy.recarray: "recarray"}.get(kind, "")
    if not guise and kind is not numpy.ndarray:
        if plain_forms.overrides(kind, numpy.ndarray, _COMPARING):
            return None
        value = value.view(numpy.ndarray)
    if value.dtype == object:
        return ["array", "O", list(value.shape), encoder.atoms(value.ravel().tolist()), guise]
    dtype = _described(value.dtype, "array")
    data = base64.b64encode(numpy.ascontiguousarray(value).tobytes()).decode()
    order = ["F"] if value.flags.fnc else []
    return ["array", dtype, list(value.shape), data, guise, *order]


def _described(dtype: Any, what: str) -> Any:
    """Return a dtype as text; a structured one as [[name, text, shape]...]."""
    if dtype.names is None:
        if dtype.kind not in NUMPY_KINDS:
            raise UncrossableError(f"{what} of {dtype}")
        return dtype.str
    fields = []
    for name in dtype.names:
        inner = dtype.fields[name][0]
        base, shape = inner.subdtype or (inner, ())
        if base.names is not None or base.kind not in NUMPY_KINDS:
            raise UncrossableError(f"{what} of {dtype}")
        fields.append([name, base.str, list(shape)])
    packed = sys.modules["numpy"].dtype([(n, d, tuple(s)) for n, d, s in fields])
    if packed != dtype:
        raise UncrossableError(f"{what} of {dtype}")
    return fields


def read_dtype(numpy: Any, described: Any) -> Any:
    """Return the dtype with this description; raises MalformedError."""
    if isinstance(described, list):
        return numpy.dtype([(name, read_dtype(numpy, text), tuple(shape)) for name, text, shape in described])
    # As `dtype.str` says it: byte order, kind, size. NumPy reads much more, such as names and lists with commas.
    if not (isinstance(described, str) and described[:1] in {"<", ">", "|"} and described[1:2] in NUMPY_KINDS):
        raise MalformedError("an array of a type that may not be sent")
    dtype = numpy.dtype(described)
    if dtype.kind not in NUMPY_KINDS or dtype.names is not None:
        raise MalformedError("an array of a type that may not be sent")
    return dtype


def _shape(node: list[Any]) -> Any:
    if not all(type(n) is int and n >= 0 for n in node[2]) or len(node[2]) > 32:
        raise MalformedError("an array without a shape")
    return node[2]


def made(node: list[Any]) -> Any:
    """Return the array of a node. `fill` adds its contents if they are objects."""
    import numpy

    size = 1
    for length in _shape(node):
        size *= length
    if node[1] == "O":
        if size != len(node[3]):
            raise MalformedError("an array whose data does not fit its shape")
        return numpy.empty(node[2], dtype=object)
    dtype = read_dtype(numpy, node[1])
    data = base64.b64decode(node[3], validate=True)
    if size * dtype.itemsize != len(data):
        raise MalformedError("an array whose data does not fit its shape")
    array = numpy.empty(node[2], dtype=dtype, order="F" if node[5:] == ["F"] else "C")
    array[...] = numpy.frombuffer(data, dtype=dtype).reshape(node[2])
    guise = node[4] if len(node) > 4 else ""
    return array.view({"": numpy.ndarray, "matrix": numpy.matrix, "recarray": numpy.recarray}[guise])


def fill(target: Any, node: list[Any], value_of: Callable[[Any], Any]) -> None:
    """Fill an array with the contents of `node`; `value_of` returns the value of an atom."""
    import numpy

    dtype, shape, data = node[1:4]
    same = target.dtype == object if dtype == "O" else target.dtype == read_dtype(numpy, dtype)
    if list(target.shape) != shape or not same:
        raise MalformedError("an array changed its shape or type in place")
    if dtype == "O":
        flat = target.reshape(-1)
        for position, atom in enumerate(data):
            flat[position] = value_of(atom)
        target[...] = flat.reshape(target.shape)
    elif target.flags.writeable:
        target[...] = numpy.frombuffer(base64.b64decode(data), dtype=read_dtype(numpy, dtype)).reshape(shape)


def scalar(node: list[Any]) -> Any:
    """Return the scalar of a node."""
    import numpy

    dtype = read_dtype(numpy, node[1])
    if not dtype.itemsize:
        return dtype.type()
    return numpy.frombuffer(base64.b64decode(node[2], validate=True), dtype=dtype, count=1)[0]
