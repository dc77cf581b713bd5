"""Compare what a prediction file carries of its tasks with the data: a file about other tasks is not graded.

The question is the same if one of both texts contains the other, apart from blanks, punctuation and marks for images:
tools wrap it in a prompt, add hints, or cut it. Options are compared in their order, gold answers by what they mean.
What cannot be compared (a gold answer in a form of its own) contradicts nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError
from grader.files.json_text import quoted
from grader.predictions.evidence import evidence_of, plain
from grader.predictions.record import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.benchmark import Benchmark
    from grader.predictions.evidence import Evidence
    from grader.predictions.file import PredictionFile
    from grader.task import Task

_MOST, _ORDERS = 1 / 2, 1 / 3
"""Share of the compared tasks from which on the file is about other tasks: of all that differ, and of those whose
options are in another order. (Shuffling leaves half of the tasks with two options, and all that have none.)"""
_MOST_GOLDS, _CHANCE = 0.95, 1e-6
"""Share of the differing tasks whose gold answers have to be the same, and how likely this may be by accident, so that
the tasks are the same and only said otherwise."""
_SHORT = 4
"""Texts with fewer letters and digits are contained in others by accident."""
_LONG = 20
"""From this length on, the beginning of an option is enough: the rest may be cut."""
_ALIKE = 0.95
"""Share of equal words of two questions that differ in a spelling."""
_IN_PROMPT = 0.8
"""Share of a question's words that a prompt made of it has."""
_EMPTY = frozenset(("", "none", "na", "n/a", "nan", "null", "<na>", "#n/a"))
"""Options that pandas takes for empty cells."""
_LETTER = re.compile(r"\s*\(?([A-Za-z])(?:[.):]|\s+[-\u2013])\s*(?=\S)")
_CUT = re.compile(r"\.{3,}|\u2026")
_WORDS = re.compile(r"[^\W\d_]{2,}(?: [^\W\d_]+){0,4}")
"""A short answer in words."""
_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?")


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A part in which the file and the data differ."""

    part: str
    file: str
    data: str
    is_order: bool = False
    """Whether the file has the options of the data in another order."""


def check_evidence(tasks: Mapping[str, Task], file: PredictionFile, benchmark: Benchmark, origin: str) -> list[str]:
    """Return a note on the rows that differ from the data; raises InputError if most do."""
    carried = {record.qid: evidence_of(record, file, benchmark) for record in file.records if record.qid in tasks}
    first_number = _first_number(carried.values())
    compared, differing, agreeing = 0, {}, []
    for qid, said in carried.items():
        parts = compare(tasks[qid], said, benchmark, first_number)
        compared += bool(parts)
        found = [part for part in parts if isinstance(part, Difference)]
        if found:
            differing[qid] = found[0]
            gold = "" if any(part.is_order for part in found) else _agreed(tasks[qid], said)
            agreeing += [gold] if gold else []
    if not differing:
        return []
    number = f"{len(differing):,} of {counted(compared, 'task')} that {file.name} describes differ from the data"
    orders = sum(one.is_order for one in differing.values())
    is_same = len(agreeing) >= _MOST_GOLDS * len(differing) and not _by_chance(agreeing)
    if is_same or (len(differing) < _MOST * compared and orders < _ORDERS * compared):
        listed = ", ".join(f"{quoted(qid)} ({one.part})" for qid, one in islice(differing.items(), 5))
        more = f" and {len(differing) - 5:,} more" if len(differing) > 5 else ""
        why = " The gold answers are the same: the tasks are only said otherwise (translated?)." if is_same else ""
        return [f"{number}: {listed}{more}.{why} They are graded by the data."]
    qid, first = next(iter(differing.items()))
    where = next(record.where for record in file.records if record.qid == qid)
    ids = " Its ids are row numbers of a log, which begin at 0 in every subject." if file.is_numbered else ""
    raise InputError(
        [
            f"{where}: {number} ({origin}). Task {quoted(qid)}, {first.part}: the file has {quoted(first.file, 120)}, "
            f"the data has {quoted(first.data, 120)}.{ids} The file is about other tasks, another release of them, or "
            f"options in another order: give the data that it answers with --data."
        ]
    )


def _agreed(task: Task, said: Evidence) -> str:
    """Return the gold answer that the file and the data have both, by its letter or as it is; empty if they differ."""
    if said.options and len(said.options) != len(task.options):
        return ""
    gold = said.gold_letter.strip("(). ") if task.options else ""
    is_same = gold == task.gold if gold in task.options else bool(said.golds) and _same_answer(task, said) is True
    return (task.gold or "") if is_same else ""


def _by_chance(golds: list[str]) -> bool:
    """Whether the golds of other tasks could be these: they are few, or most are the same."""
    most = Counter(golds).most_common(1)[0][1] if golds else 1
    return (most / max(len(golds), 1)) ** len(golds) > _CHANCE


def _first_number(carried: Iterable[Evidence]) -> int | None:
    """Return the number that golds of a file have for the first option; None if they do not tell."""
    numbers = {(int(gold), len(said.options)) for said in carried for gold in said.golds if gold.isdecimal()}
    if any(number == 0 for number, _ in numbers):
        return 0
    return 1 if any(number == options for number, options in numbers) else None


def compare(
    task: Task, said: Evidence, benchmark: Benchmark, first_number: int | None = None
) -> list[Difference | bool]:
    """Return one entry for each part that can be compared: True, or how it differs.

    `first_number`: the number of the first option in the file's gold answers; None: 0 or 1.
    """
    parts = (_question(task, said, benchmark), _options(task, said), _gold(task, said, first_number))
    return [part for part in parts if part is not None]


def _question(task: Task, said: Evidence, benchmark: Benchmark) -> Difference | bool | None:
    of_code = (getattr(benchmark.columns, name, None) for name in ("prompt", "signature"))
    asked = task.text or next((text for name in of_code if isinstance(text := task.row.get(name or ""), str)), "")
    given = said.question or said.prompt
    ours, theirs = plain(asked), plain(given)
    if not ours or not theirs:
        return None
    if min(len(ours), len(theirs)) < _SHORT:
        return True if ours in theirs or theirs in ours else None
    if ours in theirs or theirs in ours or _is_cut(ours, given):
        return True
    is_same = _is_alike if said.question else _is_in_prompt
    return is_same(asked, given) or Difference(part="the question", file=given, data=asked)


def _is_cut(ours: str, given: str) -> bool:
    """Whether the parts of a text around "..." stand in a question in this order."""
    parts = [part for each in _CUT.split(given) if len(part := plain(each)) >= _SHORT]
    return len(parts) > 1 and re.search(".*?".join(parts), ours) is not None


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _is_alike(ours: str, theirs: str) -> bool:
    """Whether two questions have nearly all words and all numbers in common."""
    first, second = Counter(_words(ours)), Counter(_words(theirs))
    digits = [{word: n for word, n in words.items() if word.isdecimal()} for words in (first, second)]
    return 2 * (first & second).total() >= _ALIKE * (first.total() + second.total()) and digits[0] == digits[1]


def _is_in_prompt(ours: str, prompt: str) -> bool:
    words, there = set(_words(ours)), set(_words(prompt))
    return len(words & there) >= _IN_PROMPT * len(words)


def _options(task: Task, said: Evidence) -> Difference | bool | None:
    if not task.options or not said.options:
        return None
    ours, theirs = _bare(task.options), _bare(said.options)
    if not theirs.keys() & ours.keys():
        theirs = dict(zip(ours, theirs.values(), strict=False))
    lone = [text for side, other in ((ours, theirs), (theirs, ours)) for k, text in side.items() if k not in other]
    is_same = all(text.casefold() in _EMPTY for text in lone) and all(
        _is_same_text(ours[letter], theirs[letter]) for letter in ours.keys() & theirs.keys()
    )
    is_order = sorted(map(plain, ours.values())) == sorted(map(plain, theirs.values()))
    return is_same or Difference(
        part="the options", file=_listed(said.options), data=_listed(task.options), is_order=is_order
    )


def _bare(options: Mapping[str, str]) -> dict[str, str]:
    """Return options without their letters in front, if all have them."""
    marks = {letter: _LETTER.match(text) for letter, text in options.items()}
    has_all = all(mark is not None and mark[1].upper() == letter for letter, mark in marks.items())
    return {k: (text[mark.end() :] if has_all and (mark := marks[k]) else text).strip() for k, text in options.items()}


def _is_same_text(ours: str, theirs: str) -> bool:
    first, second = plain(ours), plain(theirs)
    if not first or not second:
        return "".join(ours.split()) == "".join(theirs.split())
    if first == second or ((a := _number(ours)) is not None and a == _number(theirs)):
        return True
    return min(len(first), len(second)) >= _LONG and (first.startswith(second) or second.startswith(first))


def _number(text: str) -> float | None:
    bare = text.strip().strip("$%. ")
    return float(bare.replace(",", "")) if _NUMBER.fullmatch(bare) else None


def _listed(options: Mapping[str, str]) -> str:
    return ", ".join(f"{letter} {text}" for letter, text in options.items())


def _gold(task: Task, said: Evidence, first_number: int | None) -> Difference | bool | None:
    if not task.golds or not said.golds:
        return None
    is_same = _same_option(task, said, first_number) if task.options else _same_answer(task, said)
    if is_same is False:
        return Difference(part="the gold answer", file=" or ".join(said.golds), data=" or ".join(task.golds))
    return is_same


def _same_option(task: Task, said: Evidence, first_number: int | None) -> bool | None:
    """Whether a gold answer of the file can mean the gold option; None if it names no option."""
    right = _bare(task.options).get(task.gold or "")
    options = _bare(said.options or task.options)
    meant = [text for gold in said.golds for text in _meant(gold.strip(), options, said.labels, first_number)]
    if right is None or not meant:
        return None
    return any(_is_same_text(right, text) for text in meant)


def _meant(gold: str, options: Mapping[str, str], labels: tuple[str, ...], first_number: int | None) -> list[str]:
    """Return the options that a gold answer can name: by letter, label, text, or number from 0 or 1."""
    bare, texts = gold.strip("(). "), list(options.values())
    found = [options[bare]] if bare in options else []
    found += [texts[labels.index(bare)]] if bare in labels[: len(texts)] else []
    found += [text for text in texts if _is_same_text(text, gold)]
    if not found and bare.isdecimal():
        numbers = (0, 1) if first_number is None else (first_number,)
        found = [texts[at] for first in numbers if 0 <= (at := int(bare) - first) < len(texts)]
    return found


_YES_NO = {"true": "yes", "false": "no"}


def _same_answer(task: Task, said: Evidence) -> bool | None:
    """Whether an answer of the file is an accepted one; None if their forms cannot be compared."""
    ours, theirs = ([_final(text) for text in texts] for texts in (task.golds, said.golds))
    if any(_is_same_text(first, second) for first in ours for second in theirs):
        return True
    if any(_number(text) is None for text in (*ours, *theirs)):
        pairs = [(plain(first), plain(second)) for first in ours for second in theirs]
        if any(first in second or second in first for first, second in pairs):
            return True
    for of_a_kind in (_number, _yes_or_no, _WORDS.fullmatch):
        if all(of_a_kind(text) is not None for text in (*ours, *theirs)):
            return False
    return None


def _final(text: str) -> str:
    """Return what follows "####", GSM8K's mark of the final answer; "True" and "False" are yes and no."""
    text = text.rpartition("####")[2].strip()
    return _YES_NO.get(text.casefold(), text)


def _yes_or_no(text: str) -> str | None:
    return text.casefold() if text.casefold() in _YES_NO.values() else None
