"""Find where a response gives its verdict, step and reason, and what the verdict says: the careful Mr-Ben parse.

First headings of any style, order and case are found, or a JSON object's keys. Then each field is read separately
(the step in `step.py`). Decisions that matter for the metrics:

- "partially correct" and "not fully correct" are `incorrect`: a solution is correct as a whole or not at all;
- a verdict that says both right and wrong is `incorrect` if the step field names a step, else it is not read;
  "mostly correct" is `correct` if the step field says N/A;
- a named first error step without a verdict means `incorrect`; a bare N/A means nothing;
- of several verdicts the last one is used, but not a verdict on a further question that the model invented, and not
  words about the repaired solution ("with this change, the solution is correct"), or about the rest of it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from grader.scorers.mr_ben.judge_decision import LONGEST_STATEMENT, REVISION, Stance, is_placeholder, lowered, stance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.scorers.mr_ben.official import Correctness

Field = Literal["correctness", "step", "reason", "stop"]
NOT_APPLICABLE = "N/A"


class Region(NamedTuple):
    """One field's heading, and the span of its value."""

    field: Field
    strong: bool
    """A heading that can only mean this field; other headings are used only if there is no strong one."""
    heading: int
    start: int
    end: int


class Verdict(NamedTuple):
    """A verdict on the solution, and the rule that read it."""

    correctness: Correctness | None
    rule: str
    span: tuple[int, int] | None = None
    hedge: Literal["hedged", "mixed"] | None = None
    detail: str = ""


_CORRECTNESS = (
    r"(?:(?:overall|final|revised|corrected|updated|my|the)[ _-]+){0,3}"
    r"(?:solution|code|answer|program)(?:['\u2019]s)?[ _-]?correctness|(?:overall|final)[ _-]correctness"
    r"|(?:the[ _])?correctness[ _](?:of|for)[ _](?:the[ _])?(?:\w{1,16}[ _])?(?:solution|code|answer)"
    r"|(?:overall|final|solution)[ _-](?:verdict|judge?ment|assessment)"
    r"|is[ _](?:the|this)[ _](?:\w{1,16}[ _])?(?:solution|code)[ _]correct\??"
    r"|(?:最终)?(?:解答|解决方案|解法|答案|方案|代码|解题|解)的?正确性|整体正确性"
)
_STEP = (
    r"(?:the[ _])?first[ _-]?(?:error|incorrect|wrong|erroneous|mistaken|mistake|faulty|flawed)"
    r"(?:[ _-]?(?:step|line[ _]of[ _]code|line|location|code[ _]line|code))?(?:[ _]number)?"
    r"|(?:location|step|line)[ _]of[ _](?:the[ _])?first[ _](?:error|mistake)"
    r"|first[ _](?:step|line)[ _](?:of[ _]code|with|containing|that)[^:\n\uff1a]{0,40}?"
    r"(?:error|incorrect|wrong|mistake)"
    r"|(?:第一个|第一处|首个|首处|最早的?|首)(?:出现)?的?(?:错误|出错|错)的?(?:步骤|步|位置|代码行|行)?"
)
_REASON = (
    r"(?:(?:the|first)[ _]){0,2}error[ _-]?(?:reason|explanation|description|analysis)s?"
    r"|reasons?[ _](?:for|of|why)[^:\n\uff1a]{0,40}|explanation[ _]of[ _](?:the[ _])?(?:first[ _])?error"
    r"|错误的?(?:原因|理由|分析|解释)|出错原因"
)
_STOP = (
    r"(?:solution[ _-]?|step[ -]by[ -]step[ ])?analysis|rectif\w{1,12}[^:\n]{0,40}|corrected[^:\n]{0,40}"
    r"|(?:final[ ])?conclusion|summary|note|final[ ]answer|(?:解答)?分析"
)
_BARE_VALUE = r"(?=[ \t]+(?:(?:in)?correct|step[ \t]*\d{1,2}|n/?a)\W{0,4}(?:\n|\Z))"
_HEADING = re.compile(
    r"\n[^a-z\u4e00-\u9fff\n]{0,40}+(?:"
    rf"(?P<correctness>{_CORRECTNESS})|(?P<step>{_STEP})|(?P<reason>{_REASON})|(?P<question>question)|(?P<stop>{_STOP})"
    r"|(?P<weak_correctness>correctness|verdict|judge?ment|正确性|判断|结论)"
    r"|(?P<weak_step>(?:error|incorrect|wrong|erroneous)[ _-]?(?:step|line|location)|错误的?(?:步骤|位置|行))"
    r"|(?P<weak_reason>reason|explanation|原因|理由)"
    r")(?:[ \t]*[(\uff08\[][^()\[\]\uff08\uff09\n]{0,60}[)\uff09\]])?"
    r"(?:[ \t*_\"'`\])】」~]{0,8}+(?:[:\uff1a=|>\u2013—]|-+(?=\s)|is\b|[为是]|(?=\n|\Z))|[ \t]*\*\*(?=[ \t]*\S)"
    rf"|{_BARE_VALUE}|(?=[ \t]*</?))"
)
_INLINE_NAMES: tuple[tuple[str, Field], ...] = (
    ("solution correctness", "correctness"),
    ("solution_correctness", "correctness"),
    ("first error step", "step"),
    ("first_error_step", "step"),
    ("error reason", "reason"),
    ("error_reason", "reason"),
)
_INLINE_END = re.compile(r"[ \t*_\"'`\])~]{0,8}+[:\uff1a=>]")


def headings(text: str) -> list[Region]:
    """Return the fields' values in the order of the text."""
    lower = lowered(text)
    entries: list[tuple[int, int, Field, bool]] = []
    for match in _HEADING.finditer("\n" + lower):
        name = match.lastgroup or "stop"
        if name == "question":
            if {"correctness", "step"} <= {entry[2] for entry in entries}:
                lower = lower[: match.start()]
                entries.append((match.start(), match.end() - 1, "stop", True))
                break
            continue
        field: Field = name.removeprefix("weak_")  # type: ignore[assignment]  # the groups are named after the fields
        entries.append((match.start(), match.end() - 1, field, not name.startswith("weak_")))
    entries += _inline(lower, {end for _, end, _, _ in entries})
    entries = _before_the_repair(lower, sorted(entries))
    full = {field for _, _, field, strong in entries if strong}
    entries = sorted(entry for entry in entries if entry[3] or entry[2] not in full)
    regions: list[Region] = []
    end = len(lower)
    for at, start, field, strong in reversed(entries):
        regions.append(Region(field, strong, at, min(start, end), end))
        end = at
    return regions[::-1]


_REPAIRED = re.compile(
    r"\b(?:with (?:this|that|these|those|the)|after|once|when|if|would|then|now|otherwise|fix\w*|correct(?:ed|"
    r"ing|ions?)|repair\w*|"
    r"revis\w+|rectif\w+|amend\w*|modif\w+|chang\w+|new|rest of|remain\w+|other|修正|更正后|修改)\b[^.!?\n]*$"
)
"""Words before a sentence that is about the repaired solution, or about the rest of it."""


def _before_the_repair(lower: str, entries: list[tuple[int, int, Field, bool]]) -> list[tuple[int, int, Field, bool]]:
    """Leave out later verdicts that neither have a step of their own nor follow words that withdraw the first one."""
    verdicts = [entry for entry in entries if entry[2] == "correctness"]
    steps = [entry[0] for entry in entries if entry[2] == "step"]
    if not verdicts or not steps:
        return entries
    later = {entry[0] for entry in verdicts[1:] if steps[0] < entry[0] and steps[-1] < entry[0]}
    withdrawn = REVISION.search(lower, verdicts[0][1])
    return [entry for entry in entries if entry[0] not in later or (withdrawn and withdrawn.start() < entry[0])]


def _inline(lower: str, known_ends: set[int]) -> Iterator[tuple[int, int, Field, bool]]:
    """Find the prompt's own headings in the middle of a line, if a colon follows."""
    for name, field in _INLINE_NAMES:
        at = lower.find(name)
        while at >= 0:
            end = _INLINE_END.match(lower, at + len(name))
            if end is not None and end.end() not in known_ends and not lower[at - 1 : at].isalpha():
                yield at, end.end(), field, True
            at = lower.find(name, at + len(name))


_JSON_KEYS: dict[str, Field] = {
    "solutioncorrectness": "correctness",
    "correctness": "correctness",
    "iscorrect": "correctness",
    "correct": "correctness",
    "firsterrorstep": "step",
    "firsterrorline": "step",
    "firsterror": "step",
    "firstincorrectstep": "step",
    "firstincorrectline": "step",
    "errorstep": "step",
    "errorreason": "reason",
    "reason": "reason",
    "explanation": "reason",
}
_JSON_START = re.compile(r"\{\s{0,80}\"")
_JSON_ATTEMPTS = 8


def json_regions(text: str) -> tuple[list[Region], str]:
    """Return the fields of the last JSON object that has some, written as one value per region; else nothing."""
    if "{" not in text:
        return [], ""
    starts = [match.start() for match in _JSON_START.finditer(text)][-_JSON_ATTEMPTS:]
    for start in reversed(starts):
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        fields = {_JSON_KEYS.get(re.sub(r"[^a-z]", "", key.lower())): item for key, item in value.items()}
        if "correctness" in fields or "step" in fields:
            return _laid_out({key: item for key, item in fields.items() if key})
    return [], ""


def _laid_out(fields: dict[Field, object]) -> tuple[list[Region], str]:
    regions: list[Region] = []
    text = ""
    for field, item in fields.items():
        value = item[0] if isinstance(item, list) and item else item
        start = len(text)
        text += value if isinstance(value, str) else "" if value is None else str(value).lower()
        regions.append(Region(field, True, start, start, len(text)))
        text += "\n"
    return regions, text


def chosen(regions: list[Region], field: Field, lower: str) -> Region | None:
    """Return the last region of a field that has a value; strong headings come first."""
    for strong in (True, False):
        for region in reversed(regions):
            if region.field == field and region.strong == strong and not _is_empty(lower, region):
                return region
    return None


def _is_empty(lower: str, region: Region) -> bool:
    head = lower[region.start : min(region.end, region.start + LONGEST_STATEMENT)]
    return _SAYS_SOMETHING.search(head) is None or is_placeholder(head[:80])


_SAYS_SOMETHING = re.compile("[^\\W_]|[✓✔✅✗✘❌]")
_SUBJECT = re.compile(
    r"\b(?:solution|code|program|implementation|function)(?: \w{1,20}){0,3}? (?:is|was)(n't)?\b([^.\n;]{0,80})"
)
_UNTICKED = re.compile(r"[^\w\[\n]*(?:\[\s?\]|☐)")
_CLAUSE_END = re.compile(r"[\s*_\"'`)]*(?:$|[,:(\u2013—-]|because\b|since\b|as\b|due\b|overall\b|in fact\b)")
_RECONSIDERED = re.compile(r"\n[^a-z\n]{0,10}(?:wait|on second thoughts?|correction|hmm|actually|however|but)\b")


def read_verdict(lower: str, regions: list[Region], rule: str) -> Verdict:
    """Read the last verdict under a full heading, else the agreeing ones under short headings, else a sentence."""
    strong = [r for r in regions if r.field == "correctness" and r.strong]
    for region in reversed(strong):
        verdict = _stance_in(lower, region)
        if verdict is not None:
            revised = "revised " if len(strong) > 1 and _differs(lower, strong, verdict) else ""
            return _reconsidered(lower, region, _as_verdict(verdict, revised + rule))
    weak = [f for r in regions if r.field == "correctness" and not r.strong and (f := _stance_in(lower, r))]
    if weak:
        if len({verdict.value for verdict in weak}) == 1:
            return _as_verdict(weak[-1], "short heading")
        return Verdict(None, "several verdicts", detail="verdicts under short headings contradict each other")
    return _verdict_in_prose(lower, 0)


def _differs(lower: str, regions: list[Region], last: Stance) -> bool:
    earlier = _stance_in(lower, regions[0])
    return earlier is not None and earlier.value != last.value


def _stance_in(lower: str, region: Region) -> Stance | None:
    """Read the first line of a value; later lines only if the heading has a line of its own."""
    own_line_empty = True
    for number, (start, line) in enumerate(lines_of(lower, region)):
        own_line_empty = own_line_empty and "\n" in lower[region.start : start]
        if _UNTICKED.match(line):
            continue
        read = stance(line.partition("</")[0])
        if read is not None:
            return read._replace(start=start + read.start, end=start + read.end)
        if not own_line_empty or number >= 3:
            return None
    return None


def lines_of(text: str, region: Region) -> Iterator[tuple[int, str]]:
    """Yield the non-empty lines of a value, shortened, with their positions."""
    at = region.start
    while at < region.end:
        newline = text.find("\n", at, region.end)
        end = region.end if newline < 0 else newline
        line = text[at : min(end, at + LONGEST_STATEMENT)]
        if line.strip(" \t\r*_`~#|-\"'"):
            yield at, line
        at = end + 1


def _as_verdict(read: Stance, rule: str) -> Verdict:
    span = (read.start, read.end)
    if read.value == "doubt":
        return Verdict(None, "undecided", span, detail="the response says that it cannot tell")
    correctness: Correctness = "incorrect" if read.value == "wrong" else "correct"
    hedge: Literal["hedged", "mixed"] | None = read.value if read.value in ("hedged", "mixed") else None
    return Verdict(correctness, rule, span, hedge)


def _reconsidered(lower: str, region: Region, verdict: Verdict) -> Verdict:
    """Use a later verdict if a sentence after the headings withdraws the first one."""
    marker = _RECONSIDERED.search(lower, region.start)
    if marker is None:
        return verdict
    later = _verdict_in_prose(lower, marker.end())
    return later._replace(rule="revised in a sentence") if later.correctness else verdict


def _verdict_in_prose(lower: str, begin: int) -> Verdict:
    """Read sentences such as "the solution is incorrect because ..."; all must agree."""
    verdicts: list[Verdict] = []
    for match in _SUBJECT.finditer(lower, begin):
        if _REPAIRED.search(lower, max(0, match.start() - 120), match.start()):
            continue
        clause = "is" + (match[1] or "") + match[2]
        read = stance(clause)
        if read and read.leading and read.value in ("right", "wrong") and _CLAUSE_END.match(clause, read.end):
            shift = match.end() - len(clause)
            verdicts.append(_as_verdict(read, "sentence")._replace(span=(shift + read.start, shift + read.end)))
    if len({verdict.correctness for verdict in verdicts}) == 1:
        return verdicts[-1]
    if verdicts:
        return Verdict(None, "several verdicts", detail="sentences contradict each other")
    return Verdict(None, "no verdict", detail="no heading and no sentence gives a verdict")


def settle(verdict: Verdict, step: str | None, *, headed: bool) -> Verdict:
    """Let the step field decide a verdict that is hedged or missing (`headed`: the response has a step field)."""
    names_step = step is not None and step != NOT_APPLICABLE
    if verdict.hedge:
        if names_step:
            return verdict._replace(correctness="incorrect", rule="hedged, a step is named")
        if step == NOT_APPLICABLE and verdict.hedge == "hedged":
            return verdict._replace(rule="hedged, no step is named")
        return verdict._replace(correctness=None, rule="hedged", detail="right and wrong in one verdict")
    if verdict.rule == "no verdict" and headed and names_step:
        return verdict._replace(correctness="incorrect", rule="implied by the step", detail="")
    return verdict
