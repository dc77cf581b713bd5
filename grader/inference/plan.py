"""The requests to a model: conversations of one or more steps. Each step is one request and one line of the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from grader.models.messages import Message, Settings
from grader.models.replies import split_reasoning

Role = Literal["model", "coder"]
"""The model under test, or the coder model, which writes code from its descriptions."""
Key: TypeAlias = tuple[str, int, str]
"""(qid, sample number from 0, stage)."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One request of a conversation."""

    stage: str
    """Name of the step in its conversation: `answer`, `description`, `code`."""
    build: Callable[[Mapping[str, str]], tuple[Message, ...]]
    """Returns the messages, given the texts of the earlier steps by stage."""
    settings: Settings
    shows_images: bool = False
    """Whether the task's images are sent."""
    role: Role = "model"
    stop: str = ""
    """The answer ends before this text; empty: no stop text."""
    noted: dict[str, Any] = {}
    """Further settings that can change the answer (mode, shots, ...)."""

    def recorded_settings(self) -> dict[str, Any]:
        """Return the settings for a record."""
        stop = {"stop": self.stop} if self.stop else {}
        return self.settings.fields() | self.noted | stop

    def text(self, content: str) -> str:
        """Return the answer in a reply, without reasoning, and without the stop text and anything after it."""
        answer = split_reasoning(content)[0]
        return answer.partition(self.stop)[0] if self.stop else answer


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """One sample of one task. The answer of its last step is the prediction."""

    qid: str
    sample: int
    """From 0."""
    steps: tuple[Step, ...]

    def key(self, step: Step) -> Key:
        """Return the key of a step's record."""
        return self.qid, self.sample, step.stage


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All possible requests of a run: every sample of every task, in the benchmark's order."""

    conversations: tuple[Conversation, ...]
    models: dict[Role, str]
    """The name of the model in each role."""
