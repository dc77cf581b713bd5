"""Raw outputs within a budget: very long ones lose their middle; the report shows where, and how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.web.highlight import units

if TYPE_CHECKING:
    from grader.reports.material import Material

_TOTAL = 30_000_000
"""Maximum number of characters of raw output in a report."""
_LIMITS = (200_000, 100_000, 50_000, 30_000, 20_000, 14_000, 10_000, 8_000, 6_000, 4_000, 2_000)


class Texts:
    """The outputs of a report, cut to the budget."""

    def __init__(self, material: Material, *, runs: int = 1) -> None:
        """`runs`: number of runs that share the report's budget."""
        self._texts = material.predictions
        lengths = [len(text) for texts in self._texts.values() for text in texts]
        fitting = (limit for limit in _LIMITS if sum(min(n, limit) for n in lengths) <= _TOTAL // runs)
        self._limit = next(fitting, _LIMITS[-1])
        self.cut = sum(n > self._limit for n in lengths)
        """Number of outputs that are cut."""

    def why(self) -> str:
        """Return a sentence about the outputs that are cut."""
        return f"{self.cut} outputs are longer than {self._limit:,} characters; the middle of them is left out."

    def _text(self, qid: str, sample: int) -> str | None:
        texts = self._texts.get(qid, [])
        return texts[sample] if sample < len(texts) else None

    def size(self, qid: str, sample: int) -> int:
        """Return the number of shown characters of an output."""
        return min(len(self._text(qid, sample) or ""), self._limit)

    def _gap(self, text: str) -> tuple[int, int]:
        """Return the range [start, end) of the characters that are left out."""
        if len(text) <= self._limit:
            return len(text), len(text)
        start = self._limit * 2 // 3
        return start, len(text) - (self._limit - start)

    def shown(self, qid: str, sample: int) -> dict[str, object]:
        """Return an output as the page needs it; empty if the sample has no output.

        `raw`: the text. `cut`, if a part is left out: its position in UTF-16 code units, its length in characters.
        """
        text = self._text(qid, sample)
        if text is None:
            return {}
        start, end = self._gap(text)
        if start == end:
            return {"raw": text}
        return {"raw": text[:start] + text[end:], "cut": [units(text[:start]), end - start]}

    def span(self, qid: str, sample: int, span: tuple[int, int]) -> list[int] | None:
        """Convert the range [start, end) of an output to UTF-16 code units of the shown text; None if not shown."""
        text = self._text(qid, sample)
        first, last = span
        if text is None or not 0 <= first < last <= len(text):
            return None
        start, end = self._gap(text)
        if first >= end:
            before = units(text[:start]) + units(text[end:first])
        elif last <= start:
            before = units(text[:first])
        else:
            return None
        return [before, before + units(text[first:last])]
