"""A note on an official rule that reads no answer: its zero would look like the model's."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

R = TypeVar("R")
FEWEST_REPLIES = 50
"""Fewer may have no answer by chance."""
READS_NEXT_TO_NONE = 0.02
"""Share of the replies below which a rule reads nothing."""
READS_MOST = 0.5
"""Share of the replies above which another rule is worth naming."""
MOST_NAMED = 3
MOST_TRIED = 500
"""Maximum number of replies that the other rules are tried on."""


def unread_note(
    rule: str, replies: Sequence[R], read: int, others: Mapping[str, Callable[[R], bool | None]]
) -> list[str]:
    """Return a note if a rule reads an answer in next to none of the replies, with the rules that read most of them.

    `read`: the number of replies in which it does. `others`: name of a rule -> whether it finds a reply right; None: it
    reads no answer. The rules that find most right come first.
    """
    if len(replies) < FEWEST_REPLIES or read >= READS_NEXT_TO_NONE * len(replies):
        return []
    sample = replies[:MOST_TRIED]
    candidates: list[tuple[int, int, str]] = []
    for name, is_right in others.items():
        outcomes = [outcome for reply in sample if (outcome := is_right(reply)) is not None]
        if name != rule and len(outcomes) > READS_MOST * len(sample):
            candidates.append((-sum(outcomes), -len(outcomes), name))
    names = ", ".join(f"`{name}`" for *_, name in sorted(candidates)[:MOST_NAMED])
    advice = f"These rules read most of them: {names}." if names else "No other rule reads most of them."
    return [
        f"The official rule `{rule}` reads an answer in {read:,} of {len(replies):,} replies, so its values say "
        f"nothing about the model. {advice} The protocol (benchmark.toml) names the rule."
    ]
