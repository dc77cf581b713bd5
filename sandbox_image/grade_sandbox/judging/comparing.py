"""Judge the answers to inputs in the data: each is compared with the expected one, by a rule or by a checker.

No candidate runs here. An answer may be a bomb: so this runs in a fork with limits, as tests do (judging.py).
"""

from __future__ import annotations

import ast
import functools
import re
import sys

from grade_sandbox import values, wire
from grade_sandbox.candidate.answering import RAISED, UNSENT
from grade_sandbox.confine import process
from grade_sandbox.judging import comparisons, differences, varying
from grade_sandbox.judging.asking import read_reply
from grade_sandbox.judging.evalplus import EvalPlus
from grade_sandbox.judging.seen import CONTAINER, NONE, NUMBER, OBJECT, TEXT, TRUTH, Seen, View, every

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from grade_sandbox.jobs import Compare, Pair

    Rights = tuple[bool, bool]
    """Whether an answer is right, officially and carefully."""


class Opaque:
    """A value that is not plain data. It equals nothing."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<{self.what}>"


class Large(Opaque):
    """A value of which only a digest was kept."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Large) and self.what == other.what

    def __hash__(self) -> int:
        return hash(self.what)


class Raised(Opaque):
    """An exception, which the program raised instead of an answer."""


def value_of(reply: str, *, left: bool = False) -> Any:
    """Return what a program answered to a call. Its reply may be any text.

    `left`: the answer is what it printed and what became of its arguments.
    """
    try:
        if (short := wire.digest_of(reply)) is not None:
            return Large(f"an answer of {short[1]:,} characters, {short[0]}")
        how, value, args, kwargs, printed, *_ = read_reply(reply, Seen())
        if how == UNSENT:
            return Opaque(value if value.startswith("a value of ") else f"a value of type {value}")
        if how == RAISED:
            text = ", ".join(str(part) for part in value.args if isinstance(part, (str, int, float)))
            return Raised(f"{type(value).__name__}: {text}" if text else type(value).__name__)
        if left:
            value = [value, args, kwargs, printed]
        odd = next((seen for seen in every(value) if _is_odd(seen)), None)
        return value if odd is None else Opaque(f"a value of type {odd.value if odd.family == OBJECT else odd.kind}")
    except Exception as error:  # Each part may be missing, or of any type.
        return Opaque(f"an answer that cannot be read: {type(error).__name__}")


def _is_odd(seen: View) -> bool:
    """Whether a value is not plain data. It then equals nothing."""
    is_plain = seen.family in {NONE, TRUTH, NUMBER, TEXT, CONTAINER} and seen.kind != "iterator"
    return not (is_plain or seen.kind == "record")


TOO_WEAK = "the checker also accepts an empty output or NaN here, so it does not show that this answer is right"
_is_near = comparisons.rule("float:1e-6")


class CheckerError(Exception):
    """Raised if a checker gives no verdict on an answer."""


class Comparison:
    """The answers of one program, and what is expected of them."""

    def __init__(self, spec: Compare) -> None:
        self._pairs, self._is_function = spec["pairs"], bool(spec["function"])
        self._left = spec.get("left", False)
        self._order, self._finds_order = varying.FORMS.get(spec.get("order", "")), spec.get("finds_order", False)
        self._by_tokens = not self._is_function and comparisons.rule(spec["rules"][0])("1\n2", "1 2")
        self._has_checker = bool(spec.get("checker"))
        self._judge = _judge(spec)

    def compare(self) -> dict[str, Any]:
        """Return the verdicts in the order of the pairs, and texts for people."""
        verdicts: list[tuple[bool, bool, str]] = []
        shown: dict[str, dict[str, str]] = {}
        runs: list[list[Any]] = []
        is_silent = True
        open_ = {0, 1}
        """The readings in which every answer so far is right."""
        for number, pair in enumerate(self._pairs):
            both = self._value(pair["expected"]), self._value(pair["given"]) if "given" in pair else None
            error = differences.printable(repr(both[1]))[1:-1] if isinstance(both[1], Raised) else ""
            try:
                rights = self._rights(pair, *both, is_answer="given" in pair and not error)
            except CheckerError as failed:
                return {"failed": [pair["number"], wire.clip(str(failed))]}
            verdicts.append((*rights, wire.clip(error)))
            if self._finds_order:
                is_silent = is_silent and self._left and _changes_nothing(pair["input"], both[0])
                runs.append(self._runs(pair, both[0]))
            wrong = {reading for reading in open_ if not rights[reading]}
            if wrong:
                shown[str(number)] = differences.texts(*both, by_tokens=self._by_tokens)
                if self._has_checker and "given" in pair:
                    shown[str(number)]["why"] = TOO_WEAK if rights[0] else differences.rejected(pair["given"])
            open_ -= wrong
        silent = {"is_silent": is_silent} if self._left else {}
        return {
            "verdicts": verdicts,
            "shown": shown,
            **silent,
            **(varying.variation(runs) if self._finds_order else {}),
        }

    def _value(self, text: str) -> Any:
        return value_of(text, left=self._left) if self._is_function else text

    def _runs(self, pair: Pair, expected: Any) -> list[Any]:
        """Return what the reference answered in each run, but for values that cannot be compared."""
        others = map(self._value, pair.get("runs", ()))
        return [expected, *(one for one in others if not isinstance(one, Opaque) or isinstance(one, Large))]

    def _rights(self, pair: Pair, expected: Any, given: Any, *, is_answer: bool) -> Rights:
        if pair.get("same"):
            given = expected
        elif not is_answer:
            return False, False
        try:
            if self._left:
                return self._judge(pair, expected[0], given[0])[0], _are_left_alike(expected, given)
            official, careful = self._judge(pair, expected, given)
            if not careful and "runs" in pair and not self._finds_order:
                careful = varying.is_like(self._runs(pair, expected), given, self._order)
        except CheckerError:
            raise
        except BaseException:  # A hostile value can raise anything where it is compared.
            return False, False
        return official, careful


def _are_left_alike(expected: list[Any], given: list[Any]) -> bool:
    """Whether a call left its arguments, and printed, as the reference does. The first items are what was returned."""
    return comparisons.near_values(expected[1:3], given[1:3]) and comparisons.trimmed(expected[3], given[3])


def _changes_nothing(call: str, left: Any) -> bool:
    """Whether a call leaves its arguments as they were, and prints nothing."""
    _, args, kwargs, _ = values.read(call)
    return not isinstance(left, Opaque) and not left[3] and comparisons.near_values([args, kwargs], left[1:3])


def _judge(spec: Compare) -> Callable[[Pair, Any, Any], Rights]:
    """Return the function that judges (pair, expected, given)."""
    if spec.get("checker"):
        return _checked(spec["checker"])
    if "evalplus" in spec:
        given = spec["evalplus"]
        parts = [EvalPlus(spec["function"], given["tolerance"], is_mbpp=given["is_mbpp"]) for _ in range(2)]

        def by_evalplus(pair: Pair, expected: Any, value: Any) -> Rights:
            arguments = _arguments(pair["input"]) if "input" in pair else ()
            rights = parts[pair["number"] >= given["base"]].rights(arguments, expected, value)
            return (True, True) if pair.get("same") else rights

        return by_evalplus
    official, careful = map(comparisons.rule, spec["rules"])
    return lambda _, expected, value: (official(expected, value), careful(expected, value))


def _arguments(call: str) -> list[Any]:
    return list(values.read(call)[1])


def _checked(source: str) -> Callable[[Pair, str, str], Rights]:
    """Return the function that asks a checker.

    If it accepts an output that is not the expected one, it is believed only if it rejects an empty output and NaN.
    One that raises on an answer, and accepts the expected output, has found the answer wrong (as on DMOJ). To return
    anything but True or False counts as raising: a checker of assertions alone returns None for every right answer.
    """
    sys.stdin = sys.stdout = process.Streams()
    # An output must not be run as code, which could accept itself.
    space: dict[str, Any] = {"__name__": "checker", "eval": lambda text, *_: ast.literal_eval(text), "exec": None}

    def says(pair: Pair, expected: str, given: str) -> bool:
        answer = space["check"](pair["input"], given, expected)
        if answer not in (True, False):
            raise TypeError(f"it returns {answer!r}, not True or False")
        return bool(answer)

    def check(pair: Pair, expected: str, given: str) -> Rights:
        try:
            if "check" not in space:
                exec(compile(source, "checker", "exec"), space)
            is_right = says(pair, expected, given)
        except BaseException as error:
            is_right = False
            if not _accepts(functools.partial(says, pair, expected, expected)):
                raise CheckerError(f"{type(error).__name__}: {error}") from None
        if not is_right or _is_near(expected, given):
            return is_right, is_right
        controls = (one for one in ("", re.sub(r"\S+", "nan", given)) if not _is_near(expected, one))
        return True, not any(_accepts(functools.partial(says, pair, expected, one)) for one in controls)

    return check


def _accepts(check: Callable[[], bool]) -> bool:
    try:
        return check()
    except BaseException:
        return False
