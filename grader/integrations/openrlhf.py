"""Rewards for OpenRLHF, as a file or over HTTP: `--reward.remote_url .../grader/integrations/openrlhf.py`.

A label is a task id (`--data.label_key qid`). The pool's keywords are those of `GRADE_POOL`. The HTTP form is
`grade serve` with `--reward.remote_url http://127.0.0.1:PORT/openrlhf`.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError
from grader.integrations.rewards import get_pool, is_suspect, is_unscored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.results import SampleResult


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    """Return rewards in OpenRLHF's format: tensors of one number per query, always with the same keys."""
    pool = get_pool()
    rewards = rewards_of(pool.grade_samples(samples_of(queries, prompts, labels)))
    logs = {name: _tensor(values) for name, values in rewards["extra_logs"].items()}
    return {"rewards": _tensor(rewards["rewards"]), "scores": _tensor(rewards["scores"]), "extra_logs": logs}


def _tensor(values: list[float]) -> Any:
    """Return a tensor; a list if torch is not installed, as on a machine without a trainer."""
    try:
        torch = import_module("torch")
    except ImportError:
        return values
    return torch.tensor(values)


MIN_OVERLAP = 20
"""Minimum number of characters that a query and its prompt share; a shorter match may be accidental."""
MOST_ENDS = 100
"""Places where the prompt may end in a query, from the last one: a response can repeat its end."""
_END_MARKS = re.compile(
    r"(?:\s|<\|[\w\s-]{1,40}\|>|<[\uff5c|][\w\u2581]{1,40}[\uff5c|]>|</s>|<eos>|<end_of_turn>|<pad>)++"
)


def rewards_of(results: Sequence[SampleResult]) -> dict[str, Any]:
    """Return rewards as lists. A reward must be a number; `unscored` shows which 0.0 means nothing."""
    # Whole numbers would make a tensor of integers, which has no mean.
    rewards = [float(result.reward or 0.0) for result in results]
    logs = {
        "unscored": [float(is_unscored(result)) for result in results],
        "suspect": [float(is_suspect(result)) for result in results],
    }
    return {"rewards": rewards, "scores": rewards, "extra_logs": logs}


def samples_of(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> list[tuple[str, str]]:
    """Return the samples of a call; raises UsageError. A query is its prompt followed by the model's output."""
    if not len(queries) == len(prompts) == len(labels):
        raise UsageError(
            f"{len(queries)} queries, {len(prompts)} prompts and {len(labels)} labels: the numbers must be equal."
        )
    if any(not isinstance(label, str | int) or isinstance(label, bool) for label in labels):
        raise UsageError("A label is not a task id; name the column of the task ids with --data.label_key.")
    return [
        (str(label), without_end_marks(response_of(query, prompt)))
        for query, prompt, label in zip(queries, prompts, labels, strict=True)
    ]


def response_of(query: str, prompt: str) -> str:
    """Return the text after the prompt in a query. A query may lack the beginning of a prompt that was too long."""
    if query.startswith(prompt):
        return query[len(prompt) :]
    end_of_prompt, limit = prompt[-MIN_OVERLAP:], len(prompt)
    for _ in range(MOST_ENDS):
        length = query.rfind(end_of_prompt, 0, limit) + len(end_of_prompt)
        if length < len(end_of_prompt):
            break
        if prompt.endswith(query[:length]):
            return query[length:]
        limit = length - 1
    return query


def without_end_marks(text: str) -> str:
    """Return a decoded output without the end-of-text marks (`<|im_end|>`, `</s>`) and blanks at its end."""
    # A pattern that ends in `$` would be slow: it would be tried again from every one of many blanks.
    starts = (marks.start() for marks in _END_MARKS.finditer(text) if marks.end() == len(text))
    return text[: next(starts, len(text))]
