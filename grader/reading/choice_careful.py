"""What an attentive person would conclude from a reply to a multiple-choice question; never a guess."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.reading.careful.options import Options
from grader.reading.careful.resolve import read_page
from grader.reading.careful.text import Page, end_turn, hide_reasoning, plain, without_markup
from grader.reading.careful.wrapped import find_wrapped
from grader.reading.choice import ChoiceReading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.reading.careful.wrapped import Wrapped

_BARE = re.compile(r"[\s\"'*(\[{<_`#$.:>-]{0,20}([A-Za-z])[\s\"'*)\]}>_`$.,:;!?。-]*")
_EDGE = " \t\n.,;:!?\"'*()[]{}<>_`$#。-"


def read_choice(text: str, options: Mapping[str, str], question: str = "") -> ChoiceReading:
    """Return the option that `text` settles on, `no_answer` or `ambiguous`, with the rule and the place.

    `options` maps letters to their texts ("" where a text is not known); `question` is only used to pass over a
    reply's echo of it.
    """
    known = Options(options)
    cleaned = plain(text)
    bare = _read_bare(cleaned, known)
    if bare is not None:
        return bare
    cleaned = _without_question(cleaned, question)
    whole = cleaned
    cleaned, unclosed = hide_reasoning(cleaned)
    if unclosed:
        return _nothing("unclosed_reasoning", "the reply ends inside its reasoning")
    cleaned = end_turn(cleaned)
    if not cleaned.strip():
        return _nothing("empty", "nothing is said" if not text.strip() else "nothing is said after the reasoning")
    return _read_cleaned(cleaned, known, depth=int(cleaned != whole))


def _nothing(rule: str, detail: str) -> ChoiceReading:
    return ChoiceReading(outcome="no_answer", letter=None, rule=rule, span=None, detail=detail)


def _without_question(text: str, question: str) -> str:
    if not 12 <= len(question) <= len(text):
        return text
    echoed = plain(question).strip()
    if not text.lstrip().startswith(echoed):
        return text
    end = text.index(echoed) + len(echoed)
    return " " * end + text[end:]


def _read_bare(text: str, options: Options) -> ChoiceReading | None:
    """Read a reply that is a letter and nothing else, or an option's text and nothing else."""
    if len(text) > 2 * options.longest + 60:
        return None
    start, end = _trimmed(text)
    if start >= end:
        return None
    match = _BARE.fullmatch(text)
    if match and match[1].upper() in options:
        return _read_letter(match[1].upper(), [], match, options)
    several = text[start:end]
    if 1 < len(set(several)) == len(several) and set(several) <= set(options.letters) and not options.same_text(text):
        detail = f"names {' and '.join(several)}"
        return ChoiceReading(outcome="ambiguous", letter=None, rule="several_letters", span=(start, end), detail=detail)
    same = [k for k in options.same_text(text) if not (match and k == match[1].upper())]
    if match:
        return _read_letter(match[1].upper(), same, match, options)
    if len(same) == 1 and several.startswith("A ") and options.takes_no_article(same[0]) and same[0] != "A":
        detail = f"names A, or the text of {same[0]} after an article"
        return ChoiceReading(
            outcome="ambiguous", letter=None, rule="letter_and_text_disagree", span=(start, end), detail=detail
        )
    if len(same) == 1:
        return ChoiceReading(outcome="letter", letter=same[0], rule="option_text", span=(start, end))
    if len(same) > 1:
        detail = f"the text of {' and '.join(same)}"
        return ChoiceReading(outcome="ambiguous", letter=None, rule="option_text", span=(start, end), detail=detail)
    return None


def _read_letter(letter: str, same: list[str], match: re.Match[str], options: Options) -> ChoiceReading:
    span = match.span(1)
    other = options.named_letters.get(letter)
    # In brackets a letter is a label; bare it may as well be the text of the option that says it.
    if other is not None and "(" not in match[0] and letter in options:
        detail = f"names option {letter}, or option {other}, whose text is that letter"
        return ChoiceReading(outcome="ambiguous", letter=None, rule="letter_is_a_text", span=span, detail=detail)
    if letter in options:
        return ChoiceReading(outcome="letter", letter=letter, rule="bare_letter", span=span)
    if len(same) == 1:
        return ChoiceReading(outcome="letter", letter=same[0], rule="option_text", span=span)
    detail = f"{letter} is not among the options"
    return ChoiceReading(outcome="no_answer", letter=None, rule="outside_options", span=span, detail=detail)


def _trimmed(text: str) -> tuple[int, int]:
    end = len(text.rstrip(_EDGE))
    return end - len(text[:end].lstrip(_EDGE)), end


def _read_cleaned(text: str, options: Options, depth: int) -> ChoiceReading:
    """Read a reply whose reasoning is gone: containers first, then the words around them."""
    containers = find_wrapped(text) if depth < 2 else []
    inner = [(c, _read_inner(text, c, options, depth)) for c in containers]
    for container in containers:
        text = text[: container.start] + " " * (container.end - container.start) + text[container.end :]
    shown = without_markup(text)
    if not containers and (shown != text or depth):
        bare = _read_bare(shown, options)
        if bare is not None:
            return bare
    return read_page(Page(shown), options, inner)


def _read_inner(text: str, container: Wrapped, options: Options, depth: int) -> ChoiceReading:
    start, end = container.inner
    content = text[start:end]
    reading = _read_bare(without_markup(content), options) or _read_cleaned(content, options, depth + 1)
    if reading.span is None:
        return reading
    return ChoiceReading(
        outcome=reading.outcome,
        letter=reading.letter,
        rule=container.rule if reading.outcome == "letter" else reading.rule,
        span=(reading.span[0] + start, reading.span[1] + start),
        detail=reading.detail,
    )
