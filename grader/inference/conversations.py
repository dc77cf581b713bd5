"""The plan for a benchmark's tasks: the scorer's prompts, the user's settings, and the images to send."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader.data.images import Images, folder_of
from grader.errors import InputError
from grader.inference.plan import Conversation, Plan, Step
from grader.models.messages import Image, Message, Part, Text, message
from grader.models.prompt import IMAGE, Turn
from grader.predictions.record import listing
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from grader.benchmark import Benchmark
    from grader.task import Task


_CACHED_IMAGES = 64


class RequestSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The user's settings for every request."""

    samples: int = 1
    settings: dict[str, Any]
    """For the first sample; the next one has the next seed. None is not sent."""
    system: str = ""
    """A system message before the prompt; empty: no system message."""
    image_detail: str | None = None
    without_images: bool = False
    """Whether the user wants images to be left out."""
    model: str
    coder: str | None = None


def make_plan(
    tasks: Mapping[str, Task],
    turns: Callable[[Task], Sequence[Turn]],
    image: Callable[[Task], bytes | None],
    request_settings: RequestSettings,
) -> Plan:
    """Return the plan for all samples of all tasks. Images are read when a request is built."""
    conversations = []
    for task in tasks.values():
        task_turns = turns(task)
        for sample in range(request_settings.samples):
            steps = tuple(_make_step(turn, task, image, request_settings, sample) for turn in task_turns)
            conversations.append(Conversation(qid=task.id, sample=sample, steps=steps))
    return Plan(conversations=tuple(conversations), model=request_settings.model, coder=request_settings.coder)


def _make_step(
    turn: Turn, task: Task, image: Callable[[Task], bytes | None], request_settings: RequestSettings, sample: int
) -> Step:
    """Return the request of one turn for one sample.

    Its messages are built, and the task's image is read, when it is sent. For the other fields see `Turn` and `Step`.
    """
    shows_images = turn.shows_images and not request_settings.without_images
    # Recorded, so that a resumed run notices that the option is another one.
    image_settings = {"without_images": True} if turn.shows_images and not shows_images else {}

    def build(earlier_texts: Mapping[str, str]) -> tuple[Message, ...]:
        data = image(task) if shows_images else None
        image_part = None if data is None else Image(data=data, detail=request_settings.image_detail)
        prompt = Message(role="user", parts=_parts(turn.text(earlier_texts), image_part))
        return (message("system", request_settings.system), prompt) if request_settings.system else (prompt,)

    return Step(
        stage=turn.stage,
        build=build,
        settings=_sample_settings(turn, request_settings, sample),
        shows_images=shows_images,
        by_coder=turn.by_coder,
        stop=turn.stop,
        extra_settings=turn.extra_settings | image_settings,
    )


def _sample_settings(turn: Turn, request_settings: RequestSettings, sample: int) -> dict[str, Any]:
    settings = dict(request_settings.settings)
    if turn.is_greedy and settings.get("temperature") is not None:
        settings["temperature"] = 0.0
    if settings.get("seed") is not None:
        settings["seed"] += sample
    return settings


def _parts(text: str, image: Image | None) -> tuple[Part, ...]:
    """Return text and image in order: the image first, unless the text marks its position."""
    if image is None:
        return (Text(text=text.replace(IMAGE, "")),)
    if IMAGE not in text:
        return (image, Text(text=text))
    pieces = text.split(IMAGE)
    parts: list[Part] = [Text(text=pieces[0])] if pieces[0] else []
    for piece in pieces[1:]:
        parts += [image, *([Text(text=piece)] if piece else [])]
    return tuple(parts)


class TaskImages:
    """The images of a benchmark's tasks, as bytes of the data."""

    def __init__(
        self, benchmark: Benchmark, split: str, protocol: str, data_path: Path | None, tasks: Mapping[str, Task]
    ) -> None:
        self._column = benchmark.image_column(protocol)
        self._tasks = tasks
        self._folder = folder_of(benchmark, split, data_path)
        self._images = Images(tasks, self._column, self._folder) if self._column is not None else None
        # Samples of one task are consecutive, and a request is built more than once.
        self._read = functools.lru_cache(maxsize=_CACHED_IMAGES)(self._read_image)

    def read(self, task: Task) -> bytes | None:
        """Return a task's image; None if its benchmark or its row has no image."""
        return self._read(task.id)

    def check(self, qids: Collection[str]) -> None:
        """Raise InputError if images of these tasks are missing, because a model would guess without them."""
        # The benchmark has no images, or no task shows one.
        if self._images is None or not qids:
            return
        if self._images.is_empty:
            raise InputError(
                [
                    f"The data has no images (column {self._column}), so a model would not see the images that the "
                    "questions are about. Give data with images, or use --without-images to ask without them."
                ]
            )
        tasks = (self._tasks[qid] for qid in qids)
        missing_ids = [task.id for task in tasks if self._images.has_cell(task) and self._images.image_of(task) is None]
        if missing_ids:
            problem = "the image that the data names does not exist, or is not an image"
            summary = f"{counted(len(missing_ids), 'task')}: {problem} (column {self._column}): {listing(missing_ids)}"
            raise InputError([f"{summary}. {self._remedy()}"])

    def _remedy(self) -> str:
        """Return what helps if images are missing."""
        option = "use --without-images to ask without them."
        if self._folder is None:
            return option.capitalize()
        return f"File names are relative to {self._folder.absolute()}: put the images there, or {option}"

    def _read_image(self, qid: str) -> bytes | None:
        source = self._images.image_of(self._tasks[qid]) if self._images is not None else None
        return source.read_bytes() if isinstance(source, Path) else source
