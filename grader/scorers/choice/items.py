"""Multiple-choice questions: items built from rows, and both readings of every reply to them."""

from __future__ import annotations

import random
import re
import string
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from grader.data.answers import WITHHELD
from grader.data.tables import BROKEN_SHARE, cell
from grader.errors import InputError
from grader.files.json_text import as_list, problem_lines, quoted
from grader.results import Outcome, Reading, SampleResult
from grader.scorers.choice.facts import ChoiceFacts
from grader.scorers.choice.readers import official_reader
from grader.scorers.choice.reading import ChoiceReading, no_answer
from grader.scorers.interface import missing_reading
from grader.scorers.marks import answer_between
from grader.scorers.rows import groups_of
from grader.task import Block, Task
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from grader.data.tables import Row, Rows
    from grader.observer import Observer
    from grader.scorers.choice.declaration import ChoiceBenchmark

_MARK = r"([A-Z])(?:[.)]\s+|[.)](?=[^\x00-\x7f])|[\u3001\uff0e]\s*)"
_MARKED = re.compile(r"\(([A-Z])\)\s*"), re.compile(rf"^[ \t]*{_MARK}", re.M), re.compile(rf"(?<!\S){_MARK}")
_NARROW = {0xFF01 + at: 0x21 + at for at in range(94) if at != 13}
"""Full-width signs -> ASCII, but the full stop: behind a letter, it marks an option whatever follows."""
_BRACKETED = re.compile(r"\(([A-Z])\)\.?")
"""A gold letter in brackets, as in BIG-Bench Hard."""
_SEVERAL = re.compile(r"\W*[A-Z](?:(?:\W|\band\b)*[A-Z])+\W*")
"""Several gold letters: "AC", "A, C", ["A", "C"]."""
_BROKEN = no_answer("broken_row")
_IN_TEXT = ": the question does not end with (A) ... (B) ..., or with lines A. ..."

_SHUFFLED = "answer"
"""The column of the right letter among shuffled options."""
LOST = "None"
"""The text of an option that pandas has lost."""
LARGE = 4 << 20
"""Number of characters from which on the progress of reading is shown: less takes only seconds."""


class Item(Task, frozen=True, kw_only=True):
    """One question as the model sees it; in circular evaluation, one pass."""


def items_from(rows: Rows, benchmark: ChoiceBenchmark, split: str) -> dict[str, Item]:
    """Turn rows into items; raises InputError that names every invalid row."""
    rows, benchmark = with_order(rows, benchmark)
    problems = _table_problems(rows, benchmark, split)
    if problems:
        raise InputError(problems)
    rows = with_lost_options(rows, benchmark)
    make = partial(_item, benchmark=benchmark, withheld=not benchmark.splits[split].scored)
    items, problems = rows.tasks_and_problems(make)
    lacking = [qid for qid, item in items.items() if item.gold is None and not item.broken]
    few = len(lacking) <= BROKEN_SHARE * len(items)
    problems += [] if few else _answer_problems(lacking, items, rows, benchmark, split)
    if problems:
        raise InputError(problem_lines(problems))
    return items | {qid: msgspec.structs.replace(items[qid], broken="it has no answer") for qid in lacking if few}


def with_order(rows: Rows, benchmark: ChoiceBenchmark) -> tuple[Rows, ChoiceBenchmark]:
    """Return rows whose shuffled options are in columns of their letters, and a declaration that says so."""
    shuffled = benchmark.shuffled
    if shuffled is None:
        return rows, benchmark
    rng, made = random.Random(shuffled.seed), []  # noqa: S311 - the order that others have published
    for row in rows.rows:
        order = rng.sample(range(len(shuffled.columns)), len(shuffled.columns))
        options = {letter: row.get(shuffled.columns[at]) for letter, at in zip(benchmark.letters, order, strict=False)}
        made.append(row | options | {_SHUFFLED: benchmark.letters[order.index(0)]})
    columns = msgspec.structs.replace(benchmark.columns, answer=_SHUFFLED)
    return msgspec.structs.replace(rows, rows=made), msgspec.structs.replace(benchmark, columns=columns)


def with_lost_options(rows: Rows, benchmark: ChoiceBenchmark) -> Rows:
    """Return the rows with the gold options that pandas has taken for empty cells (`lost_options`)."""
    lost = lost_options(rows, benchmark)
    if not lost:
        return rows
    filled = [row | {lost[number]: LOST} if number in lost else row for number, row in enumerate(rows.rows)]
    return msgspec.structs.replace(rows, rows=filled)


def lost_options(rows: Rows, benchmark: ChoiceBenchmark) -> dict[int, str]:
    """Return the position of a row -> its gold letter, whose text pandas has lost: it reads "None" as an empty cell.

    A letter without a text has lost it if a later letter has one, or if nearly all rows have one. In the
    published tables at hand, this tells the 35 lost options from the two gold letters that never had a text.
    """
    if benchmark.options_in_text or benchmark.columns.options is not None or not benchmark.columns.answer:
        return {}
    letters = [letter for letter in benchmark.letters if any(cell(row.get(letter)) for row in rows.rows)]
    full = {
        letter
        for letter in letters
        if sum(cell(row.get(letter)) is None for row in rows.rows) <= BROKEN_SHARE * len(rows.rows)
    }
    lost = {}
    for number, row in enumerate(rows.rows):
        gold = cell(row.get(benchmark.columns.answer))
        there = [letter for letter in letters if cell(row.get(letter)) is not None]
        if (
            gold in letters
            and gold not in there
            and there
            and (gold in full or letters.index(gold) < letters.index(there[-1]))
        ):
            lost[number] = gold
    return lost


def _table_problems(rows: Rows, benchmark: ChoiceBenchmark, split: str) -> list[str]:
    """Return what is wrong with the table as a whole, in one line for all rows."""
    columns, label, place = benchmark.columns, benchmark.splits[split].label, rows.place or rows.origin
    filled = {name for row in rows.rows for name, value in row.items() if cell(value) is not None}
    problems = []
    if columns.id not in filled:
        read = f"the columns with data are {', '.join(sorted(filled))}" if filled else "no column has data"
        problems.append(f"{place}: column {columns.id} is missing or empty; {read}")
    apart = not benchmark.options_in_text and columns.options is None
    if apart and len(filled & set(benchmark.letters)) < 2:
        some = ", ".join(benchmark.letters[:2])
        problems.append(f"{place}: no option columns {some}, ...: without them no answer can be read")
    for source, what in ((columns.question, "questions"), (columns.options, "options")):
        if source and source not in filled:
            problems.append(
                f"{place}: no column {source}, which should contain the {what}, or no row has a value in it"
            )
    strangers = [row for row in rows.rows if label and cell(row.get(columns.split or "")) not in {None, label}]
    if strangers:
        said = ", ".join(sorted({repr(cell(row.get(columns.split or ""))) for row in strangers}))
        some = ", ".join(str(row.get(columns.id)) for row in strangers[:5]) + (", ..." if len(strangers) > 5 else "")
        problems.append(
            f"{place}: {len(strangers)} of {len(rows.rows)} rows belong to split {said}, but --split {split} "
            f"needs rows of {label!r}: {some}"
        )
    return problems


def _answer_problems(
    lacking: list[str], items: Mapping[str, Item], rows: Rows, benchmark: ChoiceBenchmark, split: str
) -> list[str]:
    place = rows.place or rows.origin
    if len(lacking) < len(items):
        some = ", ".join(lacking[:5])
        return [f"{place}: {counted(len(lacking), 'row')} without an answer, but the others have one: {some}"]
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
    answer = _gold_letter(row, benchmark)
    options: dict[str, str] = {}
    try:
        options = _options(row, question, benchmark)
        if not options and benchmark.other_answers and answer is not None:
            right, other = benchmark.letters[0], benchmark.letters[1]
            options, answer = {right: answer, other: benchmark.other_answers}, right
        broken = "" if options else _without_options(row, benchmark)
    except ValueError as error:
        broken = str(error)
    answer = _gold_letters(answer, options)
    if withheld and answer is not None and answer not in options and answer.strip().lower() in WITHHELD:
        answer = None
    if answer is not None and not broken:
        broken = gold_problem(answer, options, benchmark.answer_from)
    unit = ""
    if benchmark.is_circular:
        unit = cell(row.get(columns.group_index or "")) or _first_pass(qid, benchmark.pass_stride)
    groups = groups_of(row, columns.groups)
    if benchmark.options_in_text:
        groups["options"] = str(len(options))
    hint = cell(row.get(columns.hint or ""))
    return Item(
        id=qid,
        unit="" if unit == qid else unit,
        text=question,
        options=options,
        gold=answer,
        groups=groups,
        blocks=(Block(kind="text", title="Hint", content=hint, is_open=True),) if hint else (),
        row=row,
        broken=broken,
    )


def _without_options(row: Row, benchmark: ChoiceBenchmark) -> str:
    """Return that a row has no options, and how they have to be written if there is something in their place."""
    if benchmark.options_in_text:
        return f"no options{_IN_TEXT}"
    given, column = cell(row.get(benchmark.columns.options or "")), benchmark.columns.options
    return (
        "no options" if given in (None, "[]") else f"no options: {column} is {quoted(given)}, not a list or an object"
    )


def gold_problem(answer: str, options: Mapping[str, str], first: int | None = None) -> str:
    """Return why a gold answer is not one option or several; empty if it is. `first`: the declared `answer_from`."""
    if len(answer) > 1 and set(answer) <= options.keys():
        return ""
    if answer not in options:
        return f"the answer {answer!r} is not one of its options {', '.join(options)}{_advice(answer, options, first)}"
    same = [letter for letter, text in options.items() if text == options[answer]]
    return f"the options {' and '.join(same)} have the same text, and one of them is the answer" if same[1:] else ""


def _gold_letter(row: Row, benchmark: ChoiceBenchmark) -> str | None:
    """Return the gold answer as a letter, if the data has the label or the number of the option."""
    answer, letters = cell(row.get(benchmark.columns.answer or "")), benchmark.letters
    if answer is not None and (bracketed := _BRACKETED.fullmatch(answer.strip())) and bracketed[1] in letters:
        answer = bracketed[1]
    labels = _labels(row.get(benchmark.columns.options or ""))
    if answer is not None and benchmark.answer_from is not None and answer.isdecimal():
        labels = [str(number) for number in range(benchmark.answer_from, benchmark.answer_from + len(letters))]
    return letters[labels.index(answer)] if answer in labels[: len(letters)] else answer


def _gold_letters(answer: str | None, options: Mapping[str, str]) -> str | None:
    """Return several gold letters in their order, as one word; another answer as it is."""
    if answer is None or answer in options or not _SEVERAL.fullmatch(answer):
        return answer
    letters = re.findall("[A-Z]", answer)
    return "".join(sorted(letters)) if len({*letters} & options.keys()) == len(letters) else answer


def _labels(together: object) -> list[str]:
    """Return the labels of options that are `{"text": [...], "label": [...]}`, as in ARC; else none."""
    if isinstance(together, dict) and set(together) == {"text", "label"}:
        return [str(label) for label in together["label"]]
    return []


def _advice(answer: str, options: Mapping[str, str], first: int | None) -> str:
    """Return what to write instead of an answer that is not an option's letter."""
    letters, said = list(options), answer.strip().strip("().").casefold()
    meant = [letter for letter, text in options.items() if said in (letter.casefold(), text.strip().casefold())]
    if len(meant) == 1:
        return f"; write its letter: {meant[0]}"
    if said.isdecimal() and first is not None:
        return f"; answer_from = {first} counts them from {first} to {first + len(letters) - 1}"
    if said.isdecimal() and int(said[:9]) <= len(letters):
        places = [(int(said) - 1, "1"), (int(said), "0")]
        some = " or ".join(f"{letters[at]} (counted from {start})" for at, start in places if 0 <= at < len(letters))
        return f"; write the letter of the option: {some}; or set answer_from in the benchmark.toml"
    return "" if re.fullmatch("[A-Z]", answer) else "; write the letter of an option"


def _first_pass(qid: str, stride: int) -> str:
    if not qid.isdecimal():
        raise ValueError(f"{qid!r} is not an index: the passes of a question are found by their index")
    return str(int(qid) % stride)


def _options(row: Row, question: str, benchmark: ChoiceBenchmark) -> dict[str, str]:
    if benchmark.options_in_text:
        return options_in(question, benchmark.prompt)
    if benchmark.columns.options:
        return lettered(as_list(row.get(benchmark.columns.options)), benchmark.letters)
    if cell(row.get(benchmark.letter_beyond)) is not None:
        _check_number(len(benchmark.letters) + 1, benchmark.letters, at_least="at least ")
    return {letter: text for letter in benchmark.letters if (text := cell(row.get(letter))) is not None}


def lettered(together: object, letters: str) -> dict[str, str]:
    """Return a cell with all options as letter -> text, without empty ones; raises ValueError if there are too many."""
    if isinstance(together, dict) and _labels(together):
        together = together["text"]
    if isinstance(together, dict):
        return {str(key): text for key, value in together.items() if (text := cell(value)) is not None}
    if not isinstance(together, list):
        return {}
    _check_number(len(together), letters)
    options = {letter: text for letter, value in zip(letters, together, strict=False) if (text := cell(value))}
    marks = {letter: re.match(rf"\s*(?:\({letter}\)|{letter}[.):])\s*(?=\S)", text) for letter, text in options.items()}
    # "A) red", "B) blue": the letters are no part of the options.
    return {
        letter: text[mark.end() if (mark := marks[letter]) and all(marks.values()) else 0 :]
        for letter, text in options.items()
    }


def _check_number(options: int, letters: str, at_least: str = "") -> None:
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
    found = [list(marked.finditer(text.translate(_NARROW))) for marked in _MARKED]
    for fewest, marks in ((fewest, marks) for fewest in (2, 1) for marks in found):
        for start in range(len(marks) - fewest + 1):
            run = marks[start:]
            letters = [mark[1] for mark in run]
            if letters == [chr(ord("A") + i) for i in range(len(run))]:
                ends = [mark.start() for mark in run[1:]] + [len(text)]
                return {mark[1]: text[mark.end() : end].strip() for mark, end in zip(run, ends, strict=True)}
    return {}


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
    asked: frozenset[str] = frozenset()
    """The readings that needed the judge."""


def read_replies(
    items: Iterable[Item],
    predictions: Mapping[str, list[str]],
    version: str,
    observer: Observer,
    whole: Mapping[tuple[str, int], str],
    *,
    marks: tuple[str, str] | None = None,
) -> list[ChoiceReply]:
    """Read every reply both ways. Equal replies to equal options are read only once.

    `whole`: the outputs that predictions were made of, which the careful reading reads. `marks`: those between which
    the benchmark asks for the answer.
    """
    official = official_reader(version)
    progress = _Progress(predictions, observer)
    known: dict[tuple[object, ...], tuple[ChoiceReading, ChoiceReading]] = {}
    replies = []
    for item in items:
        shape = tuple(item.options.items())
        for number, text in enumerate(progress.over(item.id, predictions[item.id])):
            output = whole.get((item.id, number), text)
            several = len(item.gold or "") > 1
            key = (text, output, shape, item.text, item.broken, several)
            if key not in known and item.broken:
                # There may be no options to read.
                known[key] = official(text, item.options) if item.gold in item.options else _BROKEN, _BROKEN
            if key not in known:
                careful = read_choice_between(output, item.options, item.text, marks, several=several)
                known[key] = official(text, item.options), careful
            first, second = known[key]
            replies.append(ChoiceReply(item=item, sample=number, text=text, official=first, careful=second))
    return replies


def read_choice_between(
    text: str, options: Mapping[str, str], question: str, marks: tuple[str, str] | None, *, several: bool = False
) -> ChoiceReading:
    """Read the text between the marks carefully; if it names no option, read the whole reply.

    `several`: the question has several right options, and "AC" is one answer.
    """
    from grader.scorers.choice.careful import read_choice

    place = answer_between(text, marks) if marks else None
    if place is not None:
        found = read_choice(text[slice(*place)], options, question, several=several)
        if found.letter is not None:
            return msgspec.structs.replace(found, rule="mark", span=place)
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

    def over(self, qid: str, texts: Iterable[str]) -> Iterator[str]:
        """Yield a question's replies. One that takes long by itself is announced; each is counted when it was read."""
        for text in texts:
            if len(text) >= LARGE:
                self._observer.message(
                    f"Reading an answer of {len(text) >> 20} MB (question {qid}): this takes up to a second per MB."
                )
            yield text
            before, self._done = self._done, self._done + len(text)
            if self._is_shown:
                self._observer.advance((self._done >> 20) - (before >> 20))


def sample_of(reply: ChoiceReply) -> SampleResult:
    """Return a reply's sample result."""
    official = _with_judge(reply, "official", reply.official, reply.official_judged)
    return sample(reply.item, reply.sample, official, _careful(reply))


def absent(item: Item, number: int) -> SampleResult:
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


def _with_judge(reply: ChoiceReply, name: str, read: ChoiceReading, judged: ChoiceReading | None) -> Reading:
    if read.letter is None and name in reply.asked:
        if judged is None:
            return Reading(outcome=Outcome.UNSCORED, credit=None, detail=reply.judge_problem, rule="judge")
        read = msgspec.structs.replace(judged, rule="judge", span=None, detail="decided by the judge")
    return verdict(reply.item, read)


def verdict(item: Task, read: ChoiceReading) -> Reading:
    """Mark a letter. A letter outside the options is wrong; official rules and judges use `Z` for "none of them"."""
    if read.outcome == "ambiguous":
        return _reading(Outcome.AMBIGUOUS, None, read)
    if read.letter is None or (read.letter == "Z" and "Z" not in item.options):
        return _reading(Outcome.NO_ANSWER, None, read)
    return _reading(Outcome.CORRECT if read.letter == item.gold else Outcome.WRONG, read.letter, read)


def _reading(outcome: Outcome, letter: str | None, read: ChoiceReading) -> Reading:
    return Reading(
        outcome=outcome,
        credit=int(outcome is Outcome.CORRECT),
        answer=letter,
        detail=read.detail,
        rule=read.rule,
        span=read.span or msgspec.UNSET,
    )
