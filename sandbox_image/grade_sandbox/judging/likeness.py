"""Why a pass is believed: its answers are the reference's, or of their kind where the tests reject what says nothing.

`same`: of the same kinds and equal (sameness.py). `alike`: numbers for numbers, texts for texts, never empty in place
of something; and the tests fail if all differing places are replaced by controls.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

from grade_sandbox import values
from grade_sandbox.candidate.answering import RAISED, RETURNED, UNSENT
from grade_sandbox.judging import calls as calls_shown
from grade_sandbox.judging.sameness import MAX_PLACES, USUAL_TYPES, places, plain, same, same_leaves, without_order
from grade_sandbox.judging.seen import (
    CONTAINER,
    ERROR,
    NONE,
    NUMBER,
    OBJECT,
    OTHER,
    REMOTE,
    TEXT,
    TRUTH,
    Seen,
    every,
    shown,
    view,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from grade_sandbox.judging.asking import Reply
    from grade_sandbox.judging.replaying import Tests
    from grade_sandbox.judging.sameness import Way

CONTROL_SECONDS = 2.0
"""CPU time of one replay with a control, beyond that of the first replay; one that needs more is rejected."""
LARGEST = 1e6
"""How many times larger a number may be than those of the answer and the arguments."""
TIMES_LONGER, LONGER = 4, 64
"""How much longer than the expected text a text may be."""
VALUE, PRINTED = "value", "printed"
ENDED = "ended"


class Place(NamedTuple):
    """Where an answer differs from the reference's."""

    call: int
    root: Any
    """VALUE, PRINTED, or the position of an argument."""
    way: Way
    expected: Any
    returned: Any


class Likeness:
    """The answers of a program beside those of the reference."""

    def __init__(self, tests: Tests, expected: Sequence[Sequence[str]], replies: Sequence[str]) -> None:
        """`expected`: the replies of each run of the reference, at least one."""
        self._tests = tests
        self.context = _context(tests)
        self._texts, self._expected_texts = replies, expected[0]
        """The replies of the program, and those of the reference's first run."""
        self._calls = [calls_shown.read(call, self.context) for call in tests.calls]
        self._expected = [self.context.reply(text) for text in expected[0]]
        self._runs = [[self.context.reply(text) for text in run] for run in expected[1:]]
        """The reference's other runs, which show what varies in its answers."""
        self._procedures = calls_shown.procedures(self._calls, self._expected)
        """The numbers of the calls that return nothing: changed arguments and output are their answer."""
        self.same = 0
        """The number of answers that are the reference's."""
        self.problem = ""
        """Why the answers are not of the reference's kind."""
        self.first: dict[str, str] = {}
        """The first call with another answer, for people."""
        self.places: list[Place] = []
        self._left: list[int] = []
        """The calls that leave their arguments in another way."""

    @property
    def is_silent(self) -> bool:
        """Whether the reference returns nothing, prints nothing and changes no argument: nothing can be compared."""
        return all(
            how == RETURNED and value is None and not printed and same(args, call.args) and same(kwargs, call.kwargs)
            for call, (how, value, args, kwargs, printed, *_) in zip(self._calls, self._expected, strict=True)
        )

    def compare(self) -> None:
        """Compare all answers."""
        for number, expected in enumerate(self._expected):
            if number >= len(self._texts):
                self._doubt(number, "it ended before this call", (ENDED, None))
                return
            try:
                returned = self.context.reply(self._texts[number])
            except values.MalformedError as error:
                self._doubt(number, f"a malformed value ({error})", (UNSENT, None))
                continue
            self._compare_one(number, expected, returned)

    def _compare_one(self, number: int, expected: Reply, returned: Reply) -> None:
        if self._calls[number].target == ("op", "len") and expected[0] == RAISED:
            self.same += 1  # `list` asks for a length by itself, which only some classes have
            return
        if UNSENT in (expected[0], returned[0]) or expected[0] != returned[0]:
            if returned[0] == UNSENT:
                self._doubt(number, f"it cannot be serialized: {returned[1]}", returned)
            else:
                self._doubt(number, "it raised an exception" if returned[0] != RETURNED else "it raised none", returned)
            return
        found = self._places(number, expected, returned)
        if not found:
            self.same += 1
            return
        if same_leaves(expected[1], returned[1]) and any(map(self._kind_problem, found)):
            found = [one for one in found if one.root != VALUE] + [Place(number, VALUE, (), expected[1], returned[1])]
        for place in found:
            if problem := self._kind_problem(place):
                self._show(number, expected, returned)
                self.problem = self.problem or f"call {number + 1}: {problem}"
                return
        found = [place for place in found if not self._varies_at(number, expected, place)]
        if not found:
            self.same += 1  # of the expected kind, and nothing else is expected
            return
        self._show(number, expected, returned)
        if len(self.places) < MAX_PLACES:
            self.places += found

    def _places(self, number: int, expected: Reply, returned: Reply) -> list[Place]:
        """Return where an answer differs."""
        call, is_procedure = self._calls[number], number in self._procedures
        found = [] if is_procedure else [Place(number, VALUE, *one) for one in places(expected[1], returned[1])]
        if found and self._varies_in_order(number, expected, returned):
            found = []
        if not (same(expected[2], returned[2]) and same(expected[3], returned[3])):
            if is_procedure and same(call.args, returned[2]):
                self.problem = self.problem or f"call {number + 1}: it leaves its arguments as they were"
            if is_procedure:
                found += [Place(number, way[0], way[1:], p, q) for way, p, q in places(expected[2], returned[2]) if way]
            elif found or not calls_shown.is_varying(self._runs, number, expected):
                self._left.append(number)
        if expected[4] != returned[4] and (is_procedure or call.state.get("captures")):
            found.append(Place(number, PRINTED, (), expected[4], returned[4]))
        return found

    def _varies(self, number: int, expected: Reply) -> bool:
        """Whether the reference's runs differ in the answer to a call, so that only its kind is expected."""
        return any(not same(run[number][1], expected[1]) for run in self._runs if number < len(run))

    def _varies_at(self, number: int, expected: Reply, place: Place) -> bool:
        """Whether the reference's runs differ in a place."""
        if place.root != VALUE:
            return False
        found = (way for run in self._runs if number < len(run) for way, _, _ in places(expected[1], run[number][1]))
        return any(all(one == two for one, two in zip(way, place.way, strict=False)) for way in found)

    def _varies_in_order(self, number: int, expected: Reply, returned: Reply) -> bool:
        """Whether an answer differs only in an order in which the reference's runs differ."""
        if not self._varies(number, expected):
            return False
        one = without_order(expected[1])
        return all(without_order(run[number][1]) == one for run in self._runs) and without_order(returned[1]) == one

    def _kind_problem(self, place: Place) -> str:
        call = self._calls[place.call]
        return kind_problem(place.expected, place.returned, (call.args, call.kwargs))

    def _doubt(self, number: int, why: str, returned: Sequence[Any]) -> None:
        self._show(number, self._expected[number], returned)
        self.problem = self.problem or f"call {number + 1}: {why}"

    def _show(self, number: int, expected: Reply, returned: Sequence[Any]) -> None:
        if not self.first:
            text = calls_shown.shown(self._calls, self._expected, number)
            self.first = {"call": text, "expected": _answer_text(expected), "returned": _answer_text(returned)}

    # --- what the tests decide ---

    def doubt(self, seconds: float) -> str:
        """Return why a pass is not believed; empty if it is. `seconds`: CPU time of one replay."""
        if self.problem:
            return self.problem
        if self._left and not self._tests.accepts(self._as_left(), seconds):
            return "the tests fail if its arguments are left as the reference solution leaves them"
        # Controls replace parts of the reference's answers, and then of the program's own.
        for side, texts in enumerate((self._expected_texts, self._texts)):
            for changes in _replacements(self.places, side):
                if self._tests.accepts(self._with(texts, changes), seconds):
                    return f"the tests also pass with {_controls_text(changes)}, so they do not decide this value"
        return ""

    def _as_left(self) -> list[str]:
        made = list(self._texts)
        for number in self._left:
            how, value, _, _, printed, consumed, _ = self.context.reply(made[number])
            _, _, args, kwargs, _, _, own = self.context.reply(self._expected_texts[number])
            made[number] = values.write((how, value, args, kwargs, printed, consumed, own), self.context)
        return made

    def _with(self, texts: Sequence[str], changes: Sequence[tuple[Place, Any]]) -> list[str]:
        """Return replies in which some parts are replaced."""
        made = list(texts)
        by_call: dict[int, list[tuple[Place, Any]]] = {}
        for place, new in changes:
            by_call.setdefault(place.call, []).append((place, new))
        for number, replaced in by_call.items():
            how, value, args, kwargs, printed, consumed, own = self.context.reply(made[number])
            for place, new in replaced:
                if place.root == VALUE:
                    value = _put(value, place.way, new)
                elif place.root == PRINTED:
                    printed = new if isinstance(new, str) else ""
                else:
                    args = _put(args, (place.root, *place.way), new)
            made[number] = values.write((how, value, args, kwargs, printed, consumed, own), self.context)
        return made


def _context(tests: Tests) -> Seen:
    _, classes, stubs = tests.script.classes()
    found = Seen(classes)
    asked = [name for name, stub in stubs.items() if isinstance(stub, type)]
    asked += [name for name, how in tests.spec["names"].items() if how == "class"]
    for name in asked:
        found.classes[name] = kind = type(name, (), {})
        found.names[kind] = name
    return found


def _answer_text(reply: Sequence[Any]) -> str:
    how, value = reply[0], reply[1]
    if how == ENDED:
        return "nothing, because its process ended"
    if how == UNSENT:
        return f"what cannot be serialized: {value}"
    if how == RETURNED and value is None and len(reply) > 4 and reply[4]:
        return f"None, and printed {shown(reply[4])}"
    return shown(value)


# --- kinds ---


def kind_problem(expected: Any, returned: Any, given: Any) -> str:
    """Return why an answer that differs is not of the reference's kind; empty if it is. `given`: the arguments."""
    one, two = view(expected), view(returned)
    families = {one.family, two.family}
    if families <= {CONTAINER, OBJECT} and same_leaves(expected, returned):
        return ""
    if TRUTH in families or NONE in families:
        return "" if _truth(one) == _truth(two) else "it counts as another truth"
    if len(families) > 1:
        return f"it is of another kind ({two.family} in place of {one.family})"
    if one.family == REMOTE:
        return "it is another object"
    if one.family == OBJECT and not set(one.keys or ()) <= set(two.keys or ()):
        return "it has other attributes"
    if one.family == TEXT and len(two.value) > TIMES_LONGER * len(one.value) + LONGER:
        return "it is much longer"
    if (one.family == TEXT and one.value and not two.value) or (
        one.family == CONTAINER and one.parts and not two.parts
    ):
        return "it is empty"
    if two.kind == "iterator" and (one.kind != "iterator" or not two.value):
        return "it is an iterator" if two.value else "it is an iterator without an end"
    if one.dtype != two.dtype not in USUAL_TYPES and not same(plain(expected), plain(returned)):
        return f"it has the type {two.dtype}"
    if one.family == OTHER and one.kind != two.kind:
        return "it is something else"
    return _number_problem(expected, returned, given)


def _number_problem(expected: Any, returned: Any, given: Any) -> str:
    most = LARGEST * max([1.0, *filter(math.isfinite, map(_size, every([expected, given])))])
    sizes = [_size(seen) for seen in every(returned)]
    if any(not math.isfinite(size) or size > most for size in sizes):
        return "it has a number that is not finite, or much larger"
    return ""


def _truth(seen: Any) -> bool:
    return bool(seen.value) if seen.family in {TRUTH, NUMBER, TEXT} else bool(seen.parts) or seen.family not in {
        NONE, CONTAINER,
    }  # fmt: skip


def _size(seen: Any) -> float:
    if seen.family != NUMBER:
        return 0.0
    try:
        return float(abs(seen.value))
    except (OverflowError, ValueError, ArithmeticError):
        return sys.float_info.max


def _is_of_family(expected: Any, returned: Any) -> bool:
    """Whether an exception is of the library's family of another, or above it."""
    families = [kind for kind in type(expected).__mro__ if values.KNOWN.get(kind.__name__) is kind]
    return isinstance(returned, families[0]) or isinstance(expected, type(returned))


# --- controls ---

_AS_IT_IS = object()
"""In place of a control that is one of the two answers."""
_ANOTHER_ERROR = type("AnotherError", (Exception,), {})
"""An exception that no test names."""


def _controls(place: Place, side: int) -> list[Any]:
    """Return what says nothing in a place. All places of one kind have theirs in the same order.

    `side`: 0 for what the reference answered there, 1 for what the program answered.
    """
    both = place.expected, place.returned
    own, other = view(both[side]), view(both[1 - side])
    if TRUTH in {own.family, other.family}:
        made: list[Any] = [not _truth(own)]
    elif place.root == PRINTED:
        made = ["", "\u2603\u2603\u2603"]
    elif own.family == NUMBER:
        made = [math.nan, 1e200, 0, -own.value, None]
    elif own.family == TEXT:
        made = [type(own.value)(), "\u2603\u2603\u2603", None]
    elif own.family == CONTAINER:
        made = [_empty(both[side]), None]
    elif own.family == ERROR:
        made = [] if _is_of_family(*both) else [_ANOTHER_ERROR("another")]
    else:
        made = [True] if own.family == NONE else [False, [], None]
    return [_AS_IT_IS if same(one, both[0]) or same(one, both[1]) else one for one in made]


def _replacements(places: Sequence[Place], side: int) -> Iterator[list[tuple[Place, Any]]]:
    """Yield controls for all places at once: the first one of each place, then the second one, and so on."""
    tried = [(place, controls) for place in places if (controls := _controls(place, side))]
    for number in range(max((len(controls) for _, controls in tried), default=0)):
        # A place that has fewer controls keeps its last one.
        chosen = [(place, controls[min(number, len(controls) - 1)]) for place, controls in tried]
        if changes := [(place, new) for place, new in chosen if new is not _AS_IT_IS]:
            yield changes


def _empty(value: Any) -> Any:
    return type(value)() if type(value) in {list, tuple, set, frozenset, dict} else []


def _controls_text(changes: Sequence[tuple[Place, Any]]) -> str:
    """Return the first controls and where they were put, for people."""
    numbers = {place.call for place, _ in changes}
    is_one = len(numbers) == 1
    where = f"in the answer to call {min(numbers) + 1}" if is_one else "in its place"
    return f"{' and '.join(shown(new) for _, new in changes[: 2 if is_one else 1])} {where}"


def _put(value: Any, way: Way, new: Any) -> Any:
    """Return a value with another part; what can change is changed in place."""
    if not way:
        return new
    name, *rest = way
    if isinstance(value, tuple):
        fields = list(getattr(type(value), "_fields", range(len(value))))
        items = list(value)
        items[fields.index(name)] = _put(items[fields.index(name)], tuple(rest), new)
        return tuple.__new__(type(value), items)
    if isinstance(value, (list, dict)) or type(value).__name__ == "deque":
        value[name] = _put(value[name], tuple(rest), new)
        return value
    if type(value) is values.SentIterator:
        value.items[name] = _put(value.items[name], tuple(rest), new)
        return value
    if type(value).__module__ in {"numpy", "pandas"} or not hasattr(value, "__dict__"):
        return new
    object.__setattr__(value, name, _put(getattr(value, name), tuple(rest), new))
    return value
