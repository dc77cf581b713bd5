"""The standard streams of a program: what it prints is swallowed, there is nothing to read."""

import io
import sys

MAX_TEXT = 20_000
MAX_SWALLOWED = 1 << 20


class WriteOnlyStringIO(io.StringIO):
    """Swallows output, to a bound; reading raises OSError."""

    def write(self, text):
        if self.tell() < MAX_SWALLOWED:
            return super().write(text)
        return len(text)

    def read(self, *args, **kwargs):
        raise OSError

    readline = readlines = read

    def readable(self, *args, **kwargs):
        return False


def swallow():
    """Replace the standard streams."""
    sys.stdout = sys.stderr = sys.stdin = WriteOnlyStringIO()


def clip(text):
    """Bound a text for people."""
    if len(text) > MAX_TEXT:
        text = f"{text[:MAX_TEXT]}... [{len(text) - MAX_TEXT} more characters]"
    return text
