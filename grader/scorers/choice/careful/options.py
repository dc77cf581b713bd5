"""A question's options: their texts in plain form, and where a reply contains them."""

# Lists of words read best as words.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from grader.scorers.choice.careful.patterns import Pattern
from grader.scorers.choice.careful.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TOKEN = Pattern(
    r"[^\W\d_\u3040-\u9fff\uac00-\ud7af]+|(?<![\w)])-?\d+(?:[.,:/]\d+)*|\d+(?:[.,:/]\d+)*|"
    r"[\u3040-\u9fff\uac00-\ud7af]"
)
_ARTICLE = Pattern(r"\b(?:an?|the) (?=[\w\"'])")
_NO_ARTICLE = frozenset(
    "red blue green yellow white black gray grey brown orange purple pink silver gold golden beige violet "
    "cyan magenta left right up down above below yes no true false on in under over behind inside outside".split()
)
_NUMBERS = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen".split()
    )
}
_COMMON = frozenset(
    "a an the no yes not none on in at of it is one i and or to both all other others some any more less "
    "than so neither either nan na".split()
)
_COMMON_CJK = frozenset("是否不有无对错在的了没上下大小多少一二三")
_EDGE = " .,;:!\"'*()[]。"
_LIST_NUMBER = Pattern(r"(?:^|\n)[\s>*-]*$|\b(?:step|figure|fig\.?|option|image|line|part|item|point|no\.|#)\s*$")


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a plain text: lower case, number words as digits, no articles or punctuation."""
    low = text.lower()
    found = [_NUMBERS.get(t, t) for t in _TOKEN.findall(_ARTICLE.sub(" ", low))]
    return tuple(found or _TOKEN.findall(low))


class Options:
    """The options of one question, letter to text. Derived values are computed at first use."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.texts = {letter: plain(text).strip() for letter, text in options.items()}
        self.letters = list(self.texts)

    def __contains__(self, letter: object) -> bool:
        return letter in self.texts

    @cached_property
    def low(self) -> dict[str, str]:
        """Letter to lower-cased text with single blanks and without a final full stop; empty texts are left out."""
        trimmed = {k: " ".join(t.lower().split()).rstrip(".。") for k, t in self.texts.items()}
        return {k: t for k, t in trimmed.items() if t}

    @cached_property
    def words(self) -> dict[str, tuple[str, ...]]:
        """Letter to words."""
        return {k: tokens(t) for k, t in self.texts.items()}

    @cached_property
    def longest(self) -> int:
        """Length of the longest option text."""
        return max(map(len, self.texts.values()), default=0)

    @cached_property
    def named_letters(self) -> dict[str, str]:
        """Letter -> another option whose whole text is that letter (option A says "B")."""
        short = {k: t.strip("()[]. ") for k, t in self.texts.items() if len(t) < 6}
        said = {t.upper(): k for k, t in short.items() if len(t) == 1}
        return {letter: k for letter, k in said.items() if letter != k}

    def same_text(self, text: str) -> list[str]:
        """Return the letters whose text is `text`: by exact form if there is such a text, else by words."""
        exact = " ".join(text.split())
        found = [k for k, t in self.texts.items() if t and " ".join(t.split()) == exact]
        if found:
            return found
        bare = exact.strip(_EDGE).lower()
        found = [k for k, t in self.low.items() if bare and bare in t and t.strip(_EDGE) == bare]
        if found:
            return found
        said = tokens(text)
        if all(len(t) == 1 and t.isascii() and t.isalpha() for t in said):
            return []
        # Most texts differ already in their last word, which is faster to check than all words of all options.
        close = [k for k, t in self.low.items() if said and (said[-1] in t or said[-1].isdigit())]
        return [k for k in close if self.words[k] == said and self._only_words(k)]

    def _only_words(self, letter: str) -> bool:
        """Whether the words identify the option: no other option has the same words, and no sign is lost."""
        mine = self.words[letter]
        return sum(w == mine for w in self.words.values()) == 1 and not re.search(r"[+=<>^/%\\]", self.texts[letter])

    @cached_property
    def common(self) -> frozenset[str]:
        """Letters whose text is made of words too common to find in running text ("no", "one", "是")."""
        return frozenset(
            k
            for k, w in self.words.items()
            if not w
            or all(t in _COMMON or t in _COMMON_CJK or (len(t) == 1 and t.isascii() and t.isalpha()) for t in w)
        )

    def takes_no_article(self, letter: str) -> bool:
        """Whether "a" cannot precede the option's text: a colour, a direction, a number, a sentence."""
        words = self.words[letter]
        return not words or words[-1] in _NO_ARTICLE or words[0][0].isdigit() or words[0] in ("he", "she", "it", "they")

    def occurrences(self, low: str) -> list[tuple[int, int, str]]:
        """Return every (start, end, letter) of an option text within `low`; longer texts hide shorter ones."""
        found: list[tuple[int, int, str]] = []
        for letter, text in self.low.items():
            found += ((at, at + len(text), letter) for at in _places(low, text))
        found.sort(key=lambda f: (f[0], -f[1]))
        kept: list[tuple[int, int, str]] = []
        for start, end, letter in found:
            if kept and start < kept[-1][1] and end <= kept[-1][1] and (start, end) != kept[-1][:2]:
                continue
            kept.append((start, end, letter))
        return kept

    def starting_at(self, low: str, at: int) -> tuple[str, int] | None:
        """Return (letter, end) of the longest option text that begins at `at`, or None."""
        best = None
        for letter, text in self.low.items():
            end = at + len(text)
            if low.startswith(text, at) and not _inside_word(low, end, text) and (best is None or end > best[1]):
                best = letter, end
        return best


def _places(low: str, text: str, most: int = 400) -> Iterator[int]:
    """Yield the positions of `text` in `low` as whole words, not as a list's number; at most `most` positions."""
    at = low.find(text)
    while at >= 0 and most:
        if not (at and _joined(low[at - 1], text[0])) and not _inside_word(low, at + len(text), text):
            listed = text.isdigit() and (
                _LIST_NUMBER.search(low[max(0, at - 12) : at])
                and low[at + len(text) : at + len(text) + 1] in (".", ")", ":")
            )
            if not listed:
                yield at
                most -= 1
        at = low.find(text, at + 1)


def _joined(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word (CJK is written without blanks)."""
    return left.isalnum() and right.isalnum() and left < "\u3040" and right < "\u3040"


def _inside_word(low: str, end: int, text: str) -> bool:
    if end >= len(low):
        return False
    if text[-1].isdigit() and low[end] in ".,:" and low[end + 1 : end + 2].isdigit():
        return True
    return _joined(text[-1], low[end])
