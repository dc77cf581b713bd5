"""What tests get in place of a program: substitutes for its names. Every use of one is a call.

The same substitutes serve a recording (recording.py), where the reference solution answers, and a replay
(replaying.py), where recorded answers do. The tests have names of their own, and no object of the program.
"""

from __future__ import annotations

import builtins
import copy
import decimal
import fractions
import io
import random
import sys
import types
from typing import Any, NamedTuple

from grade_sandbox import operations, values
from grade_sandbox.candidate.answering import RAISED, RETURNED, UNSENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    AnswerCall = Callable[[str], tuple[int, str]]
    """Returns the number of a call, and the reply to it."""

SEED = 20241
_INPUT = builtins.input


class UnconfirmedError(BaseException):
    """Raised if a program's behaviour cannot be confirmed; the text says why."""

    kind = "unconfirmed"
    """The kind of the verdict."""


class InvalidReplyError(UnconfirmedError):
    """Raised if a program's message is invalid, or has a value that cannot be serialized."""

    kind = "malformed"


def make_repeatable() -> None:
    """Let tests run in the same way each time: same random numbers, same order of threads."""
    # A thread runs until it waits, so the calls of several threads have an order. A loop that waits for another thread
    # without sleeping still ends.
    sys.setswitchinterval(1.0)
    generator = random.Random(SEED)
    # `secrets`, `SystemRandom` and NumPy's unseeded generators use this function.
    random._urandom = generator.randbytes  # type: ignore[attr-defined]
    random.seed(SEED)
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed(SEED)


class TestState:
    """The state of the tests' process that belongs to a call: random seeds, standard input, captured output."""

    def __init__(self) -> None:
        self._stdout, self._stdin = sys.stdout, sys.stdin
        self._sent_input: tuple[Any, str | None] = None, None
        """The stream of the input that the program has, and the text that is still unread there; None: it has none."""
        self._seeds: dict[str, Any] = {}
        """The last seed of each generator since the last call."""
        self._record_seeds(random, "seed")
        if numpy_random := sys.modules.get("numpy.random"):
            self._record_seeds(numpy_random, "numpy_seed")

    def _record_seeds(self, module: Any, name: str) -> None:
        """Replace a module's `seed`, so that a call carries the last seed; 0 for none, or one that cannot be sent."""
        seed = module.seed

        def record_and_seed(*args: Any, **kwargs: Any) -> Any:
            value = next(iter((*args, *kwargs.values())), None)
            self._seeds[name] = value if type(value) in {int, str, float} else 0
            return seed(*args, **kwargs)

        module.seed = record_and_seed

    def take_changes(self) -> dict[str, Any]:
        """Return what the tests have changed since the last call, to send it with the next one."""
        changes, self._seeds = dict(self._seeds), {}
        if sys.stdout is not self._stdout:
            changes["captures"] = True
        current_input = self._input()
        if current_input != self._sent_input:
            self._sent_input = current_input
            changes["input"] = current_input[1]
        return changes

    def _input(self) -> tuple[Any, str | None]:
        """Return the stream that the tests have put in place of the standard input, and its unread text."""
        if builtins.input is not _INPUT:
            raise UnconfirmedError("the tests replace input()")
        if sys.stdin is self._stdin:
            return None, None
        if not isinstance(sys.stdin, io.StringIO):
            raise UnconfirmedError(f"the tests set sys.stdin to a {type(sys.stdin).__name__}")
        return sys.stdin, sys.stdin.getvalue()[sys.stdin.tell() :]

    def apply_effects(self, printed: str, consumed: int) -> None:
        """Print what a call printed, and skip the characters of the input that it read."""
        if printed and sys.stdout is not self._stdout:
            sys.stdout.write(printed)
        stream, unread = self._sent_input
        if consumed > 0 and unread is not None:
            stream.seek(min(stream.tell() + consumed, len(stream.getvalue())))
            self._sent_input = stream, unread[consumed:]


class Asker(values.Context):
    """Makes the calls of one run of the tests."""

    def __init__(self, classes: dict[str, type[Any]], answer_call: AnswerCall) -> None:
        """`classes`: those of the signature. `answer_call`: see `AnswerCall`; raises UnconfirmedError."""
        super().__init__(classes)
        self._answer_call, self.state = answer_call, TestState()
        self.error: BaseException | None = None
        """The first reason why nothing can be confirmed: the tests may catch the exception."""
        self.call_count = 0
        self.alter: Callable[[Any], Any] = lambda value: value
        """Changes each answer before the tests get it; only a recording does so."""
        self._plain_context = values.Context(classes)
        """Knows neither substitutes nor earlier answers: by it, an answer has its own kind, and is no reference."""
        self._substitutes: dict[str, Any] = {}
        """Name -> what `substitute` has returned for a function or a class of the program."""
        self._functions: dict[int | str, Any] = {}
        """Name of a function of the program, or number of one that it has returned -> the function's substitute."""
        self.objects: dict[int, Any] = {}
        """Number -> substitute of an object."""
        self._referable: dict[int, tuple[int, Any, str]] = {}
        """id() of an answer to which a later call may refer -> the number of its call, the answer, and the reply."""
        self._answers: dict[int, Any] = {}
        """Number of a call -> its answer."""
        self._mutables: list[Any] = []
        """The objects of the tests that the last call could change."""
        self._resolves_references = False
        """Whether a reference to an answer is read as this answer: only while `accept_as` compares calls."""

    # --- names ---

    def substitute(self, name: str, *, is_class: bool, stub: Any = None) -> Any:
        """Return the substitute for a function or a class of the program. `stub`: what the signature has for it."""
        if name not in self._substitutes:
            if is_class:
                substitute = self.classes[name] = _make_substitute_class(name, self)
            else:
                substitute = self.value_of("function", name)
                if stub is not None:
                    substitute.__doc__, substitute.__wrapped__ = stub.__doc__, stub
            self._substitutes[name] = substitute
        return self._substitutes[name]

    def node_of(self, value: Any) -> tuple[str, Any] | None:
        """Return the node of a substitute, or of an earlier answer; `value_of` is the reverse."""
        cls = type(value)
        if cls is types.FunctionType:
            function = getattr(value, "__function__", None)
            return None if function is None else ("function", function)
        if cls is _SubstituteClass:
            return "class", value.__name__
        if type(cls) is _SubstituteClass:
            return "remote", [value.__number__, cls.__name__, int(value.__overrides_eq__)]
        return self._reference_to(value)

    def atom_node(self, value: Any) -> tuple[str, Any] | None:
        return self._reference_to(value) if self._referable else None

    def _reference_to(self, value: Any) -> tuple[str, Any] | None:
        """Return a reference to an earlier answer; None for any other value.

        If the tests have changed an answer, its contents are sent. To know that, its reply is read again.
        """
        key = id(value)
        if key not in self._referable:
            return None
        entry = self._referable.pop(key)  # While it is there, the value would be written as a reference to itself.
        number, _, reply = entry
        try:
            answer = self.alter(values.read(reply, self)[1])
            is_unchanged = values.write(answer, self) == values.write(value, self)
        finally:
            self._referable[key] = entry
        if not is_unchanged and isinstance(value, values.Tree):
            # Its class is only in the program, which could not make such an object of the contents.
            self.refuse("the tests change what the program returned")
        return ("answer", number) if is_unchanged else None

    def value_of(self, kind: str, content: Any) -> Any:
        """Return what a node of `node_of` stands for; an object or a function has one substitute.

        A reference to an answer is read only while `accept_as` compares calls.
        """
        if kind == "function":
            if content not in self._functions:
                self._functions[content] = _make_substitute_function(self, content)
            return self._functions[content]
        if kind == "answer" and self._resolves_references:
            return self._answers[content]
        if kind != "remote":
            return super().value_of(kind, content)
        number, name, overrides_eq = content
        if type(number) is not int:
            raise values.MalformedError("an object without a number")
        if number not in self.objects:
            cls = self._substitutes[name]
            self.objects[number] = _make_substitute_object(cls, number, overrides_eq=bool(overrides_eq))
        return self.objects[number]

    # --- calls ---

    def accept_as(self, recorded: str, call: str) -> bool:
        """Return whether the current call equals a recorded one, with earlier answers in place of references to them.

        If it does, the reply to the recorded call is read for this one. The reply lists the objects that can change as
        they stand in the recorded call, so `_mutables` gets their order.
        """
        referable, self._referable, self._resolves_references = self._referable, {}, True
        writers = values.Writer(self), values.Writer(self)
        try:
            readers = values.Reader(recorded, self), values.Reader(call, self)
            one, two = (writer.write(reader.read()) for reader, writer in zip(readers, writers, strict=True))
        except (values.MalformedError, values.UnsendableError):
            return False
        finally:
            self._referable, self._resolves_references = referable, False
        if one != two:
            return False
        # Each object of the recorded call -> its counterpart in a copy of this call -> the object of the tests.
        counterparts = dict(zip(map(id, writers[0].mutables), writers[1].mutables, strict=True))
        originals = dict(zip(map(id, readers[1].mutables), self._mutables, strict=True))
        copies = (counterparts.get(id(value), value) for value in readers[0].mutables)
        self._mutables = [originals.get(id(value), value) for value in copies]
        return True

    def encode_call(self, target: tuple[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """Return a call as it is sent."""
        writer = values.Writer(self)
        try:
            text = writer.write((target, args, kwargs, self.state.take_changes()))
            self._mutables = writer.mutables
            return text
        except values.UnsendableError as error:
            self.refuse(f"the tests pass a value that cannot be serialized: {error}")

    def ask(self, target: tuple[str, Any], /, *args: Any, **kwargs: Any) -> Any:
        """Make a call; return its value, or raise its exception.

        After the first UnconfirmedError, every call raises that one: tests that catch it must not go on.
        """
        if self.error is not None:
            raise self.error
        try:
            outcome, value = self.make_call(target, args, kwargs)
        except UnconfirmedError as error:
            self.error = self.error or error
            raise
        if outcome == RETURNED:
            return value
        if isinstance(value, StopIteration) and target != ("op", "next"):
            # A `map` or `zip` in the tests would take it as its normal end, and end early and silently.
            self.refuse("the program raised StopIteration")
        raise value

    def make_call(self, target: tuple[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        """Make a call; return RETURNED and its value, or RAISED and the exception."""
        number, text = self._answer_call(self.encode_call(target, args, kwargs))
        self.call_count += 1
        reply = self._read(text)
        self.state.apply_effects(reply.printed, reply.consumed)
        value = reply.value
        if reply.outcome == RETURNED:
            is_constant = target[0] == "value"
            # Which calls the tests make may depend on a constant of the program, so it is not altered.
            value = self._answers[number] = value if is_constant else self.alter(value)
            # An argument that is returned is an object of the tests: later calls send its contents, and no reference.
            is_argument = any(value is argument for argument in (*args, *kwargs.values()))
            if not is_argument and self._is_referable(value):
                self._referable[id(value)] = number, value, text
        return reply.outcome, value

    def _is_referable(self, value: Any) -> bool:
        """Whether a later call may refer to this answer, which is recognized by its identity (`id`).

        That says nothing of values that Python shares, such as small integers and texts of one character.
        """
        is_substitute = type(value) is types.FunctionType or is_class(value) or is_object(value)
        if is_substitute:
            return False
        kind = values.kind_of(value, self._plain_context)
        return kind in _REFERABLE_KINDS or (kind in {"str", "bytes", "tuple"} and len(value) > 1)

    def _read(self, text: str) -> Reply:
        """Return a reply that has a value, and update the tests' objects by it; raises UnconfirmedError."""
        try:
            reply = read_reply(text, self, self._mutables)
        except values.MalformedError as error:
            raise InvalidReplyError(f"the program sent a malformed value ({error})") from None
        if reply.outcome == UNSENT:
            description = str(reply.value)[: values.MAX_NAME]
            raise UnconfirmedError(f"the program returned what cannot be serialized: {description}")
        return reply

    def refuse(self, why: str) -> NoReturn:
        """Raise the exception after which nothing can be confirmed."""
        self.error = self.error or UnconfirmedError(why)
        raise self.error


_REFERABLE_KINDS = (values.MUTABLE | {"datetime"}) - {"iterator"}


class Reply(NamedTuple):
    """A reply to a call; see candidate/answering.py."""

    outcome: str
    """RETURNED, RAISED or UNSENT."""
    value: Any
    """What was returned or raised; of UNSENT, what cannot be serialized, in words."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    """The arguments as the call left them."""
    printed: str = ""
    consumed: int = 0
    """The number of characters of the standard input that the call read."""
    mutables: tuple[Any, ...] = ()
    """What the call could change, as it left it."""


_TYPES_BEHIND_VALUE = [tuple, dict, str, int, tuple]
_SHORT_REPLY = '[["tuple",[1,2]]'
"""How the message of a reply begins that has no effects."""


def read_reply(text: str, context: values.Context, existing: Any = ()) -> Reply:
    """Return what a reply says; raises MalformedError. `existing`: see `values.Reader.read`."""
    # A reply without effects does not tell what became of the existing objects, so they stay as they are.
    parts = values.read(text, context, () if text.startswith(_SHORT_REPLY) else existing)
    # Without effects, it has only its first two parts.
    has_parts = type(parts) is tuple and len(parts) >= 2 and list(map(type, parts[2:])) in ([], _TYPES_BEHIND_VALUE)
    if not has_parts or type(parts[0]) is not str or parts[0] not in (RETURNED, RAISED, UNSENT):
        raise values.MalformedError("not a reply")
    reply = Reply(*parts)
    if reply.outcome == RAISED and not isinstance(reply.value, (Exception, SystemExit)):
        raise values.MalformedError("an invalid exception")
    return reply


# --- substitutes ---


def _make_substitute_function(asker: Asker, name_or_number: int | str) -> Any:
    """Return the substitute for a function: of the program, by its name, or one that it has returned, by its number."""
    is_name = isinstance(name_or_number, str)
    target = ("name" if is_name else "function", name_or_number)

    def function(*args: Any, **kwargs: Any) -> Any:
        return asker.ask(target, *args, **kwargs)

    function.__name__ = function.__qualname__ = str(name_or_number) if is_name else "function"
    function.__function__ = name_or_number  # type: ignore[attr-defined]
    return function


def _make_substitute_class(name: str, asker: Asker) -> Any:
    """Return the substitute for a class that the program must write."""

    def refuse_subclass(cls: type[Any], /, **_: Any) -> NoReturn:
        asker.refuse("the tests derive a class from one that the program must write")

    members = {"__slots__": (), "__asker__": asker, "__init_subclass__": classmethod(refuse_subclass)}
    return _SubstituteClass(name, (_SubstituteObject,), members)


def _make_substitute_object(cls: Any, number: int, *, overrides_eq: bool) -> Any:
    """Return the substitute for an object. `overrides_eq`: its class, which only the program has, defines `__eq__`."""
    if type(cls) is not _SubstituteClass:
        raise values.MalformedError("an object whose class is not among those that the program must write")
    substitute: Any = object.__new__(cls)  # type: ignore[arg-type]
    object.__setattr__(substitute, "__number__", number)
    object.__setattr__(substitute, "__overrides_eq__", overrides_eq)
    return substitute


def is_object(value: Any) -> bool:
    """Whether a value is the substitute for an object."""
    return type(type(value)) is _SubstituteClass


def is_class(value: Any) -> bool:
    """Whether a value is the substitute for a class."""
    return type(value) is _SubstituteClass


class _SubstituteClass(type):
    """The class of all substitutes for classes: reading an attribute of one of them is a call."""

    __asker__: Asker

    def __call__(cls, /, *args: Any, **kwargs: Any) -> Any:
        return cls.__asker__.ask(("name", cls.__name__), *args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        if values.is_reserved(name):
            raise AttributeError(name)
        return cls.__asker__.ask(("op", "getattr"), cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if values.is_reserved(name):
            super().__setattr__(name, value)
        else:
            cls.__asker__.ask(("op", "setattr"), cls, name, value)

    def __instancecheck__(cls, value: Any) -> bool:
        return bool(cls.__asker__.ask(("op", "isinstance"), value, cls)) if is_object(value) else False

    def __subclasscheck__(cls, value: Any) -> bool:
        return bool(cls.__asker__.ask(("op", "issubclass"), value, cls)) if is_class(value) else False


class _SubstituteObject:
    """A substitute for an object. Its own names are reserved ones, so none of them hides an attribute."""

    __slots__ = ("__number__", "__overrides_eq__", "__weakref__")
    if TYPE_CHECKING:
        __asker__: Asker
        __overrides_eq__: bool
        __number__: int

    def __getattr__(self, name: str) -> Any:
        if values.is_reserved(name):
            raise AttributeError(name)
        return _operate("getattr", self, name)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.__asker__.ask(("op", "call"), self, *args, **kwargs)

    def __exit__(self, kind: object, *error: object) -> Any:
        # If the tests fail in the block, what the object makes of it does not matter.
        return _operate("exit", self) if kind is None else False

    def __deepcopy__(self, memo: Any) -> Any:
        return _operate("deepcopy", self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.__asker__.refuse("the tests serialize an object of the program")

    def __hash__(self) -> int:
        if self.__overrides_eq__:
            self.__asker__.refuse(f"the tests hash a {type(self).__name__}, whose class overrides comparison")
        return self.__number__


def _operate(name: str, *args: Any) -> Any:
    return args[0].__asker__.ask(("op", name), *args)


def _operation(name: str, convert: Callable[[Any], Any] | None = None, *, reflected: bool = False) -> Any:
    """Return the method of an operation (`add`); `convert` makes of the answer what Python asks of the method."""

    def operate(self: Any, *others: Any) -> Any:
        answer = self.__asker__.ask(("op", name), *((*others, self) if reflected else (self, *others)))
        return answer if convert is None else convert(answer)

    return operate


def _comparison(name: str) -> Any:
    """Return the method that compares two objects of the program; with any other value, Python's own way decides."""

    def compare(self: Any, other: Any) -> Any:
        if is_object(other):
            return _operate(name, self, other)
        # Only the program knows its `__eq__`, and it may not get the other value, which the tests may expect.
        if self.__overrides_eq__:
            self.__asker__.refuse(f"the tests compare a {type(self).__name__}, whose class overrides comparison")
        return NotImplemented

    return compare


_METHODS: dict[str, Callable[[Any], Any] | None] = {
    **{kind.__name__: kind for kind in operations.CONVERSIONS}, "repr": str, "format": str, "contains": bool,
    "len": int, "index": int, "iter": iter, "reversed": iter,
    **dict.fromkeys(("getitem", "setitem", "delitem", "setattr", "delattr", "enter", "copy", "next", "round")),
    **dict.fromkeys(("neg", "pos", "abs", *operations.BINARY, *operations.IN_PLACE)),
}  # fmt: skip
"""Operation with a method of its name -> what converts the answer."""
for _name, _convert in _METHODS.items():
    setattr(_SubstituteObject, f"__{_name.rstrip('_')}__", _operation(_name, _convert))
for _name in operations.BINARY:
    setattr(_SubstituteObject, f"__r{_name.rstrip('_')}__", _operation(_name, reflected=True))
for _name in operations.COMPARISONS:
    setattr(_SubstituteObject, f"__{_name}__", _comparison(_name))


# --- other answers ---


def altered_value(value: Any) -> Any:
    """Return another value of the same kind: what is computed from it differs."""
    cls = type(value)
    if cls is bool:
        return not value
    if cls in _NUMBERS:
        return value + 1
    if cls in {str, bytes}:
        return value + ("x" if cls is str else b"x")
    if cls in {list, tuple, set, frozenset}:
        return cls(map(altered_value, value))
    if isinstance(value, dict):
        other = copy.copy(value)
        other.clear()
        other.update({key: altered_value(item) for key, item in value.items()})
        return other
    return value


_NUMBERS = {int, float, complex, decimal.Decimal, fractions.Fraction}
