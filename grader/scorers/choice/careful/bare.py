"""Replies that consist of a letter or an option's text only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.choice.careful.patterns import Pattern
from grader.scorers.choice.careful.quantities import WORDS
from grader.scorers.choice.reading import ChoiceReading, ambiguous, no_answer, read_as

if TYPE_CHECKING:
    from grader.scorers.choice.careful.options import Options

_SHARES = Pattern(
    r"[\s(\[{\"']*+([A-Z])[)\]}\"']*\s*+[:=-]?+\s*+(?:about|approximately|~)?+\s*+(\d{1,3}(?:\.\d{1,3})?)\s?%[)\s]*[,;|\n]?"
)
_NUMBER = Pattern(rf"\d|\b(?:{'|'.join(WORDS)}|[ivx]+)\b")
_EDGE = " \t\n.,;:!?\"'*()[]{}<>_`$#\u3002-"


def read_bare(text: str, options: Options) -> ChoiceReading | None:
    """Return the reading of a reply that is one letter or one option's text; None if it is more than that."""
    if len(text) > 2 * options.longest + 60:
        return None
    shown = _as_shown(text, options)
    if shown is not None:
        return shown
    end = len(text.rstrip(_EDGE))
    start = end - len(text[:end].lstrip(_EDGE))
    if start >= end:
        return None
    if end - start == 1 and text[start].isascii() and text[start].isalpha():
        return _letter(text, start, options)
    return _number(text, (start, end), options) or _text(text, (start, end), options) or _shares(text, options)


def _as_shown(text: str, options: Options) -> ChoiceReading | None:
    """Read a letter with its own text as the question shows it, "B. a red car", which most short replies are."""
    body = text.strip()
    letter, said = body[:1], body[3:].strip()
    if body[1:3] not in (". ", ") ", ": ") or not said or options.texts.get(letter, "").rstrip(".") != said.rstrip("."):
        return None
    first = text.index(body)
    return read_as(letter, "own_line", (first, first + len(body)))


def _shares(text: str, options: Options) -> ChoiceReading | None:
    """Return the likeliest option of a reply that is a list of probabilities ("A: 10%, B: 90%")."""
    found: dict[str, float] = {}
    at = 0
    while (m := _SHARES.match(text, at)) is not None:
        if m[1] in found or m[1] not in options:
            return None
        found[m[1]] = float(m[2])
        at = m.end()
    if len(found) < 2 or text[at:].strip(_EDGE) or any("%" in t for t in options.low.values()):
        return None
    most = [k for k, share in found.items() if share == max(found.values())]
    if len(most) > 1:
        return ambiguous("several_letters", (0, at), f"gives {' and '.join(most)} the same probability")
    return read_as(most[0], "highest_probability", (0, at))


def _letter(text: str, at: int, options: Options) -> ChoiceReading:
    letter, span = text[at].upper(), (at, at + 1)
    if letter not in options:
        same = options.same_text(text)
        if len(same) == 1:
            return read_as(same[0], "option_text", span)
        return no_answer("outside_options", span, f"{letter} is not among the options")
    return read_as(letter, "bare_letter", span)


def _number(text: str, span: tuple[int, int], options: Options) -> ChoiceReading | None:
    """Read the number of an option, if no option has a number."""
    said = text[slice(*span)]
    if len(said) != 1 or not "1" <= said <= "9" or int(said) > len(options.letters):
        return None
    if any(_NUMBER.search(t) for t in options.low.values()) or not all(options.texts.values()):
        return None
    return read_as(options.letters[int(said) - 1], "ordinal", span)


def _text(text: str, span: tuple[int, int], options: Options) -> ChoiceReading | None:
    same = options.same_text(text)
    if len(same) > 1:
        return ambiguous("option_text", span, f"the text of {' and '.join(same)}")
    said = text[slice(*span)]
    if not same:
        # "AB", "ABCD": several letters written together; a repeated letter would be a word or noise.
        together = 1 < len(set(said)) == len(said) and set(said) <= set(options.letters)
        return ambiguous("several_letters", span, f"names {' and '.join(said)}") if together else None
    if said.startswith("A ") and same[0] != "A" and options.takes_no_article(same[0]):
        return ambiguous("letter_and_text_disagree", span, f"names A, with the text of {same[0]}")
    return read_as(same[0], "option_text", span)
