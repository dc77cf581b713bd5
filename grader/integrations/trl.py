"""Rewards for TRL's `GRPOTrainer` and other trainers with the same kind of reward functions.

The data set needs a column with the benchmark's task ids (`qid`). A row without an id gets no reward:

    trainer = GRPOTrainer(reward_funcs=[Reward(benchmark="humaneval-v", data="tasks.jsonl")], ...)

`reward` and `reward_async` are module-level functions for the same purpose; their pool's keywords are in `GRADE_POOL`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import UsageError
from grader.integrations.rewards import get_pool, is_suspect, is_unscored
from grader.predictions.layouts import texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grader.results import SampleResult

    Completion = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]

COLUMN = "qid"
_DETAIL_CHARS = 200
"""What is logged of a reading's detail, as a cell of a table that the trainer prints."""


class Reward:
    """A reward function with its own keywords for the pool. It can be pickled."""

    def __init__(self, *, column: str = COLUMN, **options: Any) -> None:
        """`column` has the task ids. The other keywords are those of `grader.Pool`; default: those of `GRADE_POOL`."""
        self._column, self._options = column, options
        self.__name__ = f"grade_{options['benchmark']}" if "benchmark" in options else "grade"

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any) -> list[float | None]:
        """Return a reward for each completion; None if it is unscored."""
        samples = _samples(completions, columns, self._column)
        pool = get_pool(self._options)
        results = pool.grade_samples(samples.values()) if samples else []
        return _rewards(len(completions), dict(zip(samples, results, strict=True)), columns)


class AsyncReward(Reward):
    """An asynchronous reward function; TRL runs several of them concurrently."""

    async def __call__(  # type: ignore[override]
        self, prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any
    ) -> list[float | None]:
        """Return a reward for each completion; None if it is unscored."""
        samples = _samples(completions, columns, self._column)
        pool = get_pool(self._options)
        results = await pool.grade_samples_async(samples.values()) if samples else []
        return _rewards(len(completions), dict(zip(samples, results, strict=True)), columns)


def reward(prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any) -> list[float | None]:
    """Return a reward for each completion, with the pool of `GRADE_POOL`; None without a task id or a score."""
    return Reward()(prompts, completions, **columns)


async def reward_async(prompts: Sequence[Any], completions: Sequence[Completion], **columns: Any) -> list[float | None]:
    """Return a reward for each completion, with the pool of `GRADE_POOL`; None without a task id or a score."""
    return await AsyncReward()(prompts, completions, **columns)


def text_of(completion: Completion) -> str:
    """Return the model's last message. A completion is a text, a message or messages; content is a text or parts.

    Messages are read as those of prediction files: parts with reasoning are no part of the reply.
    """
    if isinstance(completion, str):
        return completion
    texts = texts_of(completion if isinstance(completion, dict) else list(completion))
    return texts[-1] if texts else ""


def _samples(completions: Sequence[Completion], columns: Mapping[str, Any], column: str) -> dict[int, tuple[str, str]]:
    """Return index -> sample. Rows without a task id are left to other reward functions."""
    if column not in columns:
        known = ", ".join(sorted(columns))
        raise UsageError(f"The data set has no column {column!r} with the benchmark's task ids; it has {known}.")
    qids = columns[column]
    return {
        index: (str(qid), text_of(completion))
        for index, (qid, completion) in enumerate(zip(qids, completions, strict=True))
        if qid is not None
    }


def _rewards(count: int, results: Mapping[int, SampleResult], columns: Mapping[str, Any]) -> list[float | None]:
    _log(count, results, columns)
    rewards = [results[index].reward if index in results else None for index in range(count)]
    return [None if reward is msgspec.UNSET else reward for reward in rewards]


def _log(count: int, results: Mapping[int, SampleResult], columns: Mapping[str, Any]) -> None:
    """Log values for the trainer's user: shares to plot, and outcomes beside the completions."""
    log_metric: Callable[[str, float], object] | None = columns.get("log_metric")
    if log_metric is not None and results:
        log_metric("grade/suspect", sum(map(is_suspect, results.values())) / len(results))
        log_metric("grade/unscored", sum(map(is_unscored, results.values())) / len(results))
    log_extra: Callable[[str, list[str]], object] | None = columns.get("log_extra")
    if log_extra is not None:
        careful = [results[index].careful if index in results else None for index in range(count)]
        log_extra("grade_outcome", [reading.outcome.value if reading else "" for reading in careful])
        log_extra("grade_detail", [reading.detail[:_DETAIL_CHARS] if reading else "" for reading in careful])
