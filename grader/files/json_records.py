"""The records of a JSON text, each with its position; invalid JSON becomes a problem with a line.

The byte ranges of the records are found first, then msgspec decodes the records in blocks. Python's own parser, which
is three times slower, decodes the blocks that msgspec refuses (it accepts the NaN that pandas writes), and blocks with
possible duplicate keys: its hook gets every pair of an object. Memory is limited to the text plus its values.
"""

from __future__ import annotations

import json
import re
from itertools import islice, repeat
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from grader.files.json_spans import array_spans
from grader.files.json_text import Flaw, JsonPath, Span, quoted, render_path
from grader.files.json_walker import JsonFault, find_fault, find_offset, path_at, repeated_keys
from grader.files.problems import MOST, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BLANK = b" \t\r\n"
_BLOCK = 4096
"""Number of records that are decoded together."""
_DECODE: Final = msgspec.json.Decoder().decode
_SPACED_COLON = re.compile(rb'(?:(?<!\\)|\\\\)"[ \t\r\n]++:')


class Problems:
    """Collector of problems, up to the number at which reading stops."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.found: list[str] = []

    @property
    def full(self) -> bool:
        """Whether there are enough problems to stop reading."""
        return len(self.found) >= MOST

    def add(self, message: str, place: Callable[[], tuple[int, JsonPath]]) -> None:
        """Add one problem; `place` returns its line and path."""
        if not self.full:
            line, path = place()
            self.found.append(f"{self.label}:{line}: {render_path(path)}: {message}")

    def lines(self) -> list[str]:
        """Return the lines to show to the user; empty without problems."""
        stopped = [f"{self.label}: reading stopped after {MOST:,} problems; there may be more"] if self.full else []
        return [*shown(self.found), *stopped]


class Entry(NamedTuple):
    """One record, with its position in the file."""

    value: object
    line: int
    prefix: JsonPath = ()
    """(3,) in an array; () in JSON Lines."""
    span: Span | None = None
    """Its byte range; None if it is not from a JSON text."""


class Block(NamedTuple):
    """Consecutive records, stored by column, because there may be millions."""

    values: list[object] | None
    """None if they must be read one by one, with `JsonText.entries`."""
    lines: list[int]
    spans: list[Span]
    first: int | None
    """The index of the first record in its array; None in JSON Lines."""

    def prefix(self, number: int) -> JsonPath:
        """Return the path of one of the records."""
        return () if self.first is None else (self.first + number,)


class Broken:
    """The value of a span without a valid value."""


BROKEN: Final = Broken()


class JsonText:
    """One JSON text (array, lines or single object) without byte-order mark."""

    def __init__(self, data: bytes, problems: Problems, *, skipped: int = 0) -> None:
        self.data, self.problems = data, problems
        self.skipped = skipped
        """Number of bytes before `data` in the file: a byte-order mark."""
        self._unit = "file"
        self._repeated = False
        self._decoder = json.JSONDecoder(object_pairs_hook=self._object)

    def array_blocks(self) -> Iterator[Block]:
        """Yield the elements of the top-level array; stop after too many problems."""
        return self._blocks(self._array_places(), 0)

    def line_blocks(self) -> Iterator[Block]:
        """Yield the value of each line that is not blank; stop after too many problems."""
        self._unit = "line"
        return self._blocks(self._line_spans(), None)

    def entries(self, blocks: Iterable[Block]) -> Iterator[Entry]:
        """Yield the records of blocks one by one; report records that cannot be read."""
        for block in blocks:
            for number, (line, span) in enumerate(zip(block.lines, block.spans, strict=True)):
                if self.problems.full:
                    return
                prefix = block.prefix(number)
                value = block.values[number] if block.values is not None else self._decode(span, line, prefix)
                if not isinstance(value, Broken):
                    yield Entry(value, line, prefix, span)

    def whole(self) -> Entry | None:
        """Return the single value of the text; report why if it has none, and return None."""
        line, (start, _) = next(self._line_spans())
        span = (start, len(self.data))
        value = self._decode(span, line, ())
        return None if isinstance(value, Broken) else Entry(value, line, (), span)

    def is_lines(self, is_record: Callable[[object], bool]) -> bool:
        """Return whether the text is JSON Lines, not one object; a single line must hold a record."""
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
        """Report a problem with a value, with the line of the value."""

        def place() -> tuple[int, JsonPath]:
            line = entry.line
            if entry.span is not None and self.data.find(b"\n", *entry.span) >= 0:
                line = self._line((entry.span[0], line), find_offset(self.data, entry.span, flaw.path))
            return line, entry.prefix + flaw.path

        self.problems.add(flaw.message, place)

    def _array_places(self) -> Iterator[tuple[int, Span]]:
        spans = array_spans(self.data)
        return self._with_lines(spans) if b"\n" in self.data else zip(repeat(1), spans)

    def _with_lines(self, spans: Iterator[Span]) -> Iterator[tuple[int, Span]]:
        line, seen = 1, 0
        for span in spans:
            line += self.data.count(b"\n", seen, span[0])
            seen = span[0]
            yield line, span

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

    def _blocks(self, places: Iterator[tuple[int, Span]], first: int | None) -> Iterator[Block]:
        fault: JsonFault | None = None
        while fault is None and not self.problems.full:
            found: list[tuple[int, Span]] = []
            try:
                found.extend(islice(places, _BLOCK))
            except JsonFault as error:
                fault = error  # `found` has the elements before it
            if found:
                lines, spans = [line for line, _ in found], [span for _, span in found]
                yield Block(self._values(spans), lines, spans, first)
                first = None if first is None else first + len(spans)
            elif fault is None:
                return
        if fault is not None:
            self._add_fault(fault, (0, 1), ())

    def _values(self, spans: list[Span]) -> list[object] | None:
        """Return the values; None if msgspec refuses one, or an object may have a duplicate key."""
        try:
            values = [_DECODE(self.data[start:end]) for start, end in spans]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        keys = self._keys(spans[0][0], spans[-1][1])
        flat = sum(len(value) for value in values if type(value) is dict)
        return values if keys == flat or keys == _count_keys(values) else None

    def _keys(self, start: int, end: int) -> int | None:
        r"""Return an upper bound of the number of keys in a part of the text; None if only a parser can tell.

        A key ends with `":`. An escaped quote in a string, `\\":`, looks the same, and is subtracted. A string that
        begins with a colon is counted too; this costs time later, but does no harm.
        """
        if self.data.find(b'\\\\":', start, end) >= 0:
            return None
        spaced = any(self.data.find(blank + b":", start, end) >= 0 for blank in (b" ", b"\t", b"\r", b"\n"))
        if spaced and _SPACED_COLON.search(self.data, start, end) is not None:
            return None
        return self.data.count(b'":', start, end) - self.data.count(b'\\":', start, end)

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(pairs)
        if len(made) != len(pairs):
            self._repeated = True
        return made

    def _parse(self, span: Span) -> object:
        """Return a span's value. Raises `ValueError` or `RecursionError`."""
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

    def _decode(self, span: Span, line: int, prefix: JsonPath) -> object:
        """Return a span's value; report why if it has none, and return `BROKEN`."""
        start = (span[0], line)
        try:
            value = self._parse(span)
        except UnicodeDecodeError as error:
            self._add_bad_bytes(span, start, span[0] + error.start, prefix)
            return BROKEN
        except (ValueError, RecursionError) as error:
            fault = find_fault(self.data, span, unit=self._unit)
            self._add_fault(fault or JsonFault(span[0], (), f"cannot be read: {error}"), start, prefix)
            return BROKEN
        if self._repeated:
            self._add_repeated(span, start, prefix)
        return value

    def _line(self, start: tuple[int, int], offset: int) -> int:
        """Return the line of a byte after `start`, which is (another byte, its line)."""
        return start[1] + self.data.count(b"\n", start[0], offset)

    def _add_fault(self, fault: JsonFault, start: tuple[int, int], prefix: JsonPath) -> None:
        self.problems.add(fault.message, lambda: (self._line(start, fault.offset), prefix + fault.path))

    def _add_bad_bytes(self, span: Span, start: tuple[int, int], offset: int, prefix: JsonPath) -> None:
        message = f"byte {offset + self.skipped} of the file (0x{self.data[offset]:02x}) is not UTF-8"
        self.problems.add(message, lambda: (self._line(start, offset), prefix + path_at(self.data, span, offset)))

    def _add_repeated(self, span: Span, start: tuple[int, int], prefix: JsonPath) -> None:
        for found in repeated_keys(self.data, span):
            first, second = self._line(start, found.first), self._line(start, found.second)
            lines = f"both on line {first}" if first == second else f"on lines {first} and {second}"
            place = (second, prefix + found.path)
            message = f"the key {quoted(found.key)} is a duplicate in one object, {lines}"
            self.problems.add(message, lambda place=place: place)  # type: ignore[misc]


def _count_keys(values: Iterable[object]) -> int:
    """Return the number of keys of all objects in `values`, nested objects included."""
    count = 0
    waiting = [values]
    while waiting:
        for value in waiting.pop():
            if type(value) is dict:
                count += len(value)
                waiting.append(value.values())
            elif type(value) is list:
                waiting.append(value)
    return count
