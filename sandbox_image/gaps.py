"""Fill the gaps in a process's memory before it forks, so that its forks write to fewer of its pages.

A page that a fork writes to is copied first, which takes longer than to get a new one. Python and the C library put new
objects into the gaps between old ones, which are spread over all pages. If there are no gaps, a fork's new objects are
together on new pages.

The sizes are those of CPython and glibc. With other allocators this has no use, and takes at most 12 MB.
"""

from __future__ import annotations

import gc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_POOL, _POOL_HEADER = 1 << 14, 48
"""CPython's allocator has objects of one size in a pool. The first object of a pool comes after a header."""
_STEP, _SMALL = 16, 512
"""Sizes of small objects are multiples of a step. Larger objects are the C library's."""
_LARGE = [1 << power for power in range(16, 11, -1)] + [3072, 1536, *range(1280, _SMALL, -128), _SMALL + _STEP]
_MOST_BYTES = 256 << 10
"""Maximum size of all new objects of one size."""
_OVERHEAD = bytes.__basicsize__

_kept: list[object] = []


def fill() -> None:
    """Fill the gaps with objects that remain. The garbage collector will skip all objects that exist now."""
    # This also frees the objects that Python keeps for reuse.
    gc.collect()
    _kept.extend(_large())
    _kept.extend(_small())
    gc.freeze()


def _small() -> Iterator[object]:
    """Yield small objects of each size until one is the first in its pool: then there is no gap of this size."""
    makers: list[tuple[int, Callable[[], object]]] = [(16, object), (32, lambda: float("1"))]
    makers += [(size, lambda size=size: bytes(size - _OVERHEAD)) for size in range(3 * _STEP, _SMALL + _STEP, _STEP)]
    for size, make in reversed(makers):
        for _ in range(_MOST_BYTES // size):
            new = make()
            if id(new) % _POOL == _POOL_HEADER:
                break
            yield new


def _large() -> Iterator[object]:
    """Yield larger objects of each size until they lie beyond all others: then the C library has no gap for them."""
    end = 0
    for size in _LARGE:
        for _ in range(max(2, _MOST_BYTES // size)):
            new = bytes(size - _OVERHEAD)
            if id(new) > end > 0:
                end = id(new)
                break
            end = max(end, id(new))
            yield new
