"""The process of a program: it executes the program's code and answers calls, one after the other.

It never has the tests or an expected value. A call and a reply are values (values.py):

    (target, arguments, named arguments, state)     target: ("name" | "value" | "function" | "op", which)
    (outcome, value, arguments, named arguments, printed, consumed, mutables)    outcome: RETURNED, RAISED or UNSENT

A reply has the arguments as the call left them, in one message with the value, so that aliases are kept; `mutables` are
all that could change in the call, in its order: the tests' own objects get these contents.
"""

import os
import struct
import sys
from time import monotonic

from grade_sandbox import operations, values, wire
from grade_sandbox.candidate.state import CallState
from grade_sandbox.confine import process

# No `from __future__ import annotations` here: `compile` and `exec` would pass it on to the program's code.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from grade_sandbox.jobs import Candidate

BUFFER = 1 << 16
LATEST_SECONDS = 0.005
"""Time after which an answer is sent although further calls are there, so that a slow call is known to be slow."""
_DEFAULT_EQ: "Any" = object.__eq__
"""The `__eq__` of a class that defines none."""
SIGNATURE = "<signature>"
RETURNED, RAISED, UNSENT = "returned", "raised", "unsent"
"""How a call ended: with a value, with an exception, or with something that cannot be serialized."""


def serve_candidate(spec: "Candidate", channel_fd: int) -> None:
    """Execute a program's code, report what it defines, and answer calls until the channel closes."""
    process.enlarge_stack()
    process.seed_generators(spec.get("run", 0))
    channel = _Channel(channel_fd)
    process.install_alarm_handler(channel.finish)
    sys.stdin = sys.stderr = process.Streams()
    printed = sys.stdout = process.Streams()
    try:
        program = Program(spec)
    except BaseException as error:
        channel.send(wire.failure(f"{type(error).__name__}: {error}"))
        channel.flush()
        return
    answerer = Answerer(spec, program, CallState(printed))
    channel.send(answerer.hello())
    while True:
        try:
            call = wire.receive_bytes(channel.receive, values.MAX_BYTES)
        except (wire.ClosedError, OSError):
            return
        channel.send(answerer.answer(call).encode())


class _Channel:
    """Sends answers when no further call is there or some time has passed, and not one by one."""

    def __init__(self, fd: int) -> None:
        # No socket object: creating one writes to forty more memory pages, and each costs a page fault after a fork.
        self._fd = fd
        self._received, self._waiting = memoryview(b""), bytearray()
        self._is_writing, self._last_flush = False, monotonic()

    def receive(self, count: int) -> memoryview:
        """Return at most so many bytes; none at the end of the stream."""
        if not self._received:
            self.flush()
            self._received = memoryview(os.read(self._fd, BUFFER))
        data, self._received = self._received[:count], self._received[count:]
        return data

    def send(self, data: bytes) -> None:
        """Send a message, at the latest before the next call is waited for."""
        self._waiting += struct.pack(">I", len(data)) + data
        if len(self._waiting) > BUFFER or monotonic() - self._last_flush > LATEST_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Send what waits."""
        self._is_writing = True
        view, self._waiting = memoryview(self._waiting), bytearray()
        while view:
            view = view[os.write(self._fd, view) :]
        self._is_writing, self._last_flush = False, monotonic()

    def finish(self) -> None:
        """Send what waits, and an empty message, because the time is up; called by the handler of a signal.

        If the signal has interrupted a write, nothing can be sent after the message that is half sent.
        """
        if not self._is_writing:
            self.send(b"")
            self.flush()


def user_classes(names: "Iterable[str]", namespace: "Mapping[str, Any]") -> "dict[str, type[Any]]":
    """Return name -> class for those of `names` (`Outer.Inner` for a nested one) that are not library classes."""
    classes = {}
    for name in names:
        first, *inner_names = name.split(".")
        cls = namespace.get(first)
        for inner_name in inner_names:
            cls = vars(cls).get(inner_name) if isinstance(cls, type) else None
        if isinstance(cls, type) and values.is_user_class(cls):
            classes[name] = cls
    return classes


class Program(values.Context):
    """A program's names, and the objects that stay with it: those of the classes to be written, and functions."""

    def __init__(self, spec: "Candidate") -> None:
        """Execute the signature and the program; raises what they raise.

        Objects of the classes that the program must write, or that the tests use, stay here. Those of the signature's
        other classes are sent as their attributes, also where the program defines such a class again.
        """
        self.namespace: dict[str, Any] = {"__file__": process.FILE}
        """The names of the program."""
        exec(compile(spec["signature"], SIGNATURE, "exec", dont_inherit=True), self.namespace)
        to_write = {name for name in spec["stubs"] if isinstance(self.namespace.get(name), type)}
        others = [name for name in spec["classes"] if name.partition(".")[0] not in to_write]
        signature_classes = user_classes(others, self.namespace)
        exec(compile(spec["source"], "<candidate>", "exec", dont_inherit=True), self.namespace)
        classes = signature_classes | user_classes(others, self.namespace)
        super().__init__(classes)
        # If the program defines a class of the signature again, objects of both are sent under its name.
        self.names = {cls: name for table in (signature_classes, classes) for name, cls in table.items()}
        self._resident_names: set[str] = set()
        """The names of the classes whose objects stay here, and are sent by their numbers."""
        self._resident_classes: dict[type[Any], str] = {}
        """These classes, and those of objects that a call of such a name has returned (`note_class`)."""
        used_by_tests = [name for name, origin in spec["names"].items() if origin == "class"]
        self.send_by_number([*to_write, *used_by_tests])
        self.answers: dict[int, Any] = {}
        """Number of a call -> what it returned, if a later call refers to it."""
        self._objects: list[Any] = []
        """The objects and functions that a reply or a call names by number."""
        self._numbers: dict[int, int] = {}
        """id() of an object -> its number."""

    def send_by_number(self, names: "Iterable[str]") -> None:
        """Send the objects of these classes by their numbers, and not as their attributes."""
        self._resident_names |= set(names)
        by_name = {name: self.namespace.get(name) for name in self._resident_names}
        self._resident_classes |= {cls: name for name, cls in by_name.items() if isinstance(cls, type)}
        self.classes |= {name: cls for cls, name in self._resident_classes.items()}

    def _object_number(self, value: "Any") -> int:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return number

    def node_of(self, value: "Any") -> "tuple[str, Any] | None":
        """Return the node of a class whose objects stay here, or of such an object; None for any other value.

        `overrides_eq` tells the tests' side whether only the program can compare the object.
        """
        if not self._resident_classes:
            return None
        if isinstance(value, type):
            return ("class", self._resident_classes[value]) if value in self._resident_classes else None
        cls = next((cls for cls in type(value).__mro__ if cls in self._resident_classes), None)
        if cls is None:
            return None
        overrides_eq = type(value).__eq__ is not _DEFAULT_EQ
        return "remote", [self._object_number(value), self._resident_classes[cls], int(overrides_eq)]

    def function(self, value: "Any") -> "tuple[str, Any]":
        return "function", self._object_number(value)

    def forget_function(self, value: "Any") -> None:
        """Let a function that is answered get a new number.

        A bound method is a new object each time, but a static method is always the same. Both are numbered alike.
        """
        if callable(value) and self.node_of(value) is None:
            self._numbers.pop(id(value), None)

    def value_of(self, kind: str, content: "Any") -> "Any":
        if kind == "answer":
            return self.answers[content]
        if kind == "function" and isinstance(content, str):
            return self.namespace[content]
        # A function that the program has returned has a number. Of an object, the number comes first: see `node_of`.
        return self._objects[content[0] if kind == "remote" else content]

    def note_class(self, name: str, value: "Any") -> None:
        """Note the class of an object that a call of `name`, if it is a resident class, has made (e.g. a factory)."""
        if name in self._resident_names and values.is_user_class(type(value)):
            self._resident_classes.setdefault(type(value), name)

    def find_function(self, target_kind: str, target: "Any") -> "Callable[..., Any]":
        """Return the function that a call names; raises LookupError."""
        if target_kind == "value":
            return lambda: self.namespace[target]
        if target_kind == "op":
            return operations.FUNCTIONS[target]
        return self.namespace[target] if target_kind == "name" else self._objects[target]  # type: ignore[no-any-return]


class Answerer:
    """Answers the calls of a program, one after the other."""

    def __init__(self, spec: "Candidate", program: Program, state: CallState) -> None:
        """The fields of `spec` are explained in jobs.py: `Declared`, `Candidate`."""
        self._program, self._state = program, state
        self._stubs = spec["stubs"]
        self._with_effects = spec.get("with_effects", True)
        self._kept_calls = set[int](spec.get("kept_calls", ()))
        self._next = 0
        """The number of the next call."""

    def hello(self) -> bytes:
        """Return the first message: which of the names to be written the program defines."""
        functions = [name for name in self._stubs if callable(self._program.namespace.get(name))]
        return values.encode({"functions": functions}).encode()

    def answer(self, message: "bytes | str", *, is_kept: bool = False) -> str:
        """Return the reply to one call. `is_kept`: a later call may refer to this answer."""
        number, self._next = self._next, self._next + 1
        try:
            reader = values.Reader(message, self._program)
            call = reader.read()
        except values.MalformedError as error:  # This program has no such object, or gave no such answer before.
            return values.write((UNSENT, f"something else than the call is about ({error})"))
        (target_kind, target), args, kwargs, state = call
        mutables = tuple(reader.mutables)
        try:
            function = self._program.find_function(target_kind, target)
        except LookupError:
            return self._reply(RAISED, NameError(f"name {target!r} is not defined"), call, mutables)
        self._state.enter(state)
        outcome, value = RETURNED, None
        try:
            value = function(*args, **kwargs)
            if target_kind == "name":
                self._program.note_class(target, value)
            self._program.forget_function(value)
        except process.TimeoutException:
            # The time is up, and the signal's handler has sent the answers so far. A program that catches this
            # exception goes on instead, as it does officially.
            os._exit(0)
        except (Exception, SystemExit) as error:
            outcome, value = RAISED, _without_frames(error)
        if outcome == RETURNED and (is_kept or number in self._kept_calls):
            self._program.answers[number] = value
        return self._reply(outcome, value, call, mutables)

    def _reply(self, outcome: str, value: "Any", call: "tuple[Any, ...]", mutables: "tuple[Any, ...]") -> str:
        """Return the reply to a call. `mutables`: the objects that came with the call, and that it could change."""
        _, args, kwargs, state = call
        reply: tuple[Any, ...] = (outcome, value)
        if self._with_effects:
            printed, consumed = self._state.effects()
            # What is printed counts only where nothing is returned, or where the tests capture it.
            shown = printed if value is None or state.get("captures") else ""
            reply = *reply, args, kwargs, shown, consumed, mutables
        try:
            return values.write(reply, self._program)
        except values.UnsendableError as error:
            return values.write((UNSENT, str(error)))


def _without_frames(error: "BaseException") -> "BaseException":
    """Remove the frames from an exception, and from those in its context, because they keep the arguments alive."""
    current: BaseException | None = error
    while current is not None and current.__traceback__ is not None:
        current.__traceback__ = None
        current = current.__context__
    return error
