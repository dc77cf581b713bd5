"""The process of a program: it executes the program's code and answers calls, one after the other.

It never has the tests or an expected value. A call and a reply are values (values.py):

    (target, arguments, named arguments, state)     target: ("name" | "value" | "function" | "op", which)
    (how, value, arguments, named arguments, printed, consumed, objects)      how: RETURNED, RAISED or UNSENT

A reply has the arguments as the call left them, in one message with the value, so that aliases are kept; `objects` are
all that could change in the call, in its order: the tests' own get these contents.
"""

import os
import struct
import sys
from time import monotonic

from grade_sandbox import operations, values, wire
from grade_sandbox.candidate.state import Entered
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
_EQ: "Any" = object.__eq__
SIGNATURE = "<signature>"
RETURNED, RAISED, UNSENT = "returned", "raised", "unsent"
"""How a call ended: with a value, with an exception, or with something that cannot be serialized."""


def candidate(spec: "Candidate", channel_fd: int) -> None:
    """Execute a program's code, report what it defines, and answer calls until the channel closes."""
    process.enlarge_stack()
    process.seed()
    channel = _Channel(channel_fd)
    process.hear_alarm(channel.finish)
    sys.stdin = sys.stderr = process.Streams()
    printed = sys.stdout = process.Streams()
    try:
        program = Program(spec)
    except BaseException as error:
        channel.send(wire.failure(f"{type(error).__name__}: {error}"))
        channel.flush()
        return
    answerer = Answerer(spec, program, Entered(printed))
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


def declared(names: "Iterable[str]", namespace: "Mapping[str, Any]") -> "dict[str, type[Any]]":
    """Return name -> class for those of `names` (`Outer.Inner` for a nested one) that are not library classes."""
    found = {}
    for name in names:
        first, *rest = name.split(".")
        kind = namespace.get(first)
        for part in rest:
            kind = vars(kind).get(part) if isinstance(kind, type) else None
        if isinstance(kind, type) and values.is_own(kind):
            found[name] = kind
    return found


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
        names = [name for name in spec["classes"] if name.partition(".")[0] not in to_write]
        of_signature = declared(names, self.namespace)
        exec(compile(spec["source"], "<candidate>", "exec", dont_inherit=True), self.namespace)
        classes = of_signature | declared(names, self.namespace)
        super().__init__(classes)
        self.names = {kind: name for table in (of_signature, classes) for name, kind in table.items()}
        self._staying: set[str] = set()
        """The names of the classes whose objects stay here."""
        self._staying_classes: dict[type[Any], str] = {}
        """These classes, and what functions of such a name have made (`note_class`)."""
        self.keep_objects([*to_write, *(name for name, how in spec["names"].items() if how == "class")])
        self.answers: dict[int, Any] = {}
        """Number of a call -> what it returned, if a later call refers to it."""
        self._objects: list[Any] = []
        """The objects and functions that a reply or a call names by number."""
        self._numbers: dict[int, int] = {}
        """id() of an object -> its number."""

    def keep_objects(self, names: "Iterable[str]") -> None:
        """Let the objects of these classes stay here."""
        self._staying |= set(names)
        found = {name: self.namespace.get(name) for name in self._staying}
        self._staying_classes |= {kind: name for name, kind in found.items() if isinstance(kind, type)}
        self.classes |= {name: kind for kind, name in self._staying_classes.items()}

    def _number(self, value: "Any") -> int:
        found = self._numbers.get(id(value))
        if found is None:
            found = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return found

    def node_of(self, value: "Any") -> "tuple[str, Any] | None":
        if not self._staying_classes:
            return None
        if isinstance(value, type):
            return ("class", self._staying_classes[value]) if value in self._staying_classes else None
        kind = next((kind for kind in type(value).__mro__ if kind in self._staying_classes), None)
        if kind is None:
            return None
        compares = type(value).__eq__ is not _EQ
        return "remote", [self._number(value), self._staying_classes[kind], int(compares)]

    def function(self, value: "Any") -> "tuple[str, Any]":
        return "function", self._number(value)

    def value_of(self, kind: str, content: "Any") -> "Any":
        if kind == "answer":
            return self.answers[content]
        if kind == "function" and isinstance(content, str):
            return self.namespace[content]
        return self._objects[content[0] if kind == "remote" else content]

    def note_class(self, name: str, value: "Any") -> None:
        """Note the class of an object that the call of a staying class has made (a singleton, a factory)."""
        if name in self._staying and values.is_own(type(value)):
            self._staying_classes.setdefault(type(value), name)

    def target(self, kind: str, which: "Any") -> "Callable[..., Any]":
        """Return what a call calls."""
        if kind == "value":
            return lambda: self.namespace[which]
        if kind == "op":
            return operations.FUNCTIONS[which]
        return self.namespace[which] if kind == "name" else self._objects[which]  # type: ignore[no-any-return]


class Answerer:
    """The state of a program's process between calls."""

    def __init__(self, spec: "Candidate", program: Program, entered: Entered) -> None:
        self._program, self._entered = program, entered
        self._stubs = spec["stubs"]
        self._tells, self._kept = spec.get("tells", True), set[int](spec.get("kept", ()))
        self._next = 0

    def hello(self) -> bytes:
        """Return the first message: which of the names to be written the program defines."""
        found = [name for name in self._stubs if callable(self._program.namespace.get(name))]
        return wire.encode({"functions": found}).encode()

    def answer(self, call: "bytes | str", *, is_kept: bool = False) -> str:
        """Return the reply to one call. `is_kept`: a later call may refer to this answer."""
        number, self._next = self._next, self._next + 1
        how, value = RETURNED, None
        try:
            reader = values.Reader(call, self._program)
            (kind, which), args, kwargs, state = reader.read()
            own = tuple(reader.objects)
            target = self._program.target(kind, which)
        except (values.MalformedError, LookupError) as error:
            if isinstance(error, values.MalformedError):
                return values.write((UNSENT, f"something else than the call is about ({error})"))
            return self._reply(RAISED, NameError(f"name {which!r} is not defined"), args, kwargs, state, own)
        self._entered.enter(state)
        try:
            value = target(*args, **kwargs)
            self._program.note_class(which if kind == "name" else "", value)
        except process.TimeoutException:
            # The program did not catch it, so it would not catch it officially either.
            os._exit(0)
        except (Exception, SystemExit) as error:
            how, value = RAISED, _without_frames(error)
        if how == RETURNED and (is_kept or number in self._kept):
            self._program.answers[number] = value
        return self._reply(how, value, args, kwargs, state, own)

    def _reply(self, how: str, value: "Any", args: "Any", kwargs: "Any", state: "Any", own: "tuple[Any, ...]") -> str:
        told: tuple[Any, ...] = (how, value)
        if self._tells:
            printed, consumed = self._entered.left()
            told = *told, args, kwargs, printed if value is None or state.get("captures") else "", consumed, own
        try:
            return values.write(told, self._program)
        except values.UnsendableError as error:
            return values.write((UNSENT, str(error)))


def _without_frames(error: "BaseException") -> "BaseException":
    """Remove the frames from an exception, and from those before it: they would keep the arguments of the call."""
    one: BaseException | None = error
    while one is not None and one.__traceback__ is not None:
        one.__traceback__ = None
        one = one.__context__
    return error
