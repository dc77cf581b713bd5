r"""The one prediction-file interface: read, validate, merge; foreign formats are recognised by content.

Grade's own format is a JSON array, or JSON Lines, of `{"qid": "q1", "predictions": ["raw text", ...]}`; the file's
suffix does not matter. All problems are reported together, as `file:line: $.path: what is wrong`; reading stops after
1,000 problems.

Decisions that can affect metrics:

- Half a character (a lone surrogate such as `\ud83d`) is read as U+FFFD, with a warning. Python's own json keeps
  it, and later fails to print or write the text.
- NaN and Infinity are accepted in additional fields and become null (pandas writes empty cells as NaN). A prediction
  that is NaN is an error, except in VLMEvalKit tables, where it is an empty cell.
- A key that occurs twice in one object is an error: JSON parsers silently drop one of the two.
"""

from __future__ import annotations

import gc
import sys
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from grader.errors import InputError
from grader.files.given import GZIP, near_file, read_given, unpacked, unzipped
from grader.files.json_records import BLANK, Entry, JsonText, Problems
from grader.files.json_text import Flaw, kind, quoted
from grader.files.workbook import CELL_LIMIT, is_zip
from grader.observer import Silent
from grader.predictions import foreign, inspect_logs, published, tables
from grader.predictions.file import Format, PredictionFile, PredictionRecord
from grader.predictions.merging import Merger
from grader.predictions.record import (
    EXPECTED,
    RECORD,
    Row,
    convert_own,
    counted,
    is_executed,
    is_own,
    names,
    object_message,
    tidy_fields,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.observer import Observer

    Convert = Callable[[Row], PredictionRecord | list[Flaw]]

_MAGIC = {
    b"\xff\xfe": "is UTF-16 or UTF-32; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
    b"\xfe\xff": "is UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
    GZIP: "is compressed twice (gzip); unpack it first (gunzip)",
    b"\x80": "is a pickle, which can run code when it is read; save it as .xlsx, .tsv or .json",
    b"\xd0\xcf\x11\xe0": "is an old Excel file (.xls); save it as .xlsx",
    b"PAR1": "is a parquet file; save it as JSON Lines",
}


def load(path: Path, observer: Observer) -> bytes:
    """Return a file's bytes; raises InputError."""
    try:
        return read_given(path, observer.message)
    except FileNotFoundError as error:
        if path.is_symlink():
            raise InputError([f"{path}: is a link to {path.readlink()}, which does not exist"]) from error
        raise InputError([f"{path}: no such file{near_file(path)}"]) from error
    except IsADirectoryError as error:
        raise InputError([f"{path}: is a folder; name the prediction file in it"]) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError([f"{path}: cannot be read: {reason}"]) from error


def refusal(data: bytes) -> str:
    """Return why bytes cannot be a text file with records; empty if they can."""
    for magic, reason in _MAGIC.items():
        if data.startswith(magic):
            return reason
    if b"\x00" in data[:2]:
        return "is UTF-16 or UTF-32, or not text; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"
    if not data[:4096].strip(BLANK) and not data.strip(BLANK):
        return "is empty"
    return ""


_BOM = b"\xef\xbb\xbf"
_CONFLICTS = 0.05
"""Maximum share of qids whose records answer different questions."""
_NOT_UNIQUE = "The log's row numbers (doc_id) are used as qids, because several of its questions have the same id"
_ADVICE = {
    True: "Row numbers that begin at 0 in every subject, or files of several subjects in one, are no ids of the whole: "
    "grade each subject's file alone, with its own data (--data)",
    False: "The records of an id have to answer one question, with its options in one order: grade the runs (epochs, "
    "subjects) apart, each with its own data (--data)",
}
"""Whether the records have row numbers -> what to do if the records of an id answer several tasks."""
_LARGE = 1 << 23
"""Minimum size, in bytes, from which reading is slow enough to show its progress."""
_STEP = 4096
"""After so many records, the progress is shown."""


def read_predictions(
    given: str | Path, *, stdin: BinaryIO | None = None, observer: Observer | None = None
) -> PredictionFile:
    """Read a prediction file (`-`: standard input); raises `InputError` with every problem found."""
    path = None if str(given) == "-" else Path(given)
    observer = observer or Silent()
    label = "<stdin>" if path is None else str(given)
    data = (stdin or sys.stdin.buffer).read() if path is None else load(path, observer)
    with _without_collection():
        return _Reading(label, path, data, observer).result()


@contextmanager
def _without_collection() -> Iterator[None]:
    """Switch Python's garbage collection off: it would scan millions of new records again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Reading:
    """Reads one file: bytes to entries, entries to records, records to one record per qid."""

    def __init__(self, label: str, path: Path | None, data: bytes, observer: Observer) -> None:
        self._label, self._path, self._data, self._observer = label, path, data, observer
        self._problems = Problems(label)
        self._format: Format = "grade"
        self._convert: Convert | None = None
        self._warnings: list[str] = []
        self._scored = foreign.ScoredFile()
        self._is_table = False
        self._is_numbered = False
        self._filter: object = None
        """The first filter of a log of lm-evaluation-harness."""
        self._merger = Merger(label)

    def result(self) -> PredictionFile:
        """Return the file; raises `InputError`."""
        self._read()
        if self._problems.found:
            raise InputError(self._problems.lines())
        if not self._merger:
            raise self._refused(f"has no records; {EXPECTED}")
        conflicts = self._conflicts()
        records = self._merger.records()
        return PredictionFile(
            name=self._path.name if self._path else self._label,
            path=self._path,
            format=self._format,
            records=records,
            merged=self._merger.merged(),
            is_numbered=self._is_numbered,
            is_positional=self._format in published.POSITIONAL,
            conflicts=conflicts,
            warnings=[*self._warnings, *_filters(records), *self._cut_cells(records), *self._merger.warnings(records)],
            judge_replies=self._scored.judge_replies,
            rows=self._scored.rows,
        )

    def _read(self) -> None:
        """Read the records; the start of the file decides how they are separated."""
        try:
            self._data = unzipped(unpacked(self._data))
        except ValueError as error:
            raise self._refused(str(error)) from error
        if inspect_logs.is_archive(self._data):
            return self._add_log(self._data)
        if is_zip(self._data):
            return self._add_table()
        return self._read_text()

    def _read_text(self) -> None:
        skipped = len(_BOM) if self._data.startswith(_BOM) else 0
        data = self._data[skipped:] if skipped else self._data
        reason = refusal(data)
        if reason:
            raise self._refused(reason)
        head = data[:4096].lstrip(BLANK) or data.lstrip(BLANK)[:4096]
        if head[:1] not in (b"[", b"{") and tables.separator(data):
            self._add_table()
            return
        text = JsonText(data, self._problems, skipped=skipped)
        self._read_json(text, head)
        if text.halves:
            halves = counted(len(text.halves), "lone surrogate")
            self._warnings.append(f"{halves} (half a character, as in \\ud83d) read as U+FFFD")

    def _read_json(self, text: JsonText, head: bytes) -> None:
        if head.startswith(b"["):
            self._add_entries(self._unless_mr_gsm8k(self._watched(text, text.array())))
        elif not head.startswith(b"{"):
            begins = quoted(head[:80].decode(errors="replace"), 20)
            raise self._refused(tables.not_named(head) or f"begins with {begins}; {EXPECTED}")
        elif text.is_lines(_is_record):
            self._format = "jsonl"
            self._add_entries(self._watched(text, text.lines()))
        else:
            self._add_entries(self._object_entries(text))

    def _refused(self, reason: str) -> InputError:
        return InputError([f"{self._label}:1: $: the file {reason}"])

    def _add_log(self, log: bytes | Row) -> None:
        """Add the samples of an inspect_ai log, from an archive's bytes or from an object."""
        try:
            found = inspect_logs.read_archive(log) if isinstance(log, bytes) else inspect_logs.read_object(log)
        except inspect_logs.LogError as error:
            raise self._refused(str(error)) from error
        self._warnings += found.warnings
        self._convert = convert_own
        self._add_entries(Entry(row, 1) for row in found.rows)
        self._format = "inspect_ai"

    def _add_table(self) -> None:
        self._is_table = True
        try:
            self._add_entries(Entry(row.cells, row.line) for row in tables.read_table(self._data))
        except tables.TableFault as fault:
            self._problems.add(fault.message, fault.line)

    def _object_entries(self, text: JsonText) -> Iterator[Entry]:
        """Read one object: an inspect_ai log or Mr-Ben's scored file; for any other, report what it may be."""
        entry = text.whole()
        if entry is None or not isinstance(entry.value, dict):
            return
        if inspect_logs.is_log(entry.value):
            self._add_log(entry.value)
            return
        found = published.rows_of_object(entry.value)
        if found is not None:
            self._format, self._convert = found[0], published.converter(found[0])
            yield from (Entry(row, entry.line) for row in found[1])
            return
        scored = foreign.read_scored(entry.value)
        if scored is None:
            self._problems.add(object_message(entry.value, self._label), entry.line)
            return
        yield from self._scored_entries(scored, entry.line)

    def _scored_entries(self, scored: foreign.ScoredFile, line: int) -> Iterator[Entry]:
        self._format, self._scored = "mr-ben", scored
        for qid, predictions in scored.predictions.items():
            yield Entry({"qid": qid, "predictions": predictions}, line)

    def _unless_mr_gsm8k(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        """Yield the entries of a list; if they are rows of MR-GSM8K's results, those of Mr-Ben's result file."""
        first = next(entries, None)
        if first is None:
            return
        if not isinstance(first.value, dict) or not foreign.is_mr_gsm8k(first.value):
            yield from chain([first], entries)
            return
        rows = [entry.value for entry in chain([first], entries) if isinstance(entry.value, dict)]
        scored = foreign.read_scored(foreign.as_mr_ben(filter(foreign.is_mr_gsm8k, rows)))
        if scored is not None:
            yield from self._scored_entries(scored, first.line)

    def _watched(self, text: JsonText, entries: Iterator[Entry]) -> Iterator[Entry]:
        """Yield the entries, and show the progress if the file is large."""
        if len(text.data) < _LARGE:
            yield from entries
            return
        size, shown = len(text.data) >> 20, 0
        self._observer.phase(f"reading {self._path.name if self._path else self._label} (MB)", size)
        for number, entry in enumerate(entries):
            yield entry
            if number % _STEP == 0:
                self._observer.advance((text.position >> 20) - shown)
                shown = text.position >> 20
        self._observer.advance(size - shown)

    def _add_entries(self, entries: Iterable[Entry]) -> None:
        """Add valid entries and report problems of the others."""
        for number, entry in enumerate(entries):
            if self._problems.full:
                return
            if isinstance(entry.value, list) and self._convert is None:
                self._format = "bigcode"
                self._convert = published.converter("bigcode")
            if self._format == "bigcode":
                entry = Entry(published.of_programs(entry.value, number), entry.line)  # noqa: PLW2901
            if not isinstance(entry.value, dict):
                found = f"expected a record {RECORD}, found {kind(entry.value)}"
                self._add_flaws(entry, [Flaw(path=(), message=found)])
                continue
            self._convert = self._convert or self._converter(entry.value)
            record = self._convert(entry.value)
            if self._is_repeated(entry.value, record):
                continue
            flaws = record if isinstance(record, list) else tidy_fields(record.fields)
            self._add_flaws(entry, flaws)
            if not flaws and isinstance(record, PredictionRecord):
                self._merger.add(entry.line, record)

    def _is_repeated(self, row: Row, record: PredictionRecord | list[Flaw]) -> bool:
        """Whether a log of lm-evaluation-harness repeats an output, for a filter whose text it does not have."""
        if self._format != "lm-evaluation-harness":
            return False
        self._filter = row.get("filter") if self._filter is None else self._filter
        return isinstance(record, PredictionRecord) and record.filters is None and row.get("filter") != self._filter

    def _converter(self, first: Row) -> Convert:
        """Choose the format by the first record."""
        if self._is_table:
            self._format = "vlmevalkit" if "index" in first else "csv"
            return foreign.convert_table_row
        if not is_own(first) and (whose := published.recognise(first)) is not None:
            self._format = whose
            return published.converter(whose)
        match None if is_own(first) else foreign.recognise(first):
            case "vlmevalkit":
                self._format = "vlmevalkit"
                return foreign.convert_table_row
            case "evalplus":
                self._format = "evalplus"
                return foreign.convert_evalplus
            case "lmms-eval" | "lm-evaluation-harness" as name:
                self._format = name
                if not foreign.has_own_id(first):
                    self._is_numbered = True
                    tool = "lmms-eval's" if name == "lmms-eval" else "The"
                    log = "the log" if name == "lmms-eval" else "the log of lm-evaluation-harness"
                    self._warnings.append(
                        f"{tool} row numbers (doc_id) are used as qids, because {log} does not name the questions"
                    )
                return foreign.convert_lmms_eval if name == "lmms-eval" else foreign.convert_lm_eval
        if is_executed(first):
            self._format = "executed"
        return convert_own

    def _add_flaws(self, entry: Entry, flaws: Iterable[Flaw]) -> None:
        for flaw in flaws:
            self._problems.add(flaw.message, entry.line, entry.path + flaw.path)

    def _conflicts(self) -> dict[str, str]:
        """Return the qids of foreign records that answer several questions; raises InputError if these are many."""
        if self._format in ("grade", "jsonl", "executed", "csv"):
            return {}
        conflicts = self._merger.conflicts()
        if len(conflicts) <= _CONFLICTS * len(self._merger):
            return conflicts
        by_row = self._merger.by(foreign.row_number)
        if by_row is not None and not by_row.conflicts():
            # POPE of lmms-eval has each question_id in three categories.
            self._merger, self._is_numbered = by_row, True
            self._warnings.append(_NOT_UNIQUE)
            return {}
        qid, tasks = next(iter(conflicts.items()))
        number = f"{len(conflicts):,} of {counted(len(self._merger), 'id')} stand for different tasks"
        is_log = foreign.row_number(self._merger.records()[0]) is not None
        raise InputError([f"{self._label}: $: {number}. Id {quoted(qid)} stands for {tasks}. {_ADVICE[is_log]}"])

    def _cut_cells(self, records: list[PredictionRecord]) -> Iterator[str]:
        if is_zip(self._data):
            limit = CELL_LIMIT
            cut = [record.qid for record in records if any(len(text) == limit for text in record.predictions)]
            if cut:
                yield f"{counted(len(cut), 'prediction')} cut off at Excel's {limit} characters a cell: {names(cut)}"


def _filters(records: list[PredictionRecord]) -> Iterator[str]:
    """Yield what was graded of a log of lm-evaluation-harness."""
    found = dict.fromkeys(name for record in records for name in record.filters or ())
    log = "The log of lm-evaluation-harness has the"
    if len(found) == 1:
        yield f"{log} text that its filter {names(found)} judged: this text is graded"
    elif found:
        yield (
            f"{log} texts that {len(found)} filters judged: each is graded as a sample of its own, in this order: "
            f"{names(found)}. The metrics of one filter are those of the group filter=NAME"
        )


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and any(
        (is_own(value), foreign.recognise(value) is not None, published.recognise(value) is not None)
    )
