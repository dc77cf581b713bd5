"""Inference with OpenAI batch files: a file of requests, and the file of replies from a batch service."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import InputError
from grader.files.replacing import replacing
from grader.inference import log as records
from grader.inference.plan import Conversation, Step
from grader.inference.resume import missing, walk
from grader.models import replies
from grader.models.messages import digest, wire
from grader.models.replies import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.inference.log import Kept, Log
    from grader.inference.plan import Key, Plan
    from grader.models.messages import Message
    from grader.models.replies import Outcome

URL = "/v1/chat/completions"


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a written batch file."""

    requests: int
    bytes: int
    later: int
    """Number of requests that first need the reply to another request."""


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a file of replies."""

    replies: int
    failures: int
    known: int
    """Number of replies that were already in the log."""
    problems: list[str]
    """Lines that belong to no request, or cannot be read."""


class _Response(msgspec.Struct):
    status_code: int = 200
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    custom_id: str
    response: _Response | None = None
    error: Any = None


class _Open(msgspec.Struct, frozen=True, kw_only=True):
    """A request whose earlier steps have replies. Its images are read only when it is built."""

    conversation: Conversation
    step: Step
    texts: dict[str, str]
    """Answers of the earlier steps by stage."""

    def messages(self) -> tuple[Message, ...]:
        """Return the messages to send."""
        return self.step.build(self.texts)


def write(path: Path, plan: Plan, selected: Sequence[Conversation], log: Log) -> Written:
    """Write the requests that can be sent now. Raises OSError."""
    count = size = 0
    with replacing(path) as file:
        for each in _requests(selected, log.replies, answered=False):
            messages = each.messages()
            body = {"model": plan.models[each.step.role], "messages": wire(messages)}
            line = {
                "custom_id": custom_id(plan, each, messages),
                "method": "POST",
                "url": URL,
                "body": body | each.step.settings.fields(),
            }
            size += file.write(msgspec.json.encode(line) + b"\n")
            count += 1
    later = sum(len(missing(conversation, log.replies)) for conversation in selected) - count
    return Written(requests=count, bytes=size, later=later)


def take(path: Path, plan: Plan, selected: Sequence[Conversation], log: Log) -> Taken:
    """Append the replies of a batch to the log, each for the request that it names. Raises InputError, OSError."""
    open_ = {custom_id(plan, each, each.messages()): each for each in _requests(selected, log.replies, answered=False)}
    answered = {custom_id(plan, each, each.messages()) for each in _requests(selected, log.replies, answered=True)}
    problems: list[str] = []
    counts = {"replies": 0, "failures": 0, "known": 0}
    for number, line in _lines(path, problems):
        each = open_.pop(line.custom_id, None)
        if each is None and line.custom_id in answered:
            counts["known"] += 1
        elif each is None:
            problems.append(f"{path}:{number}: custom_id {line.custom_id!r}: this command has no such request")
        else:
            outcome = _outcome(line)
            model = plan.models[each.step.role]
            log.append(records.make(each.conversation, each.step, model, each.messages(), outcome))
            answered.add(line.custom_id)
            counts["failures" if isinstance(outcome, Failure) else "replies"] += 1
    return Taken(problems=problems, **counts)


def custom_id(plan: Plan, each: _Open, messages: tuple[Message, ...]) -> str:
    """Return a request's id: a hash of its content, so that a reply is only used for its own request."""
    asked = {
        "key": each.conversation.key(each.step),
        "model": plan.models[each.step.role],
        "settings": each.step.recorded_settings(),
        "prompt": digest(messages),
    }
    return f"grade-{hashlib.sha256(msgspec.json.encode(asked, order='sorted')).hexdigest()[:40]}"


def _requests(selected: Sequence[Conversation], found: Mapping[Key, Kept], *, answered: bool) -> Iterator[_Open]:
    """Yield the requests that have a reply, or those without one whose earlier steps have replies."""
    for conversation in selected:
        for step, reply, texts in walk(conversation, found):
            if answered == (reply is not None):
                yield _Open(conversation=conversation, step=step, texts=texts)


def _lines(path: Path, problems: list[str]) -> Iterator[tuple[int, _Line]]:
    decoder = msgspec.json.Decoder(_Line)
    try:
        with path.open("rb") as file:
            for number, data in enumerate(file, 1):
                if not data.strip():
                    continue
                try:
                    yield number, decoder.decode(data)
                except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                    problems.append(f"{path}:{number}: not a reply of a batch ({error})")
    except OSError as error:
        raise InputError([f"{path}: cannot be read: {error.strerror}"]) from error


def _outcome(line: _Line) -> Outcome:
    response = line.response
    if response is None or line.error:
        return Failure(kind="down", reason=f"the batch has an error for it: {_short(line.error)}")
    if response.status_code != 200:
        kind = "refused" if response.status_code == 400 else "down"
        said = _short(bytes(response.body).decode("utf-8", errors="replace"))
        return Failure(kind=kind, reason=f"the batch has HTTP {response.status_code} for it: {said}")  # type: ignore[arg-type]
    try:
        return replies.read(bytes(response.body))
    except ValueError as error:
        return Failure(kind="down", reason=f"the reply in the batch is {error}")


def _short(said: object) -> str:
    from grader.models.endpoint import one_line

    return one_line(str(said), 300)
