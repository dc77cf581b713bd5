r"""Where an answer can stand in a reply, and which of several places counts: the one reader of answers.

`claims(reply)` lists what stands in an answer's place, in the order of the text:

- `container`: a box, an answer tag, a JSON field, a bracket alone on the last line; `mark`: what follows `####`;
- `declaration`: behind "the answer is" or before "is the answer", up to the end of the sentence;
- `choice`: behind "I would choose", before "is correct"; `conclusion`: a clause behind "so" or "it must be";
- `line`: the first and the last line; `body`: all sentences that can answer; `sentence`: each of them.

`settle(reply, value, same)` chooses among them. `value` is the kind's: it returns what a claim's content says, read
whole, or None. Containers, marks and declarations come before choices and conclusions, and these before lines, the
body, and the sentence that says most of what the question asks. A form is final: what stands in the last one is the
answer, or there is none. Of several claims with different values, the last counts if it is final, corrected, or comes
after new reasoning; else the reply gives several answers.
"""

from __future__ import annotations

import operator
import re
from collections import deque
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from grader.scorers import place_wordings as wordings
from grader.scorers.own_words import OwnWords, content_words, own_words, sentences_in
from grader.scorers.patterns import Pattern, rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Form = Literal["container", "mark", "declaration", "choice", "conclusion", "line", "body", "sentence"]
Value = TypeVar("Value")

_MOST = 50
"""Claims of one form; a loop has thousands."""
_LONGEST = 2_000
"""Characters of a claim: what is longer is no answer."""
_NEAR_FORM = 200
"""So many characters before the last form of an answer can be of its sentence; 50 and 400 read the same."""
_STRONG = ("container", "mark", "declaration")
_WEAK = ("choice", "conclusion")


class Claim(NamedTuple):
    """What stands in an answer's place: the span of its content in the reply, without the words of its form."""

    form: Form
    rule: str
    """The kind of form: boxed, answer_tag, json, bracket, mark, declaration, choice, conclusion, own_line, sentence."""
    start: int
    end: int
    whole: tuple[int, int]
    """The span with the words of the form."""
    rank: int = 0
    """1: final or corrected."""
    is_cut: bool = False
    """Whether the reply ends inside of it."""
    is_denied: bool = False
    """Whether it says what is not the answer."""
    is_before: bool = False
    """Whether the content stands before the words of the form."""
    parts: tuple[tuple[int, int], ...] = ()
    """The contents of several containers that are one answer: "x = \\boxed{3} or x = \\boxed{-3}"."""


def claims(reply: OwnWords) -> list[Claim]:
    """Return the claims in a form, in the order of the text; only the last few dozen of each form."""
    if reply.problem:
        return []
    if reply.claims is None:
        reply.claims = _claims(reply)
    found: list[Claim] = reply.claims
    return found


def _claims(reply: OwnWords) -> list[Claim]:
    contained = [*_containers(reply), *_marks(reply)]
    spans = [claim.whole for claim in contained]
    declared = [*_declarations(reply)]
    last = max((claim.whole[0] for claim in (*contained, *declared)), default=_NEAR_FORM)
    worded = [
        claim
        for claim in (*declared, *_choices(reply, max(0, last - _NEAR_FORM)))
        if not any(claim.whole[0] < end and start <= claim.end for start, end in spans)
    ]
    return sorted([*contained, *worded], key=lambda claim: claim.whole)


# --- containers and marks --------------------------------------------------------------------------------------------

_BOX = Pattern(r"\\f?boxed\s*\{")
_NAMES = "answer|final_?answer|final|conclusion|choice|option|letter|result|ans|output|response|solution"
_TAG = Pattern(rf"(?:<(/?)({_NAMES})\s*>|\[(/?)(answer|final_?answer)\])", re.IGNORECASE)
_FIELD = Pattern(
    r"[{,\s][\"']?(?:(?:final|correct|my|model|best|selected|chosen)[_ ]?)?(?:answer|choice|option|letter|"
    r"prediction|selection|label|答案)"
    r"(?:[_ ](?:letter|choice|option))?[\"']\s*:\s*(?:\"((?:[^\"\\\n]|\\.){0,4000})\"|'((?:[^'\\\n]|\\.){0,4000})'"
    r"|([\[{])|(-?\d[\d.eE+-]{0,40}|true|false|null|[A-Za-z])\b|([\"'][^\"'\n]*\Z))",
    re.IGNORECASE,
)
_MARK = Pattern(
    r"####[ \t]*+(?:(?:answer|ans)[ \t]*+)?(?::[ \t]*+)?(?=\S)(?!#)([^\n]*)"
    r"|\[[^\[\]\n]{0,4}答案\][ \t]*+(?::[ \t]*+)?([^\n]*)",
    2,
)
_BRACKET = Pattern(r"(?:\n|[.!?:])[ \t*_>]*\[(?!/)([^\[\]\n]{1,40})\][ \t*_.]*\Z")
_JOIN = Pattern(
    r"[\s$,;.\\()]*(?:(?:and|or|,|\\text\{\s?(?:and|or)\s?\})[\s$,]*)?(?:\\?[a-z](?:_\{?\w\}?)?\s*=\s*)?[\s$]*"
)
"""What can stand between two boxes that are one answer."""


def _containers(reply: OwnWords) -> Iterator[Claim]:
    text = reply.text
    found: list[Claim] = []
    if "box" in text:
        found += _boxes(text)
    if "<" in text or "[" in text:
        found += _tags(text)
    if ":" in text and ("{" in text or '"' in text):
        found += [claim for m in deque(_FIELD.finditer(text), _MOST) if (claim := _field(m, text)) is not None]
    end = -1
    for claim in sorted(found, key=lambda claim: (claim.whole[0], -claim.whole[1])):
        if claim.whole[0] >= end:
            end = claim.whole[1]
            rank, supposed = _rank(reply.low, claim.whole[0])
            if not supposed:
                yield claim._replace(rank=rank)
    last = _BRACKET.search(text.rstrip())
    if last and last.start(1) > end:
        yield Claim("container", "bracket", *last.span(1), last.span())


def _boxes(text: str) -> list[Claim]:
    boxes: list[Claim] = []
    for m in deque(_BOX.finditer(text), _MOST):
        end = _closing(text, m.end() - 1)
        if end is None:
            boxes.append(Claim("container", "boxed", m.end(), len(text), (m.start(), len(text)), is_cut=True))
            continue
        box = Claim("container", "boxed", m.end(), end, (m.start(), end + 1))
        if boxes and _JOIN.fullmatch(text, boxes[-1].whole[1], m.start()):
            parts = (boxes[-1].parts or ((boxes[-1].start, boxes[-1].end),)) + ((box.start, box.end),)
            boxes[-1] = box._replace(whole=(boxes[-1].whole[0], box.whole[1]), parts=parts)
        else:
            boxes.append(box)
    return boxes


_PAIRS = {"{": "}", "[": "]"}


def _closing(text: str, start: int, most: int = 2_000) -> int | None:
    """Return the place of the bracket that closes the one at `start`; None if it is not closed nearby."""
    opening, closing, depth = text[start], _PAIRS[text[start]], 0
    for at in range(start, min(len(text), start + most)):
        depth += (text[at] == opening) - (text[at] == closing)
        if not depth:
            return at
    return None


def _tags(text: str) -> list[Claim]:
    tags: list[Claim] = []
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if not (tag[1] or tag[3]):
            opened = tag
        elif opened is not None:
            tags.append(Claim("container", "answer_tag", opened.end(), tag.start(), (opened.start(), tag.end())))
            opened = None
    if opened is not None:
        tags.append(Claim("container", "answer_tag", opened.end(), len(text), (opened.start(), len(text))))
    return tags[-_MOST:]


def _field(m: re.Match[str], text: str) -> Claim | None:
    """Return a JSON field's value: a text, a number, a word, or a whole array or object."""
    if m[5] is not None:
        return Claim("container", "json", m.start(5), m.end(), (m.start() + 1, m.end()), is_cut=True)
    if m[3] is not None:
        end = _closing(text, m.start(3))
        return Claim("container", "json", m.start(3), end + 1, (m.start() + 1, end + 1)) if end else None
    start, end = next(m.span(g) for g in (1, 2, 4) if m[g] is not None)
    return Claim("container", "json", start, end, (m.start() + 1, m.end()))


def _marks(reply: OwnWords) -> Iterator[Claim]:
    text = reply.text
    for mark in deque(_MARK.finditer(text), _MOST) if "####" in text or "答案" in text else ():
        group = next(at for at in (1, 2) if mark[at] is not None)
        yield Claim("mark", "mark", *mark.span(group), mark.span())


# --- declarations, choices, conclusions ------------------------------------------------------------------------------

_OPENS = Pattern(r"[\s*_\"'`:]*")
_END = Pattern(r"[\n!?;。।]|(?<!i\.e)(?<!e\.g)(?<! vs)\.(?=[\s\"')*_]|$)")
_QUOTED = Pattern(r"[\"'`]([^\"'`\n]{1,200})[\"'`](?=[\s.,;!*]|$)")


def _declarations(reply: OwnWords) -> Iterator[Claim]:
    low = reply.shown_low
    for form in deque(wordings.DECLARES.finditer(low), _MOST):
        opened = _OPENS.match(low, form.end())
        start = opened.end() if opened else form.end()
        start, end, asks = _content(reply, form.end(), start)
        rank, supposed = _rank(low, form.start())
        if "would" in form[0]:
            supposed |= wordings.UNREAL_BEFORE.search(low, max(0, form.start() - 160), form.start()) is not None
        if start <= end and not supposed and not asks:
            denied = wordings.DENIED.match(low, start, end) is not None
            yield Claim("declaration", "declaration", start, end, (form.start(), end), rank, is_denied=denied)
    for form in deque(wordings.DECLARED.finditer(low), _MOST):
        line = max(low.rfind("\n", 0, form.start()) + 1, form.start() - _LONGEST // 4)
        if spans := sentences_in(low[line : form.start()]):
            start, end = (line + at for at in spans[-1])
            rank, supposed = _rank(low, start)
            if not supposed:
                yield Claim("declaration", "declaration", start, end, (start, form.end()), rank, is_before=True)


def _content(reply: OwnWords, form_end: int, start: int) -> tuple[int, int, bool]:
    """Return the span of what follows a form, up to the end of the sentence or quotation; whether it is a question."""
    quoted = _QUOTED.match(reply.text, start - 1) if start > form_end else None
    if quoted:
        return *quoted.span(1), False
    stop = _END.search(reply.shown_low, start, start + _LONGEST + 1)
    last = min(stop.start() if stop else len(reply.text), start + _LONGEST)
    end = start + len(reply.text[start:last].rstrip(' \t*_"`'))
    return start, max(start, end), stop is not None and stop[0] == "?"


def _rank(low: str, at: int) -> tuple[int, bool]:
    """Return the rank of a form, and whether its answer is only supposed, from the words before it."""
    near = low[max(0, at - 60) : at]
    return int(wordings.FINAL.search(near) is not None), bool(wordings.SUPPOSED.search(near))


def _choices(reply: OwnWords, after: int) -> Iterator[Claim]:
    """Yield the choices and conclusions that can count: those before the last form of an answer do not."""
    low = reply.shown_low
    for pattern, form, rank in (
        (wordings.CORRECTS, "choice", 1), (wordings.CHOOSES, "choice", 0), (wordings.INFERS, "conclusion", 0)
    ):  # fmt: skip
        for words in deque(pattern.finditer(low, after), _MOST):
            opened = _OPENS.match(low, words.end())
            start, end, asks = _content(reply, words.end(), opened.end() if opened else words.end())
            if start < end and not asks and not _rank(low, words.start())[1]:
                yield Claim(form, form, start, end, (words.start(), end), rank)  # type: ignore[arg-type]
    for words in deque(wordings.CHOSEN.finditer(low, after), _MOST):
        start = max(low.rfind("\n", 0, words.start()) + 1, words.start() - 110)
        if words[0].startswith("would") and wordings.UNREAL_BEFORE.search(low, start, words.start()):
            continue
        if (spans := sentences_in(low[start : words.start()])) and not _rank(low, start + spans[-1][0])[1]:
            span = start + spans[-1][0], start + spans[-1][1]
            yield Claim("choice", "choice", *span, (span[0], words.end()), is_before=True)


# --- fields ----------------------------------------------------------------------------------------------------------


_FIELD_RULES = ("heading", "field")


def review(raw: str) -> OwnWords:
    """Return the own words of a review: others ask only behind its fields, and "does not provide" refuses nothing."""
    reply = own_words(raw, answers=wordings.FIELDS)
    reply.heeds_refusals = False
    return reply


def fields(reply: OwnWords) -> dict[str, list[Claim]]:
    """Return the claims under the headings, keys and tags of a review's fields: "verdict", "step" and "reason".

    A field ends where the next one begins. A verdict behind all steps is about something else, such as the repaired
    solution, if there was one before them that nothing withdraws.
    """
    low = reply.shown_low
    both = (wordings.FIELDS_INLINE, wordings.FIELDS)
    heads = sorted({m.end(): m for pattern in both for m in pattern.finditer(low)}.values(), key=lambda m: m.start())
    full = {m.lastgroup for m in heads}
    heads = [m for m in heads if _field_name(m) == m.lastgroup or _field_name(m) not in full]
    verdicts, steps = ([m for m in heads if _field_name(m) == field] for field in ("verdict", "step"))
    if verdicts and steps and verdicts[0].start() < steps[-1].start():
        again = wordings.WITHDRAWS.search(low, steps[-1].start())
        until = again.start() if again else len(low)
        heads = [m for m in heads if m not in verdicts or not steps[-1].start() < m.start() <= until]
    found: dict[str, list[Claim]] = {"verdict": [], "step": [], "reason": []}
    for head, end in zip(heads, [*(m.start() for m in heads[1:]), len(low)], strict=False):
        rule = "field" if head[0].endswith('":') else "heading"
        found[_field_name(head)].append(
            Claim("declaration", rule, head.end(), max(head.end(), end), (head.start(), end))
        )
    return found


def _field_name(head: re.Match[str]) -> str:
    return (head.lastgroup or "").partition("_")[0]


# --- lines and sentences ---------------------------------------------------------------------------------------------


def lines(reply: OwnWords) -> list[Claim]:
    """Return the first and the last line of the sentences that can answer; once if there is one line."""
    text = reply.text + "\n"
    places = [at for at, _ in (reply.all_sentences[:1] + reply.all_sentences[-1:])]
    spans = dict.fromkeys((text.rfind("\n", 0, at) + 1, text.index("\n", at)) for at in places)
    return [Claim("line", "own_line", *span, span) for span in spans if span[1] - span[0] <= _LONGEST]


def body(reply: OwnWords) -> list[Claim]:
    """Return all sentences that can answer, as one claim."""
    if not reply.sentences:
        return []
    span = reply.sentences[0][0], reply.sentences[-1][1]
    return [Claim("body", "sentence", *span, span)]


def sentences(reply: OwnWords) -> list[Claim]:
    """Return the sentences that can answer; those that say most of what is asked, or conclude, first."""
    if reply.is_cut or not reply.sentences:
        return []
    last = reply.sentences[-1]
    weighed: list[tuple[float, Claim]] = []
    several = reply.sentences[:_MOST] + reply.sentences[_MOST:][-_MOST:]
    for at, (start, end) in enumerate(several):
        if end - start > _LONGEST:
            continue
        near = len(reply.asked & content_words(reply.text[start:end])) / (len(reply.asked) or 1)
        near += wordings.CONCLUDES.match(reply.low, start) is not None
        near += 0.3 * (_EMPHASIZED.search(reply.text, start, end) is not None) + 0.3 * (end == last[1])
        weighed.append((near + at * 1e-9, Claim("sentence", "sentence", start, end, (start, end))))
    return [claim for _, claim in sorted(weighed, key=operator.itemgetter(0), reverse=True)]


_EMPHASIZED = Pattern(r"\*\*\W{0,2}\w[^*\n]{0,40}\*\*")


# --- the claim that counts -------------------------------------------------------------------------------------------


class Settled(NamedTuple, Generic[Value]):
    """The claim that counts with its value; or several claims with different ones; or a form that says nothing."""

    claim: Claim
    value: Value | None
    several: bool = False


def settle(
    reply: OwnWords,
    value: Callable[[Claim], Value | None],
    same: Callable[[Value, Value], bool] = operator.eq,
    *,
    by_words: bool = False,
) -> Settled[Value] | None:
    """Return the claim that counts; None if no claim has a value. A value of None: the last form has none.

    `by_words`: the words before an answer tell whether it answers this question, as where all answers look alike.
    """
    found = claims(reply)
    withdrawn = _withdrawn(reply.low, found)
    found = [claim for claim in found if claim.whole[1] > withdrawn]
    strong = [claim for claim in found if claim.form in _STRONG]
    valued = _forms_with_value(reply, strong, value)
    unread = valued if isinstance(valued, Claim) else None
    if unread and unread.form != "declaration":
        return Settled(unread, None)
    valued = [] if isinstance(valued, Claim) else valued
    end = valued[-1].claim.whole[1] if valued else _end(reply, unread) if unread else 0
    last = valued[-1].claim.start if valued else 0
    weak = [] if reply.loops else [claim for claim in found if claim.form in _WEAK]
    behind = [c for c in weak if c.start >= end or (c.rank > 0 and c.whole[0] > last)]
    behind += _conclusions(reply, end) if valued else []
    valued += [Settled(c, v) for c in sorted(behind, key=lambda c: c.whole) if (v := value(c)) is not None]
    if valued:
        return _last(reply, _of_this_question(reply, valued, same) if by_words else valued, same)
    before = max(withdrawn_before(reply.low), end)
    return _without_form(reply, before, value, same) or (Settled(unread, None) if unread else None)


def settle_fields(
    reply: OwnWords,
    found: list[Claim],
    value: Callable[[Claim], Value | None],
    same: Callable[[Value, Value], bool] = operator.eq,
) -> Settled[Value] | None:
    """Return the claim of a field that counts; the body where it withdraws it, and the line where there is none."""
    marks = found and deque(wordings.WITHDRAWS.finditer(reply.low, found[0].start, found[-1].whole[0]), 1)
    valued = _forms_with_value(reply, [one for one in found if not marks or one.start >= marks[0].start()], value)
    if isinstance(valued, Claim):
        return Settled(valued, None)
    if not valued:
        return _without_form(reply, 0, value, same)
    again = withdrawn_before(reply.low)
    for claim in body(reply) if again > valued[-1].claim.start else ():
        if (said := value(claim._replace(start=again))) is not None:
            return Settled(claim, said)
    return _last(reply, valued, same)


def _end(reply: OwnWords, unread: Claim) -> int:
    """Return where the words behind a form without a value begin: on the next line, its content is one of them."""
    if unread.is_denied:  # "The answer is not listed, but it is closest to B."
        return max((start for start, _ in reply.sentences if start <= unread.start), default=0)
    return unread.start if "\n" in reply.text[unread.whole[0] : unread.start] else unread.whole[1]


@rule(13, [])
def _conclusions(reply: OwnWords, after: int) -> list[Claim]:
    """Return the sentences behind a place that conclude."""
    behind = [span for span in reply.sentences if after <= span[0] and span[1] - span[0] <= _LONGEST]
    spans = [span for span in behind[-_MOST:] if wordings.CONCLUDES.match(reply.low, span[0])]
    return [Claim("sentence", "conclusion", *span, span) for span in spans]


def _without_form(
    reply: OwnWords, before: int, value: Callable[[Claim], Value | None], same: Callable[[Value, Value], bool]
) -> Settled[Value] | None:
    """Return the line, the body or the sentence behind a place that has a value."""
    for tier in (lines, body):
        values = [
            Settled(c, v)
            for c in tier(reply)
            if c.whole[1] > before and (v := value(c._replace(start=max(c.start, before)))) is not None
        ]
        if values and all(same(one.value, values[-1].value) for one in values):  # type: ignore[arg-type]
            return values[-1]
    for claim in sentences(reply):
        if claim.start >= before and (said := value(claim)) is not None:
            return Settled(claim, said)
    return None


def _forms_with_value(
    reply: OwnWords, strong: list[Claim], value: Callable[[Claim], Value | None]
) -> list[Settled[Value]] | Claim:
    """Return the forms with a value; or the last form, if it has none."""
    valued = [(claim, None if claim.is_denied else value(claim)) for claim in strong]
    settled = [Settled(claim, said) for claim, said in valued if said is not None]
    if not strong:
        return []
    last, said = valued[-1]
    if said is not None or last.is_before or (last.start == last.end and not last.is_cut):
        return settled
    if settled and last.form == "declaration" and not _is_open(reply, last):
        return settled
    return last


@rule(12, False)
def _is_open(reply: OwnWords, claim: Claim) -> bool:
    """Whether a declaration leaves the answer open."""
    span = claim.start, claim.end
    return bool(wordings.UNDECIDED.search(reply.low, *span) or wordings.REFUSES.search(reply.low, *span))


def _last(reply: OwnWords, valued: list[Settled[Value]], same: Callable[[Value, Value], bool]) -> Settled[Value]:
    """Return the last claim with a value; `several` if one before it has another, and is not replaced."""
    last = valued[-1]
    several = any(
        not same(one.value, last.value) and not _replaces(reply, last.claim, one.claim)  # type: ignore[arg-type]
        for one in valued[:-1]
    )
    return last._replace(several=several)


_TOKEN = Pattern(r"[^\W\d_]{4,}|\d+(?:\.\d+)?|[\u3040-\u9fff\uac00-\ud7af]")
_NEAR = 2
"""So many words of the question show that what stands before an answer is about it; 1 and 4 read the same."""


def _of_this_question(
    reply: OwnWords, valued: list[Settled[Value]], same: Callable[[Value, Value], bool]
) -> list[Settled[Value]]:
    """Leave out answers to other questions: demonstrations before this one, inventions and summaries behind it.

    An answer is to this question if the words before it are from the question, or if it continues such an answer. If no
    answer has words of the question, and there are three or more, the last one counts.
    """
    if all(same(one.value, valued[-1].value) for one in valued):  # type: ignore[arg-type]
        return valued
    asked = frozenset(_TOKEN.findall(reply.question.lower()))
    starts = [0, *(one.claim.whole[1] for one in valued)]
    texts_before = [reply.low[start : one.claim.whole[0]] for start, one in zip(starts, valued, strict=False)]
    shares = [len(asked & set(_TOKEN.findall(text[-3000:]))) for text in texts_before]
    best = max(shares)
    if best < _NEAR:
        is_summary = (
            len(valued) > 2
            and not any(map(_is_reasoning, texts_before))
            and not any(map(wordings.RECONSIDERED.search, texts_before))
        )
        return valued[-1:] if is_summary else valued
    answers: list[Settled[Value]] = []
    belongs = False
    for one, text, share in zip(valued, texts_before, shares, strict=True):
        is_near = share >= _NEAR or (_is_reasoning(text) and (share > 0 or best < 2 * _NEAR))
        belongs = is_near or (
            belongs
            and (
                "\n" not in text
                or wordings.RECONSIDERED.search(text) is not None
                or _ONLY_FORM.fullmatch(text) is not None
            )
        )
        answers += [one] if belongs else []
    return answers or valued


_ONLY_FORM = Pattern(r"\W*(?:(?:final|answer|my|the|is|so|thus|therefore|correct)\W+)*")


@rule(41, False)
def _is_reasoning(block: str) -> bool:
    """Whether the words before an answer are reasoning, and not a list."""
    return len(_NO_WORD.sub("", _ITEM.sub("", block[-2000:]))) >= _REASONED


_ITEM = Pattern(r"^[ \t*(-]*[a-z][.):][^\n]*$", 8)
_REASONED = 80
"""So many letters and digits between two claims are new reasoning.

Of 495 labelled replies, 20 reads one wrong letter, and 160 leaves one more without its letter.
"""
_NO_WORD = Pattern(r"[\W_]+")


def _replaces(reply: OwnWords, last: Claim, earlier: Claim) -> bool:
    """Whether a claim takes the place of an earlier one; otherwise both are answers."""
    between = reply.low[earlier.end if earlier.rule in _FIELD_RULES else earlier.start : last.whole[0]]
    if last.form in ("container", "mark") and earlier.form not in ("container", "mark"):
        return True
    if last.rank > earlier.rank or wordings.RECONSIDERED.search(between[-2000:]):
        return True
    if wordings.CONCLUDING.search(reply.low, max(0, last.whole[0] - 60), last.whole[0]):
        return True
    return last.rank == earlier.rank and _is_reasoning(between)


def _withdrawn(low: str, found: Sequence[Claim]) -> int:
    """Return the place up to which claims are withdrawn; 0 if none is."""
    first = min((claim.whole[1] for claim in found), default=len(low))
    marks = [m.end() for m in wordings.WITHDRAWS.finditer(low, max(0, first - 2))]
    last = max((claim.whole[0] for claim in found), default=0)
    replaced = [at for at in marks if at <= last + 20]
    if marks and not wordings.CONFIRMS.search(low, marks[-1]):
        return marks[-1]
    return replaced[-1] if replaced else 0


def withdrawn_before(low: str) -> int:
    """Return the place up to which plain sentences are withdrawn; 0 if none is, or if they are confirmed behind it."""
    last = deque(wordings.WITHDRAWS.finditer(low), 1)
    return last[0].start() + 1 if last and not wordings.CONFIRMS.search(low, last[0].end()) else 0
