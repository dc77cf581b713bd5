"""Which of several claims of a reply counts: `settle` and, for the fields of a review, `settle_fields`.

Each kind of answer has its `read_value`: it returns the value that the whole content of a claim has, or None.
Containers, marks and declarations (strong claims) come before choices and conclusions (weak claims), and these before
prose: lines, the body, and the sentence that answers best. If the last strong claim has no value, the reply has no
answer. Of several claims with different values, the last counts if it is final, a correction, or comes after new
reasoning; else the reply gives several answers.
"""

from __future__ import annotations

import operator
from collections import deque
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from grader.scorers import place_wordings as wordings
from grader.scorers.patterns import Pattern, heuristic
from grader.scorers.places import (
    WORDS_BEFORE,
    Claim,
    body,
    claims,
    concluding_sentences,
    first_and_last_line,
    sentences,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.scorers.own_words import OwnWords

Value = TypeVar("Value")

_LOOK_BACK = 2_000
"""Characters before an answer that tell whether new reasoning or a change of mind leads to it."""
_STRONG = ("container", "mark", "declaration")
_WEAK = ("choice", "conclusion")


class Settled(NamedTuple, Generic[Value]):
    """The claim that counts, with its value."""

    claim: Claim
    value: Value | None
    """None: the claim should have one, but says nothing."""
    is_contradicted: bool = False
    """Whether an earlier claim has another value, and is not replaced."""


def settle(
    reply: OwnWords,
    read_value: Callable[[Claim], Value | None],
    is_same_value: Callable[[Value, Value], bool] = operator.eq,
    *,
    must_match_question: bool = False,
) -> Settled[Value] | None:
    """Return the claim that counts; None if no claim has a value.

    1. Claims that are withdrawn ("Wait, no") do not count, nor choices of a reply that ends in a loop.
    2. If the last container or mark has no value, the reply says nothing: that claim is returned with the value None.
    3. The last of the strong claims with a value counts, or of the weak ones behind them.
    4. Else the prose counts; if the last declaration has no value ("the answer is as follows"), the prose behind it.

    `must_match_question`: whether the words before an answer must show that it is to this question. Letters need that:
    answers to other questions are the same letters.
    """
    withdrawn_end = _end_of_withdrawn_part(reply.lower)
    current_claims = [claim for claim in claims(reply) if claim.outer_span[1] > withdrawn_end]
    conclusions = concluding_sentences(reply)
    strong_claims = [claim for claim in current_claims if claim.form in _STRONG]
    answers, failed_claim = _strong_with_value(reply, strong_claims, read_value)
    if failed_claim is not None and failed_claim.form != "declaration":
        return Settled(failed_claim, None)
    if answers:
        end_of_strong = answers[-1].claim.outer_span[1]
    else:
        end_of_strong = 0 if failed_claim is None else _start_behind_declaration(reply, failed_claim)
    weak_claims = [] if reply.loops else [claim for claim in current_claims if claim.form in _WEAK]
    if answers:  # Without strong claims, `_settle_prose` reads sentences that conclude.
        weak_claims += conclusions
    answers += _weak_with_value(weak_claims, end_of_strong, read_value)
    if answers and must_match_question:
        answers = _answers_to_question(reply, answers, is_same_value)
    if answers:
        return _last(reply, answers, is_same_value)
    settled = _settle_prose(reply, max(withdrawn_end, end_of_strong), read_value, is_same_value)
    return Settled(failed_claim, None) if settled is None and failed_claim is not None else settled


def _weak_with_value(
    weak_claims: list[Claim],
    end_of_strong: int,
    read_value: Callable[[Claim], Value | None],
) -> list[Settled[Value]]:
    """Return the weak claims with a value behind the strong ones, or with a correction: "It is A, or rather B."."""
    weak = [claim for claim in weak_claims if claim.start >= end_of_strong or claim.is_final]
    weak.sort(key=lambda claim: claim.outer_span)
    return [Settled(claim, content) for claim in weak if (content := read_value(claim)) is not None]


def settle_fields(
    reply: OwnWords,
    field_claims: list[Claim],
    read_value: Callable[[Claim], Value | None],
    is_same_value: Callable[[Value, Value], bool] = operator.eq,
) -> Settled[Value] | None:
    """Return the claim of a review's field that counts; None if no claim has a value.

    If the last claim has none, but must have one (`_needs_value`), the field says nothing: its value is None. Else the
    last claim with a value counts; without one, the prose.
    """
    with_value, failed_claim = _strong_with_value(reply, field_claims, read_value)
    if failed_claim is not None:
        return Settled(failed_claim, None)
    if not with_value:
        return _settle_prose(reply, 0, read_value, is_same_value)
    return _last(reply, with_value, is_same_value)


def _start_behind_declaration(reply: OwnWords, declaration: Claim) -> int:
    """Return where the prose begins that is read because a declaration has no value.

    Usually behind the declaration. But its content is read as prose if it stands on the next line, and its sentence if
    it denies something: "The answer is not listed, but it is closest to B."
    """
    if declaration.is_denied:
        return max((start for start, _ in reply.sentences if start <= declaration.start), default=0)
    words_of_form = reply.text[declaration.outer_span[0] : declaration.start]
    return declaration.start if "\n" in words_of_form else declaration.outer_span[1]


def _settle_prose(
    reply: OwnWords,
    after: int,
    read_value: Callable[[Claim], Value | None],
    is_same_value: Callable[[Value, Value], bool],
) -> Settled[Value] | None:
    """Return the prose behind a position that has a value: a line, all sentences, or the sentence with the best score.

    They are tried in this order: a line can be the answer and nothing else; all sentences together can contradict each
    other, and then say nothing; a single sentence can be about something else.
    """
    for tier in (first_and_last_line(reply), body(reply)):
        with_value: list[Settled[Value]] = []
        for claim in tier:
            part_behind = claim._replace(start=max(claim.start, after))
            if claim.outer_span[1] > after and (content := read_value(part_behind)) is not None:
                with_value.append(Settled(claim, content))
        if with_value and _are_same(with_value, is_same_value):
            return with_value[-1]
    for claim in sentences(reply):
        if claim.start >= after and (content := read_value(claim)) is not None:
            return Settled(claim, content)
    return None


def _are_same(with_value: list[Settled[Value]], is_same_value: Callable[[Value, Value], bool]) -> bool:
    return all(is_same_value(settled.value, with_value[-1].value) for settled in with_value)  # type: ignore[arg-type]


def _strong_with_value(
    reply: OwnWords, strong_claims: list[Claim], read_value: Callable[[Claim], Value | None]
) -> tuple[list[Settled[Value]], Claim | None]:
    """Return the claims with a value, and None; if the last claim should have a value but has none: [], this claim."""
    contents = [(claim, None if claim.is_denied else read_value(claim)) for claim in strong_claims]
    with_value = [Settled(claim, content) for claim, content in contents if content is not None]
    last = strong_claims[-1] if strong_claims else None
    if last is not None and contents[-1][1] is None and _needs_value(reply, last, has_earlier_value=bool(with_value)):
        return [], last
    return with_value, None


def _needs_value(reply: OwnWords, last: Claim, *, has_earlier_value: bool) -> bool:
    """Whether the last strong claim, which has no value, means that the reply has no answer.

    Not if it is empty, or if its content, which can be any words, stands before "is the answer". Behind an answer, a
    declaration means this only if it leaves the answer open; "The answer is not C" does not leave it open.
    """
    is_empty = last.start == last.end and not last.is_cut
    if last.is_before or is_empty:
        return False
    return not has_earlier_value or last.form != "declaration" or _is_undecided(reply, last)


@heuristic(decides_per_100_000=11, when_disabled=False)
def _is_undecided(reply: OwnWords, claim: Claim) -> bool:
    """Whether a declaration leaves the answer open."""
    span = claim.start, claim.end
    return bool(wordings.UNDECIDED.search(reply.lower, *span) or wordings.REFUSES.search(reply.lower, *span))


def _last(
    reply: OwnWords, with_value: list[Settled[Value]], is_same_value: Callable[[Value, Value], bool]
) -> Settled[Value]:
    """Return the last claim with a value, and whether it is contradicted."""
    last = with_value[-1]
    is_contradicted = any(
        not is_same_value(earlier.value, last.value) and not _replaces(reply, last.claim, earlier.claim)  # type: ignore[arg-type]
        for earlier in with_value[:-1]
    )
    return last._replace(is_contradicted=is_contradicted)


_TOKEN = Pattern(r"[^\W\d_]{4,}|\d+(?:\.\d+)?|[\u3040-\u9fff\uac00-\ud7af]")
_WORDS_IN_COMMON = 2
"""So many words of the question show that what stands before an answer is about it; 1 and 4 read the same."""


def _answers_to_question(
    reply: OwnWords, with_value: list[Settled[Value]], is_same_value: Callable[[Value, Value], bool]
) -> list[Settled[Value]]:
    """Leave out answers to other questions: demonstrations before this one, inventions and summaries behind it.

    An answer is to this question if the words before it are from the question, or if it continues such an answer. If no
    answer has words of the question, and there are three or more, the last one counts.
    """
    if _are_same(with_value, is_same_value):
        return with_value
    question_words = frozenset(_TOKEN.findall(reply.question.lower()))
    ends = [settled.claim.outer_span[1] for settled in with_value]
    starts = [settled.claim.outer_span[0] for settled in with_value]
    before = [reply.lower[end:start] for end, start in zip([0, *ends[:-1]], starts, strict=True)]
    overlaps = [len(question_words & set(_TOKEN.findall(words))) for words in before]
    if max(overlaps) < _WORDS_IN_COMMON:
        is_list_of_answers = len(with_value) > 2 and not any(map(_is_reasoning, before))
        return with_value[-1:] if is_list_of_answers else with_value
    answers: list[Settled[Value]] = []
    is_answer = False
    for settled, words, overlap in zip(with_value, before, overlaps, strict=True):
        names_question = overlap >= _WORDS_IN_COMMON or (overlap > 0 and _is_reasoning(words))
        is_answer = names_question or (is_answer and _is_on_same_question(words))
        if is_answer:
            answers.append(settled)
    return answers


def _is_on_same_question(between: str) -> bool:
    """Whether an answer behind another one is to the same question: on its line, in a form, after a change of mind."""
    if "\n" not in between or _ONLY_FORM.fullmatch(between):
        return True
    return wordings.RECONSIDERED.search(between) is not None


_ONLY_FORM = Pattern(r"\W*(?:(?:final|answer|my|the|is|so|thus|therefore|correct)\W+)*")


@heuristic(decides_per_100_000=41, when_disabled=False)
def _is_reasoning(block: str) -> bool:
    """Whether the words before an answer are reasoning, and not a list."""
    return len(_NO_WORD.sub("", _ITEM.sub("", block[-_LOOK_BACK:]))) >= _REASONED


_ITEM = Pattern(r"^[ \t*(-]*[a-z][.):][^\n]*$", 8)
_REASONED = 80
"""So many letters and digits between two claims are new reasoning.

Of 495 labelled replies, 20 reads one wrong letter, and 160 leaves one more without its letter.
"""
_NO_WORD = Pattern(r"[\W_]+")


def _replaces(reply: OwnWords, last: Claim, earlier: Claim) -> bool:
    """Whether a claim takes the place of an earlier one; otherwise both are answers."""
    if last.form in ("container", "mark") and earlier.form not in ("container", "mark"):
        return True
    # Reasoning can stand in the sentence of a declaration, so what is between begins where its content begins.
    between = reply.lower[earlier.start : last.outer_span[0]]
    if (last.is_final and not earlier.is_final) or wordings.RECONSIDERED.search(between[-_LOOK_BACK:]):
        return True
    if wordings.CONCLUDING.search(reply.lower, max(0, last.outer_span[0] - WORDS_BEFORE), last.outer_span[0]):
        return True
    return _is_reasoning(between)


def _end_of_withdrawn_part(lower: str) -> int:
    """Return the position up to which answers are withdrawn; 0 if none is."""
    withdrawal = next(iter(deque(wordings.WITHDRAWS.finditer(lower), 1)), None)
    return withdrawal.start() + 1 if withdrawal else 0  # its words begin behind the mark that ends what is withdrawn
