"""One file a format: a report, and nothing else, becomes the bytes of a file. The format is the file's extension."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Protocol

from grader.errors import UsageError
from grader.files.results_file import encode_report

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


def format_of(name: str) -> Format:
    """Return the format that a file's name asks for by its extension; raises UsageError where there is none."""
    try:
        return FORMATS[PurePath(name).suffix.lower()]
    except KeyError:
        raise UsageError(
            f"-o {name}: reports are written as {', '.join(FORMATS)}; name the file with one of these extensions."
        ) from None


# Each imports its format when it is used: a CSV waits for no template engine.


def _json(
    report: Report, _material: Gather, _gates: Sequence[GateResult] = (), /, *, reading: ReadingName = "careful"
) -> bytes:
    del reading
    return encode_report(report)


def _csv(
    report: Report, _material: Gather, _gates: Sequence[GateResult] = (), /, *, reading: ReadingName = "careful"
) -> bytes:
    from grader.reports import csv

    del reading
    return csv.render(report)


def _markdown(
    report: Report, _material: Gather, gates: Sequence[GateResult] = (), /, *, reading: ReadingName = "careful"
) -> bytes:
    from grader.reports import markdown

    del reading
    return markdown.render(report, gates)


def _junit(
    report: Report, _material: Gather, gates: Sequence[GateResult] = (), /, *, reading: ReadingName = "careful"
) -> bytes:
    from grader.reports import junit

    return junit.render(report, gates, reading)


def _html(
    report: Report, material: Gather, _gates: Sequence[GateResult] = (), /, *, reading: ReadingName = "careful"
) -> bytes:
    from grader.reports import html

    del reading
    return html.render(report, material())


FORMATS: dict[str, Format] = {".json": _json, ".csv": _csv, ".md": _markdown, ".xml": _junit, ".html": _html}
"""By extension, in the order in which they are named to the user."""
