"""Which Mr-Ben responses need the judge, and their credit in both readings.

The official parse is in `official.py`, the careful one in `careful.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from grader.scorers.mr_ben.careful import careful_decision
from grader.scorers.mr_ben.official import (
    MrBenReading,
    is_credited_official,
    official_decision,
    official_letters,
    official_step_for_gate,
    official_step_for_score,
)
from grader.scorers.mr_ben.step import NO_STEP, step_number, without_whitespace


class GoldRow(msgspec.Struct, frozen=True, kw_only=True):
    """The gold annotation of one solution."""

    correct: bool
    step: str
    """`Model_Solution_First_Error_Step`, unchanged: digits, "N/A", or a line of code."""
    program: str | None = None
    """The solution, if it is code."""

    @property
    def coding(self) -> bool:
        """Whether the solution is code."""
        return self.program is not None


class Credit(NamedTuple):
    """The credit of a row besides its verdict. None: unscored, because the judge's decision is missing."""

    step: bool | None
    reason: bool | None


def needs_judge_official(gold: GoldRow, reading: MrBenReading) -> bool:
    """Whether the official scorer asks the judge about this row (`score_error_reason`)."""
    if gold.correct or "incorrect" not in reading.raw.correctness.strip().lower():
        return False
    return gold.coding or official_step_for_gate(reading.raw.step) == gold.step


def needs_judge_careful(gold: GoldRow, reading: MrBenReading) -> bool:
    """Whether the judge's decision can matter: error found, step correct (coding: any step), reason given."""
    if gold.correct or reading.correctness != "incorrect":
        return False
    has_reason = reading.error_reason != "" and not NO_STEP.fullmatch(reading.error_reason.lower())
    if gold.coding:
        return has_reason or bool(reading.step)
    return has_reason and steps_match(reading.step, gold)


def credit_official(gold: GoldRow, reading: MrBenReading, reply: str | None) -> Credit:
    """Return the official credit (`calculate_mr_score`); `reply` is the judge's, None if it was not asked.

    The official scorer crashes when it looks up a decision that its own gate never asked for; here it earns no credit.
    """
    if gold.correct or official_letters(reading.raw.correctness) != "incorrect":
        return Credit(step=False, reason=False)
    credited = reply is not None and is_credited_official(official_decision(reply))
    if gold.coding and credited:
        return Credit(step=True, reason=True)
    matches = official_step_for_score(reading.raw.step) == gold.step
    return Credit(step=matches, reason=matches and credited)


def credit_careful(gold: GoldRow, reading: MrBenReading, decision: str | None) -> Credit:
    """Return the credit of an attentive grader; without the judge's `decision` (None), parts are unscored (None).

    For coding the judge decides on place and reason together; a line equal to the gold one earns the step by itself.
    """
    if gold.correct or reading.correctness != "incorrect":
        return Credit(step=False, reason=False)
    matches = steps_match(reading.step, gold)
    if not needs_judge_careful(gold, reading):
        return Credit(step=matches, reason=False)
    if decision is None:
        return Credit(step=True if matches else None, reason=None)
    is_right = decision == "correct"
    return Credit(step=matches or (gold.coding and is_right), reason=is_right)


def difference_kind(gold: GoldRow, official: MrBenReading, careful: MrBenReading, reply: str | None) -> str:
    """Name why the readings of a row differ, for the list by kind; empty if no kind explains a difference.

    Returns the first kind that applies, in the order in which the official scorer would meet it.
    """
    if official.correctness != careful.correctness:
        return "headings not read" if not official.raw.correctness.strip() else "wording of the verdict"
    if gold.correct or careful.correctness != "incorrect":
        return ""
    is_official_step = official_step_for_score(official.raw.step) == gold.step
    is_careful_step = steps_match(careful.step, gold)
    is_credited_by_judge = reply is not None and is_credited_official(official_decision(reply))
    if not gold.coding and is_official_step != is_careful_step:
        return "bare digit" if official.raw.step.strip().isdigit() else "wording of the step"
    # Officially, an unread line is empty, and so equal to an empty gold line.
    if gold.coding and not is_credited_by_judge and is_official_step and not gold.step.strip():
        return "empty gold step"
    if reply is not None and (kind := _reply_difference_kind(reply)):
        return kind
    # Officially, a line of code counts only if the judge credits it; here, it does if it is the gold line.
    return "code line" if gold.coding and not is_credited_by_judge and is_careful_step else ""


def _reply_difference_kind(reply: str) -> str:
    """Name why the readings of a judge's reply differ; empty if they do not."""
    credited, decision = is_credited_official(official_decision(reply)), careful_decision(reply)
    if credited and decision == "wrong":
        return '"Incorrect" credited'
    return "judge reply not in the official format" if credited != (decision == "correct") else ""


def steps_match(predicted: str | None, gold: GoldRow) -> bool:
    """Whether the step equals the gold step; for code without whitespace.

    A blank gold line never matches: only the judge can credit it.
    """
    if predicted is None or not gold.step.strip():
        return False
    if gold.coding:
        return without_whitespace(predicted) == without_whitespace(gold.step)
    return predicted == step_number(gold.step.strip())
