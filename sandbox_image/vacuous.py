"""Arrays without items: NumPy broadcasts them to almost any shape, and then nothing in them differs from anything."""

import functools
import sys

import crossing

WHY = "an array without items is compared with something that has some"
_TESTING = (
    "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_equal", "assert_array_less", "assert_array_max_ulp", "assert_equal",
)  # fmt: skip
_COMPARISONS = {
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor",
}  # fmt: skip


def refuse_empty_comparisons(note, text):
    """Let NumPy find nothing equal, close or ordered between an array without items and one that has some.

    `note` is told why nothing can be confirmed, and returns the exception to raise. `text` is all that the tests may
    say: what it does not mention is not prepared for, which takes longer than a test. Returns what arrays that come
    across are to be marked with.
    """
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return lambda array: array
    if "np" in text or "numpy" in text:
        return _prepare(numpy, note, text)
    # Arrays can come all the same.
    return lambda array: _prepare(numpy, note, text)(array) if array.size == 0 else array


def _prepare(numpy, note, text):
    """Replace what compares; return what an array is marked with."""

    def refuse():
        raise note(crossing.UnconfirmedError(WHY))

    def checked(compare):
        @functools.wraps(compare)
        def check(a, b, *args, **kwargs):
            if (_size(numpy, a) == 0) != (_size(numpy, b) == 0):
                refuse()
            return compare(a, b, *args, **kwargs)

        return check

    class Empty(numpy.ndarray):
        """An array without items that notices what it is combined with."""

        crosses_as_array = True

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            if method == "__call__" and len(inputs) > 1:
                sizes = [numpy.size(value) for value in inputs]
                # Arithmetic with a single number is no comparison yet.
                if min(sizes) == 0 and max(sizes) > (0 if ufunc.__name__ in _COMPARISONS else 1):
                    refuse()
            plain = [value.view(numpy.ndarray) if isinstance(value, Empty) else value for value in inputs]
            if out := kwargs.get("out"):
                kwargs["out"] = tuple(v.view(numpy.ndarray) if isinstance(v, Empty) else v for v in out)
            return marked(getattr(ufunc, method)(*plain, **kwargs))

    def marked(value):
        return value.view(Empty) if type(value) is numpy.ndarray and value.size == 0 else value

    def marking(make):
        @functools.wraps(make)
        def made(*args, **kwargs):
            return marked(make(*args, **kwargs))

        return made

    for name in ("allclose", "isclose", "array_equiv"):
        setattr(numpy, name, checked(getattr(numpy, name)))
    if "testing" in text:
        for name in _TESTING:
            if hasattr(numpy.testing, name):
                setattr(numpy.testing, name, checked(getattr(numpy.testing, name)))
    # A list without items becomes such an array only here.
    for name in ("array", "asarray", "asanyarray", "ravel", "concatenate"):
        setattr(numpy, name, marking(getattr(numpy, name)))
    return marked


def _size(numpy, value):
    try:
        return numpy.size(value)
    except ValueError:
        # Ragged: it has items.
        return 1
