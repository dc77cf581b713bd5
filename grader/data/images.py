"""A task's image as the data has it, bytes or a file. Images are never decoded here."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.benchmark import Benchmark
    from grader.task import Task

Picture = bytes | Path
"""An image: its bytes, or its file."""
_REFERENCE = 64
"""An image cell shorter than this is a reference to another row or to a file."""


class Images:
    """The images of a benchmark's tasks, from the rows' image `column`."""

    def __init__(self, tasks: Mapping[str, Task], column: str, folder: Path | None) -> None:
        self._cells: dict[str, Any] = {qid: task.row.get(column) for qid, task in tasks.items()}
        self._folder = folder

    @property
    def is_empty(self) -> bool:
        """Whether the image column is empty in all rows."""
        return all(cell is None for cell in self._cells.values())

    def has_cell(self, task: Task) -> bool:
        """Return whether the data has an image or a reference for the task, even if it cannot be found."""
        return self._cell(task) is not None

    def of(self, task: Task) -> Picture | None:
        """Return a task's image; None if it has none, or it cannot be found."""
        return _picture(self._cell(task), self._folder)

    def _cell(self, task: Task) -> object:
        """Return a task's image cell: its own, that of the row it refers to, or that of its unit's first row."""
        cells = self._cells
        cell = cells.get(task.id)
        if cell is None:
            cell = cells.get(task.observation)
        seen: set[str] = set()
        while _is_reference(cell) and str(cell) in cells and str(cell) not in seen:
            seen.add(str(cell))
            cell = cells[str(cell)]
        return cell


def folder_of(declared: Benchmark, split: str, given: Path | None) -> Path | None:
    """Return the folder to which names of image files are relative."""
    if given is not None:
        return given.parent if given.is_file() else given
    place = declared.splits[split].data
    return (Path(declared.folder) / place).parent if place else None


def _is_reference(cell: object) -> bool:
    return isinstance(cell, str | int) and len(str(cell)) < _REFERENCE


def _picture(cell: object, folder: Path | None) -> Picture | None:
    """Return the image of a cell with bytes, base64 or a file name; None for anything else."""
    if isinstance(cell, dict):
        return _picture(cell.get("bytes") or cell.get("path"), folder)
    if isinstance(cell, bytes):
        return cell
    if not isinstance(cell, str):
        return None
    if len(cell) < 1024 and (found := _image_file(cell, folder)) is not None:
        return found
    try:
        return base64.b64decode(cell, validate=True) if len(cell) >= _REFERENCE else None
    except binascii.Error:
        return None


def _image_file(name: str, folder: Path | None) -> Path | None:
    """Return the file with this name in the data's folder, so that data cannot put other files into a report."""
    if folder is None or "\0" in name:
        return None
    try:
        path = (folder / name).resolve()
        return path if path.is_relative_to(folder.resolve()) and path.is_file() else None
    except OSError:  # base64 text can be too long for a file name
        return None
