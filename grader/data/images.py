"""A task's image as the data has it, bytes or a file; what is not an image is never sent or shown."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.files.json_text import parse_collection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.benchmark import Benchmark
    from grader.task import Task

Picture = bytes | Path
"""An image: its bytes, or its file."""
_MIN_BASE64 = 64
"""Characters: no image has fewer in base64. A shorter cell is a reference to another row or to a file."""
_LONGEST_NAME = 1024
"""A longer text is not looked up as a file's name: it is base64."""
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
"""The formats that benchmarks use. Pillow has some forty more decoders, which untrusted bytes could attack."""
_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"GIF8": "GIF",
    b"BM": "BMP",
    b"II*\x00": "TIFF",
    b"MM\x00*": "TIFF",
}
_MAGIC_LENGTH = 12


def image_format(data: bytes) -> str:
    """Return the one of `FORMATS` that an image's first bytes announce; empty if they announce none."""
    if data[:4] == b"RIFF" and data[8:_MAGIC_LENGTH] == b"WEBP":
        return "WEBP"
    return next((name for magic, name in _MAGIC.items() if data.startswith(magic)), "")


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

    def image_of(self, task: Task) -> Picture | None:
        """Return a task's image; None if it has none that can be found and begins as an image does."""
        picture = _bytes_or_file(self._cell(task), self._folder)
        # A row could name any file in the data's folder, which must not be sent to a server or shown on a page.
        return picture if picture is not None and image_format(_first_bytes(picture)) else None

    def _cell(self, task: Task) -> object:
        """Return a task's image cell, or that of its unit's first row. If it is another row's id, return that row's."""
        cells = self._cells
        cell = cells.get(task.id)
        if cell is None:
            cell = cells.get(task.observation)
        followed: set[str] = set()  # a chain of ids can be a circle
        while _is_reference(cell) and str(cell) in cells and str(cell) not in followed:
            followed.add(str(cell))
            cell = cells[str(cell)]
        return cell


def folder_of(declared: Benchmark, split: str, data_path: Path | None) -> Path | None:
    """Return the folder to which names of image files are relative; None: the data is from the hub, or fetched."""
    if data_path is not None:
        return data_path.parent if data_path.is_file() else data_path
    name = declared.splits[split].data
    return (Path(declared.folder) / name).parent if name else None


def _is_reference(cell: object) -> bool:
    return isinstance(cell, str | int) and len(str(cell)) < _MIN_BASE64


def _bytes_or_file(cell: object, folder: Path | None) -> Picture | None:
    """Read a cell that has bytes, base64, a file name, or a list of one of these; return None for anything else."""
    cell = parse_collection(cell)
    if isinstance(cell, list) and len(cell) == 1:
        cell = cell[0]
    if isinstance(cell, dict):
        cell = cell.get("bytes") or cell.get("path")
    if isinstance(cell, bytes):
        return cell
    if not isinstance(cell, str):
        return None
    if len(cell) < _LONGEST_NAME and (file := _image_file(cell, folder)) is not None:
        return file
    try:
        return base64.b64decode(cell, validate=True) if len(cell) >= _MIN_BASE64 else None
    except ValueError:  # also a character that is not ASCII
        return None


def _first_bytes(picture: Picture) -> bytes:
    if isinstance(picture, bytes):
        return picture[:_MAGIC_LENGTH]
    try:
        with picture.open("rb") as file:
            return file.read(_MAGIC_LENGTH)
    except OSError:
        return b""


def _image_file(name: str, folder: Path | None) -> Path | None:
    """Return the file with this name in the data's folder, so that data cannot put other files into a report."""
    if folder is None or "\0" in name:
        return None
    try:
        path = (folder / name).resolve()
        return path if path.is_relative_to(folder.resolve()) and path.is_file() else None
    except (OSError, RuntimeError):  # base64 text can be too long for a file name; links can lead in a circle
        return None
