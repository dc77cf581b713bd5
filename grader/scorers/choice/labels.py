"""The letters in a reply that are labels of options, and not articles, names, units, parts or formulas."""

# ruff: noqa: RUF001 - foreign words are what this file is about

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers import place_wordings as wordings
from grader.scorers.choice.options import RANKS
from grader.scorers.patterns import Pattern, heuristic

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from grader.scorers.choice.options import ChoiceOptions, OptionText

_W = "A-Za-z0-9_\u00c0-\u024f\u0370-\u03ff\u0400-\u052f"
_LABEL = Pattern(
    rf"[A-Za-z](?![{_W}#°^]|\+(?:\+|\s|$)|'(?!s\b)[{_W}]|\.[A-Z]\b)(?<![{_W}°\\^].)(?<![{_W}]'.)(?<![A-Za-z]\..)"
)
"""A letter that is no part of a word, a name or a number."""
_ENDS = Pattern(r"\s*(?:$|[).,:;!?\]}\"'\n。])")
_NUMBERED = Pattern(
    r"第(?P<han>[一二三四五])|(?<!\w)(?P<th>[1-9])(?:st|nd|rd|th)\s+(?=option)|(?<!\w)(?P<beon>[1-9])(?=번)"
    r"|\boption\s{0,3}(?P<digit>[1-9])(?![\w%]|[.,]\d)"
    rf"|\b(?P<word>{'|'.join(RANKS)}|last)\s+(?:(?:option|choice|statement)\b|one\b(?= is\b))"
)
_NEXT = Pattern(r"[ \t}]+([^\W\d_][^\W\d_']*(?:'\w+)?)")
_RIGHT_END = Pattern(
    r"[\s\"'*)\]}>]*(?:$|[.,&:;!?\n|/)\]\u3000-\uffee-]|[✓✔✅✗✘❌✕→]|\\)|\s+[(\[]|\s*-{0,2}>"
    r"\s*[(\[]?[A-Z]\b"
)
_DELIMITED = Pattern(r"[ \t\"'*)\]}>]{0,6}(?:[.):,=|-]|(?:is|was)(?= ))?[ \t\"'*:=]{0,6}(?:[(\[](?=[^)\]]))?")
_SYMBOL_AFTER = Pattern(r"'*[(\[](?!\s*$)(?!\w+ )|\s*(?:[<≤≥≡∨∧·⊃∪∩×^]|[=≈+]\s*[\w\\(-])")
_SYMBOL_BEFORE = Pattern(r"(?:[¬~≡∨∧·⊃∪∩×^≤≥=+]\s?|\d[ \t]{0,3})\Z")
"""What joins a capital to a formula: a call, a relation, an operator, a number (then it is a unit)."""
_FORMULA = Pattern(r"(\$\$?)(?=\S)[^$\n]{1,400}(?<!\s)\1(?!\d)|\\\([^\n]{2,400}?\\\)|\\\[.{2,400}?\\\]", 16)
_ALONE = Pattern(r"[\s$\\()\[\]{}.*:]")
_WORDED = Pattern(r"\\(?:text\w*|mathrm|mathbf|mbox|boxed)\s*\{")
_WORD_END = Pattern(rf"[{_W}](?=[(\[{{<])")
_RANGE_START = Pattern(r"[A-Z] ?- ?$")
_LONGEST_RANGE_START = len("A -")
_CODE_AFTER = Pattern(r"-[^\W_]")
"""The hyphen of a name: "B-52"."""
_LONGEST_NOUN = 12
_WORDS_BEFORE = 30
"""Characters before a letter: the longest word that names or allows it, with marks and blanks."""
_MOST = 1000
"""Letters of a span, the last ones; a derivation has thousands."""


class Label(NamedTuple):
    """A place that names options by their letters: one, or several as a list ("A and B")."""

    letters: frozenset[str]
    start: int
    letter_end: int
    """The end of the last letter, with the bracket behind it."""
    end: int
    """The end with the option's own text, if it follows."""
    is_certain: bool = False
    """In brackets, after "option", or with its own text."""
    conflict: frozenset[str] = frozenset()
    """Other options whose text stands beside the letter."""

    @property
    def has_text(self) -> bool:
        """Whether an option's own text follows."""
        return self.end > self.letter_end and not self.conflict


def find_labels(
    unmarked: str, raw: str, options: ChoiceOptions, content_starts: frozenset[int], span: tuple[int, int]
) -> list[Label]:
    """Return the labels in order; `unmarked` is `raw` without its markup.

    `content_starts`: where what follows "the answer is" begins. A letter there need not be marked.
    """
    finder = _Finder(unmarked, raw, options, content_starts)
    last_letters = deque(_LABEL.finditer(unmarked, *span), maxlen=_MOST)
    labels = [label for match in last_letters if (label := finder.label_of(match)) is not None]
    labels += _labels_by_number(finder.lower, options, span)
    labels.sort(key=lambda label: (label.start, -label.end))
    return list(_with_lists_joined(_without_inner(labels), finder.lower))


def _without_inner(labels: list[Label]) -> list[Label]:
    """Leave out letters inside another label's text."""
    outer: list[Label] = []
    for label in labels:
        if not outer or label.start >= outer[-1].end:
            outer.append(label)
    return outer


class _Letter(NamedTuple):
    """One letter of a reply, with the brackets or quotes around it."""

    letter: str
    is_small: bool
    start: int
    end: int
    bracket: str
    """The opening bracket or quote; "" if there is none."""


class _Finder:
    """Finds the label that a letter of a reply is; None for articles, pronouns, names, parts and symbols."""

    def __init__(self, unmarked: str, raw: str, options: ChoiceOptions, content_starts: frozenset[int]) -> None:
        self.content_starts = content_starts
        self.unmarked, self.lower = unmarked, unmarked.lower()
        self.options = options
        self.formulas = _formulas(raw)

    def label_of(self, match: re.Match[str]) -> Label | None:  # noqa: PLR0911 - one return a reason
        """Return the label that a letter is; None if it is none."""
        letter = _Letter(match[0].upper(), match[0].islower(), *_with_brackets(self.unmarked, *match.span()))
        if self._is_in_a_phrase(letter):
            return None
        if (label := self._label_by_noun(letter)) is not None:
            return label
        text = self._text_begun_by(letter)
        if text is not None:
            # "A is closer" can be option A's text; of another option's text, the letter is only a word.
            if text.letter != letter.letter:
                return None
            return Label(frozenset(text.letter), letter.start, letter.end, text.end, is_certain=True)
        if self._is_statement_or_range(letter):
            return None
        label = _label_with_option_text(letter, self.lower, self.options)
        is_article = self.unmarked[letter.start : letter.end + 1] == "A "  # "A dog"
        if label.has_text and not is_article:
            return label
        if _CODE_AFTER.match(self.unmarked, letter.end):
            return None
        return self._small_label(letter, label) if letter.is_small else self._capital_label(letter, label)

    def _is_statement_or_range(self, letter: _Letter) -> bool:
        """Whether a letter is the number of a statement ("I and II"), or ends a range ("A-D")."""
        is_statement = letter.letter == "I" and self.options.has_statements and "I" not in self.options
        range_start = max(0, letter.start - _LONGEST_RANGE_START)
        return is_statement or _RANGE_START.search(self.unmarked, range_start, letter.start) is not None

    @heuristic(decides_per_100_000=34, when_disabled=False)
    def _is_in_a_phrase(self, letter: _Letter) -> bool:
        """Whether a letter is part of "N/A", or a small one that begins a phrase ("a dog") without "option" before."""
        start, end, lower = letter.start, letter.end, self.lower
        if "n/a" in (lower[start - 2 : end], lower[start : end + 2]):
            return True
        if letter.bracket or not letter.is_small or _ENDS.match(lower, end):
            return False
        return not lower.endswith(("option ", "choice ", "letter "), 0, start)

    def _label_by_noun(self, letter: _Letter) -> Label | None:
        """Return the option whose text is a noun with the letter: "Point B" can be the text of option A."""
        noun_start = self.lower.rfind(" ", 0, max(0, letter.start - 1)) + 1
        if not 0 < letter.start - noun_start < _LONGEST_NOUN:
            return None
        text = self.options.text_at(self.lower, noun_start)
        if text is None or text.end < letter.end:
            return None
        return Label(frozenset(text.letter), letter.start, letter.end, text.end, is_certain=True)

    def _text_begun_by(self, letter: _Letter) -> OptionText | None:
        """Return the longer text of an option that a letter begins: "B, A, C", "A is closer"."""
        is_word = letter.is_small and not letter.bracket  # "a"
        text = None if is_word else self.options.text_at(self.lower, letter.start)
        return text if text is not None and text.end > letter.end else None

    def _begins_content(self, letter: _Letter) -> bool:
        return letter.start in self.content_starts

    def _is_named(self, letter: _Letter) -> bool:
        """Whether a noun such as "option" stands before a letter."""
        return wordings.NAMED_BEFORE.search(self._words_before(letter)) is not None

    def _words_before(self, letter: _Letter) -> str:
        return self.lower[max(0, letter.start - _WORDS_BEFORE) : letter.start]

    @heuristic(needed_by="g5-mc-article-a", when_disabled=None)
    def _small_label(self, letter: _Letter, label: Label) -> Label | None:
        """Return a small letter's label: named, or the content of a form, and not at the beginning of a line.

        There is none where the question has parts with small letters.
        """
        if letter.letter not in self.options or self.options.has_parts:
            return None
        if not self.unmarked[: letter.start].rpartition("\n")[2].strip(" \t-*"):
            return None
        is_named = self._is_named(letter)
        return label._replace(is_certain=is_named) if is_named or self._begins_content(letter) else None

    def _capital_label(self, letter: _Letter, label: Label) -> Label | None:
        """Return a capital's label: certain in brackets outside of formulas, or behind a noun such as "option".

        Elsewhere, it needs quotes, or words before it that go with an option or are a form ("the answer is"), and must
        stand alone.
        """
        before = self._words_before(letter)
        is_in_formula = any(first <= letter.start < last for first, last in self.formulas)
        if letter.bracket in ("(", "[", "{", "<") and not is_in_formula:
            return label._replace(is_certain=True)
        is_named, begins_content = self._is_named(letter), self._begins_content(letter)
        words_of_line = before.rpartition("\n")[2]
        is_expected = is_named or letter.bracket or wordings.ALLOWED_BEFORE.search(words_of_line)
        if not is_expected:  # a bare capital behind other words
            return label if begins_content and _stands_alone(letter, self.unmarked) else None
        is_symbol = is_in_formula or _SYMBOL_AFTER.match(self.unmarked, letter.end) or _SYMBOL_BEFORE.search(before)
        # A symbol of a formula is a label only where an answer begins: "the answer is B = 3", not "option B = 3".
        is_label = begins_content if is_symbol else is_named or _stands_alone(letter, self.unmarked)
        return label._replace(is_certain=is_named) if is_label else None


@heuristic(decides_per_100_000=26, when_disabled=[])
def _formulas(raw: str) -> list[tuple[int, int]]:
    """Return the spans of the LaTeX formulas that hold more than one letter and no words."""
    if "$" not in raw and "\\" not in raw:
        return []
    return [m.span() for m in _FORMULA.finditer(raw) if len(_ALONE.sub("", m[0])) > 1 and not _WORDED.search(m[0])]


def _with_brackets(unmarked: str, start: int, end: int) -> tuple[int, int, str]:
    """Return the span of a letter with the brackets or quotes around it, and the opening one; "" if there are none."""
    opening, closing = unmarked[max(0, start - 1) : start], unmarked[end : end + 1]
    is_pair = opening and closing in _PAIRS.get(opening, ())
    is_call = _WORD_END.match(unmarked, max(0, start - 2))  # "f(A)"
    if not is_pair or is_call:
        return start, end, ""
    return start - 1, end + 1, opening


_PAIRS = dict.fromkeys("([{<", tuple(")]}>")) | dict.fromkeys("\"'", tuple("\"'"))


def _stands_alone(letter: _Letter, unmarked: str) -> bool:
    """Whether what follows a bare capital lets it be an option: the end of a clause, or a word that is about it."""
    word = _NEXT.match(unmarked, letter.end)
    if word is None:
        return bool(_RIGHT_END.match(unmarked, letter.end))
    in_other_script = word[1][0] >= "\u0530"  # a Latin capital before a word in another script: "C 选项"
    return letter.letter != "I" and (word[1] in wordings.VERBS or in_other_script)  # "I" is a pronoun


def _label_with_option_text(letter: _Letter, lower: str, options: ChoiceOptions) -> Label:
    """Return a letter's label up to the end of the option's text behind it, if there is one.

    It is certain if the text is the letter's own. If another option's text stands beside it, that is the conflict.
    """
    label = Label(frozenset(letter.letter), letter.start, letter.end, letter.end)
    if others := _other_text_before(letter, lower, options):
        return label._replace(conflict=others)
    delimiter = _DELIMITED.match(lower, letter.end)
    text_start = delimiter.end() if delimiter else letter.end
    # What looks like a delimiter can be the beginning of the text: "(D) -273 °C", "B. (s)he".
    for start in (text_start, letter.end + 1, letter.end + 2):
        text = options.text_at(lower, start)
        if text is not None and text.letter == letter.letter:
            return label._replace(end=text.end, is_certain=True)
    rest = lower[letter.end :].partition("\n")[0]
    if options.is_text_of(letter.letter, rest):
        return label._replace(end=letter.end + len(rest.rstrip(" .*")), is_certain=True)
    text = options.text_at(lower, text_start)
    if text is None or not wordings.CLAUSE_END.match(lower, text.end):
        return label
    return label._replace(end=text.end, conflict=frozenset(text.letter))


def _other_text_before(letter: _Letter, lower: str, options: ChoiceOptions) -> frozenset[str]:
    """Return the only other option whose text stands before a letter in brackets, on its line: "red (B)"."""
    if lower[letter.start] not in "([":
        return frozenset()
    before = lower[: letter.start].rpartition("\n")[2].strip()
    letters = [k for k, text in options.lower_texts.items() if text == before]
    return frozenset(letters) if len(letters) == 1 and letter.letter not in letters else frozenset()


@heuristic(needed_by="g5-mc-option-named-by-its-number", when_disabled=())
def _labels_by_number(lower: str, options: ChoiceOptions, span: tuple[int, int]) -> Iterator[Label]:
    """Yield "Option 2" and "the second option", where no option has a number of its own."""
    if options.have_numbers:
        return
    for match in _NUMBERED.finditer(lower, *span):
        rank = _rank(match, last=len(options.letters))
        if rank <= len(options.letters):
            letter = options.letters[rank - 1]
            yield Label(frozenset(letter), match.start(), match.end(), match.end(), is_certain=True)


def _rank(match: re.Match[str], last: int) -> int:
    """Return the number that a match of `_NUMBERED` gives an option, in digits or words; "last" is `last`."""
    if match["han"]:
        return "一二三四五".index(match["han"]) + 1
    rank = match["digit"] or match["th"] or match["beon"] or RANKS.get(match["word"])
    return int(rank) if rank else last


def _with_lists_joined(labels: list[Label], lower: str) -> Iterator[Label]:
    """Join the labels of a list ("A and B") into one; a ranking ("A > C") names all of them, too."""
    joined: Label | None = None
    for label in labels:
        if joined is None:
            joined = label
        elif _are_one_list(lower[joined.end : label.start]):
            joined = joined._replace(
                letters=joined.letters | label.letters,
                letter_end=label.letter_end,
                end=label.end,
                is_certain=joined.is_certain and label.is_certain,
                conflict=joined.conflict | label.conflict,
            )
        else:
            yield joined
            joined = label
    if joined is not None:
        yield joined


def _are_one_list(between: str) -> bool:
    """Whether the text between two labels makes them one list, or a ranking."""
    is_joined = wordings.CONNECTED.fullmatch(between) or wordings.RANKED.fullmatch(between)
    return "\n" not in between and is_joined is not None
