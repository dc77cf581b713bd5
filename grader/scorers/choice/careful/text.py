"""A cleaned reply with its sentences, lines and formulas."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

from grader.scorers.patterns import Pattern
from grader.scorers.plain_text import BOUNDARY

if TYPE_CHECKING:
    from collections.abc import Sequence

_FORMULA = Pattern(
    r"(\$\$?)(?=\S)[^$\n]{1,400}(?:\n(?!\s*\n)[^$\n]{0,400})*+(?<!\s)\1(?!\d)|\\\((?:.{2,400}?)\\\)|\\\[(?:.{2,400}?)\\\]",
    re.DOTALL,
)
_WORDED = Pattern(r"\\(?:text\w*|mathrm|mathbf|mbox|boxed)\s*\{[^{}]*\}")
_ALONE = Pattern(r"[\s$\\()\[\]{}.*:]|\\(?:text|textbf|mathbf|mathrm|boxed|bf|rm)\b")


def formulas(text: str) -> list[tuple[int, int]]:
    """Return the spans of the LaTeX formulas that hold more than one letter, without their words, in order."""
    if "$" not in text and "\\" not in text:
        return []
    found: list[tuple[int, int]] = []
    for m in _FORMULA.finditer(text):
        if len(_ALONE.sub("", m[0])) > 1:
            inner = [w.span() for w in _WORDED.finditer(text, *m.span())]
            edges = [m.start(), *(at for span in inner for at in span), m.end()]
            found += zip(edges[::2], edges[1::2], strict=True)
    return found


_FACTORIAL = Pattern(r"[\d)]!(?=\s?[-+*/=)])")
"""An exclamation mark of a formula ends no sentence."""


class Page:
    """A cleaned reply and its sentences: `shown` keeps the case, `low` is lower-cased, both as long as the raw text."""

    def __init__(self, shown: str, formulas: Sequence[tuple[int, int]] = ()) -> None:
        self.shown = shown
        self._formulas = formulas
        self.low = shown.lower()
        self._line = (0, -1)
        self.ends: list[int] = []
        """Positions right after each sentence boundary, ascending."""
        if len(shown) > 1:
            self.ends = [m.end() for m in BOUNDARY.finditer(shown)]
            if _FACTORIAL.search(shown):
                self.ends = [at for at in self.ends if not _FACTORIAL.match(shown, at - 2)]

    def sentence(self, start: int, end: int) -> tuple[int, int]:
        """Return the [start, end) of the sentence or sentences that contain [start, end)."""
        left = bisect_right(self.ends, start)
        right = bisect_left(self.ends, max(end, start + 1))
        return (
            self.ends[left - 1] if left else 0,
            self.ends[right] if right < len(self.ends) else len(self.shown),
        )

    @cached_property
    def end(self) -> int:
        """The end of the text without the white space after it."""
        return len(self.shown.rstrip())

    @cached_property
    def breaks_off(self) -> bool:
        """Whether the text is more than a sentence long and ends inside a sentence: it was probably truncated."""
        body = self.shown.strip()
        whole = body.endswith((".", "!", "?", "\u3002", ")", "]", "}", '"', "'", ":", ";"))
        several = len(body) > 100 or (len(body) > 60 and bool(self.ends and self.shown[: self.ends[-1]].strip()))
        return several and not whole

    def is_formula(self, start: int, end: int) -> bool:
        """Whether [start, end) is only a part of a formula."""
        at = bisect_right(self._formulas, (start, len(self.shown))) - 1
        return at >= 0 and end <= self._formulas[at][1]

    def line(self, start: int, end: int) -> tuple[int, int]:
        """Return the [start, end) of the line or lines that contain [start, end), without the newline."""
        first, last = self._line
        if first <= start and end <= last:
            return self._line
        first, stop = self.shown.rfind("\n", 0, start) + 1, self.shown.find("\n", end)
        last = stop if stop >= 0 else len(self.shown)
        # The next mention is often on the same line, and a line can be megabytes long.
        if self.shown.find("\n", start, end) < 0:
            self._line = first, last
        return first, last

    def only_before(self, start: int, at: int, marks: str) -> bool:
        """Whether [start, at) has no other characters than these. It reads from `at` back, only as far as needed."""
        size = 64
        while start < at:
            cut = max(start, at - size)
            if self.shown[cut:at].strip(marks):
                return False
            at, size = cut, 8 * size
        return True

    def only_after(self, at: int, end: int, marks: str) -> bool:
        """Whether [at, end) has no other characters than these. It reads from `at` on, only as far as needed."""
        size = 64
        while at < end:
            cut = min(end, at + size)
            if self.shown[at:cut].strip(marks):
                return False
            at, size = cut, 8 * size
        return True
