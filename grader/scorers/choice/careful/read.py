"""The careful reading of a reply to a multiple-choice question: what an attentive person concludes, never a guess.

What stands in an answer's form comes first: containers and declarations. Then the reply's own first and last line,
then the one option that its sentences assert. All other prose is for a judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.choice.careful.options import Options
from grader.scorers.choice.careful.page import Answer, Page, reading
from grader.scorers.choice.reading import ChoiceReading, no_answer
from grader.scorers.patterns import Pattern
from grader.scorers.places import Reply, claims, own_words
from grader.scorers.plain_text import plain, without_markup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.scorers.places import Claim

_LETTERS = Pattern(r"[A-Z](?:(?:[\s,/&+;\"']|and|or)*[A-Z])+")
_EDGE = " \t\n.,;:!?\"'*()[]{}<>_`$#\u3002-"


def read_choice(text: str, options: Mapping[str, str], question: str = "") -> ChoiceReading:
    """Return the option that `text` settles on, `no_answer` or `ambiguous`, with the rule and the span.

    `options` maps letters to their texts ("" if a text is not known).
    """
    known = Options(options, question)
    whole = _bare(plain(text), 0, known) if _may_be_bare(text, known) else None
    if whole is not None:
        return reading(whole, known)
    reply = own_words(_without_question(text, question), question)
    if reply.problem:
        return no_answer(reply.problem, None, "the reply has nothing outside of its reasoning" if text.strip() else "")
    return _read(reply, known)


def _without_question(text: str, question: str) -> str:
    """Blank a question that a reply begins with."""
    asked = question.strip()
    start = len(text) - len(text.lstrip())
    if len(asked) < 12 or not text.startswith(asked, start):
        return text
    return " " * (start + len(asked)) + text[start + len(asked) :]


def _read(reply: Reply, options: Options) -> ChoiceReading:
    found = claims(reply, lines=False)
    containers = [claim for claim in found if claim.form == "container"]
    shown = reply.shown
    for claim in containers:
        start, end = claim.whole
        shown = shown[:start] + " " * (end - start) + shown[end:]
    whole = _bare(shown, 0, options) if not containers and _may_be_bare(shown, options) else None
    if whole is not None:
        return reading(whole, options)
    page = Page(reply, shown, options)
    answers = [_contained(reply.text, claim, options) for claim in containers] + page.declared()
    contents = [page.content(claim, answers) for claim in found if claim.form == "declaration"]
    answers += [answer for answer in contents if answer is not None]
    last = max((one.end for one in answers), default=-1)
    answers += [one._replace(form=False) for one in page.alone if one.start > last]
    return page.settled(sorted(answers, key=lambda one: one.start)) or page.sentence()


def _contained(text: str, claim: Claim, options: Options) -> Answer:
    """Return the answer of a container; one with something else has no letters."""
    content = text[claim.start : claim.end]
    answer = _bare(without_markup(content), claim.start, options)
    if answer is None:
        inner = _read(Reply(content), options)
        start, end = inner.span or (0, max(1, len(content)))
        problem = (inner.rule, inner.detail) if inner.outcome == "ambiguous" else None
        letters = frozenset(inner.letter or ())
        answer = Answer(letters, claim.start + start, claim.start + end, inner.rule, problem=problem)
    if len(answer.letters) == 1 and answer.problem is None:
        answer = answer._replace(rule=claim.rule)
    return answer._replace(rank=claim.rank)


def _may_be_bare(text: str, options: Options) -> bool:
    return len(text) <= 2 * options.longest + 60 or len(text.strip()) <= 2 * options.longest + 60


def _bare(text: str, at: int, options: Options) -> Answer | None:
    """Return the answer of a text that is one letter, one option's text or number, or both; None if it is more."""
    end = len(text.rstrip(_EDGE))
    start = end - len(text[:end].lstrip(_EDGE))
    if start >= end:
        return None
    said, span = text[start:end], (at + start, at + end)
    same, letters = options.same(text), _letters_of(said, options)
    is_letter = len(said) == 1 and said.isascii() and said.isalpha() and (said.upper() in options or not same)
    if is_letter or (len(letters) == 1 and not said.isdecimal()):
        return Answer(letters or frozenset(said.upper()), *span, "bare_letter")
    if same:
        of = f"the text of {' and '.join(same)}"
        return Answer(frozenset(same), *span, "option_text", problem=("option_text", of) if same[1:] else None)
    return Answer(letters, *span, "ordinal" if said.isdecimal() else "several_letters") if letters else None


def _letters_of(said: str, options: Options) -> frozenset[str]:
    """Return the options of a text that is only letters ("A, B", "B B B"), or the number of an option."""
    if said.isdecimal() and 0 < int(said[:3]) <= len(options.letters) and not options.have_numbers:
        return frozenset(options.letters[int(said[:3]) - 1])
    letters = [char for char in said if char.isupper()]
    if not _LETTERS.fullmatch(said) or not set(letters) <= set(options.letters):
        return frozenset()
    is_word = len(set(letters)) < len(letters) and (len(set(letters)) > 1 or said.isalpha())
    return frozenset() if is_word else frozenset(letters)
