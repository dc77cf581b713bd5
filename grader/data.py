"""A benchmark's rows: from the hub, or from a copy given with `--data`. Images are never read here."""

from __future__ import annotations

import csv
import hashlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader import fetch
from grader.errors import DataUnavailableError, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.benchmark import Benchmark

Row = dict[str, Any]


class Wanted:
    """Which columns to read."""

    def __init__(self, columns: Iterable[str] | None, image: str | None) -> None:
        self._columns = None if columns is None else set(columns)
        self._image = image

    def __contains__(self, name: object) -> bool:
        return name != self._image and (self._columns is None or name in self._columns)


class Rows(msgspec.Struct, frozen=True, kw_only=True):
    """Rows and where they came from."""

    rows: list[Row]
    origin: str
    """For people and reports: the file's name, or hub id and revision."""
    digest: str
    """A hash of the columns used; two runs are comparable only where it is the same."""


def load(benchmark: Benchmark, split: str, protocol: str, given: Path | None, columns: Iterable[str] | None) -> Rows:
    """Load the rows of a split; raises InputError, DataUnavailableError.

    `columns` limits what is read where the format allows it (None: all but the image). Missing columns are the
    caller's to judge.
    """
    wanted = Wanted(columns, benchmark.columns.image)
    if given is not None:
        rows, origin = read(given, wanted), given.name
    else:
        rows, origin = _declared(benchmark, split, protocol, wanted)
    kept = [{key: value for key, value in row.items() if key in wanted} for row in rows]
    digest = hashlib.sha256(msgspec.json.encode(kept, order="sorted", enc_hook=str)).hexdigest()[:16]
    return Rows(rows=kept, origin=origin, digest=digest)


def _declared(benchmark: Benchmark, split: str, protocol: str, wanted: Wanted) -> tuple[list[Row], str]:
    place = benchmark.split(split)[1]
    if place.data:
        path = Path(benchmark.folder) / place.data
        return read(path, wanted), path.name
    if place.hub:
        revision = benchmark.protocols[protocol].revision or place.revision
        return _hub(benchmark, split, protocol, revision, wanted), f"{place.hub}@{revision or 'latest'}"
    fetched = fetch.kept(benchmark, split)
    if fetched is not None:
        return read(fetched, wanted), place.url.rpartition("/")[2]
    way = f"Get it with `grade fetch {benchmark.id} --split {split}`, or give" if place.url else "Give"
    raise DataUnavailableError(
        f"The data of {benchmark.id} ({split}) is not here. {way} a local copy with --data FILE."
    )


def read(path: Path, wanted: Wanted) -> list[Row]:
    """Read JSON Lines, JSON, TSV, CSV, parquet, or a folder written by `datasets`; raises InputError."""
    if path.is_dir():
        return _folder(path, wanted)
    if not path.is_file():
        raise UsageError(f"--data {path}: there is no such file.")
    suffix = path.suffix.lower()
    try:
        match suffix:
            case ".jsonl" | ".ndjson":
                return _json_lines(path)
            case ".json":
                return _json(path)
            case ".tsv" | ".csv":
                return _table(path, "\t" if suffix == ".tsv" else ",", wanted)
            case ".parquet":
                return _parquet([path], wanted)
            case _:
                raise UsageError(
                    f"--data {path.name}: not a format grade reads (.jsonl, .json, .tsv, .csv, .parquet, or a folder "
                    "written by `datasets`)."
                )
    except UnicodeDecodeError as error:
        raise InputError([f"{path.name}: not UTF-8 at byte {error.start}"]) from error


def _json_lines(path: Path) -> list[Row]:
    decoder = msgspec.json.Decoder(Row)
    rows, problems = [], []
    for number, line in enumerate(path.read_bytes().removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if line.strip():
            try:
                rows.append(decoder.decode(line))
            except msgspec.DecodeError as error:
                problems.append(f"{path.name}:{number}: {error}")
    if problems:
        raise InputError(problems[:20])
    return rows


def _json(path: Path) -> list[Row]:
    try:
        return msgspec.json.decode(path.read_bytes().removeprefix(b"\xef\xbb\xbf"), type=list[Row])
    except msgspec.DecodeError as error:
        raise InputError([f"{path.name}: {error}; expected a list of objects"]) from error


def _table(path: Path, delimiter: str, wanted: Wanted) -> list[Row]:
    """Read a table. Cells are text as they stand: "None", "NA" and "nan" are options, an empty cell is None.

    Line by line, and only the wanted columns: nine tenths of MMBench's files are images.
    """
    csv.field_size_limit(min(sys.maxsize, (1 << 31) - 1))
    rows: list[Row] = []
    problems: list[str] = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        header = next(reader, None)
        if not header:
            raise InputError([f"{path.name}: empty"])
        columns = [(place, name) for place, name in enumerate(header) if name in wanted]
        try:
            for cells in reader:
                if len(cells) > len(header):
                    problems.append(f"{path.name}:{reader.line_num}: {len(cells)} cells, the header has {len(header)}")
                if cells:
                    rows.append({name: (cells[at] if at < len(cells) else "") or None for at, name in columns})
        except csv.Error as error:
            problems.append(f"{path.name}:{reader.line_num}: {error}")
    if problems:
        raise InputError(problems[:20])
    return rows


def _parquet(paths: list[Path], wanted: Wanted) -> list[Row]:
    import pyarrow.parquet

    rows: list[Row] = []
    for path in paths:
        try:
            file = pyarrow.parquet.ParquetFile(path)
            present = [name for name in file.schema_arrow.names if name in wanted]
            rows += file.read(columns=present).to_pylist()
        except (pyarrow.ArrowException, OSError) as error:
            raise InputError([f"{path.name}: not a parquet file ({error})"]) from error
    return rows


def _folder(path: Path, wanted: Wanted) -> list[Row]:
    """Read a folder: one written by `datasets`, or one of parquet files."""
    parquet = sorted(path.glob("*.parquet"))
    if parquet:
        return _parquet(parquet, wanted)
    if not any((path / name).exists() for name in ("state.json", "dataset_dict.json")):
        raise InputError([f"{path.name}: neither a folder written by `datasets` nor one of parquet files"])
    import datasets

    try:
        loaded = datasets.load_from_disk(str(path))
    except (FileNotFoundError, OSError, ValueError) as error:
        raise InputError([f"{path.name}: {error}"]) from error
    if isinstance(loaded, datasets.DatasetDict):
        loaded = next(iter(loaded.values()))
    return list(loaded.select_columns([n for n in loaded.column_names if n in wanted]).to_list())


def _hub(benchmark: Benchmark, split: str, protocol: str, revision: str, wanted: Wanted) -> list[Row]:
    place = benchmark.split(split)[1]
    declared = benchmark.protocols[protocol]
    if declared.rows and not revision:
        raise DataUnavailableError(
            f"The revision of {place.hub} that protocol {protocol} was made with is not publicly recorded. "
            f"Give the {declared.rows} {benchmark.unit}s with --data FILE, "
            f"or set protocols.{protocol}.revision in a copy of {benchmark.id}/benchmark.toml and use -b FOLDER."
        )
    # The hub's client says all it tries before it gives up; our error says it once.
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")
    import datasets

    datasets.disable_progress_bars()
    try:
        loaded = datasets.load_dataset(
            place.hub, place.hub_config or None, split=place.hub_split or split, revision=revision or None
        )
    except Exception as error:
        raise DataUnavailableError(
            f"The data set {place.hub} could not be loaded from the hub ({type(error).__name__}: "
            f"{' '.join(str(error).split())[:200]}).\nWithout a network, give a local copy: --data FILE "
            "(.jsonl, .parquet, or a folder written by `datasets`)."
        ) from error
    rows = list(loaded.select_columns([n for n in loaded.column_names if n in wanted]).to_list())
    expected = declared.rows or place.rows
    if expected and len(rows) != expected:
        raise DataUnavailableError(f"{place.hub}@{revision} has {len(rows)} rows; {protocol} has {expected}.")
    return rows
