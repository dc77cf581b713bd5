"""A slow JSON parser that knows its position and path at each step, for error messages.

The fast parsers report little about the position and cause of an error, and nothing about positions of valid values.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from grader.files.json_text import MAX_DEPTH, JsonPath, Span, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

_WALK_DEPTH = 2 * MAX_DEPTH
_MAX_DIGITS = 4300
"""Python's own limit for the conversion of text to an integer."""

STRING = rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
NUMBER = rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![\w.+-])"
WORD = rb"(?:true|false|null|NaN|-?Infinity)(?!\w)"
_TOKEN = re.compile(
    rb"(?P<mark>[{}\[\]:,])|(?P<string>" + STRING + rb")|(?P<number>" + NUMBER + rb")|(?P<word>" + WORD + rb")"
)
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_WHOLE_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_NOT_IN_STRING = re.compile(rb'[\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
_WORD_AT = re.compile(rb"[\w.+-]+")
_FOREIGN_WORDS = {
    b"None": "Python's None; JSON writes null",
    b"True": "Python's True; JSON writes true",
    b"False": "Python's False; JSON writes false",
    b"undefined": "JavaScript's undefined; JSON writes null",
}


class JsonFault(Exception):  # noqa: N818 - a place in a text, found on purpose
    """Invalid JSON, with its position."""

    def __init__(self, offset: int, path: JsonPath, message: str) -> None:
        super().__init__(message)
        self.offset, self.path, self.message = offset, path, message


class Event(NamedTuple):
    """One step of a walk."""

    kind: Literal["open", "close", "scalar", "key"]
    start: int
    end: int


class JsonWalker:
    """A parser of one JSON value without recursion; `path` is always the path of the last event."""

    def __init__(self, data: bytes, start: int = 0, end: int | None = None, *, unit: str = "file") -> None:
        self.data, self.position = data, start
        self.end = len(data) if end is None else end
        self.unit = unit
        self.path: list[str | int] = []
        self._open: list[str] = []
        self._keys: dict[bytes, str] = {}

    def events(self) -> Iterator[Event]:
        """Yield every value and key in order. Raises `JsonFault` at the first invalid one."""
        yield from self._value(*self._token())
        yield from self._rest()

    def rest_of_array(self, position: int, index: int) -> Iterator[Event]:
        """Yield the events of an array after its element `index`, which ends at `position`."""
        self.position = position
        self._open, self.path = ["]"], [index]
        yield from self._rest()

    def _rest(self) -> Iterator[Event]:
        while self._open:
            kind, start, end = self._token()
            if kind in "]}":
                yield self._close(kind, start, end)
            elif kind == ",":
                yield from self._next()
            else:
                raise self._fault(start, f"expected a comma or {self._closer()!r}, found {self._shown(start)}")
        self.position = self._skip(_BLANKS)
        if self.position < self.end:
            raise self._fault(
                self.position, f"{self._shown(self.position)} after the end of the value{self._several()}"
            )

    def _several(self) -> str:
        another = self.data[self.position] in b"[{" and self.unit == "file"
        return " (one array around all records, or one record on each line, can be read)" if another else ""

    def _value(self, kind: str, start: int, end: int) -> Iterator[Event]:
        if kind in ("string", "number", "word"):
            yield Event("scalar", start, end)
        elif kind in "[{":
            yield from self._opened(kind, start, end)
        else:
            raise self._fault(start, f"expected a value, found {self._shown(start)}")

    def _opened(self, kind: str, start: int, end: int) -> Iterator[Event]:
        """Yield the opening of nested containers, up to the first value that is not a container."""
        while True:
            yield Event("open", start, end)
            if len(self._open) == _WALK_DEPTH:
                raise JsonFault(start, tuple(self.path[:3]), f"nested deeper than {_WALK_DEPTH} levels")
            self._open.append("}" if kind == "{" else "]")
            self.path.append("" if kind == "{" else 0)
            inner, start, end = self._token()
            if inner == self._open[-1]:
                yield self._close(inner, start, end)
                return
            if kind == "{":
                yield self._key(inner, start, end)
                inner, start, end = self._token()
            if inner not in ("[", "{"):
                yield from self._value(inner, start, end)
                return
            kind = inner

    def _next(self) -> Iterator[Event]:
        if self._open[-1] == "}":
            self.path[-1] = ""
        kind, start, end = self._token()
        if kind in "]}":
            raise self._fault(start, f"a comma before the closing {kind!r}")
        if self._open[-1] == "}":
            yield self._key(kind, start, end)
            kind, start, end = self._token()
        else:
            self.path[-1] = int(self.path[-1]) + 1
        yield from self._value(kind, start, end)

    def _key(self, kind: str, start: int, end: int) -> Event:
        if kind != "string":
            raise JsonFault(
                start, tuple(self.path[:-1]), f"expected a key in double quotes, found {self._shown(start)}"
            )
        raw = self.data[start:end]
        if raw not in self._keys:
            self._keys[raw] = str(json.loads(raw.decode(errors="replace")))
        self.path[-1] = self._keys[raw]
        colon, after, self.position = self._token()
        if colon != ":":
            raise self._fault(after, f"expected a colon after the key, found {self._shown(after)}")
        return Event("key", start, end)

    def _close(self, kind: str, start: int, end: int) -> Event:
        if kind != self._open[-1]:
            raise self._fault(start, f"expected {self._closer()!r}, found {kind!r}")
        self._open.pop()
        self.path.pop()
        return Event("close", start, end)

    def _closer(self) -> str:
        return self._open[-1]

    def _skip(self, pattern: re.Pattern[bytes]) -> int:
        found = pattern.match(self.data, self.position, self.end)
        assert found is not None
        return found.end()

    def _token(self) -> tuple[str, int, int]:
        """Return (the mark itself or "string", "number", "word"), start and end of the next token."""
        start = self.position = self._skip(_BLANKS)
        found = _TOKEN.match(self.data, start, self.end)
        if found is None:
            raise self._no_token(start)
        self.position = found.end()
        kind = found.lastgroup or ""
        if kind == "number" and found.end() - start > _MAX_DIGITS and found[0].lstrip(b"-").isdigit():
            raise self._fault(start, f"an integer of {found.end() - start} digits is too long")
        return (found[0].decode() if kind == "mark" else kind), start, found.end()

    def _no_token(self, start: int) -> JsonFault:
        if start >= self.end:
            return self._fault(start, f"the {self.unit} ends before the value does (was it cut off?)")
        if self.data[start : start + 1] == b'"':
            return self._bad_string(start)
        word = _WORD_AT.match(self.data, start, self.end)
        if word is not None and word[0] in _FOREIGN_WORDS:
            return self._fault(start, _FOREIGN_WORDS[word[0]])
        if self.data[start : start + 1] == b"'":
            return self._fault(
                start, "single quotes; JSON strings need double quotes (json.dumps() writes them, str() does not)"
            )
        if self.data[start : start + 1] in b"-+.0123456789":
            return self._fault(start, f"{self._shown(start)} is not a JSON number")
        return self._fault(
            start, f"{'expected a key' if self._wants_key() else 'expected a value'}, found {self._shown(start)}"
        )

    def _bad_string(self, start: int) -> JsonFault:
        whole = _WHOLE_STRING.match(self.data, start, self.end)
        if whole is None:
            return self._fault(start, f"the string that begins here has no end (was the {self.unit} cut off?)")
        for found in _NOT_IN_STRING.finditer(self.data, start + 1, whole.end() - 1):
            at, text = found.start(), found[0]
            if text == b"\\":
                return self._fault(at, f"a backslash without a valid escape: {quoted(self._text(at, 2))}")
            if text < b" ":
                return self._fault(
                    at, f"a raw control character (0x{text[0]:02x}) in a string; JSON writes it \\u00{text[0]:02x}"
                )
        raise AssertionError("a string that the token pattern refused has something to refuse")

    def _shown(self, start: int) -> str:
        """Return the text at a byte, for the message "found ..."."""
        if start >= self.end:
            return f"the end of the {self.unit}"
        word = _WORD_AT.match(self.data, start, self.end)
        return quoted(self._text(start, word.end() - start if word else 1), 20)

    def _text(self, start: int, length: int) -> str:
        text = self.data[start : min(start + max(length, 4), self.end)].decode(errors="replace")
        return text[:length]

    def _wants_key(self) -> bool:
        """Return whether the next token must be a key."""
        return bool(self.path) and self.path[-1] == ""

    def _fault(self, offset: int, message: str) -> JsonFault:
        return JsonFault(offset, tuple(self.path[:-1] if self._wants_key() else self.path), message)


# --- places -------------------------------------------------------------------------------------------------------


class RepeatedKey(msgspec.Struct, frozen=True, kw_only=True):
    """A duplicate key in one object."""

    path: JsonPath
    """Of the object."""
    key: str
    first: int
    second: int


def find_fault(data: bytes, span: Span, *, unit: str = "file") -> JsonFault | None:
    """Return the first invalid position in a span, or None."""
    try:
        for _ in JsonWalker(data, *span, unit=unit).events():
            pass
    except JsonFault as fault:
        return fault
    return None


def find_offset(data: bytes, span: Span, path: JsonPath) -> int:
    """Return the start of the value at `path` in a valid span; the span's start if there is no such value."""
    walker, wanted = JsonWalker(data, *span), list(path)
    try:
        for event in walker.events():
            if event.kind in ("scalar", "open") and walker.path == wanted:
                return event.start
    except JsonFault:
        pass
    return span[0]


def path_at(data: bytes, span: Span, offset: int) -> JsonPath:
    """Return the path of the string (or of the key's object) that covers a byte."""
    walker = JsonWalker(data, *span)
    try:
        for event in walker.events():
            if event.start <= offset < event.end and event.kind in ("scalar", "key"):
                return tuple(walker.path if event.kind == "scalar" else walker.path[:-1])
    except JsonFault:
        pass
    return ()


def repeated_keys(data: bytes, span: Span) -> list[RepeatedKey]:
    """Return every duplicate key in a span."""
    walker, found = JsonWalker(data, *span), []
    seen: list[dict[str, int]] = []
    for event in walker.events():
        if event.kind == "open":
            seen.append({})
        elif event.kind == "close":
            seen.pop()
        elif event.kind == "key":
            key = str(walker.path[-1])
            if key in seen[-1]:
                path = tuple(walker.path[:-1])
                found.append(RepeatedKey(path=path, key=key, first=seen[-1][key], second=event.start))
            seen[-1].setdefault(key, event.start)
    return found
