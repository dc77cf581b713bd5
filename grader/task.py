"""A task, the common form of every benchmark's rows. Inference asks it, a scorer scores it, a report shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from grader.errors import UsageError


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a task that a report shows under its own title."""

    kind: Literal["text", "code"]
    """Code is Python and is highlighted."""
    title: str
    content: str
    is_open: bool = False
    """Whether it is shown initially."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task, in the form common to all benchmarks; a scorer can add fields."""

    id: str
    """The qid of its predictions."""
    unit: str = ""
    """The observation to which it belongs (a circular question, a question with several solutions); empty: itself."""
    text: str = ""
    """The question."""
    options: dict[str, str] = {}
    """Letter -> text; empty if the task has no options."""
    gold: str | None = None
    """The right answer, for people; None if it is not public or not a text."""
    groups: Mapping[str, str | list[str]] = {}
    """Category field -> label or labels."""
    together: Mapping[str, str] = {}
    """Name of a kind of set -> the set to which it belongs."""
    blocks: tuple[Block, ...] = ()
    """Other parts of the question: a hint, a signature, the solution under review."""
    row: Mapping[str, Any] = {}
    """The data's row, with the columns that were read."""
    broken: str = ""
    """What is wrong with the row, so that no reply to it can be judged; empty if nothing is."""

    @property
    def golds(self) -> tuple[str, ...]:
        """The answers that are right; empty if none is known."""
        return () if self.gold is None else (self.gold,)

    @property
    def prompt_text(self) -> str:
        """What a model is asked: the question, or the code to continue."""
        return self.text

    @property
    def has_gold_option(self) -> bool:
        """Whether the gold answer is one of its options: a published scorer then judges replies to a broken row."""
        return self.gold in self.options

    @property
    def reference(self) -> str | None:
        """The source of a program that is known to be right; None if there is none."""
        return None

    def with_limits(self, limits: Mapping[str, float]) -> Task:
        """Return the task with other limits (`timeout`, `memory`, `wall`); raises UsageError."""
        raise UsageError(f"{', '.join(limits)}: this benchmark executes nothing, so its tasks have no limits.")

    @property
    def observation(self) -> str:
        """The observation to which it belongs."""
        return self.unit or self.id
