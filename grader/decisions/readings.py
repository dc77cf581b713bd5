"""One run under its two readings, paired by item."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from grader.results import is_same
from grader.scorers.pairing import NothingPairedError, Side
from grader.scorers.registry import scorer_of
from grader.wording import signed

if TYPE_CHECKING:
    from grader.results import Report
    from grader.statistics.paired import Difference


def careful_minus_official(report: Report) -> dict[str, Difference]:
    """Return the difference of each overall metric that is not the same in both readings."""
    scorer = scorer_of(report)
    sides = Side(report, "official"), Side(report, "careful")
    differences = {}
    for name, (official, careful) in report.overall().items():
        if official is None or careful is None or official.value is None or careful.value is None:
            continue
        if is_same(official, careful):
            continue
        with suppress(NothingPairedError):
            if (comparison := scorer.compare(*sides, name)) is not None:
                differences[name] = comparison.difference
    return differences


def in_words(report: Report) -> list[str]:
    """Return one sentence for all metrics; empty if the readings have the same values."""
    differences = careful_minus_official(report)
    if not differences:
        return []
    changes = "; ".join(
        f"{name} {signed(change.value)} points (95 % interval {signed(change.ci95[0])} to {signed(change.ci95[1])})"
        for name, change in differences.items()
    )
    return [f"Careful minus official, paired by item: {changes}."]
