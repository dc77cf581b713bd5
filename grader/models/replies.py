"""The outcome of one request: a reply, or a failure of a certain kind. A failure is never treated as a reply."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

import msgspec

from grader.files import compact_json

FailureKind = Literal[
    "again",
    "busy",
    "down",
    "unreachable",
    "untrusted",
    "empty",
    "reasoning_only",
    "filtered",
    "refused",
    "exhausted",
    "fatal",
    "halted",
]
"""again: ask at once, the request was adapted. busy: too many requests. down: the server or the connection failed, or
the reply is not a chat completion. unreachable: no connection. untrusted: no connection because
of TLS. empty: a reply without text. reasoning_only: all tokens
went into reasoning. filtered: a content filter cut the reply. refused: this request is wrong. exhausted: no credit.
fatal: no request can succeed (key, model or address). halted: not sent."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens as counted by the server; 0 if it does not count them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def total(self) -> int:
        """All tokens of the request."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """An answer of the model."""

    content: str
    """As the server sent it, including reasoning in tags."""
    reasoning: str = ""
    """Reasoning that the server sent separately."""
    finish_reason: str = ""
    """`stop`, `length`, ...; empty if the server does not send it."""
    usage: Usage = Usage()
    model: str = ""
    """The model's name as the server sent it."""
    choices: int = 1
    """Number of choices in the reply; only the first one is used."""
    attempts: int = 1
    """Number of requests for this reply."""
    seconds: float = 0.0
    """Duration of the last request."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a reply is missing."""

    kind: FailureKind
    reason: str
    """A message for users, without the key."""
    wait: float = 0.0
    """Seconds that the server asked to wait."""
    usage: Usage = Usage()
    """Tokens that the failed request used."""
    reasoning: str = ""
    finish_reason: str = ""
    attempts: int = 1
    seconds: float = 0.0


class EndlessReplyError(Exception):
    """A reply exceeds a limit; the message says which, without the name of the server."""


Outcome: TypeAlias = Reply | Failure


class _Message(msgspec.Struct):
    content: str | list[Any] | None = None
    reasoning: Any = None
    reasoning_content: Any = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: Any = None


class _Error(msgspec.Struct):
    message: Any = None
    code: Any = None


class _Body(msgspec.Struct):
    """The fields of a chat completion that are read; others are ignored."""

    choices: list[_Choice] | None = None
    usage: Any = None
    model: Any = None
    error: _Error | str | None = None


# Created at import, in one thread: msgspec crashes if several threads are the first to decode a type (msgspec 0.22).
_BODY = msgspec.json.Decoder(_Body)


def read(content: bytes) -> Outcome:
    """Read the body of a reply with HTTP 200. Raises ValueError if it is not a chat completion."""
    try:
        body = compact_json.decode_with(_BODY, content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError("not a chat completion") from error
    usage = _usage(body.usage)
    if body.error is not None:
        return _error_in_body(body.error, usage)
    if body.choices is None:
        raise ValueError("not a chat completion")
    if not body.choices:
        return Failure(kind="empty", reason="the reply has no choices", usage=usage)
    return _read_choice(body, body.choices[0], usage)


def _read_choice(body: _Body, choice: _Choice, usage: Usage) -> Outcome:
    message, finish = choice.message, choice.finish_reason if isinstance(choice.finish_reason, str) else ""
    content = _joined(message.content) or message.refusal or ""
    # vLLM renamed `reasoning_content` to `reasoning`; servers use either.
    reasoning = _joined(message.reasoning_content) or _joined(message.reasoning)
    if finish in {"error", "abort"}:
        return Failure(kind="down", reason=f"the server stopped the reply (finish_reason {finish!r})", usage=usage)
    if finish == "content_filter":
        return Failure(kind="filtered", reason="a content filter cut the reply", usage=usage, finish_reason=finish)
    answer, thought = split_reasoning(content)
    if answer.strip():
        return Reply(
            content=content,
            reasoning=reasoning,
            finish_reason=finish,
            usage=usage,
            model=body.model if isinstance(body.model, str) else "",
            choices=len(body.choices or ()),
        )
    if reasoning or thought:
        said = "reasoning used up the token limit" if finish == "length" else "the reply has only reasoning"
        reasoning = reasoning or thought
        return Failure(kind="reasoning_only", reason=said, usage=usage, reasoning=reasoning, finish_reason=finish)
    return Failure(kind="empty", reason="the reply is empty", usage=usage, finish_reason=finish)


def _error_in_body(error: _Error | str, usage: Usage) -> Failure:
    """Return a failure for an error in the body: some gateways send errors with HTTP 200."""
    said = error if isinstance(error, str) else str(error.message or error.code or "no explanation")
    busy = isinstance(error, _Error) and str(error.code) in {"429", "rate_limit_exceeded"}
    return Failure(kind="busy" if busy else "down", reason=f"the reply contains an error: {said}", usage=usage)


def _joined(content: object) -> str:
    """Return a text that may be a string or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))


def _usage(usage: object) -> Usage:
    def count(field: str) -> int:
        found = usage.get(field) if isinstance(usage, dict) else None
        return found if type(found) is int and 0 < found <= _MOST_TOKENS else 0

    return Usage(prompt_tokens=count("prompt_tokens"), completion_tokens=count("completion_tokens"))


_MOST_TOKENS = 10**12
"""A server that counts more in one request does not count."""
_OPEN = re.compile(r"\s*<(think|thinking)>")


def split_reasoning(content: str) -> tuple[str, str]:
    """Return an answer and the reasoning in tags before it, like a server's own reasoning parser.

    A closing tag without an opening one ends reasoning that the chat template started. A block that is never closed was
    cut off; it stays in the answer, so that every reading gets the text that the model wrote.
    """
    opened = _OPEN.match(content)
    for tag in [f"</{opened[1]}>"] if opened else ["</think>", "</thinking>"]:
        thought, closed, answer = content[opened.end() if opened else 0 :].partition(tag)
        if closed:
            return answer.lstrip(), thought.strip()
    return content, ""
