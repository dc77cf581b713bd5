"""What a result is worth in training."""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING

import msgspec

from grader.results import Calls, Outcome

if TYPE_CHECKING:
    from grader.pool.settings import RewardName
    from grader.results import SampleResult


def rewarded(result: SampleResult, name: RewardName = "passed") -> SampleResult:
    """Return a result with its reward."""
    return msgspec.structs.replace(result, reward=_reward(result, name))


def _reward(result: SampleResult, name: RewardName) -> float | None:
    """Return the reward of a result by its careful reading, from 0 to 1; None, not 0, if there is no verdict.

    | name          | reward                                                                   |
    |---------------|--------------------------------------------------------------------------|
    | `passed`      | the credit                                                               |
    | `calls_right` | the share of calls answered as expected, also if the program passes      |
    | `tests_right` | the credit of a program that passes; else the share of tests it passes   |

    Where the tests are not known, the calls count, and where these are not known either, the credit. A program that
    fails gets less than 1, also if its calls do not show what was wrong. A suspect program and a reply without a
    program get their credit, 0, by each name.
    """
    credit = result.careful.credit
    if credit is None:
        _warn_once(result.careful.detail)
        return None
    if name == "passed" or result.careful.outcome in {Outcome.SUSPECT, Outcome.NO_ANSWER}:
        return credit
    right, count = 0, 0
    if isinstance(result.calls, Calls):
        right, count = result.calls.same, result.calls.n
    if name == "tests_right":
        if credit:
            return credit
        if isinstance(result.tests, list):
            right, count = sum(result.tests), len(result.tests)
    return (right if credit else min(right, count - 1)) / count if count else credit


@functools.lru_cache(maxsize=1024)
def _warn_once(why: str) -> None:
    """Log why a sample is unscored, each reason once: the numbers of a trainer do not show it."""
    logging.getLogger("grade").warning("A sample is unscored, so it has no reward: %s", why)
