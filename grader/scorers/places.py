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
from grader.scorers.patterns import Pattern, heuristic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Form = Literal["container", "mark", "declaration", "choice", "conclusion", "line", "body", "sentence"]
Value = TypeVar("Value")

_MOST = 50
"""Claims of one form; a loop has thousands."""
_LONGEST = 2_000
"""Characters of a claim: what is longer is no answer."""
_WORDS_BEFORE = 60
"""Characters before a form whose words tell whether it is final, concludes, or is supposed."""
_CONDITION = 160
"""Characters before a declaration in which its condition stands: 120 of the clause, and "if"."""
_SUBJECT, _CLAUSE = 500, 110
"""Characters before "is the answer" and before "is correct" that can be their subject."""
_LOOK_BACK = 2_000
"""Characters before an answer that tell whether new reasoning or a change of mind leads to it."""
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
    outer_span: tuple[int, int]
    """The span with the words of the form."""
    is_final: bool = False
    """Whether its words call it final, or correct another one."""
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
    cached: list[Claim] = reply.claims
    return cached


def _claims(reply: OwnWords) -> list[Claim]:
    """Return containers and marks, and what is declared or chosen in words outside of them."""
    in_containers = [*_containers(reply), *_marks(reply)]
    declarations = [*_declarations(reply), *_declarations_before(reply)]
    last_form = max((claim.outer_span[0] for claim in (*in_containers, *declarations)), default=0)
    after = max(0, last_form - _NEAR_FORM)  # what is chosen long before the last form does not count
    choices = [*_choices(reply, after), *_choices_before(reply, after)]
    spans = [claim.outer_span for claim in in_containers]
    outside_containers = [
        claim
        for claim in (*declarations, *choices)
        if not any(claim.outer_span[0] < end and start <= claim.end for start, end in spans)
    ]
    return sorted([*in_containers, *outside_containers], key=lambda claim: claim.outer_span)


# --- containers and marks --------------------------------------------------------------------------------------------

_BOX = Pattern(r"\\f?boxed\s*\{")
_NAMES = "answer|final_?answer|final|conclusion|choice|option|letter|result|ans|output|response|solution"
_TAG = Pattern(rf"<(?P<closes>/?)(?:{_NAMES})\s*>|\[(?P<closes_bracket>/?)(?:answer|final_?answer)\]", re.IGNORECASE)
_FIELD = Pattern(
    r"[{,\s][\"']?(?:(?:final|correct|my|model|best|selected|chosen)[_ ]?)?(?:answer|choice|option|letter|"
    r"prediction|selection|label|答案)"
    r"(?:[_ ](?:letter|choice|option))?[\"']\s*:\s*"
    r"(?:\"(?P<text>(?:[^\"\\\n]|\\.){0,4000})\"|'(?P<single>(?:[^'\\\n]|\\.){0,4000})'"
    r"|(?P<opening>[\[{])|(?P<bare>-?\d[\d.eE+-]{0,40}|true|false|null|[A-Za-z])\b|(?P<cut>[\"'][^\"'\n]*\Z))",
    re.IGNORECASE,
)
_MARK = Pattern(
    r"####[ \t]*+(?:(?:answer|ans)[ \t]*+)?(?::[ \t]*+)?(?=\S)(?!#)(?P<hashes>[^\n]*)"
    r"|\[[^\[\]\n]{0,4}答案\][ \t]*+(?::[ \t]*+)?(?P<chinese>[^\n]*)",
    2,
)
_BRACKET = Pattern(r"(?:\n|[.!?:])[ \t*_>]*\[(?!/)([^\[\]\n]{1,40})\][ \t*_.]*\Z")
_JOIN = Pattern(
    r"[\s$,;.\\()]*(?:(?:and|or|,|\\text\{\s?(?:and|or)\s?\})[\s$,]*)?(?:\\?[a-z](?:_\{?\w\}?)?\s*=\s*)?[\s$]*"
)
"""What can stand between two boxes that are one answer."""


def _containers(reply: OwnWords) -> Iterator[Claim]:
    """Yield boxes, tags and fields that are not inside of another one, and a bracket behind them on the last line."""
    text = reply.text
    containers: list[Claim] = []
    if "box" in text:
        containers += _boxes(text)
    if "<" in text or "[" in text:
        containers += _tags(text)
    if ":" in text and ("{" in text or '"' in text):
        matches = deque(_FIELD.finditer(text), _MOST)
        containers += [claim for match in matches if (claim := _json_field(match, text)) is not None]
    end = -1
    for claim in sorted(containers, key=lambda claim: (claim.outer_span[0], -claim.outer_span[1])):
        if claim.outer_span[0] >= end:
            end = claim.outer_span[1]
            yield claim
    bracket = _BRACKET.search(text.rstrip())
    if bracket and bracket.start(1) > end:
        yield Claim("container", "bracket", *bracket.span(1), bracket.span())


def _boxes(text: str) -> list[Claim]:
    boxes: list[Claim] = []
    for match in deque(_BOX.finditer(text), _MOST):
        start, end = match.end(), _closing(text, match.end() - 1)
        if end is None:
            boxes.append(Claim("container", "boxed", start, len(text), (match.start(), len(text)), is_cut=True))
            continue
        box = Claim("container", "boxed", start, end, (match.start(), end + 1))
        if boxes and _JOIN.fullmatch(text, boxes[-1].outer_span[1], match.start()):
            box = _one_answer(boxes.pop(), box)
        boxes.append(box)
    return boxes


def _one_answer(first: Claim, second: Claim) -> Claim:
    """Return two boxes, of which the first can be several already, as one claim."""
    parts = first.parts or ((first.start, first.end),)
    return second._replace(
        outer_span=(first.outer_span[0], second.outer_span[1]), parts=(*parts, (second.start, second.end))
    )


_PAIRS = {"{": "}", "[": "]"}


def _closing(text: str, start: int, most: int = 2_000) -> int | None:
    """Return the position of the bracket that closes the one at `start`; None if it is not closed nearby."""
    opening, closing, depth = text[start], _PAIRS[text[start]], 0
    for position in range(start, min(len(text), start + most)):
        depth += (text[position] == opening) - (text[position] == closing)
        if not depth:
            return position
    return None


def _tags(text: str) -> list[Claim]:
    tags: list[Claim] = []
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if not (tag["closes"] or tag["closes_bracket"]):
            opened = tag
        elif opened is not None:
            tags.append(Claim("container", "answer_tag", opened.end(), tag.start(), (opened.start(), tag.end())))
            opened = None
    if opened is not None:
        tags.append(Claim("container", "answer_tag", opened.end(), len(text), (opened.start(), len(text))))
    return tags[-_MOST:]


def _json_field(match: re.Match[str], text: str) -> Claim | None:
    """Return a JSON field's value: a text, a number, a word, or an array or object; None if that is not closed."""
    kind = match.lastgroup or ""
    start, end = match.span(kind)
    if kind == "opening":
        closing = _closing(text, start)
        if closing is None:
            return None
        end = closing + 1
    # The pattern begins with the character before the name.
    return Claim("container", "json", start, end, (match.start() + 1, max(end, match.end())), is_cut=kind == "cut")


def _marks(reply: OwnWords) -> Iterator[Claim]:
    text = reply.text
    if "####" not in text and "答案" not in text:
        return
    for mark in deque(_MARK.finditer(text), _MOST):
        yield Claim("mark", "mark", *mark.span(mark.lastgroup or ""), mark.span())


# --- declarations, choices, conclusions ------------------------------------------------------------------------------

_OPENS = Pattern(r"[\s*_\"'`:]*")
_END = Pattern(r"[\n!?;。।]|(?<!i\.e)(?<!e\.g)(?<! vs)\.(?=[\s\"')*_]|$)")
_QUOTED = Pattern(r"[\"'`]([^\"'`\n]{1,200})[\"'`](?=[\s.,;!*]|$)")


def _declarations(reply: OwnWords) -> Iterator[Claim]:
    """Yield what stands behind "the answer is", unless it is asked, supposed or under a condition."""
    lower = reply.unmarked_lower
    for form in deque(wordings.DECLARES.finditer(lower), _MOST):
        content = _content_after(reply, form.end())
        before = lower[max(0, form.start() - _WORDS_BEFORE) : form.start()]
        if content is None or wordings.SUPPOSED.search(before) or _is_unreal(lower, form, _CONDITION):
            continue
        start, end = content
        yield Claim(
            "declaration", "declaration", start, end, (form.start(), end),
            is_final=wordings.FINAL.search(before) is not None,
            is_denied=wordings.DENIED.match(lower, start, end) is not None,
        )  # fmt: skip


def _declarations_before(reply: OwnWords) -> Iterator[Claim]:
    """Yield the last sentence before "is the answer"."""
    for form in deque(wordings.DECLARED.finditer(reply.unmarked_lower), _MOST):
        if span := _content_before(reply, form.start(), _SUBJECT):
            yield Claim("declaration", "declaration", *span, (span[0], form.end()), is_before=True)


def _choices(reply: OwnWords, after: int) -> Iterator[Claim]:
    """Yield what stands behind "I would choose" and "so"; what corrects an answer is final."""
    kinds: tuple[tuple[re.Pattern[str], Form, bool], ...] = (
        (wordings.CORRECTS, "choice", True), (wordings.CHOOSES, "choice", False), (wordings.INFERS, "conclusion", False)
    )  # fmt: skip
    for pattern, form, is_final in kinds:
        for words in deque(pattern.finditer(reply.unmarked_lower, after), _MOST):
            content = _content_after(reply, words.end())
            if content is not None and content[0] < content[1]:
                yield Claim(form, form, *content, (words.start(), content[1]), is_final)


def _choices_before(reply: OwnWords, after: int) -> Iterator[Claim]:
    """Yield the last sentence before "is correct"."""
    for words in deque(wordings.CHOSEN.finditer(reply.unmarked_lower, after), _MOST):
        span = _content_before(reply, words.start(), _CLAUSE)
        if span and not _is_unreal(reply.unmarked_lower, words, _CLAUSE):
            yield Claim("choice", "choice", *span, (span[0], words.end()), is_before=True)


def _is_unreal(lower: str, form: re.Match[str], reach: int) -> bool:
    """Whether a form says what would be the answer under a condition, which stands before it."""
    if "would" not in form[0]:
        return False
    return wordings.UNREAL_BEFORE.search(lower, max(0, form.start() - reach), form.start()) is not None


def _content_after(reply: OwnWords, form_end: int) -> tuple[int, int] | None:
    """Return the span of what follows a form, up to the end of the sentence or quotation; None if it is a question."""
    opening = _OPENS.match(reply.unmarked_lower, form_end)
    start = opening.end() if opening else form_end
    quoted = _QUOTED.match(reply.text, start - 1) if start > form_end else None
    if quoted:
        return quoted.span(1)
    stop = _END.search(reply.unmarked_lower, start, start + _LONGEST + 1)
    if stop and stop[0] == "?":
        return None
    last = min(stop.start() if stop else len(reply.text), start + _LONGEST)
    return start, start + len(reply.text[start:last].rstrip(' \t*_"`'))


def _content_before(reply: OwnWords, form_start: int, reach: int) -> tuple[int, int] | None:
    """Return the span of the last sentence before a form, on its line; None if there is none."""
    lower = reply.unmarked_lower
    first = max(lower.rfind("\n", 0, form_start) + 1, form_start - reach)
    spans = sentences_in(lower[first:form_start])
    return (first + spans[-1][0], first + spans[-1][1]) if spans else None


# --- fields ----------------------------------------------------------------------------------------------------------


_FIELD_RULES = ("heading", "field")


def read_review(raw: str) -> OwnWords:
    """Return the own words of a review. In it, "does not provide" is about the solution, and refuses nothing.

    Other questions are looked for only behind its fields: a review quotes the question that it is about.
    """
    reply = own_words(raw, answers=wordings.FIELDS)
    reply.heeds_refusals = False
    return reply


def fields(reply: OwnWords) -> dict[str, list[Claim]]:
    """Return the claims under the headings, keys and tags of a review's fields: "verdict", "step" and "reason".

    A field ends where the next one begins.
    """
    headings = _without_other_verdicts(reply.unmarked_lower, _headings(reply.unmarked_lower))
    ends = [*(heading.start() for heading in headings[1:]), len(reply.unmarked_lower)]
    claims_of: dict[str, list[Claim]] = {"verdict": [], "step": [], "reason": []}
    for heading, end in zip(headings, ends, strict=False):
        rule = "field" if heading[0].endswith('":') else "heading"
        span = heading.end(), max(heading.end(), end)
        claims_of[_field_name(heading)].append(Claim("declaration", rule, *span, (heading.start(), end)))
    return claims_of


def _headings(lower: str) -> list[re.Match[str]]:
    """Return the headings of fields in order; one with a short name only where no heading has the full name."""
    # Of two headings with one end, that of a whole line counts: it begins with the marks before the name.
    patterns = (wordings.FIELDS_INLINE, wordings.FIELDS)
    by_end = {match.end(): match for pattern in patterns for match in pattern.finditer(lower)}
    full_names = {match.lastgroup for match in by_end.values()} & {"verdict", "step", "reason"}
    headings = [m for m in by_end.values() if m.lastgroup in full_names or _field_name(m) not in full_names]
    return sorted(headings, key=lambda heading: heading.start())


def _without_other_verdicts(lower: str, headings: list[re.Match[str]]) -> list[re.Match[str]]:
    """Leave out verdicts behind all steps, which are about something else, such as the repaired solution.

    Only if the first verdict stands before them. Verdicts behind a withdrawal stay.
    """
    verdicts, steps = ([h for h in headings if _field_name(h) == name] for name in ("verdict", "step"))
    if not verdicts or not steps or verdicts[0].start() > steps[-1].start():
        return headings
    withdrawal = wordings.WITHDRAWS.search(lower, steps[-1].start())
    end = withdrawal.start() if withdrawal else len(lower)
    others = [verdict for verdict in verdicts if steps[-1].start() < verdict.start() <= end]
    return [heading for heading in headings if heading not in others]


def _field_name(heading: re.Match[str]) -> str:
    return (heading.lastgroup or "").partition("_")[0]


# --- lines and sentences ---------------------------------------------------------------------------------------------


def lines(reply: OwnWords) -> list[Claim]:
    """Return the first and the last line that have sentences; lines of lists and with refusals are among them."""
    text = reply.text + "\n"
    starts = [start for start, _ in (reply.all_sentences[:1] + reply.all_sentences[-1:])]
    spans = dict.fromkeys((text.rfind("\n", 0, start) + 1, text.index("\n", start)) for start in starts)
    return [Claim("line", "own_line", *span, span) for span in spans if span[1] - span[0] <= _LONGEST]


def body(reply: OwnWords) -> list[Claim]:
    """Return all sentences that can answer, as one claim."""
    if not reply.sentences:
        return []
    span = reply.sentences[0][0], reply.sentences[-1][1]
    return [Claim("body", "sentence", *span, span)]


def sentences(reply: OwnWords) -> list[Claim]:
    """Return the sentences that can answer, the likeliest first; of equal ones, the last."""
    if reply.is_cut or not reply.sentences:
        return []
    spans = reply.sentences[:_MOST] + reply.sentences[_MOST:][-_MOST:]  # the first and the last, each once
    ranked = sorted(spans, key=lambda span: (_likelihood(reply, span), span), reverse=True)
    return [Claim("sentence", "sentence", *span, span) for span in ranked if span[1] - span[0] <= _LONGEST]


def _likelihood(reply: OwnWords, span: tuple[int, int]) -> float:
    """Return how likely a sentence answers: 1 if it says all that is asked, and 1 more if it concludes.

    Emphasis and the last place count 0.3 each.
    """
    start, end = span
    share = len(reply.question_words & content_words(reply.text[start:end])) / (len(reply.question_words) or 1)
    concludes = wordings.CONCLUDES.match(reply.lower, start) is not None
    is_emphasized = _EMPHASIZED.search(reply.text, start, end) is not None
    is_last = end == reply.sentences[-1][1]
    return share + concludes + 0.3 * (is_emphasized + is_last)


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

    `by_words`: whether the words before an answer must show that it is to this question. Letters need that: answers to
    other questions are the same letters.
    """
    withdrawn = withdrawn_before(reply.lower)
    current_claims = [claim for claim in claims(reply) if claim.outer_span[1] > withdrawn]
    valued, unread = _forms_with_value(reply, [claim for claim in current_claims if claim.form in _STRONG], value)
    if unread is not None and unread.form != "declaration":
        return Settled(unread, None)
    if valued:
        end_of_forms = valued[-1].claim.outer_span[1]
    elif unread is not None:
        end_of_forms = _end_of_unread(reply, unread)
    else:
        end_of_forms = 0
    valued += _weak_with_value(reply, current_claims, valued, end_of_forms, value)
    if valued:
        return _last(reply, _to_this_question(reply, valued, same) if by_words else valued, same)
    settled = _without_form(reply, max(withdrawn, end_of_forms), value, same)
    return Settled(unread, None) if settled is None and unread is not None else settled


def _weak_with_value(
    reply: OwnWords,
    current_claims: list[Claim],
    strong: list[Settled[Value]],
    end: int,
    value: Callable[[Claim], Value | None],
) -> list[Settled[Value]]:
    """Return choices and conclusions with a value that stand behind the strong forms, or correct the last one."""
    weak: list[Claim] = []
    if not reply.loops:
        weak += [c for c in current_claims if c.form in _WEAK and (c.start >= end or _corrects(c, strong))]
    if strong:
        weak += _conclusions(reply, end)
    weak.sort(key=lambda claim: claim.outer_span)
    return [Settled(claim, content) for claim in weak if (content := value(claim)) is not None]


def _corrects(claim: Claim, valued: list[Settled[Value]]) -> bool:
    """Whether a claim corrects the last form from inside of it: "The answer is A, or rather B."."""
    return claim.is_final and claim.outer_span[0] > (valued[-1].claim.start if valued else 0)


def settle_fields(
    reply: OwnWords,
    field_claims: list[Claim],
    value: Callable[[Claim], Value | None],
    same: Callable[[Value, Value], bool] = operator.eq,
) -> Settled[Value] | None:
    """Return the claim of a review's field that counts; without one, the line or sentence, as without a form."""
    if field_claims:
        # Words such as "wait" withdraw the claims before them, if others follow.
        first, last = field_claims[0], field_claims[-1]
        withdrawal = _last_match(wordings.WITHDRAWS.finditer(reply.lower, first.start, last.outer_span[0]))
        if withdrawal is not None:
            field_claims = [claim for claim in field_claims if claim.start >= withdrawal.start()]
    valued, unread = _forms_with_value(reply, field_claims, value)
    if unread is not None:
        return Settled(unread, None)
    if not valued:
        return _without_form(reply, 0, value, same)
    # Behind the last claim, the sentences after such words count.
    withdrawn = withdrawn_before(reply.lower)
    if withdrawn > valued[-1].claim.start:
        for claim in body(reply):
            if (content := value(claim._replace(start=withdrawn))) is not None:
                return Settled(claim, content)
    return _last(reply, valued, same)


def _end_of_unread(reply: OwnWords, unread: Claim) -> int:
    """Return where the words behind a declaration without a value begin; its next lines are such words."""
    if unread.is_denied:  # "The answer is not listed, but it is closest to B.": its own sentence, too
        return max((start for start, _ in reply.sentences if start <= unread.start), default=0)
    is_on_next_line = "\n" in reply.text[unread.outer_span[0] : unread.start]
    return unread.start if is_on_next_line else unread.outer_span[1]


@heuristic(13, [])
def _conclusions(reply: OwnWords, after: int) -> list[Claim]:
    """Return the sentences behind a position that conclude."""
    behind = [span for span in reply.sentences if after <= span[0] and span[1] - span[0] <= _LONGEST]
    spans = [span for span in behind[-_MOST:] if wordings.CONCLUDES.match(reply.lower, span[0])]
    return [Claim("sentence", "conclusion", *span, span) for span in spans]


def _without_form(
    reply: OwnWords, after: int, value: Callable[[Claim], Value | None], same: Callable[[Value, Value], bool]
) -> Settled[Value] | None:
    """Return the line, the body or the sentence behind a position that has a value."""
    for tier in (lines(reply), body(reply)):
        behind = [
            (claim, claim._replace(start=max(claim.start, after))) for claim in tier if claim.outer_span[1] > after
        ]
        valued = [Settled(claim, content) for claim, part in behind if (content := value(part)) is not None]
        if valued and _are_same(valued, same):
            return valued[-1]
    for claim in sentences(reply):
        if claim.start >= after and (content := value(claim)) is not None:
            return Settled(claim, content)
    return None


def _are_same(valued: list[Settled[Value]], same: Callable[[Value, Value], bool]) -> bool:
    return all(same(settled.value, valued[-1].value) for settled in valued)  # type: ignore[arg-type]


def _forms_with_value(
    reply: OwnWords, forms: list[Claim], value: Callable[[Claim], Value | None]
) -> tuple[list[Settled[Value]], Claim | None]:
    """Return (the forms with a value, None), or ([], the last form) if that one has no value but should have one.

    It need not have one if it has no content, or if it is a declaration that leaves nothing open, such as "the answer
    is not C": then the earlier ones count.
    """
    if not forms:
        return [], None
    contents = [(claim, None if claim.is_denied else value(claim)) for claim in forms]
    valued = [Settled(claim, content) for claim, content in contents if content is not None]
    last, content = contents[-1]
    is_empty = last.start == last.end and not last.is_cut
    if content is not None or last.is_before or is_empty:
        return valued, None
    if valued and last.form == "declaration" and not _is_undecided(reply, last):
        return valued, None
    return [], last


@heuristic(12, False)
def _is_undecided(reply: OwnWords, claim: Claim) -> bool:
    """Whether a declaration leaves the answer open."""
    span = claim.start, claim.end
    return bool(wordings.UNDECIDED.search(reply.lower, *span) or wordings.REFUSES.search(reply.lower, *span))


def _last(reply: OwnWords, valued: list[Settled[Value]], same: Callable[[Value, Value], bool]) -> Settled[Value]:
    """Return the last claim with a value; `several` if one before it has another, and is not replaced."""
    last = valued[-1]
    several = any(
        not same(earlier.value, last.value) and not _replaces(reply, last.claim, earlier.claim)  # type: ignore[arg-type]
        for earlier in valued[:-1]
    )
    return last._replace(several=several)


_TOKEN = Pattern(r"[^\W\d_]{4,}|\d+(?:\.\d+)?|[\u3040-\u9fff\uac00-\ud7af]")
_WORDS_IN_COMMON = 2
"""So many words of the question show that what stands before an answer is about it; 1 and 4 read the same."""


def _to_this_question(
    reply: OwnWords, valued: list[Settled[Value]], same: Callable[[Value, Value], bool]
) -> list[Settled[Value]]:
    """Leave out answers to other questions: demonstrations before this one, inventions and summaries behind it.

    An answer is to this question if the words before it are from the question, or if it continues such an answer. If no
    answer has words of the question, and there are three or more, the last one counts.
    """
    if _are_same(valued, same):
        return valued
    question_words = frozenset(_TOKEN.findall(reply.question.lower()))
    starts = [0, *(settled.claim.outer_span[1] for settled in valued)]
    texts = [reply.lower[start : settled.claim.outer_span[0]] for start, settled in zip(starts, valued, strict=False)]
    overlaps = [len(question_words & set(_TOKEN.findall(text))) for text in texts]
    if max(overlaps) < _WORDS_IN_COMMON:
        is_list_of_answers = len(valued) > 2 and not any(map(_is_reasoning, texts))
        return valued[-1:] if is_list_of_answers else valued
    answers: list[Settled[Value]] = []
    is_to_it = False
    for settled, text, overlap in zip(valued, texts, overlaps, strict=True):
        is_to_it = (
            overlap >= _WORDS_IN_COMMON or (overlap > 0 and _is_reasoning(text)) or (is_to_it and _continues(text))
        )
        if is_to_it:
            answers.append(settled)
    return answers


def _continues(between: str) -> bool:
    """Whether an answer behind another one is to the same question: on its line, in a form, after a change of mind."""
    if "\n" not in between or _ONLY_FORM.fullmatch(between):
        return True
    return wordings.RECONSIDERED.search(between) is not None


_ONLY_FORM = Pattern(r"\W*(?:(?:final|answer|my|the|is|so|thus|therefore|correct)\W+)*")


@heuristic(41, False)
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
    # The claim of a field has other words behind its content, so what is between begins at its end.
    start = earlier.end if earlier.rule in _FIELD_RULES else earlier.start
    between = reply.lower[start : last.outer_span[0]]
    if (last.is_final and not earlier.is_final) or wordings.RECONSIDERED.search(between[-_LOOK_BACK:]):
        return True
    if wordings.CONCLUDING.search(reply.lower, max(0, last.outer_span[0] - _WORDS_BEFORE), last.outer_span[0]):
        return True
    return _is_reasoning(between)


def withdrawn_before(lower: str) -> int:
    """Return the position up to which answers are withdrawn; 0 if none is, or if they are confirmed behind it."""
    withdrawal = _last_match(wordings.WITHDRAWS.finditer(lower))
    if withdrawal is None or wordings.CONFIRMS.search(lower, withdrawal.end()):
        return 0
    return withdrawal.start() + 1


def _last_match(matches: Iterator[re.Match[str]]) -> re.Match[str] | None:
    return next(iter(deque(matches, 1)), None)
