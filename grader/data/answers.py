"""Answers that stand in a file of their own: a JSON object, joined with the rows by a column with its keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader.data import download
from grader.data.tables import DataTable, cell
from grader.errors import DataUnavailableError, InputError
from grader.files.user_files import read_input

if TYPE_CHECKING:
    from grader.benchmark import Benchmark

WITHHELD = frozenset(("nan", "none", "null", "n/a", "na", "-", "?", "unknown", "hidden"))
"""Values of the answer column in copies of a test split whose answers are withheld."""


def fill_answers(table: DataTable, benchmark: Benchmark, split: str, data_path: Path | None) -> DataTable:
    """Return a table with the answers of the split's file of answers, if one is declared and the table has none.

    Raises DataUnavailableError if there is no such file, InputError if it is not an object.
    """
    declared = benchmark.splits[split].answers
    column = getattr(benchmark.columns, "answer", None)
    if declared is None or column is None:
        return table
    cells = (cell(row.get(column)) for row in table.rows)
    if any(answer is not None and answer.strip().lower() not in WITHHELD for answer in cells):
        return table
    path = _answers_file(benchmark, split, data_path)
    answers = _read(path)
    rows = []
    for row in table.rows:
        entry = answers.get(cell(row.get(declared.key)) or "")
        answer = entry.get(declared.field) if declared.field and isinstance(entry, dict) else entry
        # A list of right answers becomes a text, as it is in a cell of a table.
        rows.append(row | {column: str(answer) if isinstance(answer, list) else answer})
    return DataTable(rows=rows, columns=list(dict.fromkeys([*table.columns, column])), lines=table.lines)


def _answers_file(benchmark: Benchmark, split: str, data_path: Path | None) -> Path:
    """Return the file beside the data of `--data`, beside the declaration, or in the cache."""
    declared = benchmark.splits[split].answers
    assert declared is not None
    name = declared.data or declared.url.rpartition("/")[2]
    beside_data = [data_path.parent / Path(name).name] if data_path is not None else []
    in_cache = [download.place_of_answers(declared)] if declared.url else []
    for path in [*beside_data, Path(benchmark.folder) / name, *in_cache]:
        if path.is_file():
            return path
    fetch = f"Get it with `grade fetch {benchmark.id_or_folder} --split {split}`, or put" if declared.url else "Put"
    raise DataUnavailableError(
        f"The answers of {benchmark.id} ({split}) are in a file of their own, {Path(name).name}, which is not on this "
        f"machine. {fetch} it beside the file that you give with --data."
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(read_input(path), type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InputError([f"{path}: {error}; expected an object of answers"]) from error
