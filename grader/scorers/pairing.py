"""One metric in two runs, paired by observation."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from grader.errors import UsageError
from grader.results import ReadingName, Report
from grader.statistics.paired import LEVEL, Difference


class NothingPairedError(UsageError):
    """No observation is scored in both runs."""

    def __init__(self) -> None:
        super().__init__("These runs cannot be compared: no item is scored in both.")


class Side(NamedTuple):
    """One side of a comparison: a run in one reading."""

    report: Report
    reading: ReadingName


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One metric on both sides."""

    name: str
    reading: ReadingName
    """The reading of the second side."""
    group: str | None
    before: float
    """In percent, over the pairs that are scored in both runs."""
    after: float
    difference: Difference
    corrected: float | None = None
    """The p value, corrected for the other rows of its comparison (Benjamini-Hochberg); None: not corrected."""

    @property
    def p_value(self) -> float:
        """The p value that decides: the corrected one, if it is corrected."""
        return self.difference.p_value if self.corrected is None else self.corrected

    @property
    def is_significant(self) -> bool:
        """Whether the difference is significant."""
        return self.p_value < LEVEL
