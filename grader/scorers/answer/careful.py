"""The careful reading of short answers: what stands in an answer's place, whole or not at all, never a guess.

`places.settle` finds the claim that counts. A kind of answer has two functions: `value` returns what a claim says, as
it is written, and `same` compares it with a gold answer. Where no rule finds an answer, the outcome is `no_answer`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.answer import amounts, texts
from grader.scorers.own_words import own_words
from grader.scorers.places import settle
from grader.scorers.yes_no import said_yes_or_no

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.scorers.answer.declaration import AnswerKind
    from grader.scorers.answer.expressions import Comparer
    from grader.scorers.own_words import OwnWords
    from grader.scorers.places import Claim

VALUES: dict[AnswerKind, Callable[[OwnWords, Claim], str | None]] = {
    "number": amounts.value,
    "text": texts.value,
    "literal": texts.literal_value,
    "expression": texts.expression_value,
    "yes_no": said_yes_or_no,
}
"""Kind -> what a claim says, as it is written; None if it says nothing of the kind, or not whole."""


class Said(NamedTuple):
    """The answer of a reply, and the rule that read it. Without an answer (None), the rule says why."""

    answer: str | None
    rule: str
    span: tuple[int, int] | None = None
    """Where the answer stands in the reply: its own characters, or those of its claim if it is written otherwise."""


def read_answer(text: str, question: str, kind: AnswerKind, tolerance: float = 0) -> Said:
    """Return the answer of a reply as it is written."""
    reply = own_words(text, question)
    if reply.problem:
        return Said(None, reply.problem)
    found = settle(reply, partial(VALUES[kind], reply), partial(is_same, kind=kind, tolerance=tolerance))
    if found is None or found.value is None:
        return Said(None, "refusal" if reply.refuses else "nothing_read")
    if found.several:
        return Said(None, "several_answers", found.claim.whole)
    return Said(found.value, found.claim.rule, _span(reply, found.claim, found.value))


def _span(reply: OwnWords, claim: Claim, answer: str) -> tuple[int, int]:
    start, end = (claim.start, claim.end) if claim.end > claim.start else claim.whole
    if claim.parts:
        return claim.parts[0][0], claim.parts[-1][1]
    at = reply.text.find(answer, start, end)
    return (start, end) if at < 0 else (at, at + len(answer))


def is_accepted(
    said: Said,
    accepted: Sequence[str],
    kind: AnswerKind,
    comparer: Comparer,
    *,
    question: str = "",
    tolerance: float = 0,
) -> bool | None:
    """Whether an answer is one of those accepted.

    None if that is not known: an expression takes too long to compare, or the reply is prose.
    """
    answer = said.answer or ""
    if any(is_same(answer, gold, kind, tolerance) for gold in accepted):
        return True
    if kind == "expression":
        compared = [texts.is_equal(answer, gold, comparer) for gold in accepted]
        return True if True in compared else None if None in compared else False
    if kind == "text" and said.rule == "sentence":
        if any(texts.says(answer, gold, question) for gold in accepted):
            return True
        return None if texts.is_prose(answer, accepted) else False
    return False


def is_same(answer: str, gold: str, kind: AnswerKind, tolerance: float = 0) -> bool:
    """Whether two answers are the same number, text or value; expressions are not transformed."""
    match kind:
        case "number":
            return amounts.is_same(answer, gold, tolerance)
        case "literal":
            return texts.is_same_literal(answer, gold)
        case "expression":
            return texts.is_same_expression(answer, gold)
        case _:
            return texts.is_same(answer, gold)
