r"""Finds what stands in an answer's place in a reply: its claims. `settling` tells which of them counts.

A claim has one of these forms; `claims(reply)` lists those of the first five, in the order of the text:

- `container`: a box, an answer tag, a JSON field, a bracket alone on the last line; `mark`: what follows `####`;
- `declaration`: behind "the answer is" or before "is the answer", up to the end of the sentence;
- `choice`: behind "I would choose", before "is correct"; `conclusion`: a clause behind "so" or "it must be";
- `line`: the first and the last line; `body`: all sentences that can answer; `sentence`: each of them.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Literal, NamedTuple

from grader.scorers import place_wordings as wordings
from grader.scorers.own_words import OwnWords, content_words, own_words, sentences_in
from grader.scorers.patterns import Pattern, heuristic

if TYPE_CHECKING:
    from collections.abc import Iterator

Form = Literal["container", "mark", "declaration", "choice", "conclusion", "line", "body", "sentence"]

_MAX_CLAIMS = 50
"""Claims of one form; a loop has thousands."""
_MAX_LENGTH = 2_000
"""Characters of a claim: what is longer is no answer."""
WORDS_BEFORE = 60
"""Characters before a form whose words tell whether it is final, concludes, or is supposed."""
_CONDITION = 160
"""Characters before a declaration in which its condition stands: 120 of the clause, and "if"."""
_SUBJECT, _CLAUSE = 500, 110
"""Characters before "is the answer" and before "is correct" that can be their subject."""
_NEAR_FORM = 200
"""So many characters before the last form of an answer can be of its sentence; 50 and 400 read the same.

Without it 3 of 121,873 readings change, and a reply that goes in circles is given a letter.
"""


class Claim(NamedTuple):
    """What stands in an answer's place: the span of its content in the reply, without the words of its form."""

    form: Form
    rule: str
    """What found it, such as boxed, json or own_line; in a review, the heading or the key (`field`) of its field."""
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
    if reply.claims is None:
        reply.claims = _claims(reply)
    cached: list[Claim] = reply.claims
    return cached


def _claims(reply: OwnWords) -> list[Claim]:
    """Return containers and marks, and what is declared or chosen in words outside of them."""
    in_containers = [*_containers(reply), *_marks(reply)]
    declarations = [*_declarations(reply), *_declarations_with_content_before(reply)]
    last_form = max((claim.outer_span[0] for claim in (*in_containers, *declarations)), default=0)
    after = max(0, last_form - _NEAR_FORM)  # what is chosen long before the last form does not count
    choices = [*_choices(reply, after), *_choices_with_content_before(reply, after)]
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
    r"prediction|selection|label|答案)(?:[_ ](?:letter|choice|option))?[\"']\s*:\s*"
    r"(?:\"(?P<text>(?:[^\"\\\n]|\\.){0,4000})\"|'(?P<single>(?:[^'\\\n]|\\.){0,4000})'"
    r"|(?P<opening>[\[{])|(?P<bare>-?\d[\d.eE+-]{0,40}|true|false|null|[A-Za-z])\b|(?P<cut>[\"'][^\"'\n]*\Z))",
    re.IGNORECASE,
)
_MARK = Pattern(
    r"####(?![^\w\n]{0,8}(?:final )?answer[^\w\n]{0,8}\n)[ \t]*+(?:(?:answer|ans)[ \t]*+)?(?::[ \t]*+)?(?=\S)(?!#)"
    r"(?P<hashes>[^\n]*)"
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
        matches = deque(_FIELD.finditer(text), maxlen=_MAX_CLAIMS)
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
    """Return the boxes; those with only "and", a comma or "x =" between them are one answer."""
    boxes: list[Claim] = []
    for match in deque(_BOX.finditer(text), maxlen=_MAX_CLAIMS):
        start, end = match.end(), _closing_position(text, match.end() - 1)
        if end is None:
            boxes.append(Claim("container", "boxed", start, len(text), (match.start(), len(text)), is_cut=True))
            continue
        box = Claim("container", "boxed", start, end, (match.start(), end + 1))
        if boxes and _JOIN.fullmatch(text, boxes[-1].outer_span[1], match.start()):
            earlier = boxes.pop()
            parts = earlier.parts or ((earlier.start, earlier.end),)
            box = box._replace(outer_span=(earlier.outer_span[0], end + 1), parts=(*parts, (start, end)))
        boxes.append(box)
    return boxes


_PAIRS = {"{": "}", "[": "]"}


def _closing_position(text: str, start: int) -> int | None:
    """Return the position of the bracket that closes the one at `start`; None if a claim would be too long."""
    opening, closing, depth = text[start], _PAIRS[text[start]], 0
    for position in range(start, min(len(text), start + _MAX_LENGTH)):
        depth += (text[position] == opening) - (text[position] == closing)
        if not depth:
            return position
    return None


def _tags(text: str) -> list[Claim]:
    """Return what is between answer tags; a last one that is not closed holds all that follows."""
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
    return tags[-_MAX_CLAIMS:]


def _json_field(match: re.Match[str], text: str) -> Claim | None:
    """Return a JSON field's value: a text, a number, a word, or an array or object; None if that is not closed."""
    kind = match.lastgroup or ""
    start, end = match.span(kind)
    if kind == "opening":
        closing = _closing_position(text, start)
        if closing is None:
            return None
        end = closing + 1
    # The pattern begins with the character before the name.
    return Claim("container", "json", start, end, (match.start() + 1, max(end, match.end())), is_cut=kind == "cut")


def _marks(reply: OwnWords) -> Iterator[Claim]:
    """Yield what stands behind `####` or `[答案]` on its line."""
    text = reply.text
    if "####" not in text and "答案" not in text:
        return
    for mark in deque(_MARK.finditer(text), maxlen=_MAX_CLAIMS):
        start, end = mark.span(mark.lastgroup or "")
        yield Claim("mark", rule="mark", start=start, end=end, outer_span=mark.span())


# --- declarations, choices, conclusions ------------------------------------------------------------------------------

_OPENS = Pattern(r"[\s*_\"'`:]*")
_END = Pattern(r"[\n!?;。।]|\.(?=[\s\"')*_]|$)")
_QUOTED = Pattern(r"[\"'`]([^\"'`\n]{1,200})[\"'`](?=[\s.,;!*]|$)")


def _declarations(reply: OwnWords) -> Iterator[Claim]:
    """Yield what stands behind "the answer is", unless it is asked, supposed or under a condition."""
    lower = reply.unmarked_lower
    for form in deque(wordings.DECLARES.finditer(lower), maxlen=_MAX_CLAIMS):
        content = _content_after(reply, form.end())
        before = lower[max(0, form.start() - WORDS_BEFORE) : form.start()]
        if content is None or _is_unreal(lower, form, _CONDITION):
            continue
        start, end = content
        yield Claim(
            "declaration", "declaration", start, end, (form.start(), end),
            is_final=wordings.FINAL.search(before) is not None,
            is_denied=wordings.DENIED.match(lower, start, end) is not None,
        )  # fmt: skip


def _declarations_with_content_before(reply: OwnWords) -> Iterator[Claim]:
    """Yield the last sentence before "is the answer"."""
    for form in deque(wordings.DECLARED.finditer(reply.unmarked_lower), maxlen=_MAX_CLAIMS):
        if span := _content_before(reply, form.start(), _SUBJECT):
            yield Claim("declaration", "declaration", *span, (span[0], form.end()), is_before=True)


def _choices(reply: OwnWords, after: int) -> Iterator[Claim]:
    """Yield what stands behind "I would choose" and "so"."""
    kinds: tuple[tuple[re.Pattern[str], Form], ...] = (
        (wordings.CORRECTS, "choice"), (wordings.CHOOSES, "choice"), (wordings.INFERS, "conclusion")
    )  # fmt: skip
    for pattern, form in kinds:
        is_correction = pattern is wordings.CORRECTS  # "A, or rather B": it replaces an earlier answer
        for words in deque(pattern.finditer(reply.unmarked_lower, after), maxlen=_MAX_CLAIMS):
            content = _content_after(reply, words.end())
            if content is not None and content[0] < content[1]:
                start, end = content
                outer_span = words.start(), end
                yield Claim(form, rule=form, start=start, end=end, outer_span=outer_span, is_final=is_correction)


def _choices_with_content_before(reply: OwnWords, after: int) -> Iterator[Claim]:
    """Yield the last sentence before each "is correct" that stands behind the position `after`."""
    for words in deque(wordings.CHOSEN.finditer(reply.unmarked_lower, after), maxlen=_MAX_CLAIMS):
        span = _content_before(reply, words.start(), _CLAUSE)
        if span and not _is_unreal(reply.unmarked_lower, words, _CLAUSE):
            yield Claim("choice", "choice", *span, (span[0], words.end()), is_before=True)


def _is_unreal(lower: str, form: re.Match[str], reach: int) -> bool:
    """Whether a form says what would be the answer under a condition, in the `reach` characters before it."""
    if "would" not in form[0]:
        return False
    return wordings.UNREAL_BEFORE.search(lower, max(0, form.start() - reach), form.start()) is not None


def _content_after(reply: OwnWords, form_end: int) -> tuple[int, int] | None:
    """Return the span of what follows a form, up to the end of the sentence or quotation; None if it is a question."""
    opening = _OPENS.match(reply.unmarked_lower, form_end)
    start = opening.end() if opening else form_end
    has_opening = start > form_end  # its last character can be the first mark of a quotation
    if has_opening and (quoted := _QUOTED.match(reply.text, start - 1)):
        return quoted.span(1)
    stop = _END.search(reply.unmarked_lower, start, start + _MAX_LENGTH + 1)
    if stop and stop[0] == "?":
        return None
    last = min(stop.start() if stop else len(reply.text), start + _MAX_LENGTH)
    return start, start + len(reply.text[start:last].rstrip(' \t*_"`'))


def _content_before(reply: OwnWords, form_start: int, reach: int) -> tuple[int, int] | None:
    """Return the span of the last sentence on a form's line, in the `reach` characters before it; None without one."""
    lower = reply.unmarked_lower
    first = max(lower.rfind("\n", 0, form_start) + 1, form_start - reach)
    spans = sentences_in(lower[first:form_start])
    return (first + spans[-1][0], first + spans[-1][1]) if spans else None


# --- fields ----------------------------------------------------------------------------------------------------------


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
    """Return the headings in order. A short name ("Reason") counts only without a full one ("Error Reason")."""
    # Of two headings with one end, that of a whole line counts: it begins with the marks before the name.
    patterns = (wordings.FIELDS_INLINE, wordings.FIELDS)
    by_end = {match.end(): match for pattern in patterns for match in pattern.finditer(lower)}
    # A heading's `lastgroup` is its field, with `_short` behind it for a short name.
    full_names = {match.lastgroup for match in by_end.values()} & {"verdict", "step", "reason"}
    headings = [m for m in by_end.values() if m.lastgroup in full_names or _field_name(m) not in full_names]
    return sorted(headings, key=lambda heading: heading.start())


def _without_other_verdicts(lower: str, headings: list[re.Match[str]]) -> list[re.Match[str]]:
    """Leave out verdicts behind the last step, which are about something else, such as the repaired solution.

    They stay if no verdict stands before the last step, and behind a withdrawal.
    """
    verdicts, steps = ([h for h in headings if _field_name(h) == name] for name in ("verdict", "step"))
    if not verdicts or not steps or verdicts[0].start() > steps[-1].start():
        return headings
    last_step = steps[-1].start()
    withdrawal = wordings.WITHDRAWS.search(lower, last_step)
    end = withdrawal.start() if withdrawal else len(lower)
    others = [verdict for verdict in verdicts if last_step < verdict.start() <= end]
    return [heading for heading in headings if heading not in others]


def _field_name(heading: re.Match[str]) -> str:
    return (heading.lastgroup or "").partition("_")[0]


# --- lines and sentences ---------------------------------------------------------------------------------------------


def first_and_last_line(reply: OwnWords) -> list[Claim]:
    """Return the first and the last line that have sentences; items of lists and refusals count, unlike in `body`."""
    text = reply.text + "\n"
    starts = [start for start, _ in (reply.all_sentences[:1] + reply.all_sentences[-1:])]
    spans = dict.fromkeys((text.rfind("\n", 0, start) + 1, text.index("\n", start)) for start in starts)
    return [Claim("line", "own_line", *span, outer_span=span) for span in spans if span[1] - span[0] <= _MAX_LENGTH]


def body(reply: OwnWords) -> list[Claim]:
    """Return all sentences that can answer, as one claim: the answer may need several of them."""
    if not reply.sentences:
        return []
    span = reply.sentences[0][0], reply.sentences[-1][1]
    return [Claim("body", "sentence", *span, outer_span=span)]


def sentences(reply: OwnWords) -> list[Claim]:
    """Return the sentences that can answer, the likeliest first; of equal ones, the last."""
    if reply.is_cut or not reply.sentences:
        return []
    first, last = reply.sentences[:_MAX_CLAIMS], reply.sentences[_MAX_CLAIMS:][-_MAX_CLAIMS:]
    ranked = sorted(first + last, key=lambda span: (_answer_score(reply, span), span), reverse=True)
    return [
        Claim("sentence", "sentence", *span, outer_span=span) for span in ranked if span[1] - span[0] <= _MAX_LENGTH
    ]


@heuristic(decides_per_100_000=13, when_disabled=[])
def concluding_sentences(reply: OwnWords) -> list[Claim]:
    """Return those of the last sentences that begin with "so", "therefore" and the like."""
    last = [span for span in reply.sentences if span[1] - span[0] <= _MAX_LENGTH][-_MAX_CLAIMS:]
    spans = [span for span in last if wordings.CONCLUDES.match(reply.lower, span[0])]
    return [Claim("sentence", "conclusion", *span, outer_span=span) for span in spans]


_SCORE_OF_HINT = 0.3
"""The score of emphasis and of the last place: as much as a third of the question's words. 0.5 reads the same."""


def _answer_score(reply: OwnWords, span: tuple[int, int]) -> float:
    """Return how well a sentence answers: its share of the question's words, 1 if it concludes, a little for hints."""
    start, end = span
    share = len(reply.question_words & content_words(reply.text[start:end])) / (len(reply.question_words) or 1)
    concludes = wordings.CONCLUDES.match(reply.lower, start) is not None
    is_emphasized = _EMPHASIZED.search(reply.text, start, end) is not None
    is_last = end == reply.sentences[-1][1]
    return share + concludes + _SCORE_OF_HINT * (is_emphasized + is_last)


_EMPHASIZED = Pattern(r"\*\*\W{0,2}\w[^*\n]{0,40}\*\*")
