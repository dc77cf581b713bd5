"""The formats of data files, each read into a table: rows, their columns and first lines. Images are never read here.

A parser silently keeps the last one of duplicate columns or keys, so that a whole benchmark could be graded against
wrong answers. So duplicates are refused, as in prediction files.
"""

from __future__ import annotations

import codecs
import io
import re
from typing import TYPE_CHECKING, NoReturn

from grader.data.tables import ColumnSet, DataTable, Row
from grader.errors import InputError, UsageError
from grader.files.json_records import BLANK, JsonText, Problems
from grader.files.json_text import duplicate_columns, line_of, not_utf8_message, quoted
from grader.files.text_table import TableError, read_text_table
from grader.files.user_files import similar_file_hint, unpack_gzip
from grader.files.workbook import read_sheet

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

    import datasets

    from grader.files.text_table import Table


def read(path: Path, wanted: ColumnSet, split: str = "") -> DataTable:  # noqa: PLR0911 - one line a format
    """Read JSON Lines, JSON, TSV, CSV (also compressed by gzip), .xlsx, parquet, or a folder written by `datasets`.

    `wanted`: the columns to read, if the format allows to skip others. `split`: the one to read of a folder that has
    several. Raises InputError, UsageError.
    """
    if path.is_dir():
        return _read_folder(path, wanted, split)
    if not path.is_file():
        raise UsageError(f"--data {path}: this file does not exist{similar_file_hint(path) or '.'}")
    is_gzip = path.suffix.lower() == ".gz"
    try:
        match (path.with_suffix("") if is_gzip else path).suffix.lower():
            case ".jsonl" | ".ndjson":
                return _read_json(path, is_lines=True)
            case ".json":
                return _read_json(path, is_lines=False)
            case ".tsv":
                return _read_table(path, "\t", wanted)
            case ".csv":
                return _read_table(path, ",", wanted)
            case ".parquet":
                return _read_parquet([path], wanted)
            case ".xlsx":
                return _read_workbook(path)
            case _:
                raise UsageError(
                    f"--data {path}: unknown format; grade reads .jsonl, .json, .tsv, .csv (also with .gz), "
                    ".xlsx, .parquet, or a folder written by `datasets`."
                )
    except OSError as error:
        raise InputError([f"{path}: cannot be read: {error.strerror}"]) from error


def column_names(path: Path) -> list[str]:
    """Return the names of a table's columns, without its values if the format allows it. Raises errors of `read`."""
    return read(path, ColumnSet(())).columns


def _read_json(path: Path, *, is_lines: bool) -> DataTable:
    """Read JSON Lines, or one list of objects. Raises InputError."""
    raw = _bytes(path)
    data = raw.removeprefix(codecs.BOM_UTF8)
    if not data.strip(BLANK):
        _refuse_empty(path)
    problems = Problems(str(path))
    text = JsonText(data, problems, skipped=len(raw) - len(data))
    if not is_lines and not data.lstrip(BLANK).startswith(b"["):
        beginning = quoted(data.lstrip(BLANK)[:80].decode(errors="replace"), 20)
        raise InputError([f"{path}:1: $: begins with {beginning}; expected a list of objects"])
    rows: list[Row] = []
    first_lines: list[int] = []
    for entry in text.lines() if is_lines else text.array():
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


def _read_workbook(path: Path) -> DataTable:
    """Read the first sheet of a workbook that has more than one column. Raises InputError."""
    try:
        return _data_table(path, read_sheet(_bytes(path), lambda names: sum(map(bool, names)) > 1, "two columns"))
    except TableError as error:
        raise InputError([f"{path}:{error.line}: {error.message}"]) from error


def _read_table(path: Path, mark: str, wanted: Container[object]) -> DataTable:
    """Read a TSV or CSV, line by line, and only the wanted columns: nine tenths of MMBench's files are images.

    Raises InputError.
    """
    try:
        packed = path.suffix.lower() == ".gz"
        binary = io.BytesIO(_bytes(path)) if packed else path.open("rb")
        with io.TextIOWrapper(binary, encoding="utf-8-sig", newline="") as file:
            table = read_text_table(file, mark, wanted)
    except TableError as error:
        raise InputError([f"{path}:{error.line}: {error.message}"]) from error
    except UnicodeDecodeError:
        # The error only has the position in the reader's buffer, so the data is decoded again as a whole.
        data = _bytes(path)
        try:
            data.decode()
        except UnicodeDecodeError as error:
            message = not_utf8_message(error.start, data[error.start])
            raise InputError([f"{path}:{line_of(data, error.start)}: {message}"]) from error
        # The file has been changed meanwhile.
        raise
    if not table.header:
        _refuse_empty(path)
    return _data_table(path, table)


def _data_table(path: Path, table: Table) -> DataTable:
    if problems := duplicate_columns(table.header):
        raise InputError([f"{path}:1: {problem}" for problem in problems])
    columns = [name for name in table.header if name]
    return DataTable(rows=[row for _, row in table.rows], lines=[line for line, _ in table.rows], columns=columns)


def _refuse_empty(path: Path) -> NoReturn:
    raise InputError([f"{path}:1: the file is empty"])


def _read_parquet(paths: list[Path], wanted: ColumnSet) -> DataTable:
    import pyarrow.parquet

    rows: list[Row] = []
    columns: dict[str, None] = {}
    for path in paths:
        try:
            if not path.stat().st_size:
                raise InputError([f"{path}: the file is empty"])
            file = pyarrow.parquet.ParquetFile(path)
            names = file.schema_arrow.names
            if problems := duplicate_columns(names):
                raise InputError([f"{path}: {problem}" for problem in problems])
            rows += file.read(columns=[name for name in names if name in wanted]).to_pylist()
        # The last two: a text that is not UTF-8, a date that Python does not have.
        except (pyarrow.ArrowException, OSError, ValueError, OverflowError) as error:
            raise InputError([f"{path}: not a readable parquet file ({error})"]) from error
        columns |= dict.fromkeys(names)
    return DataTable(rows=rows, columns=list(columns))


def _read_folder(path: Path, wanted: ColumnSet, split: str) -> DataTable:
    """Read a folder written by `datasets`, or a folder of parquet files."""
    parquet = sorted(path.glob("*.parquet"))
    if parquet:
        return _read_parquet(_files_of_split(path, parquet, split), wanted)
    if not any((path / name).exists() for name in ("state.json", "dataset_dict.json")):
        patterns = ("*/*.parquet", "*/state.json", "*/dataset_dict.json")
        data_folders = sorted({str(file.parent) for pattern in patterns for file in path.glob(pattern)})
        hint = f"; did you mean {' or '.join(data_folders)}?" if data_folders else ""
        raise InputError([f"{path}: neither a folder written by `datasets` nor one of parquet files{hint}"])
    import datasets

    try:
        loaded = datasets.load_from_disk(str(path))
        if isinstance(loaded, datasets.DatasetDict):
            loaded = loaded[_choose_split(path, list(loaded), split)]
        return to_table(loaded, wanted)
    except InputError:
        raise
    except Exception as error:  # `datasets` raises anything at all on damaged folders: AttributeError, KeyError, ...
        raise InputError([f"{path}: not a folder written by `datasets` ({error})"]) from error


_SHARD = re.compile(r"-\d+-of-\d+(?:-[0-9a-f]+)?$")
"""The end of a shard's name on the hub: `test-00000-of-00001`, and until 2023 a hash behind it."""


def _files_of_split(folder: Path, files: list[Path], split: str) -> list[Path]:
    """Return the files of the split: `test.parquet`, or its shards as on the hub (`test-00000-of-00002.parquet`, ...).

    If no file has the split's name, and some are not shards, names tell no splits: the files are parts of one table.
    """
    by_split: dict[str, list[Path]] = {}
    for file in files:
        by_split.setdefault(_SHARD.sub("", file.stem), []).append(file)
    all_are_shards = all(_SHARD.search(file.stem) for file in files)
    if split in by_split or all_are_shards:
        return by_split[_choose_split(folder, list(by_split), split)]
    return files


def _choose_split(folder: Path, names: list[str], split: str) -> str:
    """Return the name of the wanted split, or of the only one. Raises InputError."""
    if not names:
        raise InputError([f"{folder}: the folder has no split"])
    if split in names or len(names) == 1:
        return split if split in names else names[0]
    raise InputError([f"{folder}: the folder has the splits {', '.join(names)}, but not {split}"])


def to_table(loaded: datasets.Dataset, wanted: ColumnSet) -> DataTable:
    """Return the wanted columns of a data set of the hub's client."""
    names = [name for name in loaded.column_names if name in wanted]
    rows = loaded.select_columns(names).to_list() if names else [{} for _ in range(len(loaded))]
    return DataTable(rows=rows, columns=list(loaded.column_names))
