"""The standard streams of a program: its output is discarded, and there is no input."""

from __future__ import annotations

import io
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

MAX_TEXT = 20_000
MAX_SWALLOWED = 1 << 20


class WriteOnlyStringIO(io.StringIO):
    """Discards output, up to a limit; reading raises OSError."""

    def write(self, text: str) -> int:
        if self.tell() < MAX_SWALLOWED:
            return super().write(text)
        return len(text)

    def read(self, *args: object, **kwargs: object) -> NoReturn:
        raise OSError

    readline = readlines = read

    def readable(self, *args: object, **kwargs: object) -> bool:
        return False


def swallow() -> None:
    """Replace the standard streams."""
    sys.stdout = sys.stderr = sys.stdin = WriteOnlyStringIO()


def clip(text: str) -> str:
    """Shorten a text for people."""
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}... [{len(text) - MAX_TEXT} more characters]"
    return text
