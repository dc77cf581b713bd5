"""A reward for AReaL 1.0.4: `RLVRWorkflow(reward_fn="examples.areal_reward.reward", ...)`.

Each row of the data set has a column `task` (an id, or a task in a form of `grader.integrations.shapes`). `GRADE_POOL`
has the pool's keywords. AReaL gives up a reward after four times 15 seconds, so choose a limit well below 15 seconds.
An unscored sample raises an error: AReaL asks again, then drops the episode. 0 would teach the policy something false.
"""

from __future__ import annotations

from typing import Any

from grader.integrations import shapes
from grader.integrations.rewards import get_pool


def reward(prompt: str, completions: str, prompt_ids: list[int], completion_ids: list[int], **row: Any) -> float:
    """Return the reward of a completion; raises RuntimeError for an unscored one."""
    del prompt, prompt_ids, completion_ids
    pool, task = get_pool(), row["task"]
    (result,) = pool.grade_samples([(task if isinstance(task, str) else shapes.any_of(task), completions)])
    found = result.reward
    if found is None:
        raise RuntimeError(result.careful.detail)
    return found
