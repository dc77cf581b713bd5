"""Clean a reply without moving a character: everything but the answer becomes blanks, so spans stay valid."""

# ruff: noqa: RUF001 - look-alike letters and foreign words are what this file is about

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import cached_property

from grader.scorers.choice.careful.patterns import Pattern

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
        return raw if not _CONTROL.search(raw) else raw.translate(_PLAIN)
    text = raw.translate(_PLAIN)
    return _LOOKALIKE.sub(lambda m: _SAME[m[0]], text)


def blank(match: re.Match[str]) -> str:
    """Return as many blanks as `match` is long (a replacement for `re.sub`)."""
    return " " * (match.end() - match.start())


_TAGS = r"think(?:ing)?|analysis|reason(?:ing)?|thoughts?|reflection|scratchpad|rationale|cot|seed:think"
_REASONING = Pattern(
    rf"<(?P<close>/?)(?P<name>{_TAGS})\s*>|\[(?P<close2>/?)(?P<name2>think)\]"
    rf"|\u25c1(?P<close3>/?)(?P<name3>think)\u25b7"
    r"|<\|(?P<open4>begin|end)_of_(?P<name4>thought)\|>",
    re.IGNORECASE,
)
_HARMONY_FINAL = "<|channel|>final<|message|>"
_HARMONY_THOUGHT = "<|channel|>analysis"


def hide_reasoning(text: str) -> tuple[str, bool]:
    """Blank the reasoning blocks of `text`; also return whether one is never closed (all text after it is ignored)."""
    if _HARMONY_THOUGHT in text:
        final = text.rfind(_HARMONY_FINAL)
        if final < 0:
            return " " * len(text), True
        text = " " * (final + len(_HARMONY_FINAL)) + text[final + len(_HARMONY_FINAL) :]
    if not any(mark in text for mark in ("<", "[", "\u25c1")):
        return text, False
    pieces: list[str] = []
    done, opened, name = 0, -1, ""
    for tag in _REASONING.finditer(text):
        closing = any(tag[g] for g in ("close", "close2", "close3")) or (tag["open4"] or "").lower() == "end"
        named = next(tag[g].lower() for g in ("name", "name2", "name3", "name4") if tag[g])
        if opened < 0 and not closing:
            pieces.append(text[done : tag.start()])
            opened, name, done = tag.start(), named, tag.start()
        elif closing and opened >= 0 and named == name:
            pieces.append(" " * (tag.end() - done))
            opened, done = -1, tag.end()
        elif closing and opened < 0:
            # A closing tag without an opening one: the chat template had put the opening tag into the prompt.
            pieces = [" " * tag.end()]
            done = tag.end()
    if opened >= 0:
        return "".join(pieces) + " " * (len(text) - done), True
    return "".join(pieces) + text[done:], False


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


class Page:
    """A cleaned reply and its sentences: `shown` keeps the case, `low` is lower-cased, both as long as the raw text."""

    def __init__(self, shown: str) -> None:
        self.shown = shown
        self.low = shown.lower()
        self._line = (0, -1)
        self.ends: list[int] = []
        """Positions right after each sentence boundary, ascending."""
        if len(shown) > 1:
            self.ends = [m.end() for m in _BOUNDARY.finditer(shown)]

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
