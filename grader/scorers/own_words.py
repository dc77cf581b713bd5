"""What a reply says to its question, and in which sentences: all else becomes blanks, so that every span stays valid.

- Characters are made plain; reasoning, chat tokens and turns of others go.
- Other questions with their answers go, before this one (demonstrations) and behind it (inventions of a base model).
- `OwnWords.sentences` are those that can answer without a form: no courtesy, no question back, no refusal and nothing
  before it, no explanation under a heading of its own.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from grader.predictions.reasoning import hide_reasoning
from grader.scorers import place_wordings as wordings
from grader.scorers.patterns import Pattern, heuristic
from grader.scorers.plain_text import BOUNDARY, blank, plain, without_markup

LONGEST_WITH_REASONING = 1_000_000
"""Reasoning is looked for in so many last characters of a reply."""
LONGEST = 200_000
"""Only so many last characters without reasoning are read: what a reply settles on is at its end."""

_FINISHED = tuple(".!?\u3002\u061f\u0964)]}\"':;*$`|\u2026>")
_GOES_ON = Pattern(
    r"(?:[-+=*/(<$&,\\]|\b(?:a|an|the|of|to|in|on|at|by|for|from|with|and|or|but|so|is|are|was|be|per|that|"
    r"which|as|if|than|not|we|it|this|its|their|each|both|these|those|every|any|will|can|has|have)|"
    r"(?:=|[*\u00d7] ?\d+ )[^=]{0,40}[-+*/\u00d7] ?\d+)$"
)
_LONG_TEXT = 100
"""Characters. A shorter text may leave out its full stop: "It is red. Option B"."""
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
        """As it was asked; for a choice also the options' texts."""
        self.claims: Any = None
        """What `places.claims` has found in it; None: not looked for yet."""

    @cached_property
    def lower(self) -> str:
        """The text in lower case, of the same length."""
        return self.text.lower()

    @cached_property
    def unmarked(self) -> str:
        """The text without markup, of the same length."""
        return without_markup(self.text)

    @cached_property
    def unmarked_lower(self) -> str:
        """The text without markup, in lower case."""
        return self.unmarked.lower()

    @cached_property
    def heeds_refusals(self) -> bool:
        """Whether a refusal is no answer: no option is one."""
        return not any(wordings.REFUSES.search(text) or wordings.NONE_OPTION.search(text) for text in self.options)

    @cached_property
    def is_cut(self) -> bool:
        """Whether the text ends in a loop, or inside a sentence.

        It ends inside a sentence if its last word needs another one ("of", "is", "="), or if it is long, and its last
        line has whole sentences and then a part of one.
        """
        body = self.text.rstrip()
        if self.loops:
            return True
        if body.endswith(_FINISHED):
            return False
        last_line = body.rpartition("\n")[2]
        if _GOES_ON.search(last_line.lower()):
            return True
        # With a letter in its last place, the line can have a boundary only before its end.
        return len(body) > _LONG_TEXT and BOUNDARY.search(last_line[:-1] + "x") is not None

    @cached_property
    @heuristic(decides_per_100_000=13, when_disabled=False)
    def loops(self) -> bool:
        """Whether the same words come again and again until the text is cut off."""
        body = self.text.strip()
        return len(body) > _LOOPS * _ROUND and body.count(body[-_ROUND:]) >= _LOOPS

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """The sentences that can answer without a form, in order."""
        spans = _without_refusals(self.lower, self.all_sentences) if self.heeds_refusals else self.all_sentences
        return _without_rows(self.text, spans) or spans

    @cached_property
    def all_sentences(self) -> list[tuple[int, int]]:
        """The sentences without courtesies, questions and explanations under a heading, but with refusals."""
        return _without_frame(self.lower, sentences_in(self.text))

    @cached_property
    def refuses(self) -> bool:
        """Whether no sentence is left that answers, because one of them says that there is no answer."""
        return not self.sentences and wordings.REFUSES.search(self.lower) is not None

    @cached_property
    def has_refused(self) -> bool:
        """Whether a sentence says that there is no answer, and does not only doubt."""
        spans = self.all_sentences if self.heeds_refusals else []
        return any(wordings.REFUSES.search(self.lower, *span) and not _only_doubts(self.lower, *span) for span in spans)

    @cached_property
    def question_words(self) -> frozenset[str]:
        """The words that tell what the question is about."""
        return content_words(self.question)


def own_words(raw: str, question: str = "", *, answers: re.Pattern[str] | None = None) -> OwnWords:
    """Return what a reply says to its question.

    `answers`: finds headings of an answer. Before the first one, the reply quotes its question: no other begins there.
    """
    # Only the end is read. Blanks stand for what is skipped, so that positions stay those of `raw`.
    skipped = max(0, len(raw) - LONGEST_WITH_REASONING)
    text, is_unclosed = hide_reasoning(plain(raw[skipped:]))
    if is_unclosed:
        return OwnWords(" " * len(raw), "unclosed_reasoning", question)
    text = cut_after_turn(text)
    skipped_more = max(0, len(text) - LONGEST)
    text = " " * (skipped + skipped_more) + without_other_questions(text[skipped_more:], question, answers)
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


def cut_after_turn(text: str) -> str:
    """Blank chat tokens, and everything after the reply's own turn."""
    for stop in _END_OF_TURN.finditer(text):
        if text[: stop.start()].strip():
            text = text[: stop.start()] + " " * (len(text) - stop.start())
            break
    return _SPECIAL.sub(blank, text)


_WORDS = Pattern(r"\w{2,}")
_SAME_QUESTION = 0.9
"""The share of a question's words that its repetition has. With 0.8, one of 495 labelled replies is read wrong."""


def without_other_questions(text: str, question: str, answers: re.Pattern[str] | None = None) -> str:
    """Blank other questions with their answers. The part behind a repetition of this question stays, else the first.

    `answers`: see `own_words`.
    """
    start = 0
    if answers is not None:
        answer = answers.search(text.lower())
        start = answer.end() if answer else len(text)
    headings = [*(match.span() for match in wordings.ASKS.finditer(text.lower(), start))]
    # These questions have no heading: an empty one stands for it.
    headings += [(match.start(), match.start()) for match in wordings.ASKS_ANEW.finditer(text, start)]
    if not headings:
        return text
    first, last = _span_of_question(text, question, sorted(headings))
    return " " * first + text[first:last] + " " * (len(text) - last)


def _span_of_question(text: str, question: str, headings: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the span of the part behind the heading that repeats this question, else of the part before all headings.

    `headings`: (start, end) of each question's heading.
    """
    ends = [start for start, _ in headings[1:]] + [len(text)]
    question_words = frozenset(_WORDS.findall(question.lower()))
    for (_, start), end in zip(headings, ends, strict=True):
        # The question has room in so many characters, even with more blanks and marks; its answer comes behind it.
        if _begins_with_question(text[start : min(end, start + 2 * len(question) + 40)], question_words):
            return start, end
    before_first = headings[0][0]
    is_only_courtesy = all(wordings.COURTESY.match(text.lower(), *span) for span in sentences_in(text[:before_first]))
    # "Sure! ## Question ...": the reply begins with a heading of its own, and its first part is the answer.
    return 0, ends[0] if is_only_courtesy else before_first


def _begins_with_question(piece: str, question_words: frozenset[str]) -> bool:
    """Whether a piece has nearly all words of a question, and its first sentence few others, such as "second"."""
    words = frozenset(_WORDS.findall(piece.lower()))
    sentence = piece.lower().lstrip().partition("?" if "?" in piece else "\n")[0]
    first_words = frozenset(_WORDS.findall(sentence))
    has_question = bool(question_words) and len(question_words & words) >= _SAME_QUESTION * len(question_words)
    return has_question and len(first_words & question_words) >= _SAME_QUESTION * len(first_words)


# --- sentences -------------------------------------------------------------------------------------------------------

_ROW = Pattern(r"[ \t]*[-*+\u2022][ \t]|[^|\n]*\|")
"""A line of a list or a table."""
_BULLET = Pattern(r"[ \t]*(?:[-*+>#]+[ \t]+){1,3}")
_BULLET_OR_NUMBER = Pattern(r"[ \t]*(?:[-*+>#]+[ \t]+|\(?\d{1,2}[.)](?=[ \t*])[ \t]*){1,3}")
_ITEM = r"[ \t]*+(?:[-*#]+[ \t]*+)?\(?\d{1,2}[.)][ \t*]"
_NUMBERED_ITEMS = Pattern(rf"(?:\A|\n){_ITEM}[^\n]*\n(?:[^\n]*\n){{0,8}}?{_ITEM}")
"""Two numbered items: "42. I hope this helps" is no item."""


def sentences_in(text: str) -> list[tuple[int, int]]:
    """Return the spans of a text's sentences, without list marks and blanks around them."""
    spans: list[tuple[int, int]] = []
    start = 0
    marks = _BULLET_OR_NUMBER if _NUMBERED_ITEMS.search(text) else _BULLET
    for end in [*(boundary.end() for boundary in BOUNDARY.finditer(text)), len(text)]:
        is_line_start = not start or text[start - 1] == "\n"
        mark = marks.match(text, start) if is_line_start else None
        first = mark.end() if mark else start
        if body := text[first:end].strip(" \t\n*_"):
            first = text.index(body, first)
            spans.append((first, first + len(body)))
        elif mark and mark.end() >= end:
            continue  # the full stop of "1." ends no sentence: the item goes on
        start = end
    return spans


def _without_rows(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Leave out the sentences of lists and tables."""
    line_starts = [text.rfind("\n", 0, start) + 1 for start, _ in spans]
    rows = {start for start in set(line_starts) if _ROW.match(text, start)}
    return [span for span, start in zip(spans, line_starts, strict=True) if start not in rows]


def _without_frame(lower: str, sentences: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Leave out courtesies, questions, and all from the heading of an explanation on, if a sentence is before it."""
    heading = wordings.EXPLAINS.search(lower)
    if heading and any(end <= heading.start() for _, end in sentences):
        sentences = [span for span in sentences if span[1] <= heading.start()]
    return [
        (start, end)
        for start, end in sentences
        if not wordings.COURTESY.match(lower, start, end) and lower[end - 1] not in "?\uff1f"
    ]


@heuristic(needed_by="g5-mc-not-sure-but", when_disabled=False)
def _only_doubts(lower: str, start: int, end: int) -> bool:
    """Whether a refusal is only a doubt, or chooses nevertheless."""
    return bool(wordings.HEDGES.search(lower, start, end) or wordings.NEVERTHELESS.search(lower, start, end))


def _without_refusals(lower: str, sentences: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Leave out refusals and all before them; of a sentence that only doubts, the doubt.

    "I am not sure, but it is red" says "but it is red".
    """
    answering: list[tuple[int, int]] = []
    for start, end in sentences:
        refusal = wordings.REFUSES.search(lower, start, end)
        if refusal is None:
            answering.append((start, end))
            continue
        if not _only_doubts(lower, start, end):
            answering = []
        answer_start = _answer_in_refusal(lower, refusal, start, end)
        if answer_start is not None:
            answering.append((answer_start, end))
    return answering


def _answer_in_refusal(lower: str, refusal: re.Match[str], start: int, end: int) -> int | None:
    """Return where a sentence that only doubts answers: behind the comma; None if it does not."""
    behind_comma = lower.find(",", refusal.end(), end) + 1
    refuses_again = wordings.REFUSES.search(lower, behind_comma, end)
    return behind_comma if behind_comma and _only_doubts(lower, start, end) and not refuses_again else None


_CONTENT = Pattern(r"[^\W\d_]{3,}|[\u3040-\u9fff\uac00-\ud7af]")
_EMPTY = frozenset(
    (  # noqa: SIM905 - shorter than a list
        "the and are was were has have had does did not that this these those with for from which what who how many "
        "much there they their its his her she you can will would been being then than them one"
    ).split()
)
"""Words of any sentence; with them, about 8 of 100,000 replies are read otherwise."""


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that can tell what it is about."""
    return frozenset(_CONTENT.findall(text.lower())) - _EMPTY
