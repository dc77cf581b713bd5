"""What a prediction file tells about the task of a record: its question, its options in order, its gold answers.

Logs and tables of other tools have them beside the model's text. Foreign readers leave the task's row where it is, in
the record's fields or as the object `doc` in them; here it becomes one form, whatever the tool calls the parts.
"""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

import msgspec

from grader.benchmark import Columns
from grader.files.json_text import cell_text, parse_collection, parse_index
from grader.predictions import formats

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.benchmark import Benchmark
    from grader.predictions.file import PredictionFile, PredictionRecord

CONFLICT_SHARE = 1 / 3
"""Share of tasks that differ from which on a file is about others. (Shuffled options leave half of the tasks with two
options, and all that have none.)"""
_QUESTIONS = ("question", "query", "problem", "input", "text", "goal")
_SURE_QUESTIONS = ("question", "query", "problem")
"""Names of a question in a record that is no row of a data set: its `text` or `input` may be anything."""
_OPTIONS = ("options", "choices", "endings")
_GOLDS = ("answer", "target", "gold", "label", "answerKey", "expected_answer")


class RecordedTask(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a task that a record has; those that it does not have are empty."""

    question: str = ""
    prompt: str = ""
    """A text that contains the question and other things."""
    options: dict[str, str] = {}
    """Letter -> text."""
    labels: tuple[str, ...] = ()
    """The names of the options in ARC, in their order; not more than there are options."""
    golds: tuple[str, ...] = ()

    @property
    def gold(self) -> str:
        """The letter of the gold option; if the gold answer names no option, that answer; empty without one.

        Data sets name the option by its letter, by its label, by its text, or by its index from 0.
        """
        for gold in self.golds:
            bare = gold.strip().strip("().")
            if bare in self.options:
                return bare
            if bare in self.labels:
                return list(self.options)[self.labels.index(bare)]
            letters = [letter for letter, text in self.options.items() if text.strip() == gold.strip()]
            if len(letters) == 1:
                return letters[0]
            index = parse_index(bare)
            if index is not None and index < len(self.options):
                return list(self.options)[index]
        return self.golds[0] if self.golds else ""


def task_row_of(record: PredictionRecord) -> Mapping[str, object]:
    """Return the data set's row in a record: a harness logs it as `doc`; in other files, the record itself is it."""
    doc = record.fields.get("doc")
    return doc if isinstance(doc, dict) else record.fields


def recorded_task_of(
    record: PredictionRecord, file: PredictionFile, benchmark: Benchmark | None = None
) -> RecordedTask:
    """Return what a record tells about its task; the names of the benchmark's columns come first.

    Of a format without tasks, only fields with the surest names count: its `answer` or `text` may be the model's.
    """
    row, fields = task_row_of(record), record.fields
    columns = benchmark.columns if benchmark is not None else Columns(id="")
    options, labels = _options(row, (*columns.names_of(*columns.option_fields), *_OPTIONS), benchmark)
    if not formats.format_named(file.format).has_task:
        return RecordedTask(question=_text(_first(row, _SURE_QUESTIONS)), options=options, labels=labels)
    question_names = [columns.question, *_QUESTIONS]
    if row is not fields:  # a row of the data set: a task of code has its signature or its prompt there
        question_names += [*columns.names_of(*columns.code_fields), "prompt"]
    golds = _first(row, (*columns.names_of(*columns.gold_fields), *_GOLDS))
    return RecordedTask(
        question=_text(_first(row, question_names)),
        prompt=_prompt(fields),
        options=options,
        labels=labels,
        golds=_texts(_first(fields, ("target",)) if golds is None else golds),
    )


def question_of(record: PredictionRecord) -> str:
    """Return the question in a record of another tool, else its hash or the prompt, which identify it as well."""
    fields = record.fields
    return (
        _text(_first(task_row_of(record), (*_QUESTIONS, "prompt"))) or _text(fields.get("doc_hash")) or _prompt(fields)
    )


def options_of(record: PredictionRecord) -> str:
    """Return the options in a record of another tool, in their order."""
    options, _ = _options(task_row_of(record), _OPTIONS, None)
    return ", ".join(f"{letter} {text}" for letter, text in options.items())


def _first(row: Mapping[str, object], names: Iterable[str | None]) -> object:
    """Return the first of these cells that is not empty; None if all are."""
    return next((row[name] for name in names if name and row.get(name) not in (None, "", [])), None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts of a cell with one gold answer or a list of them; nothing for other objects."""
    value = parse_collection(value)
    values = value if isinstance(value, list) else [value]
    return tuple(cell_text(cell) for cell in values if isinstance(cell, str | int | float))


def _options(
    row: Mapping[str, object], names: Iterable[str | None], benchmark: Benchmark | None
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return options by letter, and the labels that ARC has beside them.

    `names`: the fields that may have all options, as ARC's `{"text": [...], "label": [...]}`, by letter (an object with
    other keys has none), or as a list. If all these fields are empty, there is a field for each (A, B, ...).
    """
    value = parse_collection(_first(row, names))
    if isinstance(value, dict) and set(value) == {"text", "label"}:
        options = _by_letter(value["text"])
        labels = value["label"] if isinstance(value["label"], list) else []
        return options, tuple(str(label) for label in labels[: len(options)])
    if isinstance(value, dict):
        options = {str(name): cell_text(text) for name, text in value.items() if text not in (None, "")}
        return (options if options.keys() <= set(string.ascii_uppercase) else {}), ()
    if isinstance(value, list):
        return _by_letter(value), ()
    aliases = benchmark.also_named if benchmark is not None else {}
    cells = {letter: _first(row, (letter, aliases.get(letter))) for letter in string.ascii_uppercase}
    options = {letter: cell_text(text) for letter, text in cells.items() if isinstance(text, str | int | float)}
    return (options if len(options) > 1 else {}), ()


def _by_letter(texts: object) -> dict[str, str]:
    if not isinstance(texts, list) or not all(isinstance(text, str | int | float) for text in texts):
        return {}
    return dict(zip(string.ascii_uppercase, map(cell_text, texts), strict=False))


def _prompt(fields: Mapping[str, object]) -> str:
    """Return the prompt that a harness logged: `input`, or the first of the `arguments` of its first request."""
    if isinstance(prompt := fields.get("input"), str):
        return prompt
    value = fields.get("arguments")
    while isinstance(value, list | dict) and value:
        value = next(iter(value.values())) if isinstance(value, dict) else value[0]
    return _text(value)


# --- comparing --------------------------------------------------------------------------------------------------

_PLACEHOLDER = re.compile(
    r"<image[^<>]{0,20}>|\[image[^\[\]]{0,20}\]|<\|[^<>|]{1,30}\|>|!\[[^\]]{0,40}\]\([^)]{0,200}\)", re.I
)

_ESCAPED_BLANK = re.compile(r"\\[nrt](?![a-z])")
"""A line break or tab that a table has as two signs; LaTeX's commands go on with small letters."""


def plain(text: str) -> str:
    """Return a text without what tools change: case, blanks, punctuation, marks for images, escapes."""
    import html
    import unicodedata

    text = _ESCAPED_BLANK.sub(" ", html.unescape(text) if "&" in text else text)
    text = unicodedata.normalize("NFKC", _PLACEHOLDER.sub("", text)).casefold()
    return "".join(filter(str.isalnum, text))
