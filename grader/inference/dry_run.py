"""A dry run: the number of requests, the first request, and an estimate of the tokens, without sending anything."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from grader.models.messages import Text, image_size, images, wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.inference.log import Log
    from grader.inference.plan import Conversation, Plan, Step
    from grader.models.messages import Message

_CHARACTERS_A_TOKEN = 4
_PIXELS_A_TOKEN = 28 * 28
"""The patch size of common vision encoders; others differ by a factor of two."""
_ESTIMATED_REQUESTS = 50
"""Number of requests whose tokens are estimated; the rest is extrapolated."""


class DryRun(msgspec.Struct, frozen=True, kw_only=True):
    """The requests that a run would send."""

    requests: int
    """Number of requests without a reply."""
    answered_requests: int
    """Number of requests that already have a reply."""
    first_request: dict[str, Any] | None
    """The body of the first request, with abbreviated images; None if no request is left."""
    prompt_tokens: int
    """Rough estimate for all requests, images included."""
    image_tokens: int
    """The part of `prompt_tokens` for images."""
    max_completion_tokens: int | None
    """Tokens if every reply uses its whole limit; None without a limit."""


def estimate_run(plan: Plan, selected: Sequence[Conversation], log: Log) -> DryRun:
    """Return the requests that a run would send, given the replies in its log."""
    pending = [(conversation, steps) for conversation in selected if (steps := log.missing(conversation))]
    limits = [step.settings.get("max_tokens") for _, steps in pending for step in steps]
    text_tokens, image_tokens, estimated_count = _estimate(pending)
    total = sum(len(steps) for _, steps in pending)
    scale = total / estimated_count if estimated_count else 0.0
    return DryRun(
        requests=total,
        answered_requests=sum(len(conversation.steps) for conversation in selected) - total,
        first_request=_first_request(plan, pending),
        prompt_tokens=round((text_tokens + image_tokens) * scale),
        image_tokens=round(image_tokens * scale),
        max_completion_tokens=None if None in limits else sum(limit or 0 for limit in limits),
    )


def _first_request(plan: Plan, pending: Sequence[tuple[Conversation, list[Step]]]) -> dict[str, Any] | None:
    if not pending:
        return None
    conversation, steps = pending[0]
    request = conversation.request(steps[0], _PlaceholderAnswers())
    # Without a server, no model need be named.
    model = {"model": name} if (name := plan.model_of(steps[0])) else {}
    return {**model, "messages": wire(request.messages, with_image_data=False), **request.fields()}


def _estimate(pending: Sequence[tuple[Conversation, list[Step]]]) -> tuple[float, float, int]:
    """Return the text tokens and the image tokens of some evenly spread requests, and the number of these requests."""
    all_steps = [step for _, steps in pending for step in steps]
    some_steps = all_steps[:: max(1, len(all_steps) // _ESTIMATED_REQUESTS)]
    prompts = [step.build(_PlaceholderAnswers()) for step in some_steps]
    return sum(map(_text_tokens, prompts)), sum(map(_image_tokens, prompts)), len(prompts)


def _text_tokens(messages: tuple[Message, ...]) -> float:
    texts = (part.text for message in messages for part in message.parts if isinstance(part, Text))
    # Characters outside ASCII are about a token each.
    return sum(sum(1.0 if char > "\x7f" else 1 / _CHARACTERS_A_TOKEN for char in text) for text in texts)


def _image_tokens(messages: tuple[Message, ...]) -> int:
    sizes = (image_size(image.data) for image in images(messages))
    return sum(math.ceil(width * height / _PIXELS_A_TOKEN) for width, height in sizes)


class _PlaceholderAnswers(dict[str, str]):
    """Placeholders for the answers of earlier steps, which do not exist yet."""

    def __missing__(self, stage: str) -> str:
        return f"<the {stage} that the model gives first>"
