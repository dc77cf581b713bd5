"""Which runs a busy machine may have ended: their jobs run again, alone on the machine."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.sandbox.interface import Answer

STOPS_BY_OTHERS = {"blocked", "wall", "shared", "disturbed"}
"""Reasons for stopping a program that other programs on the machine can cause."""
KILLED = -9
"""The status of a program that SIGKILL has ended; not every system that imports this has `signal.SIGKILL`."""
CALM_SECONDS = 0.2
"""A program that was ready to run but waited less than this had enough processor time."""
CALM_OFFICIAL_RUN_SECONDS = 0.02
"""The same for an official run, which gets no grace after its limit."""


def was_starved(answer: Answer) -> bool:
    """Whether a run ended for a reason that the machine or another program may have caused.

    An answer that the tests have found to be wrong (`confirmed` is false) would be wrong in another run, too.
    """
    for kind in ("run", "record", "answer", "judge", "compare"):  # not `lint`, which runs no program
        execution = answer.get(kind)
        if isinstance(execution, dict) and execution.get("confirmed") is not False:
            calm_seconds = CALM_OFFICIAL_RUN_SECONDS if kind == "run" else CALM_SECONDS
            with contextlib.suppress(KeyError, TypeError):
                if _is_starved(execution["evidence"], calm_seconds):
                    return True
    return False


def _is_starved(evidence: Mapping[str, Any], calm_seconds: float) -> bool:
    """Whether a process may have ended because of the machine. `evidence` has the fields of `ProcessEvidence`.

    On a calm machine, a process waits less than `calm_seconds` for a core.
    """
    reason = evidence["stopped"]
    if reason is None:
        # The sandbox did not stop it. SIGKILL without the sandbox's own out-of-memory event: the machine had no memory.
        return bool(evidence["status"] == KILLED and not evidence["oom"])
    # If the machine had time for it, the program blocks itself: it sleeps, for example.
    blocks_itself = reason == "blocked" and evidence["waited"] < calm_seconds
    return reason in STOPS_BY_OTHERS and not blocks_itself
