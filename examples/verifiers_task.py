"""A task for verifiers 0.4.0 (`verifiers.v1`): `Graded(GradedData(prompt=..., task=...))`.

`task` is an id, or a task in a form of `grader.integrations.shapes`. `GRADE_POOL` has the pool's keywords. An unscored
sample raises an error, which verifiers records in the trace: 0 would teach the policy something false.
"""

from __future__ import annotations

from typing import Any

import verifiers.v1 as vf

from grader.integrations import shapes
from grader.integrations.rewards import get_pool


class GradedData(vf.TaskData):
    """A row of the data set."""

    task: str | dict[str, Any]


class Graded(vf.Task[GradedData]):
    """One reply to one prompt."""

    @vf.reward
    async def graded(self, trace: vf.Trace) -> float:
        """Return the reward of the last reply; raises RuntimeError if it is unscored."""
        pool, task = get_pool(), self.data.task
        sample = task if isinstance(task, str) else shapes.any_of(task), trace.last_reply
        (result,) = await pool.grade_samples_async([sample])
        found = result.reward
        if found is None:
            raise RuntimeError(result.careful.detail)
        return found
