"""What a replay gives as answers: a program's messages, as they are or with parts replaced."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from grade_sandbox.tests.views import Step


class Change(NamedTuple):
    """A part of an answer that is replaced."""

    call: int
    root: Any
    """RETURNED or RAISED: the answer; `printed`."""
    steps: Sequence[Step]
    value: Any


class Replayed(NamedTuple):
    """A message as it is replayed."""

    text: str
    changes: tuple[Change, ...] = ()
    has_copies: bool = False
    """Whether the answer has copies of the arguments, so that these stay as they are."""
    left: str = ""
    """If the answer has copies: another message, by which the arguments are changed."""
    returned: Any = None
    """The number of an object of the call, if the answer is that object itself although it has copies."""


Tried = list[Replayed]
"""All messages of a program, as they are replayed."""


def as_they_are(texts: Sequence[str]) -> Tried:
    """Return messages without changes."""
    return [Replayed(text) for text in texts]


def with_changes(tried: Tried, changes: Sequence[Change]) -> Tried:
    """Return messages with some parts replaced."""
    made = [*tried]
    for change in changes:
        one = made[change.call + 1]
        made[change.call + 1] = one._replace(changes=(*one.changes, change))
    return made


def exchanged(tried: Tried, others: Mapping[int, Replayed]) -> Tried:
    """Return messages of which some are exchanged: call -> another message."""
    return [others.get(at - 1, reply) for at, reply in enumerate(tried)]
