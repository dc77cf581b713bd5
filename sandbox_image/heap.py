"""Numbered objects that one side has sent to the other, for as long as a sample lives.

Both sides keep two heaps: objects that the tests have sent (`t`), and objects that the candidate has sent (`a`). A
message names a known object by its number, and has its changes since then. So if the candidate returns a list and later
changes it, the tests also see one list.
"""

from __future__ import annotations

import collections
import operator

from crossing import MUTABLE
from instances import MalformedError, attributes
from standing_in import FORGOTTEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    _Contents = list[Any] | bytes | tuple[Any, Any]


class Heap:
    """The objects of one direction. `by_value`: immutable objects are sent again each time, not referred to."""

    def __init__(self, tag: str, *, by_value: bool) -> None:
        self.tag, self.by_value = tag, by_value
        self.objects: list[Any] = []
        self.atoms: dict[int, dict[str, int]] = {}
        """id -> atom, for objects that messages can refer to."""
        self.kinds: dict[int, list[Any]] = {}
        """Number -> the first parts of the node (kind, class), for objects that can change."""
        self._seen: dict[int, _Contents] = {}

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
                self._seen[number] = _contents(value)

    def changed(self) -> list[int]:
        """Return the numbers of the objects that have changed since the last look, and record their contents."""
        found = []
        for number, before in self._seen.items():
            now = _contents(self.objects[number])
            if not _same(before, now):
                found.append(number)
                self._seen[number] = now
        return found

    def look(self, number: int) -> None:
        """Record that the other side knows an object's current contents."""
        if number in self._seen:
            self._seen[number] = _contents(self.objects[number])

    def mutable(self) -> list[int]:
        """Return the numbers of the objects that can change, in the order in which they were sent."""
        return list(self._seen)

    def forget(self, numbers: Iterable[int]) -> None:
        """Release objects that the other side no longer sees."""
        for number in numbers:
            value = self.objects[number]
            if value is not FORGOTTEN and self.atoms.get(id(value)) == {self.tag: number}:
                del self.atoms[id(value)]
            self.objects[number] = FORGOTTEN
            self.kinds.pop(number, None)
            self._seen.pop(number, None)

    def forget_all(self) -> None:
        """Release every object."""
        self.objects = [FORGOTTEN] * len(self.objects)
        for table in (self.atoms, self.kinds, self._seen):
            table.clear()

    def check_change(self, number: Any, node: Any) -> None:
        """Raise MalformedError unless `node` is a valid new content of object `number`."""
        if not (type(number) is int and number in self.kinds and isinstance(node, list)):
            raise MalformedError("a change of nothing")
        if node[: len(self.kinds[number])] != self.kinds[number]:
            raise MalformedError("a change of what an object is")
        parameters = getattr(type(self.objects[number]), "__dataclass_params__", None)
        if node[0] == "instance" and parameters is not None and parameters.frozen:
            raise MalformedError("a change of an instance that does not change")


def _contents(value: Any) -> _Contents:
    """Return an object's contents in a form that is cheap to compare with later contents."""
    if isinstance(value, (list, collections.deque)):
        return list(value)
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, set):
        return [*value]
    if isinstance(value, bytearray):
        return bytes(value)
    if hasattr(value, "tobytes"):
        return (value.shape, value.tobytes() if value.dtype != object else list(value.flat))
    held = attributes(value)
    return [*held.keys(), *held.values()]


def _same(before: _Contents, now: _Contents) -> bool:
    if type(now) is list:
        return len(before) == len(now) and all(map(operator.is_, before, now))
    return before == now
