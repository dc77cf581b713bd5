"""The JSON report: the content of the results file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.results.file import encode_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.gate import GateResult
    from grader.reports.interface import Gather
    from grader.results import ReadingName, Report


def make(
    report: Report, material: Gather, gates: Sequence[GateResult] = (), /, *, reading: ReadingName = "careful"
) -> bytes:
    """Return the file; see `grader.reports.interface.Format`."""
    del material, gates, reading
    return encode_report(report)
