"""Replay a task's tests against recorded answers: every call must equal the recorded one, and gets its answer."""

from __future__ import annotations

import functools
from typing import NamedTuple

from grade_sandbox.confine import process
from grade_sandbox.tests import continue_after_failure, expectations, recording, views
from grade_sandbox.tests.answers import Reader
from grade_sandbox.tests.test_run import TestRun
from grade_sandbox.values import plain_forms, receiving, remote_objects, sending, standing_in, wire
from grade_sandbox.values.call_context import as_told
from grade_sandbox.values.messages import (
    EARLIER,
    RAISED,
    RETURNED,
    Call,
    Reply,
    expressions,
    names_objects,
    node_of,
    texts,
)
from grade_sandbox.values.passed import Passed
from grade_sandbox.values.standing_in import Proxy
from grade_sandbox.values.wire import UnconfirmedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import CodeType
    from typing import Any

    from grade_sandbox.jobs import JudgedTask, Reordered
    from grade_sandbox.tests.tried import Tried


_NOTHING = object()
"""Stands for the answer to a call that has none."""


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
        spec: JudgedTask,
        signature: CodeType,
        tests: CodeType,
        calls: list[Call],
        replies: Tried,
    ) -> None:
        """`calls`: the recorded ones; `replies`: as many, or fewer if the candidate's process ended."""
        super().__init__(spec, signature, tests)
        self._open = spec["names"]
        self._calls, self._replies_of = calls, replies
        self.before: Callable[[dict[str, Any]], object] = lambda namespace: None
        """Called with the names of the tests before they run."""
        self._answers: list[Any] = []
        self._arguments: list[dict[Any, Any]] = []

    def wanted(self, namespace: dict[str, Any]) -> list[str]:
        """Return the names that were open when the calls were recorded."""
        self.before(namespace)
        return list(self._open)

    def answer(self, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        """Return the recorded answer."""
        told = self.context.now()
        while len(self._answers) < len(self._calls):
            call = self._calls[len(self._answers)]
            if self._is_call(call, proxy, args, kwargs, told):
                self.used += 1
                return self._reply(call, args, kwargs)
            if call.target[0] == "name" or self._is_of_object(call):
                break
            # The recorded call is that of an answer, but this answer is nothing that the tests call.
            self._end({}, _NOTHING)
        raise Divergence("with its answers, the tests make other calls than those that were recorded")

    def _is_call(
        self, call: Call, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any], told: dict[str, Any]
    ) -> bool:
        """Whether a call is the recorded one: same function, same contents of arguments, same context."""
        if len(args) != len(call.arguments) or [key for key, _ in call.named] != list(kwargs):
            return False
        if any(call.state.get(name) != told.get(name) for name in ("captures", "input")):
            return False
        if not as_told(call.state.get("seeds", {}), told.get("seeds", {})):
            return False
        try:
            if self.value_of(call.target) is not proxy:
                return False
            wanted = call.parts
            earlier = [self.value_of(expression) for expression in expressions(wanted)]
            if earlier:
                decoder = receiving.CallDecoder(call.nodes, self.replies.classes, self.value_of)
                wanted = self._contents(*decoder.arguments(call), earlier)
            return wire.encode(wanted) == wire.encode(self._contents(args, kwargs, earlier))
        except (LookupError, AttributeError, TypeError, ValueError, wire.UncrossableError, wire.MalformedError):
            return False

    def _contents(self, args: Sequence[Any], kwargs: Mapping[str, Any], earlier: list[Any]) -> list[Any]:
        return _Comparing(self.replies.labels, earlier).call([], args, kwargs).parts

    def _reply(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        number = len(self._answers)
        if number >= len(self._replies_of):
            raise WaitingError("the candidate's process ended during a call")
        given = self._replies_of[number]
        message = Reply.read(given.text)
        has_objects = given.has_copies or given.changes or names_objects(given.text)
        passed = self._objects(call, args, kwargs) if has_objects else None
        if passed is not None and given.has_copies:
            # The answer has copies of the arguments; these are changed by another message, if there is one.
            how, result = self.replies.take(message, self._objects(call, *views.copied((args, kwargs))))
            if given.left:
                self.replies.take(Reply.read(given.left), passed)
            result = result if given.returned is None else passed[given.returned]
        else:
            how, result = self.replies.take(message, passed)
        printed = message.printed
        for change in given.changes:
            if change.root == "printed":
                printed = change.value
            else:
                how = how if change.steps else RAISED if isinstance(change.value, Exception) else RETURNED
                result = views.put(result, change.steps, views.copied(change.value))
        self._end({**dict(enumerate(args)), **kwargs}, result if how == RETURNED else _NOTHING)
        self.context.after(printed, message.consumed)
        return how, result

    def _objects(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Passed:
        """Return the objects that a call passes, which equals the recorded one."""
        found: list[Any] = [None] * len(call.nodes)
        seen: set[int] = set()
        holding = _Holding(self.replies.labels)
        pairs: list[tuple[Any, Any]] = [*zip(call.arguments, map(_Held, args), strict=True)]
        pairs += [(atom, _Held(kwargs[key])) for key, atom in call.named]
        while pairs:
            recorded, actual = pairs.pop()
            if type(actual) is list:
                pairs += zip(recorded, actual, strict=False)
            elif type(actual) is _Held and (number := node_of(recorded)) is not None and number not in seen:
                seen.add(number)
                found[number] = actual.value
                pairs.append((call.nodes[number], holding.node(actual.value)))
        return Passed(call, found, self.replies.labels, self.value_of)

    def _end(self, arguments: dict[Any, Any], answer: Any) -> None:
        self._arguments.append(arguments)
        self._answers.append(answer)

    def _is_of_object(self, call: Call) -> bool:
        """Whether a recorded call is an operation on an object, or on a class: then the tests must make it."""
        target = call.target if call.target[0] != "op" else next(expressions(call.arguments), ["op"])
        try:
            value = self.value_of(target) if target[0] != "op" else None
        except (LookupError, AttributeError, TypeError, ValueError):
            return False
        return remote_objects.is_object(value) or remote_objects.is_class(value)

    def value_of(self, expression: list[Any]) -> Any:
        """Return the value of an expression over earlier answers in this process."""
        kind, *rest = expression
        if kind == "ans":
            return self._answers[rest[0]]
        if kind == "arg":
            return self._arguments[rest[0]][rest[1]]
        if kind == "name":
            return self.names.get(rest[0], _NOTHING)
        if kind == "op":
            return remote_objects.OPERATORS[rest[0]]
        return standing_in.part(kind, self.value_of(rest[0]), rest[1])


class _Held(NamedTuple):
    """A child of a node during a comparison."""

    value: Any


class _Holding(sending.Encoder):
    """Creates nodes whose children are the objects themselves."""

    def atom(self, value: Any) -> _Held:
        return _Held(value)


class _Comparing(sending.Encoder):
    """Writes down the contents of arguments. Functions and objects of the candidate are compared by identity."""

    def __init__(self, classes: Mapping[type[Any], str], earlier: list[Any]) -> None:
        """`earlier`: answers that the call names; the items of an iterator among them must not be used up."""
        super().__init__(classes)
        self._earlier = {id(value): value for value in earlier}

    def atom(self, value: Any) -> Any:
        is_theirs = type(value) is Proxy or remote_objects.is_class(value) or remote_objects.is_object(value)
        if is_theirs or (id(value) in self._earlier and hasattr(type(value), "__next__")):
            return {EARLIER: id(value)}
        return super().atom(value)


class Tests:
    """A task's compiled tests."""

    def __init__(self, spec: JudgedTask) -> None:
        self.spec = spec
        self._signature = compile(spec["signature"], plain_forms.SIGNATURE, "exec", dont_inherit=True)
        self._tests = continue_after_failure.compile_strict(spec["test"])
        self.calls = list(map(Call.read, spec["calls"]))
        self.text, self.reads = spec["signature"] + spec["test"], spec.get("reads", ())
        self.expected = list(map(texts, spec.get("expected", ())))
        """The messages of each run of the reference solution."""
        self.opaque = expectations.passed_on(self.calls) if spec.get("opaque") else set()
        """The calls whose answers may be any value, because they only go back into other calls."""
        self.again: Reordered | None = spec.get("again")
        """The calls in another `order`, and the messages that are `expected`."""
        self.seconds = 0.0
        """CPU time of the first replay (judging.py)."""

    def _replay(self, code: CodeType, answers: Tried) -> Replay:
        return Replay(self.spec, self._signature, code, self.calls, answers)

    def verdict(self, tried: Tried) -> tuple[str, str]:
        """Return ("", "") if every test passes, else (reason, kind). Call it in a fork."""
        process.swallow_output()
        return self._replay(self._tests, tried[1:]).verdict(tried[0])

    def right(self, tried: Tried) -> list[bool]:
        """Return for each assertion whether it holds; nothing if that is unknown. Call it in a fork.

        The tests continue after a failure. If an exception ends them, the assertions that they have not reached fail.
        """
        process.swallow_output()
        tests = continue_after_failure.Patient(self.spec["test"], counts=True)
        found: list[bool | None] = [None] * tests.count

        def begun(number: int, is_right: bool) -> None:
            found[number] = is_right and found[number] is not False

        replay = self._replay(tests.code, tried[1:])
        replay.before = lambda namespace: tests.bind(namespace, begun=begun)
        reason, kind = replay.verdict(tried[0])
        return [] if kind == "diverged" else [not reason if one is None else one for one in found]

    def passes(self, tried: Tried) -> bool:
        """Return whether the tests pass with these messages. Call it in a fork."""
        reason, _ = self.verdict(tried)
        return not reason

    @functools.cached_property
    def reader(self) -> Reader:
        """What decodes messages."""
        return Reader(self.spec, self._signature, self.calls)

    def compared(self) -> list[Any]:
        """Return what the tests compare answers with. Call it in a fork."""
        recorders: list[expectations.Expecting] = []

        def recorder(*given: Any) -> expectations.Expecting:
            recorders.append(expectations.Expecting(*given))
            return recorders[-1]

        recording.Recording(self.spec, recorder).recorded(truthy=True)
        return expectations.about(self.calls, recorders[-1]) if recorders else []
