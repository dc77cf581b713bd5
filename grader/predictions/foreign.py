"""Prediction files that other tools wrote, recognised by what is in them.

- VLMEvalKit result tables (`.xlsx`, `.tsv`, or a JSON list of row objects): columns `index` and `prediction`.
- lmms-eval sample logs (`*_samples_*.jsonl`): `doc_id` with `resps` or `filtered_resps`.
- Mr-Ben's own scored results, which carry questions, answers and judgements together.
"""

from __future__ import annotations

import csv
import io
import math
import re
import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from grader.files.json_location import Flaw, quoted
from grader.predictions.record import RawRecord, Row

if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Iterator

ForeignFormat = Literal["vlmevalkit", "lmms-eval"]

EXCEL_CELL_LIMIT = 32767
"""Characters; Excel writers cut or drop what is longer."""
_UNPACKED_LIMIT = 2 << 30
"""Bytes that a workbook may unpack to: a few kilobytes of zip can claim terabytes."""
_COLUMNS = ("index", "prediction")
_EVALUATION = "Evaluation_Result"
_QID_FIELDS = ("question_id", "index", "qid")
_WHOLE_FLOAT = re.compile(r"([0-9]+)\.0+")
_EXCEL_CONTROL = re.compile(r"_x00([01][0-9A-Fa-f])_")
_NESTED_TEXTS = 2
"""`resps` is [[text]] or [text] or text; deeper lists are log-likelihood pairs."""


class TableRow(NamedTuple):
    """One row of a table: the line (or spreadsheet row) it starts on, and its cells by column."""

    line: int
    cells: Row


class TableFault(Exception):  # noqa: N818 - a place in a file, found on purpose
    """A table that cannot be read, and on which line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


def recognise(row: Row) -> ForeignFormat | None:
    """Return which tool wrote a record that is not in our own format, or None."""
    if "doc_id" in row and ("resps" in row or "filtered_resps" in row):
        return "lmms-eval"
    if "index" in row and "prediction" in row:
        return "vlmevalkit"
    return None


def is_workbook(data: bytes) -> bool:
    """Whether the bytes are a zip archive, as `.xlsx` files are."""
    return data.startswith(b"PK\x03\x04")


def is_tsv(data: bytes) -> bool:
    """Whether the first line is a tab-separated header with `index` and `prediction`."""
    head = data[: data.find(b"\n") if b"\n" in data else len(data)]
    names = {name.strip().strip(b'"') for name in head.split(b"\t")}
    return {b"index", b"prediction"} <= names


# VLMEvalKit


def convert_vlmevalkit(row: Row) -> RawRecord | list[Flaw]:
    """Return the record of one table row."""
    missing = [name for name in _COLUMNS if name not in row]
    if missing:
        return [Flaw(path=(), message=f'no "{name}" in this row, unlike in the first') for name in missing]
    qid, text = _cell_qid(row["index"]), cell_text(row["prediction"])
    flaws = []
    if qid is None:
        flaws.append(Flaw(path=("index",), message=f"{_shown(row['index'])} is no index"))
    if text is None:
        flaws.append(Flaw(path=("prediction",), message="expected a text, found a list or an object"))
    if flaws or qid is None or text is None:
        return flaws
    return RawRecord(qid=qid, predictions=[text], fields=_without(row, *_COLUMNS, "image"))


def cell_text(cell: object) -> str | None:
    """Return the text of a cell: empty for an empty one, digits for a number, None for what no cell holds."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, list | dict):
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def _cell_qid(cell: object) -> str | None:
    """Return an index as a qid: 241, 241.0 and "241.0" are "241" (pandas turns integer columns into floats)."""
    if cell is None or isinstance(cell, bool | list | dict):
        return None
    if isinstance(cell, float) and not cell.is_integer():
        return None
    text = (cell_text(cell) or "").strip()
    whole = _WHOLE_FLOAT.fullmatch(text)
    return (whole[1] if whole else text) or None


def _shown(value: object) -> str:
    return quoted(value) if isinstance(value, str) else quoted(str(value))[1:-1]


def _without(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}


def read_table(data: bytes) -> Iterator[TableRow]:
    """Yield the rows of a workbook or of a tab-separated table; raises `TableFault`."""
    return _workbook_rows(data) if is_workbook(data) else _tsv_rows(data)


def _tsv_rows(data: bytes) -> Iterator[TableRow]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TableFault(line, f"byte {error.start} of the file (0x{data[error.start]:02x}) is not UTF-8") from error
    # The limit is the module's own; 131,072 characters are too few for a base64 image.
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield from _csv_rows(csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True))
    finally:
        csv.field_size_limit(before)


def _csv_rows(reader: Reader) -> Iterator[TableRow]:
    start = 1
    try:
        header = [name.strip() for name in next(reader)]
        _check_header(header)
        start = reader.line_num + 1
        for cells in reader:
            if len(cells) not in (0, len(header)):
                counts = f"{len(header)} columns, but {len(cells)} in this row"
                raise TableFault(start, f"{counts} (a tab or a line break outside quotes?)")
            if any(cells):
                yield TableRow(start, dict(zip(header, cells, strict=True)))
            start = reader.line_num + 1
    except csv.Error as error:
        hint = " (was the file cut off inside a quoted cell?)" if "unexpected end" in str(error) else ""
        raise TableFault(start, f"not a tab-separated table: {error}{hint}") from error


def _check_header(header: list[str]) -> None:
    for name in header:
        if name and header.count(name) > 1:
            raise TableFault(1, f"the column {quoted(name)} stands twice")
    if not set(_COLUMNS) <= set(header):
        raise TableFault(1, "the first row has no columns index and prediction")


def _workbook_rows(data: bytes) -> Iterator[TableRow]:
    import zipfile

    try:
        with warnings.catch_warnings(), zipfile.ZipFile(io.BytesIO(data)) as archive:
            warnings.simplefilter("ignore")  # openpyxl warns about styles and extensions that no score depends on
            _check_unpacked(sum(entry.file_size for entry in archive.infolist()))
            yield from _sheet_rows(data)
    except TableFault:
        raise
    except (
        Exception
    ) as error:  # openpyxl and zipfile raise anything at all on damaged archives: TypeError, zlib.error, ...
        reason = str(error) or type(error).__name__
        raise TableFault(1, f"not a readable .xlsx workbook ({reason}); was it cut off?") from error


def _check_unpacked(size: int) -> None:
    if size > _UNPACKED_LIMIT:
        raise TableFault(1, f"the workbook unpacks to more than {_UNPACKED_LIMIT:,} bytes")


def _sheet_rows(data: bytes) -> Iterator[TableRow]:
    """Yield the rows of the first sheet that has the two columns."""
    from openpyxl import load_workbook

    # data_only would give the cached result of a cell such as "=A": nothing, where pandas wrote a model's text.
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=False)
    try:
        seen = []
        for sheet in book.worksheets:
            rows = sheet.iter_rows(values_only=True)
            header = [str(cell).strip() if cell is not None else "" for cell in next(rows, ())]
            if set(_COLUMNS) <= set(header):
                _check_header(header)
                yield from _filled_rows(header, rows)
                return
            seen.append(", ".join(name for name in header if name) or "nothing")
        raise TableFault(
            1, f"no sheet has the columns index and prediction in its first row (found: {'; '.join(seen)})"
        )
    finally:
        book.close()


def _filled_rows(header: list[str], rows: Iterator[tuple[object, ...]]) -> Iterator[TableRow]:
    for number, cells in enumerate(rows, 2):
        if any(cell is not None for cell in cells):
            named = zip(header, cells, strict=False)
            yield TableRow(number, {name: _excel_text(cell) for name, cell in named if name})


def _excel_text(cell: object) -> object:
    """Undo `_x000D_`, which is how a workbook writes a control character and openpyxl does not undo."""
    if isinstance(cell, str):
        return _EXCEL_CONTROL.sub(lambda found: chr(int(found[1], 16)), cell) if "_x00" in cell else cell
    return cell if cell is None or isinstance(cell, int | float) else str(cell)


# lmms-eval


def convert_lmms_eval(row: Row) -> RawRecord | list[Flaw]:
    """Return the record of one logged sample.

    `resps` is what the model wrote and is left out where the filters changed nothing; since 0.4 the list
    around a single request is left out too, and `doc` as well (`lmms_eval/loggers/evaluation_tracker.py`).
    """
    source = "resps" if "resps" in row else "filtered_resps"
    if source not in row or "doc_id" not in row:
        return [Flaw(path=(), message='expected a sample of lmms-eval with "doc_id" and "resps" or "filtered_resps"')]
    texts = _texts(row[source], _NESTED_TEXTS)
    if not texts:
        message = "expected generated text; these are log-likelihoods or nothing, which no answer can be read from"
        return [Flaw(path=(source,), message=message)]
    qid = _lmms_qid(row)
    if qid is None:
        return [Flaw(path=("doc_id",), message=f"{_shown(row['doc_id'])} is no id")]
    return RawRecord(qid=qid, predictions=texts, fields=_without(row, "resps", "filtered_resps"))


def _texts(value: object, depth: int) -> list[str] | None:
    """Return the texts of nested lists (one for each repeat), None if anything else is in them."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or depth == 0:
        return None
    found: list[str] = []
    for part in value:
        inner = _texts(part, depth - 1)
        if inner is None:
            return None
        found += inner
    return found


def _lmms_qid(row: Row) -> str | None:
    """Return the question's own id, from `doc` or from what the task logged about it, else the row's number."""
    for place in (row.get("doc"), *row.values()):
        if isinstance(place, dict):
            for name in _QID_FIELDS:
                qid = _cell_qid(place.get(name))
                if qid is not None:
                    return qid
    return _cell_qid(row["doc_id"])


def has_own_id(row: Row) -> bool:
    """Whether a logged sample says which question it answers, not just which row of the data set."""
    return _lmms_qid({**row, "doc_id": None}) is not None


# Mr-Ben


class ScoredFile(msgspec.Struct, frozen=True, kw_only=True):
    """What Mr-Ben's scored result file holds, in our own terms."""

    predictions: dict[str, list[str]] = {}
    judge_replies: dict[str, str] = {}
    rows: object | None = None
    """The questions with their gold answers, as `grader.scorers.mr_ben.scored_file` gives them."""


def read_scored(data: Row) -> ScoredFile | None:
    """Return the content of Mr-Ben's scored result file, {subject: [rows with Evaluation_Result]}, or None."""
    if not any(_is_scored(rows) for rows in data.values()):
        return None
    from_scored_file = import_module("grader.scorers.mr_ben.scored_file").from_scored_file
    scored = from_scored_file(data)
    if scored is None:
        return None
    predictions = {qid: [texts] if isinstance(texts, str) else list(texts) for qid, texts in scored.predictions.items()}
    return ScoredFile(
        predictions=predictions, judge_replies=dict(scored.judge_replies), rows=getattr(scored, "rows", None)
    )


def _is_scored(rows: object) -> bool:
    return isinstance(rows, list) and bool(rows) and isinstance(rows[0], dict) and _EVALUATION in rows[0]
