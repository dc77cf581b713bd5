"""The images to send. They are checked before anything is sent, and read when a request is built."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from grader.data.images import Images, folder_of
from grader.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from grader.benchmark import Benchmark
    from grader.task import Task

_KEPT = 64
_PROBLEMS_SHOWN = 50


class Pictures:
    """The images of a benchmark's tasks, as bytes of the data."""

    def __init__(
        self, declared: Benchmark, split: str, protocol: str, given: Path | None, tasks: Mapping[str, Task]
    ) -> None:
        self._column = declared.image_column(protocol)
        self._tasks = tasks
        self._images = (
            Images(tasks, self._column, folder_of(declared, split, given)) if self._column is not None else None
        )
        # Samples of one task are consecutive, and a request is built more than once.
        self._read = functools.lru_cache(maxsize=_KEPT)(self._of)

    def read(self, task: Task) -> bytes | None:
        """Return a task's image; None if its benchmark or its row has no image."""
        return self._read(task.id)

    def check(self, wanted: Collection[str]) -> None:
        """Raise InputError if images of these tasks are missing, because a model would guess without them."""
        if self._images is None or not wanted:
            return
        if self._images.is_empty:
            raise InputError(
                [
                    f"The data has no images (column {self._column}), so a model would not see the images that the "
                    "questions are about. Give data with images, or use --without-images to ask without them."
                ]
            )
        lost = [qid for qid in wanted if self._is_lost(self._images, self._tasks[qid])]
        if lost:
            problems = [
                f"{qid}: the image that the data names does not exist, or is no image (column {self._column})"
                for qid in lost
            ]
            hidden = [f"... and {len(lost) - _PROBLEMS_SHOWN} more"] if len(lost) > _PROBLEMS_SHOWN else []
            raise InputError(problems[:_PROBLEMS_SHOWN] + hidden)

    @staticmethod
    def _is_lost(images: Images, task: Task) -> bool:
        return images.has_cell(task) and images.of(task) is None

    def _of(self, qid: str) -> bytes | None:
        picture = self._images.of(self._tasks[qid]) if self._images is not None else None
        return picture.read_bytes() if isinstance(picture, Path) else picture
