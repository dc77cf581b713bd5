"""A question's options in plain form, and where a text has one of them, whole."""

# RUF001 takes foreign letters for mistakes. SIM905 asks for lists; words in one text are easier to read.
# ruff: noqa: RUF001, SIM905

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from grader.scorers.numbers import as_number, numbers_in, simplify_numbers
from grader.scorers.patterns import Pattern, rule
from grader.scorers.plain_text import plain, without_markup

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping

    from grader.scorers.numbers import Number

EDGE = " \t\n.,;:!?\"'*()[]{}<>_`$#\u3002-"
_ARTICLE = Pattern(r"^(?:an?|the) (?=\w)")
_PART = Pattern(r"\(?\b(?:a|i{1,3})\)")
_COMMON = frozenset(
    "a an the no yes not none on in at of it is one i and or to both all other others some any more less than so "
    "neither either nan na 是 否 不 有 无 对 错 在 的 了 没 上 下 大 小 多 少 一 二 三".split()
)
"""Texts that are too common to be found in running text."""
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_IN_WORDS = {str(value): word for value, word in enumerate(_WORDS) if value > 1}
_SPELLED = _IN_WORDS | {word: digits for digits, word in _IN_WORDS.items()}
_MARK = Pattern(r"\\(?:left|right|text\w*|mathrm|[dt]?frac|cdot|times)\b|[^\w.+-]|_|\.(?!\d)|(?<!\d)\.(?!\d)")
_DIGIT = Pattern(r"\d")
_TERM_BEFORE = Pattern(
    r"(?:\d[.,]|[-+*/^×<>{]\s?|\b(?:minus|negative|options?|choice|figure|fig\.|step|image|part|item|no\.)\s)$"
)
_TERM_AFTER = Pattern(r"\s?(?:[+*/^×=<>]|-\s?\d)|[.,:/]\d|\s?%")
_RANKS = {word: str(rank) for rank, word in enumerate("first second third fourth fifth sixth".split(), 1)}
_RANKED = Pattern(rf"(?:the )?({'|'.join(_RANKS)}) (\w+)")
_ROMAN = Pattern(r"(?<![\w'])(?:iv|v|i{1,3})(?![\w'])")
_DENIES = Pattern(r"\b(?:not|false|wrong|incorrect|neither|no)\b|n't\b")
_LETTER = Pattern(r"(?<![\w'])([A-H])(?![\w'])")
_ALL = Pattern(r"\W*(?:all|any) of the (?:above|these)\b|\W*all (?:of them|are (?:true|correct))\b", 2)


class ChoiceOptions:
    """The options of one question, letter to text."""

    def __init__(self, options: Mapping[str, str], question: str = "", *, several: bool = False) -> None:
        self.several = several
        """Whether several options together can be the answer."""
        self.question = question.lower()
        self.texts = {letter: plain(text).strip() for letter, text in options.items()}
        self.letters = list(self.texts)

    def __contains__(self, letter: object) -> bool:
        return letter in self.texts

    @cached_property
    def low(self) -> dict[str, str]:
        """Letter to lower-cased text with single blanks and without a final full stop; empty texts are left out."""
        trimmed = {k: " ".join(without_markup(t).lower().split()).rstrip(".\u3002") for k, t in self.texts.items()}
        return {k: t for k, t in trimmed.items() if t}

    @cached_property
    def longest(self) -> int:
        """Length of the longest option text."""
        return max(map(len, self.texts.values()), default=0)

    @cached_property
    def have_numbers(self) -> bool:
        """Whether an option has a number of its own, or its text is not known."""
        return not all(self.texts.values()) or bool(_DIGIT.search(" ".join(self.texts.values())))

    @cached_property
    @rule("C07-part-labels", False)
    def has_parts(self) -> bool:
        """Whether the question or its options have parts with small letters, "a) ... b) ...", which are no options."""
        return any(_PART.search(text) for text in (self.question, *self.low.values()))

    # --- options that combine others ---

    @cached_property
    def _combinations(self) -> dict[frozenset[str], str]:
        """The set of options or numbered statements that an option combines -> its letter."""
        found = {}
        for letter, text in self.texts.items():
            if _ALL.match(text):
                found[frozenset(self.letters) - {letter}] = letter
            elif not text.lower().startswith("neither"):
                named = frozenset(_LETTER.findall(text)) & set(self.letters) - {letter}
                if len(named) > 1 and len(text) < 40:
                    found[named] = letter
        return found

    def may_be_part(self, letter: str) -> bool:
        """Whether other options combine this one with others, so that its text is only a part of an answer."""
        return (bool(self._combinations) and letter not in self._combinations.values()) or self.has_statements

    @rule("g5-mc-longer-option-reworded", False)
    def is_part(self, letter: str, low: str) -> bool:
        """Whether a text may mean a longer option that begins with this one's text: it has one of its other words."""
        own = self.low[letter]
        longer = [t for k, t in self.low.items() if k != letter and own in t]
        return any((set(t.split()) - set(own.split()) - _COMMON) & set(low.strip(" .").split()) for t in longer)

    def combined(self, letters: frozenset[str]) -> frozenset[str]:
        """Return the option that combines others, if there is one; else the letters themselves."""
        letter = self._combinations.get(letters) if len(letters) > 1 else None
        return frozenset(letter) if letter else letters

    @cached_property
    def _statements(self) -> dict[frozenset[str], str]:
        """Sets of numbered statements -> the option that names them ("I and III only"), if all options do."""
        found = {frozenset(_ROMAN.findall(text)): letter for letter, text in self.low.items()}
        return found if len(found) == len(self.letters) > 1 and sum(not one for one in found) < 2 else {}

    @rule("g5-mc-statements-I-and-II")
    def of_statements(self, low: str) -> str | None:
        """Return the option that names the numbered statements of a text that does not deny any."""
        if not self._statements:
            return None
        if _DENIES.search(low):
            return None
        return self._statements.get(frozenset(_ROMAN.findall(low)) or frozenset("?"))

    @property
    def has_statements(self) -> bool:
        """Whether the options name numbered statements: then "I" is no letter."""
        return bool(self._statements)

    # --- texts ---

    def same(self, said: str) -> list[str]:
        """Return the letters whose text is `said`: as it is, else without marks, articles and LaTeX."""
        exact = " ".join(said.split())
        if len(exact) > 3 * self.longest + 20:
            return []
        near = {k: " ".join(t.split()) for k, t in self.texts.items() if t and len(t) <= 3 * len(exact) + 20}
        for form in (str, _bare, _formula):
            mine = form(exact)
            letters = [k for k, t in near.items() if form(t) == mine] if mine else []
            if letters:
                return letters
        stated = as_number(said) if _DIGIT.search(said) or "π" in said or "\\" in said else None
        return [] if stated is None else self._letter_with_number(stated)

    @cached_property
    def _numbers(self) -> dict[str, Number]:
        """Letter to number, of the options that are one."""
        return {k: found for k, t in self.texts.items() if (found := as_number(t)) is not None}

    @rule("g5-mc-tiny-values", [])
    def _letter_with_number(self, stated: Number) -> list[str]:
        """Return the only letter whose number, with its unit, is the stated one, in a list."""
        if stated.unit and not stated.is_measure and any(own.is_measure for own in self._numbers.values()):
            return []
        same = [k for k, own in self._numbers.items() if own.same_amount(stated)]
        return same if len(same) == 1 else []

    @rule("g5-mc-latex-value-and-unit", frozenset())
    def of_numbers(self, text: str) -> set[str]:
        """Return the letters whose numbers are in a text, whole."""
        if not self._numbers:
            return set()
        stated = (one for one in numbers_in(simplify_numbers(text)) if one.text.lower() != "one")
        return {letter for one in stated for letter in self._letter_with_number(one)}

    @rule("C11-latex-declaration", False)
    def is_text_of(self, letter: str, said: str) -> bool:
        """Whether `said` is an option's text but for its marks, blanks and LaTeX."""
        mine = _MARK.sub("", self.low.get(letter, "")).strip(".")
        return bool(mine) and _MARK.sub("", said.lower()).strip(".") == mine

    def at(self, low: str, start: int) -> tuple[str, int] | None:
        """Return (letter, end) of the longest option text that begins at `start` of a lower-cased text, or None."""
        found = [
            (start + len(text), letter)
            for letter, text in self.low.items()
            if low.startswith(text, start) and not _goes_on(low, start + len(text), text)
        ]
        return max(found)[::-1] if found else None

    def places(self, low: str, first: int, last: int) -> list[tuple[int, int, frozenset[str]]]:
        """Return every (start, end, letters) of an option text in a span; longer ones hide shorter ones."""
        found = sorted(
            (
                (at, at + len(text), letter)
                for letter, text in self._findable
                for at in _positions(low, text, first, last)
            ),
            key=lambda place: (place[0], -place[1]),
        )
        outer: list[tuple[int, int, frozenset[str]]] = []
        for start, end, letter in found:
            if not outer or end > outer[-1][1]:
                outer.append((start, end, frozenset(letter)))
        return outer

    @cached_property
    def _findable(self) -> list[tuple[str, str]]:
        """(letter, text) with and without its article, of texts that are not too common to be found."""
        both = [(k, form) for k, t in self.low.items() for form in {t, _ARTICLE.sub("", t), _SPELLED.get(t, t)}]
        both += [
            (k, form) for k, t in self.low.items() if (ranked := _RANKED.fullmatch(t)) for form in _ordinals(ranked)
        ]
        return [
            (k, t)
            for k, t in both
            if not all(word in _COMMON for word in t.split()) and not (len(t) == 1 and t.isascii() and t.isalpha())
        ]


@rule(8, ())
def _ordinals(ranked: re.Match[str]) -> tuple[str, ...]:
    """Return other words for "the second image": "image 2", "the second photograph"."""
    word, noun = ranked[1], ranked[2]
    others = ("photograph", "photo", "picture", "painting", "one") if noun == "image" else ("one",)
    return (f"{noun} {_RANKS[word]}", *(f"the {word} {other}" for other in others))


def _bare(text: str) -> str:
    """Return a text in lower case without marks and an article around it."""
    return _ARTICLE.sub("", text.lower().strip(EDGE.replace("-", "")).rstrip("-"))


_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "01234567890123456789")
_SIGNS = (
    (Pattern(r"\\infty"), "∞"),
    (Pattern(r"\\times|\\cdot"), "×"),
    (Pattern(r"\\(?:text\w*|mathrm|left|right)\b|[\s$_^{}\\]"), ""),
)


@rule("g5-mc-latex-forms-of-an-option", "")
def _formula(text: str) -> str:
    """Return a formula without blanks and the marks of LaTeX: "H_2O" as "h2o", "x²" as "x2"."""
    text = _ARTICLE.sub("", text.lower().strip(" .")).translate(_DIGITS)
    for pattern, sign in _SIGNS:
        text = pattern.sub(sign, text)
    return text if any(map(str.isalnum, text)) else ""


def _positions(low: str, text: str, first: int, last: int, most: int = 100) -> Iterator[int]:
    """Yield the first positions of `text` in a span as whole words, whole numbers, and no term of an expression."""
    at = low.find(text, first, last)
    while at >= 0 and most:
        end = at + len(text)
        inside = (at and _is_one_word(low[at - 1], text[0])) or _goes_on(low, end, text)
        if not inside and not (text[0].isdigit() and _is_term(low, at)):
            yield at
            most -= 1
        at = low.find(text, at + 1, last)


@rule(9, False)
def _is_term(low: str, start: int) -> bool:
    """Whether a number is a term of an expression, or the number of a thing ("figure 3")."""
    return _TERM_BEFORE.search(low, max(0, start - 10), start) is not None


def _goes_on(low: str, end: int, text: str) -> bool:
    """Whether a word or a number goes on behind an option's text."""
    if end >= len(low):
        return False
    return _is_one_word(text[-1], low[end]) or bool(text[-1].isdigit() and _TERM_AFTER.match(low, end))


def _is_one_word(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word (CJK is written without blanks)."""
    return left.isalnum() and right.isalnum() and left < "\u3040" and right < "\u3040"
