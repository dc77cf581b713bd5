"""Loading of a benchmark's rows: from the hub, from fetched files, or from a copy given with `--data`."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.data import answers, download
from grader.data.checks import check_rows, rows_of_split
from grader.data.formats import read
from grader.data.hub import read_hub
from grader.data.tables import ColumnSet, DataTable, Row, Rows
from grader.errors import DataUnavailableError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.benchmark import Benchmark


def load(
    benchmark: Benchmark,
    split: str,
    protocol: str,
    data_path: Path | None,
    scoring_names: Iterable[str] | None,
    *,
    wanted: ColumnSet | None = None,
) -> Rows:
    """Load the rows of a split and a protocol that the benchmark has. Raises InputError, DataUnavailableError.

    `data_path`: the copy of `--data`. `scoring_names`: the columns that scoring uses (None: all but the image); the
    digest covers their values. `wanted`: the columns that the returned rows have (None: those that scoring uses). A
    missing column is an error here only if nothing can be scored without it.
    """
    scoring_columns = _scoring_columns(benchmark, scoring_names)
    row_columns = wanted or scoring_columns
    declared_answers = benchmark.splits[split].answers
    answer_key = None if declared_answers is None else declared_answers.key
    columns_to_read = row_columns.with_columns(*filter(None, (answer_key, benchmark.columns.split)))
    table, origin, place = _read_source(benchmark, split, protocol, data_path, columns_to_read)
    table = answers.fill_answers(table, benchmark, split, data_path)
    table = rows_of_split(_with_declared_names(table, benchmark), benchmark, split, place)
    rows = [{name: value for name, value in row.items() if name in row_columns} for row in table.rows]
    loaded = Rows(
        rows=rows,
        origin=origin,
        digest=_digest(rows, scoring_columns, benchmark),
        place=place,
        columns=table.columns,
        lines=table.lines,
        used=None if wanted is None else scoring_columns,
    )
    check_rows(loaded, benchmark, split)
    return loaded


def _scoring_columns(benchmark: Benchmark, names: Iterable[str] | None) -> ColumnSet:
    """Return the set of these columns, under all their names, and of the date, by which options select rows."""
    if names is not None:
        date = benchmark.columns.date
        names = [*names, *benchmark.also_named.values(), *([] if date is None else [date])]
    return ColumnSet(names, benchmark.columns.image)


def _with_declared_names(table: DataTable, benchmark: Benchmark) -> DataTable:
    """Return a table whose columns have the names of the declaration; one that has both names keeps them."""
    renames = {other: name for name, other in benchmark.also_named.items() if name not in table.columns}
    if not any(name in renames for name in table.columns):
        return table
    rows = [{renames.get(name, name): value for name, value in row.items()} for row in table.rows]
    return DataTable(rows=rows, columns=[renames.get(name, name) for name in table.columns], lines=table.lines)


def _digest(rows: list[Row], scoring_columns: ColumnSet, benchmark: Benchmark) -> str:
    """Return a hash of all values that can change a score. A date changes none: it only selects rows."""
    ignored = {*benchmark.columns.without_effect(), benchmark.columns.date}
    values = [
        {name: value for name, value in row.items() if name in scoring_columns and name not in ignored} for row in rows
    ]
    return hashlib.sha256(msgspec.json.encode(values, order="sorted", enc_hook=str)).hexdigest()[:16]


def _read_source(
    benchmark: Benchmark, split: str, protocol: str, data_path: Path | None, wanted: ColumnSet
) -> tuple[DataTable, str, str]:
    """Return the rows, and their `Rows.origin` and `Rows.place`. A local file has priority over the hub."""
    source = benchmark.splits[split]
    is_local = data_path is not None or bool(source.data)
    if source.hub and not is_local:
        revision = benchmark.protocols[protocol].revision or source.revision
        origin = f"{source.hub}@{revision or 'latest'}"
        return read_hub(benchmark, split, protocol, revision, wanted), origin, origin
    path = data_path or _declared_file(benchmark, split)
    # In the cache, a fetched file has another name.
    origin = path.name if is_local else source.url.rpartition("/")[2] or source.files_url
    return read(path, wanted, source.hub_split or split), origin, str(path)


def _declared_file(benchmark: Benchmark, split: str) -> Path:
    """Return the file beside the declaration, or the fetched one. Raises InputError, DataUnavailableError."""
    source = benchmark.splits[split]
    if source.data:
        path = Path(benchmark.folder) / source.data
        if not path.exists():
            declaration = Path(benchmark.folder) / "benchmark.toml"
            raise InputError([f"{declaration}: the data of split {split} are missing: there is no {path}"])
        return path
    fetched_file = download.fetched_path(benchmark, split)
    if fetched_file is not None:
        return fetched_file
    fetch = f"Get it with `grade fetch {benchmark.id_or_folder} --split {split}`, or give"
    way = fetch if download.has_address(source) else "Give"
    raise DataUnavailableError(
        f"The data of {benchmark.id} ({split}) is not on this machine. {way} a local copy with --data FILE."
    )
