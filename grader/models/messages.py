"""Messages to a model, of text and images, and their forms in requests and records."""

from __future__ import annotations

import base64
import hashlib
from typing import Any, Literal, TypeAlias

import msgspec

from grader.data.images import image_format
from grader.files.compact_json import without_surrogates

ChatRole = Literal["system", "user", "assistant"]


class Text(msgspec.Struct, frozen=True, kw_only=True, tag="text"):
    """A text part of a message."""

    text: str


class Image(msgspec.Struct, frozen=True, kw_only=True, tag="image"):
    """An image part of a message: the bytes of the data, never encoded anew."""

    data: bytes
    detail: str | None = None
    """`low`, `high` or `auto`, for servers that support it; None is not sent."""

    @property
    def media_type(self) -> str:
        """The media type, detected from the bytes."""
        return f"image/{(image_format(self.data) or 'PNG').lower()}"


Part: TypeAlias = Text | Image


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a conversation."""

    role: ChatRole
    parts: tuple[Part, ...]


def user(*parts: str | Image) -> Message:
    """Return a user's message."""
    return message("user", *parts)


def message(role: ChatRole, *parts: str | Image) -> Message:
    """Return a message; strings become text parts."""
    return Message(role=role, parts=tuple(Text(text=part) if isinstance(part, str) else part for part in parts))


def request_messages(messages: tuple[Message, ...], *, with_image_data: bool = True) -> list[dict[str, Any]]:
    """Return messages in the form of a chat completion request; without image data, its size stands for it."""
    return [{"role": turn.role, "content": _content(turn, with_image_data=with_image_data)} for turn in messages]


def _content(turn: Message, *, with_image_data: bool) -> str | list[dict[str, Any]]:
    # A single text is sent as a string, because servers without image support often accept only strings.
    if len(turn.parts) == 1 and isinstance(turn.parts[0], Text):
        return without_surrogates(turn.parts[0].text)
    return [_wire_part(part, with_image_data=with_image_data) for part in turn.parts]


def _wire_part(part: Part, *, with_image_data: bool) -> dict[str, Any]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": without_surrogates(text)}
        case Image(data=data, detail=detail):
            body = base64.b64encode(data).decode() if with_image_data else f"<{len(data)} bytes>"
            url = {"url": f"data:{part.media_type};base64,{body}"}
            return {"type": "image_url", "image_url": url if detail is None else {**url, "detail": detail}}


def plain_text(messages: tuple[Message, ...]) -> str:
    """Return the text of the messages; several messages are marked with their roles."""
    if len(messages) == 1:
        return _text(messages[0])
    return "\n\n".join(f"[{turn.role}]\n{_text(turn)}" for turn in messages)


def _text(turn: Message) -> str:
    return without_surrogates("\n".join(part.text for part in turn.parts if isinstance(part, Text)))


def images(messages: tuple[Message, ...]) -> list[Image]:
    """Return the images of the messages, in order."""
    return [part for turn in messages for part in turn.parts if isinstance(part, Image)]


def image_positions(messages: tuple[Message, ...]) -> list[int]:
    """Return how many characters of text are before each image in its message, in order."""
    positions = []
    for turn in messages:
        chars = 0
        for part in turn.parts:
            if isinstance(part, Image):
                positions.append(chars)
            else:
                chars += len(part.text)
    return positions


def sha256(image: Image) -> str:
    """Return the hash of an image's bytes, which stands for it in records."""
    return hashlib.sha256(image.data).hexdigest()
