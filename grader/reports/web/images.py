"""WebP thumbnails of images, with one budget that all images share equally."""

from __future__ import annotations

import base64
import io
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from grader import resources
from grader.data.images import FORMATS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PIL.Image import Image

    from grader.data.images import Picture

Thumbnail = tuple[str, int, int]
"""Data URL, width, height."""

BUDGET = 9_000_000
"""Maximum size of all images of a report in bytes; base64 adds a third."""
LEAST = 1_500_000
"""Bytes that images may always use."""
_SHARE = 150_000
"""Maximum size of one image in bytes; more is not needed to read it on a screen."""
_STEPS = ((1280, 82), (1024, 78), (800, 74), (640, 68), (520, 62), (420, 56), (340, 52), (256, 46), (160, 40))
"""Longest side in pixels, and WebP quality, from the best to the smallest."""
_FLAT = 1024
"""An image with at most this many colours is a drawing: stored lossless if its size allows it."""


class TooLargeError(Exception):
    """An image is too large when decompressed; `key` names it."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(why)
        self.key = key


def thumbnails(pictures: Mapping[str, Picture], budget: int = BUDGET) -> list[Thumbnail | None]:
    """Return the thumbnails of the pictures, in order; None for one that cannot be read. Raises TooLargeError."""
    if not pictures:
        return []
    from PIL import Image

    share = min(_SHARE, budget // len(pictures))
    with warnings.catch_warnings(), ThreadPoolExecutor(resources.usable_cores()) as pool:
        # Pillow only warns of an image that would fill the memory; here this is an error.
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        return list(pool.map(lambda item: _thumbnail(item[0], item[1], share), pictures.items()))


def _thumbnail(key: str, picture: Picture, share: int) -> Thumbnail | None:
    """Encode one image anew, so that a browser never decodes original bytes. Return None if it is not an image."""
    from PIL import Image

    # A decoder can raise any error for untrusted bytes. Then no image is shown.
    try:
        with Image.open(picture if isinstance(picture, Path) else io.BytesIO(picture), formats=FORMATS) as image:
            image.draft("RGB", (_STEPS[0][0], _STEPS[0][0]))
            image.load()
            data, width, height = _smallest(_plain(image), share)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise TooLargeError(key, str(error)) from error
    except Exception:
        return None
    return "data:image/webp;base64," + base64.b64encode(data).decode(), width, height


def _plain(image: Image) -> Image:
    """Return an image in a mode that WebP supports."""
    transparent = image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info
    return image.convert("RGBA" if transparent else "RGB")


def _smallest(image: Image, share: int) -> tuple[bytes, int, int]:
    """Return (data, width, height) of the best step that fits the share, or of the last step."""
    first = _STEPS[0][0]
    if max(image.size) <= first and image.getcolors(_FLAT) is not None:
        data = _webp(image, lossless=True)
        if len(data) <= share:
            return data, image.width, image.height
    step = 0
    while True:
        side, quality = _STEPS[step]
        small = image
        if max(image.size) > side:
            small = image.copy()
            small.thumbnail((side, side), reducing_gap=2.0)
        data = _webp(small, quality=quality)
        if len(data) <= share or step == len(_STEPS) - 1:
            return data, small.width, small.height
        step = _next(step, max(small.size), len(data), share)


def _next(step: int, side: int, size: int, share: int) -> int:
    """Return the next step that should fit, estimated from the number of pixels and the quality."""
    quality = _STEPS[step][1]
    for later in range(step + 1, len(_STEPS)):
        ratio = min(1.0, _STEPS[later][0] / side) ** 1.7 * (_STEPS[later][1] / quality)
        if size * ratio <= share * 1.05:
            return later
    return len(_STEPS) - 1


def _webp(image: Image, quality: int = 80, *, lossless: bool = False) -> bytes:
    file = io.BytesIO()
    image.save(file, "WEBP", quality=quality, lossless=lossless, method=2)
    return file.getvalue()
