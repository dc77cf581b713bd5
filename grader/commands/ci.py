"""What a CI system shows of a run beside its log: GitHub's step summary."""

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
    """Append the report to the step's summary, where the CI keeps one; a summary that fails is no failed run."""
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if not place:
        return
    from grader.reports import markdown

    try:
        with Path(place).open("ab") as file:
            file.write(markdown.render(report, gates) + b"\n")
    except OSError as error:
        say(f"The step summary could not be written: {error}")
