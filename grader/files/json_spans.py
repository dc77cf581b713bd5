"""The byte ranges of the elements of a JSON array, found without building the elements.

A regular expression skips elements of the usual depth; a `JsonWalker` handles deeper elements and invalid JSON.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from grader.files.json_walker import NUMBER, STRING, WORD, JsonWalker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.files.json_text import Span

_BLANKS = rb"[ \t\r\n]*+"


def _list_of(value: bytes, opening: bytes, closing: bytes) -> bytes:
    items = value + _BLANKS + rb"(?:," + _BLANKS + value + _BLANKS + rb")*+"
    return opening + _BLANKS + rb"(?:" + items + rb")?+" + closing


def _value(depth: int) -> bytes:
    """Return a regular expression for a JSON value with up to `depth` levels of lists and objects."""
    scalar = STRING + rb"|" + NUMBER + rb"|" + WORD
    if not depth:
        return rb"(?:" + scalar + rb")"
    inner = _value(depth - 1)
    pair = STRING + _BLANKS + rb":" + _BLANKS + inner
    return rb"(?:" + scalar + rb"|" + _list_of(inner, rb"\[", rb"\]") + rb"|" + _list_of(pair, rb"\{", rb"\}") + rb")"


_DEPTHS = (2, 3)
"""The usual depths of records. The expression for 3 takes 40 ms to compile, so it is only made for a file with it."""


@functools.cache
def _element(depth: int) -> re.Pattern[bytes]:
    """Return the expression for an element of at most this depth, and the mark after it."""
    return re.compile(_BLANKS + rb"(" + _value(depth) + rb")" + _BLANKS + rb"[,\]]")


_MARK = re.compile(_BLANKS + rb"([,\]])")
_CLOSING = ord("]")


def array_spans(data: bytes) -> Iterator[Span]:
    """Yield the byte range of each element of a top-level array. Raises `JsonFault` at the first invalid one."""
    index, end, after = -1, 0, data.index(b"[") + 1
    depths = list(_DEPTHS)
    while True:
        found = _element(depths[0]).match(data, after)
        if found is None and len(depths) > 1:
            found = _element(depths[1]).match(data, after)
            if found is not None:
                del depths[0]
        if found is not None:
            start, end = found.span(1)
            after = found.end()
            closed = data[after - 1] == _CLOSING
        else:
            span = _walked(data, index, end)
            if span is None:
                return
            start, end = span
            mark = _MARK.match(data, end)
            closed = mark is None or mark[1] == b"]"
            after = mark.end() if mark else end
        index += 1
        yield start, end
        if closed:
            _walked(data, index, end)  # raises if anything follows the array
            return


def _walked(data: bytes, index: int, end: int) -> Span | None:
    """Return the element after `index`, which ends at `end` (-1, 0: the first one); None at the array's end."""
    walker = JsonWalker(data)
    start = 0
    for event in walker.events() if index < 0 else walker.rest_of_array(end, index):
        if len(walker.path) != 1:
            continue
        if event.kind in ("scalar", "open"):
            start = event.start
        if event.kind in ("scalar", "close"):
            return start, event.end
    return None
