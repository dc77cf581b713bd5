"""Rows of data, their columns, positions and origin, and the tasks that they become."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from grader.errors import InputError
from grader.files.json_text import cell_text, problem_lines, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from grader.task import Task

Row = dict[str, Any]
T = TypeVar("T", bound="Task")
BROKEN_SHARE = 0.05
"""Maximum share of broken rows. The published tables at hand have 0.4 % or less."""
_DUPLICATE = "several rows have this id"


def cell(value: object) -> str | None:
    """Return a cell's text: numbers as decimals, empty cells as None; "None", "NA" and "nan" are texts."""
    return cell_text(value) or None


def column_list(columns: Sequence[str]) -> str:
    """Return the names of columns for a message."""
    return ", ".join(map(quoted, columns[:20])) + (", ..." if len(columns) > 20 else "") or "none"


class Rows(msgspec.Struct, frozen=True, kw_only=True):
    """Rows and their origin."""

    rows: list[Row]
    origin: str
    """For users and reports: the file's name, hub id and revision, or the address of several files."""
    digest: str
    """A hash of the used columns; two runs are comparable only if it is the same."""
    place: str = ""
    """For messages: the path as the user gave it; empty if the rows are not from a file."""
    columns: list[str] = []
    """The names of all columns of the data, read or not; empty: they are the rows' own."""
    lines: list[int] = []
    """The first line of each row, if the file has lines."""
    is_carried: bool = False
    """Whether the rows came with the predictions."""
    is_single: bool = False
    """Whether this is one row, which came with a sample: its position in the data is not known."""
    used: Container[str] | None = None
    """The columns that scoring uses; None: all that were read."""

    def scoring_rows(self) -> Rows:
        """Return the rows with only what scoring uses, so that a result cannot depend on what else was read."""
        if self.used is None:  # nothing else was read
            return self
        rows = [{name: value for name, value in row.items() if name in self.used} for row in self.rows]
        return msgspec.structs.replace(self, rows=rows)

    @property
    def is_table(self) -> bool:
        """Whether the file has only texts in its cells: a list can only be written as a text."""
        return Path(self.place or self.origin).suffix.lower() in {".csv", ".tsv", ".xlsx"}

    def position_of(self, number: int) -> str:
        """Return the position of row `number` (from 1): `path:line`, or `path: row n` if the file has no lines."""
        place = self.place or self.origin
        return f"{place}:{self.lines[number - 1]}" if self.lines else f"{place}: row {number}"

    def tasks(self, make: Callable[[Row], T]) -> dict[str, T]:
        """Return the tasks that `make` returns, by id; raises InputError with the problems of `tasks_and_problems`."""
        tasks, problems = self.tasks_and_problems(make)
        if problems:
            raise InputError(problem_lines(problems))
        return tasks

    def tasks_and_problems(self, make: Callable[[Row], T]) -> tuple[dict[str, T], list[str]]:
        """Return the tasks that `make` returns, by id, and the problems for which the data is refused.

        A row is a problem if `make` raises ValueError, or KeyError for `row[name]` of a missing column. Other rows only
        break their task: `make` returns a broken one (`Task.broken`), or an earlier row has the same id, so that nobody
        knows which row a reply answers. If these are more than `BROKEN_SHARE` of the rows, they are problems, too: the
        data is not what it seems. Each task gets its row, if it has none.
        """
        tasks: dict[str, T] = {}
        problems: dict[int, str] = {}
        """Number of a row -> its problem."""
        duplicates: dict[int, str] = {}
        """Number of a row with the id of an earlier one -> a message."""
        broken: dict[str, list[tuple[str, str]]] = {}
        """Why rows are broken -> their positions and ids."""
        for number, row in enumerate(self.rows, 1):
            where = self.position_of(number)
            try:
                task = make(row)
            except ValueError as error:
                problems[number] = f"{where}: {error}"
                continue
            except KeyError as error:
                problems[number] = f"{where}: {_missing_column(error, row)}"
                continue
            if not task.row:
                task = msgspec.structs.replace(task, row=row)
            if task.id in tasks:
                task = msgspec.structs.replace(tasks[task.id], broken=_DUPLICATE, gold=None)
                duplicates[number] = f"{where}: {quoted(task.id)} is a duplicate: an earlier row has it"
            elif task.broken:
                broken.setdefault(task.broken, []).append((where, task.id))
            tasks[task.id] = task
        broken_rows = list(_broken_row_messages(broken))
        if len(duplicates) + len(broken_rows) > BROKEN_SHARE * len(self.rows):
            in_order_of_rows = [message for _, message in sorted((problems | duplicates).items())]
            return tasks, in_order_of_rows + broken_rows
        return tasks, list(problems.values())


def _missing_column(error: KeyError, row: Row) -> str:
    """Return the problem of a row without a column; raises the error again if it is about anything else."""
    name = error.args[0]
    if not isinstance(name, str) or name in row:
        raise error
    return f"no column {quoted(name)}; the columns are {column_list(list(row))}"


def _broken_row_messages(by_reason: Mapping[str, Sequence[tuple[str, str]]]) -> Iterator[str]:
    """Yield a message on each broken row. `by_reason`: why rows are broken -> their positions and ids.

    Rows with the same reason are named without their ids, so that `problem_lines` shows one line.
    """
    for reason, rows in by_reason.items():
        for where, qid in rows:
            yield f"{where}: {reason}" if len(rows) > 1 else f"{where}: {qid}: {reason}"


class DataTable(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of a file."""

    rows: list[Row]
    columns: list[str]
    """The names of all columns, wanted or not."""
    lines: list[int] = []
    """The first line of each row; empty if the file has no lines."""


class ColumnSet:
    """The set of columns to read: `columns` (None: all), without the column `image` (None: the data has none)."""

    def __init__(self, columns: Iterable[str] | None, image: str | None = None) -> None:
        self._columns = None if columns is None else set(columns)
        self._image = image

    def with_columns(self, *names: str) -> ColumnSet:
        """Return the set with more columns."""
        return self if self._columns is None else ColumnSet({*self._columns, *names}, self._image)

    def __contains__(self, name: object) -> bool:
        return name != self._image and (self._columns is None or name in self._columns)


ALL = ColumnSet(None)
"""Every column, the image too."""
