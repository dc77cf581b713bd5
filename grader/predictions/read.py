r"""The one prediction-file interface: read, validate, merge; foreign formats are recognised by content.

Ours is a JSON array, or JSON Lines, of `{"qid": "q1", "predictions": ["raw text", ...]}`; the suffix does not
matter. What is wrong is reported all at once, as `file:line: $.path: what is wrong`.

Decisions that a reader of the figures may ask about:

- Half a character (a lone surrogate such as `\ud83d`) is read as U+FFFD, with a warning: Python's own json keeps
  it, and then whatever prints or writes the text fails.
- NaN and Infinity are accepted in carried fields, where they become null (pandas writes empty cells so);
  a prediction that is NaN is an error, except in VLMEvalKit tables, where it is an empty cell.
- A key that stands twice in one object is an error: JSON parsers silently drop one of the two.
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

import msgspec

from grader.errors import InputError
from grader.files.json_location import Flaw, mend_surrogates, quoted
from grader.files.json_records import BLANK, PROBLEMS_SHOWN, Entry, JsonText, Problems
from grader.predictions import foreign
from grader.predictions.endings import NOTHING, Ending, endings
from grader.predictions.record import (
    EXPECTED,
    RawRecord,
    Row,
    convert_own,
    is_executed,
    is_own,
    kind,
    names,
    object_message,
    tidy_fields,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    Convert = Callable[[Row], RawRecord | list[Flaw]]

Format = Literal["grade", "jsonl", "executed", "vlmevalkit", "lmms-eval", "mr-ben"]

_SUGGESTIONS = 5
"""Unknown qids that get a "did you mean": each is compared with up to `_CANDIDATES` known ones."""
_CANDIDATES = 2000
_LONG_TEXT = 100
"""Characters from which two equal samples are no longer chance ("B" and "B" are)."""
_BOM = b"\xef\xbb\xbf"
_MAGIC = {
    b"\xff\xfe": "is UTF-16 or UTF-32; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
    b"\xfe\xff": "is UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)",
    b"\x1f\x8b": "is compressed (gzip); unpack it first (gunzip)",
    b"\x80": "is a pickle, which can run code when it is read; save it as .xlsx, .tsv or .json",
    b"\xd0\xcf\x11\xe0": "is an old Excel file (.xls); save it as .xlsx",
    b"PAR1": "is a parquet file; save it as JSON Lines",
}


class PredictionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All predictions for one qid."""

    qid: str
    predictions: list[str]
    """Raw model output, in file order."""
    fields: dict[str, object]
    """Every other field of the qid's first record."""
    prompts: list[object] | None = None
    """One entry a prediction (None where its record had no `prompt`); None if no record had one."""
    endings: list[Ending] | None = None
    """How each prediction ended; None if no record says so."""
    where: str
    """Its first record, as in `preds.json:12`."""


class PredictionFile(msgspec.Struct, frozen=True, kw_only=True):
    """A prediction file, read and found valid."""

    name: str
    """The file's own name, or `<stdin>`."""
    path: Path | None
    """None for standard input."""
    format: Format
    records: list[PredictionRecord]
    """One a qid, in the order in which the qids first appear."""
    merged: dict[str, int] = {}
    """qid -> number of file records it was merged from, where that is more than one."""
    warnings: list[str] = []
    """What is allowed but worth knowing, one line each."""
    judge_replies: dict[str, str] = {}
    """Recorded judge replies by qid, from foreign files that carry them."""
    rows: object | None = None
    """The questions, from foreign files that carry their own."""


class QidCheck(msgspec.Struct, frozen=True, kw_only=True):
    """How a file's qids compare with those that its benchmark knows."""

    unknown: list[str]
    """In file order."""
    missing: list[str]
    """In the benchmark's order."""


def read_predictions(source: str | Path, *, stdin: BinaryIO | None = None) -> PredictionFile:
    """Read a prediction file (`-`: standard input); raises `InputError` with every problem found."""
    if str(source) == "-":
        return _Reading("<stdin>", None, (stdin or sys.stdin.buffer).read()).result()
    return _Reading(str(source), Path(source), _load(Path(source))).result()


def _load(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        if path.is_symlink():
            raise InputError([f"{path}: is a link to {path.readlink()}, which is not there"]) from error
        raise InputError([f"{path}: no such file{_near_file(path)}"]) from error
    except IsADirectoryError as error:
        raise InputError([f"{path}: is a folder; name the prediction file in it"]) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError([f"{path}: cannot be read: {reason}"]) from error


def _near_file(path: Path) -> str:
    import difflib

    try:
        there = [entry.name for entry in islice(path.parent.iterdir(), _CANDIDATES)]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, there, 1, 0.8)
    return f"; did you mean {path.with_name(near[0])}?" if near else ""


class _Reading:
    """Reads one file: bytes to entries, entries to records, records to the qids they belong to."""

    def __init__(self, label: str, path: Path | None, data: bytes) -> None:
        self._label, self._path, self._data = label, path, data
        self._problems = Problems(label)
        self._format: Format = "grade"
        self._warnings: list[str] = []
        self._scored = foreign.ScoredFile()
        self._text: JsonText | None = None
        """Where entries can be located, if the file is JSON."""

    def result(self) -> PredictionFile:
        """Return the file, or raise `InputError`."""
        parts: dict[str, _Parts] = {}
        for line, record in self._records(self._entries()):
            part = parts.get(record.qid)
            if part is None:
                part = parts[record.qid] = _Parts(f"{self._label}:{line}")
            part.records.append(record)
        if self._problems.shown:
            raise InputError(self._problems.lines())
        if not parts:
            raise self._refused(f"has no records; {EXPECTED}")
        return PredictionFile(
            name=self._path.name if self._path else self._label,
            path=self._path,
            format=self._format,
            records=[part.merged() for part in parts.values()],
            merged={qid: len(part.records) for qid, part in parts.items() if len(part.records) > 1},
            warnings=[*self._warnings, *self._cut_cells(parts), *_sample_warnings(parts)],
            judge_replies=self._scored.judge_replies,
            rows=self._scored.rows,
        )

    def _entries(self) -> Iterator[Entry]:
        """Yield the file's records; what it begins with decides how they are separated."""
        if foreign.is_workbook(self._data):
            return self._table_entries()
        skipped = len(_BOM) if self._data.startswith(_BOM) else 0
        data = self._checked(self._data[skipped:])
        head = data[:4096].lstrip(BLANK) or data.lstrip(BLANK)[:4096]
        if head[:1] not in (b"[", b"{") and foreign.is_tsv(data):
            return self._table_entries()
        data, mended = mend_surrogates(data)
        if mended:
            self._warnings.append(
                f"{_count(mended, 'lone surrogate')} (half a character, as in \\ud83d) read as U+FFFD"
            )
        text = self._text = JsonText(data, self._problems, skipped=skipped)
        self._data = b""  # `text` has what is needed, and where something was mended this is a second copy
        if head.startswith(b"["):
            return text.array_entries()
        if not head.startswith(b"{"):
            begins = quoted(head[:80].decode(errors="replace"), 20)
            raise self._refused(f"begins with {begins}; {EXPECTED}")
        if text.is_lines(_is_record):
            self._format = "jsonl"
            return text.line_entries()
        return self._object_entries(text)

    def _checked(self, data: bytes) -> bytes:
        """Return the data, or refuse it where it is no text that could hold records."""
        for magic, reason in _MAGIC.items():
            if data.startswith(magic):
                raise self._refused(reason)
        if b"\x00" in data[:2]:
            raise self._refused("is UTF-16 or UTF-32, or no text at all; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)")
        if not data[:4096].strip(BLANK) and not data.strip(BLANK):
            raise self._refused("is empty")
        return data

    def _refused(self, reason: str) -> InputError:
        return InputError([f"{self._label}:1: $: the file {reason}"])

    def _table_entries(self) -> Iterator[Entry]:
        try:
            for row in foreign.read_table(self._data):
                yield Entry(row.cells, row.line)
        except foreign.TableFault as fault:
            place = (fault.line, ())
            self._problems.add(fault.message, lambda: place)

    def _object_entries(self, text: JsonText) -> Iterator[Entry]:
        """One object is no prediction file: say what it may be, unless it is Mr-Ben's scored one."""
        entry = text.whole()
        if entry is None or not isinstance(entry.value, dict):
            return
        scored = foreign.read_scored(entry.value)
        if scored is None:
            text.add_flaw(entry, Flaw(path=(), message=object_message(entry.value, self._label)))
            return
        self._format, self._scored = "mr-ben", scored
        for qid, predictions in scored.predictions.items():
            yield Entry({"qid": qid, "predictions": predictions}, entry.line)

    def _records(self, entries: Iterator[Entry]) -> Iterator[tuple[int, RawRecord]]:
        """Yield line and record of what is right, report what is wrong with the rest."""
        convert: Convert | None = None
        for entry in entries:
            if not isinstance(entry.value, dict):
                found = f'expected a record {{"qid": "...", "predictions": ["..."]}}, found {kind(entry.value)}'
                self._add_flaws(entry, [Flaw(path=(), message=found)])
                continue
            convert = convert or self._converter(entry.value)
            record = convert(entry.value)
            flaws = record if isinstance(record, list) else tidy_fields(record.fields)
            self._add_flaws(entry, flaws)
            if not flaws and isinstance(record, RawRecord):
                yield entry.line, record

    def _converter(self, first: Row) -> Convert:
        """Decide by the first record whose format this is."""
        match None if is_own(first) else foreign.recognise(first):
            case "vlmevalkit":
                self._format = "vlmevalkit"
                return foreign.convert_vlmevalkit
            case "lmms-eval":
                self._format = "lmms-eval"
                if not foreign.has_own_id(first):
                    self._warnings.append(
                        "lmms-eval's row numbers (doc_id) are taken as qids: the log names no questions"
                    )
                return foreign.convert_lmms_eval
        if is_executed(first):
            self._format = "executed"
        return convert_own

    def _add_flaws(self, entry: Entry, flaws: Iterable[Flaw]) -> None:
        for flaw in flaws:
            if self._text is not None:
                self._text.add_flaw(entry, flaw)
            else:
                place = (entry.line, flaw.path)
                self._problems.add(flaw.message, lambda place=place: place)  # type: ignore[misc]

    def _cut_cells(self, parts: dict[str, _Parts]) -> Iterator[str]:
        if foreign.is_workbook(self._data):
            limit = foreign.EXCEL_CELL_LIMIT
            cut = [qid for qid, part in parts.items() if any(len(text) == limit for text in part.predictions())]
            if cut:
                yield f"{_count(len(cut), 'prediction')} cut off at Excel's {limit} characters a cell: {names(cut)}"


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and (is_own(value) or foreign.recognise(value) is not None)


class _Parts:
    """The records of one qid."""

    __slots__ = ("records", "where")  # there is one of these for each of 200,000 qids

    def __init__(self, where: str) -> None:
        self.where = where
        self.records: list[RawRecord] = []

    def predictions(self) -> list[str]:
        if len(self.records) == 1:
            return self.records[0].predictions
        return [text for record in self.records for text in record.predictions]

    def merged(self) -> PredictionRecord:
        first = self.records[0]
        prompts = None
        if any(record.prompts is not None for record in self.records):
            prompts = list(chain.from_iterable(r.prompts or [None] * len(r.predictions) for r in self.records))
        return PredictionRecord(
            qid=first.qid,
            predictions=self.predictions(),
            fields=first.fields,
            prompts=prompts,
            endings=self._endings(),
            where=self.where,
        )

    def _endings(self) -> list[Ending] | None:
        each = [endings(record.fields, len(record.predictions)) for record in self.records]
        if not any(each):
            return None
        parts = (found or [NOTHING] * len(r.predictions) for found, r in zip(each, self.records, strict=True))
        return list(chain.from_iterable(parts))

    def has_repeated_record(self) -> bool:
        """Whether a record says word for word what an earlier one said."""
        return len(self.records) > 1 and len({tuple(r.predictions) for r in self.records}) < len(self.records)

    def equal_samples(self) -> int:
        """Return how many long samples equal an earlier one."""
        long = [text for record in self.records for text in record.predictions if len(text) >= _LONG_TEXT]
        return len(long) - len(set(long)) if len(long) > 1 else 0


def _sample_warnings(parts: dict[str, _Parts]) -> Iterator[str]:
    """Yield what is suspicious about the samples, one line each."""
    sizes = {qid: sum(len(record.predictions) for record in part.records) for qid, part in parts.items()}
    joined = [qid for qid, part in parts.items() if part.has_repeated_record()]
    if joined:
        some = _count(len(joined), "qid")
        yield f"{some} with a record that repeats another word for word (joined twice?): {names(joined)}"
    equal = {qid: count for qid, part in parts.items() if (count := part.equal_samples())}
    if equal and not joined:
        samples = f"{sum(equal.values())} of {_count(sum(sizes.values()), 'sample')}"
        yield f"{samples} repeat the very text of an earlier one, in {_count(len(equal), 'qid')}: {names(equal)}"
    counts = Counter(sizes.values())
    if len(counts) > 1:
        usual = counts.most_common(1)[0][0]
        listed = ", ".join(f"{_count(count, 'qid')} with {size}" for size, count in sorted(counts.items()))
        odd = [qid for qid, size in sizes.items() if size != usual]
        yield f"unequal sample counts: {listed}; not {usual}: {names(odd)}"


def check_against(file: PredictionFile, known: Collection[str]) -> QidCheck:
    """Compare the file's qids with the benchmark's; whether missing ones are an error is the caller's to say."""
    expected = set(known)
    have = {record.qid for record in file.records}
    return QidCheck(
        unknown=[record.qid for record in file.records if record.qid not in expected],
        missing=[qid for qid in known if qid not in have],
    )


def unknown_problems(file: PredictionFile, check: QidCheck, known: Collection[str], *, unit: str = "task") -> list[str]:
    """Return one line for each unknown qid, with the nearest known one; a single line if all are unknown."""
    where = {record.qid: record.where for record in file.records}
    if check.unknown and len(check.unknown) == len(file.records):
        both = f"the file has {names(check.unknown)}, the benchmark {names(known)}"
        hint = "another benchmark (-b), split (--split) or data set (--data)?"
        return [f"{where[check.unknown[0]]}: $.qid: no qid of the file is a {unit} of the benchmark: {both}; {hint}"]
    lines = []
    for number, qid in enumerate(check.unknown[:PROBLEMS_SHOWN]):
        near = _nearest(qid, known) if number < _SUGGESTIONS else None
        hint = f"; did you mean {quoted(near)}?" if near else ""
        lines.append(f"{where[qid]}: $.qid: {quoted(qid)} is no {unit} of the benchmark{hint}")
    hidden = len(check.unknown) - PROBLEMS_SHOWN
    return [*lines, f"... and {hidden} more unknown qids"] if hidden > 0 else lines


def missing_problem(file: PredictionFile, check: QidCheck, known: Collection[str], *, unit: str = "task") -> str:
    """Return the line that says which tasks have no prediction and what `--missing wrong` would do."""
    some = f"{len(check.missing)} of {_count(len(known), unit)} without a prediction: {names(check.missing)}"
    return f"{file.path or file.name}: $: {some}; --missing wrong counts them as not passed"


def _nearest(qid: str, known: Collection[str]) -> str | None:
    """Return a known qid that differs by case, blanks or leading zeros, else one that is spelled alike."""
    import difflib

    plain = _plain(qid)
    for candidate in known:
        if _plain(candidate) == plain:
            return candidate
    if qid.isdigit():  # among numbers every one is spelled like some other
        return None
    near = difflib.get_close_matches(qid[:200], list(islice(_alike(qid, known), _CANDIDATES)), 1, 0.8)
    return near[0] if near else None


def _alike(qid: str, known: Collection[str]) -> Iterator[str]:
    """Yield known qids of about the same length with an end in common: cheap, and enough for a slip of the finger."""
    for candidate in known:
        same_end = candidate[:3] == qid[:3] or candidate[-3:] == qid[-3:]
        if same_end and abs(len(candidate) - len(qid)) <= 3:
            yield candidate


def _plain(qid: str) -> str:
    return qid.strip().casefold().lstrip("0")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
