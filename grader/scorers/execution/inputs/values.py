"""Arguments and expected values as messages. Nothing is read here."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from grader.sandbox import messages
from grader.sandbox.messages import Call

if TYPE_CHECKING:
    from collections.abc import Sequence

_SMALL = 1 << 63
_SURROGATE = re.compile("[\ud800-\udfff]")
_NAMES: dict[type, str] = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}
LARGE, MOST = 1 << 20, 24 << 20
"""Bytes of an answer that is kept whole in any case, as in the sandbox, and of the largest that a message can have."""
TIMES_EXPECTED = 32
"""How many times as long as the expected answer an equal one can be: an array may be answered as a list."""


def source_of(value: Any) -> str:
    """Return a value as source."""
    try:
        return repr(value)
    except ValueError:  # Python writes no integer of more than 4,300 digits, but its hexadecimal digits.
        return hex(value) if isinstance(value, int) else "<a value with long integers>"


def calls(function: str, arguments: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """Return the calls of a function, one for each list of arguments."""
    made = []
    for given in arguments:
        nodes: list[Any] = []
        call = Call(target=["name", function], arguments=[_atom(value, nodes) for value in given], nodes=nodes)
        made.append(call.written())
    return tuple(made)


def reply(value: Any) -> str:
    """Return the message of a program that returns a value; of a large text only the digest, as in the sandbox."""
    nodes: list[Any] = []
    made = messages.returned(_atom(value, nodes), nodes)
    return digest(made) if isinstance(value, str) and len(made) > LARGE else made


def _atom(value: Any, nodes: list[Any]) -> Any:
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return value if -_SMALL < value < _SMALL else {messages.INTEGER: hex(value)}
    if isinstance(value, str):
        return {messages.CHARACTERS: [*map(ord, value)]} if _SURROGATE.search(value) else value
    if isinstance(value, complex):
        return {messages.COMPLEX: [value.real, value.imag]}
    number = len(nodes)
    nodes.append(None)
    if isinstance(value, dict):
        nodes[number] = ["dict", [_atom(part, nodes) for pair in value.items() for part in pair]]
    else:
        nodes[number] = [_NAMES[type(value)], [_atom(part, nodes) for part in value]]
    return {messages.NODE: number}


def digest(message: str) -> str:
    """Return what the sandbox keeps of a large message."""
    return json.dumps({"digest": hashlib.sha256(message.encode()).hexdigest(), "length": len(message)})


def is_same(expected: str, given: str) -> bool:
    """Whether two messages have the same value, byte for byte. A NaN equals nothing, so a value with one does not."""
    if "NaN" in expected:
        return False
    return given == expected or (len(expected) > LARGE and given == digest(expected))


def digests(expected: Sequence[str]) -> list[str]:
    """Return the digests of large expected messages."""
    return [digest(message) for message in expected if len(message) > LARGE and "NaN" not in message]


def most_bytes(expected: Sequence[str]) -> int:
    """Return the bytes of an answer that is kept whole."""
    return min(MOST, max(LARGE, TIMES_EXPECTED * max(map(len, expected), default=0)))
