"""One line of `<stem>_requests.jsonl`: a request, and its reply or the reason why it has none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from grader.models import messages as wire
from grader.models.messages import ImageFacts, Message
from grader.models.replies import Failure, Reply, Usage

if TYPE_CHECKING:
    from grader.inference.plan import Conversation, Key, Step
    from grader.models.replies import Outcome


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the log."""

    qid: str
    sample: int
    stage: str
    model: str
    settings: dict[str, Any]
    prompt: str
    """The sent text; several messages are marked with their roles."""
    prompt_sha256: str
    """Hash of everything that was sent, including images."""
    images: list[ImageFacts] = []
    content: str | None
    """The unchanged reply; None: no reply."""
    reasoning: str = ""
    finish_reason: str = ""
    usage: Usage = Usage()
    seconds: float = 0.0
    attempts: int = 0
    error: str | None = None
    """Why there is no reply."""
    error_kind: str = ""
    served_model: str = ""
    """The model's name as the server sent it."""
    choices: int = 1
    at: str = ""
    """Time of writing, in UTC."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a record that stay in memory; prompt and reasoning are only on disk."""

    qid: str
    sample: int
    stage: str
    model: str
    settings: dict[str, Any]
    prompt_sha256: str
    content: str | None
    finish_reason: str = ""
    usage: Usage = Usage()
    error: str | None = None
    error_kind: str = ""
    choices: int = 1

    @property
    def key(self) -> Key:
        """The key of the request."""
        return self.qid, self.sample, self.stage


def make(conversation: Conversation, step: Step, model: str, messages: tuple[Message, ...], outcome: Outcome) -> Record:
    """Return the record of a request and its outcome."""
    return Record(
        qid=conversation.qid,
        sample=conversation.sample,
        stage=step.stage,
        model=model,
        settings=step.recorded_settings(),
        prompt=wire.plain_text(messages),
        prompt_sha256=wire.digest(messages),
        images=[wire.facts(image) for image in wire.images(messages)],
        content=outcome.content if isinstance(outcome, Reply) else None,
        reasoning=outcome.reasoning,
        finish_reason=outcome.finish_reason,
        usage=outcome.usage,
        seconds=outcome.seconds,
        attempts=outcome.attempts,
        error=outcome.reason if isinstance(outcome, Failure) else None,
        error_kind=outcome.kind if isinstance(outcome, Failure) else "",
        served_model=outcome.model if isinstance(outcome, Reply) else "",
        choices=outcome.choices if isinstance(outcome, Reply) else 0,
        at=datetime.now(UTC).isoformat(timespec="milliseconds"),
    )


def kept(record: Record) -> Kept:
    """Return the fields of a record that stay in memory."""
    return Kept(**{name: getattr(record, name) for name in Kept.__struct_fields__})


def encode(record: Record) -> bytes:
    """Return the record's line."""
    return msgspec.json.encode(record) + b"\n"
