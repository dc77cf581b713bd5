"""A dry run: the number of requests, the first request, and the most tokens of replies, without sending anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from grader.models.messages import images, request_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.inference.log import Log
    from grader.inference.plan import Conversation, Plan, Step


class DryRun(msgspec.Struct, frozen=True, kw_only=True):
    """The requests that a run would send."""

    requests: int
    """Number of requests without a reply."""
    answered_requests: int
    """Number of requests that already have a reply."""
    first_request: dict[str, Any] | None
    """The body of the first request, with abbreviated images; None if no request is left."""
    has_images: bool
    """Whether the first request has images."""
    max_completion_tokens: int | None
    """Tokens if every reply uses its whole limit; None without a limit."""


def describe_run(plan: Plan, selected: Sequence[Conversation], log: Log) -> DryRun:
    """Return the requests that a run would send, given the replies in its log."""
    pending = [(conversation, step) for conversation in selected for step in log.missing(conversation)]
    limits = [step.settings.get("max_tokens") or step.settings.get("max_completion_tokens") for _, step in pending]
    first_request, has_images = _first_request(plan, *pending[0]) if pending else (None, False)
    return DryRun(
        requests=len(pending),
        answered_requests=sum(len(conversation.steps) for conversation in selected) - len(pending),
        first_request=first_request,
        has_images=has_images,
        max_completion_tokens=None if None in limits else sum(limit or 0 for limit in limits),
    )


def _first_request(plan: Plan, conversation: Conversation, step: Step) -> tuple[dict[str, Any], bool]:
    """Return the body of a request, and whether it has images."""
    request = conversation.request(step, _PlaceholderAnswers())
    # Without a server, no model need be named.
    model = {"model": name} if (name := plan.model_of(step)) else {}
    body = {**model, "messages": request_messages(request.messages, with_image_data=False), **request.sent_settings()}
    return body, bool(images(request.messages))


class _PlaceholderAnswers(dict[str, str]):
    """Placeholders for the answers of earlier steps, which do not exist yet."""

    def __missing__(self, stage: str) -> str:
        return f"<the {stage} that the model gives first>"
