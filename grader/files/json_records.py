"""The records of a JSON text, each with its line; what is invalid becomes a problem with a line and a path.

Python's parser reads one record after the other, so that the records before a fault are checked as well. Its hook gets
every pair of an object, and so finds duplicate keys.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from grader.files.compact_json import replace_surrogates
from grader.files.json_text import MAX_PROBLEMS, JsonPath, not_utf8_message, problem_lines, quoted, render_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BLANK = b" \t\r\n"
_BLANKS = re.compile(r"[ \t\r\n]*")
_BYTE_OFFSET = 0xDC00
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
"""What `surrogateescape` makes of a byte that is not UTF-8: the character of its number plus `_BYTE_OFFSET`."""
_SURROGATE_ESCAPE = re.compile(r"\\u[dD]")
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
        self.messages: list[str] = []

    @property
    def is_full(self) -> bool:
        """Whether there are enough problems to stop reading."""
        return len(self.messages) >= MAX_PROBLEMS

    def add(self, message: str, line: int, path: JsonPath = ()) -> None:
        """Add one problem."""
        if not self.is_full:
            self.messages.append(f"{self.label}:{line}: {render_path(path)}: {message}")

    def lines(self) -> list[str]:
        """Return the lines to show to the user; empty without problems."""
        lines = problem_lines(self.messages)
        if self.is_full:
            lines.append(f"{self.label}: reading stopped after {MAX_PROBLEMS:,} problems; there may be more")
        return lines


class Entry(NamedTuple):
    """One record, with its position in the file."""

    value: object
    line: int
    path: JsonPath = ()
    """(3,) in an array; () in JSON Lines."""


class BrokenJson:
    """The value of a text without a valid value."""


BROKEN: Final = BrokenJson()


class _LineCounter:
    """Counts the lines of a text up to positions that only grow, so that each character is counted once."""

    def __init__(self, text: str) -> None:
        self._text, self._position, self._line = text, 0, 1

    def line_at(self, position: int) -> int:
        self._line += self._text.count("\n", self._position, position)
        self._position = position
        return self._line


class JsonText:
    """One JSON text (array, lines or single object) without byte-order mark."""

    def __init__(self, data: bytes, problems: Problems, *, skipped: int = 0) -> None:
        self.data, self.problems = data, problems
        self.progress = 0
        """How far the text has been read, for a progress bar: in bytes (in an array: in characters)."""
        self.surrogate_lines: list[int] = []
        """For each lone surrogate (an escape), which is read as U+FFFD, the line of its record."""
        self._bytes_before_data = skipped
        """The length of a byte-order mark before `data` in the file, or 0."""
        self._unit_in_messages = "file"
        """What a message says was cut off: the file, or a line of JSON Lines."""
        self._duplicates: list[str] = []
        """Duplicate keys in objects of the record that is being parsed, from the decoder's hook."""
        self._decoder = json.JSONDecoder(object_pairs_hook=self._object)

    def array(self) -> Iterator[Entry]:
        """Yield the elements of the top-level array; stop at invalid JSON, or after too many problems."""
        text = self.data.decode(errors="surrogateescape")
        lines = _LineCounter(text)
        position, number = text.index("[") + 1, 0
        while not self.problems.is_full:
            position = _end_of_blanks(text, position)
            is_empty_array = number == 0 and text.startswith("]", position)
            if not is_empty_array:
                line = lines.line_at(position)
                value, end = self._element(text, position, line, number)
                if end is None:
                    return
                position = end
                if not isinstance(value, BrokenJson):
                    yield Entry(value, line, (number,))
            self.progress = position = _end_of_blanks(text, position)
            if not text.startswith(",", position):
                self._check_end(text, position, lines.line_at(position), number)
                return
            position, number = position + 1, number + 1

    def lines(self) -> Iterator[Entry]:
        """Yield the value of each line that is not blank; stop after too many problems."""
        self._unit_in_messages = "line"
        for line, start, stop in self._line_spans():
            if self.problems.is_full:
                return
            self.progress = stop
            value = self._value(start, stop, line)
            if not isinstance(value, BrokenJson):
                yield Entry(value, line)

    def single(self) -> Entry | None:
        """Return the one value of the text. If it is not valid JSON, report why and return None."""
        line, start, _ = next(self._line_spans(), (1, 0, 0))  # the first line that is not blank
        value = self._value(start, len(self.data), line)
        return None if isinstance(value, BrokenJson) else Entry(value, line)

    def is_lines(self, is_record: Callable[[object], bool]) -> bool:
        """Return whether the text is JSON Lines, not one object. If it is a single line, its value must be a record."""
        lines = self._line_spans()
        _, start, stop = next(lines)
        second_start = next((start for _, start, _ in lines), None)
        first_value = self._value_without_reporting(start, stop)
        if not isinstance(first_value, BrokenJson):
            return second_start is not None or is_record(first_value)
        # The first line is no value: it is a broken line, or the beginning of an object of several lines. The second
        # line of such an object has a key or a bracket, seldom "{".
        second_begins_object = second_start is not None and self.data[second_start] == ord("{")
        return second_begins_object and isinstance(self._value_without_reporting(start, len(self.data)), BrokenJson)

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

    def _value_without_reporting(self, start: int, stop: int) -> object:
        """Return the value of a part of the text, or BROKEN: the format is only guessed, so this is no problem yet."""
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
        return self._finish_value(value, text, span=(0, len(text)), line=line, path=(), bytes_before_text=start)

    def _element(self, text: str, start: int, line: int, number: int) -> tuple[object, int | None]:
        """Return an element of the array and where it ends; None if it is invalid, so that no other can be found."""
        self._duplicates.clear()
        try:
            value, end = self._decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            self._add_fault(error, text, start, line, (number,))
            return BROKEN, None
        return self._finish_value(value, text, span=(start, end), line=line, path=(number,)), end

    def _check_end(self, text: str, position: int, line: int, number: int) -> None:
        """Report anything but the end of the array."""
        if not text.startswith("]", position):
            error = json.JSONDecodeError("expected a comma or ']'", text, position)
            self._add_fault(error, text, position, line, (number,))
        elif (end := _end_of_blanks(text, position + 1)) < len(text):
            self._add_fault(json.JSONDecodeError("Extra data", text, end), text, position, line, ())

    def _finish_value(
        self, value: object, text: str, *, span: tuple[int, int], line: int, path: JsonPath, bytes_before_text: int = 0
    ) -> object:
        """Report what is wrong with a value that the decoder accepts; return it, without lone surrogates, or BROKEN.

        Duplicate keys are only reported; a value with bytes that are not UTF-8 is BROKEN. `span`: the value's range
        [start, end) in `text`. `bytes_before_text`: how many bytes of `data` are before `text`.
        """
        for key in self._duplicates:
            self.problems.add(f"the key {quoted(key)} is a duplicate in one object", line, path)
        if not text.isascii() and (bad := _NOT_UTF8.search(text, *span)):
            bytes_in_text = len(text[: bad.start()].encode(errors="surrogateescape"))
            position_in_file = self._bytes_before_data + bytes_before_text + bytes_in_text
            message = not_utf8_message(position_in_file, ord(bad[0]) - _BYTE_OFFSET)
            self.problems.add(message, line + text.count("\n", span[0], bad.start()), path)
            return BROKEN
        if _SURROGATE_ESCAPE.search(text, *span):
            value, count = replace_surrogates(value)
            self.surrogate_lines += [line] * count
        return value

    def _add_fault(self, error: Exception, text: str, start: int, line: int, path: JsonPath) -> None:
        """Report why a value cannot be parsed. `line` is that of `start` in the text."""
        position = error.pos if isinstance(error, json.JSONDecodeError) else start
        self.problems.add(_explain(error, self._unit_in_messages), line + text.count("\n", start, position), path)


def _end_of_blanks(text: str, start: int) -> int:
    blanks = _BLANKS.match(text, start)
    assert blanks is not None
    return blanks.end()


def _explain(error: Exception, unit: str) -> str:  # noqa: PLR0911 - one return an explanation
    """Return what is wrong with a JSON text, and the likely cause."""
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        # An integer with too many digits; the text behind the colon advises programmers.
        return f"cannot be read: {str(error).partition(':')[0]}"
    excerpt = error.doc[error.pos : error.pos + 80]
    if error.msg.startswith("Unterminated string"):
        return f"the string that begins here has no end (was the {unit} cut off?)"
    if not error.doc[error.pos :].strip():
        return f"the {unit} ends before the value does (was it cut off?)"
    if hint := next((hint for beginning, hint in _HINTS.items() if excerpt.startswith(beginning)), ""):
        return hint
    character = excerpt[0]
    if error.msg == "Extra data":
        is_next_record = character in "[{" and unit == "file"
        hint = " (one array around all records, or one record on each line, can be read)" if is_next_record else ""
        return f"{quoted(excerpt, 20)} after the end of the value{hint}"
    if error.msg.startswith("Invalid control character"):
        return f"a raw control character (0x{ord(character):02x}) in a string; JSON writes it \\u{ord(character):04x}"
    comma = " after a comma" if error.doc[: error.pos].rstrip().endswith(",") and character in "]}" else ""
    return f"{error.msg[0].lower()}{error.msg[1:]}, found {quoted(excerpt, 20)}{comma}"
