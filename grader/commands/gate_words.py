"""What commands print of gates: a line for each, the worst last, and on GitHub a message at the top of the run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from grader.commands import github
from grader.commands.console import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.gate import GateResult


def announce(gates: Sequence[GateResult], *, is_shown: bool = False) -> None:
    """Print the decision of every gate; the last lines, which a CI's log shows first, are the worst that decide.

    `is_shown`: they are in a table above, so one line with their number follows.
    """
    from grader.decisions.gate import WORST_FIRST

    for gate in gates:
        github.on_top(gate)
    if is_shown:
        counts = Counter(gate.state for gate in gates if not gate.is_advisory)
        words = ", ".join(f"{counts[state]} {state}" for state in WORST_FIRST if counts[state])
        say(f"GATES: {words or 'none decides'}")
        return
    for gate in sorted(gates, key=lambda gate: (not gate.is_advisory, -WORST_FIRST.index(gate.state))):
        advisory = " (advisory)" if gate.is_advisory else ""
        say(f"GATE {gate.state.upper()}{advisory}: {gate.gate}: {gate.reason}")
