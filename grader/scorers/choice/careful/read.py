"""The careful reading of a reply to a multiple-choice question: what an attentive person concludes, never a guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.choice.careful.bare import read_bare
from grader.scorers.choice.careful.options import Options
from grader.scorers.choice.careful.resolve import read_page
from grader.scorers.choice.careful.text import Page, end_turn, hide_reasoning, plain, without_markup
from grader.scorers.choice.careful.wrapped import find_wrapped
from grader.scorers.choice.reading import ChoiceReading, no_answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.scorers.choice.careful.wrapped import Wrapped


def read_choice(text: str, options: Mapping[str, str], question: str = "") -> ChoiceReading:
    """Return the option that `text` settles on, `no_answer` or `ambiguous`, with the rule and the span.

    `options` maps letters to their texts ("" if a text is not known). `question` is only used to skip a reply's
    echo of it.
    """
    known = Options(options)
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
    return _read_cleaned(cleaned, known, depth=int(cleaned != whole))


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
    return read_page(Page(shown), options, inner)


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
    if reading.span is None:
        return reading
    return ChoiceReading(
        outcome=reading.outcome,
        letter=reading.letter,
        rule=container.rule if reading.outcome == "letter" else reading.rule,
        span=(reading.span[0] + start, reading.span[1] + start),
        detail=reading.detail,
    )
