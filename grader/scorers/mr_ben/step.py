"""The first error step of a Mr-Ben response, read as a person does: a number, or for coding a line of the program."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from grader.scorers.mr_ben.careful import NOT_APPLICABLE, Region, lines_of
from grader.scorers.mr_ben.judge_decision import REVISION, is_placeholder, lowered

Solution = Sequence[str] | str

_NUMBER_WORDS = {
    word: str(number)
    for words in (
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty",
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
        "一 二 三 四 五 六 七 八 九 十 十一 十二 十三 十四 十五 十六 十七 十八 十九 二十",
    )
    for number, word in enumerate(words.split(), start=1)
}
_WORDED = "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True))
NO_STEP = re.compile(
    r"[\W_]*(?:n\s?[/.\\]?\s?a\b|none\b|null\b|nil\b|not applicable\b|no\b(?!\W*\d)|nothing\b"
    r"|there (?:is|are|were|was) no\b|all (?:the )?steps (?:are|were)\b|无|没有|不适用)"
)
_LATEX = re.compile(r"\\(?:boxed|textbf|text|mathrm)\b|[\\{}$]")
_STEP_NUMBER = re.compile(
    r"(?:\bsteps?|步骤)(?:[\W_]{0,4}|\s*(?:no\.?|number|num\.?)\s*)"
    rf"(?:(?P<digits>\d{{1,4}})(?:st|nd|rd|th)?(?!\d)|(?P<word>{_WORDED})(?![a-z]))"
    rf"|\b(?:(?P<nth>\d{{1,4}})(?:st|nd|rd|th)|(?P<ordinal>{_WORDED}))[ -]step\b"
    r"(?!\s+(?:with|that|where|in|to|contain))"
    rf"|第\s*(?:(?P<chinese>\d{{1,4}})|(?P<han>{_WORDED}))\s*步"
)
_BARE_NUMBER = re.compile(
    r"(?:[\W_]*?(?<![\d.])|\W{0,3}(?:no\.?|number)\s*)(?P<digits>\d{1,3})(?![\d.]*\d)(?!,\d{3})(?=[\W_]*$|\s*[.):\uff1a;,\]|]|\s+(?:[-\u2013—(]|and\b|&|or\b))"
)
_ORDINAL_ALONE = re.compile(rf"[\W_]*(?:(?P<digits>\d{{1,3}})(?:st|nd|rd|th)|(?P<word>{_WORDED}))[\W_]*")
_MORE_STEPS = re.compile(
    r"[\W_]{0,4}?(?P<link>,\s*and|,|&|\band\b|\bto\b|\bthrough\b|[-\u2013—]|至|到|和|、|\bor\b|/|或)\s*(?:or\s+)?"
    r"(?:the\s+)?(?:steps?\s*)?#?(?P<digits>\d{1,4})(?=[\W_]*$|\s*[.;:)\]&]|\s*,\s*(?!\d)|\s+(?:and|or|are|is|both)\b|\s+\()"
)
_EITHER = frozenset(("or", "/", "或"))
_DENIED_BEFORE = re.compile(
    r"\b(?:not|rather than|instead of|unlike|before|after|until|up to|prior to|from)\s+(?:in\s+|at\s+|the\s+)?$"
)
_FINE_AFTER = re.compile(
    r"\W{0,3}\s*(?:is|was|are|were|seems|looks)\s+(?:also\s+|all\s+)?(?:correct|fine|right|valid|ok)\b"
)
_WORD = re.compile(r"[^\W\d_]+")
_LEAD_IN = frozenset(
    _WORD.findall(
        "the first error occurs occurred is in at appears appear incorrect wrong mistake found lies starts begins with "
        "begin it was on of original solution happens happened erroneous step made boxed text located"
    )
)
_FIRST_ERROR = re.compile(r"\b(?:first|earliest)\s+(?:error|mistake|incorrect|wrong|erroneous)\b[^.\n]{0,60}$")
_PROSE_STEP = re.compile(
    r"\bfirst\s+(?:error|mistake|incorrect step|wrong step|flaw)\b[^.\n]{0,60}?\bstep\s*#?(\d{1,4})\b"
    r"|\bstep\s*#?(\d{1,4})\s+(?:is|contains|has|makes)\s+the\s+first\s+(?:error|mistake|incorrect|wrong)\b"
)


def step_number(digits: str) -> str:
    """Return a number without leading zeros."""
    return digits.lstrip("0") or "0"


def read_step(source: str, lower: str, at: Region | None, *, coding: bool, solution: Solution) -> str | None:
    """Return the step that a field names; without a field (`at` is None), the step on which the prose agrees.

    `lower` is `source` in lower case, of the same length.
    """
    if coding:
        return _code_line(source[at.start : min(at.end, at.start + _LONGEST_FIELD)], solution) if at else None
    if at is None:
        named = {step_number(match[1] or match[2]) for match in _PROSE_STEP.finditer(lower)}
        return named.pop() if len(named) == 1 else None
    own_line = True
    for count, (start, line) in enumerate(lines_of(lower, at)):
        own_line = own_line and "\n" in lower[at.start : start]
        step = _numbered(line if line.isascii() else unicodedata.normalize("NFKC", line))
        if step is not None:
            return step
        if not own_line or count >= 3:
            break
    return _quoted_step(source[at.start : at.end], solution)


def _numbered(line: str) -> str | None:
    """Read one lower-case line that names a step: "Step 3: ...", "3.", "the third step", "N/A", "第三步"."""
    line = _LATEX.sub(" ", line.partition("</")[0])
    if NO_STEP.match(line):
        return NOT_APPLICABLE
    bare = _BARE_NUMBER.match(line)
    if bare:
        return _with_more(bare, line)
    alone = _ORDINAL_ALONE.fullmatch(line)
    if alone:
        return _value(alone)
    mentions = [
        match
        for match in _STEP_NUMBER.finditer(line)
        if not _DENIED_BEFORE.search(line, max(0, match.start() - 24), match.start())
        and not _FINE_AFTER.match(line, match.end())
    ]
    return _named(mentions, line) if mentions else None


def _named(mentions: list[re.Match[str]], line: str) -> str | None:
    """Choose among a line's steps: the one it begins with, unless withdrawn; else all must agree."""
    if len(mentions) > 1 and REVISION.search(line, mentions[0].end(), mentions[-1].start()):
        return _value(mentions[-1])
    first = mentions[0]
    if _LEAD_IN.issuperset(_WORD.findall(line, 0, first.start())):
        return _with_more(first, line)
    if len({_value(match) for match in mentions}) == 1:
        return _value(first)
    pointed = {_value(match) for match in mentions if _FIRST_ERROR.search(line, 0, match.start())}
    return pointed.pop() if len(pointed) == 1 else None


def _value(match: re.Match[str]) -> str:
    text = next(text for text in match.groups() if text is not None)
    return _NUMBER_WORDS.get(text) or step_number(text)


def _with_more(first: re.Match[str], line: str) -> str | None:
    """Return the first of "3 and 4"; None for "3 or 4" and for steps in descending order."""
    value = _value(first)
    more = _MORE_STEPS.match(line, first.end())
    if more is None:
        return value
    if more["link"] in _EITHER:
        return value if step_number(more["digits"]) == value else None
    backwards = int(more["digits"]) < int(value)
    return None if backwards and more["link"] not in "-\u2013\u2014" else value


def _quoted_step(field: str, solution: Solution) -> str | None:
    """Recognise a step by its words: the field quotes exactly one step of the solution."""
    if isinstance(solution, str):
        return None
    quoted = squeezed(field[:2000].strip(" \t\r\n*_`\"'[]()“”.")).lower()
    if len(quoted) < 16:
        return None
    holding = [index for index, step in enumerate(solution) if quoted in squeezed(step).lower()]
    if len(holding) != 1:
        return None
    labels = (
        re.match(r"\W*step\W{0,3}(\d{1,4})\b", step, re.IGNORECASE) for step in reversed(solution[: holding[0] + 1])
    )
    label = next((found for found in labels if found), None)
    return step_number(label[1]) if label else str(holding[0] + 1)


def squeezed(line: str) -> str:
    """Return a line without its whitespace."""
    return "".join(line.split())


# --- the first error line of a program ------------------------------------------------------------------------------

_LINE_LABEL = re.compile(
    r"[\s(\[]*(?:(?:code\s+)?line\s*(?:no\.?|number)?\s*#?\s*|l|第\s*)?(\d{1,4})\s*行?\s*(?:[)\]]?\s*[:.)|\uff1a]|[-\u2013—](?=\s))\s*",
    re.IGNORECASE,
)
_LINE_ONLY = re.compile(
    r"[\s(\[*]*(?:line\s*(?:no\.?|number)?\s*#?\s*(\d{1,4})|第\s*(\d{1,4})\s*行)[\s.:)\]*]*", re.IGNORECASE
)
_NUMBER_ONLY = re.compile(r"[\W_]*(?:step\W{0,3})?\d{1,4}[\W_]*", re.IGNORECASE)
_NO_LINE = re.compile(
    r"[\W_]*(?:n\s?/?\s?a|none|not applicable|no errors?|无|没有)[\W_]*(?:\([^()]*\)[\W_]*)?", re.IGNORECASE
)
_BACKTICKS = re.compile(r"(`{1,3})([^`]+)\1")
_PAIRS = (("**", "**"), ("__", "__"), ("`", "`"), ('"', '"'), ("'", "'"), ("“", "”"), ("[", "]"), ("*", "*"))
_LONGEST_FIELD = 4000


def _code_line(field: str, solution: Solution) -> str | None:
    """Read the code line in a field: plain, fenced, in backticks, quoted, or after a line number."""
    lines = [line for line in field.split("\n") if line.strip(" \t\r*|-")]
    if not lines:
        return None
    if _NO_LINE.fullmatch(lines[0]):
        return NOT_APPLICABLE
    program = (solution if isinstance(solution, str) else "\n".join(solution)).split("\n")
    known = {squeezed(line) for line in program} - {""}
    candidates = [candidate for line in _likely_lines(lines) for candidate in _spellings(line)]
    for candidate in candidates:
        if squeezed(candidate) in known:
            return candidate
    only = _LINE_ONLY.fullmatch(lines[0])
    if only:
        number = int(only[1] or only[2])
        return program[number - 1].strip() or None if 0 < number <= len(program) else None
    if _NUMBER_ONLY.fullmatch(lines[0]) or not candidates or is_placeholder(lowered(lines[0])):
        return None
    return candidates[-1] if any(map(str.isalnum, candidates[-1])) else None


def _likely_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines that can be the answer: the first, or the first line within a fence that follows."""
    fence = next((number for number, line in enumerate(lines[:4]) if line.lstrip().startswith("```")), None)
    if fence is None or fence > 0:
        yield lines[0]
    if fence is not None:
        inside = lines[fence].lstrip().lstrip("`")
        if "`" in inside:
            yield re.sub(r"^(?:python|py)?\s+", "", inside.partition("`")[0])
        elif fence + 1 < len(lines) and not lines[fence + 1].lstrip().startswith("```"):
            yield lines[fence + 1]


def _spellings(line: str) -> Iterator[str]:
    """Yield a line with less and less of its wrapping; the last form has none."""
    bare = line.strip()
    span = _BACKTICKS.search(bare)
    inner: str | None = bare
    while inner:
        bare = inner
        yield bare
        inner = _unwrapped(bare)
    if span:
        yield span[2].strip()


def _unwrapped(line: str) -> str | None:
    """Remove one line number, or one pair of quotes, backticks, brackets or asterisks; None if there is none."""
    label = _LINE_LABEL.match(line)
    if label:
        return line[label.end() :]
    for opening, closing in _PAIRS:
        if len(line) > len(opening) + len(closing) and line.startswith(opening) and line.endswith(closing):
            return line[len(opening) : -len(closing)].strip()
    return None
