"""Replies to yes-or-no questions that say neither: "Nope", "He isn't", "The person is smiling"."""

# Foreign words are what this file is about, and lists of words read best as words.
# ruff: noqa: SIM905

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.choice.careful.patterns import Pattern
from grader.scorers.choice.careful.wordings import RECONSIDERED
from grader.scorers.choice.reading import read_as

if TYPE_CHECKING:
    from grader.scorers.choice.careful.options import Options
    from grader.scorers.choice.careful.text import Page
    from grader.scorers.choice.reading import ChoiceReading

_YES_WORDS = (
    r"yes|yep|yeah|yup|indeed|certainly|definitely|absolutely|undoubtedly|affirmative|of course|sure|true|correct|"
    r"no doubt|without (?:a |any )?doubt|y(?=\W*$)|ja|oui|sí|sì|sim|да|نعم|हाँ|हां|はい|네|예|"
    r"是的?|对|没错|有|[\U0001F44D\u2705\u2714]"
)
_NO_WORDS = (
    r"no|nope|nah|negative|not at all|never|false|incorrect|n(?=\W*$)|nein|non|nee|não|нет|لا|नहीं|いいえ|아니요?|"
    r"不是?|没有|否|[\U0001F44E\u274C\u2718]"
)
_STOPS = r"(?=\s*(?:$|[.,;:!)\n。-]))"
_LEADING = Pattern(
    rf"\W*?(?:(?P<yes>{_YES_WORDS})|(?P<no>{_NO_WORDS}))"
    rf"(?:{_STOPS}|\s+(?:there|it|it's|the|this|that|i|i'm|he|she|they|we|you|because|as|since)\b)"
)
_WITHIN = Pattern(
    rf"(?:[.,;:!?\n]\s*|(?<!not )\b(?:so|thus|hence|therefore|is|say|think|actually|it's),?\s+)"
    rf"(?:(?P<yes>yes)|(?P<no>no)){_STOPS}"
)
"""Yes or no as a word of its own. "No dog" and "no doubt" are not: "no" belongs to the next word there."""
_CONCLUDED = Pattern(r"\b(?:so|thus|hence|therefore)\b,? (?=(?:yes|no)\b[,.:!])")
"""Reasons come before the answer: "It is closed, so no, ..."."""
_EITHER = Pattern(r"\b(?:yes ?(?:or|/) ?no|no ?(?:or|/) ?yes)\b")
_NEGATED = Pattern(r"\b(?:not|no|never|neither|none|without|cannot|nobody|nothing)\b|n't\b")
_OPEN = Pattern(r"\b(?:if|whether|or|maybe|perhaps|might|could|unless|either|unclear|sure|possibl\w+)\b")
_CLAUSES = Pattern(r"[,.;!?]|\b(?:but|although|though|while|whereas)\b")
_WORD = Pattern(r"[^\W\d_]{2,}|\d+")
_PRONOUN = Pattern(r"\b(?:he|she|it|they|there)\b")
_EMPTY = frozenset(
    "is are was were be been do does did has have had can could will would he she it they there the an and of in on at "
    "to this that these those his her its their with any some isn't aren't image picture photo".split()
)
_LONGEST = 200


def read_yes_or_no(page: Page, options: Options) -> ChoiceReading | None:
    """Return the reading of a short reply to a question whose options are yes and no; None if it does not answer."""
    sides = {text: letter for letter, text in options.low.items()}
    body = page.low.strip()
    pair = next((pair for pair in (("yes", "no"), ("true", "false")) if sides.keys() == set(pair)), None)
    if pair is None or not body or len(body) > _LONGEST or page.breaks_off:
        return None
    said = polarity(body, options.question)
    if said is None:
        return None
    first = len(page.low) - len(page.low.lstrip())
    return read_as(sides[pair[not said]], "yes_or_no", (first, first + len(body)))


def polarity(reply: str, question: str) -> bool | None:
    """Return whether a lower-case reply agrees with what a question asks; None if it does not say."""
    reply = _EITHER.sub(" ", reply)
    concluded = _CONCLUDED.search(reply)
    reply = reply[concluded.end() :] if concluded else reply
    leading = _LEADING.match(reply)
    said = [*([leading] if leading else []), *_WITHIN.finditer(reply, leading.end() if leading else 0)]
    if not said:
        return _agrees(reply, question)
    if len({m.lastgroup for m in said}) == 1 or RECONSIDERED.search(reply, said[-2].end(), said[-1].end()):
        return said[-1].lastgroup == "yes"
    return None


def _agrees(reply: str, question: str) -> bool | None:
    """Return whether a statement says what was asked, or denies it, by its clauses with most words of the question."""
    question = question.rpartition("?")[0] or question
    asked, said = _content(question), _content(reply)
    if "?" in reply or _NEGATED.search(question) or (said and len(asked - said) > bool(_PRONOUN.search(reply))):
        return None
    clauses = _CLAUSES.sub("\n", reply).splitlines()
    shared = [len(asked & _content(clause)) for clause in clauses]
    main = [clause for clause, count in zip(clauses, shared, strict=True) if count == max(shared) and clause.strip()]
    negations = {len(_NEGATED.findall(clause)) for clause in main}
    if len(negations) != 1 or max(negations) > 1 or any(map(_OPEN.search, main)):
        return None
    is_short = len(reply) < 20 and len(reply.split()) > 1
    return not max(negations) if max(shared) or (is_short and not said) else None


def _content(text: str) -> frozenset[str]:
    words = (w for w in _WORD.findall(text) if w not in _EMPTY and w != "not")
    return frozenset(w[: -1 if len(w) > 3 and w.endswith("s") else None][:5] for w in words)
