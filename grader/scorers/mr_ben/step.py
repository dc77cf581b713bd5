"""The first wrong step that a claim names: a number, or for coding a line of the program."""

from __future__ import annotations

import re

from grader.scorers.mr_ben.stance import WORD
from grader.scorers.numbers import WORDS
from grader.scorers.patterns import Pattern

NOT_APPLICABLE = "N/A"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()  # noqa: SIM905
_NUMERALS = {
    **{word: str(value) for word, value in WORDS.items() if 0 < value <= 20},
    **{word: str(value) for value, word in enumerate(_ORDINALS, 1)},
    **{han: str(value) for value, han in enumerate("一 二 三 四 五 六 七 八 九 十".split(), 1)},  # noqa: SIM905
}
_NUMERAL = Pattern(
    rf"(?<=\bstep )(?:{'|'.join(WORDS)})\b|\b(?:{'|'.join(filter(str.isascii, _NUMERALS))})(?=[ -]step|\W*$)"
    r"|(?<=第)[一-十](?=步)"
)
NO_STEP = Pattern(
    r"[\W_]*(?:n\s?/?\s?a\b|none\b|null\b|not applicable\b|no\b(?!\W*\d)|there (?:is|are) no\b"
    r"|all (?:the )?steps are\b|无|没有)"
)
_STEP = Pattern(
    r"(?:\bsteps?\W{0,4}|第\s*)(\d{1,4})(?![a-z0-9])|\b(\d{1,4})(?:st|nd|rd|th)?[ -]step\b"
    r"|^[\W_]*(?:boxed\W)?(\d{1,3})(?=\s*(?:$|[^\w\s.]|\.(?!\d)))"
)
_NOT_NAMED = Pattern(r"\W{0,4}(?:\bor\b|/)\s*(?:steps?\s*)?#?\d|\W*(?:is|was|are) (?:correct|right|fine)\b")
"""Behind a step: another one to choose from, or that it has no error."""
_LEAD_IN = frozenset(
    WORD.findall(
        "the first error occurs is in at appears incorrect wrong mistake found lies starts it of original solution"
    )
)
_WRONG_STEP = Pattern(
    r"(?<!no )\b(?:error|mistake|(?:incorrect|wrong) step)\b[^.\n]{0,60}?\bstep #?(\d{1,4})\b"
    r"|\bstep #?(\d{1,4}) (?:(?:is|was) (?:incorrect|wrong)|(?:contains|has) an? (?:error|mistake))\b"
)


def step_number(digits: str) -> str:
    """Return a number without leading zeros."""
    return digits.lstrip("0") or "0"


def step_in_line(line: str) -> str | None:
    """Read one lower-case line that names a step: "step 3: ...", "3.", "the third step", "n/a", "第三步".

    The first step counts, if only words such as "the error is in" stand before it. "Not step 2", "step 2 is correct"
    and "step 3 or 4" name no step.
    """
    if NO_STEP.match(line):
        return NOT_APPLICABLE
    line = _NUMERAL.sub(lambda m: _NUMERALS.get(m[0], m[0]), line)
    step = _STEP.search(line)
    if step is None or _NOT_NAMED.match(line, step.end()):
        return None
    return _number(step) if _LEAD_IN.issuperset(WORD.findall(line, 0, step.start())) else None


def step_in_prose(text: str) -> str | None:
    """Return the first step that a lower-case text without headings calls wrong."""
    step = _WRONG_STEP.search(text)
    return _number(step) if step else None


def _number(match: re.Match[str]) -> str:
    """Return the number in whichever group of a pattern has one."""
    return step_number(next(filter(None, match.groups())))


def without_whitespace(line: str) -> str:
    """Return a line without its whitespace."""
    return "".join(line.split())


# --- the first error line of a program -------------------------------------------------------------------------------

_LABEL = Pattern(r"\W*+(?:(?:code)?line)?(?:no\.?|number)?#?\d{0,4}\W*+|\W*+第?\d{1,4}行?\W*+", re.IGNORECASE)
_MARKS = Pattern(r"\W*")
_LINE = Pattern(r"\W*(?:line\s*(?:no\.?|number)?\s*#?\s*(\d{1,4})|第\s*(\d{1,4})\s*行)\W*", re.IGNORECASE)
_STEP_ONLY = Pattern(r"\W*(?:step\W{0,3})?\d{1,4}\W*", re.IGNORECASE)
_NO_LINE = Pattern(r"[\W_]*(?:n\s?/?\s?a|none|not applicable|no errors?|无|没有)\W*(?:\([^()]*\)\W*)?", re.IGNORECASE)
_IN_BACKTICKS = Pattern(r"(`{1,3})([^`]+)\1")
_LONGEST_FIELD, _MOST_LINES = 4000, 8
"""Characters and lines of a field that are read: what follows is explanation."""
_MARKUP = " \t\r*_`\"'"


def code_line(field: str, program: str) -> str | None:
    """Return the line of a program that a field gives: quoted, by its number, or in other words (its first line).

    `N/A` if it says that there is none; None if it gives only a step, or nothing.
    """
    lines = [line for line in field[:_LONGEST_FIELD].split("\n")[:_MOST_LINES] if line.strip(" \t\r*|-")]
    if not lines:
        return None
    if _NO_LINE.fullmatch(lines[0]):
        return NOT_APPLICABLE
    program_lines = program.split("\n")
    if quotation := _quoted_line(lines, program_lines):
        return quotation
    if line_number := _LINE.fullmatch(lines[0]):
        number = int(line_number[1] or line_number[2])
        return program_lines[number - 1].strip() or None if 0 < number <= len(program_lines) else None
    first_line = lines[0].strip(_MARKUP)
    return None if _STEP_ONLY.fullmatch(first_line) or not any(map(str.isalnum, first_line)) else first_line


def _quoted_line(field_lines: list[str], program_lines: list[str]) -> str | None:
    """Return the program's line that a line of the field quotes, alone or in backticks; the longest if several fit."""
    # Of lines that differ only in whitespace, the first one stays.
    originals = {without_whitespace(line): line.strip() for line in reversed(program_lines) if line.strip()}
    for line in field_lines:
        span = _IN_BACKTICKS.search(line)
        candidates = (line, span[2]) if span else (line,)
        for text in map(without_whitespace, candidates):
            quotations = [original for original in originals if original in text and _is_wrapped(text, original)]
            if quotations:
                return originals[max(quotations, key=len)]
    return None


def _is_wrapped(text: str, line: str) -> bool:
    """Whether only a line number, quotes and brackets stand around a line."""
    before, _, behind = text.partition(line)
    return bool(_LABEL.fullmatch(before) and _MARKS.fullmatch(behind))
