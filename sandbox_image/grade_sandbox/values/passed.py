"""The objects that a call passes and that can change: both sides number them in the same way, for this call only.

An object in the call's own nodes has the number of its node. An object in an earlier answer or argument has the number
`[j, n]`: `j` is the position of the expression in the call that refers to this answer or argument, and `n` counts the
objects in it, in the order in which they would be sent. The reply refers to an object by its number, and has the
new contents of each object that the call has changed.
"""

from __future__ import annotations

import enum
import operator

from grade_sandbox.values import sending
from grade_sandbox.values.constructed import MUTABLE, TYPES
from grade_sandbox.values.instances import attributes
from grade_sandbox.values.messages import PASSED, expressions, node_of
from grade_sandbox.values.wire import MalformedError, UncrossableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from grade_sandbox.values.messages import Call

    Number = int | tuple[int, int]


class Passed:
    """The objects of one call."""

    def __init__(
        self,
        call: Call,
        built: list[Any],
        labels: Mapping[type[Any], str],
        value_of: Callable[[Any], Any],
        tested: Mapping[type[Any], str] | None = None,
    ) -> None:
        """`built`: the objects of the call's nodes; `labels` and `tested`: as for the Encoder."""
        self._objects: dict[Number, Any] = {}
        self._kinds: dict[Number, list[Any]] = {}
        """Number -> the first parts of the node: its kind, and the class of an instance."""
        self._numbers: dict[int, Number] = {}
        self._before: dict[Number, list[Any]] = {}
        self._mentioned: set[Number] = set()
        """The objects that have changed, and those in earlier answers to which this answer refers."""
        for number, node in enumerate(call.nodes):
            self._add(number, built[number], node)
        for position, expression in enumerate(call.expressions):
            encoder = _Enumerating(labels, [self], functions=True, tested=tested)
            try:
                encoder.encode(value_of(expression))
            except (UncrossableError, LookupError, AttributeError, TypeError, ValueError):
                continue  # nothing in it has a number
            for number, (value, node) in enumerate(zip(encoder.values, encoder.nodes, strict=True)):
                self._add((position, number), value, node)
        self._mentioned.clear()
        named = [*expressions([call.arguments])]
        self._tops: list[Number] = [node for atom in call.arguments if (node := node_of(atom)) is not None]
        self._tops += [(position, 0) for position in range(len(named))]

    def _add(self, number: Number, value: Any, node: list[Any]) -> None:
        if node[0] not in MUTABLE:
            return
        self._objects[number] = value
        self._numbers[id(value)] = number
        self._kinds[number] = node[:2] if node[0] in {"instance", "tree"} else node[:1]
        self._before[number] = _contents(node[0], value)

    @property
    def tops(self) -> list[Number]:
        """The numbers of the arguments themselves, as far as they can change."""
        return [number for number in self._tops if number in self._objects]

    def get(self, identity: int) -> dict[str, Any] | None:
        """Return the atom of the object with this `id()`, or None."""
        number = self._numbers.get(identity)
        if number is None:
            return None
        if type(number) is tuple:
            self._mentioned.add(number)
        return {PASSED: number}

    def __getitem__(self, number: Any) -> Any:
        """Return the object that an atom names."""
        return self._objects[key_of(number)]

    def changes(self, encoder: sending.Encoder) -> list[Any]:
        """Return the new contents of objects that changed, and of those in earlier answers that the reply refers to."""
        told: dict[Number, Any] = {}
        self._mentioned |= {number for number in self._objects if not self._is_as_before(number)}
        while wanted := sorted(self._mentioned - told.keys(), key=str):
            told |= {number: encoder.new(self._objects[number]) for number in wanted}
            encoder.finish()
        return [[number, node] for number, node in told.items()]

    def _is_as_before(self, number: Number) -> bool:
        before, value = self._before[number], self._objects[number]
        # A list needs no copy: this is asked most often of lists.
        now = value if type(value) is list else _contents(self._kinds[number][0], value)
        return len(before) == len(now) and (all(map(operator.is_, before, now)) or all(map(_is_same, before, now)))

    def changed(self, number: Any, node: Any) -> Any:
        """Return the object that gets the contents of `node`; raises MalformedError if these are none of its kind."""
        key = key_of(number)
        if key not in self._kinds or not isinstance(node, list):
            raise MalformedError("a change of nothing")
        value, kind = self._objects[key], self._kinds[key]
        if node[: len(kind)] != kind:
            raise MalformedError("a change of what an object is")
        parameters = getattr(type(value), "__dataclass_params__", None)
        if isinstance(value, enum.Enum) or (parameters is not None and parameters.frozen):
            raise MalformedError("a change of an instance that does not change")
        return value


class _Enumerating(sending.Encoder):
    """Finds the objects in a value; nothing of a program runs, and no iterator is used up."""

    def asks(self, value: Any) -> bool:
        return False

    def iterator(self, value: Any) -> list[Any]:
        return ["iterator", [], None]


def key_of(number: Any) -> Any:
    """Return the number of an object as a key; raises MalformedError."""
    if type(number) is list and list(map(type, number)) == [int, int]:
        return tuple(number)
    if type(number) is not int:
        raise MalformedError("a reference that is none")
    return number


def _contents(name: str, value: Any) -> list[Any]:
    """Return the contents of an object whose node has this name, in a form that is cheap to compare with later ones."""
    if name in TYPES:
        return [*TYPES[name].parts(value)]
    if name == "array":
        return [str(value.shape), *([value.tobytes()] if value.dtype != object else value.flat)]
    held = attributes(value)
    return [*held.keys(), *held.values()]


def _is_same(before: Any, now: Any) -> bool:
    """Whether an item is the same as before: the same object, or an equal text, bytes object or integer.

    Python decides whether two equal ones of these types are one object, and this says nothing about a change.
    """
    return before is now or (type(before) is type(now) and type(now) in (str, bytes, int) and before == now)
