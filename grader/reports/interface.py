"""The interface of a report format: a module in this folder with a function `make`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.decisions.gate import GateResult
    from grader.reports.material import Material
    from grader.results import ReadingName, Report

    Gather = Callable[[], Material]
    """Collects what a report does not hold (prompts, images, raw outputs). Only formats that show it call this."""


class Format(Protocol):
    """A function that turns a report into the bytes of a file."""

    def __call__(
        self, report: Report, material: Gather, gates: Sequence[GateResult] = (), /, *, reading: ReadingName = "careful"
    ) -> bytes:
        """Return the file's bytes. A format with one verdict per item (JUnit) uses the given `reading`."""
