"""Numbered objects that one side has sent to the other, for as long as a sample lives.

Both sides keep two tables: objects that the tests have sent (`t`), and objects that the candidate has sent (`a`). A
message names a known object by its number, and has its changes since then. So if the candidate returns a list and later
changes it, the tests also see one list.

An object that only the table refers to cannot change. It rests: nobody looks at it until a message names it again.
Otherwise the thousandth call would look at the arguments and answers of all others. Tests often refer to theirs, so
trusted code looks only at its most `recent` objects, and asks at the end whether an older one has changed
(`has_missed`).
"""

from __future__ import annotations

import collections
import enum
import gc
import operator
import sys

from grade_sandbox.values.constructed import MUTABLE, TYPES
from grade_sandbox.values.instances import attributes
from grade_sandbox.values.standing_in import FORGOTTEN
from grade_sandbox.values.wire import MalformedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_CONTAINERS = {
    list, dict, set, collections.deque, collections.Counter, collections.OrderedDict, collections.defaultdict,
}  # fmt: skip
"""Types whose objects can be changed only by those who refer to them: no views, no shared memory."""
_ALONE: int = next(map(sys.getrefcount, [[]]))
"""The reference count of an object to which only one list refers, as `map` finds it."""


class ObjectTable:
    """The objects of one direction. `by_value`: immutable objects are sent again each time, not referred to.

    `recent`: the number of objects to look at, the last ones; None: all.
    """

    def __init__(self, tag: str, *, by_value: bool, recent: int | None = None) -> None:
        self.tag, self.by_value, self._recent = tag, by_value, recent
        self.objects: list[Any] = []
        self.atoms: dict[int, dict[str, int]] = {}
        """id -> atom, for objects that messages can refer to."""
        self.kinds: dict[int, list[Any]] = {}
        """Number -> the first parts of the node (kind, class), for objects that can change."""
        self._seen: dict[int, list[Any]] = {}
        self._resting: dict[int, dict[int, list[Any]]] = {}
        """Number -> number and contents of the objects that came with it and can change. They rest together."""
        self._older: dict[int, list[Any]] = {}
        """Number -> contents when it was one of the recent objects."""

    def __getitem__(self, number: int) -> Any:
        """Return an object that a message names; it rests no longer."""
        self.wake(number)
        return self.objects[number]

    def wake(self, number: int) -> None:
        """Look again at an object, and at those that came with it."""
        if number in self._older:
            self._seen[number] = self._older.pop(number)
        group = self._resting.get(number)
        if group is not None:
            self._seen |= group
            self._resting = {one: other for one, other in self._resting.items() if other is not group}

    def rest(self, values: list[Any], root: int = 0) -> None:
        """Let the objects that were added last, `values`, rest if only this table refers to them.

        The caller refers to them only by the list, and once more to the one whose `id()` is `root`.
        """
        if not values:
            return
        numbers = range(len(self.objects) - len(values), len(self.objects))
        group = {number: self._seen[number] for number in numbers if number in self._seen}
        if not group:
            return
        if all(type(self.objects[number]) in _CONTAINERS for number in group) and self._is_alone(values, group, root):
            self._resting |= dict.fromkeys(numbers, group)
            for number in group:
                del self._seen[number]

    def _is_alone(self, values: list[Any], group: dict[int, list[Any]], root: int) -> bool:
        parts = set(map(id, values))
        known = collections.Counter([id(value) for value in self.objects[-len(values) :]])
        known[root] += 1
        if len(values) > 1:
            known.update(filter(parts.__contains__, map(id, gc.get_referents(*values, *group.values()))))
        counts = list(map(sys.getrefcount, values))
        suspects = [value for value, count in zip(values, counts, strict=True) if count != _ALONE + known[id(value)]]
        # Whoever refers to an immutable value, such as the empty tuple, reaches only what is in it.
        return all(type(value) in {tuple, frozenset} and parts.isdisjoint(map(id, value)) for value in suspects)

    def add(self, values: Iterable[Any], nodes: Iterable[list[Any]]) -> None:
        """Add the objects of a message, with the nodes from which they were built."""
        for value, node in zip(values, nodes, strict=True):
            number = len(self.objects)
            mutable = node[0] in MUTABLE
            if self.by_value and not mutable:
                self.objects.append(FORGOTTEN)
                continue
            self.objects.append(value)
            self.atoms[id(value)] = {self.tag: number}
            if mutable:
                self.kinds[number] = node[:2] if node[0] in {"instance", "tree"} else node[:1]
                self._seen[number] = _contents(node[0], value)
        while self._recent is not None and len(self._seen) > self._recent:
            oldest = next(iter(self._seen))
            self._older[oldest] = self._seen.pop(oldest)

    def has_missed(self) -> bool:
        """Whether an object has changed since it was one of the recent ones."""
        return not all(self._is_as(number, before) for number, before in self._older.items())

    def _is_as(self, number: int, before: list[Any]) -> bool:
        return _is_same(self.kinds[number][0], before, self.objects[number])

    def changed(self) -> list[int]:
        """Return the numbers of the objects that have changed since the last look, and record their contents."""
        found = []
        for number, before in self._seen.items():
            if not self._is_as(number, before):
                found.append(number)
                self._seen[number] = _contents(self.kinds[number][0], self.objects[number])
        return found

    def look(self, number: int) -> None:
        """Record that the other side knows an object's current contents."""
        self.wake(number)
        if number in self._seen:
            self._seen[number] = _contents(self.kinds[number][0], self.objects[number])

    def mutable(self) -> list[int]:
        """Return the numbers of the objects that can change, in the order in which they were sent."""
        return [*self._older, *self._seen]

    def held_by(self, number: int) -> Iterator[int]:
        """Yield the `id()` of each value to which an object refers, and to which the table's copy of it refers."""
        before = self._older.get(number) or self._seen.get(number) or []
        return map(id, [*before, *_contents(self.kinds[number][0], self.objects[number])])

    def forget(self, numbers: Iterable[int]) -> None:
        """Release objects that the other side no longer sees."""
        for number in numbers:
            value = self.objects[number]
            if value is not FORGOTTEN and self.atoms.get(id(value)) == {self.tag: number}:
                del self.atoms[id(value)]
            self.objects[number] = FORGOTTEN
            self.wake(number)
            self.kinds.pop(number, None)
            self._seen.pop(number, None)

    def forget_all(self) -> None:
        """Release every object."""
        self.objects = [FORGOTTEN] * len(self.objects)
        for table in (self.atoms, self.kinds, self._seen, self._resting, self._older):
            table.clear()

    def check_change(self, number: Any, node: Any) -> None:
        """Raise MalformedError unless `node` is a valid new content of object `number`."""
        if not (type(number) is int and number in self.kinds and isinstance(node, list)):
            raise MalformedError("a change of nothing")
        if node[: len(self.kinds[number])] != self.kinds[number]:
            raise MalformedError("a change of what an object is")
        parameters = getattr(type(self.objects[number]), "__dataclass_params__", None)
        if isinstance(self.objects[number], enum.Enum) or (parameters is not None and parameters.frozen):
            raise MalformedError("a change of an instance that does not change")


def _contents(name: str, value: Any) -> list[Any]:
    """Return the contents of an object whose node has this name, in a form that is cheap to compare with later ones."""
    if name in TYPES:
        return [*TYPES[name].parts(value)]
    if name == "array":
        return [str(value.shape), *([value.tobytes()] if value.dtype != object else value.flat)]
    held = attributes(value)
    return [*held.keys(), *held.values()]


def _is_same(name: str, before: list[Any], value: Any) -> bool:
    """Whether an object has the contents of before. A list needs no copy: this is asked most often of them."""
    now = value if type(value) is list else _contents(name, value)
    return len(before) == len(now) and (all(map(operator.is_, before, now)) or all(map(_is_same_item, before, now)))


def _is_same_item(before: Any, now: Any) -> bool:
    """Whether an item is the one of before; equal texts and integers may be other objects, as this Python likes."""
    return before is now or (type(before) is type(now) and type(now) in (str, bytes, int) and before == now)
