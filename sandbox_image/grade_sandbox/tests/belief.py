"""Whether a pass is believed, and how many of a sample's answers are right."""

from __future__ import annotations

import json
import os
import signal
from functools import partial

from grade_sandbox.confine import process
from grade_sandbox.tests import controls, expectations, likeness, shown
from grade_sandbox.tests.controls import changed
from grade_sandbox.tests.expectations import Expectations, is_comparison_of_two, vacuous_messages, without_answers
from grade_sandbox.tests.likeness import Doubt, Likeness, as_doubt
from grade_sandbox.tests.sameness import Place, exact
from grade_sandbox.tests.views import Messages
from grade_sandbox.values.wire import MalformedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from grade_sandbox.jobs import Reordered
    from grade_sandbox.tests.controls import Change
    from grade_sandbox.tests.replay import Tests

    Accepts = Callable[[list[str]], bool]
    """Whether the tests pass with these messages."""
    Sides = tuple[Sequence[str] | None, Sequence[str]]
    """The messages of the reference, if there is one, and of the sample."""


SECONDS = 2.0
"""CPU time of one replay with a control; one that needs more is rejected."""
_NOT_COMPARABLE = (
    MalformedError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip
TOO_WEAK = "the tests also pass with answers such as None, an empty list or the argument, so they do not decide them"


def examined(tests: Tests, messages: list[str], again: Sequence[str | None] | None, *, passed: bool) -> dict[str, Any]:
    """Return {"likeness": {"calls": counts, "doubt": why a pass is not believed, ...}}. Call it in a fork."""
    try:
        beside = partial(_beside_reference, tests, messages, again, passed=passed)
        found = beside() if tests.expected else {"weak": True, "doubt": _Alone(tests, messages).doubt()}
    except _NOT_COMPARABLE as error:
        why = f"{type(error).__name__}: {str(error)[:200]}"
        found = {"doubt": f"its answers could not be compared with the expected ones ({why})"}
    return {"likeness": found}


def _beside_reference(
    tests: Tests, messages: list[str], again: Sequence[str | None] | None, *, passed: bool
) -> dict[str, Any]:
    compare = partial(Likeness, tests.calls, tests.reads, tests.expected, messages, tests.opaque)
    compared = compare()
    compared.compare()
    if passed and compared.arguments and not _reads_arguments(tests, messages, compared):
        compared = compare(are_arguments_read=False)
        compared.compare()
    counts: dict[str, Any] = {"n": len(tests.calls), "same": compared.same, "alike": compared.alike}
    found: dict[str, Any] = {"calls": counts}
    if first := (passed and compared.doubted) or compared.first:
        counts["first"] = first
    if not passed:
        return found
    if compared.problem:
        return found | {"doubt": compared.problem}
    if tests.again is not None and again is not None and not _is_steady(tests, tests.again, messages, again):
        return found | {"doubt": "it gives other answers if the same calls come in another order"}
    if compared.as_left is not None and not _accepts(tests, compared.as_left):
        return found | {"doubt": "the tests fail if its arguments are left as the reference solution leaves them"}
    if (
        compared.doubts
        and _say_nothing(tests, messages)
        and _accepts_any(tests, vacuous_messages(messages, tests.calls))
    ):
        return found | {"doubt": TOO_WEAK}
    doubt = _doubt_by_controls(tests, messages, tests.expected[0], compared.doubts)
    return found | {"doubt": doubt} if doubt else found


def _reads_arguments(tests: Tests, messages: list[str], compared: Likeness) -> bool:
    """Whether the tests look at the arguments that a program and the reference have changed in different ways."""
    tried = zip(*([(part, control) for control in own] for part, own in compared.arguments), strict=False)
    apart = controls.exchanged(messages, compared.unread)
    others = [changed(apart, changes) for changes in tried]
    return not others or not all(_accepts(tests, other) for other in others)


def _say_nothing(tests: Tests, texts: list[str]) -> bool:
    """Whether each answer is empty, or the call's own argument."""
    messages = Messages(texts[0], texts[1:], tests.calls)
    messages.next()
    return all(
        "v" not in messages.next() or expectations.says_nothing(messages, messages.part("v"), call)
        for call, _ in zip(tests.calls, texts[1:], strict=False)
    )


def _is_steady(tests: Tests, other: Reordered, messages: Sequence[str], again: Sequence[str | None]) -> bool:
    """Whether the answers stay the same in another order of calls, where those of the reference do."""
    calls = [json.loads(call) for call in other["calls"]]
    expected, returned = _contents(tests.expected[0], tests.calls), _contents(messages, tests.calls)
    expected_again, returned_again = _contents(other["expected"], calls), _contents(again, calls)
    for position, number in enumerate(other["order"]):
        places = (expected, number), (expected_again, position), (returned, number), (returned_again, position)
        one, two, three, four = (found[at] if at < len(found) else "" for found, at in places)
        if one == two and three != four:
            return False
    return True


def _contents(texts: Sequence[Any], calls: list[dict[str, Any]]) -> list[str]:
    """Return the contents of each answer, as they were when it was given."""
    messages = Messages(texts[0], texts[1:], calls)
    messages.next()
    found = []
    for _ in texts[1:]:
        message = messages.next()
        found += [exact(messages, messages.part(key)) for key in ("v", "e") if key in message][:1] or [""]
    return found


def _doubt_by_controls(tests: Tests, messages: list[str], reference: list[str] | None, doubts: list[Doubt]) -> str:
    return try_controls(partial(_accepts, tests), (reference, messages), doubts)


def _accepts(tests: Tests, messages: list[str]) -> bool:
    return branch(partial(tests.passes, messages), SECONDS) is True


def _accepts_any(tests: Tests, tried: list[list[str]]) -> bool:
    return any(_accepts(tests, messages) for messages in tried)


class _Alone:
    """A pass without a reference solution. What the tests compare answers with by `==` takes its place."""

    def __init__(self, tests: Tests, texts: list[str]) -> None:
        self._tests, self._texts = tests, texts
        self._expected = Expectations(branch(tests.compared, SECONDS) or [], tests.calls, tests.reads)
        self._messages = Messages(texts[0], texts[1:], tests.calls)
        self._is_compared = False
        self._doubts: list[Doubt] = []
        """Answers that differ from what they are compared with."""
        self._loose: list[Doubt] = []
        """Answers that are compared with nothing."""
        self._rewritten: dict[int, dict[str, Any]] = {}
        """Messages without the changes of arguments."""
        self._equal: set[bool] = set()
        """What comparisons of objects with different arguments return."""
        self._said: set[bool] = set()
        """Whether answers say something, one or another."""

    def doubt(self) -> str:
        """Return why the pass is not believed; empty if it is."""
        self._messages.next()
        for number in range(min(len(self._tests.calls), len(self._texts) - 1)):
            if problem := self._problem(number, self._messages.next()):
                call = shown.call(self._messages, self._tests.calls, self._tests.calls[number])
                return f"{call} gave {shown.value(self._messages, self._messages.part('v'))}, and {problem}"
        if self._equal == {True}:
            return "objects that were constructed with different arguments are all equal"
        if self._said == {False} and _accepts_any(self._tests, vacuous_messages(self._texts, self._tests.calls)):
            return TOO_WEAK
        if self._rewritten and _accepts(self._tests, without_answers(self._texts)):
            return ""  # the tests look only at the arguments that it changed
        if self._rewritten and not _accepts(self._tests, controls.exchanged(self._texts, self._rewritten)):
            return "the tests fail if its arguments are left as they were before the call"
        # Where the tests compare some answers with values, others may be looked at in passing.
        doubts = self._doubts if self._is_compared else self._loose
        return _doubt_by_controls(self._tests, self._texts, None, doubts)

    def _problem(self, number: int, message: dict[str, Any]) -> str:
        """Examine one answer; return why it cannot be right."""
        if likeness.changed_arguments(message):
            self._rewritten[number + 1] = controls.detached(self._messages)
        if "v" not in message or number in self._tests.opaque:
            self._said.add("v" not in message)
            return ""
        answer = self._messages.part("v")
        is_compared, places, problem = self._expected.places(self._messages, number, answer)
        self._doubts += [as_doubt(place, self._expected.none, self._messages) for place in places]
        self._is_compared |= is_compared
        if not is_compared:
            problem = expectations.ordinary(self._messages, answer, self._tests.text)
            if expectations.is_data(self._messages, answer):
                self._loose.append(as_doubt(Place(number, answer, answer), self._messages, self._messages))
        if is_comparison_of_two(self._tests.calls, number):
            self._equal.add(answer.atom is True)
        if self._messages.view(answer).name != "object":
            is_expected = is_compared and not places
            says_nothing = expectations.says_nothing(self._messages, answer, self._tests.calls[number])
            self._said.add(is_expected or not says_nothing)
        return problem


# --- replays with controls ---


def try_controls(accepts: Accepts, sides: Sides, doubts: Sequence[Doubt]) -> str:
    """Return why the tests say nothing about the places of doubts; empty if they do.

    All places are replaced at once. `sides`: the messages of the reference, if there is one, and of the sample.
    """
    accepted = (what for messages, what in _together(sides, doubts) if accepts(messages))
    what = next(accepted, "")
    return what and f"the tests also pass with {what}, so they do not decide this value"


def _together(sides: Sides, doubts: Sequence[Doubt]) -> Iterator[tuple[list[str], str]]:
    """Yield messages with all places replaced at once."""
    for side, texts in enumerate(sides):
        for number in range(max((len(doubt.controls[side]) for doubt in doubts), default=0)):
            chosen = [
                (doubt.part(side), own[min(number, len(own) - 1)]) for doubt in doubts if (own := doubt.controls[side])
            ]
            yield from _if_changed(texts, chosen)


def _if_changed(texts: Sequence[str] | None, changes: list[Change]) -> Iterator[tuple[list[str], str]]:
    if texts is None or not changes:
        return
    made = changed(texts, changes)
    if made != list(texts):
        yield made, _named(changes)


def _named(changes: Sequence[Change]) -> str:
    """Return the first controls and where they were put, for people."""
    calls = {part.where[0] for part, _ in changes if part.where}
    place = f"in the answer to call {max(calls)}" if len(calls) == 1 and max(calls) else "in its place"
    return f"{' and '.join(str(control) for _, control in changes[: 2 if len(calls) == 1 else 1])} {place}"


# --- forks ---

MAX_RESULT = 32 << 20


def branch(work: Callable[[], Any], seconds: float) -> Any:
    """Return what `work` returns (JSON), or None if it ends otherwise or needs more than `seconds` of CPU time."""
    read_end, write_end = os.pipe()
    pid = process.fork()
    if pid == 0:
        _be(work, seconds, read_end, write_end)
    os.close(write_end)
    try:
        with os.fdopen(read_end, "rb") as file:
            data = file.read(MAX_RESULT)
    finally:
        os.waitpid(pid, 0)
    return json.loads(data) if data else None


def _be(work: Callable[[], Any], seconds: float, read_end: int, write_end: int) -> None:
    """Become the fork: it ends here."""
    try:
        os.close(read_end)
        process.prctl(process.PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        # A test that sleeps uses no CPU time; it is stopped as well, only later.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 10 * seconds + 5)
        data = json.dumps(work()).encode()
        while data:
            data = data[os.write(write_end, data) :]
    finally:
        os._exit(0)
