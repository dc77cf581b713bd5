"""Refuse answers with too few items, if the tests compare item by item.

The tests' code is rewritten (rewriting.py): it reports here what it loops over, which names its assertions use, and
what it copies. Only values that came from the candidate matter, and copies of them.
"""

from __future__ import annotations

import collections
import itertools
import sys

import crossing
import nonfinite
import opaque
from rewriting import ABOUT, FROM, MADE, MAP, OVER, PART, TYPE, ZIP
from standing_in import Proxy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType
    from typing import Any

SHORT = "an answer has fewer items than what it is compared with, item by item"
UNREACHED = "no assertion is about an answer without items, and no loop over an answer has asserted anything"
# No test compares with the end of these, or they have none. A generator of the tests may also be endless.
_WITHOUT_END = (range, itertools.count, itertools.cycle, itertools.repeat)
_LAZY: tuple[type[Any], ...] = (map, filter, reversed, enumerate, type(iter([])), type(iter(())))
MAX_COPIES, MAX_COPIED = 10_000, 1_000_000
"""How many copies, and how many items of copies, are known at once."""


class _Known:
    """The answers, their parts, and the last copies of them, each kept alive while its id is known."""

    def __init__(self) -> None:
        # Python has only one empty text and one empty tuple. Tests do not loop over an empty one of their own.
        self.ids = {id(""), id(())}
        self._answers: list[Any] = []
        self._copies: collections.OrderedDict[int, tuple[Any, list[Any], int]] = collections.OrderedDict()
        self._items = 0

    def add(self, value: Any) -> None:
        """Record an answer, or a part of one."""
        if id(value) not in self.ids:
            self.ids.add(id(value))
            self._answers.append(value)

    def add_copy(self, value: Any, sources: list[Any]) -> None:
        """Record a copy. `sources`: the answers, or the candidate's functions, that it comes from."""
        if id(value) in self.ids:
            return
        size = _length(value)
        self._items += size
        self.ids.add(id(value))
        self._copies[id(value)] = value, sources, size
        while len(self._copies) > MAX_COPIES or self._items > MAX_COPIED:
            key, (_, _, size) = self._copies.popitem(last=False)
            self.ids.remove(key)
            self._items -= size

    def sources(self, value: Any) -> list[Any]:
        """Return what a value was copied from, or only itself."""
        found = self._copies.get(id(value))
        return [value] if found is None else found[1]


class Items:
    """The reports of the rewritten code in one run. `note` gets the reason why nothing can be confirmed."""

    def __init__(self, note: Callable[[BaseException], BaseException]) -> None:
        self._note = note
        self._known = _Known()
        self._some_are_empty = False
        self._asserted: set[int] = set()
        self._reached: set[int] = set()
        self._unreached: dict[int, list[Any]] = {}
        self._copied: dict[int, Any] = {}
        """Number of an expression -> the answer that it is about to copy."""

    def bind(self, namespace: dict[str, Any]) -> None:
        """Define in a namespace the functions that the rewritten code calls."""
        namespace |= {
            ZIP: self._zip,
            MAP: self._map,
            OVER: self._over,
            ABOUT: self._about,
            FROM: self._from,
            MADE: self._made,
            PART: self._made_of_part,
            TYPE: nonfinite.plain_type,
        }

    def came(self, built: list[Any], result: Any) -> None:
        """Record an answer and its parts."""
        for value in (*built, result):
            if opaque.is_object(value) or hasattr(value, "__iter__"):
                self._known.add(value)
                self._some_are_empty = self._some_are_empty or _may_be_empty(value)

    def finish(self) -> None:
        """Refuse the run if a loop had only answers without items, and some of them are in no assertion."""
        for loop, answers in self._unreached.items():
            if loop not in self._reached and any(id(value) not in self._asserted for value in answers):
                self._refuse(UNREACHED)

    def _refuse(self, why: str) -> None:
        raise self._note(crossing.UnconfirmedError(why))

    def _about(self, names: tuple[str, ...]) -> None:
        if self._some_are_empty:
            found = self._named(sys._getframe(1), names)
            self._asserted.update(id(source) for value in found for source in self._known.sources(value))

    def _named(self, frame: FrameType, names: Iterable[str]) -> list[Any]:
        """Return the answers, copies of answers, and the candidate's functions that have these names."""
        if not names:
            return []
        local, outer = frame.f_locals, frame.f_globals
        values = [local[name] if name in local else outer.get(name) for name in names]
        return [value for value in values if type(value) is Proxy or self._is_answer(value)]

    def _is_answer(self, value: Any) -> bool:
        """Whether a value is an answer, or a part or a copy of one."""
        return id(value) in self._known.ids

    # --- called by the rewritten code ---

    def _from(self, copy: int, source: Any) -> Any:
        if id(source) in self._known.ids:
            self._copied[copy] = source
        elif self._copied:
            self._copied.pop(copy, None)
        return source

    def _made(self, copy: int, names: tuple[str, ...], value: Any) -> Any:
        """Record a value that may be a copy of an answer; return it."""
        # Tests copy their own values much more often.
        if names or copy in self._copied:
            found = self._found(sys._getframe(1), copy, names)
            self._add(value, found, [source for one in found for source in self._known.sources(one)])
        return value

    def _made_of_part(self, copy: int, names: tuple[str, ...], value: Any) -> Any:
        """Record a value that has some items of an answer: an assertion about it is none about the answer."""
        if names or copy in self._copied:
            self._add(value, self._found(sys._getframe(1), copy, names), [])
        return value

    def _found(self, frame: FrameType, copy: int, names: tuple[str, ...]) -> list[Any]:
        """Return what a value is copied from: the answer that was about to be copied, or those with these names."""
        return [self._copied.pop(copy)] if copy in self._copied else self._named(frame, names)

    def _add(self, value: Any, found: list[Any], sources: list[Any]) -> None:
        # An object of a class that the task asks for is an answer itself, and a question about it would be a call.
        if found and not opaque.is_object(value) and hasattr(value, "__iter__"):
            self._known.add_copy(value, sources)

    def _over(self, loop: int, names: tuple[str, ...], iterable: Any) -> Any:
        if loop in self._reached:
            return iterable
        answers = self._named(sys._getframe(1), names) or [iterable] * self._is_answer(iterable)
        if not answers:
            return iterable
        return self._first_of(loop, [source for one in answers for source in self._known.sources(one)], iter(iterable))

    def _first_of(self, loop: int, answers: list[Any], items: Iterator[Any]) -> Iterator[Any]:
        for item in items:
            self._reached.add(loop)
            yield item
            yield from items
            return
        if self._some_are_empty:
            empty = [answer for answer in answers if type(answer) is Proxy or _may_be_empty(answer)]
            self._unreached.setdefault(loop, []).extend(empty)

    def _zip(self, names: tuple[tuple[str, ...], ...], *given: Any) -> Any:
        theirs = self._theirs(sys._getframe(1), names, given)
        return self._pairs(theirs, given) if any(theirs) and not all(theirs) else zip(*given, strict=False)

    def _map(self, names: tuple[tuple[str, ...], ...], function: Any, *given: Any) -> Any:
        theirs = self._theirs(sys._getframe(1), names, given)
        if any(theirs) and not all(theirs):
            return itertools.starmap(function, self._pairs(theirs, given))
        return map(function, *given)

    def _theirs(self, frame: FrameType, names: tuple[tuple[str, ...], ...], given: tuple[Any, ...]) -> list[bool]:
        return [self._is_answer(one) or bool(self._named(frame, some)) for some, one in zip(names, given, strict=True)]

    def _pairs(self, theirs: list[bool], given: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """Yield tuples as `zip` does; refuse if an iterable of the candidate ends before one of the tests."""
        iterators = [*map(iter, given)]
        for count in itertools.count():
            items = []
            for number, iterator in enumerate(iterators):
                for item in iterator:
                    items.append(item)
                    break
                else:
                    own = (n for n in range(len(given)) if not theirs[n])
                    if theirs[number] and any(_has_more(given[n], iterators[n], count, n < number) for n in own):
                        self._refuse(SHORT)
                    return
            yield (*items,)


def _length(value: Any) -> int:
    """Return the number of items of a copy; 1 if it has no length, like an array with a single value."""
    try:
        return len(value)
    except (TypeError, ValueError, OverflowError):
        return 1


def _may_be_empty(value: Any) -> bool:
    if opaque.is_object(value):
        return True
    try:
        return not len(value)
    except (TypeError, ValueError, OverflowError):
        # An iterator, an array without dimensions, or an object that does not tell its length.
        return True


def _has_more(given: Any, iterator: Any, count: int, taken: bool) -> bool:
    """Whether an iterable has more than `count` items. `taken`: `iterator` has already yielded one more."""
    if isinstance(given, _WITHOUT_END):
        return False
    if hasattr(given, "__len__"):
        return len(given) > count
    if not isinstance(given, _LAZY):
        return False
    return taken or any(True for _ in iterator)
