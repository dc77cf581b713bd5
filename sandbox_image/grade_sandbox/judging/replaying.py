"""Replay a task's tests against recorded answers: every call must equal a recorded one, and gets its answer."""

from __future__ import annotations

import itertools
import json

from grade_sandbox.confine import process
from grade_sandbox.judging import continuing
from grade_sandbox.judging.asking import Asker, UnconfirmedError
from grade_sandbox.judging.compiled_tests import CompiledTests, failure_reason
from grade_sandbox.judging.forks import run_in_fork

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType
    from typing import Any

    from grade_sandbox.jobs import JudgedTask


class DivergedError(UnconfirmedError):
    """Raised if the tests make other calls than the recorded ones."""

    kind = "diverged"


class NoReplyError(UnconfirmedError):
    """Raised if the tests make the call in which the program's process ended."""

    kind = "waiting"


class _Replay:
    """The recorded calls and a program's replies.

    A call that the tests leave out is skipped. They may make it later: the order of threads is Python's affair.
    """

    def __init__(self, calls: Sequence[str], replies: Sequence[str]) -> None:
        self._calls, self._replies, self._next = calls, replies, 0
        self._skipped: list[int] = []
        """The numbers of the recorded calls before the next one that the tests have not made."""
        self.asker: Asker | None = None

    def make_asker(self, classes: dict[str, type[Any]]) -> Asker:
        """Return the asker of this run: see `CompiledTests.run`."""
        self.asker = Asker(classes, self._answer_call)
        return self.asker

    def _answer_call(self, call: str) -> tuple[int, str]:
        """Return the number of the recorded call that equals one of the tests, and the program's reply to it."""
        number = self._recorded_number(call)
        if number < self._next:
            self._skipped.remove(number)
        else:
            self._skipped += range(self._next, number)
            self._next = number + 1
        if number >= len(self._replies):
            raise NoReplyError("the program's process ended during a call")
        return number, self._replies[number]

    def _recorded_number(self, call: str) -> int:
        """Return the number of an equal recorded call: the next one, else one after it, else one that was skipped."""
        assert self.asker is not None
        following = range(self._next, len(self._calls))
        # Only the next one is compared by value, too (`accept_as`), because that reads both calls.
        if following and (self._calls[self._next] == call or self.asker.accept_as(self._calls[self._next], call)):
            return self._next
        for number in itertools.chain(following, self._skipped):
            if self._calls[number] == call:
                return number
        raise DivergedError("with its answers, the tests make other calls than those that were recorded")


class Tests:
    """A task's compiled tests, and the recorded calls."""

    def __init__(self, spec: JudgedTask) -> None:
        self.spec = spec
        self.calls = spec["calls"]
        self.compiled = CompiledTests(spec)

    def _run(
        self, code: CodeType, replies: Sequence[str], prepare: Callable[[dict[str, Any]], object] = lambda names: None
    ) -> tuple[str, str]:
        """Run tests with these replies; return why they do not confirm the program: see `verdict`."""
        process.swallow_output()
        replay = _Replay(self.calls, replies)
        verdict = "", ""
        try:
            self.compiled.run(code, replay.make_asker, self.spec["names"], prepare)
            if replay.asker is None or not replay.asker.call_count:
                verdict = "the tests pass without a call", UnconfirmedError.kind
        except BaseException as error:
            verdict = failure_reason(error, self.spec["test"])
        # The tests may have caught the exception after which nothing can be confirmed, so it decides.
        refusal = None if replay.asker is None else replay.asker.error
        return verdict if refusal is None else failure_reason(refusal, self.spec["test"])

    def verdict(self, replies: Sequence[str]) -> tuple[str, str]:
        """Return ("", "") if every test passes, else (reason, kind). Call it in a fork."""
        return self._run(self.compiled.strict_code, replies)

    def accepts(self, replies: Sequence[str], seconds: float) -> bool:
        """Whether the tests pass with these replies, within `seconds` of CPU time."""
        return run_in_fork(lambda: not self.verdict(replies)[0], seconds) is True

    def assertion_results(self, replies: Sequence[str]) -> list[bool]:
        """Return for each assertion whether it holds; nothing if that is unknown. Call it in a fork.

        The tests continue after a failure. If an exception ends them, the assertions that they have not reached fail.
        """
        tests = continuing.ContinuingTests(self.spec["test"], notes_reached=True)
        results: list[bool | None] = [None] * tests.count
        """None: not reached."""

        def note(number: int, passes: bool) -> None:
            results[number] = passes and results[number] is not False

        reason, kind = self._run(tests.code, replies, lambda namespace: tests.bind(namespace, note))
        return [] if kind == "diverged" else [not reason if result is None else result for result in results]


def load_failure(hello: str) -> str:
    """Return why a program could not be loaded; empty if it was. Its first message can be any text."""
    try:
        return str(json.loads(hello).get("failed", ""))
    except (ValueError, AttributeError, RecursionError):
        return "its first message is invalid"
