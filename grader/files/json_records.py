"""The records of a JSON text, each with its line; what is invalid becomes a problem with a line and a path.

Python's parser reads one record after the other, so that the records before a fault are checked as well. Its hook gets
every pair of an object, and so finds duplicate keys.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from grader.files.compact_json import without_half_characters
from grader.files.json_text import MOST, JsonPath, not_utf8, quoted, render_path, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLANK = b" \t\r\n"
_BLANKS = re.compile(r"[ \t\r\n]*")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_ESCAPED_HALF = re.compile(r"\\u[dD]")
_HINTS = {
    "'": "single quotes; JSON strings need double quotes (json.dumps() writes them, str() does not)",
    "None": "Python's None; JSON writes null",
    "True": "Python's True; JSON writes true",
    "False": "Python's False; JSON writes false",
    "undefined": "JavaScript's undefined; JSON writes null",
}
"""The text at an error -> what it is."""


class Problems:
    """Collector of problems, up to the number at which reading stops."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.found: list[str] = []

    @property
    def full(self) -> bool:
        """Whether there are enough problems to stop reading."""
        return len(self.found) >= MOST

    def add(self, message: str, line: int, path: JsonPath = ()) -> None:
        """Add one problem."""
        if not self.full:
            self.found.append(f"{self.label}:{line}: {render_path(path)}: {message}")

    def lines(self) -> list[str]:
        """Return the lines to show to the user; empty without problems."""
        stopped = [f"{self.label}: reading stopped after {MOST:,} problems; there may be more"] if self.full else []
        return [*shown(self.found), *stopped]


class Entry(NamedTuple):
    """One record, with its position in the file."""

    value: object
    line: int
    path: JsonPath = ()
    """(3,) in an array; () in JSON Lines."""


class BrokenJson:
    """The value of a text without a valid value."""


BROKEN: Final = BrokenJson()


class JsonText:
    """One JSON text (array, lines or single object) without byte-order mark."""

    def __init__(self, data: bytes, problems: Problems, *, skipped: int = 0) -> None:
        self.data, self.problems = data, problems
        self.position = 0
        """How far the text has been read, about in bytes."""
        self.halves: list[int] = []
        """For each half of a character (an escaped lone surrogate), which is read as U+FFFD, the line of its record."""
        self._skipped = skipped
        """Number of bytes before `data` in the file: a byte-order mark."""
        self._unit = "file"
        self._duplicates: list[str] = []
        self._decoder = json.JSONDecoder(object_pairs_hook=self._object)

    def array(self) -> Iterator[Entry]:
        """Yield the elements of the top-level array; stop at invalid JSON, or after too many problems."""
        text = self.data.decode(errors="surrogateescape")
        at, line, number, counted = text.index("[") + 1, 1, 0, 0
        while not self.problems.full:
            start = _end_of_blanks(text, at)
            line, counted = line + text.count("\n", counted, start), start
            if not number and text[start : start + 1] == "]":
                at = start
            else:
                value, at = self._element(text, start, line, number)
                if at < 0:
                    return
                if not isinstance(value, BrokenJson):
                    yield Entry(value, line, (number,))
            self.position = at = _end_of_blanks(text, at)
            if text[at : at + 1] != ",":
                return self._check_end(text, at, line + text.count("\n", counted, at), number)
            at, number = at + 1, number + 1

    def lines(self) -> Iterator[Entry]:
        """Yield the value of each line that is not blank; stop after too many problems."""
        self._unit = "line"
        for line, start, stop in self._line_spans():
            if self.problems.full:
                return
            self.position = stop
            value = self._value(start, stop, line)
            if not isinstance(value, BrokenJson):
                yield Entry(value, line)

    def whole(self) -> Entry | None:
        """Return the single value of the text; report why if it has none, and return None."""
        line, start, _ = next(self._line_spans(), (1, 0, 0))
        value = self._value(start, len(self.data), line)
        return None if isinstance(value, BrokenJson) else Entry(value, line)

    def is_lines(self, is_record: Callable[[object], bool]) -> bool:
        """Return whether the text is JSON Lines, not one object; a single line must hold a record."""
        lines = self._line_spans()
        _, start, stop = next(lines)
        second = next(lines, None)
        value = self._quiet(start, stop)
        if not isinstance(value, BrokenJson):
            return second is not None or is_record(value)
        if second is None or self.data[second[1]] != ord("{"):
            return False
        return isinstance(self._quiet(start, len(self.data)), BrokenJson)

    def _line_spans(self) -> Iterator[tuple[int, int, int]]:
        """Yield each line that is not blank: its number, start and end."""
        start, line, size = 0, 1, len(self.data)
        while start < size:
            stop = self.data.find(b"\n", start)
            stop = size if stop < 0 else stop
            while start < stop and self.data[start] in BLANK:
                start += 1
            if start < stop:
                yield line, start, stop
            start, line = stop + 1, line + 1

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        value = dict(pairs)
        if len(value) != len(pairs):
            self._duplicates += [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]
        return value

    def _quiet(self, start: int, stop: int) -> object:
        try:
            return json.loads(self.data[start:stop])
        except (ValueError, RecursionError):
            return BROKEN

    def _value(self, start: int, stop: int, line: int) -> object:
        """Return the value of a part of the text; report why if it has none, and return BROKEN."""
        text = self.data[start:stop].decode(errors="surrogateescape")
        self._duplicates.clear()
        try:
            value = self._decoder.decode(text)
        except (ValueError, RecursionError) as error:
            self._add_fault(error, text, 0, line, ())
            return BROKEN
        return self._checked(value, text, (0, len(text)), line, (), first=start)

    def _element(self, text: str, start: int, line: int, number: int) -> tuple[object, int]:
        """Return an element of the array and where it ends; -1 if it is invalid, so that no other can be found."""
        self._duplicates.clear()
        try:
            value, end = self._decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            self._add_fault(error, text, start, line, (number,))
            return BROKEN, -1
        return self._checked(value, text, (start, end), line, (number,)), end

    def _check_end(self, text: str, at: int, line: int, number: int) -> None:
        """Report anything but the end of the array."""
        if text[at : at + 1] != "]":
            self._add_fault(json.JSONDecodeError("expected a comma or ']'", text, at), text, at, line, (number,))
        elif (more := _end_of_blanks(text, at + 1)) < len(text):
            error = json.JSONDecodeError("Extra data", text, more)
            self._add_fault(error, text, at, line, ())

    def _checked(
        self, value: object, text: str, span: tuple[int, int], line: int, path: JsonPath, *, first: int = 0
    ) -> object:
        """Return a value without half characters; report duplicate keys, and bytes that are not UTF-8 (BROKEN).

        `span` is its place in `text`, and `first` is the position of the text in the file.
        """
        for key in self._duplicates:
            self.problems.add(f"the key {quoted(key)} is a duplicate in one object", line, path)
        if not text.isascii() and (bad := _NOT_UTF8.search(text, *span)):
            offset = first + len(text[: bad.start()].encode(errors="surrogateescape")) + self._skipped
            line += text.count("\n", span[0], bad.start())
            self.problems.add(not_utf8(offset, ord(bad[0]) - 0xDC00), line, path)
            return BROKEN
        if _ESCAPED_HALF.search(text, *span):
            value, count = without_half_characters(value)
            self.halves += [line] * count
        return value

    def _add_fault(self, error: Exception, text: str, start: int, line: int, path: JsonPath) -> None:
        at = error.pos if isinstance(error, json.JSONDecodeError) else start
        self.problems.add(_explained(error, self._unit), line + text.count("\n", start, at), path)


def _end_of_blanks(text: str, start: int) -> int:
    blanks = _BLANKS.match(text, start)
    assert blanks is not None
    return blanks.end()


def _explained(error: Exception, unit: str) -> str:  # noqa: PLR0911 - one return an explanation
    """Return what is wrong with a JSON text, and the likely cause."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return f"cannot be read: {str(error).partition(':')[0]}"
    rest = error.doc[error.pos : error.pos + 80]
    if error.msg.startswith("Unterminated string"):
        return f"the string that begins here has no end (was the {unit} cut off?)"
    if not error.doc[error.pos :].strip():
        return f"the {unit} ends before the value does (was it cut off?)"
    if hint := next((hint for beginning, hint in _HINTS.items() if rest.startswith(beginning)), ""):
        return hint
    if error.msg == "Extra data":
        several = rest[0] in "[{" and unit == "file"
        hint = " (one array around all records, or one record on each line, can be read)" if several else ""
        return f"{quoted(rest, 20)} after the end of the value{hint}"
    if error.msg.startswith("Invalid control character"):
        return f"a raw control character (0x{ord(rest[0]):02x}) in a string; JSON writes it \\u{ord(rest[0]):04x}"
    comma = " after a comma" if error.doc[: error.pos].rstrip().endswith(",") and rest[0] in "]}" else ""
    return f"{error.msg[0].lower()}{error.msg[1:]}, found {quoted(rest, 20)}{comma}"
