"""The advice for a wrong verdict."""

from __future__ import annotations

from typing import Any

import pytest

from grader.results import Outcome, Reading
from grader.selftest import mending


class Probe:
    """What advice depends on."""

    kind, needs_tests = "reference", False


@pytest.mark.parametrize(
    ("outcome", "detail", "advice"),
    [
        (Outcome.SUSPECT, "judging its answers did not finish", mending.TIME),
        (Outcome.SUSPECT, "the confirming run did not finish (cpu)", mending.TIME),
        (Outcome.SUSPECT, "a test fails: assert solution(1) == 2", mending.DATA),
        (Outcome.OUT_OF_MEMORY, "the confirming run did not finish (memory)", mending.MEMORY),
    ],
)
def test_a_reference_that_is_not_credited_gets_advice_on_the_reason(outcome: Outcome, detail: str, advice: str) -> None:
    probe: Any = Probe()
    assert mending.of_sample(probe, Reading(outcome=outcome, credit=0, detail=detail)) == advice
