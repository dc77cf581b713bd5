"""The process of a candidate: it executes the candidate's code and answers calls, one after the other.

It never has the tests or an expected value. It gets the next call only after it has answered the last one.
"""

import contextlib
import socket
import sys

import crossing
import degrading
import instances
import opaque
import receiving
import sending
import standing_in
import streams
import surroundings
import wire
from heap import Heap
from standing_in import FORGOTTEN

# No `from __future__ import annotations` here: `compile` and `exec` would pass it on to the candidate's code.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def candidate(spec: "dict[str, Any]", channel_fd: int) -> None:
    """Execute a candidate's code, report what it defines, and answer calls until the channel closes."""
    channel = socket.socket(fileno=channel_fd)

    def send(data: bytes) -> None:
        wire.send_bytes(channel.send, data)

    streams.swallow()
    printed = sys.stdout = streams.WriteOnlyStringIO()
    namespace: dict[str, Any] = {}
    try:
        exec(compile(spec["signature"], "<signature>", "exec"), namespace)
        originals = instances.declared(spec["classes"], namespace)
        asked = [name for name in spec["stubs"] if isinstance(namespace.get(name), type)]
        exec(compile(spec["source"], "<candidate>", "exec"), namespace)
    except BaseException as error:
        send(crossing.dumps({"failed": streams.clip(f"{type(error).__name__}: {error}")}))
        return
    answerer = _Answerer(spec, namespace, originals, asked, surroundings.Entered(printed))
    send(answerer.hello())
    while True:
        try:
            call = crossing.loads(wire.receive_bytes(channel.recv, crossing.MAX_BYTES))
        except (wire.ClosedError, OSError):
            return
        send(answerer.answer(call))


class _Answerer:
    """The state of a candidate's process between calls."""

    def __init__(
        self,
        spec: "dict[str, Any]",
        namespace: "dict[str, Any]",
        originals: "dict[str, type[Any]]",
        asked: "list[str]",
        entered: surroundings.Entered,
    ) -> None:
        """`originals`: the classes of the signature. `asked`: names of the classes that the candidate must write."""
        self._namespace, self._entered = namespace, entered
        self._names, self._reads = spec["names"], spec["reads"]
        self._wanted = {*spec["names"], *spec["stubs"]}
        self._asked = asked
        # Their objects stay here.
        self._tested = {namespace[name]: name for name in asked if isinstance(namespace.get(name), type)}
        self._classes = originals | instances.declared(spec["classes"], namespace)
        self._labels = {kind: name for table in (originals, self._classes) for name, kind in table.items()}
        self._theirs, self._ours = Heap("t", by_value=True), Heap("a", by_value=False)
        self._answers: list[Any] = []
        self._makers = _Makers(self._value_of)

    def hello(self) -> bytes:
        """Return the first message: the names the tests may use that the candidate's code defines."""
        space = self._namespace
        encoder = self._encoder()
        values: dict[str, Any] = {}
        errors: dict[str, Any] = {}
        for name in self._names:
            value = space.get(name)
            if isinstance(value, type) and issubclass(value, Exception):
                errors[name] = encoder.exception(value.__new__(value))[1]
            elif name in space and not callable(value) and type(value) is not type(sys):
                with contextlib.suppress(instances.UncrossableError):
                    values[name] = encoder.encode(value)
        self._ours.add(encoder.values, encoder.nodes)
        return crossing.dumps(
            {
                "functions": [n for n, v in space.items() if callable(v) and n in self._wanted],
                "imported": [n for n in self._names if n in space and _is_imported(n, space[n])],
                "errors": errors,
                "values": values,
                "n": encoder.nodes,
            }
        )

    def _encoder(self) -> sending.Encoder:
        tables = self._ours.atoms, self._theirs.atoms
        return sending.Encoder(self._labels, tables, reads=self._reads, functions=True, tested=self._tested)

    def answer(self, call: "dict[str, Any]") -> bytes:
        """Return the reply to one call, as bytes."""
        expected = len(self._theirs.objects) + len(call["n"])
        outcome: dict[str, Any] = {}
        try:
            target, args, kwargs = self._take(call)
        except Exception as error:
            self._theirs.objects += [FORGOTTEN] * (expected - len(self._theirs.objects))
            self._answers.append(FORGOTTEN)
            return crossing.dumps({"u": f"something else than the call is about ({type(error).__name__})"})
        self._entered.enter(call)
        try:
            outcome = {"v": target(*args, **kwargs)}
            self._constructed(call["f"], outcome["v"])
        except (Exception, SystemExit) as error:
            outcome = {"e": error}
        self._answers.append(outcome.get("v", FORGOTTEN))
        try:
            return self._reply(outcome, call)
        except instances.UncrossableError as error:
            why = str(error)
        except Exception as error:
            why = f"{crossing.type_name(outcome.get('v'))} ({type(error).__name__} while it was read)"
        return crossing.dumps({"u": why})

    def _constructed(self, function: "dict[str, Any]", value: "Any") -> None:
        """Note the class of an object, if a function or another class makes it (a singleton, a factory)."""
        kind, name, *_ = function.get("x", ("", ""))
        if kind == "name" and name in self._asked and degrading.is_own(type(value)):
            self._tested.setdefault(type(value), name)

    def _take(self, call: "dict[str, Any]") -> "tuple[Any, list[Any], dict[str, Any]]":
        """Apply the contents of a call; return the function to call and its arguments."""
        if "d" in call:
            self._ours.forget_all()
            self._answers = [FORGOTTEN] * len(self._answers)
            self._theirs.forget(call["d"])
        known = {"t": self._theirs.objects, "a": self._ours.objects}
        decoder = receiving.Decoder(call["n"], self._classes, known, self._makers)
        decoder.decode_all()
        self._theirs.add(decoder.built, call["n"])
        for tag, number, node in call["m"]:
            heap = self._theirs if tag == "t" else self._ours
            decoder.fill(heap.objects[number], node)
            heap.look(number)
        kwargs = {key: decoder.value(atom) for key, atom in call["k"]}
        return decoder.value(call["f"]), decoder.values(call["v"]), kwargs

    def _reply(self, outcome: "dict[str, Any]", call: "dict[str, Any]") -> bytes:
        encoder = self._encoder()
        reply: dict[str, Any] = {key: encoder.encode(value) for key, value in outcome.items()}
        reply["m"] = [
            [heap.tag, number, encoder.node(heap.objects[number])]
            for heap in (self._theirs, self._ours)
            for number in heap.changed()
        ]
        encoder.finish()
        reply["n"] = encoder.nodes
        data = crossing.dumps(reply | self._entered.left(call))
        self._ours.add(encoder.values, encoder.nodes)
        return data

    def _value_of(self, expression: "list[Any]") -> "Any":
        """Return the value of an expression over earlier answers in this process; see placeholder.py."""
        kind, *rest = expression
        if kind == "name":
            return self._namespace[rest[0]]
        if kind == "ans":
            return self._answers[rest[0]]
        if kind == "op":
            return opaque.FUNCTIONS[rest[0]]
        return standing_in.part(kind, self._value_of(rest[0]), rest[1])


def _is_imported(name: str, value: "Any") -> bool:
    """Whether a value is a module, or some module has it under this name."""
    if type(value) is type(sys):
        return True
    return any(getattr(module, "__dict__", {}).get(name) is value for module in list(sys.modules.values()))


class _Makers(standing_in.Makers):
    def __init__(self, evaluate: "Callable[..., Any]") -> None:
        super().__init__()
        self.evaluate = evaluate  # type: ignore[method-assign]
