"""GitHub's step summary: the report, shown beside the log of a CI run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from grader.commands.console import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.gate import GateResult
    from grader.results import Report


def summarise(report: Report, gates: Sequence[GateResult]) -> None:
    """Append the report to the step summary, if the CI has one. A failure to write it does not fail the run."""
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if not place:
        return
    from grader.reports import markdown

    try:
        with Path(place).open("ab") as file:
            file.write(markdown.render(report, gates) + b"\n")
    except OSError as error:
        say(f"The step summary could not be written: {error}")
