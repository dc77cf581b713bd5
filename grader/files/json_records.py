"""The records of a JSON text, each with the place it stands at; what is no JSON becomes a problem with a line.

Records are split first (msgspec finds the ends of an array's elements without building anything) and parsed one
by one with Python's own parser: its hook sees every pair of an object, which is how a key that stands twice is
noticed, and it accepts the NaN that pandas writes. Memory stays at the text plus its values.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from grader.files.json_location import (
    Flaw,
    JsonFault,
    JsonPath,
    Span,
    array_spans,
    find_fault,
    find_offset,
    line_of,
    path_at,
    quoted,
    render_path,
    repeated_keys,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROBLEMS_SHOWN = 50
BLANK = b" \t\r\n"


class Problems:
    """Collects what is wrong; only as many as are shown are located, for that is the slow part."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.shown: list[str] = []
        self.hidden = 0

    def add(self, message: str, place: Callable[[], tuple[int, JsonPath]]) -> None:
        """Keep one problem; `place` gives its line and path."""
        if len(self.shown) >= PROBLEMS_SHOWN:
            self.hidden += 1
            return
        line, path = place()
        self.shown.append(f"{self.label}:{line}: {render_path(path)}: {message}")

    def lines(self) -> list[str]:
        """Return what to show the user: nothing if all is well."""
        if not self.hidden:
            return self.shown
        return [*self.shown, f"... and {self.hidden} more problem{'' if self.hidden == 1 else 's'}"]


class Entry(NamedTuple):
    """One record as it stands in the file."""

    value: object
    line: int
    prefix: JsonPath = ()
    """(3,) in an array; () on a line of its own."""
    span: Span | None = None
    """Its bytes; None where it does not stand in a JSON text."""


class Broken:
    """The value of a span that has none."""


BROKEN: Final = Broken()


class JsonText:
    """One JSON text (array, lines or single object) without byte-order mark."""

    def __init__(self, data: bytes, problems: Problems, *, skipped: int = 0) -> None:
        self.data, self.problems = data, problems
        self.skipped = skipped
        """Bytes that the file has before `data`: a byte-order mark."""
        self._unit = "file"
        self._repeated = False
        self._decoder = json.JSONDecoder(object_pairs_hook=self._object)

    def array_entries(self) -> Iterator[Entry]:
        """Yield the elements of the top-level array."""
        spans, fault = array_spans(self.data)
        line, seen = 1, 0
        for index, span in enumerate(spans):
            line += self.data.count(b"\n", seen, span[0])
            seen = span[0]
            value = self._decode(span, (index,))
            if not isinstance(value, Broken):
                yield Entry(value, line, (index,), span)
        if fault is not None:
            self._add_fault(fault, ())

    def line_entries(self) -> Iterator[Entry]:
        """Yield the value of each line that is not blank."""
        self._unit = "line"
        for line, span in self._line_spans():
            value = self._decode(span, ())
            if not isinstance(value, Broken):
                yield Entry(value, line, (), span)

    def whole(self) -> Entry | None:
        """Return the one value that fills the text, or None after reporting why there is none."""
        line, (start, _) = next(self._line_spans())
        span = (start, len(self.data))
        value = self._decode(span, ())
        return None if isinstance(value, Broken) else Entry(value, line, (), span)

    def is_lines(self, is_record: Callable[[object], bool]) -> bool:
        """Tell JSON Lines from one object that fills the text; a single line counts if it holds a record."""
        lines = self._line_spans()
        _, first = next(lines)
        _, second = next(lines, (0, None))
        value = self._quiet(first)
        if not isinstance(value, Broken):
            return second is not None or is_record(value)
        if second is None or self.data[second[0]] != ord("{"):
            return False
        return isinstance(self._quiet((first[0], len(self.data))), Broken)

    def add_flaw(self, entry: Entry, flaw: Flaw) -> None:
        """Report what is wrong with a value, on the value's own line."""

        def place() -> tuple[int, JsonPath]:
            line = entry.line
            if entry.span is not None:
                line = line_of(self.data, find_offset(self.data, entry.span, flaw.path))
            return line, entry.prefix + flaw.path

        self.problems.add(flaw.message, place)

    def _line_spans(self) -> Iterator[tuple[int, Span]]:
        start, line, size = 0, 1, len(self.data)
        while start < size:
            stop = self.data.find(b"\n", start)
            stop = size if stop < 0 else stop
            while start < stop and self.data[start] in BLANK:
                start += 1
            if start < stop:
                yield line, (start, stop)
            start, line = stop + 1, line + 1

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(pairs)
        if len(made) != len(pairs):
            self._repeated = True
        return made

    def _parse(self, span: Span) -> object:
        """Return a span's value; raises `ValueError` or `RecursionError`."""
        self._repeated = False
        text = self.data[span[0] : span[1]].decode()
        value, end = self._decoder.raw_decode(text)
        if text[end:].strip(" \t\r\n"):
            raise ValueError
        return value

    def _quiet(self, span: Span) -> object:
        try:
            return self._parse(span)
        except (ValueError, RecursionError):
            return BROKEN

    def _decode(self, span: Span, prefix: JsonPath) -> object:
        """Return a span's value, or `BROKEN` after reporting why it has none."""
        try:
            value = self._parse(span)
        except UnicodeDecodeError as error:
            self._add_bad_bytes(span, span[0] + error.start, prefix)
            return BROKEN
        except (ValueError, RecursionError) as error:
            fault = find_fault(self.data, span, unit=self._unit)
            self._add_fault(fault or JsonFault(span[0], (), f"cannot be read: {error}"), prefix)
            return BROKEN
        if self._repeated:
            self._add_repeated(span, prefix)
        return value

    def _add_fault(self, fault: JsonFault, prefix: JsonPath) -> None:
        self.problems.add(fault.message, lambda: (line_of(self.data, fault.offset), prefix + fault.path))

    def _add_bad_bytes(self, span: Span, offset: int, prefix: JsonPath) -> None:
        message = f"byte {offset + self.skipped} of the file (0x{self.data[offset]:02x}) is not UTF-8"
        self.problems.add(message, lambda: (line_of(self.data, offset), prefix + path_at(self.data, span, offset)))

    def _add_repeated(self, span: Span, prefix: JsonPath) -> None:
        for found in repeated_keys(self.data, span):
            first, second = line_of(self.data, found.first), line_of(self.data, found.second)
            lines = f"both on line {first}" if first == second else f"on lines {first} and {second}"
            place = (second, prefix + found.path)
            message = f"the key {quoted(found.key)} stands twice in one object, {lines}"
            self.problems.add(message, lambda place=place: place)  # type: ignore[misc]
