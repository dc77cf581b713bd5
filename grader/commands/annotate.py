"""What a CI system shows on top of a run: GitHub's annotations."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from grader.commands.console import say

if TYPE_CHECKING:
    from grader.decisions.gate import GateResult

_LEVELS = {"met": "notice", "failed": "error", "inconclusive": "warning", "unscored": "error"}


def on_top(gate: GateResult) -> None:
    """Print a gate's verdict as a workflow command, which the CI shows on top of the run."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        say(f"::{_LEVELS[gate.state]} title=grade::{_escaped(f'{gate.gate}: {gate.reason}')}")


def _escaped(text: str) -> str:
    """Escape as GitHub's workflow commands need it (docs.github.com, workflow commands)."""
    pairs = [("%", "%25"), ("\r", "%0D"), ("\n", "%0A")]
    for character, code in pairs:
        text = text.replace(character, code)
    return text
