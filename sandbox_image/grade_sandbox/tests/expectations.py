"""What the tests compare answers with by `==`: without a reference solution, these values take its place.

The tests run once more against placeholders that note each comparison. The values never leave the judging process.
"""

from __future__ import annotations

import contextlib
import itertools
import json

from grade_sandbox.tests import views
from grade_sandbox.tests.kinds import Kinds, is_truth, largest_of
from grade_sandbox.tests.placeholder import Placeholder
from grade_sandbox.tests.recording import Recorder
from grade_sandbox.tests.sameness import Comparison, exact
from grade_sandbox.tests.views import Messages, Part, Table, every, given, is_finite
from grade_sandbox.values import sending, wire
from grade_sandbox.values.constructed import FUNCTION, MAPPING, NONE, NUMBER, OBJECT, OTHER, TEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from grade_sandbox.tests.sameness import Place

MAX_EXPECTED = 20_000
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


def about(calls: Sequence[dict[str, Any]], recorder: Expecting) -> list[Any]:
    """Return what is expected of the answers to these calls, as far as those of the recorder are the same.

    They may be others if the calls depend on the answers.
    """
    pairs = zip(map(_outline, calls), map(_outline, map(json.loads, recorder.begun())), strict=False)
    count = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return [one for one in recorder.expected if (number := _root(one[0])) is not None and number < count]


def _outline(call: dict[str, Any]) -> list[Any]:
    """Return the name of a function and the atoms that are values; beside the tests, answers have other references."""
    kind, name, *_ = call["f"].get("x", ["", ""])
    atoms = [*call["v"], *(atom for _, atom in call["k"])]
    return [kind in {"name", "op"} and name, *(None if isinstance(atom, dict) else atom for atom in atoms)]


class Expectations:
    """The values with which the answers to each call are compared."""

    def __init__(self, found: Sequence[Any], calls: Sequence[dict[str, Any]], reads: Collection[str]) -> None:
        """`found`: as in `Expecting.expected`."""
        self._calls, self._reads = calls, reads
        self.none = Messages("{}", [], [])
        back = passed_on(calls)
        self._of: dict[int, dict[str, list[Part]]] = {}
        for expression, atom, nodes in found:
            number = _root(expression)
            if number is not None and number not in back:
                part = Part(Table(nodes), atom)
                self._of.setdefault(number, {}).setdefault(json.dumps(expression), []).append(part)

    def places(self, messages: Messages, number: int, answer: Part) -> tuple[bool, list[Place], str]:
        """Return whether a call's answer is compared with something; where it differs; how it differs in kind."""
        places: list[Place] = []
        found = False
        for text, alternatives in self._of.get(number, {}).items():
            part = _resolved(messages, answer, json.loads(text))
            if part is None:
                continue
            found = True
            differing = [self._compared(messages, number, one, part) for one in alternatives]
            if all(differing):
                best = next((one for one in differing if not self._problem(messages, one)), differing[0])
                if problem := self._problem(messages, best):
                    return True, best, problem
                places += best
        return found, places, ""

    def _compared(self, messages: Messages, number: int, expected: Part, returned: Part) -> list[Place]:
        return Comparison(self.none, messages, self._reads).places(number, expected, returned)

    def _problem(self, messages: Messages, places: list[Place]) -> str:
        number = places[0].call
        wanted = [place.expected for place in places]
        kinds = Kinds(self.none, messages, largest_of(every(messages, [*given(self._calls[number]), *wanted])))
        return next((found for place in places if (found := kinds.problem(place))), "")


def passed_on(calls: Sequence[dict[str, Any]]) -> set[int]:
    """Return the calls whose answers, or parts of them, go back into other calls."""
    found: set[int] = set()
    stack: list[Any] = [part for call in calls for part in (call["v"], call["k"], call["n"])]
    while stack:
        value = stack.pop()
        if isinstance(value, dict) and "x" in value:
            found |= {number for number in [_root(value["x"])] if number is not None}
        elif isinstance(value, list):
            stack += value
    return found


def _root(expression: Any) -> int | None:
    while expression[0] in {"item", "nth", "attr"}:
        expression = expression[1]
    return expression[1] if expression[0] == "ans" else None


def _resolved(messages: Messages, answer: Part, expression: Any) -> Part | None:
    """Return the part of an answer that an expression names; None if it has none."""
    if expression[0] == "ans":
        return answer
    part = _resolved(messages, answer, expression[1])
    if part is None:
        return None
    view, kind, key = messages.view(part), expression[0], expression[2]
    if view.family == OBJECT:
        names = [one.atom for one in view.keys]
        return view.parts[names.index(key)] if kind == "attr" and key in names else None
    if kind == "item" and view.family == MAPPING:
        wanted = exact(messages, Part(Table([]), key))
        return next((p for k, p in zip(view.keys, view.parts, strict=True) if exact(messages, k) == wanted), None)
    if kind == "attr":
        return None
    items = view.keys if view.family == MAPPING else view.parts
    return items[key] if type(key) is int and -len(items) <= key < len(items) else None


def ordinary(messages: Messages, answer: Part, text: str) -> str:
    """Return why an answer that is compared with nothing is not plain data; empty if it is.

    `text`: the tests and the signature.
    """
    for view in every(messages, [answer]):
        has = "the answer is" if view.part is answer else "the answer contains"
        if view.family == NUMBER and not is_finite(view.value) and not _names_infinite(text):
            return f"{has} a number that is not finite"
        if view.name.startswith("numpy.") and not view.name.endswith(_WIDE) and view.name[6:] not in text:
            return f"{has} a number of type {view.name}"
        if view.name == "tree" or (view.family == FUNCTION and view.name == "type"):
            return f"{has} a value of type {view.value}, which is no plain data"
    return ""


def _names_infinite(text: str) -> bool:
    lower = text.lower()
    return "nan" in lower or "inf" in lower


def is_comparison_of_two(calls: Sequence[dict[str, Any]], number: int) -> bool:
    """Whether a call asks if two objects that were constructed with different arguments are equal."""
    call = calls[number]
    if call["f"].get("x") != ["op", "eq"]:
        return False
    made = [calls[root] for atom in call["v"] if (root := _root(atom.get("x", ["op"]))) is not None]
    given = [[one["f"], one["v"], one["k"], one["n"]] for one in made if one["f"].get("x", [""])[0] == "name"]
    return len(given) == len(call["v"]) and given[0] != given[1]


def is_data(messages: Messages, answer: Part) -> bool:
    """Whether an answer is a number, a text or a container."""
    view = messages.view(answer)
    return view.family in views.CONTAINERS | {NUMBER, TEXT} and not is_truth(view)


def says_nothing(messages: Messages, answer: Part, call: dict[str, Any]) -> bool:
    """Whether an answer is empty, zero, None, or the call's own argument."""
    view = messages.view(answer)
    if view.family == NONE or (view.family == NUMBER and not view.value):
        return True
    if view.family in views.CONTAINERS and not view.parts:
        return True
    if view.family != OTHER and view.value in ("", b""):
        return True
    own = exact(messages, answer)
    return any(exact(messages, argument) == own for argument in given(call))


VACUOUS: tuple[Any, ...] = (None, 0, False, "", ["list", []], ["dict", []], ["tuple", []], ["set", []])
"""Answers that say nothing, as atoms or nodes; besides these, the call's own argument."""


def vacuous_messages(texts: Sequence[str], calls: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return the messages of programs that give the same empty answer, or their argument, to every call.

    Objects of a class that the program must write are kept: without them, the tests could not go on.
    """
    made = [[_answer(answer) for _ in calls] for answer in VACUOUS]
    made.append([_echo(call) for call in calls])
    return [[texts[0], *map(_kept, texts[1:], answers)] for answers in made]


def without_answers(texts: Sequence[str]) -> list[str]:
    """Return messages that return None to every call and change the same arguments."""
    messages = (json.loads(text) for text in texts[1:])
    return [texts[0], *(json.dumps({**message, "v": None} if "v" in message else message) for message in messages)]


def _kept(text: str, vacuous: str) -> str:
    return text if '["object"' in text else vacuous


def _answer(answer: Any) -> str:
    nodes = [answer] if isinstance(answer, list) else []
    return json.dumps({"v": {"r": 0} if nodes else answer, "m": [], "n": nodes, "p": ""})


def _echo(call: dict[str, Any]) -> str:
    """Return the answer of a program that returns its argument."""
    atom = next((argument.atom for argument in given(call)), None)
    return json.dumps({"v": atom, "m": [], "n": call["n"], "p": ""})
