"""Record the calls of a task's tests: the tests run against placeholders, without any candidate.

They run twice, with truthy and with falsy answers. If both runs make the same calls, every candidate gets these calls.
Otherwise the grader may know which are right (from a reference solution); if not, no calls are recorded.
"""

from __future__ import annotations

import builtins
import collections
import itertools
import re
import types
from typing import NamedTuple

from grade_sandbox.confine import process
from grade_sandbox.tests import continue_after_failure, placeholder, test_run
from grade_sandbox.tests.placeholder import Placeholder, UnrecordableError
from grade_sandbox.values import plain_forms, remote_objects, sending, wire
from grade_sandbox.values.call_context import CallContext
from grade_sandbox.values.constructed import MUTABLE
from grade_sandbox.values.messages import EARLIER, Call, call_of, node_of
from grade_sandbox.values.standing_in import Proxy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, NoReturn

    from grade_sandbox.jobs import Task

    Expression = list[Any]
    Question = tuple[bool, str, Expression, Expression]
    """Whether a method compares and not an operator, its name, and both objects."""

MAX_CALLS = 20_000
MAX_BYTES = 8 << 20
MAX_PLACEHOLDERS = 200_000
MAX_OBJECTS = 12
_CHANGING = {name for kind in (list, dict, set, collections.deque) for name in dir(kind)} - {
    name for kind in (tuple, frozenset, types.MappingProxyType) for name in dir(kind)
}
"""The methods of containers that change them."""
_EXECUTING = {"eval", "exec", "compile"}
_UNPICKLES = re.compile(r"\b(pickle|shelve|dill|joblib|marshal)\b")
"""What can execute code from an answer. The calls of tests that use it are not recorded."""


class Recording:
    """A task's tests, compiled once, to be recorded in two forks."""

    def __init__(self, spec: Task, recorder: Callable[..., Recorder] | None = None) -> None:
        """`recorder` creates what records the calls."""
        self._spec, self._recorder = spec, recorder or Recorder
        self._broken: BaseException | None = None
        self._text = spec["signature"] + spec["test"]
        try:
            # The future import of this file must not affect the signature: it would turn annotations into texts.
            self._signature = compile(spec["signature"], plain_forms.SIGNATURE, "exec", dont_inherit=True)
            self._tests = continue_after_failure.Patient(spec["test"], identity=True)
            self._read = test_run.global_names(self._tests.code)
            self._reads = test_run.read_attributes(self._tests.code)
        except Exception as error:
            self._broken = error

    def recorded(self, *, truthy: bool) -> dict[str, Any]:
        """Return {"calls": [texts], "names": [...], "reads": [...]}, or {"refused": why}. Call it in a fork.

        If an exception of the tests themselves is the reason, "begun" has the calls before it.
        """
        process.swallow_output()
        test_run.make_repeatable()
        recorder: Recorder | None
        open_: dict[str, list[str]]
        recorder, open_ = None, {"names": [], "reads": []}
        try:
            if self._broken is not None:
                raise self._broken
            if (self._read | test_run.global_names(self._signature)) & _EXECUTING or _UNPICKLES.search(self._text):
                return {"refused": "the tests execute texts, which may be those of an answer", **open_}
            namespace: dict[str, Any] = {"__file__": process.FILE}
            exec(self._signature, namespace)
            classes, stubs = test_run.classes_and_stubs(self._spec, namespace)
            tested = [stub for stub in stubs.values() if isinstance(stub, type)]
            recorder = self._recorder(classes, truthy, tested)
            namespace |= test_run.stand_ins(stubs, recorder.operate, recorder)
            self._tests.bind(namespace, identical=recorder.identical)
            names = test_run.open_names(self._read, namespace)
            open_ = {"names": names, "reads": self._reads}
            known = {name: found for name in names if (found := test_run.library(name)) is not None}
            namespace |= known | {name: recorder.named(name) for name in names if name not in known}
            recorder.is_kind = namespace.get("isinstance", builtins.isinstance)
            namespace["isinstance"] = recorder.is_instance
            exec(self._tests.code, namespace)
        except UnrecordableError as error:
            return {"refused": str(error), **open_}
        except BaseException as error:
            if recorder is None or recorder.refused is None:
                why = f"{type(error).__name__} without a candidate: {str(error)[:200]}"
                begun = recorder.begun() if recorder is not None else None
                return {"refused": why, "begun": begun, **open_}
        return recorder.result(open_)


class Recorder:
    """Answers calls with placeholders and records the calls."""

    def __init__(self, classes: dict[str, type[Any]], truthy: bool, tested: Sequence[type[Any]] = ()) -> None:
        """`tested`: the signature's own versions of the classes that the candidate must write (remote_objects.py)."""
        self.truthy = truthy
        self._tested = tested
        self.is_kind: Callable[[Any, Any], bool] = builtins.isinstance
        self._others = Others()
        self._read: dict[int, str] = {}
        """Call -> attribute, for calls that read an attribute of an answer."""
        self.refused: str | None = None
        self._classes = classes
        self._labels = {kind: name for name, kind in classes.items()}
        self._passed: dict[int, _Passed] = {}
        """id() -> an argument of an earlier call that can change."""
        self._context = CallContext(UnrecordableError)
        self._calls: list[str] = []
        self._bytes = self._placeholders = 0
        self._asked = False
        """Whether the tests have used a placeholder: a name that they only mention is not tested."""
        self._changed: set[int | None] = set()
        """The calls whose answers the tests have changed; None: a name of the candidate.

        The candidate still has these answers as they were.
        """

    def result(self, open_: dict[str, list[str]]) -> dict[str, Any]:
        """Return the recording."""
        if self.refused is not None:
            return {"refused": self.refused, **open_}
        if not self._calls and not self._asked:
            return {"refused": "the tests call nothing", **open_}
        for is_method, name, left, right in list(self._others.questions()):
            if is_method:
                method = self._asked_again(["op", "getattr"], (left, name))
                self._asked_again(method._expression or [], (right,))
            else:
                self._asked_again(["op", name], (left, right))
        return {"calls": self.begun(), **open_}

    def begun(self) -> list[str]:
        """Return the calls so far."""
        return list(map(self._settled, self._calls))

    def _settled(self, text: str) -> str:
        """Return a call without the states of generators from which the tests drew after it."""
        call = Call.read(text)
        if (seeds := call.state.get("seeds")) is None:
            return text
        return call._replace(state=call.state | {"seeds": self._context.settled(seeds)}).written()

    def refuse(self, why: str) -> NoReturn:
        """Stop the recording, because the calls cannot be known."""
        self.refused = self.refused or why
        raise UnrecordableError(why)

    # --- called by placeholders ---

    def count(self) -> None:
        """Count one more placeholder: `while node: node = node.next` never ends with truthy ones."""
        self._asked = True
        self._placeholders += 1
        if self._placeholders > MAX_PLACEHOLDERS:
            self.refuse("a loop of the tests depends on the answers")

    def named(self, name: str) -> Placeholder:
        """Return a placeholder for a name of the candidate; this does not count as a use."""
        before = self._asked
        found = Placeholder(self, ["name", name])
        self._asked = before
        return found

    def asked(self) -> bool:
        """Record a use of a placeholder; return its truth value."""
        self._asked = True
        return self.truthy

    def converted(self, value: Placeholder, name: str) -> bool:
        """Record a conversion of a placeholder, as an operation if it may be an object; return its truth value."""
        if self._tested and value._expression is not None:
            if name == "bool":
                self._others.asked_for_truth(value._expression)
            self._call(["op", name], (value,), {})
        return self.asked()

    def derived(self, parent: Placeholder) -> Placeholder:
        """Return a placeholder for a value derived from another."""
        return Placeholder(self, None, parent)

    def compared(self, name: str, answer: Placeholder, other: Any) -> Placeholder:
        """Return a placeholder for a comparison; record it if both may be objects of the candidate's."""
        if self._tested and self._may_be_object(other):
            self._others.compared(name, _expression(answer), _expression(other))
        return self.operated(name, answer, other)

    def operated(self, name: str, *values: Any) -> Placeholder:
        """Return a placeholder for an operation; record it if all values may be objects of the candidate's.

        Another operand could be the expected value.
        """
        if self._tested and all(map(self._may_be_object, values)):
            return self._call(["op", name], values, {})
        return self.derived(next(value for value in values if type(value) is Placeholder))

    def entered(self, name: str, value: Placeholder) -> Placeholder:
        """Return a placeholder for the begin or the end of `with answer`, which is an operation on it."""
        return self.derived(value) if value._expression is None else self._call(["op", name], (value,), {})

    def _asked_again(self, target: list[Any], args: tuple[Any, ...]) -> Placeholder:
        given = tuple(Placeholder(self, one) if isinstance(one, list) else one for one in args)
        return self._call(target, given, {})

    @staticmethod
    def _may_be_object(value: Any) -> bool:
        if type(value) is Placeholder:
            return value._expression is not None
        return remote_objects.is_object(value)

    def nth(self, parent: Placeholder, number: int) -> Placeholder:
        """Return a placeholder for an item of an iteration."""
        return self._part(parent, "nth", number)

    def item(self, parent: Placeholder, key: Any) -> Placeholder:
        """Return a placeholder for an item; if the answer may be an object, reading it is an operation."""
        if self._tested and parent._expression is not None:
            return self._call(["op", "getitem"], (parent, key), {})
        plain = key is None or type(key) in {bool, int, float, str}
        return self._part(parent, "item", key) if plain else self.derived(parent)

    def attribute(self, parent: Placeholder, name: str) -> Placeholder:
        """Return a placeholder for an attribute; if the answer may be an object, reading it is an operation."""
        if self._tested and parent._expression is not None:
            self._read[len(self._calls)] = name
            self._others.owners[len(self._calls)] = parent._expression, name
            return self._call(["op", "getattr"], (parent, name), {})
        return self._part(parent, "attr", name)

    def set_attribute(self, parent: Placeholder, name: str, value: Any) -> None:
        """Record that the tests set an attribute; if the answer may be an object, this is an operation."""
        if self._tested and parent._expression is not None:
            self._call(["op", "setattr"], (parent, name, value), {})
        else:
            self.changed(parent)

    def _part(self, parent: Placeholder, kind: str, key: Any) -> Placeholder:
        known = parent._expression
        return Placeholder(self, None if known is None else [kind, known, key], parent)

    def called(self, target: Placeholder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Placeholder:
        """Record the call of an answer, except of a method whose arguments could be the expected value."""
        expression = target._expression
        if expression is None:
            return self.derived(target)
        method = self._method(expression)
        if method in _CHANGING:
            self.changed(target)
        if method and (args or kwargs or placeholder.is_local(method, self._classes.values())):
            return self.derived(target)
        if self._tested and len(args) == 1 and not kwargs and self._may_be_object(args[0]):
            self._others.called(len(self._calls), expression, _expression(args[0]))
        return self._call(expression, args, kwargs)

    def _method(self, expression: list[Any]) -> str:
        """Return the attribute of an answer that an expression reads; empty for a method of a class to be written."""
        kind, key = expression[0], expression[-1]
        name: str = key if kind == "attr" else self._read.get(key, "") if kind == "ans" else ""
        return "" if any(hasattr(tested, name) for tested in self._tested) else name

    def changed(self, value: Placeholder) -> None:
        """Note that the tests change an answer, or a part of it. Refuse if the candidate may have to change it, too."""
        if self._tested:
            self.refuse("the tests change what the candidate returned")
        if value._expression is not None:
            self._changed.add(call_of(value._expression, "ans"))

    def is_changed(self, value: Placeholder) -> bool:
        """Whether the tests may have changed the answer that a value is a part of."""
        return value._expression is not None and call_of(value._expression, "ans") in self._changed

    def identical(self, left: Any, right: Any) -> bool:
        """Return the answer to `left is right`."""
        if left is right:
            return True
        answers = type(left) is Placeholder or type(right) is Placeholder
        return (
            self.asked() if answers or (remote_objects.is_object(left) and remote_objects.is_object(right)) else False
        )

    def is_instance(self, value: Any, kinds: Any) -> bool:
        """Replace `isinstance`."""
        return self.asked() if type(value) is Placeholder else self.is_kind(value, kinds)

    # --- called by substitutes for classes ---

    def operate(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record an operation; the construction of an object returns a substitute for it."""
        if target is remote_objects.OPERATORS["getattr"] and remote_objects.is_object(args[0]):
            self._others.owners[len(self._calls)] = _expression(args[0]), args[1]
        if not remote_objects.is_class(target):
            return self._call(_target(target), args, kwargs)
        answer = self._call(["name", target.__name__], args, kwargs)
        one = remote_objects.made(target, answer._expression)
        self._others.objects.append(_expression(one))
        return one

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """Record a comparison of two objects; return a placeholder."""
        if not (self._may_be_object(left) and self._may_be_object(right)):
            return Placeholder(self, None)
        self._others.compared(name, _expression(left), _expression(right))
        return self._call(["op", name], (left, right), {})

    # --- calls ---

    def _call(self, target: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Placeholder:
        if self.refused is not None:
            raise UnrecordableError(self.refused)
        try:
            encoder = _Encoder(self._labels, self.passed)
            call = encoder.call(target, args, kwargs)._replace(state=self._context.now())
        except wire.UncrossableError as error:
            self.refuse(f"the tests pass a value that cannot be serialized: {error}")
        except UnrecordableError as error:
            self.refuse(str(error))
        text = call.written()
        self._bytes += len(text)
        if len(self._calls) >= MAX_CALLS or self._bytes > MAX_BYTES:
            self.refuse(f"more than {MAX_CALLS} calls or {MAX_BYTES >> 20} MB of arguments")
        self._note_arguments(call, [*args, *kwargs.values()])
        self._calls.append(text)
        return Placeholder(self, ["ans", len(self._calls) - 1])

    def passed(self, value: Any) -> Expression | None:
        """Return the expression of an argument of an earlier call, if the tests have not changed it since."""
        known = self._passed.get(id(value))
        return known.expression if known is not None and known.text == self._text(value) else None

    def _text(self, value: Any) -> str:
        encoder = _Encoder(self._labels)
        return wire.encode([encoder.encode(value), encoder.nodes])

    def _note_arguments(self, call: Call, given: list[Any]) -> None:
        """Note the arguments of a call that can change."""
        atoms = [*enumerate(call.arguments), *call.named]
        for value, (key, atom) in zip(given, atoms, strict=True):
            if (number := node_of(atom)) is not None and call.nodes[number][0] in MUTABLE:
                self._passed[id(value)] = _Passed(value, ["arg", len(self._calls), key], self._text(value))


class _Passed(NamedTuple):
    """An argument of a call."""

    value: Any
    expression: Expression
    text: str
    """Its contents when it was passed."""


class Others:
    """The comparisons of the tests, and the objects that they could compare as well.

    If the tests compare objects of a class that the candidate must write, each comparison is also asked about all other
    pairs of its objects, after the tests have ended: so a comparison that is always true is found. A declared method
    counts as a comparison if it gets such an object and the tests take its answer as a truth value. The answers have to
    be those of the reference solution.
    """

    def __init__(self) -> None:
        self.objects: list[Expression] = []
        """The objects that the tests have constructed."""
        self.owners: dict[int, tuple[Expression, str]] = {}
        """Call that reads an attribute -> the object, and the attribute's name."""
        self._asked: list[Question] = []
        self._calls: dict[int, Question] = {}
        """Call of a method with one object -> a question, if the tests take the answer as a truth value."""

    def compared(self, name: str, left: Expression, right: Expression) -> None:
        """Note a comparison by an operator."""
        self._asked.append((False, name, left, right))

    def called(self, number: int, target: Expression, argument: Expression) -> None:
        """Note the call of a method with one object."""
        if target[0] == "ans" and target[1] in self.owners:
            owner, name = self.owners[target[1]]
            self._calls[number] = True, name, owner, argument

    def asked_for_truth(self, answer: Expression) -> None:
        """Note that the tests take an answer as a truth value."""
        if answer[0] == "ans" and answer[1] in self._calls:
            self._asked.append(self._calls[answer[1]])

    def questions(self) -> Iterator[Question]:
        """Yield each further question."""
        for is_method in (False, True):
            asked = [question for question in self._asked if question[0] is is_method]
            named = [one for _, _, left, right in asked for one in (left, right)]
            objects = list({repr(one): one for one in [*named, *self.objects]}.values())[:MAX_OBJECTS]
            for name in dict.fromkeys(name for _, name, _, _ in asked):
                for left, right in itertools.permutations(objects, 2):
                    if (is_method, name, left, right) not in asked:
                        yield is_method, name, left, right


def _expression(value: Any) -> list[Any]:
    """Return the expression of a placeholder or a substitute for an object."""
    found: list[Any] = value._expression if type(value) is Placeholder else value.__expression__
    return found


def _target(value: Any) -> list[Any]:
    """Return the expression of a substitute."""
    if remote_objects.is_object(value):
        return list(value.__expression__)
    return ["op" if type(value) is remote_objects.Operator else "name", value.__name__]


class _Encoder(sending.Encoder):
    """Sends placeholders as expressions, and the candidate's functions by name."""

    def __init__(
        self, classes: dict[type[Any], str], passed: Callable[[Any], Expression | None] = lambda value: None
    ) -> None:
        """`passed` returns the expression of an argument of an earlier call, or None."""
        super().__init__(classes)
        self._passed = passed

    def atom(self, value: Any) -> Any:
        if type(value) is Placeholder:
            return {EARLIER: placeholder.expression_of(value)}
        if type(value) is Proxy or remote_objects.is_class(value) or remote_objects.is_object(value):
            return {EARLIER: _target(value)}
        earlier = self._passed(value)
        return super().atom(value) if earlier is None else {EARLIER: earlier}
