"""A question's options in plain form, and where a text has one of them, whole."""

# RUF001 takes foreign letters for mistakes. SIM905 asks for lists; words in one text are easier to read.
# ruff: noqa: RUF001, SIM905

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.numbers import as_number, keys_with_amount, numbers_in, simplify_numbers
from grader.scorers.patterns import Pattern, heuristic
from grader.scorers.plain_text import plain, without_accents, without_markup

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping

    from grader.scorers.numbers import Number

EDGE = " \t\n.,;:!?\"'*()[]{}<>_`$#\u3002-"
_ARTICLE = Pattern(r"^(?:an?|the) (?=\w)")
_PART = Pattern(r"\(?\b(?:a|i{1,3})\)")
_LETTER = Pattern(r"(?<![\w'])([A-H])(?![\w'])")
_ALL = Pattern(r"\W*(?:all|any) of the (?:above|these)\b|\W*all (?:of them|are (?:true|correct))\b", 2)
_LONGEST_COMBINATION = 40
"""Characters. In a longer option, capitals are names: "The distance of A and B is smaller than that of C and D"."""
_LONGER_FORM, _MARGIN = 3, 20
"""A form of a text in LaTeX is at most so many times as long, and so many characters longer."""
_COMMON = frozenset(
    "a an the no yes not none on in at of it is one i and or to both all other others some any more less than so "
    "neither either nan na 是 否 不 有 无 对 错 在 的 了 没 上 下 大 小 多 少 一 二 三".split()
)
"""Texts that are too common to be found in running text."""
_MARK = Pattern(r"\\(?:left|right|text\w*|mathrm|[dt]?frac|cdot|times)\b|[^\w.+-]|_|\.(?!\d)|(?<!\d)\.(?!\d)")
_DIGIT = Pattern(r"\d")
_TERM_BEFORE = Pattern(
    r"(?:\d[.,]|[-+*/^×<>{]\s?|\b(?:minus|negative|options?|choice|figure|fig\.|step|image|part|item|no\.)\s)\Z"
)
_TERM_AFTER = Pattern(r"\s?(?:[+*/^×=<>]|-\s?\d)|[.,:/]\d|\s?%")
RANKS = {word: str(rank) for rank, word in enumerate("first second third fourth fifth sixth".split(), 1)}
_RANKED = Pattern(rf"(?:the )?({'|'.join(RANKS)}) (\w+)")
_ROMAN = Pattern(r"(?<![\w'])(?:iv|v|i{1,3})(?![\w'])")
_DENIES = Pattern(r"\b(?:not|false|wrong|incorrect|neither|no)\b|n't\b")


class OptionText(NamedTuple):
    """Where a text has the text of an option."""

    letter: str
    start: int
    end: int


class ChoiceOptions:
    """The options of one question, letter to text."""

    def __init__(self, options: Mapping[str, str], question: str = "", *, several: bool = False) -> None:
        self.allow_several = several
        """Whether several options together can be the answer."""
        self.question = question.lower()
        self.texts = {letter: plain(text).strip() for letter, text in options.items()}
        self.letters = list(self.texts)

    def __contains__(self, letter: object) -> bool:
        return letter in self.texts

    @cached_property
    def lower_texts(self) -> dict[str, str]:
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
    @heuristic(needed_by="C07-part-labels", when_disabled=False)
    def has_parts(self) -> bool:
        """Whether the question or its options have parts with small letters, "a) ... b) ...", which are no options."""
        return any(_PART.search(text) for text in (self.question, *self.lower_texts.values()))

    # --- options that combine others, and numbered statements ---

    @cached_property
    @heuristic(needed_by="g5-mc-both-and-neither", when_disabled={})
    def _combinations(self) -> dict[frozenset[str], str]:
        """The options that an option combines ("Both A and C", "All of the above", not "Neither ...") -> its letter."""
        combinations = {}
        for letter, text in self.texts.items():
            others = frozenset(self.letters) - {letter}
            if _ALL.match(text):
                combinations[others] = letter
            elif len(text) < _LONGEST_COMBINATION and not text.lower().startswith("neither"):
                combinations[others & set(_LETTER.findall(text))] = letter
        return {letters: letter for letters, letter in combinations.items() if len(letters) > 1}

    def is_combined(self, letter: str) -> bool:
        """Whether another option combines this one with others, so that its text is only a part of an answer."""
        return any(letter in letters for letters in self._combinations)

    def resolve_combination(self, letters: frozenset[str]) -> frozenset[str]:
        """Return the option that combines these ones ("Both A and C"), if there is one; else the letters themselves."""
        return frozenset(self._combinations.get(letters, letters))

    @cached_property
    def _statements(self) -> dict[frozenset[str], str]:
        """Sets of numbered statements -> the option that names them ("I and III only"), if no two name the same."""
        options = {frozenset(_ROMAN.findall(text)): letter for letter, text in self.lower_texts.items()}
        return options if len(options) == len(self.letters) > 1 else {}

    @heuristic(needed_by="g5-mc-statements-I-and-II")
    def letter_of_statements(self, lower: str) -> str | None:
        """Return the option that names the numbered statements of a text that does not deny any."""
        numbers = frozenset(_ROMAN.findall(lower))
        return self._statements.get(numbers) if numbers and not _DENIES.search(lower) else None

    @property
    def has_statements(self) -> bool:
        """Whether the options name numbered statements: then "I" is no letter."""
        return bool(self._statements)

    # --- texts ---

    def letters_with_text(self, text: str) -> list[str]:
        """Return the letters of the options whose text this is, in the first form in which there are any.

        The forms: as it is; without marks and article; without LaTeX; the number, if only one option is this number.
        """
        if len(text.strip()) > _LONGER_FORM * self.longest + _MARGIN:
            return []
        exact = " ".join(text.split())
        texts = {k: " ".join(t.split()) for k, t in self.texts.items()}
        texts = {k: t for k, t in texts.items() if t and len(t) <= _LONGER_FORM * len(exact) + _MARGIN}
        for plainer in (str, _bare, _formula):
            form = plainer(exact)
            letters = [k for k, t in texts.items() if plainer(t) == form] if form else []
            if letters:
                return letters
        amount = as_number(text) if _DIGIT.search(text) or "π" in text or "\\" in text else None
        return [] if amount is None else keys_with_amount(self._numbers, amount)

    @cached_property
    def _numbers(self) -> dict[str, Number]:
        """Letter to number, of the options that are one."""
        return {k: amount for k, t in self.texts.items() if (amount := as_number(t)) is not None}

    @heuristic(needed_by="g5-mc-latex-value-and-unit", when_disabled=frozenset())
    def letters_of_numbers(self, text: str) -> set[str]:
        """Return the letters whose number stands in a text, not as a part of a longer one; "one" is a pronoun."""
        if not self._numbers:
            return set()
        amounts = [amount for amount in numbers_in(simplify_numbers(text)) if amount.text.lower() != "one"]
        return {letter for amount in amounts for letter in keys_with_amount(self._numbers, amount)}

    @heuristic(needed_by="C11-latex-declaration", when_disabled=False)
    def is_text_of(self, letter: str, text: str) -> bool:
        """Whether a text is an option's text but for its marks, blanks and LaTeX."""
        option_text = self.lower_texts.get(letter, "")
        if len(text) > 2 * len(option_text) + 2 * _MARGIN:
            return False
        bare_text = _MARK.sub("", option_text).strip(".")
        return bool(bare_text) and _MARK.sub("", text.lower()).strip(".") == bare_text

    @heuristic(needed_by="g5-mc-longer-option-reworded", when_disabled=False)
    def may_mean_longer_option(self, letter: str, lower: str) -> bool:
        """Whether a text has words that a longer option has beside this option's text: it can mean the longer one."""
        option_text = self.lower_texts[letter]
        longer_texts = [t for k, t in self.lower_texts.items() if k != letter and option_text in t]
        words = set(lower.strip(" .").split())
        return any((set(t.split()) - set(option_text.split()) - _COMMON) & words for t in longer_texts)

    def text_at(self, lower: str, start: int) -> OptionText | None:
        """Return the longest option text that begins at a position of a lower-cased text; None if none does."""
        texts = [
            OptionText(letter, start, start + len(text))
            for letter, text in self.lower_texts.items()
            if lower.startswith(text, start) and not _is_continued(lower, start + len(text), text)
        ]
        return max(texts, key=lambda text: (text.end, text.letter), default=None)

    def texts_in(self, lower: str, first: int, last: int) -> list[OptionText]:
        """Return every option text in a span; longer ones hide shorter ones."""
        texts = [
            OptionText(letter, start, start + len(text))
            for letter, text in self._searchable_texts
            for start in _positions(lower, text, first, last)
        ]
        outer: list[OptionText] = []
        for text in sorted(texts, key=lambda text: (text.start, -text.end)):
            if not outer or text.end > outer[-1].end:
                outer.append(text)
        return outer

    @cached_property
    def _searchable_texts(self) -> list[tuple[str, str]]:
        """(letter, text) in each spelling of an option that is not too common to be found."""
        spellings = [(letter, spelling) for letter, text in self.lower_texts.items() for spelling in _spellings(text)]
        return [(letter, text) for letter, text in spellings if not _is_common(text)]


def _spellings(text: str) -> set[str]:
    """Return a text with and without its article, "the second image" also as "image 2"."""
    ranked = _RANKED.fullmatch(text)
    return {text, _ARTICLE.sub("", text), *(_ordinals(ranked) if ranked else ())}


def _is_common(text: str) -> bool:
    """Whether running text has a text also where it means no option: common words, a letter."""
    return all(word in _COMMON for word in text.split()) or (len(text) == 1 and text.isascii() and text.isalpha())


@heuristic(decides_per_100_000=8, when_disabled=())
def _ordinals(ranked: re.Match[str]) -> tuple[str, ...]:
    """Return other words for "the second image": "image 2", "the second photograph"."""
    word, noun = ranked[1], ranked[2]
    others = ("photograph", "photo", "picture", "painting", "one") if noun == "image" else ("one",)
    return (f"{noun} {RANKS[word]}", *(f"the {word} {other}" for other in others))


def _bare(text: str) -> str:
    """Return a text in lower case without accents, and without marks and an article around it."""
    return _ARTICLE.sub("", without_accents(text.lower()).strip(EDGE.replace("-", "")).rstrip("-"))


_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "01234567890123456789")
_SIGNS = (
    (Pattern(r"\\infty"), "∞"),
    (Pattern(r"\\times|\\cdot"), "×"),
    (Pattern(r"\\(?:text\w*|mathrm|left|right)\b|[\s$_^{}\\]"), ""),
)


@heuristic(needed_by="g5-mc-latex-forms-of-an-option", when_disabled="")
def _formula(text: str) -> str:
    """Return a formula without blanks and the marks of LaTeX: "H_2O" as "h2o", "x²" as "x2"."""
    text = _ARTICLE.sub("", text.lower().strip(" .")).translate(_DIGITS)
    for pattern, sign in _SIGNS:
        text = pattern.sub(sign, text)
    return text


_MOST_POSITIONS = 100
"""Positions of one option's text in a span; a loop has thousands."""


def _positions(lower: str, text: str, first: int, last: int) -> Iterator[int]:
    """Yield the first places where a span has `text` as whole words, or as a whole number outside of expressions."""
    count = 0
    position = lower.find(text, first, last)
    while position >= 0 and count < _MOST_POSITIONS:
        continues_word = position > 0 and _is_one_word(lower[position - 1], text[0])
        is_term = text[0].isdigit() and _is_term(lower, position)
        if not (continues_word or is_term or _is_continued(lower, position + len(text), text)):
            yield position
            count += 1
        position = lower.find(text, position + 1, last)


@heuristic(decides_per_100_000=9, when_disabled=False)
def _is_term(lower: str, start: int) -> bool:
    """Whether a number is a term of an expression, or the number of a thing ("figure 3")."""
    return _TERM_BEFORE.search(lower, max(0, start - 10), start) is not None


def _is_continued(lower: str, end: int, text: str) -> bool:
    """Whether the last word or number of an option's text is continued behind it: "cat" in "category"."""
    if end >= len(lower):
        return False
    return _is_one_word(text[-1], lower[end]) or bool(text[-1].isdigit() and _TERM_AFTER.match(lower, end))


def _is_one_word(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word (CJK is written without blanks)."""
    return left.isalnum() and right.isalnum() and left < "\u3040" and right < "\u3040"
