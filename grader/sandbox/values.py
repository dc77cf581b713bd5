"""The sandbox's messages (grade_sandbox/values.py), which the grader writes with the same code. It reads none."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from grader import resources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grade_sandbox import values as _values
else:
    _values = resources.sandbox_module("values")

LARGE, MAX_ANSWER_BYTES = 1 << 20, 24 << 20
"""Bytes of an answer that is kept whole in any case, as in the sandbox, and of the largest that a message can have."""
TIMES_EXPECTED = 32
"""How many times as long as the expected answer an equal one can be: an array may be answered as a list."""


def call(function: str, arguments: Sequence[Any]) -> str:
    """Return the call of a function; raises ValueError for what cannot be serialized."""
    return _serialize((("name", function), tuple(arguments), {}, {}))


def reply(value: Any) -> str:
    """Return the message of a program that returns a value; of a large text only the digest, as in the sandbox."""
    message = _serialize(("returned", value))
    return digest(message) if isinstance(value, str) and len(message) > LARGE else message


def _serialize(value: Any) -> str:
    try:
        return _values.write(value)
    except _values.UnsendableError as error:
        raise ValueError(f"a value that cannot be serialized: {error}") from None


def hello(functions: Sequence[str]) -> str:
    """Return the first message of a program that defines these functions."""
    return _values.encode({"functions": list(functions)})


def digest(message: str) -> str:
    """Return what the sandbox keeps of a large message."""
    return _values.encode({"digest": hashlib.sha256(message.encode()).hexdigest(), "length": len(message)})


_NAN = '["float","nan"]', '["complex",'
"""What the message of a value with a NaN has in it; a complex number may have one."""


def surely_equals_itself(message: str) -> bool:
    """Whether it is known, without a comparison in a sandbox, that a returned value equals a copy of itself.

    Numbers, texts, lists, tuples and dictionaries without NaN do. The message of `return 23` is
    `[["tuple", [1, 2, ...]], ["str", "returned"], ["int", 23], ...]`: a node for each value; the first is the whole
    message, with the numbers of the nodes in it. A digest is an object, `{"digest": ...}`.
    """
    if message.startswith("{"):
        return False
    nodes = json.loads(message)
    message_node, status_node = nodes[0], nodes[1]
    has_returned = message_node[0] == "tuple" and status_node == ["str", "returned"]
    return has_returned and all(kind in _SELF_EQUAL_KINDS and content != "nan" for kind, content in nodes)


_SELF_EQUAL_KINDS = {"none", "bool", "int", "float", "str", "bytes", "list", "numbers", "tuple", "dict"}


def may_be_floats(message: str) -> bool:
    """Whether a returned value may contain floats."""
    return _FLOATS.search(message) is not None


_FLOATS = re.compile(r'\["(?:float|array|scalar)",|\["numbers",\[[^\]]*[.e]')


def is_same(expected: str, answer: str) -> bool:
    """Whether an answer is the expected one, or, if that is large, its digest. One with a NaN never is."""
    if any(part in expected for part in _NAN):
        return False
    return answer == expected or (len(expected) > LARGE and answer == digest(expected))


def digests(expected: Sequence[str]) -> list[str]:
    """Return the digests of large expected messages."""
    return [digest(message) for message in expected if len(message) > LARGE and _NAN[0] not in message]


def max_answer_bytes(expected: Sequence[str]) -> int:
    """Return the bytes of an answer that is kept whole."""
    return min(MAX_ANSWER_BYTES, max(LARGE, TIMES_EXPECTED * max(map(len, expected), default=0)))


def returns_nothing(reply: str) -> bool:
    """Whether a program returned None."""
    return reply.startswith('[["tuple",[1,2') and reply.partition('["str","returned"],')[2].startswith('["none"')
