"""Likeness: a pass is believed if the answers are those of the reference solution, or of its kind.

Every answer is compared with the reference's to the same call. Where one differs, it has to be of the same kind
(kinds.py), and the tests have to reject controls there (controls.py): values that say nothing about a solution.
"""

from __future__ import annotations

import itertools
import json
from functools import cached_property
from typing import NamedTuple

from grade_sandbox.tests import controls, shown
from grade_sandbox.tests.controls import Control, detached, exchanged, grafted
from grade_sandbox.tests.kinds import Kinds, largest_of
from grade_sandbox.tests.sameness import Comparison, Place
from grade_sandbox.tests.views import Messages, Part, as_key, every, given
from grade_sandbox.values.constructed import NONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from grade_sandbox.tests.sameness import Path

    Answer = tuple[str, Part | None]

ENDED, UNSENT = "no answer, because its process ended", "a value that cannot be serialized"
_PROBLEMS = {
    "ended": "the program gave no answer",
    "u": "such a value cannot be compared",
    "e": "the program raised an exception, and the reference solution returned a value",
    "v": "the program returned a value, and the reference solution raised an exception",
}


class Doubt(NamedTuple):
    """A place where an answer differs but is of the reference's kind; the controls for both sides."""

    place: Place
    controls: tuple[list[Control], list[Control]]

    def part(self, side: int) -> Part:
        """Return the place in the messages of the reference (0) or of the sample (1)."""
        return self.place.returned if side else self.place.expected


class Likeness:
    """The comparison of a sample's messages with those of the reference solution."""

    def __init__(
        self,
        calls: Sequence[dict[str, Any]],
        reads: Sequence[str],
        references: Sequence[Sequence[str]],
        sample: Sequence[str],
        opaque: Collection[int] = (),
        *,
        are_arguments_read: bool = True,
    ) -> None:
        """`references`: the messages of each run of the reference; `sample`: those of the sample.

        `opaque`: the calls whose answers are not compared. `are_arguments_read`: whether the tests look at arguments
        that both have changed, beside an answer.
        """
        self._calls, self._sample, self._opaque = calls, sample, opaque
        self._are_arguments_read = are_arguments_read
        self._expected = Messages(references[0][0], references[0][1:], calls)
        self._returned = Messages(sample[0], sample[1:], calls)
        pairs = zip(self._expected.texts, self._returned.texts, strict=False)
        self._equal = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        """Number of messages that are equal texts before the first other one."""
        self._comparison = Comparison(self._expected, self._returned, reads)
        self._compare = self._comparison.places
        self._varying: dict[int, list[Path]] = {}
        for other in references[1:]:
            runs = Likeness(calls, reads, references[:1], other)
            runs.compare()
            for number, paths in runs.differing.items():
                self._varying.setdefault(number, []).extend(paths)
        self.same = self.alike = 0
        self.problem = ""
        """How the first answer that is not like the reference's differs."""
        self.first: dict[str, str] | None = None
        """The first call that is not the same: `call`, `expected` and `returned`, as texts."""
        self.doubted: dict[str, str] | None = None
        """The same for the first call whose answer is not alike either."""
        self.doubts: list[Doubt] = []
        self.differing: dict[int, list[Path]] = {}
        """Call -> where its answer differs."""
        self.arguments: list[tuple[Part, list[Control]]] = []
        """Arguments that both have changed in different ways, while they also return an answer; controls for each.

        The places are in the messages `unread`.
        """
        self.unread: dict[int, dict[str, Any]] = {}
        """Messages of the sample, with copies of such arguments in the answers."""
        self._rewritten: dict[int, dict[str, Any]] = {}
        """Messages of the sample, with arguments as the reference left them."""

    @property
    def as_left(self) -> list[str] | None:
        """The sample's messages with arguments as the reference left them; None if it left the same changed."""
        return exchanged(self._sample, self._rewritten) if self._rewritten else None

    def compare(self) -> None:
        """Compare all messages."""
        if self._expected.texts == self._returned.texts:
            self.same = len(self._calls)
            return
        self._hello()
        for number in range(len(self._calls)):
            self._answer(number)

    def _hello(self) -> None:
        names = [messages.next().get("values", {}) for messages in (self._expected, self._returned)]
        for name in sorted(names[0].keys() & names[1].keys()):
            one, other = (messages.part("values", name) for messages in (self._expected, self._returned))
            self._note_places(-1, self._compare(-1, one, other, (name,)))

    def _answer(self, number: int) -> None:
        answers = _read(self._expected), _read(self._returned)
        (key, one), (other_key, other) = answers
        if number + 1 < self._equal or self._is_of_data(number):
            self.same += 1
            return
        if one is None or other is None or key != other_key:
            is_same = key == other_key
            self.same += is_same
            if not is_same:
                # Where the reference's answer is unknown, the tests do not ask for it.
                is_unknown = one is None and other is not None
                self.differing[number] = [()]
                self._note(number, "" if is_unknown else _PROBLEMS[other_key], answers)
            return
        is_silent = self._expected.view(one).family == NONE and self._is_procedure(number)
        places = (
            [] if (is_silent and key == "v") or number in self._opaque else self._compare(number, one, other, (key,))
        )
        places += self._compare(number, self._expected.part("p"), self._returned.part("p"), ("printed",))
        places += self._arguments(number, is_answer=is_silent and not self._expected.message["p"])
        self._note_places(number, places, *answers)

    def _is_of_data(self, number: int) -> bool:
        """Whether a call is an operation on answers that are data, and changes nothing. The tests do it themselves."""
        call, message = self._calls[number], self._returned.message
        operands = [atom["x"] for atom in call["v"] if isinstance(atom, dict) and "x" in atom]
        sides = self._expected.texts, self._returned.texts
        has_effect = min(map(len, sides)) <= number + 1 or message.get("m") or message["p"]
        if call["f"].get("x", [""])[0] != "op" or not operands or has_effect:
            return False
        return all(kind == "ans" and all(_is_data(texts[rest[0] + 1]) for texts in sides) for kind, *rest in operands)

    def _is_procedure(self, number: int) -> bool:
        """Whether this call may be made only for its effect. If so, a returned None is no answer."""
        function = self._calls[number]["f"].get("x", [""])
        # Methods and inner functions may always be.
        return function[0] != "name" or function[1] in self._procedures

    @cached_property
    def _procedures(self) -> set[str]:
        """The functions that always return None; empty if no call can have an effect that the tests see."""
        names, valued, is_seen = set[str](), set[str](), False
        for call, text in zip(self._calls, self._expected.texts[1:], strict=False):
            kind, name, *_ = call["f"].get("x", ("", ""))
            message = json.loads(text)
            is_seen |= bool(message.get("p") or changed_arguments(message))
            if kind == "name":
                names.add(name)
                valued |= {name} if message.get("v") is not None else set()
        return names - valued if is_seen or len(names) > 1 else set()

    def _arguments(self, number: int, *, is_answer: bool) -> list[Place]:
        """Return where changed arguments differ; note those that only one side changed.

        `is_answer`: whether the reference does nothing but change its arguments.
        """
        one, other = changed_arguments(self._expected.message), changed_arguments(self._returned.message)
        places = []
        for argument in self._expected.arguments() if one and is_answer else sorted(one & other, key=str):
            parts = self._expected.argument(argument), self._returned.argument(argument)
            differing = self._compare(number, *parts, ("argument",))
            if differing and not is_answer:
                self._note_argument(number, argument)
            if is_answer or self._are_arguments_read:
                places += differing
        if one != other:
            self.differing[number] = [("argument",)]
            self._leave_as_expected(number)
        return places

    def _note_argument(self, number: int, argument: int) -> None:
        """Note an argument that both change, in different ways. Its place is in a message with a copy in the answer."""
        changes = self._returned.message["m"]
        if number + 1 not in self.unread:
            self.unread[number + 1] = self._detached()
            self.unread[number + 1]["m"] += changes
        before = len(self.unread[number + 1]["m"]) - len(changes)
        at = before + [as_key(number) for number, _ in changes].index(argument)
        part = self._returned.argument(argument)
        place = part._replace(where=(number + 1, "m", at, 1))
        self.arguments.append((place, controls.of_argument(self._returned.view(part))))

    def _detached(self) -> dict[str, Any]:
        """Return the sample's last message without changes of arguments, and with copies of them in the answer."""
        message = detached(self._returned)
        answer = self._returned.message.get("v")
        if isinstance(answer, dict) and "t" in answer and answer == self._expected.message.get("v"):
            message["v"] = answer  # both return the same argument, and tests may ask for this
        return message

    def _leave_as_expected(self, number: int) -> None:
        """Rewrite a message of the sample: its answer apart from the arguments, these as the reference left them."""
        message = self._detached()
        copies: dict[int, int] = {}
        for argument in sorted(changed_arguments(self._expected.message), key=str):
            part = self._expected.argument(argument)
            atom = grafted(self._expected, part, message["n"], copies, is_argument=True)
            message["m"].append([argument, message["n"][atom["r"]]])
        self._rewritten[number + 1] = message

    # --- noting ---

    def _note_places(self, number: int, places: list[Place], *answers: Answer) -> None:
        if not places:
            self.same += number >= 0
            return
        self.differing.setdefault(number, []).extend(place.path for place in places)
        kinds = Kinds(self._expected, self._returned, self._largest(number))
        problem = next((found for place in places if (found := _undone(place) or kinds.problem(place))), "")
        if not problem:
            tested = [place for place in places if not self._varies(place)]
            self.doubts += [as_doubt(place, self._expected, self._returned) for place in tested]
        self._note(number, problem, answers, places[0])

    def _varies(self, place: Place) -> bool:
        """Whether the reference's own runs differ there."""
        return any(place.path[: len(path)] == path for path in self._varying.get(place.call, ()))

    def _largest(self, number: int) -> Any:
        answer = [self._expected.part("v")] if "v" in self._expected.message else []
        arguments = given(self._calls[number]) if number >= 0 else []
        return largest_of(every(self._expected, [*arguments, *answer]))

    def _note(self, number: int, problem: str, answers: Sequence[Answer], place: Place | None = None) -> None:
        """Note a call that is not the same, and where it differs; `problem`: why it is not alike either."""
        if answers:
            self.alike += not problem
            is_doubted = bool(problem) and not self.problem
            if self.first is None or is_doubted:
                call = shown.call(self._expected, self._calls, self._calls[number])
                texts = self._texts(place, answers)
                made = dict(zip(("call", "expected", "returned"), (call, *texts), strict=True))
                self.first = self.first or made
                self.doubted = made if is_doubted else self.doubted
        self.problem = self.problem or problem

    def _texts(self, place: Place | None, answers: Sequence[Answer]) -> Sequence[str]:
        """Return both answers as texts for people, with what else differs: printed text, changed arguments."""
        sides = self._expected, self._returned
        prints = self._expected.message["p"] != self._returned.message["p"]
        changes = any(changed_arguments(side.message) for side in sides)
        texts = [
            _text(side, answer, prints=prints, changes=changes) for side, answer in zip(sides, answers, strict=True)
        ]
        if place is None or texts[0] != texts[1]:
            return texts
        parts = zip(sides, (place.expected, place.returned), texts, strict=True)
        return [shown.clipped([shown.value(side, part), " in ", text]) for side, part, text in parts]


def _is_data(text: str) -> bool:
    """Whether a message has a value without objects or functions that stay with the program."""
    message = json.loads(text)
    return "v" in message and not any(node[0] in {"object", "function"} for node in message["n"])


def _read(messages: Messages) -> Answer:
    """Read the next answer; return how the call ended, and what it returned or raised."""
    if messages.read == len(messages.texts):
        return "ended", None
    message = messages.next()
    key = next((key for key in ("u", "e", "v") if key in message), "u")
    return key, None if key == "u" else messages.part(key)


def _undone(place: Place) -> str:
    """Return why a program whose answer is a change of its argument gives none; empty if it does."""
    is_undone = place.path[:1] == ("argument",) and place.returned.where is None
    return "the program does not change its argument there, and the reference solution does" if is_undone else ""


def _text(messages: Messages, answer: Answer, *, prints: bool, changes: bool) -> str:
    key, part = answer
    if part is None:
        return ENDED if key == "ended" else f"{UNSENT}: {messages.message.get('u', '')}"
    pieces = ["the exception " * (key == "e"), shown.value(messages, part)]
    if prints:
        pieces += ["; printed ", repr(messages.message["p"])]
    if changes:
        left = [shown.value(messages, messages.argument(number)) for number in messages.arguments()]
        pieces += [f"; afterwards {'the argument is' if len(left) == 1 else 'the arguments are'} {', '.join(left)}"]
    return shown.clipped(pieces)


def as_doubt(place: Place, expected: Messages, returned: Messages) -> Doubt:
    """Return a place with the controls for both sides."""
    one, other = expected.view(place.expected), returned.view(place.returned)
    return Doubt(place, (controls.of(one, other), controls.of(other, one)))


def changed_arguments(message: dict[str, Any]) -> set[Any]:
    """Return the numbers of the objects of a call that it changed."""
    return {as_key(number) for number, _ in message.get("m", ())}
