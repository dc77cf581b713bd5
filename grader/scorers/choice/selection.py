"""Selections: the options that a claim names; those of a text that is only letters, or an option's text or number."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.choice.options import EDGE
from grader.scorers.patterns import Pattern

if TYPE_CHECKING:
    from grader.scorers.choice.options import ChoiceOptions, OptionText

_LETTERS = Pattern(r"[A-Z](?:(?:[\s,/&+;\"']|and|or)*[A-Z])+")


class Problem(NamedTuple):
    """Why a claim does not name one option."""

    rule: str
    detail: str


class Selection(NamedTuple):
    """The options that a claim names. Without letters, the claim says that no option is the answer."""

    letters: frozenset[str]
    start: int
    end: int
    rule: str
    problem: Problem | None = None


def select_text(text: OptionText) -> Selection:
    """Return the option whose text this is."""
    return Selection(frozenset(text.letter), text.start, text.end, "option_text")


def select_whole(text: str, offset: int, options: ChoiceOptions) -> Selection | None:
    """Return the options that a text names if it is nothing but letters, or an option's text or number; else None.

    A single letter is returned even if no option has it. `offset`: where the text begins in the reply.
    """
    end = len(text.rstrip(EDGE))
    start = end - len(text[:end].lstrip(EDGE))
    if start >= end:
        return None
    body, span = text[start:end], (offset + start, offset + end)
    letters, letters_of_text = _letters_in(body, options), options.letters_with_text(text)
    is_letter = len(body) == 1 and body.isascii() and body.isalpha()
    # A letter that no option has can still be an option's text.
    if is_letter and (body.upper() in options or not letters_of_text):
        return Selection(frozenset(body.upper()), *span, "bare_letter")
    # "B, B" names B. But "2" is the second option only if it is no option's text.
    if len(letters) == 1 and not body.isdecimal():
        return Selection(letters, *span, "bare_letter")
    if letters_of_text:
        detail = f"the text of {' and '.join(letters_of_text)}"
        problem = Problem("option_text", detail) if len(letters_of_text) > 1 else None
        return Selection(frozenset(letters_of_text), *span, "option_text", problem)
    if not letters:
        return None
    return Selection(letters, *span, "ordinal" if body.isdecimal() else "several_letters")


def _letters_in(text: str, options: ChoiceOptions) -> frozenset[str]:
    """Return the options of a text that is only letters ("A, B", "B B B"), or the number of an option."""
    is_number = text.isdecimal() and len(text) < 4  # Python refuses to convert thousands of digits
    if is_number and not options.have_numbers and 0 < int(text) <= len(options.letters):
        return frozenset(options.letters[int(text) - 1])
    letters = [*filter(str.isupper, text)] if _LETTERS.fullmatch(text) else []
    is_word = text.isalpha() and len(set(letters)) < len(letters)  # "AA", "ABBA"
    return frozenset(letters) if set(letters) <= set(options.letters) and not is_word else frozenset()
