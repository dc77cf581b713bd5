"""Rows from text files (JSON Lines, JSON, TSV, CSV), each with its first line, and their origin.

A parser silently keeps the last one of duplicate columns or keys, so that a whole benchmark could be graded against
wrong answers. So duplicates are refused, as in prediction files.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import msgspec

from grader.errors import InputError
from grader.files.json_records import BLANK, JsonText, Problems
from grader.files.json_text import cell_text, line_of, problem_lines, quoted
from grader.files.user_files import unpack_gzip
from grader.files.workbook import WorkbookError, read_sheet

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
    """For users and reports: the file's name, or hub id and revision."""
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
    used: Container[str] | None = None
    """The columns that scoring uses; None: all that were read."""

    def scoring_rows(self) -> Rows:
        """Return the rows with only what scoring uses, so that a result cannot depend on what else was read."""
        if self.used is None:
            return self
        rows = [{name: value for name, value in row.items() if name in self.used} for row in self.rows]
        return msgspec.structs.replace(self, rows=rows)

    @property
    def is_table(self) -> bool:
        """Whether the file has only texts in its cells: a list can only be written as a text."""
        return Path(self.place or self.origin).suffix.lower() in {".csv", ".tsv", ".xlsx"}

    def where(self, number: int) -> str:
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
        """Return the tasks that `make` returns, by id, and the problems of rows whose `make` raises ValueError.

        `row[name]` of a column that is missing is such a problem, too. Each task gets its row, if it has none.
        A row that is broken stops only itself: `make` returns a task that says why (`Task.broken`). Of several rows
        with one id, nobody knows which a reply answers. Many broken rows are problems: the data is not what it seems.
        """
        tasks: dict[str, T] = {}
        problems: list[str] = []
        duplicates: list[str] = []
        """Those of the problems that stop only their rows. Two can be the same text: a line may have several rows."""
        broken: dict[str, list[tuple[str, str]]] = {}
        """Why rows are broken -> their positions and ids."""
        for number, row in enumerate(self.rows, 1):
            where = self.where(number)
            try:
                task = make(row)
            except ValueError as error:
                problems.append(f"{where}: {error}")
                continue
            except KeyError as error:
                problems.append(f"{where}: {_missing_column(error, row)}")
                continue
            if not task.row:
                task = msgspec.structs.replace(task, row=row)
            if task.id in tasks:
                task = msgspec.structs.replace(tasks[task.id], broken=_DUPLICATE, gold=None)
                problems.append(f"{where}: {quoted(task.id)} is a duplicate: an earlier row has it")
                duplicates.append(problems[-1])
            elif task.broken:
                broken.setdefault(task.broken, []).append((where, task.id))
            tasks[task.id] = task
        broken_rows = list(_broken_rows(broken))
        if len(duplicates) + len(broken_rows) > BROKEN_SHARE * len(self.rows):
            return tasks, problems + broken_rows
        harmless = set(duplicates)
        return tasks, [problem for problem in problems if problem not in harmless]


def _missing_column(error: KeyError, row: Row) -> str:
    """Return the problem of a row without a column; raises the error again if it is about anything else."""
    name = error.args[0]
    if not isinstance(name, str) or name in row:
        raise error
    return f"no column {quoted(name)}; the columns are {column_list(list(row))}"


def _broken_rows(positions: Mapping[str, Sequence[tuple[str, str]]]) -> Iterator[str]:
    """Yield a line for each broken row: with its id if no other row has the reason, as equal lines are shown as one."""
    for reason, rows in positions.items():
        for where, qid in rows:
            yield f"{where}: {reason}" if len(rows) > 1 else f"{where}: {qid}: {reason}"


_BOM = b"\xef\xbb\xbf"


class DataTable(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of a file."""

    rows: list[Row]
    columns: list[str]
    """The names of all columns, wanted or not."""
    lines: list[int] = []
    """The first line of each row; empty if the file has no lines."""


def read_json(path: Path, *, lines: bool) -> DataTable:
    """Read JSON Lines, or one list of objects. Raises InputError."""
    raw = _bytes(path)
    data = raw.removeprefix(_BOM)
    if not data.strip(BLANK):
        _refuse_empty(path)
    problems = Problems(str(path))
    text = JsonText(data, problems, skipped=len(raw) - len(data))
    if not lines and not data.lstrip(BLANK).startswith(b"["):
        begins = quoted(data.lstrip(BLANK)[:80].decode(errors="replace"), 20)
        raise InputError([f"{path}:1: $: begins with {begins}; expected a list of objects"])
    rows: list[Row] = []
    first_lines: list[int] = []
    for entry in text.lines() if lines else text.array():
        if isinstance(entry.value, dict):
            rows.append(entry.value)
            first_lines.append(entry.line)
        else:
            problems.add("expected an object", entry.line, entry.path)
    for line in text.surrogate_lines:
        problems.add("a lone surrogate (an escape such as \\ud83d without its other half)", line)
    if problems.messages:
        raise InputError(problems.lines())
    if b"NaN" in data:  # pandas writes NaN for an empty cell
        rows = [{name: None if value != value else value for name, value in row.items()} for row in rows]  # noqa: PLR0124
    return DataTable(rows=rows, lines=first_lines, columns=list(dict.fromkeys(name for row in rows for name in row)))


def _bytes(path: Path) -> bytes:
    try:
        return unpack_gzip(path.read_bytes())
    except ValueError as error:
        raise InputError([f"{path}: {error}"]) from error


def read_workbook(path: Path) -> DataTable:
    """Read the first sheet of a workbook that has more than one column. Raises InputError."""
    try:
        sheet = read_sheet(_bytes(path), lambda names: sum(map(bool, names)) > 1, "two columns")
    except WorkbookError as error:
        raise InputError([f"{path}:{error.row}: {error.message}"]) from error
    columns = [name for name in sheet.header if name]
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise InputError([f"{path}:1: the column {quoted(name)} is a duplicate" for name in twice])
    return DataTable(rows=[row for _, row in sheet.rows], lines=[number for number, _ in sheet.rows], columns=columns)


def read_table(path: Path, delimiter: str, wanted: Container[object]) -> DataTable:
    """Read a TSV or CSV. Cells are unchanged text ("None", "NA" and "nan" can be options); an empty cell is None.

    It is read line by line, and only the wanted columns: nine tenths of MMBench's files are images. Raises InputError.
    """
    try:
        packed = path.suffix.lower() == ".gz"
        binary = io.BytesIO(_bytes(path)) if packed else path.open("rb")
        with io.TextIOWrapper(binary, encoding="utf-8-sig", newline="") as file:
            return _TableReader(path, file, delimiter).table(wanted)
    except UnicodeDecodeError:
        # The error only has the position in the reader's buffer.
        data = _bytes(path)
        try:
            data.decode()
        except UnicodeDecodeError as error:
            position = f"{path}:{line_of(data, error.start)}"
            raise InputError([f"{position}: not UTF-8 (0x{data[error.start]:02x}, byte {error.start})"]) from error
        raise


class _TableReader:
    """A reader of one table that knows the first line of each row, and the text of the last row."""

    def __init__(self, path: Path, file: Iterable[str], delimiter: str) -> None:
        csv.field_size_limit(min(sys.maxsize, (1 << 31) - 1))
        self._path, self._file, self._delimiter = path, file, delimiter
        self._text: list[str] = []
        self._line = self._end = 1
        """The first and the last line of the row."""
        self._problems: list[str] = []

    def table(self, wanted: Container[object]) -> DataTable:
        """Return the table. Raises InputError."""
        reader = csv.reader(self._lines(), delimiter=self._delimiter)
        rows: list[Row] = []
        lines: list[int] = []
        header: list[str] = []
        try:
            header = self._header(next(reader, None))
            columns = [(index, name) for index, name in enumerate(header) if name in wanted]
            for cells in self._body_rows(reader):
                spans_lines = self._end > self._line
                if len(cells) > len(header) or (spans_lines and len(cells) < len(header)):
                    hint = f"; it ends on line {self._end}: is a quote opened and not closed?" if spans_lines else ""
                    self._add_problem(f"{len(cells)} cells, the header has {len(header)}{hint}")
                if cells:
                    rows.append({name: (cells[i] if i < len(cells) else "") or None for i, name in columns})
                    lines.append(self._line)
        except csv.Error as error:
            self._add_problem(str(error))
        if self._problems:
            raise InputError(problem_lines(self._problems))
        return DataTable(rows=rows, lines=lines, columns=header)

    def _lines(self) -> Iterator[str]:
        """Yield the lines, and keep those of the row that is being read: its position is found by their number."""
        for line in self._file:
            self._text.append(line)
            yield line

    def _body_rows(self, reader: Iterable[list[str]]) -> Iterator[list[str]]:
        """Yield the cells of each row below the header, and note its lines in `_line` and `_end`.

        If the last row ends inside of quotes, this is the one problem that is reported about it.
        """
        last: list[str] = []
        line = self._line + len(self._text)
        self._text.clear()
        for cells in reader:
            last = self._text.copy()
            self._text.clear()
            self._line, self._end = line, line + len(last) - 1
            line += len(last)
            yield cells
        if last and self._is_open(last):
            position = f"{self._path}:{self._line}: "  # other problems of this row are consequences of the quote
            self._problems = [problem for problem in self._problems if not problem.startswith(position)]
            self._add_problem("a quote is opened here and never closed, so that the rest of the file is one cell")

    def _is_open(self, lines: list[str]) -> bool:
        """Return whether a row ends within quotes: then a delimiter appended to it starts no new cell."""
        text = "".join(lines).rstrip("\r\n")
        plain, longer = (next(csv.reader([t], delimiter=self._delimiter), []) for t in (text, text + self._delimiter))
        return bool(text) and longer != [*plain, ""]

    def _header(self, header: list[str] | None) -> list[str]:
        """Return the column names, of which no two are equal; raises InputError for a line that cannot be a header."""
        if header is None:
            _refuse_empty(self._path)
        if not any(header):
            self._refuse("the line is blank, but should name the columns")
        if self._is_open(self._text):
            self._refuse("a quote is opened in the names of the columns and never closed")
        if len(self._text) > 1:
            self._refuse(f"the names of the columns end on line {len(self._text)}: is a quote opened and not closed?")
        for name in dict.fromkeys(header):
            numbers = [str(number) for number, other in enumerate(header, 1) if other == name]
            if name and len(numbers) > 1:
                columns = f"columns {' and '.join(numbers)} have this name"
                self._add_problem(f"the column {quoted(name)} is a duplicate: {columns}")
        return header

    def _add_problem(self, problem: str) -> None:
        self._problems.append(f"{self._path}:{self._line}: {problem}")

    def _refuse(self, problem: str) -> NoReturn:
        raise InputError([f"{self._path}:{self._line}: {problem}"])


def _refuse_empty(path: Path) -> NoReturn:
    raise InputError([f"{path}:1: the file is empty"])
