"""What comes back from a model: the text of a chat completion, or why there is none."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from grader.files import compact_json
from grader.predictions.file import Ending


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
    """The body of a reply with HTTP 200."""

    content: str | None = None
    """The text as the server sent it, including reasoning in tags; None: it is no answer."""
    reasoning: str = ""
    """Reasoning that the server sent separately."""
    finish_reason: str = ""
    """`stop`, `length`, ...; empty if the server does not send it."""
    usage: Usage = Usage()
    error: str | None = None
    """Why it is no answer; None: it is one."""


class _Message(msgspec.Struct):
    content: str | list[Any] | None = None
    reasoning: Any = None
    reasoning_content: Any = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: Any = None
    error: Any = None


class _Body(msgspec.Struct):
    """The fields of a chat completion that are read; others are ignored."""

    choices: list[_Choice] | None = None
    usage: Any = None
    error: Any = None


# Created at import, in one thread: msgspec crashes if several threads are the first to decode a type (msgspec 0.22).
_BODY = msgspec.json.Decoder(_Body)
NOT_A_COMPLETION = "a reply that is not a chat completion; the address usually ends in /v1"


def read(content: bytes) -> Reply:
    """Read the body of a reply with HTTP 200."""
    try:
        body = compact_json.decode_typed(_BODY, content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Reply(error=NOT_A_COMPLETION)
    usage = _usage(body.usage)
    if body.error is not None:
        # Some gateways send the errors of the server behind them with HTTP 200.
        return Reply(usage=usage, error=f"the reply contains an error: {error_text(body.error)}")
    if not body.choices:
        return Reply(usage=usage, error=NOT_A_COMPLETION if body.choices is None else "the reply has no choices")
    return _read_choice(body.choices[0], usage)


def _read_choice(choice: _Choice, usage: Usage) -> Reply:
    """Return the reply in a choice of a chat completion. Reasoning in tags stays in its content."""
    message = choice.message
    finish = choice.finish_reason if isinstance(choice.finish_reason, str) else ""
    content = _joined(message.content) or message.refusal or ""
    # vLLM renamed `reasoning_content` to `reasoning`; servers use either.
    reasoning = _joined(message.reasoning_content) or _joined(message.reasoning)
    answer, thought = split_reasoning(content)
    error = _why_no_answer(answer, finish, has_reasoning=bool(reasoning or thought))
    if choice.error is not None:
        # Some gateways send the error that broke a reply off in its choice.
        error = f"the reply contains an error: {error_text(choice.error)}"
    if error is not None:
        return Reply(reasoning=reasoning or thought, finish_reason=finish, usage=usage, error=error)
    return Reply(content=content, reasoning=reasoning, finish_reason=finish, usage=usage)


def _why_no_answer(answer: str, finish: str, *, has_reasoning: bool) -> str | None:
    """Return why a reply has no answer; None if it has one. Text that the token limit cut is an answer, too."""
    if finish in {"error", "abort"}:
        return f"the server stopped the reply (finish_reason {finish!r})"
    if finish == "content_filter":
        return "a content filter cut the reply"
    if answer.strip():
        return None
    defect = "has only reasoning" if has_reasoning else "is empty"
    return f"the reply {defect}{': it was cut at the token limit' if Ending(finish_reason=finish).is_cut else ''}"


def error_text(error: object) -> str:
    """Return the message in a server's error: a text, or an object with `message` or `code`."""
    if isinstance(error, dict):
        error = error.get("message") or error.get("code") or error
    return str("" if error is None else error).strip() or "no explanation"


def _joined(content: object) -> str:
    """Return a text that may be a string or a list of parts."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))


def _usage(usage: object) -> Usage:
    """Return the numbers of tokens in a reply; one that cannot be true is 0."""

    def count(field: str) -> int:
        tokens = usage.get(field) if isinstance(usage, dict) else None
        return tokens if type(tokens) is int and 0 < tokens <= _MAX_TOKENS else 0

    return Usage(prompt_tokens=count("prompt_tokens"), completion_tokens=count("completion_tokens"))


_MAX_TOKENS = 10**12
"""A server that counts more in one request does not count."""
_OPEN = re.compile(r"\s*<(think|thinking)>")
_BLANK = re.compile(r"\A(?:\s*\n|\s*)")
"""The blanks between reasoning and answer, up to the answer's first line: its indentation may be that of code."""


def split_reasoning(content: str) -> tuple[str, str]:
    """Return an answer and the reasoning in tags before it, like a server's own reasoning parser.

    A closing tag without an opening one ends reasoning that the chat template started. Two blocks stay in the answer,
    so that every reading gets the text that the model wrote: one that is never closed was cut off; and one after other
    text may be part of the answer, such as of a program that looks for tags.
    """
    opened = _OPEN.match(content)
    for tag in [f"</{opened[1]}>"] if opened else ["</think>", "</thinking>"]:
        thought, closed, answer = content[opened.end() if opened else 0 :].partition(tag)
        if closed and not opened and f"<{tag[2:]}" in thought:
            return content, ""
        if closed:
            return _BLANK.sub("", answer, count=1), thought.strip()
    return content, ""
