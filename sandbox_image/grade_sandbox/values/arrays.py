"""Convert NumPy arrays and scalars of numbers, texts and times to nodes and back: dtype, shape, bytes."""

from __future__ import annotations

import base64
import math

from grade_sandbox.values.wire import NUMPY_KINDS, MalformedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def node(numpy: Any, value: Any) -> list[Any] | None:
    """Return the node of an array or scalar; None for anything else."""
    kind = type(value)
    is_scalar = isinstance(value, numpy.generic) and kind.__module__ == "numpy"
    if not (is_scalar or kind is numpy.ndarray) or value.dtype.kind not in NUMPY_KINDS:
        return None
    data = base64.b64encode(numpy.ascontiguousarray(value).tobytes()).decode()
    return ["scalar", value.dtype.str, data] if is_scalar else ["array", value.dtype.str, list(value.shape), data]


def _dtype(numpy: Any, described: Any) -> Any:
    # As `dtype.str` says it: byte order, kind, size. NumPy reads much more, such as names and lists with commas.
    if not (isinstance(described, str) and described[:1] in {"<", ">", "|"} and described[1:2] in NUMPY_KINDS):
        raise MalformedError("an array of a type that may not be sent")
    dtype = numpy.dtype(described)
    if dtype.kind not in NUMPY_KINDS or dtype.names is not None:
        raise MalformedError("an array of a type that may not be sent")
    return dtype


def made(node: list[Any]) -> Any:
    """Return the array of a node."""
    import numpy

    _, described, shape, text = node
    dtype, data = _dtype(numpy, described), base64.b64decode(text, validate=True)
    if len(shape) > 32 or not all(type(n) is int and n >= 0 for n in shape):
        raise MalformedError("an array without a shape")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise MalformedError("an array whose data does not fit its shape")
    return numpy.frombuffer(data, dtype=dtype).reshape(shape).copy()


def fill(target: Any, node: list[Any]) -> None:
    """Fill an array with the contents of `node`."""
    found = made(node)
    if target.shape != found.shape or target.dtype != found.dtype:
        raise MalformedError("an array changed its shape or type in place")
    if target.flags.writeable:
        target[...] = found


def scalar(node: list[Any]) -> Any:
    """Return the scalar of a node."""
    import numpy

    dtype = _dtype(numpy, node[1])
    if not dtype.itemsize:
        return dtype.type()
    return numpy.frombuffer(base64.b64decode(node[2], validate=True), dtype=dtype, count=1)[0]
