"""The careful reading of a reply to a multiple-choice question: what an attentive person concludes, never a guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.predictions.reasoning import hide_reasoning
from grader.scorers.choice.careful.bare import read_bare
from grader.scorers.choice.careful.options import Options
from grader.scorers.choice.careful.resolve import read_page
from grader.scorers.choice.careful.text import (
    Page,
    end_turn,
    formulas,
    next_question,
    plain,
    without_loop,
    without_markup,
)
from grader.scorers.choice.careful.wrapped import find_wrapped
from grader.scorers.choice.reading import ChoiceReading, no_answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.scorers.choice.careful.wrapped import Wrapped


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
    return _moved(_read_reply(text[cut:], Options(options, question), question), cut)


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
    cleaned = end_turn(cleaned)
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
    end = next_question(text, question)
    if end is None:
        return _read_cleaned(text, options, depth)
    first = _read_cleaned(text[:end], options, depth)
    return first if first.letter or question.strip() else _read_cleaned(text, options, depth)


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
