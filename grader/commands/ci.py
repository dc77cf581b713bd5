"""What a CI system shows of a run beside its log: GitHub's step summary and annotations."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from grader.commands.console import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.gate import GateResult
    from grader.results import Report

_LEVELS = {"met": "notice", "failed": "error", "inconclusive": "warning", "unscored": "error"}


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


def annotate(gate: GateResult) -> None:
    """Print a gate's verdict as a workflow command, which the CI shows on top of the run."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        say(f"::{_LEVELS[gate.state]} title=grade::{_escaped(f'{gate.gate}: {gate.reason}')}")


def _escaped(text: str) -> str:
    """Escape as GitHub's workflow commands need it (docs.github.com, workflow commands)."""
    pairs = [("%", "%25"), ("\r", "%0D"), ("\n", "%0A")]
    for character, code in pairs:
        text = text.replace(character, code)
    return text
