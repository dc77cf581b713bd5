"""OpenRLHF's form: what it sends as a sample, and what it wants back, over HTTP and from a file alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError
from grader.integrations.worth import is_suspect, is_unscored, reward_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.results import SampleResult

LEAST_OVERLAP = 20
"""Fewer characters of a prompt that a query begins with may be there by accident."""
_END_MARKS = re.compile(
    r"(?:\s|<\|[\w\s-]{1,40}\|>|<[\uff5c|][\w\u2581]{1,40}[\uff5c|]>|</s>|<eos>|<end_of_turn>|<pad>)+\Z"
)


def rewards_of(results: Sequence[SampleResult]) -> dict[str, Any]:
    """Return rewards as lists. A reward has to be a number: `unscored` tells where a 0.0 says nothing."""
    rewards = [reward_of(result) or 0.0 for result in results]
    logs = {
        "unscored": [float(is_unscored(result)) for result in results],
        "suspect": [float(is_suspect(result)) for result in results],
    }
    return {"rewards": rewards, "scores": rewards, "extra_logs": logs}


def samples_of(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> list[tuple[str, str]]:
    """Return the samples of a call; raises UsageError. A query is its prompt with what the model said after it."""
    if not len(queries) == len(prompts) == len(labels):
        raise UsageError(
            f"{len(queries)} queries, {len(prompts)} prompts and {len(labels)} labels: they have to be as many."
        )
    if any(not isinstance(label, str | int) or isinstance(label, bool) for label in labels):
        raise UsageError("A label is no task id; name the column that has them with --data.label_key.")
    return [
        (str(label), without_end_marks(response_of(query, prompt)))
        for query, prompt, label in zip(queries, prompts, labels, strict=True)
    ]


def response_of(query: str, prompt: str) -> str:
    """Return what follows the prompt in a query. A prompt that was too long has lost its beginning there."""
    if query.startswith(prompt):
        return query[len(prompt) :]
    for start in range(1, len(prompt) - LEAST_OVERLAP):
        if query.startswith(prompt[start:]):
            return query[len(prompt) - start :]
    return query


def without_end_marks(text: str) -> str:
    """Return a decoded output without the marks of its end (`<|im_end|>`, `</s>`), which are no part of it."""
    return _END_MARKS.sub("", text)
