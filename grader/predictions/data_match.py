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
from grader.files.json_text import parse_index, quoted
from grader.predictions.recorded_task import CONFLICT_SHARE, plain, recorded_task_of
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.benchmark import Benchmark
    from grader.predictions.file import PredictionFile
    from grader.predictions.recorded_task import RecordedTask
    from grader.task import Task

_MIN_LETTERS = 4
"""Texts with fewer letters and digits are contained in others by accident."""
_MIN_BEGINNING = 17
"""If an option with at least so many letters and digits is the beginning of another, it is the same one, cut off."""
_MIN_WORD_SHARE = 0.9
"""Share of a question's words that the same question has in other words, or in a prompt."""
_EMPTY = frozenset(("", "none", "na", "n/a", "nan", "null", "<na>", "#n/a"))
"""Options that pandas takes for empty cells."""
_LETTER = re.compile(r"\s*\(?([A-Za-z])(?:[.):]|\s+[-\u2013])\s*(?=\S)")
_CUT = re.compile(r"\.{3,}|\u2026")
_EXAMPLES = 5
"""Number of tasks that a note names."""
_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:e-?\d+)?")


class Comparison(NamedTuple):
    """One part of a task that the file and the data both have."""

    part: str
    is_same: bool
    file_text: str
    data_text: str


def check_file_matches_data(
    tasks: Mapping[str, Task], file: PredictionFile, benchmark: Benchmark, origin: str
) -> list[str]:
    """Return a note on the tasks that a file describes otherwise than the data; raises InputError if many do."""
    compared_count = 0
    differing = {}
    for record in file.records:
        if record.qid in tasks:
            comparisons = compare(tasks[record.qid], recorded_task_of(record, file, benchmark))
            compared_count += bool(comparisons)
            if differences := [comparison for comparison in comparisons if not comparison.is_same]:
                differing[record.qid] = record.position, differences[0]
    if not differing:
        return []
    summary = f"{len(differing):,} of {counted(compared_count, 'task')} that {file.name} describes differ from the data"
    if len(differing) < CONFLICT_SHARE * compared_count:
        examples = islice(differing.items(), _EXAMPLES)
        listed = ", ".join(f"{quoted(qid)} ({difference.part})" for qid, (_, difference) in examples)
        more = f" and {len(differing) - _EXAMPLES:,} more" if len(differing) > _EXAMPLES else ""
        return [f"{summary}: {listed}{more}. They are graded by the data."]
    qid, (position, first) = next(iter(differing.items()))
    cause = " Its ids are row numbers of a log, which begin at 0 in every subject." if file.is_numbered else ""
    raise InputError(
        [
            f"{position}: {summary} ({origin}). Task {quoted(qid)}, {first.part}: the file has "
            f"{quoted(first.file_text, 120)}, the data has {quoted(first.data_text, 120)}.{cause} The file is about "
            "other tasks, another release of them, or options in another order: give the data that it answers with "
            "--data."
        ]
    )


def compare(task: Task, recorded_task: RecordedTask) -> list[Comparison]:
    """Return the parts that can be compared."""
    question, options = _question_of(recorded_task), recorded_task.options
    texts = {
        "the question": (question, task.prompt_text),
        "the options": (_option_list(options), _option_list(task.options)),
        "the gold answer": (" or ".join(recorded_task.golds), " or ".join(task.golds)),
    }
    results = {
        "the question": _is_same_question(task.prompt_text, question),
        "the options": _has_same_options(task.options, options) if task.options and options else None,
        "the gold answer": _has_same_gold(task, recorded_task) if task.golds and recorded_task.golds else None,
    }
    return [Comparison(part, is_same, *texts[part]) for part, is_same in results.items() if is_same is not None]


def _question_of(recorded_task: RecordedTask) -> str:
    return recorded_task.question or recorded_task.prompt


def _is_same_question(data_text: str, file_text: str) -> bool | None:
    """Whether a question of the file is that of the data, wrapped, cut, or changed a little; None: not comparable."""
    plain_data, plain_file = plain(data_text), plain(file_text)
    if not plain_data or not plain_file:
        return None
    if plain_data in plain_file or plain_file in plain_data:
        return True
    if min(len(plain_data), len(plain_file)) < _MIN_LETTERS:
        return None
    return _is_cut(plain_data, file_text) or _has_words_of(data_text, file_text)


def _is_cut(plain_data: str, file_text: str) -> bool:
    """Whether the parts of a text around "..." stand in a question in this order."""
    parts = [part for piece in _CUT.split(file_text) if len(part := plain(piece)) >= _MIN_LETTERS]
    position = 0
    for part in parts:
        start = plain_data.find(part, position)
        if start < 0:
            return False
        position = start + len(part)
    return len(parts) > 1


def _has_words_of(question: str, text: str) -> bool:
    """Whether a text has nearly all words and all numbers of a question."""
    question_words, text_words = (Counter(re.findall(r"\w+", side.casefold())) for side in (question, text))
    numbers = {word for word in question_words if word.isdecimal()}
    common = question_words & text_words
    return numbers <= text_words.keys() and common.total() >= _MIN_WORD_SHARE * question_words.total()


def _has_same_options(data_options: Mapping[str, str], file_options: Mapping[str, str]) -> bool:
    """Whether options are the same in the same order; an option of one side only may be an empty cell."""
    in_data, in_file = _strip_letters(data_options), _strip_letters(file_options)
    if not in_file.keys() & in_data.keys():  # the benchmark declares letters of its own: the first ones correspond
        in_file = dict(zip(in_data, in_file.values(), strict=False))
    unpaired_texts = [(in_data.get(letter) or in_file.get(letter, "")) for letter in in_data.keys() ^ in_file.keys()]
    return all(text.casefold() in _EMPTY for text in unpaired_texts) and all(
        _is_same_text(in_data[letter], in_file[letter]) for letter in in_data.keys() & in_file.keys()
    )


def _strip_letters(options: Mapping[str, str]) -> dict[str, str]:
    """Return options without their letters in front, if all have them."""
    stripped = {}
    for letter, text in options.items():
        mark = _LETTER.match(text)
        if mark is None or mark[1].upper() != letter:
            return {letter: text.strip() for letter, text in options.items()}
        stripped[letter] = text[mark.end() :].strip()
    return stripped


def _is_same_text(data_text: str, file_text: str) -> bool:
    """Whether two texts say the same, or one is the beginning of the other."""
    first, second = plain(data_text), plain(file_text)
    if not first:  # a text of signs alone, such as "+"
        return "".join(data_text.split()) == "".join(file_text.split())
    number = _number(data_text)
    if first == second or (number is not None and number == _number(file_text)):
        return True
    is_long = min(len(first), len(second)) >= _MIN_BEGINNING
    return is_long and (first.startswith(second) or second.startswith(first))


def _number(text: str) -> float | None:
    """Return the number that a text is; None if it is anything else."""
    bare = text.strip().strip("$%. ")
    return float(bare.replace(",", "")) if _NUMBER.fullmatch(bare) else None


def _option_list(options: Mapping[str, str]) -> str:
    return ", ".join(f"{letter} {text}" for letter, text in options.items())


def _has_same_gold(task: Task, recorded_task: RecordedTask) -> bool | None:
    """Whether a gold answer of the file can mean that of the data; None: they cannot be compared."""
    if not task.options:
        return _has_same_answer(task.golds, recorded_task.golds)
    gold_text = _strip_letters(task.options).get(task.gold or "")
    options = _strip_letters(recorded_task.options or task.options)
    candidates = [
        text for gold in recorded_task.golds for text in _options_of_gold(gold.strip(), options, recorded_task.labels)
    ]
    if gold_text is None or not candidates:
        return None
    return any(_is_same_text(gold_text, text) for text in candidates)


def _options_of_gold(gold: str, options: Mapping[str, str], labels: tuple[str, ...]) -> list[str]:
    """Return the options that a gold answer can name: by letter, label, text, or number from 0 or 1."""
    bare, texts = gold.strip("(). "), list(options.values())
    candidates = [options[bare]] if bare in options else []
    candidates += [texts[labels.index(bare)]] if bare in labels else []
    candidates += [text for text in texts if _is_same_text(text, gold)]
    number = parse_index(bare)
    if not candidates and number is not None:
        candidates = [texts[index] for index in (number, number - 1) if 0 <= index < len(texts)]
    return candidates


def _has_same_answer(data_golds: Iterable[str], file_golds: Iterable[str]) -> bool | None:
    """Whether an answer of the file is an accepted one; None for other texts, because words can differ and be right."""
    # GSM8K's final answer is behind hashes.
    accepted, recorded = ([text.rpartition("####")[2].strip() for text in golds] for golds in (data_golds, file_golds))
    if any(_is_same_text(first, second) for first in accepted for second in recorded):
        return True
    return False if all(_number(text) is not None for text in (*accepted, *recorded)) else None
