"""Why a pass is believed: its answers are the reference's, or of their kind where the tests reject wrong values.

`same`: of the same kinds and equal (sameness.py). `alike`: numbers for numbers, texts for texts, never empty in place
of something; and the tests fail if all differing places get controls. A control is a wrong value that every test which
checks this place must reject, such as NaN or an empty text.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

from grade_sandbox import values
from grade_sandbox.candidate.answering import RAISED, RETURNED, UNSENT
from grade_sandbox.judging import calls as recorded_calls
from grade_sandbox.judging.asking import Reply
from grade_sandbox.judging.sameness import (
    MAX_PLACES,
    USUAL_TYPES,
    differing_parts,
    normalize,
    same,
    same_leaves,
    without_order,
)
from grade_sandbox.judging.views import (
    CONTAINER,
    ERROR,
    NONE,
    NUMBER,
    OBJECT,
    OTHER,
    REMOTE,
    TEXT,
    TRUTH,
    JudgeContext,
    View,
    every,
    format_value,
    view,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from grade_sandbox.judging.replaying import Tests
    from grade_sandbox.judging.sameness import Path

CONTROL_SECONDS = 2.0
"""CPU time of one replay with a control, beyond that of the first replay; one that needs more is rejected."""
MAX_TIMES_LARGER = 1e6
"""How many times larger a number may be than those of the expected answer and the arguments."""
MAX_TIMES_LONGER, MAX_LONGER = 4, 64
"""How many times longer than the expected text a text may be, and how many characters beyond that."""
SNOWMEN = "\u2603\u2603\u2603"
"""A text that no test expects."""
HUGE = 1e200
"""A number that no test expects."""
VALUE, PRINTED = "value", "printed"
ENDED = "ended"


class Place(NamedTuple):
    """Where an answer differs from the reference's."""

    call: int
    root: Any
    """VALUE, PRINTED, or the position of an argument."""
    path: Path
    """What leads from there to the differing part."""
    expected: Any
    returned: Any


class Likeness:
    """The answers of a program beside those of the reference."""

    def __init__(self, tests: Tests, expected: Sequence[Sequence[str]], replies: Sequence[str]) -> None:
        """`expected`: the replies of each run of the reference, at least one."""
        self._tests = tests
        self.context = _comparison_context(tests)
        self._texts, self._expected_texts = replies, expected[0]
        """The replies of the program, and those of the reference's first run."""
        self._calls = [recorded_calls.read(call, self.context) for call in tests.calls]
        self._expected = [self.context.reply(text) for text in expected[0]]
        self._runs = [[self.context.reply(text) for text in run] for run in expected[1:]]
        """The reference's other runs, which show what varies in its answers."""
        self._procedures = recorded_calls.procedures(self._calls, self._expected)
        """The numbers of the calls that return nothing: changed arguments and output are their answer."""
        self.same = 0
        """The number of answers that are the reference's."""
        self.problem = ""
        """Why the answers are not of the reference's kind."""
        self.first: dict[str, str] = {}
        """The first call with another answer, for people."""
        self.places: list[Place] = []
        """Where the answers differ, but are of the reference's kind."""
        self._other_arguments: list[int] = []
        """The numbers of the calls that return a value, and leave their arguments otherwise than the reference does."""

    @property
    def is_silent(self) -> bool:
        """Whether the reference returns nothing, prints nothing and changes no argument: nothing can be compared."""
        return all(
            reply.outcome == RETURNED
            and reply.value is None
            and not reply.printed
            and same(reply.args, call.args)
            and same(reply.kwargs, call.kwargs)
            for call, reply in zip(self._calls, self._expected, strict=True)
        )

    def compare(self) -> None:
        """Compare all answers."""
        for number, expected in enumerate(self._expected):
            if number >= len(self._texts):
                self._note_problem(number, "it ended before this call", Reply(ENDED, None))
                return
            try:
                returned = self.context.reply(self._texts[number])
            except values.MalformedError as error:
                self._note_problem(number, f"a malformed value ({error})", Reply(UNSENT, None))
                continue
            self._compare_one(number, expected, returned)

    def _compare_one(self, number: int, expected: Reply, returned: Reply) -> None:
        """Compare one answer: count it, or note its places or its problem."""
        if self._calls[number].target == ("op", "len") and expected.outcome == RAISED:
            self.same += 1  # `list` asks for a length by itself, which only some classes have
            return
        if problem := _outcome_problem(expected, returned):
            self._note_problem(number, problem, returned)
            return
        differences = self._differences(number, expected, returned)
        if differences and same_leaves(expected.value, returned.value) and any(map(self._kind_problem, differences)):
            # Only the shape differs, so the kind of the whole value decides.
            whole = Place(number, VALUE, (), expected.value, returned.value)
            differences = [*(place for place in differences if place.root != VALUE), whole]
        problem = next(filter(None, map(self._kind_problem, differences)), "")
        if problem:
            self._note_problem(number, problem, returned)
            return
        # Where the reference itself varies, nothing but the kind is expected.
        differences = [place for place in differences if not self._varies_at(number, expected, place)]
        if not differences:
            self.same += 1
            return
        self._note_first(number, expected, returned)
        if len(self.places) < MAX_PLACES:
            self.places += differences

    def _differences(self, number: int, expected: Reply, returned: Reply) -> list[Place]:
        """Return where an answer differs; note a call that leaves its arguments otherwise than the reference does."""
        is_procedure = number in self._procedures
        value_places = () if is_procedure else differing_parts(expected.value, returned.value)
        differences = [Place(number, VALUE, *parts) for parts in value_places]
        if differences and self._differs_only_in_order(number, expected, returned):
            differences = []
        if not (same(expected.args, returned.args) and same(expected.kwargs, returned.kwargs)):
            # If only the arguments differ, and the reference's runs differ in them, too, nothing is expected of them.
            if is_procedure:
                differences += self._argument_differences(number, expected, returned)
            elif differences or not recorded_calls.is_varying(self._runs, number, expected):
                self._other_arguments.append(number)
        if expected.printed != returned.printed and (is_procedure or self._calls[number].state.get("captures")):
            differences.append(Place(number, PRINTED, (), expected.printed, returned.printed))
        return differences

    def _argument_differences(self, number: int, expected: Reply, returned: Reply) -> list[Place]:
        """Return where a procedure leaves its arguments otherwise. To leave them unchanged is a problem."""
        if same(self._calls[number].args, returned.args):
            self.problem = self.problem or f"call {number + 1}: it leaves its arguments as they were"
        parts = differing_parts(expected.args, returned.args)
        return [Place(number, path[0], path[1:], one, two) for path, one, two in parts if path]

    def _varies_at(self, number: int, expected: Reply, place: Place) -> bool:
        """Whether the reference's runs differ in a place, in what contains it, or in a part of it."""
        if place.root != VALUE:
            return False
        runs = (run[number].value for run in self._runs if number < len(run))
        paths = (path for value in runs for path, _, _ in differing_parts(expected.value, value))
        return any(all(one == two for one, two in zip(path, place.path, strict=False)) for path in paths)

    def _differs_only_in_order(self, number: int, expected: Reply, returned: Reply) -> bool:
        """Whether an answer differs only in an order in which the reference's runs differ."""
        runs = [run[number].value for run in self._runs if number < len(run)]
        if all(same(value, expected.value) for value in runs):
            return False
        unordered = without_order(expected.value)
        return all(without_order(value) == unordered for value in (*runs, returned.value))

    def _kind_problem(self, place: Place) -> str:
        call = self._calls[place.call]
        return kind_problem(place.expected, place.returned, (call.args, call.kwargs))

    def _note_problem(self, number: int, why: str, returned: Reply) -> None:
        self._note_first(number, self._expected[number], returned)
        self.problem = self.problem or f"call {number + 1}: {why}"

    def _note_first(self, number: int, expected: Reply, returned: Reply) -> None:
        if not self.first:
            text = recorded_calls.format_call(self._calls, self._expected, number)
            self.first = {"call": text, "expected": _answer_text(expected), "returned": _answer_text(returned)}

    # --- what the tests decide ---

    def reason_to_doubt(self, seconds: float) -> str:
        """Return why a pass is not believed; empty if it is. `seconds`: CPU time of one replay."""
        if self.problem:
            return self.problem
        if self._other_arguments and not self._tests.accepts(self._replace_arguments(), seconds):
            return "the tests fail if its arguments are left as the reference solution leaves them"
        # Controls replace parts of the reference's answers, and then of the program's own.
        for texts, replaces_reference in ((self._expected_texts, True), (self._texts, False)):
            for changes in _control_rounds(self.places, replaces_reference=replaces_reference):
                if self._tests.accepts(self._apply_changes(texts, changes), seconds):
                    return f"the tests also pass with {_controls_text(changes)}, so they do not decide this value"
        return ""

    def _replace_arguments(self) -> list[str]:
        """Return the program's replies, with the arguments as the reference leaves them."""
        texts = list(self._texts)
        for number in self._other_arguments:
            reply, expected = self.context.reply(texts[number]), self._expected[number]
            reply = reply._replace(args=expected.args, kwargs=expected.kwargs, mutables=expected.mutables)
            texts[number] = values.write(tuple(reply), self.context)
        return texts

    def _apply_changes(self, texts: Sequence[str], changes: Sequence[tuple[Place, Any]]) -> list[str]:
        """Return replies in which some parts are replaced."""
        changed = list(texts)
        by_call: dict[int, list[tuple[Place, Any]]] = {}
        for place, control in changes:
            by_call.setdefault(place.call, []).append((place, control))
        for number, changes_of_call in by_call.items():
            reply = self.context.reply(changed[number])
            for place, control in changes_of_call:
                if place.root == VALUE:
                    reply = reply._replace(value=_replace_part(reply.value, place.path, control))
                elif place.root == PRINTED:
                    reply = reply._replace(printed=control if isinstance(control, str) else "")
                else:
                    reply = reply._replace(args=_replace_part(reply.args, (place.root, *place.path), control))
            changed[number] = values.write(tuple(reply), self.context)
        return changed


def _comparison_context(tests: Tests) -> JudgeContext:
    """Return a context with an empty class for each class that the program must define, to read its objects."""
    _, classes, stubs = tests.compiled.execute_signature()
    context = JudgeContext(classes)
    names = [name for name, stub in stubs.items() if isinstance(stub, type)]
    names += [name for name, origin in tests.spec["names"].items() if origin == "class"]
    for name in names:
        context.classes[name] = cls = type(name, (), {})
        context.names[cls] = name
    return context


def _outcome_problem(expected: Reply, returned: Reply) -> str:
    """Return why a call did not end as that of the reference; empty if it did."""
    if returned.outcome == UNSENT:
        return f"it cannot be serialized: {returned.value}"
    if expected.outcome == returned.outcome:
        return ""
    return "it raised an exception" if returned.outcome != RETURNED else "it raised none"


def _answer_text(reply: Reply) -> str:
    if reply.outcome == ENDED:
        return "nothing, because its process ended"
    if reply.outcome == UNSENT:
        return f"what cannot be serialized: {reply.value}"
    if reply.outcome == RETURNED and reply.value is None and reply.printed:
        return f"None, and printed {format_value(reply.printed)}"
    return format_value(reply.value)


# --- kinds ---


def kind_problem(expected: Any, returned: Any, arguments: Any) -> str:
    """Return why an answer that differs is not of the reference's kind; empty if it is.

    1. Containers and objects with the same leaves are of one kind. 2. Beside a truth or None, only the truth counts.
    3. Else both are of one family, and an object has all attributes; 4. a text is neither empty nor much longer, a
    container not empty; 5. an iterator stands only for one, and ends; 6. numbers of NumPy have a usual type, or the
    expected one, 7. and are finite, and not much larger.
    """
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
    if one.family == TEXT and len(two.value) > MAX_TIMES_LONGER * len(one.value) + MAX_LONGER:
        return "it is much longer"
    has_emptied_text = one.family == TEXT and one.value and not two.value
    if has_emptied_text or (one.family == CONTAINER and one.parts and not two.parts):
        return "it is empty"
    if two.kind == "iterator":
        has_end = two.value
        if not has_end:
            return "it is an iterator without an end"
        if one.kind != "iterator":
            return "it is an iterator"
    has_other_dtype = one.dtype != two.dtype and two.dtype not in USUAL_TYPES
    if has_other_dtype and not same(normalize(expected), normalize(returned)):
        return f"it has the type {two.dtype}"
    if one.family == OTHER and one.kind != two.kind:
        return "it is something else"
    return _number_problem(expected, returned, arguments)


def _number_problem(expected: Any, returned: Any, arguments: Any) -> str:
    known_magnitudes = filter(math.isfinite, map(_magnitude, every([expected, arguments])))
    max_magnitude = MAX_TIMES_LARGER * max([1.0, *known_magnitudes])
    magnitudes = map(_magnitude, every(returned))
    if any(not math.isfinite(magnitude) or magnitude > max_magnitude for magnitude in magnitudes):
        return "it has a number that is not finite, or much larger"
    return ""


def _truth(value: View) -> bool:
    if value.family in {TRUTH, NUMBER, TEXT}:
        return bool(value.value)
    return bool(value.parts) or value.family not in {NONE, CONTAINER}


def _magnitude(value: View) -> float:
    """Return the absolute value of a number, which is bounded; 0 of anything else."""
    if value.family != NUMBER:
        return 0.0
    try:
        return float(abs(value.value))
    except (OverflowError, ValueError, ArithmeticError):
        return sys.float_info.max


def _is_of_family(expected: Any, returned: Any) -> bool:
    """Whether an exception is of the library's family of another, or above it."""
    families = [cls for cls in type(expected).__mro__ if values.KNOWN.get(cls.__name__) is cls]
    return isinstance(returned, families[0]) or isinstance(expected, type(returned))


# --- controls ---

_NO_CONTROL = object()
"""In place of a control that is one of the two answers."""
_ANOTHER_ERROR = type("AnotherError", (Exception,), {})
"""An exception that no test names."""


def _controls(place: Place, *, replaces_reference: bool) -> list[Any]:
    """Return wrong values that a test which checks this place must reject.

    They replace what the program answered there, or the reference (`replaces_reference`). All places of one kind have
    theirs in the same order.
    """
    answers = place.expected, place.returned
    answer = place.expected if replaces_reference else place.returned
    replaced = view(answer)
    if TRUTH in {view(one).family for one in answers}:
        controls: list[Any] = [not _truth(replaced)]
    elif place.root == PRINTED:
        controls = ["", SNOWMEN]
    elif replaced.family == NUMBER:
        controls = [math.nan, HUGE, 0, -replaced.value, None]
    elif replaced.family == TEXT:
        controls = [type(replaced.value)(), SNOWMEN, None]
    elif replaced.family == CONTAINER:
        controls = [_empty(answer), None]
    elif replaced.family == ERROR:
        # Any other exception is believed only of tests that name it, and so reject one that they do not name.
        controls = [] if _is_of_family(*answers) else [_ANOTHER_ERROR("another")]
    else:
        controls = [True] if replaced.family == NONE else [False, [], None]
    # What one of the two answered need not be rejected. The other controls keep their positions.
    return [_NO_CONTROL if any(same(control, one) for one in answers) else control for control in controls]


def _control_rounds(places: Sequence[Place], *, replaces_reference: bool) -> Iterator[list[tuple[Place, Any]]]:
    """Yield controls for all places at once: the first one of each place, then the second one, and so on."""
    pairs = [(place, _controls(place, replaces_reference=replaces_reference)) for place in places]
    pairs = [(place, controls) for place, controls in pairs if controls]
    for number in range(max((len(controls) for _, controls in pairs), default=0)):
        # A place that has fewer controls keeps its last one.
        chosen = [(place, controls[min(number, len(controls) - 1)]) for place, controls in pairs]
        if changes := [(place, control) for place, control in chosen if control is not _NO_CONTROL]:
            yield changes


def _empty(value: Any) -> Any:
    return type(value)() if type(value) in {list, tuple, set, frozenset, dict} else []


def _controls_text(changes: Sequence[tuple[Place, Any]]) -> str:
    """Return the first controls and where they were put, for people."""
    numbers = {place.call for place, _ in changes}
    is_one = len(numbers) == 1
    where = f"in the answer to call {min(numbers) + 1}" if is_one else "in its place"
    return f"{' and '.join(format_value(control) for _, control in changes[: 2 if is_one else 1])} {where}"


def _replace_part(value: Any, path: Path, part: Any) -> Any:
    """Return a value with another part; what can change is changed in place."""
    if not path:
        return part
    name, *inner = path
    if isinstance(value, tuple):
        fields = list(getattr(type(value), "_fields", range(len(value))))
        position = fields.index(name)
        items = list(value)
        items[position] = _replace_part(items[position], tuple(inner), part)
        return tuple.__new__(type(value), items)
    if isinstance(value, (list, dict)) or type(value).__name__ == "deque":
        value[name] = _replace_part(value[name], tuple(inner), part)
        return value
    if type(value) is values.SentIterator:
        value.items[name] = _replace_part(value.items[name], tuple(inner), part)
        return value
    if type(value).__module__ in {"numpy", "pandas"} or not hasattr(value, "__dict__"):
        return part
    object.__setattr__(value, name, _replace_part(getattr(value, name), tuple(inner), part))
    return value
