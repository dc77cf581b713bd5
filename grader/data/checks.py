"""Checks of a benchmark's rows that all scorers need: the id column, the split, and the questions to ask.

Without these checks, errors would be found late, or reported as errors in the predictions.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from grader.data.tables import DataTable, cell, column_list
from grader.errors import InputError
from grader.files.json_text import problem_lines, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.benchmark import Benchmark
    from grader.data.tables import Rows


def check_rows(rows: Rows, benchmark: Benchmark, split: str) -> None:
    """Number rows without ids, if the benchmark allows it, and raise InputError with all problems."""
    if not rows.rows:
        raise InputError([f"{rows.place}: no rows"])
    _number_rows(rows, benchmark)
    problems = [*_missing_columns(rows, benchmark, split), *_other_split(rows, benchmark, split)]
    if problems:
        raise InputError(problem_lines(problems))


def _number_rows(rows: Rows, benchmark: Benchmark) -> None:
    """Number the rows of data without ids, if the benchmark allows it."""
    name = benchmark.columns.id
    if benchmark.columns.numbered and name not in rows.columns:
        rows.columns.append(name)
        for number, row in enumerate(rows.rows):
            row[name] = str(number)


def rows_of_split(table: DataTable, benchmark: Benchmark, split: str, place: str) -> DataTable:
    """Return the rows with the split's label, and those without a label: a file can have the rows of all splits.

    Raises InputError if all rows are of other splits.
    """
    column, label = benchmark.columns.split, benchmark.splits[split].label
    if column is None or not label:
        return table
    labels = [cell(row.get(column)) for row in table.rows]
    numbers = [number for number, row_label in enumerate(labels) if row_label in (None, label)]
    if labels and not numbers:
        found = column_list(sorted({row_label for row_label in labels if row_label}))
        raise InputError(
            [f"{place}: no row is of --split {split}: its column {column} has {found}, not {quoted(label)}"]
        )
    return DataTable(
        rows=[table.rows[number] for number in numbers],
        columns=table.columns,
        lines=[table.lines[number] for number in numbers] if table.lines else [],
    )


def check_questions(rows: Rows, benchmark: Benchmark) -> None:
    """Raise InputError if the declared question column has no text: a model would be asked nothing."""
    column = benchmark.columns.question
    if column is None or any(row.get(column) not in (None, "") for row in rows.rows):
        return
    names = list(dict.fromkeys(name for row in rows.rows for name in row))
    raise InputError(
        [
            f"{rows.place}: no question has a text: the column {quoted(column)} (`question` in [columns] of "
            f"benchmark.toml) is missing or empty; the columns are {column_list(names)}"
        ]
    )


def missing_column_messages(columns: Sequence[str], benchmark: Benchmark) -> dict[str, str]:
    """Return field -> a sentence that begins with a small letter, for each declared column that is missing."""
    return {
        field: f"no column {column}{_similar_hint(column, columns, benchmark)}; the columns are {column_list(columns)}"
        for field, column in benchmark.columns.by_field().items()
        if column not in columns and not _is_nested(field, column, columns, benchmark)
    }


def _is_nested(field: str, column: str, columns: Sequence[str], benchmark: Benchmark) -> bool:
    """Return whether a declared `column.field` may be in the objects of a column of the data."""
    outer, dot, _ = column.partition(".")
    return field in benchmark.columns.nested and bool(dot) and outer in columns


def _similar_hint(column: str, columns: Sequence[str], benchmark: Benchmark) -> str:
    undeclared = set(columns) - set(benchmark.columns.by_field().values())
    similar = difflib.get_close_matches(column, undeclared, 1)
    return f" (did you mean {quoted(similar[0])}?)" if similar else ""


def _missing_columns(rows: Rows, benchmark: Benchmark, split: str) -> Iterator[str]:
    """Yield a problem for each column that scoring needs and the data does not have.

    The data of bundled benchmarks comes in several forms, so only its id is needed.
    """
    needed = ["id"] if benchmark.bundled else benchmark.columns.needed
    for field, problem in missing_column_messages(rows.columns, benchmark).items():
        is_withheld = field in benchmark.columns.gold_fields and not benchmark.splits[split].scored
        if field in needed and not is_withheld:
            delimiter_hint = " (is it separated by tabs as .tsv, by commas as .csv?)" if len(rows.columns) == 1 else ""
            declaration = "" if benchmark.bundled else f" (`{field}` in [columns] of benchmark.toml)"
            yield f"{rows.place}: {problem}{delimiter_hint}{declaration}"


def _other_split(rows: Rows, benchmark: Benchmark, split: str) -> Iterator[str]:
    """Yield a problem if the split has no label, and all rows are labelled with one other split.

    Rows of several splits are no problem: a split without a label may be all of the data (`dev` and `test`). For a
    split with a label, `rows_of_split` has left out the rows of others.
    """
    column = benchmark.columns.split
    if column is None or benchmark.splits[split].label:
        return
    labels = {str(row.get(column)) for row in rows.rows if row.get(column) not in (None, "")}
    if len(labels) != 1:
        return
    (label,) = labels
    splits_of_label = [name for name, other in benchmark.splits.items() if other.label == label]
    if splits_of_label:
        options = f"--split {' or '.join(splits_of_label)}"
        yield f"{rows.place}: its column {column} is {label!r}, which belongs to {options}, not to --split {split}"
