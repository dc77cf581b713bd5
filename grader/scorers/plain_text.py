"""A reply's characters made plain, and its markup blanked, without moving a character: spans stay valid."""

# ruff: noqa: RUF001 - look-alike letters and foreign words are what this file is about

from __future__ import annotations

import re
import unicodedata

from grader.scorers.patterns import Pattern

_LATIN = "A-Za-z0-9_\u00c0-\u024f\u0370-\u03ff\u0400-\u052f"

_LATIN_FORMS = {
    "А": "A", "В": "B", "С": "C", "Е": "E", "Н": "H", "І": "I", "Ј": "J",
    "а": "a", "с": "c", "е": "e", "Α": "A", "Β": "B", "Ε": "E", "Η": "H",
    "Ι": "I",
}  # fmt: skip
"""Cyrillic and Greek letters that look like Latin option letters: 2 of 100,000 replies, and a label."""

_LOOKALIKE = Pattern(f"(?<![{_LATIN}])[{''.join(_LATIN_FORMS)}](?![{_LATIN}])")

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
        plain_char = self[code] = _plain_char(chr(code))
        return plain_char


def _plain_char(char: str) -> str:
    """Return the one character that a character is made plain to: "Ⓑ" to "B", a curly quote to a straight one."""
    code = ord(char)
    if char in _PUNCTUATION:
        return _PUNCTUATION[char]
    is_variation = 0xFE00 <= code <= 0xFE0F or code == 0x20E3  # of a sign: colour, a key around it
    if unicodedata.category(char) in ("Cf", "Cc") or is_variation:
        return char if char in "\n\t" else " "
    if (char.isdigit() or char in "\u207a\u207b") and unicodedata.decomposition(char).startswith("<super>"):
        return char  # 10⁶ is not 106
    folded = unicodedata.normalize("NFKC", char)
    if folded == "İ":
        return "I"  # the only one whose length lower-casing would change
    return folded if len(folded) == 1 else char


_PLAIN = _Plain()
_CONTROL = Pattern(r"[\x00-\x08\x0b-\x1f\x7f]")


def plain(raw: str) -> str:
    """Return `raw` with full-width, circled, styled and look-alike characters made plain; the same length."""
    if raw.isascii():
        return raw if raw.isprintable() or not _CONTROL.search(raw) else raw.translate(_PLAIN)
    text = raw.translate(_PLAIN)
    return _LOOKALIKE.sub(lambda match: _LATIN_FORMS[match[0]], text)


def blank(match: re.Match[str]) -> str:
    """Return as many blanks as `match` is long (a replacement for `re.sub`)."""
    return " " * (match.end() - match.start())


_STRUCK = Pattern(r"~~[^~\n]{1,200}~~")
_LATEX = Pattern(
    r"\\(?:text|textbf|textit|texttt|textrm|mathrm|mathbf|mathsf|mathit|bf|rm|bold|emph|underline|"
    r"operatorname)\b\s*\{?"
    r"|\\[()\[\],;:! ]|\\q?quad\b|\$"
)
_MARKUP = Pattern(
    r"```(?:[A-Za-z]+(?=[ \t]*$))?|`|\*+|(?<![^\W_])_+|_+(?![^\W_])|^[ \t]*(?:#{1,6}|>+)(?=[ \t])"
    r"|</?(?:strong|em|br|p|div|span|center|h[1-6]|code|pre|mark|font|ul|ol|li)\b[^<>\n]{0,80}>",
    re.MULTILINE | re.IGNORECASE,
)
_BOLD_TAG = Pattern(r"</?[biu]>", re.IGNORECASE)
_HAS_MARKUP = Pattern(r"[`*_#<>~\\$]")


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


BOUNDARY = Pattern(  # each alternative looks back at the character that the set has found: a search for a set is fast
    r"[\n!?。.;](?:(?<=\n)|(?<=[!?。])(?:[!?。]*(?!\w)|)|(?<=;)(?!\w)|(?<=\.)(?:(?=[\u3040-\u9fff])"
    r"|(?<!i\.e\.)(?<!e\.g\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?=[\s\"')\]]|$)))"
)
"""The end of a sentence."""


def without_accents(text: str) -> str:
    """Return a text without accents; other forms of a character, such as "²", become the usual one."""
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
