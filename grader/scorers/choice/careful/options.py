"""A question's options: their texts in plain form, and where a reply contains them."""

# Lists of words read best as words.
# ruff: noqa: RUF001, SIM905

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from grader.scorers.choice.careful.quantities import WORDS, Quantity, quantities_in, quantity
from grader.scorers.choice.careful.spelling import nearest
from grader.scorers.patterns import Pattern
from grader.scorers.plain_text import plain, without_markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
_LONGEST_QUANTITY = 60
_TERM_BEFORE = Pattern(r"(?:\d\.|[-+*/^×<>{]\s?)$")
_TERM_AFTER = Pattern(r"\s?(?:[+*/^×=<>]|-\s?\d)")
"""What joins a number to others: such a number is not read as an answer."""
_LOOSE = Pattern(r"[\s$\\(){}\[\]*]|\\(?:text|mathrm)\b")
_MARK = Pattern(r"\\(?:left|right|text\w*|mathrm|[dt]?frac|cdot|times)\b|[^\w.+-]|_")
_FRAME = 2
"""A frame has at least so many words: an article is none."""
_EDGE = " .,;:!\"'*()[]。"
_ITEM_AFTER = Pattern(r"[.):][ \t]+\S")
_LIST_NUMBER = Pattern(r"(?:^|\n)[\s>*-]*$|\b(?:step|figure|fig\.?|option|image|line|part|item|point|no\.|#)\s*$")


def compact(text: str) -> str:
    """Return a text without blanks, LaTeX brackets and a final full stop."""
    return _LOOSE.sub("", text).rstrip(".。")


def bare(text: str) -> str:
    """Return a text's letters, digits and signs, without marks and LaTeX."""
    return _MARK.sub("", text).rstrip(".")


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a plain text: lower case, number words as digits, no articles or punctuation."""
    low = text.lower()
    read = [_NUMBERS.get(t, t) for t in _TOKEN.findall(_ARTICLE.sub(" ", low))]
    return tuple(read or _TOKEN.findall(low))


class Options:
    """The options of one question, letter to text. Derived values are computed at first use."""

    def __init__(self, options: Mapping[str, str], question: str = "", frames: Iterable[str] = ()) -> None:
        self.question = question.lower()
        self.texts = {letter: plain(text).strip() for letter, text in options.items()}
        self.letters = list(self.texts)
        self.frames = (self.question, *frames)
        """Texts in which the options' words relate one thing to another."""

    def __contains__(self, letter: object) -> bool:
        return letter in self.texts

    @cached_property
    def asks_in_parts(self) -> bool:
        """Whether the question has parts with small letters, "a) ... b) ...", which are no options."""
        return all(f"{part})" in self.question for part in "ab")

    @cached_property
    def low(self) -> dict[str, str]:
        """Letter to lower-cased text with single blanks and without a final full stop; empty texts are left out."""
        trimmed = {k: " ".join(without_markup(t).lower().split()).rstrip(".。") for k, t in self.texts.items()}
        return {k: t for k, t in trimmed.items() if t}

    @cached_property
    def words(self) -> dict[str, tuple[str, ...]]:
        """Letter to words."""
        return {k: tokens(t) for k, t in self.texts.items()}

    @cached_property
    def cores(self) -> dict[str, str]:
        """Letter to what distinguishes the options, if their ends have several words in common; else empty.

        "The bag is red." and "The bag is blue." differ in "red" and "blue".
        """
        split = [t.split() for t in self.low.values()]
        if len(split) < 2 or self.quantities:
            return {}
        first, last = _same_words(split), _same_words([words[::-1] for words in split])
        found = {k: " ".join(words[first : len(words) - last]) for k, words in zip(self.low, split, strict=True)}
        return found if first + last >= _FRAME and all(len(t) > 1 for t in found.values()) else {}

    @cached_property
    def compact(self) -> dict[str, str]:
        """Letter to text without blanks and LaTeX brackets."""
        return {k: compact(t) for k, t in self.low.items()}

    @cached_property
    def longest(self) -> int:
        """Length of the longest option text."""
        return max(map(len, self.texts.values()), default=0)

    @cached_property
    def named_letters(self) -> dict[str, str]:
        """Letter -> another option whose whole text is that letter (option A says "B")."""
        short = {k: t.strip("()[]. ") for k, t in self.texts.items() if len(t) < 6}
        letters = {t.upper(): k for k, t in short.items() if len(t) == 1}
        return {letter: k for letter, k in letters.items() if letter != k}

    def same_text(self, text: str) -> list[str]:
        """Return the letters whose text is `text`: by exact form if there is such a text, else by words."""
        exact = " ".join(text.split())
        letters = [k for k, t in self.texts.items() if t and " ".join(t.split()) == exact]
        if letters:
            return letters
        bare = exact.strip(_EDGE).lower()
        letters = [k for k, t in self.low.items() if bare and bare in t and t.strip(_EDGE) == bare]
        if letters:
            return letters
        same = compact(bare)
        letters = [k for k, t in self.compact.items() if t == same]
        if len(letters) == 1 and len(same) > 1:
            return letters
        return self._by_words(text) or self.same_quantity(text) or nearest(bare, self.low)

    def _by_words(self, text: str) -> list[str]:
        words = tokens(text)
        if all(len(t) == 1 and t.isascii() and t.isalpha() for t in words):
            return []
        # Most texts differ already in their last word, which is faster to check than all words of all options.
        close = [k for k, t in self.low.items() if words and (words[-1] in t or words[-1].isdigit())]
        return [k for k in close if self.words[k] == words and self._only_words(k)]

    @cached_property
    def quantities(self) -> dict[str, Quantity]:
        """Letter to quantity, of the options that are one."""
        read = ((k, quantity(t)) for k, t in self.low.items() if _may_be_quantity(t))
        return {k: q for k, q in read if q is not None}

    def same_quantity(self, text: str) -> list[str]:
        """Return the only letter whose quantity is `text`, in a list."""
        if len(text) > _LONGEST_QUANTITY or not self.quantities:
            return []
        stated = quantity(text.lower())
        return [] if stated is None else self._equal(stated)

    def _equal(self, stated: Quantity) -> list[str]:
        """Return the letter of the only option that is the quantity; without a unit of measurement, of its number."""
        same = [k for k, q in self.quantities.items() if q.equals(stated)]
        if not same:
            same = [k for k, q in self.quantities.items() if q.same_number(stated) and _fits(stated, q)]
        return same if len(same) == 1 else []

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

    @cached_property
    def nouns(self) -> dict[str, str]:
        """Letter to text without its article ("a lamp"), where no other option has the same words."""
        bare = {k: t.partition(" ")[2] for k, t in self.low.items() if t.startswith(("a ", "an ", "the "))}
        rest = [t for k, t in self.low.items() if k not in bare]
        return {k: t for k, t in bare.items() if len(t) > 2 and [*bare.values(), *rest].count(t) == 1}

    def occurrences(self, low: str, values: Sequence[tuple[int, int, str]] = ()) -> list[tuple[int, int, str]]:
        """Return every (start, end, letter) of an option text in `low`, and `values`; longer ones hide shorter ones."""
        places: list[tuple[int, int, str]] = []
        for letter, text in self.low.items():
            places += ((at, at + len(text), letter) for at in _places(low, text))
        for letter, text in self.nouns.items():
            places += ((at, at + len(text), letter) for at in _places(low, text))
        places += values
        places.sort(key=lambda f: (f[0], -f[1]))
        outermost: list[tuple[int, int, str]] = []
        for start, end, letter in places:
            if outermost and start < outermost[-1][1] and end <= outermost[-1][1] and (start, end) != outermost[-1][:2]:
                continue
            outermost.append((start, end, letter))
        return outermost

    def values_in(self, low: str, most: int = 4000) -> list[tuple[int, int, str]]:
        """Return where `low` has a quantity that equals exactly one option's: (start, end, letter).

        Only the end of a long text is searched; it has the conclusion.
        """
        return list(self._values_in(low, most)) if len(self.quantities) > 1 else []

    def _values_in(self, low: str, most: int) -> Iterator[tuple[int, int, str]]:
        first = max(0, len(low) - most)
        for at, stop, stated in quantities_in(low[first:] if first else low):
            start, end = at + first, stop + first
            if not _is_term(low, start, end):
                yield from ((start, end, letter) for letter in self._equal(stated))

    def starting_at(self, low: str, at: int) -> tuple[str, int] | None:
        """Return (letter, end) of the longest option text that begins at `at`, or None."""
        best = None
        for letter, text in self.low.items():
            end = at + len(text)
            if low.startswith(text, at) and not _inside_word(low, end, text) and (best is None or end > best[1]):
                best = letter, end
        return best


def _same_words(texts: list[list[str]]) -> int:
    """Return with how many equal words all texts begin."""
    columns = enumerate(zip(*texts, strict=False))
    return next((at for at, words in columns if len({*words}) > 1), min(map(len, texts)))


def _may_be_quantity(low: str) -> bool:
    """Whether it pays to parse an option as a quantity."""
    first = low.split(None, 1)[0].partition("-")[0]
    return len(low) < _LONGEST_QUANTITY and (not first.isalpha() or first in WORDS or first in ("half", "a", "an"))


def _fits(stated: Quantity, option: Quantity) -> bool:
    """Whether a number of one unit can stand for one of another: a missing unit, or a word such as "birds"."""
    return not stated.unit or not option.unit or not (stated.is_measure or option.is_measure)


def _places(low: str, text: str, most: int = 400) -> Iterator[int]:
    """Yield the positions of `text` in `low` as whole words, not as a list's number; at most `most` positions."""
    at = low.find(text)
    while at >= 0 and most:
        inside = (at and _joined(low[at - 1], text[0])) or _inside_word(low, at + len(text), text)
        if not inside and not (text[0].isdigit() and _is_term(low, at, at + len(text))):
            yield at
            most -= 1
        at = low.find(text, at + 1)


def _is_term(low: str, start: int, end: int) -> bool:
    """Whether a number is a term of an expression, a part of a longer number, or the number of a list's item."""
    if _TERM_BEFORE.search(low, max(0, start - 2), start) or _TERM_AFTER.match(low, end):
        return True
    is_bare = low[start:end].isdigit() and _ITEM_AFTER.match(low, end)
    return bool(is_bare and _LIST_NUMBER.search(low[max(0, start - 12) : start]))


def _joined(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word (CJK is written without blanks)."""
    return left.isalnum() and right.isalnum() and left < "\u3040" and right < "\u3040"


def _inside_word(low: str, end: int, text: str) -> bool:
    if end >= len(low):
        return False
    if text[-1].isdigit() and low[end] in ".,:/" and low[end + 1 : end + 2].isdigit():
        return True
    return _joined(text[-1], low[end])
