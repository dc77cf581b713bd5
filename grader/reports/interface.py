"""What a report format is: one file in this folder with a function `make`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.decisions.gate import GateResult
    from grader.reports.material import Material
    from grader.results import ReadingName, Report

    Gather = Callable[[], Material]
    """Gathers what a report cannot know (prompts, images, raw outputs); called only by the format that shows it."""


class Format(Protocol):
    """Makes a file of a report."""

    def __call__(
        self, report: Report, material: Gather, gates: Sequence[GateResult] = (), /, *, reading: ReadingName = "careful"
    ) -> bytes:
        """Return the file's bytes. `reading` decides where a format has one verdict an item (JUnit)."""
