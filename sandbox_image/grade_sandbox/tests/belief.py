"""Whether a pass is believed, and how many of a sample's answers are right."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from functools import partial

from grade_sandbox.confine import process
from grade_sandbox.tests import controls, expectations, shown
from grade_sandbox.tests.answers import ENDED, Answer
from grade_sandbox.tests.expectations import Expectations, is_comparison_of_two
from grade_sandbox.tests.likeness import Doubt, Likeness, as_doubt
from grade_sandbox.tests.sameness import exact
from grade_sandbox.tests.tried import Change, Replayed, as_they_are, exchanged, with_changes
from grade_sandbox.tests.views import view
from grade_sandbox.values.messages import RAISED, RETURNED, Call
from grade_sandbox.values.messages import texts as messages
from grade_sandbox.values.wire import MalformedError, UnconfirmedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from grade_sandbox.jobs import Reordered
    from grade_sandbox.tests.answers import Reader
    from grade_sandbox.tests.replay import Tests
    from grade_sandbox.tests.tried import Tried

    Accepts = Callable[[Tried], bool]
    """Whether the tests pass with these messages."""
    Sides = tuple[Tried | None, Tried]
    """The messages of the reference, if there is one, and of the sample."""


SECONDS = 2.0
"""CPU time of one replay with a control, beyond that of the first replay; one that needs more is rejected."""
_NOT_COMPARABLE = (
    MalformedError, UnconfirmedError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError,
    RecursionError,
)  # fmt: skip
TOO_WEAK = (
    "the tests also pass if every answer is None, for example, or [], an exception or the argument, "
    "so passing them does not show that the answers are right"
)


def examined(tests: Tests, texts: list[str], again: Sequence[str], *, passed: bool) -> dict[str, Any]:
    """Return {"calls": counts, "doubt": why a pass is not believed, ...}. Call it in a fork."""
    try:
        beside = partial(_beside_reference, tests, texts, again, passed=passed)
        return beside() if tests.expected else {"weak": True, "doubt": _Alone(tests, texts).doubt()}
    except _NOT_COMPARABLE as error:
        why = f"{type(error).__name__}: {str(error)[:200]}"
        return {"doubt": f"its answers could not be compared with the expected ones ({why})"}


def _beside_reference(tests: Tests, texts: list[str], again: Sequence[str], *, passed: bool) -> dict[str, Any]:
    compared = Likeness(tests.reader, tests.reads, tests.expected, texts, tests.opaque)
    compared.compare()
    counts: dict[str, Any] = {"n": len(tests.calls), "same": compared.same, "alike": compared.alike}
    found: dict[str, Any] = {"calls": counts}
    if first := (passed and compared.doubted) or compared.first:
        counts["first"] = first
    if not passed:
        return found
    if compared.problem:
        return found | {"doubt": compared.problem}
    if tests.again is not None and again and not _is_steady(tests, tests.again, texts, again):
        return found | {"doubt": "it gives other answers if the same calls come in another order"}
    if compared.as_left is not None and not _accepts(tests, compared.as_left):
        return found | {"doubt": "the tests fail if its arguments are left as the reference solution leaves them"}
    if (
        compared.doubts
        and _say_nothing(tests, texts)
        and _accepts_any(tests, expectations.vacuous(texts, tests.reader.given))
    ):
        return found | {"doubt": TOO_WEAK}
    sides = as_they_are(tests.expected[0]), as_they_are(texts)
    doubt = try_controls(partial(_accepts, tests), sides, compared.doubts)
    return found | {"doubt": doubt} if doubt else found


def _say_nothing(tests: Tests, texts: list[str]) -> bool:
    """Whether each answer is empty, or the call's own argument."""
    answers = zip(tests.reader.said(texts).answers, tests.reader.given, strict=True)
    return all(answer.how != RETURNED or expectations.says_nothing(answer.value, given) for answer, given in answers)


def _is_steady(tests: Tests, other: Reordered, texts: Sequence[str], again: Sequence[str]) -> bool:
    """Whether the answers stay the same in another order of calls, where those of the reference do."""
    reader = tests.reader.of(list(map(Call.read, other["calls"])))
    expected, returned = _contents(tests.reader, tests.expected[0]), _contents(tests.reader, texts)
    expected_again, returned_again = _contents(reader, messages(other["expected"])), _contents(reader, again)
    for position, number in enumerate(other["order"]):
        places = (expected, number), (expected_again, position), (returned, number), (returned_again, position)
        one, two, three, four = (found[at] if at < len(found) else "" for found, at in places)
        if one == two and three != four:
            return False
    return True


def _contents(reader: Reader, texts: Sequence[Any]) -> list[str]:
    """Return the contents of each answer."""
    return [exact(answer.value) if answer.is_given else "" for answer in reader.said(texts).answers]


def _accepts(tests: Tests, tried: Tried) -> bool:
    return branch(partial(tests.passes, tried), tests.seconds + SECONDS) is True


def _accepts_any(tests: Tests, all_: list[Tried]) -> bool:
    return any(_accepts(tests, tried) for tried in all_)


class _Alone:
    """A pass without a reference solution. What the tests compare answers with by `==` takes its place."""

    def __init__(self, tests: Tests, texts: list[str]) -> None:
        self._tests, self._texts, self._given = tests, texts, tests.reader.given
        self._expected = Expectations(branch(tests.compared, tests.seconds + SECONDS) or [], tests.reader, tests.reads)
        self._answers = tests.reader.said(texts).answers
        self._is_compared = False
        self._doubts: list[Doubt] = []
        """Answers that differ from what they are compared with."""
        self._loose: list[Doubt] = []
        """Answers that are compared with nothing."""
        self._rewritten: dict[int, Replayed] = {}
        """Messages without the changes of arguments."""
        self._equal: set[bool] = set()
        """What comparisons of objects with different arguments return."""
        self._said: set[bool] = set()
        """Whether answers say something, one or another."""

    def doubt(self) -> str:
        """Return why the pass is not believed; empty if it is."""
        for number, answer in enumerate(self._answers):
            if problem := self._problem(number, answer):
                return f"{shown.call(self._tests.reader, number)} gave {shown.value(answer.value)}, and {problem}"
        if self._equal == {True}:
            return "objects that were constructed with different arguments are all equal"
        raises = any(answer.how == RAISED for answer in self._answers)
        if (raises or self._said == {False}) and _accepts_any(
            self._tests, expectations.vacuous(self._texts, self._given)
        ):
            return TOO_WEAK
        own = as_they_are(self._texts)
        nothing = [Change(n, RETURNED, (), None) for n, answer in enumerate(self._answers) if answer.how == RETURNED]
        if self._rewritten and _accepts(self._tests, with_changes(own, nothing)):
            return ""  # the tests look only at the arguments that it changed
        if self._rewritten and not _accepts(self._tests, exchanged(own, self._rewritten)):
            return "the tests fail if its arguments are left as they were before the call"
        # Where the tests compare some answers with values, others may be looked at in passing.
        doubts = self._doubts if self._is_compared else self._loose
        return try_controls(partial(_accepts, self._tests), (None, own), doubts)

    def _problem(self, number: int, answer: Answer) -> str:
        """Examine one answer; return why it cannot be right."""
        if answer.how == ENDED:
            return ""
        if answer.changed:
            self._rewritten[number] = Replayed(self._texts[number + 1], has_copies=True)
        if answer.how != RETURNED or number in self._tests.opaque:
            self._said.add(answer.how != RETURNED)
            return ""
        is_compared, places, problem = self._expected.places(number, answer.value)
        self._doubts += map(as_doubt, places)
        self._is_compared |= is_compared
        if not is_compared:
            problem = expectations.ordinary(answer.value, self._tests.text)
            self._loose += map(as_doubt, expectations.loose(number, answer.value, self._tests.reads))
        if is_comparison_of_two(self._tests.calls, number):
            self._equal.add(answer.value is True)
        if view(answer.value).name != "remote":
            is_expected = is_compared and not places
            says_nothing = expectations.says_nothing(answer.value, self._given[number])
            self._said.add(is_expected or not says_nothing)
        return problem


# --- replays with controls ---


def try_controls(accepts: Accepts, sides: Sides, doubts: Sequence[Doubt]) -> str:
    """Return why the tests say nothing about the places of doubts; empty if they do.

    All places are replaced at once. `sides`: the messages of the reference, if there is one, and of the sample.
    """
    for side, tried in enumerate(sides):
        if tried is None:
            continue
        for number in range(max((len(doubt.controls[side]) for doubt in doubts), default=0)):
            changes = [doubt.change(side, number) for doubt in doubts if doubt.controls[side]]
            if changes and accepts(with_changes(tried, changes)):
                return f"the tests also pass with {_named(changes)}, so they do not decide this value"
    return ""


def _named(changes: Sequence[Change]) -> str:
    """Return the first controls and where they were put, for people."""
    calls = {change.call for change in changes}
    is_one = len(calls) == 1
    place = f"in the answer to call {min(calls) + 1}" if is_one else "in its place"
    return f"{' and '.join(controls.named(one.value) for one in changes[: 2 if is_one else 1])} {place}"


# --- forks ---

MAX_RESULT = 32 << 20


def branch(work: Callable[[], Any], seconds: float) -> Any:
    """Return what `work` returns (JSON), or None if it ends otherwise or needs more than `seconds` of CPU time.

    It works in an empty folder. A process that it leaves behind may live on: the supervisor ends it.
    """
    # A pipe would stay open as long as such a process.
    with open("result", "w+b", buffering=0) as file:
        os.unlink("result")
        pid = process.fork()
        if pid == 0:
            _be(work, seconds, file.fileno())
        os.waitpid(pid, 0)
        # If the branch's folder is not empty, the supervisor removes it, together with the process that judges.
        with contextlib.suppress(OSError):
            os.rmdir(f"{pid}")
        file.seek(0)
        data = file.read(MAX_RESULT)
    return json.loads(data) if data else None


def _be(work: Callable[[], Any], seconds: float, result: int) -> None:
    """Become the fork: it ends here."""
    try:
        process.prctl(process.PR_SET_PDEATHSIG, signal.SIGKILL)
        os.mkdir(f"{os.getpid()}")
        os.chdir(f"{os.getpid()}")
        signal.setitimer(signal.ITIMER_PROF, seconds)
        # A test that sleeps uses no CPU time; it is stopped as well, only later.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 10 * seconds + 5)
        data = json.dumps(work()).encode()
        while data:
            data = data[os.write(result, data) :]
    finally:
        os._exit(0)
