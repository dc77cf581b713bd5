"""Replies to yes-or-no questions that say neither: "Nope", "He isn't", "The person is smiling"."""

# Foreign words are what this file is about, and lists of words read best as words.
# ruff: noqa: SIM905

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.choice.careful.patterns import Pattern
from grader.scorers.choice.careful.spelling import stem
from grader.scorers.choice.careful.wordings import RECONSIDERED
from grader.scorers.choice.reading import read_as

if TYPE_CHECKING:
    import re

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
_NEGATED = Pattern(
    r"\b(?P<of_noun>no|without)\b|n't\b|"
    r"\b(?:not|never|neither|none|cannot|nobody|nothing|nowhere|missing|absent|instead of|rather than)\b"
)
_OF_CLAUSE = Pattern(r"n't|not|never|cannot|nowhere|missing|absent")
"""What denies the whole clause if nothing follows."""
_NO_DENIAL = Pattern(r"\b(?:no|without (?:a|any)?) ?doubt\b|\bnot only\b")
_NOBODY = Pattern(r"\b(?:nobody|no one)\b")
_INSERTED = Pattern(r",\s(?:who|which|with|\w+ing)\b[^,.;:]*,")
"""A clause within a clause: "the man, who is tall, sits"."""
_AUXILIARY = r"\b(?:is|are|was|were|has|have|had|can|could|does|do|did)\b"
_NOUN = Pattern(rf"(?:(?!\b(?:that|who|which)\b).)*?(?={_AUXILIARY}|\b(?:in|on|at|near|under|inside)\b)")
"""What "no" and "without" deny: "no dog (is here)", "no spoon (in the bowl)", but "no sign that a dog is here"."""
_ELLIPTIC = Pattern(rf"(?:{_AUXILIARY}(?: not)?|n't)\W*$")
"""The rest is as in the question: "he is", "the man does not"."""
_OPEN = Pattern(r"\b(?:if|whether|maybe|perhaps|might|could|unless|either|unclear|sure|enough|except|possibl\w+)\b")
_OR = Pattern(r"\bor\b")
_CLAUSES = Pattern(r"[,.:;!?]|\b(?:but|although|though|while|whereas)\b")
_WORD = Pattern(r"[^\W\d_]{2,}|\d+")
_STATE = Pattern(r"\b(?:on|off)(?=\W*$)")
"""A lamp is on, a cup is on the table."""
_SUBJECT_PRONOUN = Pattern(r"\b(?:he|she|it|they)\b")
_OBJECT_PRONOUN = Pattern(r"\b(?:anything|nothing|one)\b")
_EXISTENCE = Pattern(r"\W*(?:is|are|was|were) there\b")
_PLACE = Pattern(r"\b(?:in|on|at|near|by) (?:the|this|that) [^\W\d_]+\W*$")
_PLACED = Pattern(
    r"\b(to|on|in|at|of|with|near|above|below|behind|under|beneath|over|beside|inside|outside|by) "
    r"(?:(?:the|a|an|his|her|its|this|that) )?([^\W\d_]+)"
)
_RELATION = Pattern(r"\b(?:left|right|top|front|above|below|behind|under|beneath|over|than)\b")
_PREPOSITION = Pattern(r"\W*(?:to|on|in|at|above|below|behind|under|beneath|over)\b")
_EMPTY = frozenset(
    "is are was were be been do does did has have had can could will would he she it they there the an and of in on "
    "off at to this that these those his her its their with any some image picture photo not no isn aren doesn don "
    "didn wasn weren hasn haven couldn visible present seen shown here anywhere".split()
)
_SINGULAR = {"people": "person", "men": "man", "women": "woman", "children": "child"}
_LONGEST = 200
_LONGEST_SUBJECT = 2


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
    """Return whether a statement says all of what was asked, or denies a part of it."""
    question = question.rpartition("?")[0] or question
    asked = _content(question)
    if "?" in reply or _NEGATED.search(question):
        return None
    reply = _NOBODY.sub("no person", _INSERTED.sub(" ", _NO_DENIAL.sub(" ", reply)))
    if _ELLIPTIC.search(reply) and len(reply.split()) > 1 and {*_content(reply)} <= {*asked}:
        return _NEGATED.search(reply) is None
    stated: list[set[str]] = [set()]
    denied: set[str] = set()
    for clause in _CLAUSES.sub("\n", reply).splitlines():
        if {*asked}.isdisjoint(_content(clause)):
            continue
        negations = [*_NEGATED.finditer(clause)]
        if len(negations) > 1 or _OPEN.search(clause) or (_OR.search(clause) and not negations):
            return None
        if _is_turned(clause, asked, question) or _is_elsewhere(clause, asked[-1], question):
            return None
        within, outside = _scope(clause, negations[0]) if negations else ([], _content(clause))
        denied.update(word for word in asked if word in within)
        stated.append({word for word in asked if word in outside})
    told = set().union(*stated)
    most = told | denied if denied - told else max(stated, key=len)
    missing = [word for word in asked if word not in most]
    if not most or not _stands_for(reply, question, missing, asked):
        return None
    return False if denied - told else None if denied else True


def _scope(clause: str, negation: re.Match[str]) -> tuple[list[str], list[str]]:
    """Return the words that a negation denies, and the others: all are denied if none follows ("the dog is not")."""
    noun = _NOUN.match(clause, negation.end()) if negation["of_noun"] else None
    end = noun.end() if noun else len(clause)
    within = _content(clause[negation.end() : end])
    outside = [*_content(clause[: negation.start()]), *_content(clause[end:])]
    return (outside, []) if not within and _OF_CLAUSE.fullmatch(negation[0]) else (within, outside)


def _is_turned(clause: str, asked: list[str], question: str) -> bool:
    """Whether a clause relates the things of a question the other way round ("the box is above the dog")."""
    if not _RELATION.search(question) or _PREPOSITION.match(clause):
        return False
    told = [word for word in _content(clause) if word in (asked[0], asked[-1])]
    return len(asked) > 1 and told[:1] == asked[-1:] and asked[0] in told


def _is_elsewhere(clause: str, place: str, question: str) -> bool:
    """Whether a clause has another preposition before the last word of a question ("next to the bench")."""
    told, asked = (
        {match[1] for match in _PLACED.finditer(text) if place in _content(match[2])} for text in (clause, question)
    )
    return bool(told and asked) and told.isdisjoint(asked)


def _stands_for(reply: str, question: str, missing: list[str], asked: list[str]) -> bool:
    """Whether pronouns stand for the missing words of a question, or they are the place that "there" means."""
    is_place = _EXISTENCE.match(question) and _PLACE.search(question) and {*_content(reply)} <= {*asked}
    if missing and missing[-1] == asked[-1] and (is_place or _OBJECT_PRONOUN.search(reply)):
        missing = missing[:-1]
    is_subject = missing == asked[: len(missing)] and len(missing) <= _LONGEST_SUBJECT
    return not missing or bool(is_subject and _SUBJECT_PRONOUN.search(reply) and not _EXISTENCE.match(question))


def _content(text: str) -> list[str]:
    """Return the words with a meaning of their own, in order, once each."""
    words = [_SINGULAR.get(word, word) for word in _WORD.findall(text) if word not in _EMPTY] + _STATE.findall(text)
    return [*dict.fromkeys(stem(word)[:5] for word in words)]
