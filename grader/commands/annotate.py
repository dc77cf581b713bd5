"""GitHub annotations: a gate's decision, shown at the top of a CI run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from grader.commands.console import say

if TYPE_CHECKING:
    from grader.decisions.gate import GateResult

_LEVELS = {"met": "notice", "failed": "error", "inconclusive": "warning", "unscored": "error"}


def on_top(gate: GateResult) -> None:
    """Print a gate's decision as a workflow command, which GitHub shows at the top of the run."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        say(f"::{_LEVELS[gate.state]} title=grade::{_escaped(f'{gate.gate}: {gate.reason}')}")


def _escaped(text: str) -> str:
    """Escape the characters that are special in GitHub's workflow commands (docs.github.com, workflow commands)."""
    pairs = [("%", "%25"), ("\r", "%0D"), ("\n", "%0A")]
    for character, code in pairs:
        text = text.replace(character, code)
    return text
