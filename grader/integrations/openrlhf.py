"""Rewards for OpenRLHF, as a file or over HTTP: `--reward.remote_url .../grader/integrations/openrlhf.py`.

A label is a task id (`--data.label_key qid`). The pool's keywords are those of `GRADE_POOL`. The HTTP form is
`grade serve` with `--reward.remote_url http://127.0.0.1:PORT/openrlhf`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from grader.integrations.queries import rewards_of, samples_of
from grader.integrations.rewards import pool_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def reward_func(queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    """Return rewards in OpenRLHF's format: tensors of one number per query, always with the same keys."""
    pool = pool_of()
    found = rewards_of(pool.grade_samples(samples_of(queries, prompts, labels)), pool.reward)
    logs = {name: _tensor(values) for name, values in found["extra_logs"].items()}
    return {"rewards": _tensor(found["rewards"]), "scores": _tensor(found["scores"]), "extra_logs": logs}


def _tensor(values: list[float]) -> Any:
    """Return a tensor; a list if torch is not installed, as on a machine without a trainer."""
    try:
        torch = import_module("torch")
    except ImportError:
        return values
    return torch.tensor(values)
