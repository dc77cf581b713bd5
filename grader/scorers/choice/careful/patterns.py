"""Regular expressions that are compiled at first use: start-up needs none of them, and most replies need few."""

from __future__ import annotations

import re
import sys
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Pattern:
    """A regular expression, compiled at its first use."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self.source = source
        self.flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.source, self.flags)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Find the first match within [start, end)."""
        return self._compiled.search(text, start, end)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Find a match at `start`."""
        return self._compiled.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Find a match that is the whole text."""
        return self._compiled.fullmatch(text)

    def finditer(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        """Iterate over all matches within [start, end)."""
        return self._compiled.finditer(text, start, end)

    def findall(self, text: str) -> list[str]:
        """Return all matches (of a pattern without groups)."""
        return self._compiled.findall(text)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        """Replace matches."""
        return self._compiled.sub(replacement, text, count)
