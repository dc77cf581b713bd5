"""Syntax highlighting of Python source, computed here so that the page needs no tokenizer.

A line has runs: (length in UTF-16 code units, class of one letter). A line without colour has no runs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 40_000
"""Maximum length in characters; a longer source has no colours, so that it cannot delay a report."""


def units(text: str) -> int:
    """Return the length of a text in UTF-16 code units, as a browser counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


@lru_cache(maxsize=4096)
def lines(source: str) -> tuple[tuple[str, str], ...]:
    """Return the lines of a source, each as (text, runs)."""
    if len(source) > _LONGEST:
        return tuple((text, "") for text in source.split("\n"))
    return tuple(_lines(source))


def _lines(source: str) -> Iterator[tuple[str, str]]:
    """Colour each line alone if no token spans lines; samples of a task share many lines, which are cached."""
    if any(mark in source for mark in ('"""', "'''", "\\\n")):
        yield from _coloured(source)
    else:
        for line in source.split("\n"):
            yield _line(line)


@lru_cache(maxsize=100_000)
def _line(line: str) -> tuple[str, str]:
    return next(_coloured(line))


def _coloured(source: str) -> Iterator[tuple[str, str]]:
    text: list[str] = []
    runs: list[tuple[int, str]] = []
    for letter, value in _tokens(source):
        first, *more = value.split("\n")
        _add(text, runs, first, letter)
        for part in more:
            yield "".join(text), _coded(runs)
            text, runs = [], []
            _add(text, runs, part, letter)
    yield "".join(text), _coded(runs)


def _add(text: list[str], runs: list[tuple[int, str]], part: str, letter: str) -> None:
    """Append a part of a line; neighbouring parts of one class become one run."""
    if not part:
        return
    text.append(part)
    if runs and (runs[-1][1] == letter or not part.strip()):
        runs[-1] = (runs[-1][0] + units(part), runs[-1][1])
    else:
        runs.append((units(part), letter))


def _coded(runs: list[tuple[int, str]]) -> str:
    """Return the runs as text: plain runs have the class `_`, a plain line is an empty text."""
    if all(letter == "_" for _, letter in runs):
        return ""
    while runs[-1][1] == "_":
        runs.pop()
    return "".join(f"{length}{letter}" for length, letter in runs)


def _tokens(source: str) -> Iterator[tuple[str, str]]:
    from pygments.lexers.python import PythonLexer

    for _, kind, value in PythonLexer().get_tokens_unprocessed(source):
        yield _letter(kind), value


@lru_cache(maxsize=256)
def _letter(kind: Any) -> str:  # noqa: PLR0911 - one return a class
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    if kind in Comment:
        return "c"
    if kind in String:
        return "s"
    if kind in Number:
        return "n"
    if kind in Keyword or kind in Operator.Word:
        return "k"
    if kind in Name.Function or kind in Name.Class:
        return "f"
    if kind in Name.Builtin or kind in Name.Exception:
        return "b"
    if kind in Name.Decorator:
        return "d"
    return "_"
