"""Loading of a benchmark's rows, from the hub or from a copy given with `--data`. Images are never read here."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader.data import checks as data_checks
from grader.data import fetch, hub
from grader.data.rows import Rows
from grader.data.tables import Row, Table, read_json, read_table
from grader.errors import DataUnavailableError, InputError, UsageError
from grader.files.json_text import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    import datasets

    from grader.benchmark import Benchmark, Split

__all__ = ["Row", "Rows", "Table", "Wanted", "load", "read"]


class Wanted:
    """The set of columns to read."""

    def __init__(self, columns: Iterable[str] | None, image: str | None) -> None:
        self._columns = None if columns is None else set(columns)
        self._image = image

    def __contains__(self, name: object) -> bool:
        return name != self._image and (self._columns is None or name in self._columns)


OwnRows = Callable[[Any, str, "Path | None"], "Rows | None"]
"""(Benchmark, split, path given with --data) -> rows in a scorer-specific format; None: not in that format."""


def rows_of(
    benchmark: Benchmark, split: str, protocol: str, given: Path | None, *, columns: Iterable[str] | None, own: OwnRows
) -> Rows:
    """Load the rows of a split, in a scorer-specific or a common format. Raises the same errors as `load`."""
    rows = own(benchmark, split, given)
    return load(benchmark, split, protocol, given, columns) if rows is None else rows


def load(benchmark: Benchmark, split: str, protocol: str, given: Path | None, columns: Iterable[str] | None) -> Rows:
    """Load the rows of a split. Raises InputError, DataUnavailableError.

    `columns` limits what is read, if the format allows it (None: all but the image). The caller checks for missing
    columns other than the id.
    """
    others = {other: name for name, other in benchmark.also_named.items()}
    wanted = Wanted(None if columns is None else [*columns, *others], benchmark.columns.image)
    table, origin, place = _found(benchmark, split, protocol, given, wanted)
    table = _renamed(table, {other: name for other, name in others.items() if name not in table.columns})
    kept = [{key: value for key, value in row.items() if key in wanted} for row in table.rows]
    digest = _digest(kept, benchmark.columns.without_weight())
    rows = Rows(rows=kept, origin=origin, digest=digest, place=place, lines=table.lines)
    data_checks.check(rows, table.columns, benchmark, split)
    return rows


def _renamed(table: Table, names: dict[str, str]) -> Table:
    """Return a table whose columns have the names of the declaration."""
    found = {other: name for other, name in names.items() if other in table.columns}
    if not found:
        return table
    rows = [{found.get(key, key): value for key, value in row.items()} for row in table.rows]
    return Table(rows=rows, columns=[found.get(name, name) for name in table.columns], lines=table.lines)


def _digest(rows: list[Row], without_weight: tuple[str, ...]) -> str:
    """Return a hash of all values that can change a score."""
    scored = [{key: value for key, value in row.items() if key not in without_weight} for row in rows]
    return hashlib.sha256(msgspec.json.encode(scored, order="sorted", enc_hook=str)).hexdigest()[:16]


def _found(
    benchmark: Benchmark, split: str, protocol: str, given: Path | None, wanted: Wanted
) -> tuple[Table, str, str]:
    """Return the rows, their origin, and the path for messages."""
    if given is not None:
        return read(given, wanted), given.name, str(given)
    place = benchmark.split(split)[1]
    if place.data:
        path = Path(benchmark.folder) / place.data
        return read(path, wanted), path.name, str(path)
    if place.hub:
        revision = benchmark.protocols[protocol].revision or place.revision
        origin = f"{place.hub}@{revision or 'latest'}"
        return _hub(benchmark, split, protocol, revision, wanted), origin, origin
    fetched = fetch.kept(benchmark, split)
    if fetched is not None:
        return read(fetched, wanted), place.url.rpartition("/")[2], str(fetched)
    way = f"Get it with `grade fetch {benchmark.id} --split {split}`, or give" if place.url else "Give"
    raise DataUnavailableError(
        f"The data of {benchmark.id} ({split}) is not on this machine. {way} a local copy with --data FILE."
    )


def read(path: Path, wanted: Wanted) -> Table:
    """Read JSON Lines, JSON, TSV, CSV, parquet, or a folder written by `datasets`. Raises InputError."""
    if path.is_dir():
        return _folder(path, wanted)
    if not path.is_file():
        raise UsageError(f"--data {path}: this file does not exist.")
    try:
        match path.suffix.lower():
            case ".jsonl" | ".ndjson":
                return read_json(path, lines=True)
            case ".json":
                return read_json(path, lines=False)
            case ".tsv":
                return read_table(path, "\t", wanted)
            case ".csv":
                return read_table(path, ",", wanted)
            case ".parquet":
                return _parquet([path], wanted)
            case _:
                raise UsageError(
                    f"--data {path}: unknown format; grade reads .jsonl, .json, .tsv, .csv, .parquet, or a folder "
                    "written by `datasets`."
                )
    except OSError as error:
        raise InputError([f"{path}: cannot be read: {error.strerror}"]) from error


def column_names(path: Path) -> list[str]:
    """Return the names of a table's columns, without its values if the format allows it. Raises errors of `read`."""
    return read(path, Wanted((), None)).columns


def _parquet(paths: list[Path], wanted: Wanted) -> Table:
    import pyarrow.parquet

    rows: list[Row] = []
    columns: dict[str, None] = {}
    for path in paths:
        if not path.stat().st_size:
            raise InputError([f"{path}: the file is empty"])
        try:
            file = pyarrow.parquet.ParquetFile(path)
            names = file.schema_arrow.names
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise InputError([f"{path}: the column {quoted(name)} is a duplicate" for name in twice])
            rows += file.read(columns=[name for name in names if name in wanted]).to_pylist()
        except (pyarrow.ArrowException, OSError) as error:
            raise InputError([f"{path}: not a parquet file ({error})"]) from error
        columns |= dict.fromkeys(names)
    return Table(rows=rows, columns=list(columns))


def _folder(path: Path, wanted: Wanted) -> Table:
    """Read a folder written by `datasets`, or a folder of parquet files."""
    parquet = sorted(path.glob("*.parquet"))
    if parquet:
        return _parquet(parquet, wanted)
    if not any((path / name).exists() for name in ("state.json", "dataset_dict.json")):
        raise InputError([f"{path}: neither a folder written by `datasets` nor one of parquet files"])
    import datasets

    try:
        loaded = datasets.load_from_disk(str(path))
    except (FileNotFoundError, OSError, ValueError) as error:
        raise InputError([f"{path}: {error}"]) from error
    if isinstance(loaded, datasets.DatasetDict):
        loaded = next(iter(loaded.values()))
    return _table(loaded, wanted)


def _table(loaded: datasets.Dataset, wanted: Wanted) -> Table:
    names = loaded.column_names
    return Table(rows=list(loaded.select_columns([n for n in names if n in wanted]).to_list()), columns=list(names))


def _hub(benchmark: Benchmark, split: str, protocol: str, revision: str, wanted: Wanted) -> Table:
    place = benchmark.split(split)[1]
    declared = benchmark.protocols[protocol]
    if declared.rows and not revision:
        raise DataUnavailableError(
            f"The revision of {place.hub} that protocol {protocol} used is not publicly recorded. "
            f"Give the {declared.rows} {benchmark.unit}s with --data FILE, "
            f"or set protocols.{protocol}.revision in a copy of {benchmark.id}/benchmark.toml and use -b FOLDER."
        )
    loaded = _loaded(place, split, revision)
    table = _table(loaded, wanted)
    expected = declared.rows or place.rows
    if expected and len(table.rows) != expected:
        raise DataUnavailableError(f"{place.hub}@{revision} has {len(table.rows)} rows; {protocol} has {expected}.")
    return table


def _loaded(place: Split, split: str, revision: str) -> datasets.Dataset:
    """Load a data set from the hub, or from its client's cache if the hub does not answer."""
    # The hub's client logs every try; the error below reports the failure once.
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")
    question = hub.Question()
    import datasets

    datasets.disable_progress_bars()
    answered = question.answered()
    try:
        with nullcontext() if answered else hub.offline():
            return datasets.load_dataset(
                place.hub, place.hub_config or None, split=place.hub_split or split, revision=revision or None
            )
    except Exception as error:
        silent = f"the hub ({hub.endpoint()}) did not answer in {hub.SECONDS:.0f} s, and it is not in the hub's cache"
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}" if answered else silent
        mirror = "" if answered else " HTTPS_PROXY names a proxy, HF_ENDPOINT a mirror of the hub."
        raise DataUnavailableError(
            f"The data set {place.hub} could not be loaded from the hub ({reason}).\n"
            f"Without a network, grade and infer with a local copy: --data FILE (.jsonl, .parquet, or a folder written "
            f"by `datasets`)."
            f"{mirror}"
        ) from error
