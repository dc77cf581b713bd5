"""What is asked of a model: conversations of one or more steps, each of them one request and one line of the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from grader.models.endpoint import Settings
from grader.models.messages import Message
from grader.models.replies import split_reasoning

Role = Literal["model", "coder"]
"""Who is asked: the model under test, or the one that writes code from its descriptions."""
Key: TypeAlias = tuple[str, int, str]
"""qid, sample number from 0, stage."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One request of a conversation."""

    stage: str
    """Names the step within its conversation: `answer`, `description`, `code`."""
    build: Callable[[Mapping[str, str]], tuple[Message, ...]]
    """Returns the messages, given the texts of the earlier steps by stage."""
    settings: Settings
    role: Role = "model"
    stop: str = ""
    """The answer ends before this text; empty: nowhere."""
    noted: dict[str, Any] = {}
    """Further settings that make an answer another one (mode, shots, ...)."""

    def recorded_settings(self) -> dict[str, Any]:
        """Return what a record says of the settings."""
        stop = {"stop": self.stop} if self.stop else {}
        return self.settings.fields() | self.noted | stop

    def text(self, content: str) -> str:
        """Return the answer in a reply: without reasoning, and without what comes after the stop text."""
        answer = split_reasoning(content)[0]
        return answer.partition(self.stop)[0] if self.stop else answer


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """One sample of one task: its last step's answer is the prediction."""

    qid: str
    sample: int
    """From 0."""
    steps: tuple[Step, ...]

    def key(self, step: Step) -> Key:
        """Return what names a step's record."""
        return self.qid, self.sample, step.stage


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All that a run may ask: every sample of every task, in the benchmark's order."""

    conversations: tuple[Conversation, ...]
    models: dict[Role, str]
    """The name of the model in each role."""

    def requests(self) -> int:
        """Return the number of requests."""
        return sum(len(conversation.steps) for conversation in self.conversations)
