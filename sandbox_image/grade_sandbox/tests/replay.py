"""Replay a task's tests against recorded answers: every call must equal the recorded one, and gets its answer."""

from __future__ import annotations

import json
from typing import NamedTuple

from grade_sandbox.confine import process
from grade_sandbox.tests import continue_after_failure, expectations, recording
from grade_sandbox.tests.test_run import TestRun
from grade_sandbox.values import constructed, plain_forms, remote_objects, sending, standing_in, wire
from grade_sandbox.values.call_context import as_told
from grade_sandbox.values.standing_in import FORGOTTEN
from grade_sandbox.values.wire import UnconfirmedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from grade_sandbox.jobs import Judged, Reordered


_AS_IN_JSON = {bool, int, float, str, type(None)}
"""The types of values that are their own atoms, except for some that JSON would change."""


class Divergence(UnconfirmedError):  # noqa: N818 - a reason why, not an error
    """Raised if the tests make other calls than the recorded ones."""

    kind = "diverged"


class WaitingError(UnconfirmedError):
    """Raised if the tests make the call in which the candidate's process ended."""

    kind = "waiting"


class Replay(TestRun):
    """Answers the tests' calls from a list of replies, as long as they equal the recorded calls."""

    refusal = Divergence

    def __init__(
        self,
        spec: Judged,
        signature: CodeType,
        tests: CodeType,
        calls: list[dict[str, Any]],
        replies: list[str],
        recent: int | None = None,
    ) -> None:
        """`calls`: the recorded ones; `replies`: as many texts, or fewer if the candidate's process ended."""
        super().__init__(spec, signature, tests, recent)
        self._open = spec["names"]
        self._calls, self._texts = calls, replies
        self.before: Callable[[dict[str, Any]], object] = lambda namespace: None
        """Called with the names of the tests before they run."""
        self._next = 0
        self._answers: list[Any] = []

    def wanted(self, namespace: dict[str, Any]) -> list[str]:
        """Return the names that were open when the calls were recorded."""
        self.before(namespace)
        return list(self._open)

    def answer(self, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        """Return the recorded answer."""
        told = self.context.now()
        while self._next < len(self._calls):
            call = self._calls[self._next]
            match = _Match(self, call)
            if match.is_call(proxy, args, kwargs, told):
                self._begin(call, match.values())
                self.used += 1
                return self._reply()
            if call["f"].get("x", ["name"])[0] == "name" or self._is_of_object(call):
                break
            # The recorded call is that of an answer, but this answer is nothing that the tests call.
            self._begin(call, [FORGOTTEN] * len(call["n"]))
            self._pass_over()
        raise Divergence("with its answers, the tests make other calls than those that were recorded")

    def _begin(self, call: dict[str, Any], values: list[Any]) -> None:
        tables = self.replies
        if "d" in call:
            tables.forget(call["d"])
            self._answers = [FORGOTTEN] * len(self._answers)
        tables.ours.add(values, call["n"])

    def _reply(self) -> tuple[str, Any]:
        number, self._next = self._next, self._next + 1
        if number >= len(self._texts):
            raise WaitingError("the candidate's process ended during a call")
        reply = wire.loads(self._texts[number])
        how, result = self.replies.take(reply)
        self._answers.append(result if how == "v" else FORGOTTEN)
        self.context.after(reply)
        return how, result

    def _pass_over(self) -> None:
        """Take the answer to a call that the tests do not make; nothing depends on whether it could be sent."""
        if self._next < len(self._texts) and "u" in wire.loads(self._texts[self._next]):
            self._next += 1
            self._answers.append(FORGOTTEN)
        else:
            self._reply()

    def _is_of_object(self, call: dict[str, Any]) -> bool:
        """Whether a recorded call is an operation on an object, or on a class: then the tests must make it."""
        target = call["f"]["x"] if call["f"]["x"][0] != "op" else next(iter(_expressions(call["v"])), ["op"])
        try:
            value = self.value_of(target) if target[0] != "op" else None
        except (LookupError, AttributeError, TypeError, ValueError):
            return False
        return remote_objects.is_object(value) or remote_objects.is_class(value)

    def named(self, atom: dict[str, Any]) -> Any:
        """Return the function that a call names: by an expression, or as an object that the candidate has sent."""
        return self.replies.theirs.objects[atom["a"]] if "a" in atom else self.value_of(atom["x"])

    def value_of(self, expression: list[Any]) -> Any:
        """Return the value of an expression over earlier answers in this process."""
        kind, *rest = expression
        if kind == "ans":
            return self._answers[rest[0]]
        if kind == "name":
            return self.names.get(rest[0], FORGOTTEN)
        if kind == "op":
            return remote_objects.OPERATORS[rest[0]]
        return standing_in.part(kind, self.value_of(rest[0]), rest[1])


def _expressions(atoms: list[Any]) -> list[Any]:
    """Return the expressions among atoms."""
    return [atom["x"] for atom in atoms if isinstance(atom, dict) and "x" in atom]


class _Held(NamedTuple):
    """A child of a node during a comparison."""

    value: Any


class _Holding(sending.Encoder):
    """Creates nodes whose children are the objects themselves."""

    def atom(self, value: Any) -> _Held:
        return _Held(value)


class _Match:
    """Checks whether a call equals the recorded one: same function, same arguments, same aliasing."""

    def __init__(self, replay: Replay, call: dict[str, Any]) -> None:
        self._replay, self._call = replay, call
        self._ours = replay.replies.ours
        self._labels = replay.replies.labels
        self._holding = _Holding(self._labels)
        self._bound: dict[int, Any] = {}

    def values(self) -> list[Any]:
        """Return the objects that correspond to the recorded call's new objects."""
        return [self._bound.get(number, FORGOTTEN) for number in range(len(self._call["n"]))]

    def is_call(self, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any], told: dict[str, Any]) -> bool:
        """Compare the call, arguments first."""
        call = self._call
        if len(args) != len(call["v"]) or [key for key, _ in call["k"]] != list(kwargs):
            return False
        if any(call.get(name) != told.get(name) for name in ("p", "i")):
            return False
        if not as_told(call.get("s", {}), told.get("s", {})):
            return False
        try:
            if self._replay.named(call["f"]) is not proxy:
                return False
            pairs: list[tuple[Any, Any]] = [*zip(call["v"], map(_Held, args), strict=True)]
            pairs += [(atom, _Held(kwargs[key])) for key, atom in call["k"]]
            return self._same(pairs + self._changes())
        except (LookupError, AttributeError, TypeError, ValueError, wire.UncrossableError):
            return False

    def _changes(self) -> list[tuple[Any, Any]]:
        """Return pairs to compare: the recorded changes, and the current contents of these objects of the tests."""
        changed = set(self._ours.changed())
        recorded = {number: node for _, number, node in self._call["m"]}
        if changed - recorded.keys() - set(self._call.get("d", ())):
            raise ValueError("a change that is not recorded")
        return [(node, self._holding.node(self._ours.objects[number])) for number, node in recorded.items()]

    def _same(self, pairs: list[tuple[Any, Any]]) -> bool:
        while pairs:
            recorded, actual = pairs.pop()
            if type(actual) is _Held:
                if not self._same_atom(recorded, actual.value, pairs):
                    return False
            elif type(actual) is list:
                if type(recorded) is not list or len(recorded) != len(actual):
                    return False
                pairs += zip(recorded, actual, strict=True)
            elif type(recorded) is not type(actual) or recorded != actual:
                return False
        return True

    def _same_atom(self, recorded: Any, value: Any, pairs: list[tuple[Any, Any]]) -> bool:
        tag: Any
        content: Any
        tag, content = next(iter(recorded.items())) if isinstance(recorded, dict) else ("", None)
        if tag == "x":
            expected = self._replay.value_of(content)
            return expected is value or self._plain(expected) == self._plain(value) != ""
        if tag in {"t", "a"}:
            objects = self._ours.objects if tag == "t" else self._replay.replies.theirs.objects
            return objects[content] is value
        if tag == "r":
            if content in self._bound:
                return self._bound[content] is value
            self._bound[content] = value
            pairs.append((self._call["n"][content], self._holding.node(value)))
            return True
        if type(recorded) is type(value) and type(value) in _AS_IN_JSON:
            return repr(recorded) == repr(value)
        return repr(sending.Encoder(self._labels).atom(value)) == repr(recorded)

    def _plain(self, value: Any) -> str:
        """Return a text for a value without identity; an empty one for any other value."""
        encoder = sending.Encoder(self._labels)
        try:
            atom = encoder.encode(value)
        except wire.UncrossableError:
            return ""
        return "" if any(node[0] in constructed.MUTABLE for node in encoder.nodes) else repr([atom, encoder.nodes])


class Tests:
    """A task's compiled tests."""

    def __init__(self, spec: Judged) -> None:
        self.spec = spec
        self._signature = compile(spec["signature"], plain_forms.SIGNATURE, "exec", dont_inherit=True)
        self._tests = continue_after_failure.compile_strict(spec["test"])
        self.calls = [json.loads(call) for call in spec["calls"]]
        self.text, self.reads = spec["signature"] + spec["test"], spec.get("reads", ())
        self.expected: Any = spec.get("expected", ())
        """The messages of each run of the reference solution."""
        self.opaque = expectations.passed_on(self.calls) if spec.get("opaque") else set()
        """The calls whose answers may be any value, because they only go back into other calls."""
        self.again: Reordered | None = spec.get("again")
        """The calls in another `order`, and the messages that are `expected`."""

    def _replay(self, code: CodeType, answers: list[str], recent: int | None) -> Replay:
        return Replay(self.spec, self._signature, code, self.calls, answers, recent)

    def verdict(self, hello: str, answers: list[str]) -> tuple[str, str]:
        """Return ("", "") if every test passes, else (reason, kind). Call it in a fork."""
        process.swallow_output()
        self.replay = self._replay(self._tests, answers, recording.RECENT)
        why = self.replay.verdict(hello)
        if not why[0] and self.replay.replies.ours.has_missed():
            self.replay = self._replay(self._tests, answers, None)
            why = self.replay.verdict(hello)
        return why

    def right(self, hello: str, answers: list[str]) -> list[bool]:
        """Return for each assertion whether it holds; nothing if that is unknown. Call it in a fork.

        The tests continue after a failure. If an exception ends them, the assertions that they have not reached fail.
        """
        process.swallow_output()
        tests = continue_after_failure.Patient(self.spec["test"], counts=True)
        found: list[bool | None] = [None] * tests.count

        def begun(number: int, is_right: bool) -> None:
            found[number] = is_right and found[number] is not False

        replay = self._replay(tests.code, answers, None)
        replay.before = lambda namespace: tests.bind(namespace, begun=begun)
        reason, kind = replay.verdict(hello)
        return [] if kind == "diverged" else [not reason if one is None else one for one in found]

    def passes(self, messages: list[str]) -> bool:
        """Return whether the tests pass with these messages. Call it in a fork."""
        reason, _ = self.verdict(messages[0], messages[1:])
        return not reason

    def compared(self) -> list[Any]:
        """Return what the tests compare answers with. Call it in a fork."""
        recorders: list[expectations.Expecting] = []

        def recorder(*given: Any) -> expectations.Expecting:
            recorders.append(expectations.Expecting(*given))
            return recorders[-1]

        recording.Recording(self.spec, recorder).recorded(truthy=True)
        return expectations.about(self.calls, recorders[-1]) if recorders else []
