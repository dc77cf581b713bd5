"""Replay a task's tests against recorded answers: every call must equal a recorded one, and gets its answer."""

from __future__ import annotations

import itertools
import json

from grade_sandbox.confine import process
from grade_sandbox.judging import patience
from grade_sandbox.judging.asking import Asker, UnconfirmedError
from grade_sandbox.judging.forks import run_in_fork
from grade_sandbox.judging.script import Script, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType
    from typing import Any

    from grade_sandbox.jobs import JudgedTask


class DivergedError(UnconfirmedError):
    """Raised if the tests make other calls than the recorded ones."""

    kind = "diverged"


class WaitingError(UnconfirmedError):
    """Raised if the tests make the call in which the program's process ended."""

    kind = "waiting"


class _Replay:
    """The recorded calls and a program's replies.

    A call that the tests leave out is skipped. They may make it later: the order of threads is Python's affair.
    """

    def __init__(self, calls: Sequence[str], replies: Sequence[str]) -> None:
        self._calls, self._replies, self._next = calls, replies, 0
        self._skipped: list[int] = []
        self.asker: Asker | None = None

    def asker_of(self, classes: dict[str, type[Any]]) -> Asker:
        self.asker = Asker(classes, self._answer)
        return self.asker

    def _answer(self, call: str) -> tuple[int, str]:
        number = self._place(call)
        if number < self._next:
            self._skipped.remove(number)
        else:
            self._skipped += range(self._next, number)
            self._next = number + 1
        if number >= len(self._replies):
            raise WaitingError("the program's process ended during a call")
        return number, self._replies[number]

    def _place(self, call: str) -> int:
        assert self.asker is not None
        rest = range(self._next, len(self._calls))
        if rest and (self._calls[rest[0]] == call or self.asker.are_equal(self._calls[rest[0]], call)):
            return rest[0]
        others = itertools.chain(rest, self._skipped)
        if (found := next((number for number in others if self._calls[number] == call), None)) is not None:
            return found
        raise DivergedError("with its answers, the tests make other calls than those that were recorded")


class Tests:
    """A task's compiled tests, and the recorded calls."""

    def __init__(self, spec: JudgedTask) -> None:
        self.spec = spec
        self.calls = spec["calls"]
        self.script = Script(spec)

    def _verdict(
        self, code: CodeType, replies: Sequence[str], before: Callable[[dict[str, Any]], object] = lambda space: None
    ) -> tuple[str, str]:
        process.swallow_output()
        replay = _Replay(self.calls, replies)
        why = "", ""
        try:
            self.script.run(code, replay.asker_of, self.spec["names"], before)
            if replay.asker is None or not replay.asker.used:
                why = "the tests pass without a call", UnconfirmedError.kind
        except BaseException as error:
            why = reason_of(error, self.spec["test"])
        first = None if replay.asker is None else replay.asker.error
        return why if first is None else reason_of(first, "")

    def verdict(self, replies: Sequence[str]) -> tuple[str, str]:
        """Return ("", "") if every test passes, else (reason, kind). Call it in a fork."""
        return self._verdict(self.script.strict, replies)

    def accepts(self, replies: Sequence[str], seconds: float) -> bool:
        """Whether the tests pass with these replies, within `seconds` of CPU time."""
        return run_in_fork(lambda: not self.verdict(replies)[0], seconds) is True

    def assertion_results(self, replies: Sequence[str]) -> list[bool]:
        """Return for each assertion whether it holds; nothing if that is unknown. Call it in a fork.

        The tests continue after a failure. If an exception ends them, the assertions that they have not reached fail.
        """
        tests = patience.Patient(self.spec["test"], counts=True)
        found: list[bool | None] = [None] * tests.count

        def begun(number: int, is_right: bool) -> None:
            found[number] = is_right and found[number] is not False

        reason, kind = self._verdict(tests.code, replies, lambda space: tests.bind(space, begun=begun))
        return [] if kind == "diverged" else [not reason if one is None else one for one in found]


def failure_of(hello: str) -> str:
    """Return why a program could not be loaded; empty if it was. Its first message can be any text."""
    try:
        return str(json.loads(hello).get("failed", ""))
    except (ValueError, AttributeError, RecursionError):
        return "its first message is invalid"
