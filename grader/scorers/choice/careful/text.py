"""Clean a reply without moving a character: everything but the answer becomes blanks, so spans stay valid."""

# ruff: noqa: RUF001 - look-alike letters and foreign words are what this file is about

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from grader.scorers.choice.careful.patterns import Pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

_LATIN = "A-Za-z0-9_\u00c0-\u024f\u0370-\u03ff\u0400-\u052f"

_SAME = {
    "А": "A", "В": "B", "С": "C", "Е": "E", "Н": "H", "І": "I", "Ј": "J",
    "а": "a", "с": "c", "е": "e", "Α": "A", "Β": "B", "Ε": "E", "Η": "H",
    "Ι": "I",
}  # fmt: skip
"""Cyrillic and Greek letters that look like Latin option letters."""

_LOOKALIKE = Pattern(f"(?<![{_LATIN}])[{''.join(_SAME)}](?![{_LATIN}])")

_PUNCTUATION = dict(
    zip(
        "\u2018\u2019\u2032\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f\u3010\u3011\u3014\u3015\u300a\u300b\u3008\u3009\u2013\u2014\u2212\u2011\u2022●▪\u00b7\u3001\r\u2028\u2029\x0b\x0c\x85",
        '\'\'\'"""""""""[][]<><>----****,\n\n\n\n\n\n',
        strict=True,
    )
)


class _Plain(dict[int, str]):
    """A translation table from each character to one plainer character, filled at first use of a character."""

    def __missing__(self, code: int) -> str:
        plain = self[code] = _plainer(chr(code))
        return plain


def _plainer(char: str) -> str:
    code = ord(char)
    # Negative circled and squared letters, and regional indicators, have no compatibility form in Unicode.
    for start in (0x1F150, 0x1F170, 0x1F1E6):
        if start <= code < start + 26:
            return chr(ord("A") + code - start)
    if char in _PUNCTUATION:
        return _PUNCTUATION[char]
    if unicodedata.category(char) in ("Cf", "Cc") or 0xFE00 <= code <= 0xFE0F or code == 0x20E3:
        return char if char in "\n\t" else " "
    folded = unicodedata.normalize("NFKC", char)
    if len(folded) == 3 and folded[0] + folded[2] == "()":
        folded = folded[1]
    # Lower-casing must not change the length either; it would only for the dotted capital I.
    return "I" if folded == "İ" else folded if len(folded) == 1 else char


_PLAIN = _Plain()
_CONTROL = Pattern(r"[\x00-\x08\x0b-\x1f\x7f]")


def plain(raw: str) -> str:
    """Return `raw` with full-width, circled, styled and look-alike characters made plain; the same length."""
    if raw.isascii():
        return raw if raw.isprintable() or not _CONTROL.search(raw) else raw.translate(_PLAIN)
    text = raw.translate(_PLAIN)
    return _LOOKALIKE.sub(lambda m: _SAME[m[0]], text)


def blank(match: re.Match[str]) -> str:
    """Return as many blanks as `match` is long (a replacement for `re.sub`)."""
    return " " * (match.end() - match.start())


_END_OF_TURN = Pattern(
    r"<\|(?:im_end|endoftext|eot_id|end|end_of_text|eom_id|return)\|>|</s>|<end_of_turn>|<eos>|"
    r"<\uff5cend[^<>]{0,30}>"
    r"|\n[ \t]{0,8}(?:user|human|### ?(?:instruction|human|user))\s*:|\n#{2,3} ?(?:instruction|human|user)\b",
    re.IGNORECASE,
)
_SPECIAL = Pattern(
    r"<\|[A-Za-z_]{2,30}\|>|<(?:s|bos|pad|unk|start_of_turn)>|\[/?INST\]|(?<!\w)n/a(?!\w)", re.IGNORECASE
)
_SPEAKER = Pattern(r"\s*(?:assistant|model|bot|ai)\s*[:\n]", re.IGNORECASE)


def end_turn(text: str) -> str:
    """Blank chat tokens, the speaker's name, and everything after the reply's own turn."""
    text = _SPEAKER.sub(blank, text, count=1) if _SPEAKER.match(text) else text
    for stop in _END_OF_TURN.finditer(text):
        if text[: stop.start()].strip():
            text = text[: stop.start()] + " " * (len(text) - stop.start())
            break
    return _SPECIAL.sub(blank, text)


_NEXT_QUESTION = Pattern(
    r"\n[ \t#*]*(?:question|q|human|problem)\b[ \t*]*\d{0,3}[ \t*]*[:.](?=[ \t*]*\n?(?:[^\w\n]*\w+\b){3})",
    re.IGNORECASE,
)
"""A heading with at least three words behind it: "Q: true" is a line of a truth table."""
_WORDS = Pattern(r"\w{2,}")


def next_question(text: str, question: str) -> int | None:
    """Return where a base model goes on with another question than `question`, or None."""
    for m in islice(_NEXT_QUESTION.finditer(text), 1):
        asked = frozenset(_WORDS.findall(question.lower()))
        said = frozenset(_WORDS.findall(text[m.end() : m.end() + 2 * len(question) + 40].lower()))
        is_same = len(asked & said) >= 0.9 * len(asked)
        return m.start() if text[: m.start()].strip() and not is_same else None
    return None


def without_loop(text: str, most: int = 100) -> str:
    """Blank the repetitions of a reply that is one sentence again and again and was then cut off."""
    body = text.strip()
    end = next((m.end() for m in islice(_BOUNDARY.finditer(body[:most]), 1)), 0)
    unit = body[:end].rstrip() + " "
    if len(unit) < 8 or len(body) < 3 * len(unit) or not (unit * (len(body) // len(unit) + 1)).startswith(body):
        return text
    first = len(text) - len(text.lstrip()) + end
    return text[:first] + " " * (len(text) - first)


_STRUCK = Pattern(r"~~[^~\n]{1,200}~~")
_LATEX = Pattern(
    r"\\(?:text|textbf|textit|texttt|textrm|mathrm|mathbf|mathsf|mathit|bf|rm|bold|emph|underline|"
    r"operatorname)\b\s*\{?"
    r"|\\[()\[\],;:! ]|\\q?quad\b|\$"
)
_MARKUP = Pattern(
    r"```[A-Za-z]*|`|\*+|(?<![^\W_])_+|_+(?![^\W_])|^[ \t]*(?:#{1,6}|>+)(?=[ \t])"
    r"|</?(?:strong|em|br|p|div|span|center|h[1-6]|code|pre|mark|font|ul|ol|li)\b[^<>\n]{0,80}>",
    re.MULTILINE | re.IGNORECASE,
)
_BOLD_TAG = Pattern(r"</?[biu]>", re.IGNORECASE)
_HAS_MARKUP = Pattern(r"[`*_#<>~\\$]")


_FORMULA = Pattern(
    r"(\$\$?)(?=\S)[^$\n]{1,400}(?:\n(?!\s*\n)[^$\n]{0,400})*+(?<!\s)\1(?!\d)|\\\((?:.{2,400}?)\\\)|\\\[(?:.{2,400}?)\\\]",
    re.DOTALL,
)
_WORDED = Pattern(r"\\(?:text\w*|mathrm|mathbf|mbox|boxed)\s*\{[^{}]*\}")
_ALONE = Pattern(r"[\s$\\()\[\]{}.*:]|\\(?:text|textbf|mathbf|mathrm|boxed|bf|rm)\b")


def formulas(text: str) -> list[tuple[int, int]]:
    """Return the spans of the LaTeX formulas that hold more than one letter, without their words, in order."""
    if "$" not in text and "\\" not in text:
        return []
    found: list[tuple[int, int]] = []
    for m in _FORMULA.finditer(text):
        if len(_ALONE.sub("", m[0])) > 1:
            inner = [w.span() for w in _WORDED.finditer(text, *m.span())]
            edges = [m.start(), *(at for span in inner for at in span), m.end()]
            found += zip(edges[::2], edges[1::2], strict=True)
    return found


def without_markup(text: str) -> str:
    """Blank emphasis, headings, code fences, HTML and LaTeX wrappers, and struck-out text."""
    if not _HAS_MARKUP.search(text):
        return text
    text = _STRUCK.sub(blank, text)
    if "\\" in text or "$" in text:
        text = _LATEX.sub(blank, text)
    if re.search(r"</[biu]>", text, re.IGNORECASE):
        text = _BOLD_TAG.sub(blank, text)
    return _MARKUP.sub(blank, text)


_BOUNDARY = Pattern(r"\n|[!?。]+(?!\w)|[!?。]|\.(?=[\s\"')\]]|$)|\.(?=[\u3040-\u9fff])|;(?!\w)|→(?=\s*$)")


_FACTORIAL = Pattern(r"[\d)]!(?=\s?[-+*/=)])")
"""An exclamation mark of a formula ends no sentence."""


class Page:
    """A cleaned reply and its sentences: `shown` keeps the case, `low` is lower-cased, both as long as the raw text."""

    def __init__(self, shown: str, formulas: Sequence[tuple[int, int]] = ()) -> None:
        self.shown = shown
        self._formulas = formulas
        self.low = shown.lower()
        self._line = (0, -1)
        self.ends: list[int] = []
        """Positions right after each sentence boundary, ascending."""
        if len(shown) > 1:
            self.ends = [m.end() for m in _BOUNDARY.finditer(shown)]
            if _FACTORIAL.search(shown):
                self.ends = [at for at in self.ends if not _FACTORIAL.match(shown, at - 2)]

    def sentence(self, start: int, end: int) -> tuple[int, int]:
        """Return the [start, end) of the sentence or sentences that contain [start, end)."""
        left = bisect_right(self.ends, start)
        right = bisect_left(self.ends, max(end, start + 1))
        return (
            self.ends[left - 1] if left else 0,
            self.ends[right] if right < len(self.ends) else len(self.shown),
        )

    @cached_property
    def end(self) -> int:
        """The end of the text without the white space after it."""
        return len(self.shown.rstrip())

    @cached_property
    def breaks_off(self) -> bool:
        """Whether the text is more than a sentence long and ends inside a sentence: it was probably truncated."""
        body = self.shown.strip()
        whole = body.endswith((".", "!", "?", "\u3002", ")", "]", "}", '"', "'", ":", ";"))
        several = len(body) > 100 or (len(body) > 60 and bool(self.ends and self.shown[: self.ends[-1]].strip()))
        return several and not whole

    def is_formula(self, start: int, end: int) -> bool:
        """Whether [start, end) is only a part of a formula."""
        at = bisect_right(self._formulas, (start, len(self.shown))) - 1
        return at >= 0 and end <= self._formulas[at][1]

    def line(self, start: int, end: int) -> tuple[int, int]:
        """Return the [start, end) of the line or lines that contain [start, end), without the newline."""
        first, last = self._line
        if first <= start and end <= last:
            return self._line
        first, stop = self.shown.rfind("\n", 0, start) + 1, self.shown.find("\n", end)
        last = stop if stop >= 0 else len(self.shown)
        # The next mention is often on the same line, and a line can be megabytes long.
        if self.shown.find("\n", start, end) < 0:
            self._line = first, last
        return first, last

    def only_before(self, start: int, at: int, marks: str) -> bool:
        """Whether [start, at) has no other characters than these. It reads from `at` back, only as far as needed."""
        size = 64
        while start < at:
            cut = max(start, at - size)
            if self.shown[cut:at].strip(marks):
                return False
            at, size = cut, 8 * size
        return True

    def only_after(self, at: int, end: int, marks: str) -> bool:
        """Whether [at, end) has no other characters than these. It reads from `at` on, only as far as needed."""
        size = 64
        while at < end:
            cut = min(end, at + size)
            if self.shown[at:cut].strip(marks):
                return False
            at, size = cut, 8 * size
        return True
