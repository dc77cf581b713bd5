"""Gaps: parts that a report cannot show, with the reason."""

from __future__ import annotations

from typing import Literal

import msgspec


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A part that cannot be shown."""

    what: Literal["predictions", "questions", "images", "programs"]
    why: str
    """The reason, as a full sentence."""


def in_words(gap: Gap) -> str:
    """Return a gap as a sentence about the whole report."""
    return gap.why if gap.why.startswith("The report ") else f"The report does not show all {gap.what}: {gap.why}"


def first_line(error: BaseException) -> str:
    """Return an error's first line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
