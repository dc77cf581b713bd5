"""WebP thumbnails of images: all images of a page have the same longest side."""

from __future__ import annotations

import base64
import io
import math
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader import resources
from grader.data.images import FORMATS
from grader.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PIL.Image import Image

    from grader.data.images import Picture


class Thumbnail(NamedTuple):
    """An image as a page has it."""

    url: str
    """A data URL."""
    width: int
    height: int


_MAX_PIXELS = 150_000_000
"""Maximum number of pixels of all images of a page, if they were squares: 6 to 13 MB."""
_LARGEST_SIDE, _SMALLEST_SIDE = 1024, 256
"""In pixels: a larger image shows no more on a screen, in a smaller one nothing can be read."""
_QUALITY = 75


def thumbnails(pictures: Mapping[str, Picture], image_of: Mapping[str, str]) -> list[Thumbnail | None]:
    """Return the thumbnails of the pictures, in order; None for one that cannot be read.

    `image_of`: task -> key of its picture. Raises InputError with the tasks of an image that is too large to open.
    """
    if not pictures:
        return []
    from PIL import Image

    side = side_of(len(pictures))
    with warnings.catch_warnings(), ThreadPoolExecutor(resources.usable_cores()) as pool:
        # Pillow only warns of an image that would fill the memory; here this is an error.
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        return list(pool.map(lambda key: _thumbnail(key, pictures[key], side, image_of), pictures))


def side_of(number: int) -> int:
    """Return the longest side in pixels of each of so many images."""
    return max(_SMALLEST_SIDE, min(_LARGEST_SIDE, round(math.sqrt(_MAX_PIXELS / number))))


def _thumbnail(key: str, picture: Picture, side: int, image_of: Mapping[str, str]) -> Thumbnail | None:
    """Encode one image anew, so that a browser never decodes original bytes. Return None if it is not an image."""
    from PIL import Image

    # A decoder can raise any error for untrusted bytes. Then no image is shown.
    try:
        with Image.open(picture if isinstance(picture, Path) else io.BytesIO(picture), formats=FORMATS) as original:
            original.draft("RGB", (side, side))
            image = _in_webp_mode(original)
            image.thumbnail((side, side), reducing_gap=2.0)
            file = io.BytesIO()
            image.save(file, "WEBP", quality=_QUALITY, method=2)
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        tasks = ", ".join(qid for qid, image_key in image_of.items() if image_key == key)
        raise InputError(
            [
                f"The image of task {tasks} is too large to open, and may be a decompression bomb: "
                f"{str(error).rstrip('.')}. The results file is written. Check the image in the data, then write the "
                "report with `grade report`."
            ]
        ) from error
    except Exception:
        return None
    url = "data:image/webp;base64," + base64.b64encode(file.getvalue()).decode()
    return Thumbnail(url, image.width, image.height)


def _in_webp_mode(image: Image) -> Image:
    """Return an image in a mode that WebP supports."""
    is_transparent = image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info
    return image.convert("RGBA" if is_transparent else "RGB")
