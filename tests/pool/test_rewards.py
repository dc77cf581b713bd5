"""What a result is worth by each kind of reward."""

from __future__ import annotations

import msgspec

from grader.pool.rewards import rewarded
from grader.results import Calls, Outcome, Reading, SampleResult
from tests.tables import each


@each(
    ("outcome", "same", "tests", "by_calls", "by_tests"),
    [
        ("passed", 3, None, 3 / 4, 1),
        ("failed", 3, None, 3 / 4, 3 / 4),
        ("failed", 3, [True, False], 3 / 4, 1 / 2),
        # A test rejects what the calls do not show, such as a number out of the range of a random one.
        ("failed", 4, [True, True], 3 / 4, 1 / 2),
        ("failed", 4, [], 3 / 4, 0),
        ("suspect", 4, [True, True], 0, 0),
        # Of inputs, some may expect that nothing is printed.
        ("no_answer", 2, [True, False], 0, 0),
        ("unscored", 2, None, None, None),
    ],
)
def test_a_program_that_fails_gets_less_than_one_that_passes_and_a_reply_without_a_program_nothing(
    outcome: str, same: int, tests: list[bool] | None, by_calls: float | None, by_tests: float | None
) -> None:
    credit = {"passed": 1, "unscored": None}.get(outcome, 0)
    reading = Reading(outcome=Outcome(outcome), credit=credit)
    result = SampleResult(
        qid="q", sample=0, seconds=0.0, official=reading, careful=reading, calls=Calls(n=4, same=same),
        tests=msgspec.UNSET if tests is None else tests,
    )  # fmt: skip
    assert [rewarded(result, name).reward for name in ("calls_right", "tests_right")] == [by_calls, by_tests]
