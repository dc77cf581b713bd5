r"""The one prediction-file interface: read, validate, merge; the format is recognised by content.

Grade's own format is a JSON array, or JSON Lines, of `{"qid": "q1", "predictions": ["raw text", ...]}`; the file's
suffix does not matter. All problems are reported together, as `file:line: $.path: what is wrong`; reading stops after
1,000 problems.

Decisions that can affect metrics:

- Half a character (a lone surrogate such as `\ud83d`) is read as U+FFFD, with a warning. Python's own json keeps
  it, and later fails to print or write the text.
- NaN and Infinity are accepted in additional fields and become null (pandas writes empty cells as NaN). A prediction
  that is NaN is an error in grade's own format, and an empty cell in files of other tools.
- A key that occurs twice in one object is an error: JSON parsers silently drop one of the two.
"""

from __future__ import annotations

import codecs
import gc
import sys
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from grader.errors import InputError
from grader.files.json_records import BLANK, Entry, JsonText, Problems
from grader.files.json_text import describe_value, quoted, render_path
from grader.files.text_table import MARKS, TableError
from grader.files.user_files import GZIP, is_zip, read_user_file, similar_file_hint, unpack_gzip, unzip_single_file
from grader.observer import Silent
from grader.predictions import eval_archive, tables
from grader.predictions.fields import format_of_fields, is_one_record, option_for, option_for_object, records_of
from grader.predictions.file import PredictionFile, PredictionRecord
from grader.predictions.formats import FORMATS, GRADE, Format, format_of
from grader.predictions.layouts import ABSENT, RECORD_KEY, WHOLE_RECORD, Contents, Row, first_of, value_at
from grader.predictions.merging import Merger, warnings_about_filters, warnings_about_full_cells
from grader.predictions.record import EXPECTED, RECORD, listing, record_of, tidy_fields
from grader.predictions.recorded_task import CONFLICT_SHARE
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from grader.benchmark import Fields
    from grader.observer import Observer

_MAGIC = {
    b"\xff\xfe": "is UTF-16 or UTF-32; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
    b"\xfe\xff": "is UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
    GZIP: "is compressed twice (gzip); unpack it first (gunzip)",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it first (unzstd)",
    b"\x80": "is a pickle, which can run code when it is read; save it as .xlsx, .tsv or .json",
    b"\xd0\xcf\x11\xe0": "is an old Excel file (.xls); save it as .xlsx",
}


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes; raises InputError."""
    try:
        return read_user_file(path)
    except FileNotFoundError as error:
        if path.is_symlink():
            raise InputError([f"{path}: is a link to {path.readlink()}, which does not exist"]) from error
        raise InputError([f"{path}: no such file{similar_file_hint(path)}"]) from error
    except IsADirectoryError as error:
        raise InputError([f"{path}: is a folder; name the prediction file in it"]) from error
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError([f"{path}: cannot be read: {reason}"]) from error


def bytes_problem(data: bytes) -> str:
    """Return why bytes cannot be a text file with records; empty if they can."""
    for magic, reason in _MAGIC.items():
        if data.startswith(magic):
            return reason
    if b"\x00" in data[:2]:
        return "is UTF-16 or UTF-32, or not text; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"
    if not data or data.isspace():
        return "is empty"
    return ""


_ADVICE_ON_TEXTS = "; if these are the replies in the order of the data: --fields id=#"
_NUMBERED = "The log's row numbers ({}) are used as qids, because it does not name the questions."
_NOT_UNIQUE = "The log's row numbers ({}) are used as qids, because several of its questions have the same id."
_ADVICE_ON_ROW_NUMBERS = (
    "Row numbers that begin at 0 in every subject, or files of several subjects in one, are no ids of the whole: "
    "grade each subject's file alone, with its own data (--data)"
)
_ADVICE_ON_IDS = (
    "The records of an id have to answer one question, with its options in one order: grade the runs (epochs, "
    "subjects) apart, each with its own data (--data)"
)
_LARGE = 1 << 23
"""Minimum size, in bytes, from which reading is slow enough to show its progress."""
_STEP = 4096
"""After so many records, the progress is shown."""


def read_predictions(
    source: str | Path,
    fields: Fields | None = None,
    *,
    stdin: BinaryIO | None = None,
    observer: Observer | None = None,
) -> PredictionFile:
    """Read a prediction file (`-`: standard input); raises `InputError` with every problem found.

    `fields`: where it has what is graded, for a file that no format of the table fits.
    """
    path = None if str(source) == "-" else Path(source)
    observer = observer or Silent()
    label = "<stdin>" if path is None else str(source)
    data = (stdin or sys.stdin.buffer).read() if path is None else read_bytes(path)
    with _pause_garbage_collection():
        return _FileReader(label, path, data, observer, fields).result()


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Switch Python's garbage collection off: it would scan millions of new records again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _FileReader:
    """Reads one file: bytes to rows, rows to records, records to one record per qid."""

    def __init__(self, label: str, path: Path | None, data: bytes, observer: Observer, fields: Fields | None) -> None:
        self._label, self._path, self._data, self._observer = label, path, data, observer
        self._fields = fields
        self._format = None if fields is None else format_of_fields(fields)
        """None: not known yet; the first record or an object of records decides, unless `--fields` names the fields."""
        self._problems = Problems(label)
        self._warnings: list[str] = []
        self._contents = Contents([])
        """What the conversion of a whole file has given (`Format.convert`); empty in other files."""
        self._is_workbook = self._is_numbered = False
        """Whether the file is a workbook; whether its qids are the tool's row numbers."""
        self._first_filter: object = None
        """The filter of the first record of a harness' log."""
        self._merger = Merger()

    def result(self) -> PredictionFile:
        """Return the file; raises `InputError`."""
        try:
            self._add_records(self._entries())
        except TableError as error:
            self._problems.add(self._columns_problem(error.columns) if error.columns else error.message, error.line)
        if self._problems.messages:
            raise InputError(self._problems.lines())
        if not self._merger:
            raise self._file_error(f"has no records; {EXPECTED}")
        file_format = self._format
        assert file_format is not None  # else the first record is a problem (see `_set_format`)
        conflicts = self._resolve_conflicts(file_format)
        records = self._merger.records()
        return PredictionFile(
            name=self._path.name if self._path else self._label,
            path=self._path,
            format=file_format.name,
            field_options=self._fields,
            records=records,
            is_numbered=self._is_numbered,
            is_positional=file_format.is_positional and all(record.qid.isdecimal() for record in records),
            conflicts=conflicts,
            warnings=[
                *self._warnings,
                *self._contents.warnings,
                *warnings_about_filters(records),
                *(warnings_about_full_cells(records) if self._is_workbook else ()),
                *self._merger.warnings(records),
            ],
            judge_replies=self._contents.judge_replies,
            benchmark_rows=self._contents.benchmark_rows,
        )

    def _file_error(self, reason: str) -> InputError:
        return InputError([f"{self._label}:1: $: the file {reason}"])

    # --- bytes to rows ---

    def _entries(self) -> Iterable[Entry]:
        """Return the rows of the file; its first bytes decide how they are separated."""
        try:
            data = self._data = unzip_single_file(unpack_gzip(self._data))
            log = eval_archive.read_log(data) if eval_archive.is_archive(data) else None
        except ValueError as error:
            raise self._file_error(str(error)) from error
        if log is not None:
            return self._object_entries(Entry(log, 1))
        self._is_workbook = is_zip(data)
        if self._is_workbook or data.startswith(tables.PARQUET):
            return self._table_entries(data)
        data = data.removeprefix(codecs.BOM_UTF8)
        if reason := bytes_problem(data):
            raise self._file_error(reason)
        head = data.lstrip(BLANK)[:4096]
        if head[:1] in (b"[", b"{"):
            return self._json_entries(data, is_array=head[:1] == b"[")
        if tables.separator(data, self._is_table):
            return self._table_entries(self._data)
        raise self._file_error(self._text_problem(head))

    def _json_entries(self, data: bytes, *, is_array: bool) -> Iterator[Entry]:
        """Yield the entries of JSON; `data` is the file without its byte-order mark."""
        text = JsonText(data, self._problems, skipped=len(self._data) - len(data))
        if is_array:
            yield from self._convert_list(self._with_progress(text, text.array()))
        elif text.is_lines(self._is_record):
            yield from self._convert_list(self._with_progress(text, text.lines()))
        elif (whole := text.single()) is not None:
            yield from self._object_entries(whole)
        if text.surrogate_lines:
            halves = counted(len(text.surrogate_lines), "lone surrogate")
            self._warnings.append(f"{halves} (half a character, as in \\ud83d) read as U+FFFD.")

    def _table_entries(self, data: bytes) -> Iterator[Entry]:
        for line, row in tables.read_table(data, self._is_table):
            yield Entry(row, line)

    def _with_progress(self, text: JsonText, entries: Iterator[Entry]) -> Iterator[Entry]:
        """Yield the entries, and show the progress if the file is large."""
        if len(text.data) < _LARGE:
            yield from entries
            return
        size = len(text.data) >> 20
        shown = 0
        self._observer.phase(f"reading {self._path.name if self._path else self._label} (MB)", size)
        for index, entry in enumerate(entries):
            yield entry
            if index % _STEP == 0:
                self._observer.advance((text.progress >> 20) - shown)
                shown = text.progress >> 20
        self._observer.advance(size - shown)

    def _convert_list(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        """Yield the entries of a list, converted as a whole if its format wants that (`Format.convert`).

        A list that the format cannot convert yields nothing, so that the file is reported to have no records.
        """
        first = next(entries, None)
        if first is None:
            return
        file_format = self._format = self._format or (format_of(first.value) if isinstance(first.value, dict) else None)
        if file_format is None or file_format.convert is None:
            yield from chain([first], entries)
            return
        contents = file_format.convert([entry.value for entry in chain([first], entries)])
        if contents is not None:
            self._contents = contents
            yield from (Entry(row, 1) for row in contents.rows)

    def _object_entries(self, whole: Entry) -> Iterator[Entry]:
        """Yield the records of a file that is one object; for one without any, report what it may be."""
        value = whole.value
        if not isinstance(value, dict):
            return
        if self._fields is None and self._convert_object(value):
            yield from (Entry(row, 1) for row in self._contents.rows)
            return
        rows = self._detect_records(value)
        if rows is None:
            self._problems.add(self._object_problem(value), whole.line)
            return
        yield from (Entry(row, whole.line) for row in rows)

    def _convert_object(self, value: Row) -> bool:
        """Convert an object by the first format that can (`Format.convert`); return whether one could."""
        for file_format in FORMATS:
            try:
                contents = None if file_format.convert is None else file_format.convert(value)
            except ValueError as error:
                raise self._file_error(str(error)) from error
            if contents is not None:
                self._contents, self._format = contents, file_format
                return True
        return False

    def _detect_records(self, value: Row) -> list[Row] | None:
        """Return the records in an object; None if there are none.

        They are where `--fields` says; or the object is one record; or it has records of a format, which is then set.
        """
        if self._fields is not None:  # with id=#, the ids are positions, and no names in the object
            return records_of(value_at(value, self._fields.at), with_keys=self._fields.id != RECORD_KEY)
        if format_of(value) is not None:
            return [value]
        rows = [] if is_one_record(value) else records_of(value, with_keys=True) or []
        for file_format in FORMATS:
            matching_rows = [row for row in rows if file_format.matches(row)]
            # An unanswered question is a record without the reply, so it does not match.
            if matching_rows and (file_format.may_be_unanswered or len(matching_rows) == len(rows)):
                self._format = file_format
                return matching_rows
        return None

    def _is_record(self, value: object) -> bool:
        """Whether the value of a file with a single line is a record, not an object of records."""
        if not isinstance(value, dict):
            return False
        if self._fields is not None:
            return not self._fields.at and self._format is not None and self._format.matches(value)
        return is_one_record(value) or format_of(value) is not None or _has_texts(value)

    def _is_table(self, columns: list[str]) -> bool:
        row: Row = dict.fromkeys(columns, "")
        return format_of(row) is not None if self._format is None else self._format.matches(row)

    # --- what a file without known records may be ---

    def _object_problem(self, value: Row) -> str:
        """Return what a file with one object may be, if no format knows it, and what to do."""
        if {"schema", "metrics", "samples"} <= value.keys():
            return 'this is a results file of grade, not predictions; rescore it with "grade PREDICTIONS --score-only"'
        if {"results", "configs"} <= value.keys():
            return (
                "these are scores of lm-evaluation-harness, without replies; grade the samples_*.jsonl of --log_samples"
            )
        keys = f" with the keys {listing(value)}" if value else ""
        if self._fields is not None:
            return f"no list or object of records at {quoted(self._fields.at)} in the object{keys}"
        line = option_for_object(value)
        advice = f"if its records are there, read it with {line}" if line else "name its fields with --fields"
        return f"found one object{keys}; {EXPECTED}; {advice}"

    def _columns_problem(self, columns: list[str]) -> str:
        if self._fields is not None:
            return f"the table has the columns {listing(columns)}, but --fields names {self._named_fields()}"
        line = option_for(dict.fromkeys(columns, "")) or "--fields id=COLUMN,reply=COLUMN"
        return f"the table has the columns {listing(columns)}, which no known tool writes; name them: {line}"

    def _named_fields(self) -> str:
        """Return what `--fields` names, for a message: `"id" and "text"`; with advice if it names no reply."""
        assert self._format is not None
        (signature,) = self._format.signatures  # see `format_of_fields`
        fields = [quoted(name) for name in signature.split(",") if name not in ("", WHOLE_RECORD)]
        if WHOLE_RECORD in self._format.texts:
            return " and ".join(["no reply", *fields]) + ": add reply=FIELD, or code=FIELD for programs"
        return " and ".join(fields)

    def _text_problem(self, head: bytes) -> str:
        """Return why a text that is no JSON cannot be read; if it looks like a table, what to do."""
        columns = tables.columns_of(head, max(MARKS, key=head.decode(errors="replace").partition("\n")[0].count))
        if len(columns) > 1 and all(map(_is_name, columns)):
            return f"cannot be read: {self._columns_problem(columns)}"
        return f"begins with {quoted(head[:80].decode(errors='replace'), 20)}; {EXPECTED}"

    def _records_problem(self, row: Row) -> str:
        """Return what to do with records of no known format; `row` is the first one."""
        if self._fields is not None:
            return f"the first record has {listing(row) or 'no fields'}, but --fields names {self._named_fields()}"
        line = option_for(row) or "--fields id=FIELD,reply=FIELD"
        return f"no known tool writes records with {listing(row)}; name the fields: {line}"

    # --- rows to records ---

    def _add_records(self, entries: Iterable[Entry]) -> None:
        """Add valid entries and report problems of the others; the first record decides the format."""
        is_first_record = True
        for position, entry in enumerate(entries):
            if self._problems.is_full:
                return
            row = self._row(entry)
            if row is None:
                if position == 0 and isinstance(entry.value, str):
                    return  # a list of texts: one problem is enough
                continue
            if is_first_record and not self._set_format(row):
                self._problems.add(self._records_problem(row), entry.line, entry.path)
                return
            is_first_record = False
            self._add_record(row, entry, position)

    def _add_record(self, row: Row, entry: Entry, position: int) -> None:
        """Add the record of a row, or report what is wrong with it; skip it if it is another filter's copy."""
        file_format = self._format or GRADE  # a record of no known format has the errors of grade's own
        record_or_flaws = record_of(file_format, row, position)
        if isinstance(record_or_flaws, PredictionRecord):
            record = record_or_flaws
            if self._is_of_other_filter(file_format, row, record):
                return
            flaws = tidy_fields(record.fields)
            if not flaws:
                path = f": {render_path(entry.path)}" if entry.path else ""
                self._merger.add(record, f"{self._label}:{entry.line}{path}")
        else:
            flaws = record_or_flaws
        for flaw in flaws:
            self._problems.add(flaw.message, entry.line, entry.path + flaw.path)

    def _row(self, entry: Entry) -> Row | None:
        """Return an entry as a record. If it cannot be one, report the problem and return None.

        An object is a record. In files of other tools, so is a list (with `--fields`, also a text): it becomes the
        field WHOLE_RECORD of a new record.
        """
        if isinstance(entry.value, dict):
            return entry.value
        is_grade_format = self._format is not None and self._format.is_strict
        is_foreign_list = isinstance(entry.value, list) and not is_grade_format
        if is_foreign_list or (isinstance(entry.value, str) and self._fields is not None):
            return {WHOLE_RECORD: entry.value}
        advice = _ADVICE_ON_TEXTS if isinstance(entry.value, str) else ""
        self._problems.add(
            f"expected a record {RECORD}, found {describe_value(entry.value)}{advice}", entry.line, entry.path
        )
        return None

    def _set_format(self, first: Row) -> bool:
        """Set the format by the first record; return whether it can be read.

        A record of no known format with "qid" or "predictions" is read as one of grade's own: the errors then say what
        is missing. But if other fields look like an id and a reply, it is not read, and the error advises `--fields`.
        """
        if self._fields is not None:
            return self._format is not None and self._format.matches(first)
        file_format = self._format = self._format or format_of(first)
        if file_format is None:
            has_grade_field = "qid" in first or "predictions" in first
            return has_grade_field and not option_for(first)
        if file_format.row_number and first_of(first, file_format.id) is ABSENT:
            self._is_numbered = True
            self._warnings.append(_NUMBERED.format(file_format.row_number))
        return True

    def _is_of_other_filter(self, file_format: Format, row: Row, record: PredictionRecord) -> bool:
        """Whether a record is to be skipped, because it repeats the output of an earlier one for another filter.

        lm-evaluation-harness logs a record for each filter. Those without filtered texts are equal for all filters, so
        only those of the first filter are read.
        """
        if not file_format.filter:
            return False
        self._first_filter = row.get(file_format.filter) if self._first_filter is None else self._first_filter
        return record.filters is None and row.get(file_format.filter) != self._first_filter

    # --- records to a file ---

    def _resolve_conflicts(self, file_format: Format) -> dict[str, str]:
        """Return qid -> how the tasks of its records differ; raises InputError if those of many qids do.

        If the records of each row number of the tool agree, the row numbers become the qids instead.
        """
        if not file_format.has_task:
            return {}  # without their tasks, records of one qid are samples of one task
        conflicts = self._merger.conflicts()
        if len(conflicts) < CONFLICT_SHARE * len(self._merger):
            return conflicts
        by_row = self._merger.by_row_number(file_format.row_number) if file_format.row_number else None
        if by_row is not None and not by_row.conflicts():
            # POPE of lmms-eval has each question_id in three categories.
            self._merger = by_row
            self._is_numbered = True
            self._warnings.append(_NOT_UNIQUE.format(file_format.row_number))
            return {}
        raise conflicts_error(self._label, conflicts, len(self._merger), file_format)


def conflicts_error(label: str, conflicts: Mapping[str, str], number_of_ids: int, file_format: Format) -> InputError:
    """Return the error of records that cannot be merged, because many ids stand for different tasks."""
    qid, tasks = next(iter(conflicts.items()))
    summary = f"{len(conflicts):,} of {counted(number_of_ids, 'id')} stand for different tasks"
    advice = _ADVICE_ON_ROW_NUMBERS if file_format.row_number else _ADVICE_ON_IDS
    return InputError([f"{label}: $: {summary}. Id {quoted(qid)} stands for {tasks}. {advice}"])


def _has_texts(value: Row) -> bool:
    """Whether an object is one record of grade's own, not an object whose records are called predictions."""
    texts = value.get("predictions", {})
    return not (isinstance(texts, dict) or (isinstance(texts, list) and texts and isinstance(texts[0], dict)))


def _is_name(column: str) -> bool:
    """Whether a text can be the name of a column."""
    return len(column) <= 40 and all(c.isalnum() or c in "_ -.:()" for c in column) and not column[:1].isdecimal()
