"""What a reply says to its question, and in which sentences: all else becomes blanks, so that every span stays valid.

- Characters are made plain; reasoning, chat tokens and turns of others go.
- Other questions with their answers go, before this one (demonstrations) and behind it (inventions of a base model).
- `OwnWords.sentences` are those that can answer without a form: no courtesy, no question back, no refusal and nothing
  before it, no explanation under a heading of its own.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import islice
from typing import Any

from grader.predictions.reasoning import hide_reasoning
from grader.scorers import place_wordings as wordings
from grader.scorers.patterns import Pattern, rule
from grader.scorers.plain_text import BOUNDARY, blank, plain, without_markup

LONGEST_WITH_REASONING = 1_000_000
"""Reasoning is looked for in so many last characters of a reply."""
LONGEST = 200_000
"""Only so many last characters without reasoning are read: what a reply settles on is at its end."""


_FINISHED = tuple(".!?\u3002\u061f\u0964)]}\"':;*$`|\u2026>")
_GOES_ON = Pattern(
    r"(?:[-+=*/(<$&,\\]|\b(?:a|an|the|of|to|in|on|at|by|for|from|with|and|or|but|so|is|are|was|be|per|that|"
    r"which|as|if|"
    r"than|not|we|it|this|its|their|each|both|these|those|every|any|will|can|has|have)|(?:=|[*\u00d7] ?\d+ "
    r")[^=]{0,40}[-+*/\u00d7] ?\d+)$"
)


_ROUND, _LOOPS = 200, 3
"""So many last characters, so many times, are a loop. Half and twice of both read the same."""


class OwnWords:
    """What a reply says to its question, and the sentences that can answer it."""

    def __init__(self, text: str, problem: str = "", question: str = "", options: tuple[str, ...] = ()) -> None:
        self.options = options
        """The options' texts in lower case."""
        self.text = text
        """As long as the raw reply; what is no part of the answer is blank."""
        self.problem = problem
        """Why nothing can be read: "unclosed_reasoning" or "empty"; else empty."""
        self.question = question
        self.claims: Any = None
        """What `places.claims` has found in it; None: not looked for yet."""

    @cached_property
    def low(self) -> str:
        """The text in lower case, of the same length."""
        return self.text.lower()

    @cached_property
    def shown(self) -> str:
        """The text without markup, of the same length."""
        return without_markup(self.text)

    @cached_property
    def shown_low(self) -> str:
        """The text without markup, in lower case."""
        return self.shown.lower()

    @cached_property
    def heeds_refusals(self) -> bool:
        """Whether a refusal is no answer: no option is one."""
        return not any(wordings.REFUSES.search(text) or wordings.NONE_OPTION.search(text) for text in self.options)

    @cached_property
    def is_cut(self) -> bool:
        """Whether the text ends in a loop, or inside a sentence.

        It ends inside a sentence if its last word needs another one ("of", "is", "="), or if its last line has whole
        sentences, and then a part of one.
        """
        body = self.text.rstrip()
        if self.loops:
            return True
        if body.endswith(_FINISHED):
            return False
        last = body.rpartition("\n")[2]
        if _GOES_ON.search(last.lower()):
            return True
        stops = [*islice(BOUNDARY.finditer(last[:-1] + "x"), 2)]
        return bool(stops) and (len(body) > 100 or len(stops) > 1)

    @cached_property
    @rule(13, False)
    def loops(self) -> bool:
        """Whether the same words come again and again until the text is cut off."""
        body = self.text.strip()
        return len(body) > _LOOPS * _ROUND and body.count(body[-_ROUND:]) >= _LOOPS

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """The sentences that can answer without a form, in order."""
        spans = _without_refusals(self.low, self.all_sentences) if self.heeds_refusals else self.all_sentences
        return _without_rows(self.text, spans) or spans

    @cached_property
    def all_sentences(self) -> list[tuple[int, int]]:
        """The sentences without courtesies, questions and explanations under a heading, but with refusals."""
        return _without_frame(self.low, sentences_in(self.text))

    @cached_property
    def refuses(self) -> bool:
        """Whether no sentence is left that answers, because one of them says that there is no answer."""
        return not self.sentences and wordings.REFUSES.search(self.low) is not None

    @cached_property
    def has_refused(self) -> bool:
        """Whether a sentence says that there is no answer, and does not only doubt."""
        spans = self.all_sentences if self.heeds_refusals else []
        return any(wordings.REFUSES.search(self.low, *span) and not _only_doubts(self.low, *span) for span in spans)

    @cached_property
    def asked(self) -> frozenset[str]:
        """The words of the question."""
        return content_words(self.question)


def own_words(raw: str, question: str = "", *, answers: re.Pattern[str] | None = None) -> OwnWords:
    """Return what a reply says to its question. `answers`: other questions are only behind words that it finds."""
    cut = max(0, len(raw) - LONGEST_WITH_REASONING)
    text, unclosed = hide_reasoning(plain(raw[cut:]))
    if unclosed:
        return OwnWords(" " * len(raw), "unclosed_reasoning", question)
    text = end_turn(text)
    before = max(0, len(text) - LONGEST)
    text = " " * (cut + before) + this_question(text[before:], question, answers)
    return OwnWords(text, "" if text.strip() else "empty", question)


# --- other turns, other questions ------------------------------------------------------------------------------------

_END_OF_TURN = Pattern(
    r"<\|(?:im_end|endoftext|eot_id|end|end_of_text|eom_id|return|user|human)\|>|</s>|<end_of_turn>|<eos>|"
    r"<\uff5cend[^<>]{0,30}>"
    r"|\n[ \t]{0,8}(?:user|human|### ?(?:instruction|human|user))\s*:|\n#{2,3} ?(?:instruction|human|user)\b",
    re.IGNORECASE,
)
_SPECIAL = Pattern(
    r"<\|[A-Za-z_]{2,30}\|>|<(?:s|bos|pad|unk|start_of_turn|eo[a-z]{1,3})>|\[/?INST\]",
    re.IGNORECASE,
)
_SPEAKER = Pattern(r"\s*(?:assistant|model|bot|ai)\s*[:\n]", re.IGNORECASE)


def end_turn(text: str) -> str:
    """Blank chat tokens, the speaker's name, and everything after the reply's own turn."""
    text = _SPEAKER.sub(blank, text, count=1) if _SPEAKER.match(text) else text
    for stop in _END_OF_TURN.finditer(text):
        if text[: stop.start()].strip():
            text = text[: stop.start()] + " " * (len(text) - stop.start())
            break
    return _SPECIAL.sub(blank, text)


_WORDS = Pattern(r"\w{2,}")
_SAME_QUESTION = 0.9
"""The share of a question's words that its repetition has. With 0.8, one of 495 labelled replies is read wrong."""


def this_question(text: str, question: str, answers: re.Pattern[str] | None = None) -> str:
    """Blank other questions with their answers, before and behind this one."""
    answered = answers.search(text.lower()) if answers else None
    after = 0 if answers is None else answered.end() if answered else len(text)
    headings = [(heading.start(), heading.end()) for heading in wordings.ASKS.finditer(text.lower(), after)]
    headings = sorted([*headings, *((m.start(), m.start()) for m in wordings.ASKS_ANEW.finditer(text, after))])
    if not headings:
        return text
    starts = [start for start, _ in headings] + [len(text)]
    asked = frozenset(_WORDS.findall(question.lower()))
    first, last = 0, starts[0]
    repeated = [
        at
        for at, (_, end) in enumerate(headings)
        if _is_asked(text[end : min(starts[at + 1], end + 2 * len(question) + 40)], asked)
    ]
    if repeated:
        first, last = headings[repeated[0]][1], starts[repeated[0] + 1]
    elif not any(not wordings.COURTESY.match(text.lower(), *span) for span in sentences_in(text[:last])):
        last = starts[1]
    return " " * first + text[first:last] + " " * (len(text) - last)


def _is_asked(piece: str, asked: frozenset[str]) -> bool:
    """Whether a piece begins with a question; "the second largest" is not "the largest"."""
    said = frozenset(_WORDS.findall(piece.lower()))
    first = frozenset(_WORDS.findall(piece.lower().lstrip().partition("?" if "?" in piece else "\n")[0]))
    return len(asked & said) >= _SAME_QUESTION * len(asked) > 0 and len(first & asked) >= _SAME_QUESTION * len(first)


# --- sentences -------------------------------------------------------------------------------------------------------

_ROW = Pattern(r"[ \t]*[-*+\u2022][ \t]|[^|\n]*\|")
"""A line of a list or a table."""
_BULLET = Pattern(r"[ \t]*(?:[-*+>#]+[ \t]+){1,3}")
_LIST_MARK = Pattern(r"[ \t]*(?:[-*+>#]+[ \t]+|\(?\d{1,2}[.)](?=[ \t*])[ \t]*){1,3}")
_ITEM = r"[ \t]*+(?:[-*#]+[ \t]*+)?\(?\d{1,2}[.)][ \t*]"
_NUMBERED = Pattern(rf"(?:\A|\n){_ITEM}[^\n]*\n(?:[^\n]*\n){{0,8}}?{_ITEM}")
"""Two numbered items: "42. I hope this helps" is no item."""


def sentences_in(text: str) -> list[tuple[int, int]]:
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


def _without_frame(low: str, sentences: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Leave out courtesies, questions, and explanations under a heading."""
    heading = wordings.EXPLAINS.search(low)
    before = heading and [span for span in sentences if span[1] <= heading.start()]
    return [
        span
        for span in before or sentences
        if not wordings.COURTESY.match(low, *span) and low[span[1] - 1] not in "?\uff1f"
    ]


@rule("g5-mc-not-sure-but", False)
def _only_doubts(low: str, start: int, end: int) -> bool:
    """Whether a refusal is only a doubt, or chooses nevertheless."""
    return bool(wordings.HEDGES.search(low, start, end) or wordings.NEVERTHELESS.search(low, start, end))


def _without_refusals(low: str, sentences: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Leave out refusals and all before them; a doubt goes alone; "I am not sure, but it is red" says "it is red"."""
    kept: list[tuple[int, int]] = []
    for start, end in sentences:
        refusal = wordings.REFUSES.search(low, start, end)
        if refusal is None:
            kept.append((start, end))
            continue
        but = wordings.NEVERTHELESS.search(low, start, end)
        chosen = [(but.end(), end)] if but and not wordings.REFUSES.search(low, but.end(), end) else []
        doubts = _only_doubts(low, start, end)
        comma = low.find(",", refusal.end(), end) + 1 if doubts and not chosen else 0
        if comma and not wordings.REFUSES.search(low, comma, end):
            chosen = [(comma, end)]
        kept = [*(kept if doubts else []), *chosen]
    return kept


_CONTENT = Pattern(r"[^\W\d_]{3,}|[\u3040-\u9fff\uac00-\ud7af]")
_EMPTY = frozenset(
    (  # noqa: SIM905 - shorter than a list
        "the and are was were has have had does did not that this these those with for from which what who how many "
        "much there they their its his her she you can will would been being then than them one"
    ).split()
)


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that can tell what it is about."""
    return frozenset(_CONTENT.findall(text.lower())) - _EMPTY
