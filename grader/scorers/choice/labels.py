"""The letters in a reply that are labels of options, and not articles, names, units, parts or formulas."""

# ruff: noqa: RUF001 - foreign words are what this file is about

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers import place_wordings as say
from grader.scorers.patterns import Pattern, rule

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from grader.scorers.choice.options import ChoiceOptions

_W = "A-Za-z0-9_\u00c0-\u024f\u0370-\u03ff\u0400-\u052f"
_LABEL = Pattern(
    rf"[A-Za-z](?![{_W}#°^]|\+(?:\+|\s|$)|'(?!s\b|d[iıuü]r|t[iıuü]r)[{_W}]|\.[A-Z]\b)(?<![{_W}°\\^].)(?<![{_W}]'.)(?<![A-Za-z]\..)"
)
"""A letter that is no part of a word, a name or a number."""
_ENDS = Pattern(r"\s*(?:$|[).,:;!?\]}\"'\n。])")
_NUMBERED = Pattern(
    r"(?:第(?P<han>[一二三四五])|(?<!\w)(?P<th>[1-9])(?:st|nd|rd|th)\s+(?=option|choice)|(?<!\w)(?P<beon>[1-9])(?=번))"
    r"|\b(?:option|choice|answer|alternative)\s{0,3}(?:number|no\.?|#)?\s{0,3}(?P<digit>[1-9])(?![\w%]|[.,]\d)"
    r"|\b(?P<word>first|second|third|fourth|fifth|last)\s+(?:(?:option|choice|answer|statement|alternative)\b|"
    r"one\b(?= is\b))"
)
_RANKS = {word: rank for rank, word in enumerate(("first", "second", "third", "fourth", "fifth"), 1)}
_NEXT = Pattern(r"[ \t}]+([^\W\d_][^\W\d_']*(?:'\w+)?)")
_RIGHT_END = Pattern(
    r"[\s\"'*)\]}>]*(?:$|[.,&:;!?\n|/)\]\u3000-\uffee-]|[✓✔✅✗✘❌✕→]|\\)|\s+[(\[]|'[dt]|\s*(?:-{0,2}>|"
    r"[≥≻→])\s*[(\[]?[A-Z]\b"
)
_DELIMITED = Pattern(
    r"[ \t\"'*)\]}>]{0,6}(?P<delim>[.):,=|-]|\s-|(?:is|was|says|ist|est|es|è|é)(?= )|"
    r"是)?[ \t\"'*:=]{0,6}(?:[(\[](?=[^)\]]))?"
)
_SYMBOL_AFTER = Pattern(r"'*[(\[](?!\s*$)(?!\w+ )|\s*(?:[<≤≥≡∨∧·⊃∪∩×^]|[=≈+]\s*[\w\\(-])")
_SYMBOL_BEFORE = Pattern(r"(?:[¬~≡∨∧·⊃∪∩×^≤≥=+]\s?|\d[ \t]*)\Z")
"""What joins a capital to a formula: a call, a relation, an operator, a number (then it is a unit)."""
_FORMULA = Pattern(r"(\$\$?)(?=\S)[^$\n]{1,400}(?<!\s)\1(?!\d)|\\\([^\n]{2,400}?\\\)|\\\[.{2,400}?\\\]", 16)
_ALONE = Pattern(r"[\s$\\()\[\]{}.*:]|\\(?:text|textbf|mathbf|mathrm|boxed|bf|rm)\b")
_WORDED = Pattern(r"\\(?:text\w*|mathrm|mathbf|mbox|boxed)\s*\{")
_WORD_END = Pattern(rf"[{_W}](?=[(\[{{<])")
_RANGE = Pattern(r"[A-Z] ?- ?$")
_LONGEST_NOUN = 12
_MOST = 1000


class Label(NamedTuple):
    """A place that names options by their letters: one, or several as a list ("A and B")."""

    letters: frozenset[str]
    start: int
    end: int
    """The end of the last letter, with the bracket behind it."""
    stop: int
    """The end with the option's own text, if it follows."""
    certain: bool
    """In brackets, after "option", or with its own text."""
    conflict: frozenset[str] = frozenset()
    """Other options whose text follows the letter."""

    @property
    def has_text(self) -> bool:
        """Whether an option's own text follows."""
        return self.stop > self.end and not self.conflict


def find_labels(
    shown: str, raw: str, options: ChoiceOptions, chosen_at: frozenset[int], span: tuple[int, int]
) -> list[Label]:
    """Return the labels in order; `shown` is `raw` without its markup.

    `chosen_at`: where the contents of declarations begin. A letter there need not be marked.
    """
    finder, low = _Finder(shown, raw, options, chosen_at), shown.lower()
    matches = _LABEL.finditer(shown, *span)
    places = [*islice(matches, 100), *deque(matches, _MOST)]
    found = [label for m in places if (label := finder.label(m)) is not None]
    found += _labels_by_number(low, options, span)
    return list(_with_lists_joined(_without_inner(sorted(found, key=lambda label: (label.start, -label.stop))), low))


def _without_inner(labels: list[Label]) -> list[Label]:
    """Leave out letters inside another label's text."""
    kept: list[Label] = []
    for label in labels:
        if not kept or label.start >= kept[-1].stop:
            kept.append(label)
    return kept


class _Place(NamedTuple):
    """One letter of a reply, with the brackets or quotes around it."""

    letter: str
    is_small: bool
    start: int
    end: int
    bracket: str
    """The opening bracket or quote; "" if there is none."""


class _Finder:
    """Tells the letters of one reply that are labels from articles, pronouns, names, parts and symbols."""

    def __init__(self, shown: str, raw: str, options: ChoiceOptions, chosen_at: frozenset[int]) -> None:
        self.chosen_at = chosen_at
        self.shown, self.raw, self.low = shown, raw, shown.lower()
        self.options = options
        self.formulas = _formulas(raw)

    def label(self, m: re.Match[str]) -> Label | None:  # noqa: PLR0911 - one return a reason
        """Return the label that a letter is; None if it is none."""
        start, end, bracket = _with_brackets(self.shown, *m.span())
        place = _Place(m[0].upper(), m[0].islower(), start, end, bracket)
        if self._is_in_a_word(place):
            return None
        word = self.low.rfind(" ", 0, max(0, start - 1)) + 1
        around = self.options.at(self.low, word) if 0 < start - word < _LONGEST_NOUN else None
        if around is not None and around[1] >= end:  # "Point B" is an option's text, perhaps of option A
            return Label(frozenset(around[0]), start, end, around[1], certain=True)
        text = self._text_from(place)
        if text is not None:
            own = text[0] == place.letter and not place.bracket
            return Label(frozenset(text[0]), start, end, text[1], certain=True) if own else None
        if _RANGE.search(self.shown, max(0, start - 3), start) or (place.letter == "I" and self.options.has_statements):
            return None
        label = _with_text(place, self.low, self.options)
        is_article = self.shown[start:end] == "A" and self.low[end : end + 1] == " "  # "A dog"
        if label.has_text and not is_article:
            return label
        if self.shown[end : end + 1] == "-" and self.shown[end + 1 : end + 2].isalnum():  # "B-52"
            return None
        left = self.low[max(0, start - 110) : start]
        named = say.NAMED_BEFORE.search(left[-30:]) is not None
        if place.is_small:
            return label._replace(certain=named) if self._is_small_label(place, left, named=named) else None
        return self._capital(place, label, left, named=named)

    def _is_chosen(self, place: _Place) -> bool:
        return place.start in self.chosen_at

    @rule(34, False)
    def _is_in_a_word(self, place: _Place) -> bool:
        """Whether a small letter goes on, or the letter is one of "N/A"."""
        start, end, low = place.start, place.end, self.low
        if "n/a" in (low[start - 2 : end], low[start : end + 2]):
            return True
        stands = place.bracket or not place.is_small or _ENDS.match(low, end)
        return not (stands or low.endswith(("option ", "choice ", "letter "), 0, start))

    def _text_from(self, place: _Place) -> tuple[str, int] | None:
        """Return the option whose longer text a letter begins, and its end: "B, A, C", "A is closer"."""
        whole = self.options.at(self.low, place.start) if place.bracket or not place.is_small else None
        return whole if whole is not None and whole[1] > place.end else None

    @rule("g5-mc-article-a", False)
    def _is_small_label(self, place: _Place, left: str, *, named: bool) -> bool:
        """Whether a small letter is chosen, named, or alone on its line; never where the question has parts."""
        if place.letter not in self.options or self.options.has_parts:
            return False
        if not self.shown[: place.start].rpartition("\n")[2].strip(" \t-*"):
            return not self.shown[place.end :].partition("\n")[0].strip(" \t.)*:")
        cut = not place.bracket and place.end >= len(self.shown.rstrip()) > 100
        return not cut and (named or self._is_chosen(place))

    def _capital(self, place: _Place, label: Label, left: str, *, named: bool) -> Label | None:
        """Return a capital's label: in brackets, named, chosen, or between words that go with an option."""
        start, end, shown = place.start, place.end, self.shown
        in_formula = any(first <= start < last for first, last in self.formulas)
        if place.bracket in tuple("([{<") and not in_formula:
            return label._replace(certain=True)
        if not named and not place.bracket and not say.ALLOWED_BEFORE.search(left.rpartition("\n")[2][-30:]):
            return label if _stands_alone(place, shown, chosen=True) and self._is_chosen(place) else None
        call = _SYMBOL_AFTER.match(shown, end)
        is_symbol = bool(in_formula or call or _SYMBOL_BEFORE.search(left[-4:]) or (place.bracket and not named))
        chosen = (is_symbol or bool(label.conflict)) and self._is_chosen(place)
        if (is_symbol and not chosen) or (call and not shown[end : end + 2].strip()):
            return None
        if named or chosen or _stands_alone(place, shown, chosen=chosen):
            return label._replace(certain=named or self.raw[start - 1 : start] in ("*", "_", "`", '"'))
        return None


@rule(26, [])
def _formulas(raw: str) -> list[tuple[int, int]]:
    """Return the spans of the LaTeX formulas that hold more than one letter and no words."""
    if "$" not in raw and "\\" not in raw:
        return []
    return [m.span() for m in _FORMULA.finditer(raw) if len(_ALONE.sub("", m[0])) > 1 and not _WORDED.search(m[0])]


def _with_brackets(shown: str, start: int, end: int) -> tuple[int, int, str]:
    """Return the span of a letter with the brackets or quotes around it, and the opening one; "" if there are none."""
    first = start - 2 if shown[start - 1 : start] == " " and start > 1 else start - 1
    last = end + 1 if shown[end : end + 1] == " " else end
    opening, closing = shown[first : first + 1] if first >= 0 else "", shown[last : last + 1]
    if not opening or not closing or opening not in "([{<\"'" or closing not in ")]}>\"'":
        return start, end, ""
    if (opening in "\"'") != (closing in "\"'") or _WORD_END.match(shown, max(0, first - 1)):
        return start, end, ""
    return first, last + 1, opening


def _stands_alone(place: _Place, shown: str, *, chosen: bool) -> bool:
    """Whether what follows a bare capital lets it be an option: the end of a clause, or a word that is about it."""
    word = _NEXT.match(shown, place.end)
    if word is None:
        return bool(_RIGHT_END.match(shown, place.end))
    if place.letter == "I":
        return False
    if word[1] in say.VERBS or word[1][0] >= "\u0530":  # a Latin capital before a word in another script: "C 选项"
        return True
    return place.letter not in "AEOUY" and (chosen or word[1][0].isupper())


def _with_text(place: _Place, low: str, options: ChoiceOptions) -> Label:
    """Return a label with its own text, or with the options whose text follows instead."""
    letter, start, end = place.letter, place.start, place.end
    label = Label(frozenset(letter), start, end, end, certain=False)
    own = options.low.get(letter)
    if low[start] in "([":  # "red (B)"
        line = low[:start].rpartition("\n")[2].strip()
        others = [k for k, t in options.low.items() if t == line]
        if len(others) == 1 and letter not in others:
            return label._replace(conflict=frozenset(others))
    delimited = _DELIMITED.match(low, end)
    behind = delimited.end() if delimited else end
    for at in {end, behind, end + 1, end + 2}:
        found = options.at(low, at)
        if found is not None and (found[0] == letter or options.low[found[0]] == own):
            return label._replace(stop=found[1], certain=True)
    rest = low[end:].partition("\n")[0] if own else ""
    if own and len(rest) < 2 * len(own) + 40 and rest.strip() and options.is_text_of(letter, rest):
        return label._replace(stop=end + len(rest.rstrip(" .*")), certain=True)
    found = options.at(low, behind) if delimited and delimited["delim"] != "|" else None
    if found is None or letter not in options or not say.CLAUSE_END.match(low, found[1]):
        return label
    return label._replace(stop=found[1], conflict=frozenset(found[0]))


@rule("g5-mc-option-named-by-its-number", ())
def _labels_by_number(low: str, options: ChoiceOptions, span: tuple[int, int]) -> Iterator[Label]:
    """Yield "Option 2" and "the second option", where no option has a number of its own."""
    if options.have_numbers:
        return
    for m in _NUMBERED.finditer(low, *span):
        digit = m["digit"] or m["th"] or m["beon"] or (str("一二三四五".index(m["han"]) + 1) if m["han"] else "")
        rank = int(digit) if digit else _RANKS.get(m["word"], len(options.letters))
        if rank <= len(options.letters):
            yield Label(frozenset(options.letters[rank - 1]), m.start(), m.end(), m.end(), certain=True)


def _with_lists_joined(labels: list[Label], low: str) -> Iterator[Label]:
    """Join the labels of a list ("A and B") into one; a ranking ("A > C") names all of them, too."""
    joined: Label | None = None
    for label in labels:
        between = low[joined.stop : label.start] if joined is not None else ""
        if joined is not None and len(between) < 30 and "\n" not in between and (
            say.CONNECTED.fullmatch(between) or say.RANKED.fullmatch(between)
        ):  # fmt: skip
            joined = joined._replace(
                letters=joined.letters | label.letters, end=label.end, stop=label.stop,
                certain=joined.certain and label.certain, conflict=joined.conflict | label.conflict,
            )  # fmt: skip
            continue
        if joined is not None:
            yield joined
        joined = label
    if joined is not None:
        yield joined
