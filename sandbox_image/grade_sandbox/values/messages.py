"""The messages of a dialogue with a program: only this module knows how they are written.

A message is JSON in ASCII. A value in it is an atom: a JSON value (None, bool, int, float, str), or an object with one
of the keys below. Lists are structure, never atoms, so data cannot be mistaken for a reference. A node is
`[kind, payload...]`: a value with parts, which are atoms.

An expression says how a value comes from earlier calls; see placeholder.py. `["ans", k]` is the answer to call k.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import NamedTuple

from grade_sandbox.values.wire import MAX_BYTES, MalformedError, UncrossableError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    Expression = list[Any]

NODE, PASSED, EARLIER = "node", "passed", "earlier"
"""Keys of atoms: a node of this message, an object that the call has passed (passed.py), an expression."""
INTEGER, COMPLEX, CHARACTERS, BYTES = "integer", "complex", "characters", "bytes"
"""Keys of atoms: a long integer in hexadecimal, [real, imaginary], the code points of a text that JSON would change,
and the bytes of a text in Latin-1."""
WRITTEN: dict[Any, tuple[str, Callable[[Any], Any]]] = {
    INTEGER: ("int", lambda text: int(text, 16)),
    COMPLEX: ("complex", lambda parts: complex(*map(float, parts))),
    CHARACTERS: ("str", lambda codes: "".join(map(chr, codes))),
    BYTES: ("bytes", lambda text: text.encode("latin-1")),
}
"""Key of an atom -> the name of its type, and the function that converts its content."""
RETURNED, RAISED, UNSENT = "returned", "raised", "unsent"
"""How a call ended: with a value, with an exception, or with something that cannot be sent."""


_decode = json.JSONDecoder(parse_constant=float).decode
"""Creating a decoder takes longer than decoding a small message. This one makes each NaN a float of its own."""


def _load(data: bytes | str) -> dict[str, Any]:
    try:
        message = _decode(data.decode() if isinstance(data, bytes) else data)
    except (ValueError, RecursionError) as error:
        raise MalformedError(str(error)[:200]) from None
    if not isinstance(message, dict):
        raise MalformedError("not a message")
    return message


def _dump(message: object) -> bytes:
    data = encode(message).encode()
    if len(data) > MAX_BYTES:
        raise UncrossableError(f"a value of more than {MAX_BYTES >> 20} MB")
    return data


def texts(said: bytes) -> list[str]:
    """Return all messages of a program: the first one, and a reply to each call; none if it has sent none."""
    return said.decode().split("\n") if said else []


# --- the first message ---


class Hello(NamedTuple):
    """What a program's code defines, as far as the tests may use it."""

    functions: Sequence[str] = ()
    imported: Sequence[str] = ()
    """Names that some module has with this value."""

    @classmethod
    def read(cls, data: str) -> Hello:
        """Decode a message; raises MalformedError."""
        message = _load(data)
        functions, imported = message.get("functions"), message.get("imported")
        if not (isinstance(functions, list) and isinstance(imported, list)):
            raise MalformedError("it does not say what it defines")
        return cls(functions, imported)

    def written(self) -> bytes:
        """Encode the message."""
        return _dump(self._asdict())


def failure(why: str) -> bytes:
    """Return the first message of a program that cannot be loaded."""
    return _dump({"failed": why})


def is_failure(hello: bytes) -> bool:
    """Whether the first message of a program says that it cannot be loaded."""
    return hello.startswith(b'{"failed"')


def failure_of(hello: str) -> str | None:
    """Return why a program could not be loaded; None if it was."""
    return str(_load(hello)["failed"]) if is_failure(hello.encode()) else None


# --- calls ---


class Call(NamedTuple):
    """What a program is asked."""

    target: Expression
    """What is called."""
    arguments: Sequence[Any]
    """Atoms."""
    named: Sequence[Sequence[Any]]
    """Names and atoms."""
    nodes: Sequence[Any]
    state: dict[str, Any] = {}
    """What the tests have set since the last call: `captures`, `input`, `seeds` (call_context.py)."""

    @classmethod
    def read(cls, data: bytes | str) -> Call:
        """Decode a call, which grade itself has written."""
        message = _load(data)
        target, arguments, named, nodes = map(message.pop, ("target", "arguments", "named", "nodes"))
        return cls(target, arguments, named, nodes, message)

    def written(self) -> str:
        """Encode the call."""
        made = {"target": self.target, "arguments": self.arguments, "named": self.named, "nodes": self.nodes}
        return encode({**made, **self.state})

    @property
    def parts(self) -> list[Any]:
        """All that is passed: arguments, named ones, and their nodes."""
        return [self.arguments, self.named, self.nodes]

    @property
    def expressions(self) -> Iterator[Expression]:
        """The expressions in the arguments, from left to right."""
        return expressions(self.parts)


def expression_of(atom: Any) -> Expression | None:
    """Return the expression that an atom is; None if it is another one."""
    return atom.get(EARLIER) if isinstance(atom, dict) else None


def node_of(atom: Any) -> int | None:
    """Return the number of the node that an atom is; None if it is another one."""
    return atom.get(NODE) if isinstance(atom, dict) else None


def expressions(value: Iterable[Any]) -> Iterator[Expression]:
    """Yield the expressions in parts of a call, from left to right."""
    for part in value:
        if isinstance(part, list):
            yield from expressions(part)
        elif isinstance(part, dict) and EARLIER in part:
            yield part[EARLIER]


def call_of(expression: Expression, *kinds: str) -> int | None:
    """Return the number of the call to which an expression refers; None if it is not of these kinds (`ans`, `arg`)."""
    while expression[0] in {"item", "nth", "attr"}:
        expression = expression[1]
    return expression[1] if expression[0] in kinds else None


_OF_ANSWERS = re.compile(r'\{"earlier":\["(?!name"|arg")')
"""An expression over answers. The values of other expressions are known before the call is sent."""
_EARLIER = re.compile(r'\["(?:ans|arg)",(\d+)')
"""An expression that refers to an earlier call. A text cannot contain it, because its quotes would be escaped."""


def is_data(call: str) -> bool:
    """Whether a call is one of a function by its name, with arguments that are the same whatever the answers are."""
    return call.startswith('{"target":["name",') and _OF_ANSWERS.search(call) is None


def kept(calls: Iterable[str]) -> list[int]:
    """Return the calls to whose answers or arguments other calls refer."""
    return sorted({int(number) for call in calls for number in _EARLIER.findall(call)})


# --- replies ---


class Reply(NamedTuple):
    """What a program answered to a call."""

    how: str
    """RETURNED, RAISED or UNSENT."""
    value: Any
    """The atom of the value or the exception; a text that says what cannot be sent."""
    nodes: Sequence[Any] = []
    changes: Sequence[tuple[Any, Any]] = []
    """Objects of the call that it changed, by their numbers (passed.py), and their new nodes."""
    printed: str = ""
    consumed: int = 0
    """How many characters of the input it has read."""

    @classmethod
    def read(cls, data: str) -> Reply:
        """Decode a reply; raises MalformedError. The parts of atoms and nodes can be anything."""
        message = _load(data)
        how = next((one for one in (UNSENT, RAISED, RETURNED) if one in message), None)
        if how is None:
            raise MalformedError("no answer")
        if how == UNSENT:
            return cls(UNSENT, str(message[UNSENT]))
        parts = [message.get(name, usual) for name, usual in _PARTS.items()]
        if list(map(type, parts)) != [list, list, str, int]:
            raise MalformedError("no answer of a program")
        if not all(isinstance(change, list) and len(change) == 2 for change in parts[1]):
            raise MalformedError("a change that is none")
        return cls(how, message[how], *parts)

    def written(self) -> bytes:
        """Encode the reply; raises UncrossableError if it is too large."""
        if self.how == UNSENT:
            return _dump({UNSENT: self.value})
        made = {self.how: self.value, "nodes": self.nodes}
        more = {"changes": self.changes, "printed": self.printed, "consumed": self.consumed}
        return _dump(made | {name: part for name, part in more.items() if part})


_PARTS: dict[str, Any] = {"nodes": None, "changes": [], "printed": "", "consumed": 0}


def unsent(why: str) -> bytes:
    """Return the reply that says that something cannot be sent."""
    return Reply(UNSENT, why).written()


def names_objects(reply: str) -> bool:
    """Whether a reply may refer to objects of the call."""
    return '{"passed":' in reply or '"changes":[[' in reply


def has_remote_objects(reply: str) -> bool:
    """Whether an object that stays with the program is in a reply."""
    return '["object"' in reply


def has_arrays(message: str) -> bool:
    """Whether a message may contain values of NumPy."""
    return '["array"' in message or '["scalar"' in message


def is_text(reply: bytes) -> bool:
    """Whether a program returned a text."""
    return reply.startswith(b'{"returned":"')


# --- large replies ---


def digest(data: bytes) -> bytes:
    """Return what stands for a large message: two are equal only if these are."""
    return json.dumps({"digest": hashlib.sha256(data).hexdigest(), "length": len(data)}).encode()


def digest_of(reply: str) -> tuple[str, int] | None:
    """Return the digest and the length of a message, if only these were kept."""
    if not reply.startswith('{"digest"'):
        return None
    message = _load(reply)
    return message["digest"], message["length"]
