"""A program's messages as Python values: each is decoded once, and then compared, shown, and tried with controls."""

from __future__ import annotations

from typing import NamedTuple

from grade_sandbox.tests import test_run, views
from grade_sandbox.values import receiving, standing_in, wire
from grade_sandbox.values.messages import (
    PASSED,
    RAISED,
    RETURNED,
    UNSENT,
    Reply,
    call_of,
    expression_of,
)
from grade_sandbox.values.passed import Passed, key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from grade_sandbox.jobs import Task
    from grade_sandbox.values.messages import Call

ENDED = "ended"


class Answer(NamedTuple):
    """What a program answered to a call."""

    how: str
    """As in messages.py, or ENDED: nothing, because its process ended."""
    value: Any = None
    """The value or the exception; if it cannot be sent, the reason as a text."""
    changed: frozenset[Any] = frozenset()
    """The numbers of the objects of the call that it changed."""
    objects: Any = None
    """Number -> object of the call, as the call left it."""
    arguments: tuple[Any, ...] = ()
    """The arguments of the call, as it left them."""
    printed: str = ""
    returned: Any = None
    """The number of an object of the call, if the answer is that object itself."""

    @property
    def is_given(self) -> bool:
        """Whether there is a value or an exception."""
        return self.how in {RETURNED, RAISED}


class Said(NamedTuple):
    """All that a program said."""

    texts: list[str]
    """The messages."""
    answers: list[Answer]


class Reader:
    """Decodes messages. The classes of the signature are those of this process."""

    def __init__(self, spec: Task, signature: Any, calls: Sequence[Call]) -> None:
        """`signature`: its code."""
        self._spec, self._signature = spec, signature
        namespace: dict[str, Any] = {}
        exec(signature, namespace)
        self.calls = calls
        classes, stubs = test_run.classes_and_stubs(spec, namespace)
        self._replies = test_run.Replies(classes, lambda error: error, _call_nothing)
        self._replies.tested |= test_run.stand_ins(stubs, _call_nothing, _Nothing())
        self.given = [self._given(call) for call in calls]
        """The arguments of each call as they were passed, without expressions (see placeholder.py)."""

    def of(self, calls: Sequence[Call]) -> Reader:
        """Return a reader of the answers to other calls of the same task."""
        return Reader(self._spec, self._signature, calls)

    def decoder(
        self, nodes: Sequence[Any], value_of: Callable[[Any], Any] = lambda expression: None
    ) -> receiving.CallDecoder:
        """Return a decoder of the arguments of a call with these nodes.

        `value_of` returns the value of an expression in them, by default None.
        """
        return receiving.CallDecoder(nodes, self._replies.classes, value_of)

    def _given(self, call: Call) -> list[Any]:
        decoder = self.decoder(call.nodes)
        return [decoder.value(atom) for atom in call.arguments if expression_of(atom) is None]

    def said(self, texts: Sequence[str]) -> Said:
        """Return what a program said."""
        self._replies.objects.clear()
        reading = _Reading(self)
        for call, text in zip(self.calls, texts[1:], strict=False):
            reading.next(call, text)
        ended = [Answer(ENDED)] * (len(self.calls) - len(reading.found))
        return Said([*texts], reading.found + ended)


class _Reading:
    """Reads the answers of one program, one after the other."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._replies = reader._replies
        self.found: list[Answer] = []
        self._answers: list[Any] = []
        self._arguments: list[dict[Any, Any]] = []

    def next(self, call: Call, text: str) -> None:
        """Read an answer."""
        reply = Reply.read(text)
        decoder = self._reader.decoder(call.nodes, self._value_of)
        given, named = decoder.arguments(call)
        self._arguments.append({**dict(enumerate(given)), **named})
        if reply.how == UNSENT:
            self._answers.append(None)
            self.found.append(Answer(UNSENT, str(reply.value)))
            return
        if any(isinstance(number, list) for number, _ in reply.changes):
            self._keep_apart(call)
        passed = Passed(call, decoder.built, self._replies.labels, self._value_of)
        how, value = self._replies.take(reply, passed)
        self._answers.append(value)
        atom = reply.value
        self.found.append(
            Answer(
                how,
                value,
                frozenset(key_of(number) for number, _ in reply.changes),
                passed,
                (*given, *named.values()),
                reply.printed,
                key_of(atom[PASSED]) if isinstance(atom, dict) and PASSED in atom else None,
            )
        )

    def _keep_apart(self, call: Call) -> None:
        """Copy the earlier answers that a call changes: an answer is judged as it was given."""
        for expression in call.expressions:
            number = call_of(expression, "ans", "arg")
            if number is not None:
                one = self.found[number]
                value, arguments = views.copied((one.value, one.arguments))
                self.found[number] = one._replace(value=value, arguments=arguments)

    def _value_of(self, expression: list[Any]) -> Any:
        kind, *rest = expression
        if kind == "ans":
            return self._answers[rest[0]]
        if kind == "arg":
            return self._arguments[rest[0]][rest[1]]
        if kind in {"name", "op"}:
            return None
        try:
            return standing_in.part(kind, self._value_of(rest[0]), rest[1])
        except (LookupError, AttributeError, TypeError, ValueError):
            return None


def _call_nothing(*given: Any) -> Any:
    raise wire.UnconfirmedError("nothing is called here")


class _Nothing:
    """The link of substitutes for classes where nothing is called."""

    operate = compare = refuse = staticmethod(_call_nothing)
