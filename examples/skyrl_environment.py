"""An environment for SkyRL-gym 0.4.0: `skyrl_gym.register("grade", "examples.skyrl_environment:Graded")`.

`reward_spec.ground_truth` of a row is the task: an id, or a task in a form of `grader.integrations.shapes`, also as
JSON. `GRADE_POOL` has the pool's keywords. An unscored sample has reward 0 and `unscored` in its metadata and metrics.
"""

from __future__ import annotations

from typing import Any

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from grader.integrations.verl import compute_score


class Graded(BaseTextEnv):
    """One turn: the action is the raw output."""

    def __init__(self, env_config: Any = None, extras: dict[str, Any] | None = None) -> None:
        del env_config
        super().__init__()
        self.task = (extras or {})["reward_spec"]["ground_truth"]
        self.figures: dict[str, float] = {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Grade a raw output."""
        self.figures = compute_score("", action, self.task)
        reward = self.figures["score"]
        return BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata=dict(self.figures))

    def get_metrics(self) -> dict[str, float]:
        """Return the figures of verl's score: score, acc, unscored, suspect and CPU seconds."""
        return self.figures
