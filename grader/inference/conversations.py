"""The plan for a benchmark's tasks, from the scorer's prompts and the user's settings."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import msgspec

from grader.data.images import UnreadableImageError, opened
from grader.errors import InputError
from grader.inference.plan import Conversation, Plan, Role, Step
from grader.models.messages import Image, Message, Part, Settings, Text, message
from grader.models.prompt import IMAGE, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grader.task import Task


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The user's settings for every request."""

    samples: int = 1
    settings: Settings
    """For the first sample; the seeds of the others are derived from its seed."""
    system: str = ""
    """A system message before the prompt; empty: no system message."""
    image_detail: str | None = None
    max_image_pixels: int | None = None
    """Larger images are scaled down; None: images are sent unchanged."""
    without_images: bool = False
    """Whether the user wants images to be left out."""
    models: dict[Role, str]


def make(
    tasks: Mapping[str, Task],
    turns: Callable[[Task], Sequence[Turn]],
    image: Callable[[Task], bytes | None],
    chosen: Chosen,
) -> Plan:
    """Return the plan for all samples of all tasks. Images are read when a request is built."""
    conversations = []
    for task in tasks.values():
        listed = turns(task)
        for sample in range(chosen.samples):
            steps = tuple(_step(turn, task, image, chosen, sample) for turn in listed)
            conversations.append(Conversation(qid=task.id, sample=sample, steps=steps))
    roles = {step.role for each in conversations for step in each.steps} | {"model"}
    return Plan(
        conversations=tuple(conversations),
        models={role: name for role, name in chosen.models.items() if role in roles},
    )


def _step(turn: Turn, task: Task, image: Callable[[Task], bytes | None], chosen: Chosen, sample: int) -> Step:
    shows_images = turn.shows_images and not chosen.without_images

    def build(texts: Mapping[str, str]) -> tuple[Message, ...]:
        picture = _picture(image(task), task, chosen) if shows_images else None
        prompt = Message(role="user", parts=_parts(turn.text(texts), picture))
        return (message("system", chosen.system), prompt) if chosen.system else (prompt,)

    return Step(
        stage=turn.stage,
        build=build,
        settings=_settings(turn, chosen, sample),
        shows_images=shows_images,
        role="coder" if turn.by_coder and "coder" in chosen.models else "model",
        stop=turn.stop,
        noted=turn.noted | _noted(turn, chosen),
    )


def _settings(turn: Turn, chosen: Chosen, sample: int) -> Settings:
    settings = chosen.settings
    if turn.is_greedy and settings.temperature is not None:
        settings = msgspec.structs.replace(settings, temperature=0.0)
    if settings.seed is not None:
        settings = msgspec.structs.replace(settings, seed=settings.seed + sample)
    return settings


def _noted(turn: Turn, chosen: Chosen) -> dict[str, Any]:
    """Return the settings that are not visible in the prompt's text or the request's fields."""
    named = {
        "image_detail": chosen.image_detail,
        "max_image_pixels": chosen.max_image_pixels,
        "without_images": chosen.without_images or None,
    }
    return {name: value for name, value in named.items() if value is not None and turn.shows_images}


def _parts(text: str, picture: Image | None) -> tuple[Part, ...]:
    """Return text and image in order: the image first, unless the text marks its position."""
    if picture is None:
        return (Text(text=text.replace(IMAGE, "")),)
    if IMAGE not in text:
        return (picture, Text(text=text))
    pieces = text.split(IMAGE)
    parts: list[Part] = [Text(text=pieces[0])] if pieces[0] else []
    for piece in pieces[1:]:
        parts += [picture, *([Text(text=piece)] if piece else [])]
    return tuple(parts)


def _picture(data: bytes | None, task: Task, chosen: Chosen) -> Image | None:
    if data is None:
        return None
    if chosen.max_image_pixels is not None:
        data = _smaller(data, chosen.max_image_pixels, task)
    return Image(data=data, detail=chosen.image_detail)


def _smaller(data: bytes, pixels: int, task: Task) -> bytes:
    """Return an image with at most `pixels` pixels; its bytes are unchanged if it is small enough."""
    import PIL.Image

    try:
        with opened(data) as image:
            if image.width * image.height <= pixels:
                return data
            scale = (pixels / (image.width * image.height)) ** 0.5
            size = max(1, int(image.width * scale)), max(1, int(image.height * scale))
            mode = image.mode if image.mode in {"L", "LA", "RGB", "RGBA"} else "RGB"
            file = io.BytesIO()
            image.convert(mode).resize(size, PIL.Image.Resampling.LANCZOS).save(file, "PNG")
            return file.getvalue()
    except UnreadableImageError as error:
        raise InputError([f"{task.id}: its image cannot be scaled down: {error}"]) from error
