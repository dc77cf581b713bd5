"""Rewards for verl: `custom_reward_function.path=pkg://grader.integrations.verl`, `.name=compute_score`.

A row's task id is `extra_info["qid"]`, else its `ground_truth`. The pool's keywords are those of `GRADE_POOL`, or of
`+custom_reward_function.reward_kwargs.grade={benchmark: ..., data: ...}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError
from grader.integrations.rewards import pool_of
from grader.integrations.worth import is_suspect, is_unscored, reward_of

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    del data_source
    (result,) = pool_of(grade).grade_samples([(_qid(ground_truth, extra_info), solution_str)])
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
    del data_source
    (result,) = await pool_of(grade).grade_samples_async([(_qid(ground_truth, extra_info), solution_str)])
    return score_of(result)


def compute_scores(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None],
    *,
    grade: Mapping[str, Any] | None = None,
    **_: Any,
) -> list[dict[str, float]]:
    """Return the scores of a batch, for verl's `batch` reward manager."""
    del data_sources
    qids = [_qid(truth, extra) for truth, extra in zip(ground_truths, extra_infos, strict=True)]
    results = pool_of(grade).grade_samples(zip(qids, solution_strs, strict=True))
    return [score_of(result) for result in results]


def score_of(result: SampleResult) -> dict[str, float]:
    """Return a score with always the same keys, because verl makes an array of each; all values must be numbers.

    `unscored` is 1.0 if the sample is unscored; then its score of 0.0 means nothing.
    """
    score = reward_of(result) or 0.0
    return {
        "score": score,
        "acc": score,
        "unscored": float(is_unscored(result)),
        "suspect": float(is_suspect(result)),
        "cpu_seconds": float(result.seconds),
    }


def _qid(ground_truth: Any, extra_info: Mapping[str, Any] | None) -> str:
    qid = extra_info.get("qid") if isinstance(extra_info, Mapping) else None
    found = ground_truth if qid is None else qid
    if not isinstance(found, str | int) or isinstance(found, bool):
        raise UsageError(
            f"A row's extra_info has no 'qid', and its ground_truth is not a task id: {found!r:.80}. Put the "
            "benchmark's task id into one of them."
        )
    return str(found)
