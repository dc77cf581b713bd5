"""Record the calls of a task's tests: the tests run against placeholders, without any candidate.

They run twice, with truthy and with falsy answers. If both runs make the same calls, every candidate gets these calls.
Otherwise the grader may know which are right (from a reference solution); if not, no calls are recorded. Both runs are
made in one process, which saves a fork. If they differ, each is made again in a process of its own.
"""

from __future__ import annotations

import builtins
import json
import random
import sys
import weakref

import crossing
import lending
import opaque
import patience
import placeholder
import sending
import streams
import wire
from heap import Heap
from placeholder import Placeholder, UnrecordableError
from standing_in import Proxy
from surroundings import Surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

MAX_CALLS = 20_000
MAX_BYTES = 8 << 20
MAX_PLACEHOLDERS = 200_000
SEED = 20241


class Recording:
    """A task's tests, compiled once, to be recorded in one fork or in two."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec
        self._broken: BaseException | None = None
        try:
            # The future import of this file must not affect the signature: it would turn annotations into texts.
            self._signature = compile(spec["signature"], "<signature>", "exec", dont_inherit=True)
            self._tests = patience.Patient(spec["test"], identity=True)
            self._read = lending.global_names(self._tests.code)
            self._reads = lending.read_attributes(self._tests.code)
        except Exception as error:
            self._broken = error

    def agreed(self) -> dict[str, Any]:
        """Return the recording if both are the same, else {}. Then the two may have disturbed each other."""
        found = self.recorded(truthy=True)
        return found if "refused" not in found and found == self.recorded(truthy=False) else {}

    def recorded(self, *, truthy: bool) -> dict[str, Any]:
        """Return {"calls": [texts], "names": [...], "reads": [...]}, or {"refused": why}. Call it in a fork.

        If an exception of the tests themselves is the reason, "begun" has the calls before it.
        """
        streams.swallow()
        begin_randomness()
        recorder: Recorder | None
        open_: dict[str, list[str]]
        recorder, open_ = None, {"names": [], "reads": []}
        try:
            if self._broken is not None:
                raise self._broken
            namespace: dict[str, Any] = {}
            exec(self._signature, namespace)
            classes, stubs = lending.classes_and_stubs(self._spec, namespace)
            recorder = Recorder(classes, truthy, [stub for stub in stubs.values() if isinstance(stub, type)])
            namespace |= lending.stand_ins(stubs, recorder.proxied, recorder)
            self._tests.bind(namespace, identical=recorder.identical)
            names = sorted(self._read - namespace.keys() - set(dir(builtins)))
            open_ = {"names": names, "reads": self._reads}
            asked = [name for name in names if lending.library(name) is None]
            namespace |= {name: lending.library(name) for name in names if name not in asked}
            namespace |= {name: recorder.named(name) for name in asked}
            recorder.is_kind = namespace.get("isinstance", builtins.isinstance)
            namespace["isinstance"] = recorder.is_instance
            exec(self._tests.code, namespace)
        except UnrecordableError as error:
            return {"refused": str(error), **open_}
        except BaseException as error:
            if recorder is None or recorder.refused is None:
                why = f"{type(error).__name__} without a candidate: {str(error)[:200]}"
                return {"refused": why, "begun": recorder.begun() if recorder is not None else None, **open_}
        return recorder.result(open_)


def begin_randomness() -> None:
    """Seed every generator that this process may use, in the same way for recording and for judging."""
    generator = random.Random(SEED)
    # `secrets`, `SystemRandom` and NumPy's unseeded generators use this function.
    random._urandom = generator.randbytes  # type: ignore[attr-defined]
    random.seed(SEED)
    numpy = sys.modules.get("numpy")
    if numpy is not None and "numpy.random" in sys.modules:
        numpy.random.seed(SEED)


class Recorder:
    """Answers calls with placeholders and records the calls."""

    def __init__(self, classes: dict[str, type[Any]], truthy: bool, tested: Sequence[type[Any]] = ()) -> None:
        """`tested`: the signature's own versions of the classes that the candidate must write (opaque.py)."""
        self.truthy = truthy
        self._tested = tested
        self.is_kind: Callable[[Any, Any], bool] = builtins.isinstance
        self._read: dict[int, str] = {}
        """Call -> attribute, for calls that read an attribute of an answer."""
        self.refused: str | None = None
        self._classes = classes
        self._labels = {kind: name for name, kind in classes.items()}
        self._heap = Heap("t", by_value=True)
        self._surroundings = Surroundings(UnrecordableError)
        self._calls: list[str] = []
        self._bytes = self._placeholders = 0
        self._asked = False
        """Whether the tests have used a placeholder: a name that they only mention is not tested."""
        self._answers: list[weakref.ref[Any]] = []

    def result(self, open_: dict[str, list[str]]) -> dict[str, Any]:
        """Return the recording."""
        if self.refused is not None:
            return {"refused": self.refused, **open_}
        if not self._calls and not self._asked:
            return {"refused": "the tests call nothing", **open_}
        return {"calls": self.begun(), **open_}

    def begun(self) -> list[str]:
        """Return the calls so far."""
        return list(map(self._settled, self._calls))

    def _settled(self, text: str) -> str:
        """Return a call without the states of generators from which the tests drew after it."""
        call = json.loads(text) if '"s":' in text else {}
        return wire.encode(call | {"s": self._surroundings.settled(call["s"])}) if "s" in call else text

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
            self._call(["op", name], (value,), {})
        return self.asked()

    def derived(self, parent: Placeholder) -> Placeholder:
        """Return a placeholder for a value derived from another."""
        return Placeholder(self, None, parent)

    def nth(self, parent: Placeholder, number: int) -> Placeholder:
        """Return a placeholder for an item of an iteration."""
        return self._part(parent, "nth", number)

    def item(self, parent: Placeholder, key: Any) -> Placeholder:
        """Return a placeholder for an item."""
        plain = key is None or type(key) in {bool, int, float, str}
        return self._part(parent, "item", key) if plain else self.derived(parent)

    def attribute(self, parent: Placeholder, name: str) -> Placeholder:
        """Return a placeholder for an attribute; if the answer may be an object, reading it is an operation."""
        if self._tested and parent._expression is not None:
            self._read[len(self._calls)] = name
            return self._call(["op", "getattr"], (parent, name), {})
        return self._part(parent, "attr", name)

    def _part(self, parent: Placeholder, kind: str, key: Any) -> Placeholder:
        known = parent._expression
        return Placeholder(self, None if known is None else [kind, known, key], parent)

    def called(self, target: Placeholder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Placeholder:
        """Record the call of an answer, except of a method whose arguments could be the expected value."""
        expression = target._expression
        if expression is None:
            return self.derived(target)
        method = self._method(expression)
        if method and (args or kwargs or placeholder.is_local(method, self._classes.values())):
            return self.derived(target)
        return self._call(expression, args, kwargs)

    def _method(self, expression: list[Any]) -> str:
        """Return the attribute of an answer that an expression reads; empty for a method of a class to be written."""
        kind, key = expression[0], expression[-1]
        name: str = key if kind == "attr" else self._read.get(key, "") if kind == "ans" else ""
        return "" if any(hasattr(tested, name) for tested in self._tested) else name

    def identical(self, left: Any, right: Any) -> bool:
        """Return the answer to `left is right`."""
        if left is right:
            return True
        answers = type(left) is Placeholder or type(right) is Placeholder
        return self.asked() if answers or (opaque.is_object(left) and opaque.is_object(right)) else False

    def is_instance(self, value: Any, kinds: Any) -> bool:
        """Replace `isinstance`."""
        return self.asked() if type(value) is Placeholder else self.is_kind(value, kinds)

    # --- called by substitutes for classes ---

    def operate(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record an operation; the construction of an object returns a substitute for it."""
        if not opaque.is_class(target):
            return self._call(_target(target), args, kwargs)
        answer = self._call(["name", target.__name__], args, kwargs)
        one = opaque.made(target, answer._expression)
        self._answers[-1] = weakref.ref(one)
        return one

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """Return a placeholder: a comparison is not sent."""
        return Placeholder(self, None)

    # --- calls ---

    def proxied(self, proxy: Proxy, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Placeholder:
        """Record a call of one of the candidate's functions."""
        return self._call(["name", proxy.__name__], args, kwargs)

    def _call(self, target: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Placeholder:
        if self.refused is not None:
            raise UnrecordableError(self.refused)
        try:
            call = self._message(target, args, kwargs)
        except crossing.UncrossableError as error:
            self.refuse(f"the tests pass a {error}, which cannot be serialized")
        except UnrecordableError as error:
            self.refuse(str(error))
        text = wire.encode(call)
        self._bytes += len(text)
        if len(self._calls) >= MAX_CALLS or self._bytes > MAX_BYTES:
            self.refuse(f"more than {MAX_CALLS} calls or {MAX_BYTES >> 20} MB of arguments")
        answer = Placeholder(self, ["ans", len(self._calls)])
        self._calls.append(text)
        self._answers.append(weakref.ref(answer))
        return answer

    def _message(self, target: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        told = self._surroundings.now()
        given_up = self._given_up()
        encoder = _Encoder(self._labels, (self._heap.atoms,))
        changes = [["t", number, encoder.node(self._heap.objects[number])] for number in self._heap.changed()]
        call = {
            "f": {"x": target},
            "m": changes,
            "v": [encoder.encode(value) for value in args],
            "k": [[key, encoder.encode(value)] for key, value in kwargs.items()],
            "n": encoder.nodes,
        }
        encoder.finish()
        self._heap.add(encoder.values, encoder.nodes)
        return call | told | ({} if given_up is None else {"d": given_up})

    def _given_up(self) -> list[int] | None:
        """Return the numbers of the tests' objects that are no longer used; None while an answer is referenced."""
        self._answers = [answer for answer in self._answers if answer() is not None]
        if self._answers:
            return None
        given_up: list[int] = []
        for number in self._heap.mutable():
            # Referenced by the heap, by this expression, and by the call that counts references.
            if sys.getrefcount(self._heap.objects[number]) <= 2:
                given_up.append(number)
                self._heap.forget([number])
        return given_up


def _target(value: Any) -> list[Any]:
    """Return the expression of a substitute."""
    if opaque.is_object(value):
        return list(value.__expression__)
    return ["op" if type(value) is opaque.Operator else "name", value.__name__]


class _Encoder(sending.Encoder):
    """Sends placeholders as expressions, and the candidate's functions by name."""

    def atom(self, value: Any) -> Any:
        if type(value) is Placeholder:
            return {"x": placeholder.expression_of(value)}
        if type(value) is Proxy or opaque.is_class(value) or opaque.is_object(value):
            return {"x": _target(value)}
        return super().atom(value)
