"""How two answers differ, in words and as texts for people."""

from __future__ import annotations

from grade_sandbox.judging import comparisons

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MAX_SHOWN = 1000
"""Characters of an answer in the results."""


def printable(text: str) -> str:
    """Return a text with escapes in place of half characters (lone surrogates), which no file can contain."""
    return text.encode(errors="backslashreplace").decode()


def _format_answer(value: Any) -> str:
    """Return an answer for people: a text, or a value as source."""
    try:
        return printable(value if isinstance(value, str) else repr(value))
    except Exception:  # Python writes no integer of more than 4,300 digits, but its hexadecimal digits.
        return hex(value) if isinstance(value, int) else "<a value that cannot be shown>"


def describe_difference(expected: Any, answer: Any, *, by_tokens: bool = False) -> dict[str, str]:
    """Return both answers around their first difference, and the difference in words.

    `by_tokens`: line breaks make no difference.
    """
    expected_text, answer_text = _format_answer(expected), _format_answer(answer)
    before = _length_before_difference(expected_text, answer_text)
    start = f"[{before:,} equal characters] ..." if before else ""
    if expected_text == answer_text:
        why = _equal_texts_reason(expected, answer, answer_text)
    else:
        why = _first_difference(expected_text, answer_text, by_tokens=by_tokens)
    return {
        "expected": start + _cut(expected_text[before:]),
        "returned": start + _cut(answer_text[before:]),
        "why": why,
    }


def _equal_texts_reason(expected: Any, answer: Any, text: str) -> str:
    """Return why two answers differ although their texts are equal.

    Their types differ; or they are of one type, and a part is not equal to itself (NaN) or too deep to be written.
    """
    if type(expected) is type(answer):
        return f"the answer is {_short(text)}, and does not equal the expected {_short(text)}"
    types = type(answer).__name__, type(expected).__name__
    return f"the answer is {_short(text)} of type {types[0]}, expected {_short(text)} of type {types[1]}"


_RULES_BY_TOLERANCE = comparisons.rule("float:1e-6"), comparisons.numbers, comparisons.tokens
"""From tolerant to strict: a part with another value is shown before one that writes the same number differently."""


def _first_differing_position(pairs: Sequence[tuple[str, str]]) -> int | None:
    """Return the position of the first different pair by the most tolerant rule that finds one; None if none does."""
    for rule in _RULES_BY_TOLERANCE:
        for position, (expected, answer) in enumerate(pairs):
            if not rule(expected, answer):
                return position
    return None


def _first_difference(expected: str, answer: str, *, by_tokens: bool) -> str:
    """Return the first line, or the first token, in which two texts differ."""
    unit, expected_parts, answer_parts = "line", expected.strip().split("\n"), answer.strip().split("\n")
    # If one text has more lines than the other, they do not correspond.
    if by_tokens and len(expected_parts) != len(answer_parts):
        unit, expected_parts, answer_parts = "token", expected.split(), answer.split()
    position = _first_differing_position(list(zip(expected_parts, answer_parts, strict=False)))
    if position is None:
        if len(answer_parts) == len(expected_parts):
            return "other blanks or line ends"
        return f"{len(answer_parts)} {unit}s instead of {len(expected_parts)}"
    is_single = len(expected_parts) == len(answer_parts) == 1
    where = "the answer" if is_single else f"{unit} {position + 1}"
    return f"{where} is {_short(answer_parts[position])}, expected {_short(expected_parts[position])}"


def rejection_text(text: str) -> str:
    """Return the reason for an answer that a checker rejects."""
    return f"the checker rejects the answer {_short(printable(text))}"


MAX_SHORT = 100
"""Characters of a part of an answer in a sentence."""


def _short(text: str) -> str:
    text = text.strip()
    return f"`{text[:MAX_SHORT]}{'...' if len(text) > MAX_SHORT else ''}`"


def _length_before_difference(one: str, two: str) -> int:
    """Return how many equal characters to leave out at the beginning of two texts; 0 if both are short enough.

    A quarter of what is shown stands before the first difference.
    """
    if max(len(one), len(two)) <= MAX_SHOWN:
        return 0
    pairs = enumerate(zip(one, two, strict=False))
    first = next((position for position, (a, b) in pairs if a != b), min(len(one), len(two)))
    return max(0, first - MAX_SHOWN // 4)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}... [{len(text) - MAX_SHOWN:,} more characters]"
