"""The scores that chance and a constant letter would get on a multiple-choice benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.scorers.choice.items import Item


def baselines(items: Iterable[Item]) -> dict[str, dict[str, float]]:
    """Return the scores of chance and of always the first letter in percent, by group (`all`: every question)."""
    groups: dict[str, list[Item]] = {"all": list(items)}
    for item in groups["all"]:
        for name, labels in item.groups.items():
            for label in [labels] if isinstance(labels, str) else labels:
                groups.setdefault(f"{name}={label}", []).append(item)
    return {
        group: {
            "chance": 100 * sum(1 / len(item.options) for item in members) / len(members),
            "always_first_letter": 100 * sum(item.gold == next(iter(item.options)) for item in members) / len(members),
        }
        for group, members in groups.items()
    }
