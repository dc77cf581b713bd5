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

from grade_sandbox import operations, values
from grade_sandbox.candidate.answering import RAISED, RETURNED, UNSENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    Reply = tuple[Any, ...]
    Answer = Callable[[str], tuple[int, str]]
    """Returns the number of a call, and the reply to it."""

SEED = 20241
_INPUT = builtins.input


class UnconfirmedError(BaseException):
    """Raised if a program's behaviour cannot be confirmed; the text says why."""

    kind = "unconfirmed"
    """The kind of the verdict."""


class NotTellingError(UnconfirmedError):
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
    numpy = sys.modules.get("numpy")
    if numpy is not None and "numpy.random" in sys.modules:
        numpy.random.seed(SEED)


class State:
    """The state of the tests' process that belongs to a call."""

    def __init__(self) -> None:
        self._output, self._input = sys.stdout, sys.stdin
        self._told: tuple[Any, str | None] = None, None
        """Where the input comes from, and what is left of it."""
        self._seeds: dict[str, Any] = {}
        """The last seed of each generator since the last call."""
        self._listen(random, "seed")
        numpy = sys.modules.get("numpy")
        if numpy is not None and "numpy.random" in sys.modules:
            self._listen(numpy.random, "numpy_seed")

    def _listen(self, module: Any, name: str) -> None:
        seed = module.seed

        def note_seed(value: Any = None, *rest: Any) -> Any:
            self._seeds[name] = value if type(value) in {int, str, float} else 0
            return seed(value, *rest)

        module.seed = note_seed

    def now(self) -> dict[str, Any]:
        """Return the state to send with a call."""
        found, self._seeds = dict(self._seeds), {}
        if sys.stdout is not self._output:
            found["captures"] = True
        given = self._given_input()
        if given != self._told:
            self._told = given
            found["input"] = given[1]
        return found

    def _given_input(self) -> tuple[Any, str | None]:
        if builtins.input is not _INPUT:
            raise UnconfirmedError("the tests replace input()")
        if sys.stdin is self._input:
            return None, None
        if not isinstance(sys.stdin, io.StringIO):
            raise UnconfirmedError(f"the tests set sys.stdin to a {type(sys.stdin).__name__}")
        return sys.stdin, sys.stdin.getvalue()[sys.stdin.tell() :]

    def after(self, printed: str, consumed: int) -> None:
        """Apply the effects of a call: its output, and how much of the input it read."""
        if printed and sys.stdout is not self._output:
            sys.stdout.write(printed)
        source, given = self._told
        if consumed > 0 and given is not None:
            source.seek(min(source.tell() + consumed, len(source.getvalue())))
            self._told = source, given[consumed:]


_KEPT = values.MUTABLE - {"iterator"}
"""The kinds of values that can change, so that a later call may be about the very same one."""


class Asker(values.Context):
    """Makes the calls of one run of the tests."""

    def __init__(self, classes: dict[str, type[Any]], answer: Answer) -> None:
        """`classes`: those of the signature. `answer`: see `Answer`; raises UnconfirmedError."""
        super().__init__(classes)
        self._answer, self.state = answer, State()
        self.error: BaseException | None = None
        """The first reason why nothing can be confirmed: the tests may catch the exception."""
        self.used = 0
        self.changed: Callable[[Any], Any] = lambda value: value
        """Makes another answer of one (recording.py)."""
        self.plain = values.Context(classes)
        self._substitutes: dict[str, Any] = {}
        self._functions: dict[int | str, Any] = {}
        self.objects: dict[int, Any] = {}
        """Number -> substitute of an object."""
        self._given: dict[int, tuple[int, Any, str]] = {}
        """id() of an answer -> call, answer, and the reply."""
        self._answers: dict[int, Any] = {}
        self._own: list[Any] = []
        """What can change in the last call."""
        self._resolves = False

    # --- names ---

    def substitute(self, name: str, *, is_class: bool, stub: Any = None) -> Any:
        """Return the substitute for a function or a class of the program. `stub`: what the signature has for it."""
        if name not in self._substitutes:
            self._substitutes[name] = _class_of(name, self) if is_class else self.value_of("function", name)
            if is_class:
                self.classes[name] = self._substitutes[name]
            elif stub is not None:
                self._substitutes[name].__doc__ = stub.__doc__
                self._substitutes[name].__wrapped__ = stub
        return self._substitutes[name]

    def node_of(self, value: Any) -> tuple[str, Any] | None:
        kind = type(value)
        if kind is types.FunctionType:
            number = getattr(value, "__function__", None)
            return None if number is None else ("function", number)
        if kind is _Class:
            return "class", value.__name__
        if type(kind) is _Class:
            return "remote", [value.__number__, kind.__name__, int(value.__compares__)]
        return self._earlier(value)

    def atom_node(self, value: Any) -> tuple[str, Any] | None:
        return self._earlier(value) if self._given else None

    def _earlier(self, value: Any) -> tuple[str, Any] | None:
        found = self._given.get(id(value))
        return None if found is None else self._reference(*found)

    def _reference(self, number: int, value: Any, reply: str) -> tuple[str, Any] | None:
        """Return a reference to an answer; None if the tests have changed it, so that its contents are sent."""
        del self._given[id(value)]
        try:
            given = self.changed(values.read(reply, self)[1])
            unchanged = values.write(given, self) == values.write(value, self)
        finally:
            self._given[id(value)] = number, value, reply
        if not unchanged and isinstance(value, values.Tree):
            self.refuse("the tests change what the program returned")
        return ("answer", number) if unchanged else None

    def value_of(self, kind: str, content: Any) -> Any:
        if kind == "function":
            if content not in self._functions:
                self._functions[content] = _function(self, content)
            return self._functions[content]
        if kind == "answer" and self._resolves:
            return self._answers[content]
        if kind != "remote":
            return super().value_of(kind, content)
        number, name, compares = content
        if type(number) is not int:
            raise values.MalformedError("an object without a number")
        if number not in self.objects:
            self.objects[number] = _object(self._substitutes[name], number, compares=bool(compares))
        return self.objects[number]

    # --- calls ---

    def are_equal(self, recorded: str, call: str) -> bool:
        """Whether two calls are the same, if answers that they refer to count as their contents."""
        given, self._given, self._resolves = self._given, {}, True
        try:
            one, two = (values.write(values.read(text, self), self) for text in (recorded, call))
        except (values.MalformedError, values.UnsendableError):
            return False
        finally:
            self._given, self._resolves = given, False
        return one == two

    def message_of(self, target: tuple[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """Return a call as it is sent."""
        writer = values.Writer(self)
        try:
            text = writer.write((target, args, kwargs, self.state.now()))
            self._own = writer.mutables
            return text
        except values.UnsendableError as error:
            self.refuse(f"the tests pass a value that cannot be serialized: {error}")

    def ask(self, target: tuple[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Make a call; return its value, or raise its exception."""
        if self.error is not None:
            raise self.error
        try:
            how, value = self.make_call(target, args, kwargs)
        except UnconfirmedError as error:
            self.error = self.error or error
            raise
        if how == RETURNED:
            return value
        if isinstance(value, StopIteration) and target != ("op", "next"):
            # A `map` or `zip` in the tests would take it as its normal end, and end early and silently.
            self.refuse("the program raised StopIteration")
        raise value

    def make_call(self, target: tuple[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        """Make a call; return RETURNED and its value, or RAISED and the exception."""
        number, reply = self._answer(self.message_of(target, args, kwargs))
        self.used += 1
        how, value, printed, consumed = self._read(reply)
        self.state.after(printed, consumed)
        if how == RETURNED:
            # A constant of the program is no answer on which calls could depend.
            value = self._answers[number] = value if target[0] == "value" else self.changed(value)
            is_own = any(value is one for one in (*args, *kwargs.values()))
            if not is_own and self.changeable(value):
                self._given[id(value)] = number, value, reply
        return how, value

    def changeable(self, value: Any) -> bool:
        """Whether a later call may refer to this answer."""
        kind = type(value)
        if kind is types.FunctionType or kind is _Class or type(kind) is _Class:
            return False
        found = values.kind_of(value, self.plain)
        # What was read from a message is an object of its own, but for the values that Python has only once.
        return found in _KEPT or (found in {"str", "bytes", "tuple"} and len(value) > 1) or found == "datetime"

    def _read(self, reply: str) -> Reply:
        try:
            how, value, *rest = read_reply(reply, self, self._own)
        except values.MalformedError as error:
            raise NotTellingError(f"the program sent a malformed value ({error})") from None
        if how == UNSENT:
            raise UnconfirmedError(f"the program returned what cannot be serialized: {str(value)[:200]}")
        return how, value, *rest[2:4]

    def refuse(self, why: str) -> NoReturn:
        """Raise the exception after which nothing can be confirmed."""
        self.error = self.error or UnconfirmedError(why)
        raise self.error


def read_reply(reply: str, context: values.Context, own: Any = ()) -> Reply:
    """Return (how, value, arguments, named arguments, printed, consumed, objects); raises MalformedError."""
    is_short = reply.startswith('[["tuple",[1,2]]')
    found = values.read(reply, context, () if is_short else own)
    if type(found) is not tuple or len(found) not in (2, 7):
        raise values.MalformedError("not a reply")
    how, value, args, kwargs, printed, consumed, objects = found if len(found) == 7 else (*found, (), {}, "", 0, ())
    kinds = list(map(type, (args, kwargs, printed, consumed, objects)))
    if how not in (RETURNED, RAISED, UNSENT) or kinds != [tuple, dict, str, int, tuple]:
        raise values.MalformedError("not a reply")
    if how == RAISED and not isinstance(value, (Exception, SystemExit)):
        raise values.MalformedError("an invalid exception")
    return how, value, args, kwargs, printed, consumed, objects


# --- substitutes ---


def _function(asker: Asker, which: int | str) -> Any:
    """Return the substitute for a function: of the program, by its name, or one that it has returned, by its number."""
    target = ("name" if isinstance(which, str) else "function", which)

    def function(*args: Any, **kwargs: Any) -> Any:
        return asker.ask(target, *args, **kwargs)

    function.__name__ = function.__qualname__ = which if isinstance(which, str) else "function"
    function.__function__ = which  # type: ignore[attr-defined]
    return function


def _class_of(name: str, asker: Asker) -> Any:
    """Return the substitute for a class that the program must write."""

    def derive(cls: type[Any], /, **_: Any) -> None:
        asker.refuse("the tests derive a class from one that the program must write")

    members = {"__slots__": (), "__asker__": asker, "__init_subclass__": classmethod(derive)}
    return _Class(name, (_Object,), members)


def _object(kind: Any, number: int, *, compares: bool) -> Any:
    if type(kind) is not _Class:
        raise values.MalformedError("an object whose class is not among those that the program must write")
    one: Any = object.__new__(kind)  # type: ignore[arg-type]
    object.__setattr__(one, "__number__", number)
    object.__setattr__(one, "__compares__", compares)
    return one


def is_object(value: Any) -> bool:
    """Whether a value is the substitute for an object."""
    return type(type(value)) is _Class


def is_class(value: Any) -> bool:
    """Whether a value is the substitute for a class."""
    return type(value) is _Class


def _is_reserved(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


class _Class(type):
    """The class of all substitutes for classes: reading an attribute of one of them is a call."""

    __asker__: Asker

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return cls.__asker__.ask(("name", cls.__name__), *args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        if _is_reserved(name):
            raise AttributeError(name)
        return cls.__asker__.ask(("op", "getattr"), cls, name)

    def __setattr__(cls, name: str, value: Any) -> None:
        if _is_reserved(name):
            super().__setattr__(name, value)
        else:
            cls.__asker__.ask(("op", "setattr"), cls, name, value)

    def __instancecheck__(cls, value: Any) -> bool:
        return bool(cls.__asker__.ask(("op", "isinstance"), value, cls)) if is_object(value) else False

    def __subclasscheck__(cls, value: Any) -> bool:
        return bool(cls.__asker__.ask(("op", "issubclass"), value, cls)) if is_class(value) else False


class _Object:
    """A substitute for an object. Its own names are reserved ones, so none of them hides an attribute."""

    __slots__ = ("__compares__", "__number__", "__weakref__")
    if TYPE_CHECKING:
        __asker__: Asker
        __compares__: bool
        __number__: int

    def __getattr__(self, name: str) -> Any:
        if _is_reserved(name):
            raise AttributeError(name)
        return _operate("getattr", self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__asker__.ask(("op", "call"), self, *args, **kwargs)

    def __exit__(self, kind: object, *error: object) -> Any:
        # If the tests fail in the block, what the object makes of it does not matter.
        return _operate("exit", self) if kind is None else False

    def __deepcopy__(self, memo: Any) -> Any:
        return _operate("deepcopy", self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.__asker__.refuse("the tests serialize an object of the program")

    def __hash__(self) -> int:
        if self.__compares__:
            self.__asker__.refuse(f"the tests hash a {type(self).__name__}, whose class overrides comparison")
        return self.__number__


def _operate(name: str, *args: Any) -> Any:
    return args[0].__asker__.ask(("op", name), *args)


def _operation(name: str, convert: Callable[[Any], Any] | None = None, *, reflected: bool = False) -> Any:
    """Return the method that carries out an operation; `convert` makes of the answer what Python asks of the method."""

    def operate(self: Any, *others: Any) -> Any:
        found = self.__asker__.ask(("op", name), *((*others, self) if reflected else (self, *others)))
        return found if convert is None else convert(found)

    return operate


def _comparison(name: str) -> Any:
    def compare(self: Any, other: Any) -> Any:
        if is_object(other):
            return _operate(name, self, other)
        # Any other value may be the one that the tests expect.
        if self.__compares__:
            self.__asker__.refuse(f"the tests compare a {type(self).__name__}, whose class overrides comparison")
        return NotImplemented

    return compare


_ASKED: dict[str, Callable[[Any], Any] | None] = {
    **{kind.__name__: kind for kind in operations.CONVERSIONS}, "repr": str, "format": str, "contains": bool,
    "len": int, "index": int, "iter": iter, "reversed": iter,
    **dict.fromkeys(("getitem", "setitem", "delitem", "setattr", "delattr", "enter", "copy", "next", "round")),
    **dict.fromkeys(("neg", "pos", "abs", *operations.BINARY, *operations.IN_PLACE)),
}  # fmt: skip
"""Operation with a method of its name -> what converts the answer."""
for _name, _convert in _ASKED.items():
    setattr(_Object, f"__{_name.rstrip('_')}__", _operation(_name, _convert))
for _name in operations.BINARY:
    setattr(_Object, f"__r{_name.rstrip('_')}__", _operation(_name, reflected=True))
for _name in operations.COMPARISONS:
    setattr(_Object, f"__{_name}__", _comparison(_name))


# --- other answers ---


def other(value: Any) -> Any:
    """Return another value of the same kind: what is computed from it differs."""
    kind = type(value)
    if kind is bool:
        return not value
    if kind in _NUMBERS:
        return value + 1
    if kind in {str, bytes}:
        return value + ("x" if kind is str else b"x")
    if kind in {list, tuple, set, frozenset}:
        return kind(map(other, value))
    if isinstance(value, dict):
        made = copy.copy(value)
        made.clear()
        made.update({key: other(item) for key, item in value.items()})
        return made
    return value


_NUMBERS = {int, float, complex, decimal.Decimal, fractions.Fraction}
