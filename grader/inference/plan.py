"""The requests to a model: conversations of one or more steps. Each step is one request and one line of the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from grader.models.messages import Message
from grader.models.model import Request
from grader.models.replies import split_reasoning

Key: TypeAlias = tuple[str, int, str]
"""(qid, sample number from 0, stage)."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One request of a conversation."""

    stage: str
    """Name of the step in its conversation: `answer`, `description`, `code`."""
    build: Callable[[Mapping[str, str]], tuple[Message, ...]]
    """Returns the messages, given the texts of the earlier steps by stage."""
    settings: dict[str, Any]
    """Fields of the request's body; None is not sent."""
    shows_images: bool = False
    """Whether the task's images are sent."""
    by_coder: bool = False
    """Whether the coder model is asked."""
    stop: str = ""
    """The answer ends before this text, which is not sent; empty: no stop text."""
    extra_settings: dict[str, Any] = {}
    """What else can change the answer (mode, shots, ...); recorded, not sent."""

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

    def request(self, step: Step, texts: Mapping[str, str]) -> Request:
        """Return the request of a step, given the texts of the earlier steps by stage.

        The stop text of the step is only recorded, because `Step.text` cuts the reply. If the user's settings have a
        stop text, which is sent, the record has that one.
        """
        stop = {"stop": step.stop} if step.stop and step.settings.get("stop") is None else {}
        return Request(
            qid=self.qid,
            sample=self.sample,
            stage=step.stage,
            messages=step.build(texts),
            settings=step.settings,
            extra_settings=step.extra_settings | stop,
        )


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All possible requests of a run: every sample of every task, in the benchmark's order."""

    conversations: tuple[Conversation, ...]
    model: str
    """Name of the model."""
    coder: str | None = None
    """Name of the coder model; None: the model writes the code itself."""

    def model_of(self, step: Step) -> str:
        """Return the name of the model that a step asks."""
        return self.coder if step.by_coder and self.coder is not None else self.model
