"""Gaps: parts that a report cannot show, with the reason."""

from __future__ import annotations

from typing import Literal

import msgspec


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A part that cannot be shown."""

    what: Literal["predictions", "questions", "images", "programs"]
    why: str
    """The reason, as a full sentence."""


def first_line(error: BaseException) -> str:
    """Return an error's first line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
