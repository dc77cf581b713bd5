"""A task's image, shown on a terminal that can show images (kitty's protocol or sixel), or saved in a file."""

from __future__ import annotations

import io
import shutil
import sys
from typing import TYPE_CHECKING

import click

from grader.commands.output_files import put

if TYPE_CHECKING:
    from pathlib import Path


def described(data: bytes) -> str:
    """Return an image's type and size in one line."""
    from grader.models.messages import Image, facts

    known = facts(Image(data=data))
    return f"{known.media_type}, {known.width} x {known.height} pixels, {known.bytes:,} bytes, SHA-256 {known.sha256}"


def save(data: bytes, path: Path) -> None:
    """Write an image, unchanged, to a file. Raises InfrastructureError."""
    for written in put(str(path), data):
        click.echo(f"Wrote {written}")


def draw(data: bytes) -> None:
    """Draw an image on standard output, if it is a terminal that can show images."""
    if not sys.stdout.isatty() or 0 in shutil.get_terminal_size((0, 0)):
        return
    import PIL.Image
    import rich.console

    # The import asks the terminal what it supports, and waits a moment for the answer.
    from textual_image import renderable

    if renderable.Image not in (renderable.SixelImage, renderable.TGPImage):
        return
    try:
        with PIL.Image.open(io.BytesIO(data)) as image:
            rich.console.Console().print(renderable.Image(image.convert("RGB")))
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError):
        return
