"""Multiple-choice questions: items built from rows."""

from __future__ import annotations

import random
import re
import string
from functools import partial
from typing import TYPE_CHECKING, TypeGuard

import msgspec

from grader.data.answers import WITHHELD
from grader.data.tables import BROKEN_SHARE, cell
from grader.errors import InputError
from grader.files.json_text import parse_collection, problem_lines, quoted
from grader.scorers.rows import groups_of
from grader.task import Block, Task
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.data.tables import Row, Rows
    from grader.scorers.choice.declaration import ChoiceBenchmark

_MARK = r"([A-Z])(?:[.)]\s+|[.)](?=[^\x00-\x7f])|[\u3001\uff0e]\s*)"
_MARKED = re.compile(r"\(([A-Z])\)\s*"), re.compile(rf"^[ \t]*{_MARK}", re.M), re.compile(rf"(?<!\S){_MARK}")
_NARROW = {0xFF01 + index: 0x21 + index for index in range(94) if index != 13}
"""Full-width signs -> ASCII, but the full stop: behind a letter, it marks an option whatever follows."""
_BRACKETED = re.compile(r"\(([A-Z])\)\.?")
"""A gold letter in brackets, as in BIG-Bench Hard."""
_SEVERAL = re.compile(r"\W*[A-Z](?:(?:\W|\band\b)*[A-Z])+\W*")
"""Several gold letters: "AC", "A, C", ["A", "C"]."""
_IN_TEXT = ": the question does not end with (A) ... (B) ..., or with lines A. ..."

_SHUFFLED = "answer"
"""The column of the right letter among shuffled options."""
TEXT_READ_AS_EMPTY = "None"
"""The text of an option that pandas reads as an empty cell."""


class Item(Task, frozen=True, kw_only=True):
    """One question as the model sees it; in circular evaluation, one pass."""


def items_from(rows: Rows, benchmark: ChoiceBenchmark, split: str) -> dict[str, Item]:
    """Turn rows into items; raises InputError for rows without an id, and for too many broken rows."""
    rows, benchmark = with_options_in_drawn_order(rows, benchmark)
    problems = _table_problems(rows, benchmark, split)
    if problems:
        raise InputError(problems)
    rows = with_empty_options_restored(rows, benchmark)
    make = partial(_item, benchmark=benchmark, withheld=not benchmark.splits[split].scored)
    items, problems = rows.tasks_and_problems(make)
    without_gold = [qid for qid, item in items.items() if item.gold is None and not item.broken]
    if len(without_gold) > BROKEN_SHARE * len(items):
        problems += _answer_problems(without_gold, items, rows, benchmark, split)
        # Without a problem, this is a split for submissions, where no row has an answer: none is broken.
        without_gold = []
    if problems:
        raise InputError(problem_lines(problems))
    return items | {qid: msgspec.structs.replace(items[qid], broken="it has no answer") for qid in without_gold}


def with_options_in_drawn_order(rows: Rows, benchmark: ChoiceBenchmark) -> tuple[Rows, ChoiceBenchmark]:
    """Return rows that have a column for each letter, in the order that `shuffled` draws, and one with the gold letter.

    The first of the declared columns has the right option. The returned declaration names the gold column. Raises
    InputError for a single row: the orders are drawn one after the other, and its position is not known.
    """
    shuffled = benchmark.shuffled
    if shuffled is None:
        return rows, benchmark
    if rows.is_single:
        raise InputError([f"the order of its options depends on the rows before it; name a task of {benchmark.id}"])
    rng = random.Random(shuffled.seed)  # noqa: S311 - the order that others have published
    lettered_rows = []
    for row in rows.rows:
        order = rng.sample(range(len(shuffled.columns)), len(shuffled.columns))
        options = {
            letter: row.get(shuffled.columns[index]) for letter, index in zip(benchmark.letters, order, strict=False)
        }
        gold = benchmark.letters[order.index(0)]
        lettered_rows.append(row | options | {_SHUFFLED: gold})
    columns = msgspec.structs.replace(benchmark.columns, answer=_SHUFFLED)
    return msgspec.structs.replace(rows, rows=lettered_rows), msgspec.structs.replace(benchmark, columns=columns)


def with_empty_options_restored(rows: Rows, benchmark: ChoiceBenchmark) -> Rows:
    """Return the rows with the texts of the gold options that pandas has read as empty cells."""
    letters = options_read_as_empty(rows, benchmark)
    if not letters:
        return rows
    restored = [
        row | {letters[number]: TEXT_READ_AS_EMPTY} if number in letters else row
        for number, row in enumerate(rows.rows)
    ]
    return msgspec.structs.replace(rows, rows=restored)


def options_read_as_empty(rows: Rows, benchmark: ChoiceBenchmark) -> dict[int, str]:
    """Return the position of a row -> its gold letter, whose cell is empty because pandas reads "None" so.

    Any gold letter with an empty cell might never have had a text. It had one if a later letter has one, or if nearly
    all rows have one for this letter. In the published tables at hand, this tells the 35 options with the text "None"
    from the two gold letters that never had a text.
    """
    if benchmark.options_in_text or benchmark.columns.options is not None or not benchmark.columns.answer:
        return {}
    letters = [letter for letter in benchmark.letters if any(cell(row.get(letter)) for row in rows.rows)]
    full = {
        letter
        for letter in letters
        if sum(cell(row.get(letter)) is None for row in rows.rows) <= BROKEN_SHARE * len(rows.rows)
    }
    empty = {}
    for number, row in enumerate(rows.rows):
        gold = cell(row.get(benchmark.columns.answer))
        filled_letters = [letter for letter in letters if cell(row.get(letter)) is not None]
        if gold not in letters or gold in filled_letters or not filled_letters:
            continue
        if gold in full or letters.index(gold) < letters.index(filled_letters[-1]):
            empty[number] = gold
    return empty


def _table_problems(rows: Rows, benchmark: ChoiceBenchmark, split: str) -> list[str]:
    """Return what is wrong with the table as a whole, in one line for all rows."""
    columns, label, place = benchmark.columns, benchmark.splits[split].label, rows.place or rows.origin
    filled = {name for row in rows.rows for name, value in row.items() if cell(value) is not None}
    problems = []
    if columns.id not in filled:
        read = f"the columns with data are {', '.join(sorted(filled))}" if filled else "no column has data"
        problems.append(f"{place}: column {columns.id} is missing or empty; {read}")
    have_columns = not benchmark.options_in_text and columns.options is None
    if have_columns and len(filled & set(benchmark.letters)) < 2:
        examples = ", ".join(benchmark.letters[:2])
        problems.append(f"{place}: no option columns {examples}, ...: without them no answer can be read")
    for source, what in ((columns.question, "questions"), (columns.options, "options")):
        if source and source not in filled:
            problems.append(
                f"{place}: no column {source}, which should contain the {what}, or no row has a value in it"
            )
    outside = [row for row in rows.rows if label and cell(row.get(columns.split or "")) not in {None, label}]
    if outside:
        labels = ", ".join(sorted({repr(cell(row.get(columns.split or ""))) for row in outside}))
        examples = ", ".join(str(row.get(columns.id)) for row in outside[:5]) + (", ..." if len(outside) > 5 else "")
        problems.append(
            f"{place}: {len(outside)} of {len(rows.rows)} rows belong to split {labels}, but --split {split} "
            f"needs rows of {label!r}: {examples}"
        )
    return problems


def _answer_problems(
    without_gold: list[str], items: Mapping[str, Item], rows: Rows, benchmark: ChoiceBenchmark, split: str
) -> list[str]:
    """Return that some rows have no answer, or that no row has one although the split is scored."""
    place = rows.place or rows.origin
    if len(without_gold) < len(items):
        examples = ", ".join(without_gold[:5])
        return [f"{place}: {counted(len(without_gold), 'row')} without an answer, but the others have one: {examples}"]
    if benchmark.splits[split].scored:
        hidden = [name for name, other in benchmark.splits.items() if not other.scored]
        instead = f"--split {' or '.join(hidden)}" if hidden else f"scored = false under [splits.{split}]"
        column = benchmark.columns.answer
        what = f"no row has an answer (column {column})" if column else "[columns] does not name the column of `answer`"
        return [f"{place}: {what}; for a submission: {instead}"]
    return []


def _item(row: Row, benchmark: ChoiceBenchmark, *, withheld: bool) -> Item:
    """Return a row's item; raises ValueError that says what is wrong with the row.

    `withheld`: the split's answers may be withheld. If the data has them nevertheless, they are used.
    """
    columns = benchmark.columns
    qid = cell(row.get(columns.id))
    if qid is None:
        raise ValueError(f"no {columns.id}")
    question = cell(row.get(columns.question or "")) or ""
    gold_cell = _gold_cell(row, benchmark)
    options: dict[str, str] = {}
    try:
        options = _options(row, question, benchmark)
        if not options and benchmark.other_answers and gold_cell is not None:
            # The row has only its answer; the benchmark names the text of the second option.
            right, other = benchmark.letters[0], benchmark.letters[1]
            options, gold_cell = {right: gold_cell, other: benchmark.other_answers}, right
        broken = "" if options else _no_options_problem(row, benchmark)
    except ValueError as error:
        broken = str(error)
    gold = _gold_letters(gold_cell, options)
    if withheld and gold is not None and gold not in options and gold.strip().lower() in WITHHELD:
        gold = None
    if gold is not None and not broken:
        broken = gold_problem(gold, options, benchmark.answer_from)
    groups = groups_of(row, columns.groups)
    if benchmark.options_in_text:
        groups["options"] = str(len(options))
    hint = cell(row.get(columns.hint or ""))
    return Item(
        id=qid,
        unit=_question_of_pass(qid, row, benchmark),
        text=question,
        options=options,
        gold=gold,
        groups=groups,
        blocks=(Block(kind="text", title="Hint", content=hint, is_open=True),) if hint else (),
        row=row,
        broken=broken,
    )


def _question_of_pass(qid: str, row: Row, benchmark: ChoiceBenchmark) -> str:
    """Return the id of the question that a row is a pass of; "": the row is not a pass, or the first one."""
    if not benchmark.is_circular:
        return ""
    question = cell(row.get(benchmark.columns.group_index or "")) or _first_pass(qid, benchmark.pass_stride)
    return "" if question == qid else question


def _no_options_problem(row: Row, benchmark: ChoiceBenchmark) -> str:
    """Return that a row has no options, and how they have to be written if there is something in their place."""
    if benchmark.options_in_text:
        return f"no options{_IN_TEXT}"
    column = benchmark.columns.options
    options = row.get(column or "")
    content = cell(options)
    if content is None or isinstance(parse_collection(options), list | dict):
        return "no options"
    return f"no options: {column} is {quoted(content)}, not a list or an object"


def gold_problem(answer: str, options: Mapping[str, str], first: int | None = None) -> str:
    """Return why a gold answer is not one option or several; empty if it is. `first`: the declared `answer_from`."""
    if len(answer) > 1 and set(answer) <= options.keys():
        return ""
    if answer not in options:
        return f"the answer {answer!r} is not one of its options {', '.join(options)}{_advice(answer, options, first)}"
    same = [letter for letter, text in options.items() if text == options[answer]]
    return f"the options {' and '.join(same)} have the same text, and one of them is the answer" if same[1:] else ""


def _gold_cell(row: Row, benchmark: ChoiceBenchmark) -> str | None:
    """Return the gold answer as its cell has it; of "(B)", or an option's label or number, the letter."""
    answer, letters, first = cell(row.get(benchmark.columns.answer or "")), benchmark.letters, benchmark.answer_from
    if answer is None:
        return None
    if (bracketed := _BRACKETED.fullmatch(answer.strip())) and bracketed[1] in letters:
        answer = bracketed[1]
    if first is not None and answer.isdecimal():
        labels = [str(number) for number in range(first, first + len(letters))]
    else:
        labels = _labels(parse_collection(row.get(benchmark.columns.options or "")))
    return letters[labels.index(answer)] if answer in labels[: len(letters)] else answer


def _gold_letters(answer: str | None, options: Mapping[str, str]) -> str | None:
    """Return several gold letters in their order, as one word; another answer as it is."""
    if answer is None or answer in options or not _SEVERAL.fullmatch(answer):
        return answer
    letters = re.findall("[A-Z]", answer)
    are_distinct_options = len(options.keys() & letters) == len(letters)
    return "".join(sorted(letters)) if are_distinct_options else answer


def _labels(options: object) -> list[str]:
    """Return the labels of options in ARC's form; else none."""
    labels = options["label"] if _is_arc_form(options) else None
    return [str(label) for label in labels] if isinstance(labels, list) else []


def _is_arc_form(options: object) -> TypeGuard[dict[str, object]]:
    """Whether options are `{"text": [...], "label": [...]}`."""
    return isinstance(options, dict) and set(options) == {"text", "label"}


def _advice(answer: str, options: Mapping[str, str], first: int | None) -> str:
    """Return what to write instead of an answer that is not an option's letter. `first`: the declared `answer_from`."""
    letters, bare = list(options), answer.strip().strip("().").casefold()
    equal = [letter for letter, text in options.items() if bare in (letter.casefold(), text.strip().casefold())]
    if len(equal) == 1:
        return f"; write its letter: {equal[0]}"
    if bare.isdecimal() and first is not None:
        return f"; answer_from = {first} counts them from {first} to {first + len(letters) - 1}"
    # A number of at most 9 digits: Python refuses to convert thousands.
    number = int(bare) if bare.isdecimal() and len(bare) <= 9 else -1
    candidates = " or ".join(
        f"{letters[number - start]} (counted from {start})" for start in (1, 0) if 0 <= number - start < len(letters)
    )
    if candidates:
        return f"; write the letter of the option: {candidates}; or set answer_from in the benchmark.toml"
    # If no option has the letter, the options are wrong, not the answer.
    return "" if re.fullmatch("[A-Z]", answer) else "; write the letter of an option"


def _first_pass(qid: str, stride: int) -> str:
    """Return the index of a question's first pass: those of the others are that plus multiples of `stride`."""
    if not qid.isdecimal():
        raise ValueError(f"{qid!r} is not an index: the passes of a question are found by their index")
    return str(int(qid) % stride)


def _options(row: Row, question: str, benchmark: ChoiceBenchmark) -> dict[str, str]:
    """Return letter -> text, from the question's text, one column, or a column a letter; raises ValueError."""
    if benchmark.options_in_text:
        return options_in(question, benchmark.prompt)
    if benchmark.columns.options:
        return options_by_letter(parse_collection(row.get(benchmark.columns.options)), benchmark.letters)
    # An option behind the last declared letter is an error; columns of further letters are not searched.
    if cell(row.get(benchmark.letter_beyond)) is not None:
        _check_option_count(len(benchmark.letters) + 1, benchmark.letters, at_least="at least ")
    return {letter: text for letter in benchmark.letters if (text := cell(row.get(letter))) is not None}


def options_by_letter(content: object, letters: str) -> dict[str, str]:
    """Return a cell with all options as letter -> text, without empty ones; raises ValueError if there are too many."""
    if _is_arc_form(content):
        content = content["text"]
    if isinstance(content, dict):
        return {str(key): text for key, value in content.items() if (text := cell(value)) is not None}
    if not isinstance(content, list):
        return {}
    _check_option_count(len(content), letters)
    options = {letter: text for letter, value in zip(letters, content, strict=False) if (text := cell(value))}
    marks = {letter: re.match(rf"\s*(?:\({letter}\)|{letter}[.):])\s*(?=\S)", text) for letter, text in options.items()}
    if not all(marks.values()):
        return options
    # "A) red", "B) blue": the letters are no part of the options.
    return {letter: text[mark.end() :] for letter, text in options.items() if (mark := marks[letter])}


def _check_option_count(options: int, letters: str, at_least: str = "") -> None:
    """Raise ValueError if there are more options than letters."""
    if options <= len(letters):
        return
    enough = string.ascii_uppercase[:options]
    advice = f"set letters = {quoted(enough)}" if enough.startswith(letters) else "set letters, one for each option,"
    number = f"{at_least}{options} options, but letters = {quoted(letters)} has only {len(letters)}"
    raise ValueError(f"{number}: {advice} in a benchmark.toml of your own")


def options_in(text: str, prompt: str = "") -> dict[str, str]:
    """Return the options of a question that ends with "(A) ... (B) ...", with lines "A. ...", or "A. ... B. ..."."""
    if prompt and prompt in text:
        text = text[: text.rindex(prompt)]
    marks_by_style = [list(pattern.finditer(text.translate(_NARROW))) for pattern in _MARKED]
    # The longest list first; one mark alone is a list only if no style has two.
    for fewest in (2, 1):
        for marks in marks_by_style:
            for start in range(len(marks) - fewest + 1):
                if options := _options_at(marks[start:], text):
                    return options
    return {}


def _options_at(marks: list[re.Match[str]], text: str) -> dict[str, str]:
    """Return the options that marks divide a text into; none if the marks are not A, B, C, ... in order."""
    letters = [mark[1] for mark in marks]
    if letters != [chr(ord("A") + index) for index in range(len(marks))]:
        return {}
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return {mark[1]: text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)}
