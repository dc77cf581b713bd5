"""Texts that all formats of a comparison share."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from grader.reports.text import clean

if TYPE_CHECKING:
    from grader.decisions.comparison import Flip


def p_value(value: float) -> str:
    """Return a p value as tables show it."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def side(flip: Flip, which: int) -> str:
    """Return the outcome of an item in the first run (0) or the second (1), with the share of correct samples."""
    counts = Counter(flip.outcomes[which])
    words = ", ".join(name if number == 1 else f"{number} {name}" for name, number in counts.most_common(3))
    return clean(words if sum(counts.values()) == 1 else f"{100 * (flip.before, flip.after)[which]:.0f} % ({words})")
