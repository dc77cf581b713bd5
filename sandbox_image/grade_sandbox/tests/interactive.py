"""Run the tests of a task whose calls cannot be recorded, while the candidate answers in another process.

Such tasks are judged after all others. The tests continue after a failure (continue_after_failure.py), so the calls
reveal nothing.
"""

from __future__ import annotations

import os
import socket
import threading

from grade_sandbox.confine import process
from grade_sandbox.tests import continue_after_failure
from grade_sandbox.tests.test_run import TestRun, global_names, open_names
from grade_sandbox.values import remote_objects, sending, wire
from grade_sandbox.values.standing_in import Proxy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from grade_sandbox.jobs import Task
    from grade_sandbox.tests.test_run import Replies

MAX_TRANSCRIPT = 8 << 20
NOTABLE_BYTES = 16 << 10
_NO_COMPARISONS = {"isinstance", "getattr", "setattr", "delattr", "format", "round"}


def tests(spec: Task, channel_fd: int, result_fd: int) -> None:
    """Run the task's tests against the candidate's functions; report whether they confirm it."""
    process.swallow_output()

    def tell(reason: str, kind: str, **more: Any) -> None:
        said = {"confirmed": not reason, "reason": wire.clip(reason), "kind": kind}
        wire.send(lambda data: os.write(result_fd, data), said | more)

    def moved(size: int) -> None:
        # The time to encode and decode large messages is not the program's; many small ones are not worth a message.
        # No size: one is about to be encoded.
        if size >= NOTABLE_BYTES or not size:
            wire.send(lambda data: os.write(result_fd, data), {"moved": size} if size else {"encoding": True})

    run = _Tests(spec, socket.socket(fileno=channel_fd), tell, moved)
    reason, kind = run.outcome()
    is_short = sum(map(len, run.calls + run.texts)) < MAX_TRANSCRIPT
    transcript = {"hello": run.hello, "calls": run.calls, "replies": run.texts}
    tell(reason, kind, **({"transcript": transcript} if is_short and not reason else {}))


class _Tests(TestRun):
    """One run of a task's tests beside a running candidate."""

    def __init__(
        self, spec: Task, channel: socket.socket, tell: Callable[..., None], moved: Callable[[int], None]
    ) -> None:
        # The future import of this file must not affect the signature: it would turn annotations into texts.
        signature = compile(spec["signature"], "<signature>", "exec", dont_inherit=True)
        self._patient = continue_after_failure.Patient(spec["test"])
        super().__init__(spec, signature, self._patient.code)
        self._channel, self._tell, self._moved = channel, tell, moved
        self.hello, self.calls, self.texts = "", list[str](), list[str]()
        """The messages of this run, which are judged again without the candidate."""
        self._failure = ""
        self._lock = threading.RLock()
        """Held by the thread of the tests that makes a call."""
        self._returned: set[int] = set()
        """The ids of objects that are answers, and of their methods that are not declared. The table keeps them."""

    def outcome(self) -> tuple[str, str]:
        """Return ("", "") where every test passed, else why not and of what kind."""
        try:
            self.hello = self._receive()
        except (wire.ClosedError, OSError):
            return "the candidate's process ended while its code was loading", "ended"
        why = self.verdict(self.hello)
        return (self._failure, "assertion") if self._failure and self.error is None else why

    def wanted(self, namespace: dict[str, Any]) -> list[str]:
        """Return the names that the tests read and nobody defines."""
        self._patient.bind(namespace, self._failed)
        return open_names(global_names(self._patient.code), namespace | self.stubs)

    def _failed(self, text: str) -> None:
        if not self._failure:
            self._failure = f"a test fails: {text}"
            # A failure is final, whatever the rest of the tests do, so it is reported at once.
            self._tell(self._failure, "assertion", so_far=True)

    def operate(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Carry out an operation; refuse one that may be a comparison of an answer."""
        operates = type(target) is remote_objects.Operator and target.__name__ not in _NO_COMPARISONS
        if operates and len(args) > 1 and any(id(value) in self._returned for value in args):
            self.refuse("the tests compute with an object that the candidate returned")
        found = self.called(target, args, kwargs)
        reads = target is remote_objects.OPERATORS["getattr"] and id(args[0]) in self._returned
        if reads and type(found) is Proxy and not self._declares(args[1]):
            self._returned.add(id(found))
        return found

    def _declares(self, name: str) -> bool:
        return any(isinstance(stub, type) and hasattr(stub, name) for stub in self.stubs.values())

    def called(self, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer a call of the tests."""
        if self.error is None and id(proxy) in self._returned and (args or kwargs):
            self.refuse("the tests call a method of an object that the candidate returned")
        with self._lock:
            found = super().called(proxy, args, kwargs)
        if remote_objects.is_object(found) and not remote_objects.is_class(proxy):
            self._returned.add(id(found))
        return found

    def answer(self, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        """Ask the candidate."""
        told = self.context.now()
        encoder = _Encoder(self.replies, self.names, lambda: self._moved(0))
        try:
            message = encoder.call(encoder.encode(proxy), args, kwargs, self.replies.ours, self.replies.theirs)
            data = wire.dumps(message | told)
        except wire.UncrossableError as error:
            raise wire.UnconfirmedError(
                f"the tests pass a {error}, which cannot be serialized for the candidate"
            ) from None
        self.replies.ours.add(encoder.values, encoder.nodes)
        self.used += 1
        try:
            # Before the candidate begins to decode it.
            self._moved(2 * len(data))
            wire.send_bytes(self._channel.send, data)
            received = self._receive()
        except (wire.ClosedError, OSError):
            raise wire.UnconfirmedError("the candidate's process ended during a call") from None
        self.calls.append(data.decode())
        self.texts.append(received)
        reply = wire.loads(received)
        outcome = self.replies.take(reply)
        self.context.after(reply)
        return outcome

    def _receive(self) -> str:
        data = b""
        while not data:
            data = wire.receive_bytes(self._channel.recv, wire.MAX_BYTES)
            self._moved(2 * len(data))
        return data.decode("ascii", "replace")


class _Encoder(sending.Encoder):
    """Sends the candidate's functions by name, and functions that it returned by number."""

    def __init__(self, replies: Replies, names: dict[str, Any], announce: Callable[[], object]) -> None:
        super().__init__(replies.labels, (replies.ours.atoms, replies.theirs.atoms), announce=announce)
        self._named = {id(value): name for name, value in names.items()}

    def atom(self, value: Any) -> Any:
        if type(value) is remote_objects.Operator:
            return {"x": ["op", value.__name__]}
        if (type(value) is Proxy or remote_objects.is_class(value)) and id(value) in self._named:
            return {"x": ["name", self._named[id(value)]]}
        return super().atom(value)
