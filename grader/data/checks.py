"""Checks of a benchmark's rows that all scorers need: the id column, the split, and the questions to ask.

Without these checks, errors would be found late, or reported as errors in the predictions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.errors import InputError
from grader.files.json_text import quoted
from grader.files.problems import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.benchmark import Benchmark
    from grader.data.rows import Rows


def check(rows: Rows, columns: list[str], benchmark: Benchmark, split: str) -> None:
    """Raise InputError with all problems. `columns`: the names of all columns of the data, read or not."""
    if not rows.rows:
        raise InputError([f"{rows.place}: no rows"])
    problems = [*_no_id(rows, columns, benchmark), *_other_split(rows, benchmark, split)]
    if problems:
        raise InputError(shown(problems))


def check_questions(rows: Rows, benchmark: Benchmark) -> None:
    """Raise InputError if the declared question column has no text: a model would be asked nothing."""
    column = benchmark.columns.question
    if column is None or any(row.get(column) not in (None, "") for row in rows.rows):
        return
    names = list(dict.fromkeys(name for row in rows.rows for name in row))
    raise InputError(
        [
            f"{rows.place}: no question has a text: the column {quoted(column)} (`question` in [columns] of "
            f"benchmark.toml) is missing or empty; the columns are {_listed(names)}"
        ]
    )


def _listed(columns: list[str]) -> str:
    return ", ".join(quoted(name) for name in columns[:20]) + (", ..." if len(columns) > 20 else "") or "none"


def _no_id(rows: Rows, columns: list[str], benchmark: Benchmark) -> Iterator[str]:
    wanted = benchmark.columns.id
    if wanted not in columns:
        kind = " (is it separated by tabs as .tsv, by commas as .csv?)" if len(columns) == 1 else ""
        yield f"{rows.place}: no column {wanted}; the columns are {_listed(columns)}{kind}"


def _other_split(rows: Rows, benchmark: Benchmark, split: str) -> Iterator[str]:
    """Yield a problem if all rows are labelled with one other split.

    If the split has a label, the scorer compares each row with it. A split without a label may contain all of the data
    (`dev` and `test`), so rows of several splits are no error.
    """
    column = benchmark.columns.split
    if column is None or benchmark.splits[split].label:
        return
    said = {str(row.get(column)) for row in rows.rows if row.get(column) not in (None, "")}
    label = next(iter(said)) if len(said) == 1 else ""
    others = [name for name, place in benchmark.splits.items() if label and place.label == label]
    if others:
        some = f"--split {' or '.join(others)}"
        yield f"{rows.place}: its column {column} is {label!r}, which belongs to {some}, not to --split {split}"
