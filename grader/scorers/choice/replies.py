"""Replies to multiple-choice questions: both readings of each, and the sample results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.results import Outcome, Reading, ReadingName, SampleResult
from grader.scorers.choice.facts import ChoiceFacts
from grader.scorers.choice.items import Item
from grader.scorers.choice.readers import official_reader
from grader.scorers.choice.reading import ChoiceReading, no_answer
from grader.scorers.interface import missing_reading
from grader.scorers.marks import answer_between

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from grader.observer import Observer
    from grader.task import Task

_BROKEN = no_answer("broken_row")
LARGE = 4 << 20
"""Number of characters from which on the progress of reading is shown: less takes only seconds."""


class ChoiceReply(msgspec.Struct, kw_only=True):
    """One reply to one item, with the readings that are known so far."""

    item: Item
    sample: int
    text: str
    official: ChoiceReading
    careful: ChoiceReading
    official_judged: ChoiceReading | None = None
    """The judge's reply, read by the official rules (letter `Z`: none of the options)."""
    careful_judged: ChoiceReading | None = None
    judge_problem: str = ""
    """Why the judge gave no decision although it was asked; readings that depend on it are then unscored."""
    is_failure: bool = False
    """Whether the text is a server failure and not a reply: it gets no careful reading and no judge."""
    readings_to_judge: frozenset[ReadingName] = frozenset()
    """The readings that needed the judge."""


def read_replies(
    items: Iterable[Item],
    predictions: Mapping[str, list[str]],
    version: str,
    observer: Observer,
    full_outputs: Mapping[tuple[str, int], str],
    *,
    marks: tuple[str, str] | None = None,
) -> list[ChoiceReply]:
    """Read every reply both ways. Equal replies to equal options are read only once.

    `full_outputs`: the outputs that predictions were extracted from, which the careful reading reads. `marks`: those
    between which the benchmark asks for the answer.
    """
    official = official_reader(version)
    progress = _Progress(predictions, observer)
    cache: dict[tuple[object, ...], tuple[ChoiceReading, ChoiceReading]] = {}
    replies = []
    for item in items:
        options = tuple(item.options.items())
        several = len(item.gold or "") > 1
        for number, text in enumerate(progress.count(item.id, predictions[item.id])):
            output = full_outputs.get((item.id, number), text)
            key = (text, output, options, item.text, item.broken, several)
            if key not in cache and item.broken:
                # Not read carefully; the official reader needs options, which a broken item may not have.
                by_rules = official(text, item.options) if item.gold in item.options else _BROKEN
                cache[key] = by_rules, _BROKEN
            elif key not in cache:
                careful = read_choice_between(output, item.options, item.text, marks, several=several)
                cache[key] = official(text, item.options), careful
            by_rules, by_care = cache[key]
            replies.append(ChoiceReply(item=item, sample=number, text=text, official=by_rules, careful=by_care))
    return replies


def read_choice_between(
    text: str, options: Mapping[str, str], question: str, marks: tuple[str, str] | None, *, several: bool = False
) -> ChoiceReading:
    """Read the text between the marks carefully; if it names no option, read the whole reply.

    `several`: the question has several right options, and "AC" is one answer.
    """
    from grader.scorers.choice.careful import read_choice

    span = answer_between(text, marks) if marks else None
    if span is not None:
        reading = read_choice(text[slice(*span)], options, question, several=several)
        if reading.letter is not None:
            return msgspec.structs.replace(reading, rule="mark", span=span)
    return read_choice(text, options, question, several=several)


class _Progress:
    """Shows how many megabytes of replies are read, if they are many: reading one takes up to a second."""

    def __init__(self, predictions: Mapping[str, list[str]], observer: Observer) -> None:
        self._observer = observer
        self._done = 0
        total = sum(len(text) for texts in predictions.values() for text in texts)
        self._is_shown = total >= LARGE
        if self._is_shown:
            observer.phase("reading answers (MB)", total >> 20)

    def count(self, qid: str, texts: Iterable[str]) -> Iterator[str]:
        """Yield a question's replies, and count each when it was read. One that takes long by itself is announced."""
        for text in texts:
            if len(text) >= LARGE:
                size = f"{len(text) >> 20} MB (question {qid})"
                self._observer.message(f"Reading an answer of {size}: this takes up to a second per MB.")
            yield text
            before, self._done = self._done, self._done + len(text)
            if self._is_shown:
                self._observer.advance((self._done >> 20) - (before >> 20))


def sample_of(reply: ChoiceReply) -> SampleResult:
    """Return a reply's sample result."""
    official = _with_judge(reply, "official", reply.official, reply.official_judged)
    return sample(reply.item, reply.sample, official, _careful(reply))


def missing_sample(item: Item, number: int) -> SampleResult:
    """Return the result of a missing reply, under `--missing wrong`."""
    reading = missing_reading(Outcome.NO_ANSWER)
    return sample(item, number, reading, reading)


def sample(item: Item, number: int, official: Reading, careful: Reading) -> SampleResult:
    """Combine an item's two readings into a sample result."""
    return SampleResult(
        qid=item.id,
        sample=number,
        official=official,
        careful=careful,
        unit=item.unit or msgspec.UNSET,
        groups=item.groups or msgspec.UNSET,
        facts=ChoiceFacts(gold=item.gold),
    )


def _careful(reply: ChoiceReply) -> Reading:
    if reply.careful.outcome == "ambiguous":
        return verdict(reply.item, reply.careful)
    return _with_judge(reply, "careful", reply.careful, reply.careful_judged)


def _with_judge(reply: ChoiceReply, name: ReadingName, read: ChoiceReading, judged: ChoiceReading | None) -> Reading:
    """Return what a reading says, or the judge where it was asked; unscored if its answer was unreadable (None)."""
    if read.letter is None and name in reply.readings_to_judge:
        if judged is None:
            return Reading(outcome=Outcome.UNSCORED, credit=None, detail=reply.judge_problem, rule="judge")
        read = msgspec.structs.replace(judged, rule="judge", span=None, detail="decided by the judge")
    return verdict(reply.item, read)


def verdict(item: Task, read: ChoiceReading) -> Reading:
    """Grade a letter. A letter outside the options is wrong; official rules and judges use `Z` for "none of them"."""
    if read.outcome == "ambiguous":
        return _reading(Outcome.AMBIGUOUS, None, read)
    if read.letter is None or (read.letter == "Z" and "Z" not in item.options):
        return _reading(Outcome.NO_ANSWER, None, read)
    return _reading(Outcome.CORRECT if read.letter == item.gold else Outcome.WRONG, read.letter, read)


def _reading(outcome: Outcome, letter: str | None, choice: ChoiceReading) -> Reading:
    """Return the reading of a choice with this outcome. `letter`: the option that counts, None if there is none."""
    return Reading(
        outcome=outcome,
        credit=int(outcome is Outcome.CORRECT),
        answer=letter,
        detail=choice.detail,
        rule=choice.rule,
        span=choice.span or msgspec.UNSET,
    )
