"""Run the tests of a task whose calls cannot be recorded, while the candidate answers in another process.

Such tasks are judged after all others. The tests continue after a failure (patience.py), so the calls reveal nothing.
"""

from __future__ import annotations

import os
import socket

import crossing
import executing
import lending
import opaque
import patience
import recording
import replies
import rewriting
import sending
import streams
import surroundings
import vacuous
import wire
from instances import MalformedError
from judging import reason_of
from replies import Replies, delivered
from standing_in import Proxy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

_NO_COMPARISONS = {"getattr", "setattr", "delattr", "format", "round"}


def tests(spec: dict[str, Any], channel_fd: int, result_fd: int) -> None:
    """Run the task's tests against the candidate's functions; report whether they confirm it."""
    streams.swallow()

    def tell(reason: str, kind: str, *, final: bool = True) -> None:
        said = {"confirmed": not reason, "reason": streams.clip(reason), "kind": kind}
        # A failure is final, whatever the rest of the tests do, so it is reported at once.
        wire.send(lambda data: os.write(result_fd, data), said if final else said | {"so_far": True})

    tell(*_Tests(spec, socket.socket(fileno=channel_fd), tell).verdict())


class _Tests:
    """One run of a task's tests beside a running candidate."""

    def __init__(self, spec: dict[str, Any], channel: socket.socket, tell: Callable[..., None]) -> None:
        self._spec, self._channel, self._tell = spec, channel, tell
        self._broken = replies.Broken()
        self._failure = ""
        self._used = 0
        self._returned: set[int] = set()
        """The ids of objects that are answers, and of their methods that are not declared. The heap keeps them."""

    def verdict(self) -> tuple[str, str]:
        """Return ("", "") where every test passed, else why not and of what kind."""
        text = self._spec["signature"] + self._spec["test"]
        self._guard = vacuous.refuse_empty_comparisons(self._broken.note, text, self._spec["test"])
        why = "", ""
        try:
            hello = self._receive()
        except (wire.ClosedError, OSError):
            return "the candidate's process ended while its code was loading", "ended"
        except MalformedError as error:
            return reason_of(error, "")
        try:
            if "failed" in hello:
                return f"the candidate's code does not load: {streams.clip(str(hello['failed']))}", "load"
            recording.begin_randomness()
            self._surroundings = surroundings.Surroundings(crossing.UnconfirmedError)
            self._run(replies.hello_of(hello))
        except BaseException as error:
            why = reason_of(error, self._spec["test"])
        if self._broken.error is not None:
            return reason_of(self._broken.error, "")
        if self._failure:
            return self._failure, "assertion"
        return why if why[0] or self._used else ("the tests pass without a call", "unconfirmed")

    def _run(self, hello: dict[str, Any]) -> None:
        namespace: dict[str, Any] = {}
        # The future import of this file must not affect the signature: it would turn annotations into texts.
        exec(compile(self._spec["signature"], "<signature>", "exec", dont_inherit=True), namespace)
        classes, stubs = lending.classes_and_stubs(self._spec, namespace)
        self._stubs = [stub for stub in stubs.values() if isinstance(stub, type)]
        self._replies = Replies(classes, self._broken, self._guard, self._called)
        tests = patience.Patient(self._spec["test"], rewrite=rewriting.rewrite)
        tests.bind(namespace, self._failed)
        self._guard.bind(namespace)
        names = lending.open_names(tests.code, namespace | stubs)
        functions = set(map(str, hello["functions"]))
        lent = lending.stand_ins({n: stub for n, stub in stubs.items() if n in functions}, self._called, self)
        namespace |= lent
        self._replies.tested |= lent
        decoder = self._replies.decode(hello["n"])
        proxy = lambda name: Proxy(name, None, self._called)  # noqa: E731
        lending.lend(namespace, names, hello, decoder, self._replies.makers, proxy)
        self._named = {
            id(value): name for name, value in namespace.items() if type(value) is Proxy or opaque.is_class(value)
        }
        executing.refuse_foreign_code(
            self._broken.note, self._spec, tests.code, namespace, classes, self._guard.computed
        )
        exec(tests.code, namespace)
        self._guard.items.finish()

    def _failed(self, text: str) -> None:
        if not self._failure:
            self._failure = f"a test fails: {text}"
            self._tell(self._failure, "assertion", final=False)

    # --- called by substitutes for classes ---

    def operate(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Carry out an operation; refuse one that may be a comparison of an answer."""
        operates = type(target) is opaque.Operator and target.__name__ not in _NO_COMPARISONS
        if operates and len(args) > 1 and any(id(value) in self._returned for value in args):
            self.refuse("the tests compute with an object that the candidate returned")
        found = self._called(target, args, kwargs)
        reads = target is opaque.OPERATORS["getattr"] and id(args[0]) in self._returned
        if reads and type(found) is Proxy and not any(hasattr(stub, args[1]) for stub in self._stubs):
            self._returned.add(id(found))
        return found

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """Compare by identity."""
        return opaque.compared(name, left, right, self)

    def refuse(self, why: str) -> NoReturn:
        """Raise the exception after which nothing can be confirmed."""
        raise self._broken.note(crossing.UnconfirmedError(why))

    def _called(self, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._broken.error is not None:
            raise self._broken.error
        if id(proxy) in self._returned and (args or kwargs):
            self.refuse("the tests call a method of an object that the candidate returned")
        try:
            found = delivered(*self._exchange(proxy, args, kwargs), self._guard)
        except (crossing.UnconfirmedError, MalformedError) as error:
            self._broken.note(error)
            raise
        if opaque.is_object(found) and not opaque.is_class(proxy):
            self._returned.add(id(found))
        return found

    def _exchange(self, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        understood = self._replies
        told = self._surroundings.now()
        encoder = _Encoder(understood, self._named)
        try:
            message = {
                "f": encoder.encode(proxy),
                "m": [
                    [heap.tag, number, encoder.node(heap.objects[number])]
                    for heap in (understood.ours, understood.theirs)
                    for number in heap.changed()
                ],
                "v": [encoder.encode(value) for value in args],
                "k": [[key, encoder.encode(value)] for key, value in kwargs.items()],
                "n": encoder.nodes,
            }
            encoder.finish()
            data = crossing.dumps(message | told)
        except crossing.UncrossableError as error:
            raise crossing.UnconfirmedError(
                f"the tests pass a {error}, which cannot be serialized for the candidate"
            ) from None
        understood.ours.add(encoder.values, encoder.nodes)
        self._used += 1
        try:
            wire.send_bytes(self._channel.send, data)
            reply = self._receive()
        except (wire.ClosedError, OSError):
            raise crossing.UnconfirmedError("the candidate's process ended during a call") from None
        outcome = understood.take(reply)
        self._surroundings.after(reply)
        return outcome

    def _receive(self) -> dict[str, Any]:
        return self._guard.load(wire.receive_bytes(self._channel.recv, crossing.MAX_BYTES))


class _Encoder(sending.Encoder):
    """Sends the candidate's functions by name, and functions that it returned by number."""

    def __init__(self, understood: Replies, named: dict[int, str]) -> None:
        super().__init__(understood.labels, (understood.ours.atoms, understood.theirs.atoms))
        self._named = named

    def atom(self, value: Any) -> Any:
        if type(value) is opaque.Operator:
            return {"x": ["op", value.__name__]}
        if (type(value) is Proxy or opaque.is_class(value)) and id(value) in self._named:
            return {"x": ["name", self._named[id(value)]]}
        return super().atom(value)
