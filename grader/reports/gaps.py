"""What a report cannot show, and why."""

from __future__ import annotations

from typing import Literal

import msgspec


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """Something that cannot be shown."""

    what: Literal["predictions", "questions", "images", "programs"]
    why: str
    """A sentence for people."""


def first_line(error: BaseException) -> str:
    """Return an error's first line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
