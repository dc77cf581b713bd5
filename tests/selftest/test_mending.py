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
    ("detail", "advice"),
    [
        ("judging its answers did not finish", mending.TIME),
        ("the confirming run did not finish (cpu)", mending.TIME),
        ("a test fails: assert solution(1) == 2", mending.DATA),
    ],
)
def test_a_reference_that_is_not_credited_gets_advice_on_the_reason(detail: str, advice: str) -> None:
    probe: Any = Probe()
    assert mending.of_sample(probe, Reading(outcome=Outcome.SUSPECT, credit=0, detail=detail)) == advice
