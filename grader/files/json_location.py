"""Where in a JSON text a problem stands: `$.path`, byte offset and line."""

from __future__ import annotations

import msgspec

from grader.files.json_text import MAX_DEPTH, JsonPath, Span, line_of, quoted, render_path
from grader.files.json_walker import JsonFault, JsonWalker

__all__ = [
    "MAX_DEPTH",
    "Flaw",
    "JsonFault",
    "JsonPath",
    "Span",
    "find_fault",
    "find_offset",
    "line_of",
    "path_at",
    "quoted",
    "render_path",
    "repeated_keys",
]


class Flaw(msgspec.Struct, frozen=True, kw_only=True):
    """A value that parses but is not what was expected."""

    path: JsonPath
    """Relative to the record."""
    message: str


class RepeatedKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key that stands twice in one object."""

    path: JsonPath
    """Of the object."""
    key: str
    first: int
    second: int


def find_fault(data: bytes, span: Span, *, unit: str = "file") -> JsonFault | None:
    """Return the first place in a span that is not JSON, or None."""
    try:
        for _ in JsonWalker(data, *span, unit=unit).events():
            pass
    except JsonFault as fault:
        return fault
    return None


def find_offset(data: bytes, span: Span, path: JsonPath) -> int:
    """Return where the value at `path` within a valid span starts; the span's start if there is none."""
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
    """Return every key of a span that its object already had."""
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
