"""What the tests compare answers with by `==`: without a reference solution, these values take its place.

The tests run once more against placeholders that note each comparison. The values never leave the judging process.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re

from grade_sandbox.tests.kinds import Kinds, is_truth, largest_of
from grade_sandbox.tests.placeholder import Placeholder
from grade_sandbox.tests.recording import Recorder
from grade_sandbox.tests.sameness import Comparison, Place, exact
from grade_sandbox.tests.tried import Change, Replayed
from grade_sandbox.tests.views import CONTAINERS, every, is_finite, view
from grade_sandbox.values import sending, wire
from grade_sandbox.values.constructed import MAPPING, NONE, NUMBER, OBJECT, TEXT
from grade_sandbox.values.messages import RETURNED, Call, Reply, call_of, expression_of, has_remote_objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any

    from grade_sandbox.tests.answers import Reader
    from grade_sandbox.tests.sameness import Way
    from grade_sandbox.tests.tried import Tried

MAX_EXPECTED = 20_000
_INFINITE = re.compile("nan|inf", re.IGNORECASE)
_WIDE = ("64", "128", "bool", "bool_")


class Expecting(Recorder):
    """Records calls, and what the answers are compared with."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.expected: list[tuple[list[Any], Any, list[Any]]] = []
        """Expression of an answer or a part of it, and a value it is compared with: atom and nodes."""

    def compared(self, name: str, answer: Placeholder, other: Any) -> Placeholder:
        """Note a comparison."""
        expression = answer._expression
        is_value = expression is not None and type(other) is not Placeholder
        if name in {"eq", "ne"} and is_value and len(self.expected) < MAX_EXPECTED:
            encoder = sending.Encoder(self._labels)
            with contextlib.suppress(wire.UncrossableError, RecursionError):
                self.expected.append((expression or [], encoder.encode(other), encoder.nodes))
        return super().compared(name, answer, other)


def about(calls: Sequence[Call], recorder: Expecting) -> list[Any]:
    """Return what is expected of the answers to these calls, as far as those of the recorder are the same.

    They may be others if the calls depend on the answers.
    """
    pairs = zip(map(_outline, calls), map(_outline, map(Call.read, recorder.begun())), strict=False)
    count = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return [one for one in recorder.expected if (number := call_of(one[0], "ans")) is not None and number < count]


def _outline(call: Call) -> list[Any]:
    """Return the name of a function and the atoms that are values; beside the tests, answers have other references."""
    kind, name, *_ = call.target
    atoms = [*call.arguments, *(atom for _, atom in call.named)]
    return [kind in {"name", "op"} and name, *(None if isinstance(atom, dict) else atom for atom in atoms)]


class Expectations:
    """The values with which the answers to each call are compared."""

    def __init__(self, found: Sequence[Any], reader: Reader, reads: Collection[str]) -> None:
        """`found`: as in `Expecting.expected`."""
        self._given, self._reads = reader.given, reads
        back = passed_on(reader.calls)
        self._of: dict[int, dict[str, list[Any]]] = {}
        for expression, atom, nodes in found:
            number = call_of(expression, "ans")
            if number is not None and number not in back:
                value = reader.decoder(nodes).value(atom)
                self._of.setdefault(number, {}).setdefault(json.dumps(expression), []).append(value)

    def places(self, number: int, answer: Any) -> tuple[bool, list[Place], str]:
        """Return whether a call's answer is compared with something; where it differs; how it differs in kind.

        An answer with fewer items than the tests compare differs as a whole: a loop over it may end too early.
        """
        places: list[Place] = []
        found = False
        for text, alternatives in self._of.get(number, {}).items():
            part, way = _resolved(answer, expression := json.loads(text))
            if way is None:
                places += loose(number, answer, self._reads) if expression[0] == "nth" else []
                continue
            found = True
            differing = [self._compared(number, one, part, way) for one in alternatives]
            if all(differing):
                best = next((one for one in differing if not self._problem(one)), differing[0])
                if problem := self._problem(best):
                    return True, best, problem
                places += best
        return found, places, ""

    def _compared(self, number: int, expected: Any, returned: Any, way: Way) -> list[Place]:
        places = Comparison(self._reads).places(number, expected, returned)
        return [place._replace(ways=(place.ways[0], (*way, *place.ways[1]))) for place in places]

    def _problem(self, places: list[Place]) -> str:
        wanted = [place.expected for place in places]
        kinds = Kinds(largest_of(every([*self._given[places[0].call], *wanted])))
        return next((found for place in places if (found := kinds.problem(place))), "")


def passed_on(calls: Sequence[Call]) -> set[int]:
    """Return the calls whose answers, or parts of them, go back into other calls."""
    found = (call_of(one, "ans") for call in calls for one in call.expressions)
    return {number for number in found if number is not None}


def _resolved(answer: Any, expression: Any) -> tuple[Any, Way | None]:
    """Return the part of an answer that an expression names, and the steps to it; None if it has none."""
    if expression[0] == "ans":
        return answer, ()
    part, way = _resolved(answer, expression[1])
    if way is None:
        return None, None
    seen, kind, key = view(part), expression[0], expression[2]
    if seen.family == OBJECT:
        has = kind == "attr" and key in seen.keys
        return (seen.parts[seen.keys.index(key)], (*way, ("attribute", key))) if has else (None, None)
    if kind == "item" and seen.family == MAPPING:
        pairs = zip(seen.keys, seen.parts, strict=True)
        return next(((p, (*way, ("key", k))) for k, p in pairs if exact(k) == exact(key)), (None, None))
    items = seen.keys if seen.family == MAPPING else seen.parts
    if kind == "attr" or not (type(key) is int and -len(items) <= key < len(items)):
        return None, None
    return items[key], (*way, ("at" if isinstance(part, tuple) else "item", key))


def ordinary(answer: Any, text: str) -> str:
    """Return why an answer that is compared with nothing is not plain data; empty if it is.

    `text`: the tests and the signature.
    """
    for seen in every([answer]):
        has = "the answer is" if seen.it is answer else "the answer contains"
        if seen.family == NUMBER and not is_finite(seen.value) and not _INFINITE.search(text):
            return f"{has} a number that is not finite"
        if seen.name.startswith("numpy.") and not seen.name.endswith(_WIDE) and seen.name[6:] not in text:
            return f"{has} a number of type {seen.name}"
    return ""


def is_comparison_of_two(calls: Sequence[Call], number: int) -> bool:
    """Whether a call asks if two objects that were constructed with different arguments are equal."""
    call = calls[number]
    if call.target != ["op", "eq"]:
        return False
    roots = [call_of(expression_of(atom) or ["op"], "ans") for atom in call.arguments]
    made = [calls[root] for root in roots if root is not None]
    given = [[one.target, *one.parts] for one in made if one.target[0] == "name"]
    return len(given) == len(call.arguments) and given[0] != given[1]


def loose(number: int, answer: Any, reads: Collection[str]) -> list[Place]:
    """Return the places of an answer that is compared with nothing: the attributes that the tests read, or the whole.

    A truth value gives none, because its only alternative is wrong.
    """
    seen = view(answer)
    if seen.family not in CONTAINERS | {NUMBER, TEXT, OBJECT} or is_truth(seen):
        return []
    held = dict(zip(seen.keys, seen.parts, strict=True)) if seen.family == OBJECT else {}
    read = [Place(number, held[n], held[n], ways=((("attribute", n),),) * 2) for n in held if n in reads]
    return read or [Place(number, answer, answer)]


def says_nothing(answer: Any, given: Sequence[Any]) -> bool:
    """Whether an answer is empty, zero, None, or the call's own argument."""
    seen = view(answer)
    if seen.family == NONE or (seen.family == NUMBER and not seen.value):
        return True
    if seen.family in CONTAINERS and not seen.parts:
        return True
    if seen.family == TEXT and not seen.value:
        return True
    own = exact(answer)
    return any(exact(argument) == own for argument in given)


def vacuous(texts: Sequence[str], given: Sequence[Sequence[Any]]) -> list[Tried]:
    """Return the messages of programs that give the same empty answer, an exception, or their argument to every call.

    Objects of a class that the program must write are kept: without them, the tests could not go on.
    """
    answers = [[empty() for _ in given] for empty in _VACUOUS]
    answers.append([own[0] if own else None for own in given])
    return [[Replayed(texts[0]), *map(_vacuous, itertools.count(), texts[1:], one)] for one in answers]


_VACUOUS: tuple[Callable[[], Any], ...] = (lambda: None, int, bool, str, list, dict, tuple, set, BufferError)
"""Make answers that say nothing; besides these, there is the call's own argument."""


def _vacuous(call: int, text: str, answer: Any) -> Replayed:
    empty = Reply(RETURNED, None).written().decode()
    return Replayed(text) if has_remote_objects(text) else Replayed(empty, (Change(call, RETURNED, (), answer),))
