"""Loading of a benchmark's rows, from the hub or from a copy given with `--data`. Images are never read here."""

from __future__ import annotations

import hashlib
import os
import threading
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader.data import answers, download
from grader.data import checks as data_checks
from grader.data.tables import DataTable, Row, Rows, read_json, read_table, read_workbook
from grader.errors import DataUnavailableError, InputError, UsageError
from grader.files.json_text import quoted
from grader.files.user_files import similar_file_hint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import datasets

    from grader.benchmark import Benchmark, Split

SECONDS = 3.0
"""Time for the hub to answer. Its own client tries silently for half a minute."""
_OFFLINE = "HF_HUB_OFFLINE"


def endpoint() -> str:
    """Return the address of the hub, or of the configured mirror."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


class HubRequest:
    """A request to the hub in the background, so that its client can be imported meanwhile."""

    def __init__(self) -> None:
        self._answered = False
        # A name lookup can take longer than the request's timeout, so the thread is a daemon.
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def is_answered(self) -> bool:
        """Return whether there was an answer in time."""
        self._thread.join(SECONDS)
        return self._answered

    def _ask(self) -> None:
        import requests

        try:
            requests.head(endpoint(), timeout=SECONDS, allow_redirects=False)
        except (requests.RequestException, OSError, ValueError):
            return
        self._answered = True


@contextmanager
def offline() -> Iterator[None]:
    """Make the hub's clients use only their caches."""
    import datasets.config
    from huggingface_hub import constants

    modules: list[Any] = [constants, datasets.config]
    values_before = [getattr(module, _OFFLINE) for module in modules]
    for module in modules:
        setattr(module, _OFFLINE, True)
    try:
        yield
    finally:
        for module, value in zip(modules, values_before, strict=True):
            setattr(module, _OFFLINE, value)


class ColumnSet:
    """The set of columns to read."""

    def __init__(self, columns: Iterable[str] | None, image: str | None = None) -> None:
        self._columns = None if columns is None else set(columns)
        self._image = image

    def plus(self, *names: str) -> ColumnSet:
        """Return the set with more columns."""
        return self if self._columns is None else ColumnSet({*self._columns, *names}, self._image)

    def __contains__(self, name: object) -> bool:
        return name != self._image and (self._columns is None or name in self._columns)


ALL = ColumnSet(None)
"""Every column, the image too."""


def load(
    benchmark: Benchmark,
    split: str,
    protocol: str,
    data_path: Path | None,
    columns: Iterable[str] | None,
    *,
    wanted: ColumnSet | None = None,
) -> Rows:
    """Load the rows of a split. Raises InputError, DataUnavailableError.

    `data_path`: the copy of `--data`. `columns`: those that scoring uses, whose values the digest covers (None: all but
    the image). `wanted`: those to read, if the format allows to read a part (None: the same as `columns`). The caller
    checks for missing columns other than the id.
    """
    others = {other: name for name, other in benchmark.also_named.items()}
    date = [benchmark.columns.date] if benchmark.columns.date is not None else []
    scored = ColumnSet(None if columns is None else [*columns, *others, *date], benchmark.columns.image)
    wanted = wanted or scored
    declared = benchmark.splits[split].answers
    with_key = wanted.plus(declared.key) if declared is not None else wanted
    table, origin, place = _read_source(benchmark, split, protocol, data_path, with_key)
    table = answers.fill_answers(table, benchmark, split, data_path)
    table = _with_declared_names(table, {other: name for other, name in others.items() if name not in table.columns})
    wanted_rows = [{key: value for key, value in row.items() if key in wanted} for row in table.rows]
    digest = _digest(wanted_rows, scored, (*benchmark.columns.without_weight(), *date))
    rows = Rows(
        rows=wanted_rows,
        origin=origin,
        digest=digest,
        place=place,
        columns=table.columns,
        lines=table.lines,
        used=None if wanted is scored else scored,
    )
    data_checks.check_rows(rows, table.columns, benchmark, split)
    return rows


def _with_declared_names(table: DataTable, names: dict[str, str]) -> DataTable:
    """Return a table whose columns have the names of the declaration."""
    renames = {other: name for other, name in names.items() if other in table.columns}
    if not renames:
        return table
    rows = [{renames.get(key, key): value for key, value in row.items()} for row in table.rows]
    return DataTable(rows=rows, columns=[renames.get(name, name) for name in table.columns], lines=table.lines)


def _digest(rows: list[Row], scored: ColumnSet, without_weight: tuple[str, ...]) -> str:
    """Return a hash of all values that can change a score."""
    values = [{key: value for key, value in row.items() if key in scored and key not in without_weight} for row in rows]
    return hashlib.sha256(msgspec.json.encode(values, order="sorted", enc_hook=str)).hexdigest()[:16]


def _read_source(
    benchmark: Benchmark, split: str, protocol: str, data_path: Path | None, wanted: ColumnSet
) -> tuple[DataTable, str, str]:
    """Return the rows, their origin, and the path for messages."""
    if data_path is not None:
        return read(data_path, wanted), data_path.name, str(data_path)
    source = benchmark.split(split)[1]
    if source.data:
        path = Path(benchmark.folder) / source.data
        if not path.exists():
            declaration = Path(benchmark.folder) / "benchmark.toml"
            raise InputError([f"{declaration}: the data of split {split} are missing: there is no {path}"])
        return read(path, wanted), path.name, str(path)
    if source.hub:
        revision = benchmark.protocols[benchmark.check_protocol(protocol)].revision or source.revision
        origin = f"{source.hub}@{revision or 'latest'}"
        return _read_hub(benchmark, split, protocol, revision, wanted), origin, origin
    fetched_file = download.fetched_path(benchmark, split)
    if fetched_file is not None:
        return read(fetched_file, wanted), source.url.rpartition("/")[2], str(fetched_file)
    way = f"Get it with `grade fetch {benchmark.id} --split {split}`, or give" if source.url else "Give"
    raise DataUnavailableError(
        f"The data of {benchmark.id} ({split}) is not on this machine. {way} a local copy with --data FILE."
    )


def read(path: Path, wanted: ColumnSet) -> DataTable:  # noqa: PLR0911 - one line a format
    """Read JSON Lines, JSON, TSV, CSV (also compressed by gzip), .xlsx, parquet, or a folder written by `datasets`.

    Raises InputError, UsageError.
    """
    if path.is_dir():
        return _folder(path, wanted)
    if not path.is_file():
        raise UsageError(f"--data {path}: this file does not exist{similar_file_hint(path) or '.'}")
    try:
        match path.with_suffix("").suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower():
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
            case ".xlsx":
                return read_workbook(path)
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


def _parquet(paths: list[Path], wanted: ColumnSet) -> DataTable:
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
    return DataTable(rows=rows, columns=list(columns))


def _folder(path: Path, wanted: ColumnSet) -> DataTable:
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
    return _to_table(loaded, wanted)


def _to_table(loaded: datasets.Dataset, wanted: ColumnSet) -> DataTable:
    names = loaded.column_names
    return DataTable(rows=list(loaded.select_columns([n for n in names if n in wanted]).to_list()), columns=list(names))


def _read_hub(benchmark: Benchmark, split: str, protocol: str, revision: str, wanted: ColumnSet) -> DataTable:
    """Load a split from the hub; raises DataUnavailableError, also for another number of rows than declared."""
    source = benchmark.split(split)[1]
    declared = benchmark.protocols[protocol]
    if declared.rows and not revision:
        raise DataUnavailableError(
            f"The revision of {source.hub} that protocol {protocol} used is not publicly recorded. "
            f"Give the {declared.rows} {benchmark.unit}s with --data FILE, "
            f"or set protocols.{protocol}.revision in a copy of {benchmark.id}/benchmark.toml and use -b FOLDER."
        )
    loaded = _load_from_hub(source, split, revision)
    table = _to_table(loaded, wanted)
    expected = declared.rows or source.rows
    if expected and len(table.rows) != expected:
        raise DataUnavailableError(f"{source.hub}@{revision} has {len(table.rows)} rows; {protocol} has {expected}.")
    return table


def _load_from_hub(source: Split, split: str, revision: str) -> datasets.Dataset:
    """Load a data set from the hub, or from its client's cache if the hub does not answer."""
    # The hub's client logs every try; the error below reports the failure once.
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")
    request = HubRequest()
    import datasets

    datasets.disable_progress_bars()
    is_answered = request.is_answered()
    try:
        with nullcontext() if is_answered else offline():
            return datasets.load_dataset(
                source.hub, source.hub_config or None, split=source.hub_split or split, revision=revision or None
            )
    except Exception as error:
        silent = f"the hub ({endpoint()}) did not answer within {SECONDS:.0f} s, and its cache does not have them"
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}" if is_answered else silent
        mirror = "" if is_answered else " HTTPS_PROXY names a proxy, HF_ENDPOINT a mirror of the hub."
        raise DataUnavailableError(
            f"The data of {source.hub} could not be loaded: {reason.removesuffix('.')}.\n"
            "Without a network, give a local copy with --data FILE: .jsonl, .parquet, or a folder written by "
            f"`datasets`.{mirror}"
        ) from error
