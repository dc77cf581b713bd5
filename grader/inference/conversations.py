"""From tasks to a plan: how a scorer has them asked, with the settings that the user chose."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import InputError
from grader.inference.plan import Conversation, Plan, Role, Step
from grader.models.endpoint import Settings
from grader.models.messages import Image, Message, Part, Text, message
from grader.models.prompt import IMAGE, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from grader.task import Task


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """What the user chose about every request."""

    samples: int = 1
    settings: Settings
    """Of the first sample; the seed of the others follows from it."""
    system: str = ""
    """A system message before the prompt; empty: none."""
    image_detail: str | None = None
    max_image_pixels: int | None = None
    """Images with more are made smaller; None: sent as they are."""
    models: dict[Role, str]


def make(
    tasks: Mapping[str, Task],
    turns: Callable[[Task], Sequence[Turn]],
    image: Callable[[Task], bytes | None],
    chosen: Chosen,
) -> Plan:
    """Return the plan of all samples of all tasks. Images are read when a request is built."""
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
    def build(texts: Mapping[str, str]) -> tuple[Message, ...]:
        picture = _picture(image(task), task, chosen) if turn.shows_images else None
        prompt = Message(role="user", parts=_parts(turn.text(texts), picture))
        return (message("system", chosen.system), prompt) if chosen.system else (prompt,)

    return Step(
        stage=turn.stage,
        build=build,
        settings=_settings(turn, chosen, sample),
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
    """Return the settings that neither the prompt's text nor the request's fields show."""
    named = {"image_detail": chosen.image_detail, "max_image_pixels": chosen.max_image_pixels}
    return {name: value for name, value in named.items() if value is not None and turn.shows_images}


def _parts(text: str, picture: Image | None) -> tuple[Part, ...]:
    """Return text and image in their order: the image first, unless the text says where it is to be."""
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
    """Return an image with no more pixels than that: the bytes as they are where it has no more."""
    import PIL.Image

    try:
        with PIL.Image.open(io.BytesIO(data)) as opened:
            if opened.width * opened.height <= pixels:
                return data
            scale = (pixels / (opened.width * opened.height)) ** 0.5
            size = max(1, int(opened.width * scale)), max(1, int(opened.height * scale))
            mode = opened.mode if opened.mode in {"L", "LA", "RGB", "RGBA"} else "RGB"
            file = io.BytesIO()
            opened.convert(mode).resize(size, PIL.Image.Resampling.LANCZOS).save(file, "PNG")
            return file.getvalue()
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError) as error:
        raise InputError([f"{task.id}: its image cannot be made smaller: {error}"]) from error
