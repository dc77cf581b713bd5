"""The careful reading of short answers: what stands in an answer's place, whole or not at all, never a guess.

`settling.settle` finds the claim that counts. A kind of answer has two functions: `value` returns what a claim says, as
it is written, and `same` compares it with a gold answer. Where no rule finds an answer, the outcome is `no_answer`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.answer import amounts, texts
from grader.scorers.own_words import own_words
from grader.scorers.settling import settle
from grader.scorers.yes_no import read_yes_or_no

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.scorers.answer.declaration import AnswerKind
    from grader.scorers.answer.expressions import Comparer
    from grader.scorers.own_words import OwnWords
    from grader.scorers.places import Claim

VALUES: dict[AnswerKind, Callable[[OwnWords, Claim], str | None]] = {
    "number": amounts.read_number,
    "text": texts.read_text,
    "literal": texts.read_literal,
    "expression": texts.read_expression,
    "yes_no": read_yes_or_no,
}
"""Kind -> what a claim says, as it is written; None if it says nothing of the kind, or not whole."""


class ReadAnswer(NamedTuple):
    """The answer of a reply, and the rule that read it. Without an answer (None), the rule says why."""

    answer: str | None
    rule: str
    span: tuple[int, int] | None = None
    """Where the answer stands in the reply: its own characters, or those of its claim if it is written otherwise."""


def read_answer(text: str, question: str, kind: AnswerKind, tolerance: float = 0) -> ReadAnswer:
    """Return the answer of a reply as it is written."""
    reply = own_words(text, question)
    if reply.problem:
        return ReadAnswer(None, reply.problem)
    settled = settle(reply, partial(VALUES[kind], reply), partial(is_same, kind=kind, tolerance=tolerance))
    if settled is None or settled.value is None:
        return ReadAnswer(None, "refusal" if reply.refuses else "nothing_read")
    if settled.is_contradicted:
        return ReadAnswer(None, "several_answers", settled.claim.outer_span)
    return ReadAnswer(settled.value, settled.claim.rule, _span(reply, settled.claim, settled.value))


def _span(reply: OwnWords, claim: Claim, answer: str) -> tuple[int, int]:
    """Return where an answer stands; the span of its claim, if it is written otherwise there."""
    if claim.parts:
        return claim.parts[0][0], claim.parts[-1][1]
    start, end = (claim.start, claim.end) if claim.end > claim.start else claim.outer_span
    position = reply.text.find(answer, start, end)
    return (start, end) if position < 0 else (position, position + len(answer))


def is_accepted(
    read: ReadAnswer,
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
    answer = read.answer or ""
    if any(is_same(answer, gold, kind, tolerance) for gold in accepted):
        return True
    if kind == "expression":
        compared = [texts.is_equal(answer, gold, comparer) for gold in accepted]
        return True if True in compared else None if None in compared else False
    if kind == "text" and read.rule == "sentence":
        if any(texts.says_only(answer, gold, question) for gold in accepted):
            return True
        return None if texts.is_for_judge(answer, accepted) else False
    return False


def is_same(answer: str, gold: str, kind: AnswerKind, tolerance: float = 0) -> bool:
    """Whether two answers are the same text, value or number (up to a relative `tolerance`), without algebra."""
    match kind:
        case "number":
            return amounts.is_same(answer, gold, tolerance)
        case "literal":
            return texts.is_same_literal(answer, gold)
        case "expression":
            return texts.is_same_expression(answer, gold)
        case _:
            return texts.is_same(answer, gold)
