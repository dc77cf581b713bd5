"""Spellings of one word: "teddybear", "gray" and "grey", and small typing errors such as "girafe"."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from grader.scorers.patterns import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_BRITISH = (
    ("grey", "gray"),
    ("our", "or"),
    ("yse", "yze"),
    ("ise", "ize"),
    ("tre", "ter"),
    ("ll", "l"),
    ("tyre", "tire"),
)
_APART = Pattern(r"[\s'-]+|^(?:an?|the)\s")
_TYPED = 6
"""Shorter words have too many neighbours for a typing error to be told from another word."""
_LONG = 12
_APART_BY = 9
_LONGEST = 80


@lru_cache(4096)
def folded(word: str) -> str:
    """Return one form for the spellings of a word: American, without blanks and hyphens."""
    word = _APART.sub("", word)
    for british, american in _BRITISH:
        word = word.replace(british, american)
    return word


def nearest(said: str, options: Mapping[str, str]) -> list[str]:
    """Return the letter of the only option that `said` spells, or misspells, in a list."""
    near = near_word(said, options.values())
    return [k for k, text in options.items() if text == near]


def near_word(said: str, words: Iterable[str]) -> str | None:
    """Return the only one of `words` that `said` is a spelling of, else the only one that is one typing error away."""
    mine = folded(said)
    if len(mine) < 3 or not mine.isalpha():
        return None
    others = {word: folded(word) for word in words if abs(len(word) - len(mine)) < _APART_BY}
    same = [word for word, form in others.items() if form == mine]
    if same:
        return same[0] if len(same) == 1 else None
    if not _TYPED - 1 <= len(mine) <= _LONGEST:
        return None
    from rapidfuzz.distance import OSA

    close = [w for w, form in others.items() if OSA.distance(mine, form, score_cutoff=3) <= _allowed(mine, form)]
    if len(close) != 1:
        return None
    # A neighbour of the option that is an option too could have been meant.
    target = others[close[0]]
    rivals = (form for word, form in others.items() if word != close[0])
    return None if any(OSA.distance(target, form, score_cutoff=3) <= 2 for form in rivals) else close[0]


def _allowed(said: str, word: str) -> int:
    """Return how many typing errors are believed: none where the result could be another word."""
    if min(len(said), len(word)) < _TYPED - 1 or len(word) < _TYPED or said[0] != word[0]:
        return 0
    same_ending = said[-1] == word[-1]
    return 0 if not same_ending else 1 if len(word) < _LONG else 2


def stem(word: str) -> str:
    """Cut the most common endings, so that "riding" matches "ride" and "dogs" matches "dog"."""
    for ending in ("ing", "es", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
