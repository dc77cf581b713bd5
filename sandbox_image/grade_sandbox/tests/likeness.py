"""Likeness: a pass is believed if the answers are those of the reference solution, or of its kind.

Every answer is compared with the reference's to the same call. Where one differs, it has to be of the same kind
(kinds.py), and the tests have to reject controls there (controls.py): values that say nothing about a solution.
"""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import NamedTuple

from grade_sandbox.tests import controls, shown, varying
from grade_sandbox.tests.answers import ENDED, Answer
from grade_sandbox.tests.kinds import Kinds, largest_of
from grade_sandbox.tests.sameness import Comparison, Place
from grade_sandbox.tests.tried import Change, Replayed, as_they_are, exchanged
from grade_sandbox.tests.views import CONTAINERS, every, view
from grade_sandbox.values.constructed import FUNCTION, NONE, OBJECT
from grade_sandbox.values.messages import RAISED, RETURNED, UNSENT, expressions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from grade_sandbox.tests.answers import Reader
    from grade_sandbox.tests.sameness import Path
    from grade_sandbox.tests.tried import Tried

NO_ANSWER = "no answer, because its process ended"
_PROBLEMS = {
    ENDED: "the program gave no answer",
    UNSENT: "such a value cannot be compared",
    RAISED: "the program raised an exception, and the reference solution returned a value",
    RETURNED: "the program returned a value, and the reference solution raised an exception",
}


_UNDONE = "the program does not change its argument there, and the reference solution does"
_CHANGEABLE = {*CONTAINERS, OBJECT}


class Doubt(NamedTuple):
    """A place where an answer differs but is of the reference's kind; the controls for both sides."""

    place: Place
    controls: tuple[list[Any], list[Any]]

    def change(self, side: int, number: int) -> Change:
        """Return a control put into the place, in the messages of the reference (0) or of the sample (1)."""
        own = self.controls[side]
        return Change(self.place.call, self.place.root, self.place.ways[side], own[min(number, len(own) - 1)])


class Likeness:
    """The comparison of a sample's messages with those of the reference solution."""

    def __init__(
        self,
        reader: Reader,
        reads: Sequence[str],
        references: Sequence[Sequence[str]],
        sample: Sequence[str],
        opaque: Collection[int] = (),
    ) -> None:
        """`references`: the messages of each run of the reference; `sample`: those of the sample.

        `opaque`: the calls whose answers are not compared.
        """
        self._reader, self._calls, self._opaque = reader, reader.calls, opaque
        self._sample = as_they_are(sample)
        self._expected, self._returned = reader.said(references[0]), reader.said(sample)
        pairs = zip(references[0], sample, strict=False)
        self._equal = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        """Number of messages that are equal texts before the first other one."""
        self._is_same_text = list(references[0]) == list(sample)
        self._compare = Comparison(reads).places
        self._varying: dict[int, list[Path]] = {}
        """Call -> where the answers of the reference's runs differ, and not in their order only."""
        self._forms: dict[int, varying.Form] = {}
        """Call -> the form in which the reference's answers are equal, if only their order differs."""
        self._learn([Likeness(reader, reads, references[:1], other) for other in references[1:]])
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
        self._rewritten: dict[int, Replayed] = {}

    @property
    def as_left(self) -> Tried | None:
        """The sample's messages with arguments as the reference left them; None if it left the same changed."""
        return exchanged(self._sample, self._rewritten) if self._rewritten else None

    def compare(self) -> None:
        """Compare all messages."""
        if self._is_same_text:
            self.same = len(self._calls)
            return
        for number in range(len(self._calls)):
            self._answer(number)

    def _learn(self, runs: Sequence[Likeness]) -> None:
        """Learn from other runs of the reference where its answers differ, and which of them have no order."""
        values: dict[int, list[Any]] = {}
        for run in runs:
            run.compare()
            for number, paths in run.differing.items():
                self._varying.setdefault(number, []).extend(paths)
                values.setdefault(number, [self._expected.answers[number].value])
                values[number].append(run._returned.answers[number].value)
        for number, given in values.items():
            if (form := varying.order_of([given])) is not None:
                self._forms[number] = form
                beside = [path for path in self._varying[number] if path and path[0] in {"printed", "argument"}]
                self._varying[number] = beside

    def _is_reordered(self, number: int) -> bool:
        """Whether the sample's answer is the reference's without its order, which differs between its runs."""
        one, other = self._sides(number)
        form = self._forms.get(number)
        return form is not None and varying.is_same_in(form, one.value, other.value)

    def _sides(self, number: int) -> tuple[Answer, Answer]:
        return self._expected.answers[number], self._returned.answers[number]

    def _answer(self, number: int) -> None:
        one, other = self._sides(number)
        if number + 1 < self._equal or self._is_of_data(number):
            self.same += 1
            return
        if one.how != other.how or one.how in {UNSENT, ENDED}:
            is_same = one.how == other.how
            self.same += is_same
            if not is_same:
                # What the reference cannot answer, the tests do not ask: it is unknown, or an operation that it lacks.
                lacks = self._calls[number].target[0] == "op" and isinstance(one.value, TypeError)
                is_unknown = (lacks or not one.is_given) and other.is_given
                self.differing[number] = [()]
                self._note(number, "" if is_unknown else _PROBLEMS[other.how])
            return
        is_silent = view(one.value).family == NONE and self._is_procedure(number)
        is_silent_answer = is_silent and one.how == RETURNED
        is_compared = not (is_silent_answer or number in self._opaque or self._is_reordered(number))
        places = self._compare(number, one.value, other.value, one.how) if is_compared else []
        places += self._compare(number, one.printed, other.printed, "printed")
        is_answer = is_silent and not one.printed
        arguments = self._arguments(number, is_answer=is_answer)
        undone = bool(arguments) and is_answer and not other.changed
        self._note_places(number, places + arguments * is_answer, arguments, _UNDONE if undone else "")

    def _is_of_data(self, number: int) -> bool:
        """Whether a call is an operation on answers that are data, and changes nothing. The tests do it themselves."""
        call, other = self._calls[number], self._returned.answers[number]
        operands = [*expressions(call.arguments)]
        sides = self._expected.answers, self._returned.answers
        has_effect = any(side[number].how == ENDED for side in sides) or other.changed or other.printed
        if call.target[0] != "op" or not operands or has_effect:
            return False
        return all(kind == "ans" and all(_is_data(side[rest[0]]) for side in sides) for kind, *rest in operands)

    def _is_procedure(self, number: int) -> bool:
        """Whether this call may be made only for its effect. If so, a returned None is no answer."""
        function = self._calls[number].target
        # Methods and inner functions may always be.
        return function[0] != "name" or function[1] in self._procedures

    @cached_property
    def _procedures(self) -> set[str]:
        """The functions that always return None; empty if no call can have an effect that the tests see."""
        names, valued, is_seen = set[str](), set[str](), False
        for call, answer in zip(self._calls, self._expected.answers, strict=True):
            if answer.how == ENDED:
                break
            kind, name, *_ = call.target
            is_seen |= bool(answer.printed or answer.changed)
            if kind == "name":
                names.add(name)
                valued |= {name} if answer.how == RETURNED and answer.value is not None else set()
        return names - valued if is_seen or len(names) > 1 else set()

    def _arguments(self, number: int, *, is_answer: bool) -> list[Place]:
        """Return where changed arguments differ; note that the tests must accept them as the reference leaves them.

        `is_answer`: whether the reference does nothing but change its arguments. Then they are compared as an answer.
        """
        one, other = self._sides(number)
        whole = one.objects.tops if one.changed and is_answer else sorted(one.changed & other.changed, key=str)
        places: list[Place] = []
        for argument in whole:
            places += self._compare(number, one.objects[argument], other.objects[argument], ("argument", argument))
        if one.changed != other.changed or (places and not is_answer):
            self.differing[number] = [("argument",)]
            self._rewritten[number] = self._with_copies(number)
        return places

    def _with_copies(self, number: int) -> Replayed:
        """Return the sample's message with copies in its answer; the arguments change by the reference's message.

        If both return the same argument, it stays that: the tests may ask for this.
        """
        one, other = self._sides(number)
        returned = other.returned if other.returned == one.returned else None
        return Replayed(
            self._sample[number + 1].text, has_copies=True, left=self._expected.texts[number + 1], returned=returned
        )

    # --- noting ---

    def _note_places(self, number: int, places: list[Place], arguments: list[Place], problem: str) -> None:
        """Note where an answer differs, and arguments beside it. `problem`: how it differs in kind, if known."""
        if not (places or arguments):
            self.same += 1
            return
        self.differing.setdefault(number, []).extend(place.path for place in (*places, *arguments))
        kinds = Kinds(self._largest(number))
        problem = next((found for place in places if (found := problem or kinds.problem(place))), "")
        if not problem:
            doubted = (place for place in places if not (place.path[0] == "argument" or self._varies(place)))
            self.doubts += map(as_doubt, doubted)
        self._note(number, problem)

    def _varies(self, place: Place) -> bool:
        """Whether the reference's own runs differ there."""
        return any(place.path[: len(path)] == path for path in self._varying.get(place.call, ()))

    def _largest(self, number: int) -> Any:
        answer = self._expected.answers[number]
        return largest_of(every([*self._reader.given[number], *([answer.value] if answer.how == RETURNED else [])]))

    def _note(self, number: int, problem: str) -> None:
        """Note a call that is not the same; `problem`: why it is not alike either."""
        self.alike += not problem
        is_doubted = bool(problem) and not self.problem
        if self.first is None or is_doubted:
            texts = shown.call(self._reader, number), *self._texts(number)
            made = dict(zip(("call", "expected", "returned"), texts, strict=True))
            self.first = self.first or made
            self.doubted = made if is_doubted else self.doubted
        self.problem = self.problem or problem

    def _texts(self, number: int) -> Sequence[str]:
        """Return both answers as texts for people, with what else differs: printed text, changed arguments."""
        one, other = self._sides(number)
        prints, changes = one.printed != other.printed, bool(one.changed or other.changed)
        return [_text(answer, prints=prints, changes=changes) for answer in (one, other)]


def _is_data(answer: Answer) -> bool:
    """Whether an answer is a value without objects or functions that stay with the program."""
    return answer.how == RETURNED and not any(
        seen.name == "remote" or seen.family == FUNCTION for seen in every([answer.value])
    )


def _text(answer: Answer, *, prints: bool, changes: bool) -> str:
    if not answer.is_given:
        return NO_ANSWER if answer.how == ENDED else f"<{answer.value}>"
    pieces = ["the exception " * (answer.how == RAISED), shown.value(answer.value)]
    if prints:
        pieces += ["; printed ", repr(answer.printed)]
    if changes:
        left = [shown.value(argument) for argument in answer.arguments if view(argument).family in _CHANGEABLE]
        pieces += [f"; afterwards {'the argument is' if len(left) == 1 else 'the arguments are'} {', '.join(left)}"]
    return shown.clipped(pieces)


def as_doubt(place: Place) -> Doubt:
    """Return a place with the controls for both sides."""
    one, other = view(place.expected), view(place.returned)
    return Doubt(place, (controls.of(one, other), controls.of(other, one)))
