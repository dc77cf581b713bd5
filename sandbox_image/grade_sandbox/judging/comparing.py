"""Judge the answers to inputs in the data: each is compared with the expected one, by a rule or by a checker.

No candidate runs here. An answer may be a bomb: so this runs in a fork with limits, as tests do (server.py).
"""

from __future__ import annotations

import ast
import re
import sys

from grade_sandbox import values, wire
from grade_sandbox.candidate.answering import RAISED, UNSENT
from grade_sandbox.confine import process
from grade_sandbox.judging import comparisons, differences
from grade_sandbox.judging.asking import read_reply
from grade_sandbox.judging.comparisons import Verdicts
from grade_sandbox.judging.evalplus import EvalPlus
from grade_sandbox.judging.views import CONTAINER, NONE, NUMBER, OBJECT, TEXT, TRUTH, JudgeContext, View, iter_views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from grade_sandbox.jobs import Compare, Pair


class Opaque:
    """A value that is not plain data. It equals nothing."""

    def __init__(self, description: str) -> None:
        self.description = description

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<{self.description}>"


class Large(Opaque):
    """A value of which only a digest was kept."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Large) and self.description == other.description

    def __hash__(self) -> int:
        return hash(self.description)


class Raised(Opaque):
    """An exception, which the program raised instead of an answer."""


def parse_answer(reply: str, *, with_arguments: bool = False) -> Any:
    """Return what a program answered to a call: plain data, or Raised, Large or Opaque for anything else.

    Its reply may be any text. `with_arguments`: return [what it returned, its arguments and named arguments as it left
    them, what it printed].
    """
    try:
        if (digest := wire.parse_digest(reply)) is not None:
            return Large(f"an answer of {digest[1]:,} characters, {digest[0]}")
        parts = read_reply(reply, JudgeContext())
        value = parts.value
        if parts.outcome == UNSENT:
            is_type = not value.startswith(("a ", "an ", "the "))  # else it is in words: "a value of more than 32 MB"
            return Opaque(f"a value of type {value}" if is_type else value)
        if parts.outcome == RAISED:
            # For people: numbers and texts say enough.
            text = ", ".join(str(part) for part in value.args if isinstance(part, (str, int, float)))
            return Raised(f"{type(value).__name__}: {text}" if text else type(value).__name__)
        if with_arguments:
            value = [value, parts.args, parts.kwargs, parts.printed]
        first_opaque = next((part for part in iter_views(value) if not _is_plain(part)), None)
        if first_opaque is None:
            return value
        return Opaque(f"a value of type {first_opaque.value if first_opaque.family == OBJECT else first_opaque.kind}")
    except Exception as error:  # Each part may be missing, or of any type.
        return Opaque(f"an answer that cannot be read: {type(error).__name__}")


def _is_plain(view: View) -> bool:
    is_data = view.family in {NONE, TRUTH, NUMBER, TEXT, CONTAINER} and view.kind != "iterator"
    return is_data or view.kind == "record"


TOO_WEAK = "the checker also accepts an empty output or NaN here, so it does not show that this answer is right"
_is_near = comparisons.rule("float:1e-6")


class CheckerError(Exception):
    """Raised if a checker gives no verdict on an answer."""


class Comparison:
    """The answers of one program, and what is expected of them."""

    def __init__(self, spec: Compare) -> None:
        self._pairs, self._is_function = spec["pairs"], bool(spec["function"])
        self._with_arguments = spec.get("with_arguments", False)
        self._is_reference = spec.get("is_reference", False)
        official_rule = comparisons.rule(spec["rules"][0])
        # In a text for people, lines are compared with lines only if the rule does so.
        self._ignores_lines = not self._is_function and official_rule("1\n2", "1 2")
        self._has_checker = bool(spec.get("checker"))
        self._compare_pair = _comparison_function(spec)

    def compare(self) -> dict[str, Any]:
        """Return the verdicts in the order of the pairs, and texts for people: see the grader's `AnswerComparison`."""
        verdicts: list[tuple[bool, bool, str]] = []
        texts: dict[str, dict[str, str]] = {}
        right_readings = set(Verdicts._fields)
        """The readings in which every answer so far is right."""
        for number, pair in enumerate(self._pairs):
            expected = self._parse_answer(pair["expected"])
            answer = self._parse_answer(pair["answer"]) if "answer" in pair else None
            error = differences.printable(answer.description) if isinstance(answer, Raised) else ""
            try:
                pair_verdicts = self._verdicts(pair, expected, answer, is_answer="answer" in pair and not error)
            except CheckerError as failure:
                return {"failed": [pair["number"], wire.clip(str(failure))]}
            verdicts.append((*pair_verdicts, wire.clip(error)))
            # Only the first wrong answer in each reading is explained.
            wrong_readings = {reading for reading in right_readings if not getattr(pair_verdicts, reading)}
            if wrong_readings:
                texts[str(number)] = self._explain(pair, expected, answer, is_accepted=pair_verdicts.official)
            right_readings -= wrong_readings
        compared: dict[str, Any] = {"verdicts": verdicts, "shown": texts}
        if self._is_reference and self._with_arguments:
            compared["has_no_side_effect"] = all(map(self._changes_nothing, self._pairs))
        return compared

    def _explain(self, pair: Pair, expected: Any, answer: Any, *, is_accepted: bool) -> dict[str, str]:
        """Describe an answer that is wrong, officially or carefully.

        `is_accepted`: officially it is right. A checker that accepts it is too weak, because carefully it is wrong.
        """
        texts = differences.describe_difference(expected, answer, by_tokens=self._ignores_lines)
        if self._has_checker and "answer" in pair:
            texts["why"] = TOO_WEAK if is_accepted else differences.rejection_text(pair["answer"])
        return texts

    def _parse_answer(self, text: str) -> Any:
        return parse_answer(text, with_arguments=self._with_arguments) if self._is_function else text

    def _changes_nothing(self, pair: Pair) -> bool:
        """Whether a call leaves its arguments as they were (items 1 and 2 of the answer), and prints nothing (3)."""
        _, args, kwargs, _ = values.read(pair["input"])
        answer = self._parse_answer(pair["expected"])
        return not isinstance(answer, Opaque) and not answer[3] and comparisons.near_values([args, kwargs], answer[1:3])

    def _verdicts(self, pair: Pair, expected: Any, answer: Any, *, is_answer: bool) -> Verdicts:
        """Return whether an answer is right in each reading. `is_answer`: the program gave one, and raised nothing."""
        if pair.get("same"):
            answer = expected
        elif not is_answer:
            return Verdicts(False, False)
        try:
            if self._with_arguments:
                # The reference returns nothing (item 0). Officially only that counts; carefully only the other items.
                official, _ = self._compare_pair(pair, expected[0], answer[0])
                return Verdicts(official, _are_effects_alike(expected, answer))
            return self._compare_pair(pair, expected, answer)
        except CheckerError:
            raise
        except BaseException:  # A hostile value can raise anything where it is compared.
            return Verdicts(False, False)


def _are_effects_alike(expected: list[Any], answer: list[Any]) -> bool:
    """Whether a call changed its arguments, and printed, as the reference does: items 1 to 3 (see `parse_answer`)."""
    return comparisons.near_values(expected[1:3], answer[1:3]) and comparisons.trimmed(expected[3], answer[3])


def _comparison_function(spec: Compare) -> Callable[[Pair, Any, Any], Verdicts]:
    """Return the function that judges (pair, expected, answer)."""
    if spec.get("checker"):
        return _checker_function(spec["checker"])
    if "evalplus" in spec:
        settings = spec["evalplus"]
        # A tolerance that one answer sets holds for all later ones of its group: base inputs, or others.
        for_base, for_others = (
            EvalPlus(spec["function"], settings["tolerance"], is_mbpp=settings["is_mbpp"]) for _ in range(2)
        )

        def by_evalplus(pair: Pair, expected: Any, answer: Any) -> Verdicts:
            comparer = for_base if pair["number"] < settings["base"] else for_others
            arguments = values.read(pair["input"])[1] if "input" in pair else ()
            # Also an answer that is known to be the expected one (`same`) is compared: it may set that tolerance.
            verdicts = comparer.verdicts(arguments, expected, answer)
            return Verdicts(True, True) if pair.get("same") else verdicts

        return by_evalplus
    official, careful = map(comparisons.rule, spec["rules"])
    return lambda _, expected, answer: Verdicts(official(expected, answer), careful(expected, answer))


def _checker_function(source: str) -> Callable[[Pair, str, str], Verdicts]:
    """Return the function that asks a checker.

    An accepted output that is not the expected one is carefully right only if an empty output and NaN are rejected.
    A checker that raises on an answer, but accepts the expected output, has found the answer wrong (as on DMOJ). To
    return anything but a truth value counts as raising: one of assertions alone returns None for every right answer.
    """
    sys.stdin = sys.stdout = process.Streams()
    # An output must not be run as code, which could accept itself.
    namespace: dict[str, Any] = {"__name__": "checker", "eval": lambda text, *_: ast.literal_eval(text), "exec": None}

    def run_checker(pair: Pair, expected: str, output: str) -> bool:
        result = namespace["check"](pair["input"], output, expected)
        if result not in (True, False):
            raise TypeError(f"it returns {result!r}, not True or False")
        return bool(result)

    def accepts(pair: Pair, expected: str, output: str) -> bool:
        try:
            return run_checker(pair, expected, output)
        except BaseException:
            return False

    def check(pair: Pair, expected: str, output: str) -> Verdicts:
        try:
            if "check" not in namespace:
                exec(compile(source, "checker", "exec"), namespace)
            is_accepted = run_checker(pair, expected, output)
        except BaseException as error:
            is_accepted = False
            if not accepts(pair, expected, expected):
                raise CheckerError(f"{type(error).__name__}: {error}") from None
        if not is_accepted or _is_near(expected, output):
            return Verdicts(official=is_accepted, careful=is_accepted)
        controls = (text for text in ("", re.sub(r"\S+", "nan", output)) if not _is_near(expected, text))
        return Verdicts(official=True, careful=not any(accepts(pair, expected, control) for control in controls))

    return check
