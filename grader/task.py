"""A task: what every benchmark's row becomes. Inference asks it, a scorer scores it, a report shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a task that a report shows under a title of its own."""

    kind: Literal["text", "code"]
    """Code is Python, and coloured."""
    title: str
    content: str
    is_open: bool = False
    """Whether it is shown before somebody asks for it."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task, as data and reports know it; a scorer may add fields of its own."""

    id: str
    """The qid of its predictions."""
    unit: str = ""
    """The observation it belongs to (a circular question, a question with several solutions); empty: itself."""
    text: str = ""
    """The question."""
    options: dict[str, str] = {}
    """Letter -> text, where there are options."""
    gold: str | None = None
    """The right answer, for people; None where it is not public, or is not a text."""
    groups: Mapping[str, str | list[str]] = {}
    """Category field -> label or labels."""
    blocks: tuple[Block, ...] = ()
    """What else belongs to the question: a hint, a signature, the solution under review."""
    row: Mapping[str, Any] = {}
    """The data's row, as far as it was read."""

    @property
    def observation(self) -> str:
        """The observation it belongs to."""
        return self.unit or self.id
