"""How two answers differ, in words and as texts for people."""

from __future__ import annotations

from grade_sandbox.judging import comparisons

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_SHOWN = 1000
"""Characters of an answer in the results."""


def printable(text: str) -> str:
    """Return a text with escapes in place of half characters (lone surrogates), which no file can contain."""
    return text.encode(errors="backslashreplace").decode()


def shown(value: Any) -> str:
    """Return an answer for people: a text, or a value as source."""
    try:
        return printable(value if isinstance(value, str) else repr(value))
    except Exception:  # Python writes no integer of more than 4,300 digits, but its hexadecimal digits.
        return hex(value) if isinstance(value, int) else "<a value that cannot be shown>"


def texts(expected: Any, given: Any, *, by_tokens: bool = False) -> dict[str, str]:
    """Return both answers around their first difference, and the difference in words.

    `by_tokens`: line breaks make no difference.
    """
    first, second = shown(expected), shown(given)
    around = _around_difference(first, second)
    return {"expected": around[0], "returned": around[1], "why": _words(expected, given, first, second, by_tokens)}


_RULES = comparisons.rule("float:1e-6"), comparisons.numbers, comparisons.tokens
"""From tolerant to strict: a part with another value is shown before one that writes the same number differently."""


def _words(expected: Any, given: Any, first: str, second: str, by_tokens: bool) -> str:
    if first == second and type(expected) is type(given):  # NaN, or what is too deep to be written
        return f"the answer is {_short(second)}, and does not equal the expected {_short(first)}"
    if first == second:
        kinds = type(given).__name__, type(expected).__name__
        return f"the answer is {_short(second)} of type {kinds[0]}, expected {_short(first)} of type {kinds[1]}"
    kind, parts = "line", (first.strip().split("\n"), second.strip().split("\n"))
    if by_tokens and len(parts[0]) != len(parts[1]):
        kind, parts = "token", (first.split(), second.split())
    pairs = list(enumerate(zip(*parts, strict=False), 1))
    number = next((number for rule in _RULES for number, pair in pairs if not rule(*pair)), None)
    if number is None:
        counts = len(parts[1]), len(parts[0])
        return "other blanks or line ends" if counts[0] == counts[1] else f"{counts[0]} {kind}s instead of {counts[1]}"
    where = "the answer" if len(parts[0]) == len(parts[1]) == 1 else f"{kind} {number}"
    return f"{where} is {_short(parts[1][number - 1])}, expected {_short(parts[0][number - 1])}"


def rejected(text: str) -> str:
    """Return the reason for an answer that a checker rejects."""
    return f"the checker rejects the answer {_short(printable(text))}"


def _short(text: str) -> str:
    text = text.strip()
    return f"`{text[:100]}{'...' if len(text) > 100 else ''}`"


def _around_difference(expected: str, output: str) -> tuple[str, str]:
    """Return two texts, without what is equal long before their first difference."""
    before = 0
    if max(len(expected), len(output)) > MOST_SHOWN:
        pairs = enumerate(zip(expected, output, strict=False))
        least = min(len(expected), len(output))
        before = max(0, next((number for number, (a, b) in pairs if a != b), least) - MOST_SHOWN // 4)
    start = f"[{before:,} equal characters] ..." if before else ""
    return start + _cut(expected[before:]), start + _cut(output[before:])


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}... [{len(text) - MOST_SHOWN:,} more characters]"
