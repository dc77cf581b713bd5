"""Replies to yes-or-no questions that say neither: "Nope", "He isn't", "The person is smiling"."""

# Lists of words read best as words.
# ruff: noqa: SIM905

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.choice.careful.patterns import Pattern
from grader.scorers.choice.reading import read_as

if TYPE_CHECKING:
    from grader.scorers.choice.careful.options import Options
    from grader.scorers.choice.careful.text import Page
    from grader.scorers.choice.reading import ChoiceReading

_YES = Pattern(
    r"\W*(?:yes|yep|yeah|yup|indeed|certainly|definitely|absolutely|affirmative|of course|sure)\b"
    r"|\s*[\U0001F44D\u2705\u2714]"
)
_NO = Pattern(
    r"\W*(?:no(?! (?:lo )?(?:puedo|podemos|sé|se puede)\b)|nope|nah|negative|not at all|never)\b"
    r"|\s*[\U0001F44E\u274C\u2718]"
)
"""A Spanish "no puedo" is "I cannot"."""
_CONCLUDED = Pattern(r"\b(?:so|thus|hence|therefore)\b,? (?=(?:yes|no)\b[,.:!])")
"""Reasons come before the answer: "It is closed, so no, ..."."""
_NEGATED = Pattern(r"\b(?:not|no|never|neither|none|without|cannot|nobody|nothing)\b|n't\b")
_OPEN = Pattern(r"\b(?:if|but|or|maybe|perhaps|might|could|unless|either|although|though|unclear|sure|possibl\w+)\b|\?")
_WORD = Pattern(r"[^\W\d_]{2,}")
_EMPTY = frozenset(
    "is are was were be been do does did has have had can could will would he she it they there the an and of in on at "
    "to this that these those his her its their with any some isn't aren't".split()
)
_LONGEST = 200


def read_yes_or_no(page: Page, options: Options) -> ChoiceReading | None:
    """Return the reading of a short reply to a question whose options are yes and no; None if it does not answer."""
    sides = {text: letter for letter, text in options.low.items()}
    body = page.low.strip()
    if sides.keys() != {"yes", "no"} or not body or len(body) > _LONGEST or page.breaks_off:
        return None
    said = polarity(body, options.question)
    if said is None:
        return None
    first = len(page.low) - len(page.low.lstrip())
    return read_as(sides["yes" if said else "no"], "yes_or_no", (first, first + len(body)))


def polarity(reply: str, question: str) -> bool | None:
    """Return whether a lower-case reply agrees with what a question asks; None if it does not say."""
    concluded = _CONCLUDED.search(reply)
    reply = reply[concluded.end() :] if concluded else reply
    if _YES.match(reply):
        return True
    if _NO.match(reply):
        return False
    negations = len(_NEGATED.findall(reply))
    if _OPEN.search(reply) or negations > 1 or _NEGATED.search(question):
        return None
    asked, said = _content(question), _content(reply)
    if said and (not asked or len(asked & said) < 0.6 * len(asked)):
        return None
    return not negations if said or len(reply) < 20 else None


def _content(text: str) -> frozenset[str]:
    return frozenset(w[:5] for w in _WORD.findall(text) if w not in _EMPTY and w != "not")
