"""Controls: answers with a place replaced by another value. If the tests accept one, they do not decide that value.

Controls say nothing about a solution: NaN, an empty list, an unrelated text.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import datetime
import json
from typing import NamedTuple

from grade_sandbox.tests import views
from grade_sandbox.tests.kinds import is_related, is_truth, truth
from grade_sandbox.tests.sameness import same_number
from grade_sandbox.tests.views import CONTAINERS
from grade_sandbox.values import arrays, wire
from grade_sandbox.values.constructed import ERROR, ITERATOR, MAPPING, NONE, NUMBER, SEQUENCE, SET, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from grade_sandbox.tests.views import Messages, Node, Part, View

    Change = tuple[Part, "Control"]

UNRELATED = "\u2603\u2603\u2603"
"""No letter and no digit, which tests may look for."""
HUGE = 1e200


class Control(NamedTuple):
    """A value to put in place of another one: an atom, or a node with its contents."""

    atom: Any = None
    node: list[Any] | None = None

    @property
    def holds_something(self) -> bool:
        """Whether it is another value than None."""
        return self.atom is not None or self.node is not None

    def __str__(self) -> str:
        if self.node is None:
            return repr(self.atom)
        return str(self.node[1]) if self.node[0] == "exception" else f"another {self.node[0]}"


def of(view: View, other: View) -> list[Control]:
    """Return the controls for a place where two values differ; `view` is the one that will be replaced."""
    if view.family == other.family == ERROR:
        if is_related(view, other):
            return []
        found = [Control(node=["exception", "BufferError", []])]
        if view.node is not None and view.node.node[2]:
            # The tests may ask only whether there is a message.
            found.append(Control(node=["exception", "BufferError", view.node.node[2]]))
        return found
    if NONE not in {view.family, other.family} and (is_truth(view) or is_truth(other)):
        if is_truth(view):
            return [Control(not truth(view)), *([Control(None)] if truth(view) else [])]
        if truth(view) == truth(other):
            return [Control(not truth(view))]  # only its truth says something
    if view.family == NONE:
        return [Control(True)]
    if other.family == NONE:
        return [control for control in _of_value(view, other) if control.holds_something]
    return _of_value(view, other)


def _of_value(view: View, other: View) -> list[Control]:
    if view.family == NUMBER:
        return [*map(Control, _numbers(view, other)), Control(None)]
    if view.name in _TIMES and view.node is not None:
        return [*_other_times(view.node.node, _FAR, -_FAR), Control(None)]
    if view.family == TEXT:
        texts = ["", UNRELATED] if isinstance(view.value, str) else [b"", UNRELATED.encode()]
        atoms = [_atom_of(text) for text in texts if text not in (view.value, other.value)]
        return [*map(Control, atoms), Control(None)]
    if view.family in CONTAINERS:
        if view.node is None or not (view.parts and other.parts):
            return [Control(None)]
        return [Control(node=_emptied(view, view.node)), Control(None)]
    return [Control(None)]


def _atom_of(value: Any) -> Any:
    if isinstance(value, int) and abs(value) >= 1 << 53:
        return {"i": hex(value)}
    return views.as_atom(value)


def _numbers(view: View, other: View) -> Iterator[Any]:
    negative = -view.value if isinstance(view.value, (int, float)) else 0
    for value in dict.fromkeys((float("nan"), HUGE, 0, negative)):
        if not any(same_number(value, one.value) for one in (view, other) if one.family == NUMBER):
            yield _atom_of(value)


def _emptied(view: View, node: Node) -> list[Any]:
    if view.family in _EMPTY:
        return [_EMPTY[view.family], []]
    return ["tuple", []] if view.name == "tuple" else ["list", []] if node.node[0] != "array" else _empty_array()


_EMPTY = {ITERATOR: "iterator", MAPPING: "dict", SET: "set"}


def of_argument(view: View) -> list[Control]:
    """Return contents of an argument with which tests fail if they look at it at all; empty if there are none."""
    if view.node is None:
        return []
    node = view.node.node
    if node[0] == "instance":
        contents = ([fill if at % 2 else name for at, name in enumerate(node[2])] for fill in (None, UNRELATED))
        return [Control(node=[*node[:2], values]) for values in contents]
    if node[0] == "array":
        size = 0 if node[1] == "O" else len(base64.b64decode(node[3]))
        data = (base64.b64encode(bytes([fill]) * size).decode() for fill in (0, 1))
        return [Control(node=[*node[:3], values, *node[4:]]) for values in data if size]
    if view.family not in _EMPTY.keys() | {SEQUENCE}:
        return []
    empty = _emptied(view, view.node)
    return [Control(node=empty), Control(node=[empty[0], [UNRELATED] * _width(view)])]


def _empty_array() -> list[Any]:
    return ["array", "<f8", [0], "", ""]


def _width(view: View) -> int:
    """Return how many atoms an item of a container has in its node."""
    return 2 if view.family == MAPPING else 1


_TIMES = {"date", "datetime", "timedelta"}
_FAR = datetime.timedelta(days=100_000, seconds=18_461)
"""A step that changes the century, the hour, the minute and the second."""


def _other_times(node: list[Any], *steps: datetime.timedelta) -> Iterator[Control]:
    """Yield a time moved by each step; values of other kinds are not tried, as tests compare times only with times."""
    kind, parts, *rest = node
    for step in steps:
        with contextlib.suppress(OverflowError):
            if kind == "timedelta":
                moved = [parts[0] + step.days, parts[1] + step.seconds, parts[2]]
            else:
                time: datetime.date = getattr(datetime, kind).fromisoformat(parts[0])
                moved = [(time + step).isoformat(), *parts[1:]]
            yield Control(node=[kind, moved, *rest])


def changed(texts: Sequence[str], changes: Iterable[Change]) -> list[str]:
    """Return messages with some places replaced."""
    messages: dict[int, Any] = {}
    for part, control in changes:
        if part.where is None:
            continue
        number, *keys = part.where
        if number not in messages:
            messages[number] = json.loads(texts[number])
        _replace(messages[number], keys, control)
    return exchanged(texts, messages)


def exchanged(texts: Sequence[str], others: Mapping[int, dict[str, Any]]) -> list[str]:
    """Return messages of which some are exchanged: number -> another message."""
    return [wire.encode(others[at]) if at in others else text for at, text in enumerate(texts)]


def _replace(message: dict[str, Any], keys: list[Any], control: Control) -> None:
    atom = control.atom
    if keys[0] == "m" and keys[2:] == [1]:  # the contents of an argument that a call has changed
        if control.node is not None:
            change = message["m"][keys[1]]
            change[1] = _with_contents(change[1], control.node)
        return
    if control.node is not None:
        atom = {"r": len(message["n"])}
        message["n"].append(copy.deepcopy(control.node))
    holder: Any = message
    *way, last = keys
    if isinstance(last, tuple):
        for key in way[:-1]:
            holder = holder[key]
        holder[way[-1]] = _with_item(holder[way[-1]], last[1], atom)
        return
    for key in way:
        holder = holder[key]
    holder[last] = atom


def _with_contents(node: list[Any], other: list[Any]) -> list[Any]:
    """Return the node of a container of the same type with the contents of another one: an argument keeps its type."""
    is_plain = isinstance(node[1], list) and isinstance(other[1], list)
    return [node[0], [*other[1]], *node[2:]] if is_plain else copy.deepcopy(other)


def _with_item(node: list[Any], number: int, atom: Any) -> list[Any]:
    """Return an array with another item: of float64, or of objects where the item is no number."""
    if node[0] == "array" and node[1] == "O":
        return [*node[:3], [atom if at == number else one for at, one in enumerate(node[3])], *node[4:]]
    if node[0] != "array":
        items = node[1] if node[0] == "list" else views.items_of(node)
        return ["list", [atom if at == number else one for at, one in enumerate(items)]]
    array = arrays.made(node).__array__()
    if isinstance(atom, (int, float)) and array.dtype.kind in "biuf":
        flat = array.ravel().astype("<f8")
        flat[number] = atom
        return ["array", "<f8", node[2], base64.b64encode(flat.tobytes()).decode(), node[4]]
    items = [views.as_atom(item) for item in array.ravel().tolist()]
    items[number] = atom
    return ["array", "O", node[2], items, node[4]]


def grafted(
    messages: Messages, part: Part, nodes: list[Any], known: dict[int, int], *, is_argument: bool = False
) -> Any:
    """Return the atom of a copy of a value: its nodes are added to `nodes`. `known`: id of a node -> its copy.

    `is_argument`: the objects of the tests inside are not copied.
    """
    held = messages.node(part)
    if held is None:
        return part.atom
    if id(held.node) not in known:
        known[id(held.node)] = len(nodes)
        nodes.append(None)
        nodes[known[id(held.node)]] = _copied(messages, held.node, held, nodes, known, is_argument=is_argument)
    return {"r": known[id(held.node)]}


def _copied(
    messages: Messages, value: Any, held: Node, nodes: list[Any], known: dict[int, int], *, is_argument: bool
) -> Any:
    if isinstance(value, list):
        return [_copied(messages, one, held, nodes, known, is_argument=is_argument) for one in value]
    if not isinstance(value, dict) or (is_argument and "t" in value):
        return value
    return grafted(messages, views.Part(held.table, value), nodes, known, is_argument=is_argument)


def detached(messages: Messages) -> dict[str, Any]:
    """Return the message read last without its changes of arguments, and with copies of arguments in the answer."""
    message = messages.message
    nodes = list(message["n"])
    known: dict[int, int] = {}

    def apart(value: Any) -> Any:
        if isinstance(value, list):
            return [apart(one) for one in value]
        is_argument = isinstance(value, dict) and "t" in value
        return grafted(messages, messages.argument(value["t"]), nodes, known) if is_argument else value

    others: dict[str, Any] = {key: apart(message[key]) for key in ("v", "e") if key in message}
    for at in range(len(nodes)):
        nodes[at] = apart(nodes[at])
    return {**message, **others, "n": nodes, "m": []}
