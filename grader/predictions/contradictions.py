"""Are these the questions of the data? What a prediction file carries of its tasks is compared with them.

A question is the same if one of both texts contains the other, apart from blanks, punctuation and marks for images, or
has nearly all of its words: tools wrap it in a prompt, add hints, or cut it. Options are compared in their order, gold
answers by what they mean. What cannot be compared (a gold answer in a form of its own) contradicts nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError
from grader.files.json_text import quoted
from grader.predictions.evidence import MANY, evidence_of, plain
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.benchmark import Benchmark
    from grader.predictions.evidence import Evidence
    from grader.predictions.file import PredictionFile
    from grader.task import Task

_SHORT = 4
"""Texts with fewer letters and digits are contained in others by accident."""
_WORDS = 0.9
"""Share of a question's words that the same question has in other words, or in a prompt."""
_EMPTY = frozenset(("", "none", "na", "n/a", "nan", "null", "<na>", "#n/a"))
"""Options that pandas takes for empty cells."""
_LETTER = re.compile(r"\s*\(?([A-Za-z])(?:[.):]|\s+[-\u2013])\s*(?=\S)")
_CUT = re.compile(r"\.{3,}|\u2026")
_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?")


class Contradiction(msgspec.Struct, frozen=True, kw_only=True):
    """A part in which the file and the data differ."""

    part: str
    file: str
    data: str


def check_evidence(tasks: Mapping[str, Task], file: PredictionFile, benchmark: Benchmark, origin: str) -> list[str]:
    """Return a note on the rows that differ from the data; raises InputError if many do."""
    compared, differing = 0, {}
    for record in file.records:
        if record.qid in tasks:
            parts = compare(tasks[record.qid], evidence_of(record, file, benchmark))
            compared += bool(parts)
            if found := [part for part in parts if isinstance(part, Contradiction)]:
                differing[record.qid] = record.where, found[0]
    if not differing:
        return []
    number = f"{len(differing):,} of {counted(compared, 'task')} that {file.name} describes differ from the data"
    if len(differing) < MANY * compared:
        listed = ", ".join(f"{quoted(qid)} ({one.part})" for qid, (_, one) in islice(differing.items(), 5))
        more = f" and {len(differing) - 5:,} more" if len(differing) > 5 else ""
        return [f"{number}: {listed}{more}. They are graded by the data."]
    qid, (where, first) = next(iter(differing.items()))
    ids = " Its ids are row numbers of a log, which begin at 0 in every subject." if file.is_numbered else ""
    if _is_off_by_one(tasks, file, benchmark):
        ids = " Its ids begin at 1, and those of the data at 0: each record has the question of the task before."
    raise InputError(
        [
            f"{where}: {number} ({origin}). Task {quoted(qid)}, {first.part}: the file has {quoted(first.file, 120)}, "
            f"the data has {quoted(first.data, 120)}.{ids} The file is about other tasks, another release of them, or "
            "options in another order: give the data that it answers with --data."
        ]
    )


def _is_off_by_one(tasks: Mapping[str, Task], file: PredictionFile, benchmark: Benchmark) -> bool:
    """Whether the ids of a file are numbers from 1, and those of the data from 0."""
    numbered = [record for record in file.records if record.qid.isdecimal() and record.qid != "0"]
    pairs = [(tasks.get(str(int(record.qid) - 1)), record) for record in numbered[:5]]
    return len(pairs) > 1 and all(
        task is not None and _question(task, evidence_of(record, file, benchmark)) is True for task, record in pairs
    )


def compare(task: Task, said: Evidence) -> list[Contradiction | bool]:
    """Return one entry for each part that can be compared: True, or how it differs."""
    parts = (_question(task, said), _options(task, said), _gold(task, said))
    return [part for part in parts if part is not None]


def _question(task: Task, said: Evidence) -> Contradiction | bool | None:
    asked, given = task.asked, said.question or said.prompt
    ours, theirs = plain(asked), plain(given)
    if not ours or not theirs:
        return None
    if ours in theirs or theirs in ours:
        return True
    if min(len(ours), len(theirs)) < _SHORT:
        return None
    is_same = _is_cut(ours, given) or _has_words_of(asked, given)
    return is_same or Contradiction(part="the question", file=given, data=asked)


def _is_cut(ours: str, given: str) -> bool:
    """Whether the parts of a text around "..." stand in a question in this order."""
    parts = [part for each in _CUT.split(given) if len(part := plain(each)) >= _SHORT]
    return len(parts) > 1 and re.search(".*?".join(parts), ours) is not None


def _has_words_of(asked: str, given: str) -> bool:
    """Whether a text has nearly all words and all numbers of a question."""
    ours, theirs = (Counter(re.findall(r"\w+", text.casefold())) for text in (asked, given))
    numbers = {word for word in ours if word.isdecimal()}
    return numbers <= theirs.keys() and (ours & theirs).total() >= _WORDS * ours.total()


def _options(task: Task, said: Evidence) -> Contradiction | bool | None:
    if not task.options or not said.options:
        return None
    ours, theirs = _without_letters(task.options), _without_letters(said.options)
    if not theirs.keys() & ours.keys():
        theirs = dict(zip(ours, theirs.values(), strict=False))
    lone = [text for side, other in ((ours, theirs), (theirs, ours)) for k, text in side.items() if k not in other]
    is_same = all(text.casefold() in _EMPTY for text in lone) and all(
        _is_same_text(ours[letter], theirs[letter]) for letter in ours.keys() & theirs.keys()
    )
    return is_same or Contradiction(
        part="the options", file=_option_list(said.options), data=_option_list(task.options)
    )


def _without_letters(options: Mapping[str, str]) -> dict[str, str]:
    """Return options without their letters in front, if all have them."""
    marks = {letter: _LETTER.match(text) for letter, text in options.items()}
    has_all = all(mark is not None and mark[1].upper() == letter for letter, mark in marks.items())
    return {k: (text[mark.end() :] if has_all and (mark := marks[k]) else text).strip() for k, text in options.items()}


def _is_same_text(ours: str, theirs: str) -> bool:
    """Whether two texts say the same, or one is the beginning of the other: the rest may be cut."""
    first, second = plain(ours), plain(theirs)
    if not first or not second:
        return "".join(ours.split()) == "".join(theirs.split())
    if first == second or ((a := _number(ours)) is not None and a == _number(theirs)):
        return True
    return min(len(first), len(second)) > 4 * _SHORT and (first.startswith(second) or second.startswith(first))


def _number(text: str) -> float | None:
    bare = text.strip().strip("$%. ")
    return float(bare.replace(",", "")) if _NUMBER.fullmatch(bare) else None


def _option_list(options: Mapping[str, str]) -> str:
    return ", ".join(f"{letter} {text}" for letter, text in options.items())


def _gold(task: Task, said: Evidence) -> Contradiction | bool | None:
    if not task.golds or not said.golds:
        return None
    is_same = _same_option(task, said) if task.options else _same_answer(task, said)
    if is_same is False:
        return Contradiction(part="the gold answer", file=" or ".join(said.golds), data=" or ".join(task.golds))
    return is_same


def _same_option(task: Task, said: Evidence) -> bool | None:
    """Whether a gold answer of the file can mean the gold option; None if it names no option."""
    right = _without_letters(task.options).get(task.gold or "")
    options = _without_letters(said.options or task.options)
    meant = [text for gold in said.golds for text in _options_of_gold(gold.strip(), options, said.labels)]
    if right is None or not meant:
        return None
    return any(_is_same_text(right, text) for text in meant)


def _options_of_gold(gold: str, options: Mapping[str, str], labels: tuple[str, ...]) -> list[str]:
    """Return the options that a gold answer can name: by letter, label, text, or number from 0 or 1."""
    bare, texts = gold.strip("(). "), list(options.values())
    found = [options[bare]] if bare in options else []
    found += [texts[labels.index(bare)]] if bare in labels[: len(texts)] else []
    found += [text for text in texts if _is_same_text(text, gold)]
    if not found and bare.isdecimal():
        found = [texts[at] for at in (int(bare), int(bare) - 1) if 0 <= at < len(texts)]
    return found


def _same_answer(task: Task, said: Evidence) -> bool | None:
    """Whether an answer of the file is an accepted one; None if their forms cannot be compared."""
    ours, theirs = ([_after_hashes(text) for text in texts] for texts in (task.golds, said.golds))
    if any(_is_same_text(first, second) for first in ours for second in theirs):
        return True
    return False if all(_number(text) is not None for text in (*ours, *theirs)) else None


def _after_hashes(text: str) -> str:
    """Return what follows "####", GSM8K's mark of the final answer."""
    return text.rpartition("####")[2].strip()
