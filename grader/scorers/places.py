"""Where an answer can stand in a reply: the claims, of which every careful reading asks "mine, and whole?".

`own_words(text, question)` keeps what a reply says to this question, as a `Reply`. All else becomes blanks, so that
every span is one of the raw text:

- characters made plain; reasoning, chat tokens, and turns of others;
- other questions with their answers, before (demonstrations) or behind (inventions of a base model);
- `Reply.sentences` are those that can answer without a form: no courtesy, no question back, no refusal and nothing
  before it, no explanation under a heading of its own.

`claims(reply)` lists what stands in an answer's form, in the order of the text:

- `container`: a box, an answer tag, a JSON field; `mark`: what stands behind `####`;
- `declaration`: behind "the answer is" or before "is the answer", up to the end of the sentence;
- `line`: the only, the first or the last line.

`settle(claims, read)` chooses among them: `read` returns a claim's value, or None for a claim that is not one of the
scorer's own, or not whole. Containers and marks come before declarations, and these before lines. Of several claims
with one form, a later one counts if it is final or corrected, or the earlier one is withdrawn ("Wait, ..."); else, if
their values differ, there are several.
"""

from __future__ import annotations

import operator
import re
from collections import deque
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar

from grader.predictions.reasoning import hide_reasoning
from grader.scorers import place_wordings as wordings
from grader.scorers.containers import find_wrapped
from grader.scorers.patterns import Pattern
from grader.scorers.plain_text import BOUNDARY, blank, plain, without_markup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Form = Literal["container", "mark", "declaration", "line"]
Value = TypeVar("Value")

LONGEST_WITH_REASONING = 1_000_000
"""Reasoning is looked for in so many last characters of a reply."""
LONGEST = 200_000
"""Only so many last characters without reasoning are read: what a reply settles on is at its end."""
_MOST = 50
"""Claims of one form; a loop has thousands."""


class Claim(NamedTuple):
    """What stands in an answer's place: the span of its content in the reply, without the words of its form."""

    form: Form
    rule: str
    """The kind of form: boxed, answer_tag, json, mark, declaration, own_line."""
    start: int
    end: int
    whole: tuple[int, int]
    """The span with the words of the form."""
    rank: int = 0
    """1: final or corrected; -1: initial."""
    denied: bool = False
    withdrawn: bool = False


class Reply:
    """What a reply says to its question, and the sentences that can answer it."""

    def __init__(self, text: str, problem: str = "") -> None:
        self.text = text
        """As long as the raw reply; what is no part of the answer is blank."""
        self.problem = problem
        """Why nothing can be read: "unclosed_reasoning" or "empty"; else empty."""

    @cached_property
    def low(self) -> str:
        """The text in lower case, of the same length."""
        return self.text.lower()

    @cached_property
    def shown(self) -> str:
        """The text without markup, of the same length."""
        return without_markup(self.text)

    @property
    def breaks_off(self) -> bool:
        """Whether the text is more than a sentence long and ends inside a sentence: it was cut off."""
        body = self.text.strip()
        return len(body) > 100 and not body.endswith(tuple(".!?\u3002)]}\"':;*$`|"))

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """The sentences that can answer without a form, in order."""
        spans = _framed(self.low, _sentences(self.text))
        return _without_rows(self.text, spans) or spans


def own_words(raw: str, question: str = "") -> Reply:
    """Return what a reply says to its question."""
    cut = max(0, len(raw) - LONGEST_WITH_REASONING)
    text, unclosed = hide_reasoning(plain(raw[cut:]))
    if unclosed:
        return Reply(" " * len(raw), "unclosed_reasoning")
    text = end_turn(text)
    before = max(0, len(text) - LONGEST)
    text = " " * (cut + before) + this_question(without_loop(text[before:]), question)
    return Reply(text, "" if text.strip() else "empty")


# --- other turns, other questions ------------------------------------------------------------------------------------

_END_OF_TURN = Pattern(
    r"<\|(?:im_end|endoftext|eot_id|end|end_of_text|eom_id|return)\|>|</s>|<end_of_turn>|<eos>|"
    r"<\uff5cend[^<>]{0,30}>"
    r"|\n[ \t]{0,8}(?:user|human|### ?(?:instruction|human|user))\s*:|\n#{2,3} ?(?:instruction|human|user)\b",
    re.IGNORECASE,
)
_SPECIAL = Pattern(r"<\|[A-Za-z_]{2,30}\|>|<(?:s|bos|pad|unk|start_of_turn)>|\[/?INST\]", re.IGNORECASE)
_SPEAKER = Pattern(r"\s*(?:assistant|model|bot|ai)\s*[:\n]", re.IGNORECASE)


def end_turn(text: str) -> str:
    """Blank chat tokens, the speaker's name, and everything after the reply's own turn."""
    text = _SPEAKER.sub(blank, text, count=1) if _SPEAKER.match(text) else text
    for stop in _END_OF_TURN.finditer(text):
        if text[: stop.start()].strip():
            text = text[: stop.start()] + " " * (len(text) - stop.start())
            break
    return _SPECIAL.sub(blank, text)


def without_loop(text: str, most: int = 100) -> str:
    """Blank the repetitions of a reply that is one sentence again and again and was then cut off."""
    body = text.strip()
    end = next((m.end() for m in islice(BOUNDARY.finditer(body[:most]), 1)), 0)
    unit = body[:end].rstrip() + " "
    if len(unit) < 8 or len(body) < 3 * len(unit) or not (unit * (len(body) // len(unit) + 1)).startswith(body):
        return text
    first = len(text) - len(text.lstrip()) + end
    return text[:first] + " " * (len(text) - first)


_WORDS = Pattern(r"\w{2,}")
_SAME_QUESTION = 0.9
"""The share of a question's words that its repetition has."""


def this_question(text: str, question: str) -> str:
    """Blank other questions with their answers, before and behind this one."""
    headings = list(wordings.ASKS.finditer(text.lower()))
    if not headings:
        return text
    starts = [heading.start() for heading in headings] + [len(text)]
    asked = frozenset(_WORDS.findall(question.lower()))
    first, last = 0, starts[0]
    repeated = [
        at
        for at, heading in enumerate(headings)
        if _is_asked(text[heading.end() : min(starts[at + 1], heading.end() + 2 * len(question) + 40)], asked)
    ]
    if repeated:
        first, last = headings[repeated[0]].end(), starts[repeated[0] + 1]
    elif not any(not wordings.COURTESY.match(text.lower(), *span) for span in _sentences(text[:last])):
        last = starts[1]
    return " " * first + text[first:last] + " " * (len(text) - last)


def _is_asked(piece: str, asked: frozenset[str]) -> bool:
    """Whether a piece begins with a question; "the second largest" is not "the largest"."""
    said = frozenset(_WORDS.findall(piece.lower()))
    first = frozenset(_WORDS.findall(piece.lower().lstrip().partition("?" if "?" in piece else "\n")[0]))
    return len(asked & said) >= _SAME_QUESTION * len(asked) > 0 and len(first & asked) >= _SAME_QUESTION * len(first)


# --- sentences -------------------------------------------------------------------------------------------------------

_LIST_NUMBER = Pattern(r"\d{1,2}[.)][ \t]")
_ROW = Pattern(r"[ \t]*[-*+\u2022][ \t]|[^|\n]*\|")
"""A line of a list or a table."""
_BULLET = Pattern(r"[ \t]*(?:[-*+>#]+[ \t]+){1,3}")
_LIST_MARK = Pattern(r"[ \t]*(?:[-*+>#]+[ \t]+|\(?\d{1,2}[.)](?=[ \t*])[ \t]*){1,3}")
_ITEM = r"[ \t]*+(?:[-*#]+[ \t]*+)?\(?\d{1,2}[.)][ \t*]"
_NUMBERED = Pattern(rf"(?:\A|\n){_ITEM}[^\n]*\n(?:[^\n]*\n){{0,8}}?{_ITEM}")
"""Two numbered items: "42. I hope this helps" is no item."""


def _sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of a text's sentences, without list marks and blanks around them."""
    found: list[tuple[int, int]] = []
    start = 0
    marks = _LIST_MARK if _NUMBERED.search(text) else _BULLET
    for end in [*(m.end() for m in BOUNDARY.finditer(text)), len(text)]:
        mark = marks.match(text, start) if not start or text[start - 1] == "\n" else None
        first = mark.end() if mark else start
        if body := text[first:end].strip(" \t\n*_"):
            first = text.index(body, first)
            found.append((first, first + len(body)))
            start = end
        elif not mark or mark.end() < end:
            start = end
    return found


def _without_rows(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Leave out the sentences of lists and tables."""
    kept, end, is_row = [], -1, False
    for span in spans:
        if span[0] > end:
            line = text.rfind("\n", 0, span[0]) + 1
            end = text.find("\n", span[0]) % (len(text) + 1)
            is_row = _ROW.match(text, line) is not None
        kept += [] if is_row else [span]
    return kept


def _framed(low: str, sentences: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Leave out courtesies, questions, explanations under a heading, a refusal and all before it."""
    heading = wordings.EXPLAINS.search(low)
    before = heading and [span for span in sentences if span[1] <= heading.start()]
    kept = [
        span
        for span in before or sentences
        if not wordings.COURTESY.match(low, *span) and low[span[1] - 1] not in "?\uff1f"
    ]
    refused = [at for at, span in enumerate(kept) if wordings.REFUSES.search(low, *span)]
    return kept[refused[-1] + 1 :] if refused else kept


# --- claims ----------------------------------------------------------------------------------------------------------

_MARK = Pattern(r"####[ \t]*(?:answer|ans)?[ \t]*:?[ \t]*(?=\S)(?!#)([^\n]*)", 2)
_OPENS = Pattern(r"[\s*_\"'`:>(\[{~]*")
_END = Pattern(r"[\n!?;。।]|(?<!i\.e)(?<!e\.g)\.(?=[\s\"')*_]|$)")


def claims(reply: Reply, *, lines: bool = True) -> list[Claim]:
    """Return what stands in an answer's form, in the order of the text; only the last few dozen of each form.

    `lines`: also the first and the last line.
    """
    if reply.problem:
        return []
    found = [*_containers(reply), *_marks(reply), *_declarations(reply)]
    withdrawn = _withdrawn(reply.low, found)
    found = [claim._replace(withdrawn=claim.whole[1] <= withdrawn) for claim in found]
    if lines:
        before = withdrawn_before(reply.low)
        found += [line._replace(withdrawn=line.whole[1] <= before) for line in _lines(reply)]
    return sorted(found, key=lambda claim: claim.whole)


def _containers(reply: Reply) -> Iterator[Claim]:
    for one in find_wrapped(reply.text):
        rank, supposed = _rank(reply.low, one.start)
        yield Claim("container", one.rule, *one.inner, (one.start, one.end), rank, supposed)


def _marks(reply: Reply) -> Iterator[Claim]:
    for mark in deque(_MARK.finditer(reply.text), _MOST) if "####" in reply.text else ():
        yield Claim("mark", "mark", *mark.span(1), mark.span())


def _declarations(reply: Reply) -> Iterator[Claim]:
    low = reply.shown.lower()
    for form in deque(wordings.DECLARES.finditer(low), _MOST):
        opened = _OPENS.match(low, form.end())
        start = opened.end() if opened else form.end()
        if "\n" in low[form.end() : start] and _LIST_NUMBER.match(low, start):
            continue  # "how I got the answer:", and a list
        stop = _END.search(low, start)
        end = len(reply.text[: stop.start() if stop else len(low)].rstrip(' \t*_"`'))
        rank, supposed = _rank(low, form.start())
        if "would" in form[0]:
            supposed |= wordings.UNREAL_BEFORE.search(low, max(0, form.start() - 160), form.start()) is not None
        asks = stop is not None and stop[0] == "?"
        if start < end:
            denied = supposed or asks or wordings.is_denied(low[start:end], "")
            yield Claim("declaration", "declaration", start, end, (form.start(), end), rank, denied)
    for form in deque(wordings.DECLARED.finditer(low), _MOST):
        line = low.rfind("\n", 0, form.start()) + 1
        spans = _sentences(low[line : form.start()])
        if spans:
            start, end = (line + at for at in spans[-1])
            yield Claim("declaration", "declaration", start, end, (start, form.end()), *_rank(low, start))


def _rank(low: str, at: int) -> tuple[int, bool]:
    """Return the rank of a form, and whether its answer is only supposed, from the words before it."""
    near = low[max(0, at - 60) : at]
    rank = 1 if wordings.FINAL.search(near) else -1 if wordings.INITIAL.search(near) else 0
    return rank, bool(wordings.SUPPOSED.search(near))


def _lines(reply: Reply) -> Iterator[Claim]:
    """Yield the first and the last line of the sentences that can answer; once if there is one line."""
    text = reply.text + "\n"
    places = [at for at, _ in (reply.sentences[:1] + reply.sentences[-1:])]
    for span in dict.fromkeys((text.rfind("\n", 0, at) + 1, text.index("\n", at)) for at in places):
        yield Claim("line", "own_line", *span, span)


def _withdrawn(low: str, found: list[Claim]) -> int:
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


# --- the claim that counts -------------------------------------------------------------------------------------------

_STRENGTH = {"container": 2, "mark": 2, "declaration": 1, "line": 0}


class Settled(NamedTuple, Generic[Value]):
    """The claim that counts with its value; or several claims with different ones."""

    claim: Claim
    value: Value
    several: bool = False


def settle(
    found: Sequence[Claim],
    read: Callable[[Claim], Value | None],
    is_same: Callable[[Value, Value], bool] = operator.eq,
) -> Settled[Value] | None:
    """Return the claim that counts; None if no claim has a value."""
    for strength in (2, 1, 0):
        valued = [
            Settled(claim, value)
            for claim in found
            if _STRENGTH[claim.form] == strength and not claim.denied and not claim.withdrawn
            and (value := read(claim)) is not None
        ]  # fmt: skip
        if valued:
            highest = max(one.claim.rank for one in valued)
            last = [one for one in valued if one.claim.rank == highest]
            return last[-1]._replace(several=not all(is_same(one.value, last[-1].value) for one in last))
    return None
