"""Rewards for verl: `custom_reward_function.path=pkg://grader.integrations.verl`, `.name=compute_score_async`.

A row's task id is `extra_info["qid"]`, else its `ground_truth`. With the benchmark `rows`, the ground truth can be the
task, in any form of `grader.integrations.shapes`, also as JSON. verl 0.9.1 calls a coroutine function
(`compute_score_async`) without a thread for each solution. The pool's keywords are those of `GRADE_POOL`, or
of `+custom_reward_function.reward_kwargs.grade={benchmark: ..., data: ...}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError
from grader.integrations import shapes
from grader.integrations.rewards import get_pool, is_suspect, is_unscored

if TYPE_CHECKING:
    from grader.results import SampleResult


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    grade: Mapping[str, Any] | None = None,
    **_: Any,
) -> dict[str, float]:
    """Return the score of one solution. verl calls it from many threads concurrently."""
    pool = get_pool(grade)
    (result,) = pool.grade_samples([_sample(solution_str, ground_truth, extra_info)])
    return score_of(result)


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    grade: Mapping[str, Any] | None = None,
    **_: Any,
) -> dict[str, float]:
    """Return the score of one solution, asynchronously."""
    pool = get_pool(grade)
    (result,) = await pool.grade_samples_async([_sample(solution_str, ground_truth, extra_info)])
    return score_of(result)


def score_of(result: SampleResult) -> dict[str, float]:
    """Return a score with always the same keys, because verl makes an array of each; all values must be numbers.

    `unscored` is 1.0 if the sample is unscored; then its score of 0.0 means nothing.
    """
    return {
        "score": float(result.reward or 0.0),
        "acc": float(result.careful.points),
        "unscored": float(is_unscored(result)),
        "suspect": float(is_suspect(result)),
        "cpu_seconds": float(result.seconds),
    }


def _sample(text: str, ground_truth: Any, extra_info: Mapping[str, Any] | None) -> tuple[Any, str]:
    """Return (task, text). The task is `qid` of the extra info, else the ground truth: an id, or a row with tests."""
    qid = extra_info.get("qid") if isinstance(extra_info, Mapping) else None
    task = ground_truth if qid is None else qid
    if isinstance(task, Mapping) or (isinstance(task, str) and task.lstrip().startswith("{")):
        return shapes.any_of(task), text
    if not isinstance(task, str | int) or isinstance(task, bool):
        raise UsageError(
            "A row's extra_info has no 'qid', and its ground_truth is neither a task id nor an object with tests: "
            f"{task!r:.80}. Put one of them into the row."
        )
    return str(task), text
