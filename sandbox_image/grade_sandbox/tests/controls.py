"""Controls: answers with a place replaced by another value. If the tests accept one, they do not decide that value.

Some controls say nothing: NaN, an empty list. Others are near the answer: the next integer, a text with another letter,
a list with one other item. Near ones are tried unless the answer itself is that near to the expected one
(`is_near`): where tests ignore case, an answer may be in another case.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import datetime
import json
import math
from typing import NamedTuple

from grade_sandbox.tests import views
from grade_sandbox.tests.kinds import is_related, is_truth, truth
from grade_sandbox.tests.sameness import same_number
from grade_sandbox.tests.views import CONTAINERS
from grade_sandbox.values import arrays, wire
from grade_sandbox.values.constructed import ERROR, ITERATOR, MAPPING, NONE, NUMBER, SEQUENCE, SET, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from grade_sandbox.tests.views import Messages, Node, Part, View

    Change = tuple[Part, "Control"]
    IsSame = Callable[[Part, Part], bool]

UNRELATED = "\u2603\u2603\u2603"
"""No letter and no digit, which tests may look for."""
HUGE = 1e200
SMALL = 0.01
"""How far numbers that are no integers are from each other if they are near: this part of the number, or this much."""


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


def of(view: View, other: View, is_same: IsSame, *, is_whole: bool, near: bool = False) -> list[Control]:
    """Return the controls for a place where two values differ; `view` is the one that will be replaced.

    `is_same`: whether a part of the first value is the same as one of the other. `near`: whether to include controls
    that are near the value.
    """
    found = _saying_nothing(view, other, is_same, is_whole=is_whole)
    return [*found, *_near(view, other, is_whole=is_whole)] if near and view.family == other.family else found


def _saying_nothing(view: View, other: View, is_same: IsSame, *, is_whole: bool) -> list[Control]:
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
        return [control for control in _of_value(view, other, is_same, is_whole=is_whole) if control.holds_something]
    return _of_value(view, other, is_same, is_whole=is_whole)


def _of_value(view: View, other: View, is_same: IsSame, *, is_whole: bool) -> list[Control]:
    if view.family == NUMBER:
        return [*map(Control, _numbers(view, other)), Control(None)]
    if view.name in _TIMES and view.node is not None:
        return [*_other_times(view.node.node, _FAR, -_FAR), Control(None)]
    if view.family == TEXT:
        texts = ["", UNRELATED] if isinstance(view.value, str) else [b"", UNRELATED.encode()]
        atoms = [_atom_of(text) for text in texts if text not in (view.value, other.value)]
        return [*map(Control, atoms), Control(None)]
    if view.family in CONTAINERS:
        return [*_containers(view, other, is_same, is_whole=is_whole), Control(None)]
    return [Control(None)]


def _atom_of(value: Any) -> Any:
    if isinstance(value, int) and abs(value) >= 1 << 53:
        return {"i": hex(value)}
    return views.as_atom(value)


def _numbers(view: View, other: View) -> Iterator[Any]:
    # A number that is near has the same sign, so the sign is not in doubt.
    negative = -view.value if isinstance(view.value, (int, float)) and not is_near(view, other) else 0
    for value in dict.fromkeys((float("nan"), HUGE, 0, negative)):
        if not any(same_number(value, one.value) for one in (view, other) if one.family == NUMBER):
            yield _atom_of(value)


def _containers(view: View, other: View, is_same: IsSame, *, is_whole: bool) -> Iterator[Control]:
    if view.node is None:
        return
    if view.parts and other.parts:
        yield Control(node=_emptied(view, view.node))
    if is_whole and len(view.parts) > 1 and (node := _listed(view, view.node)) is not None:
        if not _are(_items(view, -1), _items(other), is_same):
            yield Control(node=[node[0], node[1][: -_width(view)], *node[2:]])
        for atom in _neutral(view.parts) if view.family == SEQUENCE else ():
            if not _are([*view.parts, view.part._replace(atom=atom)], other.parts, is_same):
                yield Control(node=[node[0], [*node[1], atom], *node[2:]])


def _neutral(parts: Sequence[Part]) -> tuple[Any, ...]:
    """Return items that change no sum, no product, or no joined text."""
    kinds = {type(part.atom) for part in parts}
    return (0, 1) if kinds <= {int, float} else ("",) if kinds == {str} else ()


def _items(view: View, stop: int | None = None) -> list[Part]:
    return [*view.keys[:stop], *view.parts[:stop]]


def _are(parts: Sequence[Part], others: Sequence[Part], is_same: IsSame) -> bool:
    return len(parts) == len(others) and all(map(is_same, parts, others))


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


def _listed(view: View, node: Node) -> list[Any] | None:
    """Return a node of a container that has its contents in a list after its kind; None if there is none."""
    kind = node.node[0]
    if (view.family == MAPPING and kind != "chainmap") or kind in _LISTED:
        return node.node
    if view.family == SEQUENCE and not any(isinstance(part.atom, dict) for part in view.parts):
        return ["list", [part.atom for part in view.parts]]
    return None


_LISTED = {"list", "tuple", "deque", "set", "frozenset", "iterator", "generator", "begun"}


def _width(view: View) -> int:
    """Return how many atoms an item of a container has in its node."""
    return 2 if view.family == MAPPING else 1


def is_near(one: View, other: View) -> bool:
    """Whether two values that differ are the same but for a small amount, or for case and spacing."""
    if one.family == other.family == TEXT and type(one.value) is type(other.value):
        return bool(_folded(one.value) == _folded(other.value))
    if one.family != NUMBER or other.family != NUMBER or isinstance(one.value, int) or isinstance(other.value, int):
        return False
    first, second = _as_float(one.value), _as_float(other.value)
    return bool(abs(first - second) <= _small(first))


def _folded(text: Any) -> Any:
    return text[:0].join(text.lower().split())


def _as_float(value: Any) -> Any:
    try:
        return value if isinstance(value, complex) else float(value)
    except OverflowError:
        return math.inf


def _small(value: complex) -> float:
    return SMALL * max(1.0, abs(value))


def _near(view: View, other: View, *, is_whole: bool) -> Iterator[Control]:
    """Yield the controls that are near a value."""
    if is_truth(view) or is_truth(other):
        return
    if view.family == NUMBER:
        for number in _near_numbers(view.value):
            if not (same_number(number, view.value) or same_number(number, other.value)):
                yield Control(_atom_of(number))
    elif view.name in _TIMES and view.node is not None:
        yield from _other_times(view.node.node, *map(datetime.timedelta, (1, -1, 28)))
    elif view.family == TEXT:
        texts = dict.fromkeys((view.value.swapcase(), *_misspelled(view.value)))
        yield from (Control(_atom_of(text)) for text in texts if text not in (view.value, other.value))
    elif view.family in CONTAINERS and is_whole and view.node is not None and len(view.parts) > 1:
        node = _listed(view, view.node)
        yield from (Control(node=[node[0], one, *node[2:]]) for one in _near_contents(view, node[1])) if node else ()


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


def _near_numbers(value: Any) -> tuple[Any, ...]:
    if isinstance(value, int):
        return value + 1, value - 1, 2 * value
    plain = _as_float(value)
    return plain + _small(plain), plain - _small(plain)


def _misspelled(text: Any) -> Iterator[Any]:
    """Yield a text with one letter or digit changed: first one near its middle, then the last one."""
    places = [at for at in range(len(text)) if text[at : at + 1].isalnum()]
    for at in places and (places[len(places) // 2], places[-1]):
        old = text[at : at + 1]
        pair = "01" if old.isdigit() else "AB" if old.isupper() else "ab"
        first, second = (letter if isinstance(text, str) else letter.encode() for letter in (pair[0], pair[1]))
        yield text[:at] + (second if old == first else first) + text[at + 1 :]


def _near_contents(view: View, atoms: list[Any]) -> Iterator[list[Any]]:
    """Yield the contents of a container with one item in place of another, and with one changed."""
    middle, width = len(view.parts) // 2, _width(view)
    at, before = middle * width + width - 1, middle * width - 1
    if view.family != SET and atoms[at] != atoms[before]:
        yield [*atoms[:at], atoms[before], *atoms[at + 1 :]]
    item = atoms[at]
    if type(item) in {int, float, str}:
        other = next(_misspelled(item), item) if isinstance(item, str) else _near_numbers(item)[0]
        yield [*atoms[:at], _atom_of(other), *atoms[at + 1 :]]


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
    if keys[0] == "m" and keys[2:] == [2]:  # the contents of an argument that a call has changed
        if control.node is not None:
            change = message["m"][keys[1]]
            change[2] = _with_contents(change[2], control.node)
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
    return {**message, **others, "n": nodes, "m": [change for change in message["m"] if change[0] == "a"]}
