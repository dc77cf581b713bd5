"""The careful reading of a reply to a multiple-choice question: what an attentive person concludes, never a guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.predictions.reasoning import hide_reasoning
from grader.scorers.choice.careful.options import Options
from grader.scorers.choice.careful.quantities import WORDS
from grader.scorers.choice.careful.resolve import read_page
from grader.scorers.choice.careful.text import Page, formulas
from grader.scorers.choice.reading import ChoiceReading, ambiguous, no_answer, read_as
from grader.scorers.containers import find_wrapped
from grader.scorers.patterns import Pattern
from grader.scorers.places import end_turn, this_question, without_loop
from grader.scorers.plain_text import blank, plain, without_markup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.scorers.containers import Wrapped

_LONGEST = 200_000
"""Only so many last characters of a reply are read."""
LONGEST_WITH_REASONING = 1_000_000
"""Reasoning is looked for in so many last characters."""


def read_choice(text: str, options: Mapping[str, str], question: str = "") -> ChoiceReading:
    """Return the option that `text` settles on, `no_answer` or `ambiguous`, with the rule and the span.

    `options` maps letters to their texts ("" if a text is not known). `question` is only used to skip a reply's
    echo of it.
    """
    cut = max(0, len(text) - LONGEST_WITH_REASONING)
    known = Options(options, question)
    reading = _read_reply(text[cut:], known, question)
    if reading.rule == "nothing_read" and known.cores:
        # "Black." and "The bag is black." say which of the options "The colour of the bag is ..." is meant.
        reading = _read_reply(text[cut:], Options(known.cores, question, known.low.values()), question)
    return _moved(reading, cut)


def _read_reply(text: str, known: Options, question: str) -> ChoiceReading:
    cleaned = plain(text)
    bare = read_bare(cleaned, known)
    if bare is not None:
        return bare
    cleaned = _without_question(cleaned, question)
    whole = cleaned
    cleaned, unclosed = hide_reasoning(cleaned)
    if unclosed:
        return no_answer("unclosed_reasoning", None, "the reply ends inside its reasoning")
    cleaned = _NOT_APPLICABLE.sub(blank, end_turn(cleaned))
    if not cleaned.strip():
        return no_answer(
            "empty", None, "the reply is empty" if not text.strip() else "the reply has nothing after its reasoning"
        )
    depth = int(cleaned != whole)
    # What a reply settles on is at its end; 10 MB of loops would take half a minute.
    before = max(0, len(cleaned) - _LONGEST)
    return _moved(_read_own_turn(cleaned[before:], known, question, depth), before)


def _read_own_turn(text: str, options: Options, question: str, depth: int) -> ChoiceReading:
    """Read a reply up to where it asks the next question; on without it only if the question is not known."""
    text = without_loop(text)
    own = this_question(text, question)
    first = _read_cleaned(own, options, depth)
    return first if first.letter or question.strip() or own == text else _read_cleaned(text, options, depth)


def _without_question(text: str, question: str) -> str:
    if not 12 <= len(question) <= len(text):
        return text
    echoed = plain(question).strip()
    if not text.lstrip().startswith(echoed):
        return text
    end = text.index(echoed) + len(echoed)
    return " " * end + text[end:]


def _read_cleaned(text: str, options: Options, depth: int) -> ChoiceReading:
    """Read a reply without its reasoning: containers first, then the words around them."""
    containers = find_wrapped(text) if depth < 2 else []
    inner = [(c, _read_inner(text, c, options, depth)) for c in containers]
    shown = without_markup(_without(text, containers))
    if not containers and (shown != text or depth):
        bare = read_bare(shown, options)
        if bare is not None:
            return bare
    return read_page(Page(shown, formulas(text)), options, inner)


def _without(text: str, containers: list[Wrapped]) -> str:
    """Blank the containers, which are in order and do not overlap."""
    pieces, done = [], 0
    for one in containers:
        pieces += [text[done : one.start], " " * (one.end - one.start)]
        done = one.end
    return "".join([*pieces, text[done:]])


def _read_inner(text: str, container: Wrapped, options: Options, depth: int) -> ChoiceReading:
    start, end = container.inner
    content = text[start:end]
    reading = read_bare(without_markup(content), options) or _read_cleaned(content, options, depth + 1)
    rule = container.rule if reading.outcome == "letter" and reading.span else reading.rule
    return _moved(msgspec.structs.replace(reading, rule=rule), start)


def _moved(reading: ChoiceReading, by: int) -> ChoiceReading:
    """Return a reading whose span counts from `by` characters earlier."""
    if reading.span is None or not by:
        return reading
    return msgspec.structs.replace(reading, span=(reading.span[0] + by, reading.span[1] + by))


_NOT_APPLICABLE = Pattern(r"(?<!\w)n/a(?!\w)", 2)
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
