"""Are these the questions of the data? What a prediction file tells about its tasks is compared with them.

A question is the same if one of both texts contains the other, apart from blanks, punctuation and marks for images, or
has nearly all of its words: tools wrap it in a prompt, add hints, or cut it. Options are compared in their order, gold
answers by what they mean. What cannot be compared (a gold answer in a form of its own) contradicts nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from grader.errors import InputError
from grader.files.json_text import quoted
from grader.predictions.evidence import MANY, evidence_of, plain
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.benchmark import Benchmark
    from grader.predictions.evidence import Evidence
    from grader.predictions.file import PredictionFile
    from grader.task import Task

_SHORT = 4
"""Texts with fewer letters and digits are contained in others by accident."""
_LONG_BEGINNING = 17
"""An option is another one, cut off, if that begins with all of it and it has at least so many letters and digits."""
_WORDS = 0.9
"""Share of a question's words that the same question has in other words, or in a prompt."""
_EMPTY = frozenset(("", "none", "na", "n/a", "nan", "null", "<na>", "#n/a"))
"""Options that pandas takes for empty cells."""
_LETTER = re.compile(r"\s*\(?([A-Za-z])(?:[.):]|\s+[-\u2013])\s*(?=\S)")
_CUT = re.compile(r"\.{3,}|\u2026")
_EXAMPLES = 5
"""Number of tasks that a note names; so many are enough to see that ids are off by one."""
_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?")


class Comparison(NamedTuple):
    """One part of a task that the file and the data both have."""

    part: str
    is_same: bool
    file_text: str
    data_text: str


def check_evidence(tasks: Mapping[str, Task], file: PredictionFile, benchmark: Benchmark, origin: str) -> list[str]:
    """Return a note on the rows that differ from the data; raises InputError if many do."""
    number_compared = 0
    differing = {}
    for record in file.records:
        if record.qid in tasks:
            comparisons = compare(tasks[record.qid], evidence_of(record, file, benchmark))
            number_compared += bool(comparisons)
            if differences := [comparison for comparison in comparisons if not comparison.is_same]:
                differing[record.qid] = record.where, differences[0]
    if not differing:
        return []
    number = f"{len(differing):,} of {counted(number_compared, 'task')} that {file.name} describes differ from the data"
    if len(differing) < MANY * number_compared:
        examples = islice(differing.items(), _EXAMPLES)
        shown = ", ".join(f"{quoted(qid)} ({difference.part})" for qid, (_, difference) in examples)
        more = f" and {len(differing) - _EXAMPLES:,} more" if len(differing) > _EXAMPLES else ""
        return [f"{number}: {shown}{more}. They are graded by the data."]
    qid, (where, first) = next(iter(differing.items()))
    ids = " Its ids are row numbers of a log, which begin at 0 in every subject." if file.is_numbered else ""
    if _is_off_by_one(tasks, file, benchmark):
        ids = " Its ids begin at 1, and those of the data at 0: each record has the question of the task before."
    raise InputError(
        [
            f"{where}: {number} ({origin}). Task {quoted(qid)}, {first.part}: the file has "
            f"{quoted(first.file_text, 120)}, the data has {quoted(first.data_text, 120)}.{ids} The file is about "
            "other tasks, another release of them, or options in another order: give the data that it answers with "
            "--data."
        ]
    )


def _is_off_by_one(tasks: Mapping[str, Task], file: PredictionFile, benchmark: Benchmark) -> bool:
    """Whether the ids of a file are numbers from 1, and those of the data from 0."""
    numbered = [record for record in file.records if record.qid.isdecimal() and record.qid != "0"]
    pairs = [(tasks.get(str(int(record.qid) - 1)), record) for record in numbered[:_EXAMPLES]]
    return len(pairs) > 1 and all(
        task is not None and _is_same_question(task.prompt_text, _question_of(evidence_of(record, file, benchmark)))
        for task, record in pairs
    )


def compare(task: Task, evidence: Evidence) -> list[Comparison]:
    """Return the parts that can be compared."""
    question, options = _question_of(evidence), evidence.options
    texts = {
        "the question": (question, task.prompt_text),
        "the options": (_option_list(options), _option_list(task.options)),
        "the gold answer": (" or ".join(evidence.golds), " or ".join(task.golds)),
    }
    results = {
        "the question": _is_same_question(task.prompt_text, question),
        "the options": _has_same_options(task.options, options) if task.options and options else None,
        "the gold answer": _has_same_gold(task, evidence) if task.golds and evidence.golds else None,
    }
    return [Comparison(part, is_same, *texts[part]) for part, is_same in results.items() if is_same is not None]


# In what follows, None means: cannot be compared.


def _question_of(evidence: Evidence) -> str:
    return evidence.question or evidence.prompt


def _is_same_question(ours: str, theirs: str) -> bool | None:
    """Whether a question of the file is that of the data, wrapped in a prompt, cut, or with small changes."""
    plain_ours, plain_theirs = plain(ours), plain(theirs)
    if not plain_ours or not plain_theirs:
        return None
    if plain_ours in plain_theirs or plain_theirs in plain_ours:
        return True
    if min(len(plain_ours), len(plain_theirs)) < _SHORT:
        return None
    return _is_cut(plain_ours, theirs) or _has_words_of(ours, theirs)


def _is_cut(plain_ours: str, theirs: str) -> bool:
    """Whether the parts of a text around "..." stand in a question in this order."""
    parts = [part for piece in _CUT.split(theirs) if len(part := plain(piece)) >= _SHORT]
    return len(parts) > 1 and re.search(".*?".join(parts), plain_ours) is not None


def _has_words_of(question: str, text: str) -> bool:
    """Whether a text has nearly all words and all numbers of a question."""
    ours, theirs = (Counter(re.findall(r"\w+", side.casefold())) for side in (question, text))
    numbers = {word for word in ours if word.isdecimal()}
    return numbers <= theirs.keys() and (ours & theirs).total() >= _WORDS * ours.total()


def _has_same_options(our_options: Mapping[str, str], their_options: Mapping[str, str]) -> bool:
    """Whether options are the same in the same order; an option of one side only may be an empty cell."""
    ours, theirs = _without_letters(our_options), _without_letters(their_options)
    if not theirs.keys() & ours.keys():  # the file has other letters: its first option is our first
        theirs = dict(zip(ours, theirs.values(), strict=False))
    of_one_side = [(ours.get(letter) or theirs.get(letter, "")) for letter in ours.keys() ^ theirs.keys()]
    return all(text.casefold() in _EMPTY for text in of_one_side) and all(
        _is_same_text(ours[letter], theirs[letter]) for letter in ours.keys() & theirs.keys()
    )


def _without_letters(options: Mapping[str, str]) -> dict[str, str]:
    """Return options without their letters in front, if all have them."""
    marks = {letter: _LETTER.match(text) for letter, text in options.items()}
    has_all = all(mark is not None and mark[1].upper() == letter for letter, mark in marks.items())
    return {k: (text[mark.end() :] if has_all and (mark := marks[k]) else text).strip() for k, text in options.items()}


def _is_same_text(ours: str, theirs: str) -> bool:
    """Whether two texts say the same, or one is the beginning of the other."""
    first, second = plain(ours), plain(theirs)
    if not first or not second:
        return "".join(ours.split()) == "".join(theirs.split())
    number = _number(ours)
    if first == second or (number is not None and number == _number(theirs)):
        return True
    is_long = min(len(first), len(second)) >= _LONG_BEGINNING
    return is_long and (first.startswith(second) or second.startswith(first))


def _number(text: str) -> float | None:
    """Return the number that a text is; None if it is anything else."""
    bare = text.strip().strip("$%. ")
    return float(bare.replace(",", "")) if _NUMBER.fullmatch(bare) else None


def _option_list(options: Mapping[str, str]) -> str:
    return ", ".join(f"{letter} {text}" for letter, text in options.items())


def _has_same_gold(task: Task, evidence: Evidence) -> bool | None:
    """Whether a gold answer of the file can mean that of the data."""
    if not task.options:
        return _has_same_answer(task.golds, evidence.golds)
    gold_text = _without_letters(task.options).get(task.gold or "")
    options = _without_letters(evidence.options or task.options)
    candidates = [text for gold in evidence.golds for text in _options_of_gold(gold.strip(), options, evidence.labels)]
    if gold_text is None or not candidates:
        return None
    return any(_is_same_text(gold_text, text) for text in candidates)


def _options_of_gold(gold: str, options: Mapping[str, str], labels: tuple[str, ...]) -> list[str]:
    """Return the options that a gold answer can name: by letter, label, text, or number from 0 or 1."""
    bare, texts = gold.strip("(). "), list(options.values())
    named = [options[bare]] if bare in options else []
    named += [texts[labels.index(bare)]] if bare in labels[: len(texts)] else []
    named += [text for text in texts if _is_same_text(text, gold)]
    if not named and bare.isdecimal():
        named = [texts[index] for index in (int(bare), int(bare) - 1) if 0 <= index < len(texts)]
    return named


def _has_same_answer(our_golds: Iterable[str], their_golds: Iterable[str]) -> bool | None:
    """Whether an answer of the file is an accepted one; None for other texts, because words can differ and be right."""
    ours, theirs = ([_after_hashes(text) for text in golds] for golds in (our_golds, their_golds))
    if any(_is_same_text(first, second) for first in ours for second in theirs):
        return True
    return False if all(_number(text) is not None for text in (*ours, *theirs)) else None


def _after_hashes(text: str) -> str:
    """Return what follows "####", GSM8K's mark of the final answer."""
    return text.rpartition("####")[2].strip()
