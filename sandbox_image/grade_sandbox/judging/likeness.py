"""Why a pass is believed: its answers are the reference's, or of their kind where the tests reject wrong values.

`same`: of the same kinds and equal (sameness.py). `alike`: numbers for numbers, texts for texts, never empty in place
of something; and the tests fail if all differing places get controls. A control is a wrong value that every test which
checks this place must reject, such as NaN or an empty text.
"""

from __future__ import annotations

import collections
import math
import sys
from typing import NamedTuple

from grade_sandbox import values
from grade_sandbox.candidate.answering import RETURNED, UNSENT
from grade_sandbox.judging import calls as recorded_calls
from grade_sandbox.judging.asking import Reply, read_reply
from grade_sandbox.judging.sameness import (
    MAX_PLACES,
    USUAL_TYPES,
    are_same,
    differing_parts,
    have_same_leaves,
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
    Ref,
    View,
    format_value,
    iter_views,
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
VALUE, PRINTED, ARGUMENTS = "value", "printed", "arguments"
ENDED = "ended"


class Place(NamedTuple):
    """Where an answer differs from the reference's."""

    call: int
    root: str
    """VALUE, PRINTED or ARGUMENTS."""
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
        self._texts = replies
        self._expected_texts = expected[0]
        """The replies of the reference's first run."""
        self._calls = [recorded_calls.read(call, self.context) for call in tests.calls]
        self._expected = [read_reply(text, self.context) for text in expected[0]]
        self._other_reference_runs = [[read_reply(text, self.context) for text in run] for run in expected[1:]]
        """The replies of the reference's other runs, which show what varies in its answers."""
        self._procedures = recorded_calls.procedures(self._calls, self._expected)
        """The numbers of the calls that return nothing: changed arguments and output are their answer."""
        self.equal_count = 0
        """The number of answers that are the reference's."""
        self.problem = ""
        """Why the answers are not of the reference's kind."""
        self.first_difference: dict[str, str] = {}
        """The first call with another answer, for people."""
        self.places: list[Place] = []
        """Where the answers differ, but are of the reference's kind."""
        self._other_arguments: list[int] = []
        """The numbers of the calls that return a value, and do not leave their arguments as the reference does."""

    @property
    def has_nothing_to_compare(self) -> bool:
        """Whether the reference returns nothing, prints nothing and changes no argument."""
        return all(
            reply.outcome == RETURNED
            and reply.value is None
            and not reply.printed
            and are_same(_arguments(reply), _arguments(call))
            for call, reply in zip(self._calls, self._expected, strict=True)
        )

    def compare(self) -> None:
        """Compare all answers."""
        for number, expected in enumerate(self._expected):
            if number >= len(self._texts):
                self._note_problem(number, "it ended before this call", Reply(ENDED, None))
                return
            try:
                returned = read_reply(self._texts[number], self.context)
            except values.MalformedError as error:
                self._note_problem(number, f"a malformed value ({error})", Reply(UNSENT, None))
                continue
            self._compare_one(number, expected, returned)

    def _compare_one(self, number: int, expected: Reply, returned: Reply) -> None:
        """Compare one answer: count it, or note its places or its problem."""
        if problem := _outcome_problem(self._calls[number], expected, returned):
            self._note_problem(number, problem, returned)
            return
        differences = self._differences(number, expected, returned)
        differs_in_shape_only = bool(differences) and have_same_leaves(expected.value, returned.value)
        if differs_in_shape_only and any(map(self._kind_problem, differences)):
            # Parts at the same position may be of different kinds then, so the kind of the whole value decides.
            whole_value = Place(number, VALUE, (), expected.value, returned.value)
            outside_value = [place for place in differences if place.root != VALUE]
            differences = [*outside_value, whole_value]
        problem = next(filter(None, map(self._kind_problem, differences)), "")
        if problem:
            self._note_problem(number, problem, returned)
            return
        # Where the reference itself varies, nothing but the kind is expected.
        differences = [place for place in differences if not self._varies_at(number, expected, place)]
        if not differences:
            self.equal_count += 1
            return
        self._note_first(number, expected, returned)
        if len(self.places) < MAX_PLACES:
            self.places += differences

    def _differences(self, number: int, expected: Reply, returned: Reply) -> list[Place]:
        """Return where an answer differs from the reference's.

        Of a call that returns a value, changed arguments are no part of the answer. If they differ,
        `_other_arguments` notes the call, and the tests decide whether that matters.
        """
        is_procedure = number in self._procedures
        value_places = () if is_procedure else differing_parts(expected.value, returned.value)
        differences = [Place(number, VALUE, *parts) for parts in value_places]
        if not are_same(_arguments(expected), _arguments(returned)):
            if is_procedure:
                differences += self._argument_differences(number, expected, returned)
            else:
                self._other_arguments.append(number)
        if expected.printed != returned.printed and (is_procedure or self._calls[number].state.get("captures")):
            differences.append(Place(number, PRINTED, (), expected.printed, returned.printed))
        return differences

    def _argument_differences(self, number: int, expected: Reply, returned: Reply) -> list[Place]:
        """Return where a procedure's arguments differ after the call. To have changed none is noted as a problem."""
        if are_same(_arguments(self._calls[number]), _arguments(returned)):
            self.problem = self.problem or f"call {number + 1}: it leaves its arguments as they were"
        parts = differing_parts(_arguments(expected), _arguments(returned))
        return [Place(number, ARGUMENTS, *part) for part in parts]

    def _varies_at(self, number: int, expected: Reply, place: Place) -> bool:
        """Whether the reference's runs differ in this place of the value, in what contains it, or in a part of it."""
        if place.root != VALUE:
            return False
        runs = (run[number].value for run in self._other_reference_runs if number < len(run))
        paths = (path for value in runs for path, _, _ in differing_parts(expected.value, value))
        # `zip` ends with the shorter path: one of the two must begin with the other.
        return any(all(one == two for one, two in zip(path, place.path, strict=False)) for path in paths)

    def _kind_problem(self, place: Place) -> str:
        call = self._calls[place.call]
        return kind_problem(place.expected, place.returned, (call.args, call.kwargs))

    def _note_problem(self, number: int, why: str, returned: Reply) -> None:
        self._note_first(number, self._expected[number], returned)
        self.problem = self.problem or f"call {number + 1}: {why}"

    def _note_first(self, number: int, expected: Reply, returned: Reply) -> None:
        if not self.first_difference:
            text = recorded_calls.format_call(self._calls, self._expected, number)
            self.first_difference = {
                "call": text,
                "expected": _answer_text(expected),
                "returned": _answer_text(returned),
            }

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
                    return f"the tests also pass with {_describe_controls(changes)}, so they do not decide this value"
        return ""

    def _replace_arguments(self) -> list[str]:
        """Return the program's replies, with the arguments as the reference leaves them."""
        texts = list(self._texts)
        for number in self._other_arguments:
            reply, expected = read_reply(texts[number], self.context), self._expected[number]
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
            reply = read_reply(changed[number], self.context)
            for place, control in changes_of_call:
                if place.root == VALUE:
                    reply = reply._replace(value=_replace_part(reply.value, place.path, control))
                elif place.root == PRINTED:
                    reply = reply._replace(printed=control)
                else:
                    args, kwargs = _replace_part(_arguments(reply), place.path, control)
                    reply = reply._replace(args=args, kwargs=kwargs)
            changed[number] = values.write(tuple(reply), self.context)
        return changed


def _comparison_context(tests: Tests) -> JudgeContext:
    """Return a context that reads the program's objects without the program: its classes are empty ones here."""
    signature = tests.compiled.execute_signature()
    context = JudgeContext(signature.classes)
    # The program defines the classes among the stubs, and those that only its tests name.
    names = [name for name, stub in signature.stubs.items() if isinstance(stub, type)]
    names += [name for name, origin in tests.spec["names"].items() if origin == "class"]
    for name in names:
        context.classes[name] = cls = type(name, (), {})
        context.names[cls] = name
    return context


def _outcome_problem(call: recorded_calls.Call, expected: Reply, returned: Reply) -> str:
    """Return why a call did not end as that of the reference; empty if it did."""
    if returned.outcome == UNSENT:
        return f"it cannot be serialized: {returned.value}"
    if expected.outcome != returned.outcome:
        return "it raised an exception" if returned.outcome != RETURNED else "it raised none"
    # Only a forged reply has others.
    return "" if _has_arguments_of(call, returned) else "its reply has other arguments than the call"


def _has_arguments_of(call: recorded_calls.Call, reply: Reply) -> bool:
    """Whether a reply has the arguments of its call, and the tests' objects become what it has in their place."""
    arguments, left = ({**dict(enumerate(one.args)), **one.kwargs} for one in (call, reply))
    # The program's own answer, a `Ref` in the call, may be of any kind.
    objects = zip(call.mutables, reply.mutables, strict=False)
    left_by_id = {id(one): two for one, two in objects if type(one) is not Ref}
    pairs = [(one, left.get(name)) for name, one in arguments.items() if id(one) in left_by_id]
    # What is of another kind would not change the tests' object.
    return arguments.keys() == left.keys() and all(
        left_by_id[id(one)] is two and view(one).kind == view(two).kind for one, two in pairs
    )


def _arguments(one: recorded_calls.Call | Reply) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return one.args, one.kwargs


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

    Containers and objects with the same leaves are of one kind. If one of the two is a truth value or None, it matters
    only which of them Python takes as true. Else both must be of one family. `arguments`: see `_number_problem`.
    """
    expected_view, returned_view = view(expected), view(returned)
    family, families = expected_view.family, {expected_view.family, returned_view.family}
    if families <= {CONTAINER, OBJECT} and have_same_leaves(expected, returned):
        return ""
    if TRUTH in families or NONE in families:
        return "" if _is_true(expected_view) == _is_true(returned_view) else "it counts as another truth"
    if len(families) > 1:
        return f"it is of another kind ({returned_view.family} in place of {family})"
    if family == REMOTE:
        return "it is another object"
    if family == OBJECT and not set(expected_view.keys or ()) <= set(returned_view.keys or ()):
        return "it has other attributes"
    if family == TEXT and len(returned_view.value) > MAX_TIMES_LONGER * len(expected_view.value) + MAX_LONGER:
        return "it is much longer"
    has_emptied_text = family == TEXT and expected_view.value and not returned_view.value
    if has_emptied_text or (family == CONTAINER and expected_view.parts and not returned_view.parts):
        return "it is empty"
    is_iterator, is_complete = returned_view.kind == "iterator", returned_view.value
    if is_iterator and not is_complete:
        return "it is an iterator without an end"
    if is_iterator and expected_view.kind != "iterator":
        return "it is an iterator"
    has_other_dtype = expected_view.dtype != returned_view.dtype and returned_view.dtype not in USUAL_TYPES
    # Containers with the same leaves are of one kind, whatever their type: see above.
    if has_other_dtype and (family == CONTAINER or not are_same(expected_view.value, returned_view.value)):
        return f"it has the type {returned_view.dtype}"
    if family == OTHER and expected_view.kind != returned_view.kind:
        return "it is something else"
    return _number_problem(expected, returned, arguments)


def _number_problem(expected: Any, returned: Any, arguments: Any) -> str:
    """Return why a number in an answer cannot be meant; empty if none is.

    Numbers in the arguments count beside the expected ones, because a right answer may be as large as they are. So does
    1, because an expected 0 does not say how large a right answer may be.
    """
    known_magnitudes = filter(math.isfinite, map(_magnitude, iter_views([expected, arguments])))
    max_magnitude = MAX_TIMES_LARGER * max([1.0, *known_magnitudes])
    magnitudes = map(_magnitude, iter_views(returned))
    if any(not math.isfinite(magnitude) or magnitude > max_magnitude for magnitude in magnitudes):
        return "it has a number that is not finite, or much larger"
    return ""


def _is_true(value: View) -> bool:
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
    """Whether an exception is of the nearest of Python's classes that the expected one is of, or of a class above."""
    families = [cls for cls in type(expected).__mro__ if values.KNOWN.get(cls.__name__) is cls]
    return isinstance(returned, families[0]) or isinstance(expected, type(returned))


# --- controls ---

_NO_CONTROL = object()
"""Stands for a control that the reference or the program has answered, because tests may accept that."""
_ANOTHER_ERROR = type("AnotherError", (Exception,), {})
"""An exception that no test names."""


def _controls(place: Place, *, replaces_reference: bool) -> list[Any]:
    """Return wrong values that a test which checks this place must reject.

    They replace what the program answered there, or the reference (`replaces_reference`). All places of one kind have
    theirs in the same order.
    """
    answers = place.expected, place.returned
    replaced_answer = place.expected if replaces_reference else place.returned
    replaced = view(replaced_answer)
    if TRUTH in {view(one).family for one in answers}:
        controls: list[Any] = [not _is_true(replaced)]
    elif place.root == PRINTED:
        controls = ["", SNOWMEN]
    elif replaced.family == NUMBER:
        controls = [math.nan, HUGE, 0, -replaced.value, None]
    elif replaced.family == TEXT:
        controls = [type(replaced.value)(), SNOWMEN, None]
    elif replaced.family == CONTAINER:
        controls = [_empty_container(replaced_answer), None]
    elif replaced.family == ERROR:
        # One of another family than the expected one is believed only if the tests reject an unknown exception.
        controls = [] if _is_of_family(*answers) else [_ANOTHER_ERROR("another")]
    else:
        controls = [True] if replaced.family == NONE else [False, [], None]
    # A place has something for each of its controls, because the position of a control is the number of its round.
    return [_NO_CONTROL if any(are_same(control, one) for one in answers) else control for control in controls]


def _control_rounds(places: Sequence[Place], *, replaces_reference: bool) -> Iterator[list[tuple[Place, Any]]]:
    """Yield controls for all places at once: the first one of each place, then the second one, and so on.

    One replay for each place would take too long. Tests that check only some of the places fail all the same.
    """
    pairs = [(place, _controls(place, replaces_reference=replaces_reference)) for place in places]
    pairs = [(place, controls) for place, controls in pairs if controls]
    for number in range(max((len(controls) for _, controls in pairs), default=0)):
        # A place that has fewer controls keeps its last one.
        chosen = [(place, controls[min(number, len(controls) - 1)]) for place, controls in pairs]
        if changes := [(place, control) for place, control in chosen if control is not _NO_CONTROL]:
            yield changes


def _empty_container(value: Any) -> Any:
    return type(value)() if type(value) in {list, tuple, set, frozenset, dict} else []


def _describe_controls(changes: Sequence[tuple[Place, Any]]) -> str:
    """Return the first control and where it was put, for people."""
    place, control = changes[0]
    return f"{format_value(control)} in the answer to call {place.call + 1}"


def _replace_part(value: Any, path: Path, part: Any) -> Any:
    """Return a value with another part; what can change is changed in place.

    A value whose parts cannot be set one by one, such as an array or a set, is replaced as a whole.
    """
    if not path:
        return part
    name, *inner = path
    if isinstance(value, tuple):
        fields = list(getattr(type(value), "_fields", range(len(value))))
        position = fields.index(name)
        items = list(value)
        items[position] = _replace_part(items[position], tuple(inner), part)
        return tuple.__new__(type(value), items)
    if isinstance(value, (list, dict, collections.deque)):
        value[name] = _replace_part(value[name], tuple(inner), part)
        return value
    if type(value) is values.SentIterator:
        value.items[name] = _replace_part(value.items[name], tuple(inner), part)
        return value
    is_table = values.module_of(type(value)).partition(".")[0] == "pandas"
    if is_table or not hasattr(value, "__dict__"):
        return part
    object.__setattr__(value, name, _replace_part(getattr(value, name), tuple(inner), part))
    return value
