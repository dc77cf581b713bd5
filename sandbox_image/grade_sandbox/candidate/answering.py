"""The process of a candidate: it executes the candidate's code and answers calls, one after the other.

It never has the tests or an expected value. It gets a call whose arguments depend on answers only after it has answered
all calls before; others come in batches (dialogue.py).
"""

import os
import struct
import sys
from time import monotonic

from grade_sandbox.confine import process
from grade_sandbox.values import (
    call_context,
    instances,
    plain_forms,
    receiving,
    remote_objects,
    sending,
    standing_in,
    wire,
)
from grade_sandbox.values.messages import RAISED, RETURNED, Call, Hello, Reply, failure, unsent
from grade_sandbox.values.passed import Passed

# No `from __future__ import annotations` here: `compile` and `exec` would pass it on to the candidate's code.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from grade_sandbox.jobs import Candidate


BUFFER = 1 << 16
LATEST_SECONDS = 0.005
"""Time after which an answer is sent although further calls are there, so that a slow call is known to be slow."""
_FUNCTION = type(lambda: None)


def candidate(spec: "Candidate", channel_fd: int) -> None:
    """Execute a candidate's code, report what it defines, and answer calls until the channel closes."""
    process.enlarge_stack()
    process.seed()
    channel = _Channel(channel_fd)
    process.hear_alarm(channel.finish)
    sys.stdin = sys.stderr = process.Streams()
    printed = sys.stdout = process.Streams()
    namespace: dict[str, Any] = {"__file__": process.FILE}
    try:
        exec(compile(spec["signature"], plain_forms.SIGNATURE, "exec"), namespace)
        originals = instances.declared(spec["classes"], namespace)
        asked = [name for name in spec["stubs"] if isinstance(namespace.get(name), type)]
        exec(compile(spec["source"], "<candidate>", "exec"), namespace)
    except BaseException as error:
        channel.send(failure(wire.clip(f"{type(error).__name__}: {error}")))
        channel.flush()
        return
    answerer = _Answerer(spec, namespace, originals, asked, call_context.Entered(printed))
    channel.send(answerer.hello())
    while True:
        try:
            call = Call.read(wire.receive_bytes(channel.receive, wire.MAX_BYTES))
        except (wire.ClosedError, OSError):
            return
        channel.send(answerer.answer(call))


class _Channel:
    """Sends answers when no further call is there or some time has passed, and not one by one."""

    def __init__(self, fd: int) -> None:
        # No socket object: creating one writes to forty more memory pages, and each costs a page fault after a fork.
        self._fd = fd
        self._received, self._waiting = memoryview(b""), bytearray()
        self._is_writing, self._flushed = False, monotonic()

    def receive(self, count: int) -> memoryview:
        """Return at most so many bytes; none at the end of the stream."""
        if not self._received:
            self.flush()
            self._received = memoryview(os.read(self._fd, BUFFER))
        found, self._received = self._received[:count], self._received[count:]
        return found

    def send(self, data: bytes) -> None:
        """Send a message, at the latest before the next call is waited for."""
        self._waiting += struct.pack(">I", len(data)) + data
        if len(self._waiting) > BUFFER or monotonic() - self._flushed > LATEST_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Send what waits."""
        self._is_writing = True
        view, self._waiting = memoryview(self._waiting), bytearray()
        while view:
            view = view[os.write(self._fd, view) :]
        self._is_writing, self._flushed = False, monotonic()

    def finish(self) -> None:
        """Send what waits, and an empty message, because the time is up. What is half sent is the last message."""
        if not self._is_writing:
            self.send(b"")
            self.flush()


class _Answerer:
    """The state of a candidate's process between calls."""

    def __init__(
        self,
        spec: "Candidate",
        namespace: "dict[str, Any]",
        originals: "dict[str, type[Any]]",
        asked: "list[str]",
        entered: call_context.Entered,
    ) -> None:
        """`originals`: the classes of the signature. `asked`: names of the classes that the candidate must write."""
        self._namespace, self._entered = namespace, entered
        self._names, self._reads = spec["names"], spec["reads"]
        self._wanted = {*spec["names"], *spec["stubs"]}
        self._asked, self._tells_changes = asked, "each" not in spec
        # Their objects stay here.
        self._tested = {namespace[name]: name for name in asked if isinstance(namespace.get(name), type)}
        self._objects = sending.Numbers()
        self._classes = originals | instances.declared(spec["classes"], namespace)
        self._labels = {kind: name for table in (originals, self._classes) for name, kind in table.items()}
        self._kept, self._next = set(spec.get("kept", ())), 0
        self._answers: dict[int, Any] = {}
        self._arguments: dict[int, dict[Any, Any]] = {}
        """Answers and arguments of those calls that later calls name."""

    def hello(self) -> bytes:
        """Return the first message: the names the tests may use that the candidate's code defines."""
        space = self._namespace
        functions = [n for n, v in space.items() if callable(v) and n in self._wanted]
        imported = [n for n in self._names if n in space and _is_imported(n, space)]
        return Hello(functions, imported).written()

    def _encoder(self, known: "Sequence[Any]") -> sending.Encoder:
        return sending.Encoder(
            self._labels,
            known,
            reads=self._reads,
            functions=True,
            tested=self._tested,
            objects=self._objects,
        )

    def answer(self, call: Call) -> bytes:
        """Return the reply to one call, as bytes."""
        number, self._next = self._next, self._next + 1
        how, value = RETURNED, None
        try:
            decoder = receiving.CallDecoder(call.nodes, self._classes, self._value_of)
            target, (args, kwargs) = self._value_of(call.target), decoder.arguments(call)
        except Exception as error:
            return unsent(f"something else than the call is about ({type(error).__name__})")
        passed = None
        if self._tells_changes:
            passed = Passed(call, decoder.built, self._labels, self._value_of, self._tested)
        if number in self._kept:
            self._arguments[number] = {**dict(enumerate(args)), **kwargs}
        self._entered.enter(call.state)
        try:
            value = target(*args, **kwargs)
            self._constructed(call.target, value)
        except process.TimeoutException:
            # The program did not catch it, so it would not catch it officially either.
            os._exit(0)
        except (Exception, SystemExit) as error:
            how, value = RAISED, _without_frames(error)
        if number in self._kept and how == RETURNED:
            self._answers[number] = value
        try:
            return self._reply(how, value, call, passed)
        except wire.UncrossableError as error:
            why = str(error)
        except Exception as error:
            why = f"{wire.type_name(value)} ({type(error).__name__} while it was read)"
        return unsent(why)

    def _reply(self, how: str, value: "Any", call: Call, passed: "Passed | None") -> bytes:
        encoder = self._encoder(() if passed is None else (passed,))
        atom = encoder.encode(value)
        changes = [] if passed is None else passed.changes(encoder)
        return Reply(how, atom, encoder.nodes, changes, *self._entered.left(call.state)).written()

    def _constructed(self, target: "list[Any]", value: "Any") -> None:
        """Note the class of an object, if a function or another class makes it (a singleton, a factory)."""
        kind, name, *_ = target
        if kind == "name" and name in self._asked and plain_forms.is_own(type(value)):
            self._tested.setdefault(type(value), name)

    def _value_of(self, expression: "list[Any]") -> "Any":
        """Return the value of an expression over earlier calls in this process; see placeholder.py."""
        kind, *rest = expression
        if kind == "name":
            return self._namespace[rest[0]]
        if kind == "ans":
            return self._answers[rest[0]]
        if kind == "arg":
            return self._arguments[rest[0]][rest[1]]
        if kind == "op":
            return remote_objects.FUNCTIONS[rest[0]]
        return standing_in.part(kind, self._value_of(rest[0]), rest[1])


def _without_frames(error: "BaseException") -> "BaseException":
    """Remove the frames from an exception, and from those before it: they would keep the arguments of the call."""
    one: BaseException | None = error
    while one is not None and one.__traceback__ is not None:
        one.__traceback__ = None
        one = one.__context__
    return error


def _is_imported(name: str, namespace: "dict[str, Any]") -> bool:
    """Whether a value is a module, or some module has it under this name."""
    value = namespace[name]
    if type(value) is type(sys):
        return True
    if type(value) is _FUNCTION and value.__globals__ is namespace:
        # A search through all modules would write to a memory page of each, which costs a page fault after a fork.
        return False
    return any(getattr(module, "__dict__", {}).get(name) is value for module in list(sys.modules.values()))
