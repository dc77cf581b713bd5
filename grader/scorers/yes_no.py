"""Replies to yes-or-no questions: a word ("Nope"), or a statement ("The dog is not brown").

Three principles decide whether a statement is an answer. In doubt, it is not.

1. It says what was asked if one clause has the words of the question, in their order. Other words may be between
   them. "The box is above the dog" does not say that the dog is above the box.
2. A negation denies what follows it. It answers the question only if that is what was asked, to its last word: "not
   wearing a scarf" and "not in the car" deny something else.
3. A pronoun that begins a clause can stand for the first word of what was asked, in this clause and those behind it.

Of 8,205 published replies, statements decide 26. What said more of pronouns and of short forms ("he isn't") decided 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from grader.scorers.patterns import Pattern, heuristic
from grader.scorers.place_wordings import REFUSES
from grader.scorers.plain_text import without_markup

if TYPE_CHECKING:
    from grader.scorers.own_words import OwnWords
    from grader.scorers.places import Claim

_YES = (
    r"i (?:think|believe) so|(?:that|this|it)(?:'s| is) (?:right|correct|true)|yes|yep|yeah|yup|indeed|"
    r"certainly|definitely|absolutely|undoubtedly|affirmative|of course|sure|true|correct|"
    r"no doubt|without (?:a |any )?doubt|y(?=\W*$)|ja|oui|sí|sì|sim|да|نعم|हाँ|हां|はい|네|예|"
    r"是的?|对|没错|有|[\U0001F44D\u2705\u2714]"
)
_NO = (
    r"(?:absolutely|certainly|definitely|of course|surely|clearly|probably|most likely|likely|i think|"
    r"really) not|not really|i (?:don't|do not) think so|(?:that|this|it)(?:'s| is) (?:not (?:right|correct|"
    r"true|the case)|wrong|incorrect|false)|"
    r"no|nope|nah|none|negative|not at all|never|false|incorrect|n(?=\W*$)|nein|non|nee|não|нет|لا|नहीं|いいえ|"
    r"아니요?|"
    r"不是?|没有|否|[\U0001F44E\u274C\u2718]"
)
_STOPS = r"(?=\s*(?:$|[.,;:!()\]\n。-]))"
_FIRST_WORD = Pattern(
    rf"\W*?(?:(?P<yes>{_YES})|(?P<no>{_NO}))"
    rf"(?:{_STOPS}|\s+(?:there|it|it's|the|this|that|i|i'm|he|she|they|we|you|because|as|since)\b)"
)
"""Yes and no are words of their own before an article or a pronoun, too. In "no dog", "no" belongs to the dog."""
_LATER_WORD = Pattern(
    rf"(?:[.,;:!?\n]\s*|\b(?:so|thus|hence|therefore|likely|is|say|think|actually|it's|but|with),?\s+)"
    rf"(?:(?P<yes>yes)|(?P<no>no|none)){_STOPS}"
)
"""After its reason: "it is closed, so no"."""
_NEGATION = Pattern(
    r"\b(?:(?:no|without)(?! (?:a |any )?doubt\b)|not(?! only\b)|cannot|never|neither|none|nobody|nothing|nowhere|"
    r"missing|absent|instead of|rather than|unlikely|kein\w*|nicht|pas|aucun\w*|ning[uú]n\w*|nessun\w*|"
    r"não)\b|没有|不是|没|不"
)
_OPEN = Pattern(r"\?|\b(?:if|whether|or|maybe|perhaps|(?:may|might|could)(?! not)|possibl\w+)\b")
"""A clause with such a word says what may be, not what is."""
_CLAUSES = Pattern(r",? \b(?:but|although|though|while|whereas|who|and (?:the|an?))\b|(?<=,)|[.:;!]")
_PRONOUN = Pattern(r"\b(?:he|she|it|they|nobody|no one)\b")
_PICTURE = Pattern(r"\b(?:(?:in|of|from|on) )?(?:the|this|that) (?:image|picture|photo)\b")
"""A reply need not repeat it: "there is a dog" answers "Is there a dog in the image?"."""
_WORD = Pattern(r"[\u3040-\u9fff]|[^\W\d_\u3040-\u9fff]{2,}|\d+")
_EMPTY = frozenset(
    """is are was were be been do does did has have had can could will would re ca he she it they them the an and of to
    so there here this that these those his her its their who which any anything anywhere one single object only like
    not no cannot never none nobody nothing nowhere without true evidence see seen show shown depict display contain
    include find visible present look seem appear think believe say
    es gibt ein eine einen einem der die das den dem im il un une de du des le la les hay el los
    有 一 只 吗 个""".split()  # noqa: SIM905
)
"""Words that do not tell statements about the picture from each other, such as auxiliaries and verbs of showing."""
_LONGEST_STATEMENT = 1000
"""Characters of a reply that can be a statement: longer ones are reasoning, in which much is said and denied."""


_QUOTES = {ord(char): " " for char in '"[](){}'}
_HEDGES = Pattern(
    r"^\W*(?:(?:most|very|quite|is|to be|actually|probably|likely|possibly|presumably|definitely|clearly|"
    r"technically|therefore|"
    r"thus|simply|a|an)\b[\s,:]*)*"
)


def read_yes_or_no(reply: OwnWords, claim: Claim) -> str | None:
    """Return "yes" or "no", as a claim says; None if it says neither.

    Sentences, lines and clauses behind "so" are read only together, as the body: another can say the opposite.
    """
    if claim.is_cut or claim.form in ("line", "conclusion", "sentence"):
        return None
    if claim.form == "body":
        agrees = _body_polarity(reply, claim)
    else:
        content = without_markup(reply.text[claim.start : claim.end]).lower().translate(_QUOTES)
        # A refusal is no statement: in "I cannot see it, but yes", only the words yes and no count.
        question = None if REFUSES.search(content) else reply.question.lower()
        agrees = polarity(_HEDGES.sub("", content).strip(" \t\n'"), question)
    if agrees is None:
        return None
    return "yes" if agrees else "no"


def _body_polarity(reply: OwnWords, claim: Claim) -> bool | None:
    """Return what the sentences from a claim on say; of a reply that is cut off, only the words yes and no count."""
    spans = [(max(start, claim.start), end) for start, end in reply.sentences if end > claim.start]
    text = "\n".join(reply.unmarked[start:end] for start, end in spans)
    question = None if reply.is_cut else reply.question.lower()
    return polarity(text.translate(_QUOTES).strip(" \t\n'").lower(), question)


def polarity(reply: str, question: str | None) -> bool | None:
    """Return whether a lower-case reply agrees with what a question asks; None if it does not say.

    Without a question, only the words yes and no count, and no statements. A yes does not count if a statement denies
    what was asked: in "Yes, I looked: there is no dog" it is a courtesy.
    """
    first = _FIRST_WORD.match(reply)
    answers = [*([first] if first else []), *_LATER_WORD.finditer(reply, first.end() if first else 0)]
    is_statement = question is not None and len(reply) <= _LONGEST_STATEMENT
    stated = _statement_polarity(reply, question or "") if is_statement else None
    if not answers:
        return stated
    if len({answer.lastgroup for answer in answers}) > 1:
        return None
    agrees = answers[0].lastgroup == "yes"
    return None if agrees and stated is False else agrees


@heuristic(needed_by="g5-yes-no-denied-word")
def _statement_polarity(reply: str, question: str) -> bool | None:
    """Return whether a statement says what was asked or denies it; None if it does neither, or both.

    A question with a negation or "only" is not compared: to agree with it can mean either.
    """
    question, reply = _spelled_out(question.rpartition("?")[0] or question), _spelled_out(reply)
    question_words = _content_words(question)
    if not question_words or _NEGATION.search(question) or "only" in question:
        return None
    polarities: set[_Polarity] = set()
    earlier: list[str] = []
    has_pronoun = False
    for clause in _CLAUSES.sub("\n", reply).splitlines():
        has_pronoun = has_pronoun or _PRONOUN.match(clause) is not None
        polarities.add(_clause_polarity(clause, question_words, earlier, has_pronoun=has_pronoun))
        earlier += _content_words(clause)
    polarities.discard("unrelated")
    return polarities == {"yes"} if polarities in ({"yes"}, {"no"}) else None


_Polarity = Literal["yes", "no", "open", "unrelated"]
"""What a clause says of what was asked: that it is so, that it is not, that it may be, or nothing."""


def _clause_polarity(clause: str, question_words: list[str], earlier: list[str], *, has_pronoun: bool) -> _Polarity:
    """Return what a clause says of what was asked; "open" if only that it may be so, or if it has two negations.

    `earlier`: the words of the clauses before it. They have the subject of a clause that begins with "not": "a man is
    sitting, not standing".
    """
    words, negations = _content_words(clause), [*_NEGATION.finditer(clause)]
    if _OPEN.search(clause) or len(negations) > 1:
        return "unrelated" if {*question_words}.isdisjoint(words) else "open"
    if not negations:
        return "yes" if _is_all(words, question_words, has_pronoun=has_pronoun) else "unrelated"
    before, denied = _content_words(clause[: negations[0].start()]), _content_words(clause[negations[0].end() :])
    # The first word behind the negation must be one of the question's, and the question's last word must follow, too:
    # "he is not outside" does not deny "Is he in the car?".
    is_question_denied = bool(denied) and denied[0] in question_words and question_words[-1] in denied
    subject = [word for word in before or earlier if word not in denied]
    denies = is_question_denied and _is_all([*subject, *denied], question_words, has_pronoun=has_pronoun)
    return "no" if denies else "unrelated"


def _is_all(words: list[str], question_words: list[str], *, has_pronoun: bool) -> bool:
    """Whether words have all that was asked, in its order; a pronoun can stand for the first of them."""
    shared = [word for word in words if word in question_words]
    missing = len(question_words) - len(shared)
    return bool(shared) and missing <= (1 if has_pronoun else 0) and shared == question_words[missing:]


def _spelled_out(text: str) -> str:
    return _PICTURE.sub(" ", text.replace("n't", " not").replace("anything but", "not"))


_ENDINGS = ("ing", "es", "ed", "s", "e")


def _stem(word: str) -> str:
    """Cut the most common endings, so that "riding" matches "ride" and "dogs" matches "dog"."""
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= 3), "")
    return word.removesuffix(ending)


def _content_words(text: str) -> list[str]:
    """Return the words with a meaning of their own, in order, once each."""
    return [*dict.fromkeys(_stem(word) for word in _WORD.findall(text) if not {word, _stem(word)} & _EMPTY)]
