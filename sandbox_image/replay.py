"""Replay a task's tests against recorded answers: every call must equal the recorded one, and gets its answer."""

from __future__ import annotations

import crossing
import opaque
import sending
import standing_in
from crossing import UnconfirmedError
from instances import MalformedError
from replies import Replies, delivered
from standing_in import FORGOTTEN
from surroundings import Surroundings, as_told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from replies import Broken
    from vacuous import Guard


class Divergence(UnconfirmedError):  # noqa: N818 - a reason why, not an error
    """Raised if the tests make other calls than the recorded ones."""


class Replay:
    """Answers the tests' calls from a list of replies, as long as they equal the recorded calls.

    `calls`: the recorded calls, decoded. `replies`: as many texts, or fewer if the candidate's process ended.
    `names`: the candidate's names that the tests may use, to be filled in.
    """

    def __init__(
        self,
        calls: list[dict[str, Any]],
        replies: list[str],
        classes: dict[str, type[Any]],
        broken: Broken,
        guard: Guard,
    ) -> None:
        self.names: dict[str, Any] = {}
        self._calls, self._replies = calls, replies
        self._broken, self._guard = broken, guard
        self._replies_taken = Replies(classes, broken, guard, self.called)
        self._surroundings = Surroundings(Divergence)
        self._next = 0
        self._answers: list[Any] = []
        self.used = 0
        """Number of uses of the candidate's functions and names by the tests."""

    @property
    def understood(self) -> Replies:
        """The decoder of the replies."""
        return self._replies_taken

    def operate(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer an operation of a substitute for a class (opaque.py)."""
        return self.called(target, args, kwargs)

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """Compare by identity."""
        return opaque.compared(name, left, right, self)

    def refuse(self, why: str) -> NoReturn:
        """Raise the exception after which nothing can be confirmed."""
        raise self._broken.note(UnconfirmedError(why))

    def called(self, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer a call of the tests."""
        if self._broken.error is not None:
            raise self._broken.error
        try:
            return delivered(*self._answer(proxy, args, kwargs), self._guard)
        except (UnconfirmedError, MalformedError) as error:
            self._broken.note(error)
            raise

    def _answer(self, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        told = self._surroundings.now()
        while self._next < len(self._calls):
            call = self._calls[self._next]
            match = _Match(self, call)
            if match.is_call(proxy, args, kwargs, told):
                self._begin(call, match.values())
                self.used += 1
                return self._reply()
            if call["f"]["x"][0] == "name" or self._is_of_object(call):
                break
            # The recorded call is that of an answer, but this answer is nothing that the tests call.
            self._begin(call, [FORGOTTEN] * len(call["n"]))
            self._pass_over()
        raise Divergence("the tests make other calls than those recorded without it")

    def _begin(self, call: dict[str, Any], values: list[Any]) -> None:
        heaps = self._replies_taken
        if "d" in call:
            heaps.forget(call["d"])
            self._answers = [FORGOTTEN] * len(self._answers)
        heaps.ours.add(values, call["n"])

    def _reply(self) -> tuple[str, Any]:
        number, self._next = self._next, self._next + 1
        if number >= len(self._replies):
            raise UnconfirmedError("the candidate's process ended during a call")
        reply = self._replies_taken.load(self._replies[number])
        how, result = self._replies_taken.take(reply)
        self._answers.append(result if how == "v" else FORGOTTEN)
        self._surroundings.after(reply)
        return how, result

    def _pass_over(self) -> None:
        """Take the answer to a call that the tests do not make; nothing depends on whether it could be sent."""
        if self._next < len(self._replies) and "u" in self._replies_taken.load(self._replies[self._next]):
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
        return opaque.is_object(value) or opaque.is_class(value)

    def value_of(self, expression: list[Any]) -> Any:
        """Return the value of an expression over earlier answers in this process."""
        kind, *rest = expression
        if kind == "ans":
            return self._answers[rest[0]]
        if kind == "name":
            return self.names.get(rest[0], FORGOTTEN)
        if kind == "op":
            return opaque.OPERATORS[rest[0]]
        return standing_in.part(kind, self.value_of(rest[0]), rest[1])


def _expressions(atoms: list[Any]) -> list[Any]:
    """Return the expressions among atoms."""
    return [atom["x"] for atom in atoms if isinstance(atom, dict) and "x" in atom]


class _Held:
    """A child of a node during a comparison."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class _Holding(sending.Encoder):
    """Creates nodes whose children are the objects themselves."""

    def atom(self, value: Any) -> _Held:
        return _Held(value)


class _Match:
    """Checks whether a call equals the recorded one: same function, same arguments, same aliasing."""

    def __init__(self, replay: Replay, call: dict[str, Any]) -> None:
        self._replay, self._call = replay, call
        self._ours = replay.understood.ours
        self._labels = replay.understood.labels
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
            if self._replay.value_of(call["f"]["x"]) is not proxy:
                return False
            pairs: list[tuple[Any, Any]] = [*zip(call["v"], map(_Held, args), strict=True)]
            pairs += [(atom, _Held(kwargs[key])) for key, atom in call["k"]]
            return self._same(pairs + self._changes())
        except (LookupError, AttributeError, TypeError, ValueError, crossing.UncrossableError):
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
        if tag == "t":
            return self._ours.objects[content] is value
        if tag == "r":
            if content in self._bound:
                return self._bound[content] is value
            self._bound[content] = value
            pairs.append((self._call["n"][content], self._holding.node(value)))
            return True
        return repr(sending.Encoder(self._labels).atom(value)) == repr(recorded)

    def _plain(self, value: Any) -> str:
        """Return a text for a value without identity; an empty one for any other value."""
        encoder = sending.Encoder(self._labels)
        try:
            atom = encoder.encode(value)
        except crossing.UncrossableError:
            return ""
        return "" if any(node[0] in crossing.MUTABLE for node in encoder.nodes) else repr([atom, encoder.nodes])
