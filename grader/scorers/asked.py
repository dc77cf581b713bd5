"""One sample that is to be scored outside of a run, as processes hand it to each other."""

from __future__ import annotations

import msgspec

from grader.results import Outcome, Reading

NOT_ASKED = Reading(
    outcome=Outcome.UNSCORED, credit=0, detail="not asked for (official=True asks for it)", rule="not_asked"
)
"""The official reading of a sample that was only read carefully."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One sample that is to be scored."""

    qid: str
    text: str
    """The raw model output."""
    official: bool = False
    """Whether the official reading is wanted, where it takes more than reading the text."""
    interactive: bool = True
    """Whether its program may run beside its tests, where the task allows no other way."""
