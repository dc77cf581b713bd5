"""Which runs a busy machine may have ended: their jobs run again, alone on the machine."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.sandbox.interface import Answer

STARVED = {"blocked", "wall", "shared", "disturbed"}
"""Reasons for stopping a program that other programs on the machine can cause."""
KILLED = -9
"""The status of a program that SIGKILL has ended; not every system that imports this has `signal.SIGKILL`."""
CALM_SECONDS = 0.2
"""A program that was ready to run but waited less than this had enough processor time."""
CALM_RUN_SECONDS = 0.02
"""The same for an official run, which gets no grace after its limit."""


def was_starved(answer: Answer) -> bool:
    """Whether a run ended for a reason that the machine or another program may have caused.

    SIGKILL may come from a machine that has no more memory, if no limit was exceeded. A run that was asleep and hardly
    had to wait for the machine is not starved. A run that already failed for good is not starved either, however it
    ended.
    """
    for part in ("run", "record", "answer", "judge", "compare"):
        run = answer.get(part)
        if isinstance(run, dict) and run.get("confirmed") is not False:
            with contextlib.suppress(KeyError, TypeError):
                evidence = run["evidence"]
                calm = CALM_RUN_SECONDS if part == "run" else CALM_SECONDS
                asleep = evidence["stopped"] == "blocked" and evidence["waited"] < calm
                is_killed = evidence["stopped"] is None and evidence["status"] == KILLED and not evidence["oom"]
                if is_killed or (evidence["stopped"] in STARVED and not asleep):
                    return True
    return False
