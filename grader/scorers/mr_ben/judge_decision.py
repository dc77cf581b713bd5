"""The decision in a Mr-Ben judge's reply, read officially and carefully.

The careful reading uses `stance`, which reads whether words call something right or wrong; the careful parse of a
response uses it, too. Official source: script/utils.py and script/evaluate.py of dvlab-research/Mr-Ben.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

PARSING_ERROR = "ERROR_PARSING"
"""The decision that the official scorer records for a reply that it cannot parse."""

StanceValue = Literal["right", "wrong", "hedged", "mixed", "doubt"]
LONGEST_STATEMENT = 400
"""Number of characters of a line that can contain a verdict; the rest is explanation."""


class Stance(NamedTuple):
    """Whether a line calls something right or wrong, and where it says so."""

    value: StanceValue
    """hedged: "mostly correct"; mixed: both right and wrong; doubt: says that it cannot tell."""
    start: int
    end: int
    leading: bool
    """Whether the line begins with it, so that it is the line's statement and not a remark."""


def decision_official(reply: str) -> str:
    """Return the official decision text: all after the first `Final Decision:`, or `ERROR_PARSING`.

    Only the order of the headings matters, so plain searches replace the official regular expressions.
    """
    analysis, decision = "Student Error Reason Analysis:", "Final Decision:"
    reasoning_at = reply.find("Step-by-Step Reasoning:")
    analysis_at = reply.find(analysis)
    if reasoning_at < 0 or reply.rfind(analysis) < reasoning_at or reply.rfind(decision) < analysis_at:
        return PARSING_ERROR
    return reply[reply.find(decision) + len(decision) :].lstrip()


def credited_official(decision: str) -> bool:
    """Whether the official scorer credits a decision. QUIRK: "Incorrect" contains "correct" and is credited."""
    return "correct" in decision.lower()


def decision_careful(reply: str) -> Literal["correct", "wrong"] | None:
    """Return the judge's decision; None if a person could not tell (the judge is then asked again)."""
    text = _without_reasoning(lowered(reply))
    found: Stance | None = None
    headings = list(_DECISION_HEADING.finditer(text))
    if headings:
        found = stance(_first_line(text[headings[-1].end() :][: 4 * LONGEST_STATEMENT]))
    else:
        last_line = text.strip()[-LONGEST_STATEMENT:].rsplit("\n", 1)[-1]
        found = stance(last_line)
        found = found if found and found.leading else None
    if found is None or found.value not in ("right", "wrong"):
        return None
    return "correct" if found.value == "right" else "wrong"


def lowered(text: str) -> str:
    """Return the text in lower case with every character at its original position."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_ASCII_LOWER)


def is_placeholder(line: str) -> bool:
    """Whether a lower-case line only repeats the choice in the prompt ("correct/incorrect")."""
    return _CHOICE.search(line) is not None


def stance(line: str) -> Stance | None:
    """Read whether a lower-case line calls something right or wrong; None if it does not say."""
    clean = line[:LONGEST_STATEMENT].translate(_MARKUP)
    if "~~" in clean:
        clean = _STRUCK.sub(lambda match: " " * len(match[0]), clean)
    if is_placeholder(clean):
        return None
    mentions = [_stance_of(match, clean) for match in _MENTION.finditer(clean)]
    if not mentions:
        return _short_answer(clean)
    return _weigh(mentions, clean)


def _weigh(mentions: list[Stance], line: str) -> Stance:
    """Let the leading statement decide unless it is withdrawn; without one, all must agree."""
    first, last = mentions[0], mentions[-1]
    values = {mention.value for mention in mentions}
    if len(values) == 1:
        return first._replace(value="hedged") if first.value == "right" and _EXCEPT.match(line, first.end) else first
    after = line[first.end :]
    if last.value in ("right", "wrong") and REVISION.search(line, first.end, last.start):
        return last
    if first.leading and not (first.value == "right" and _LIMITED.search(after)):
        return first
    return first._replace(value="doubt" if "doubt" in values else "mixed")


def _stance_of(match: re.Match[str], line: str) -> Stance:
    words = _WORD.findall(line, 0, match.start())
    value: StanceValue
    match match.lastgroup:
        case "right" | "unfaulted":
            value = "right"
        case "hedged":
            value = "hedged"
        case "doubt":
            value = "doubt"
        case _:
            value = "wrong"
    return Stance(value, match.start(), match.end(), leading=_LEAD_IN.issuperset(words))


def _short_answer(line: str) -> Stance | None:
    """Read a line that is only yes or no, true or false, or a tick or cross."""
    match = _SHORT.match(line)
    if match is None:
        return None
    value: StanceValue = "right" if match["right"] else "wrong"
    return Stance(value, match.start(match.lastgroup or 0), match.end(match.lastgroup or 0), leading=True)


def _without_reasoning(text: str) -> str:
    closed = max(text.rfind(tag) for tag in ("</think>", "</thinking>", "</reasoning>"))
    return text[closed:].partition(">")[2] if closed >= 0 else text


def _first_line(text: str) -> str:
    return next((line for line in text.split("\n") if any(map(str.isalnum, line)) or "✓" in line), "")


_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_MARKUP = str.maketrans({**dict.fromkeys('*_"`|#\\{}', " "), "\u2019": "'", "\u2018": "'", "\xa0": " "})
_STRUCK = re.compile(r"~~[^~]{1,200}~~")
_WORD = re.compile(r"[^\W\d]+(?:'[a-z]+)?")
REVISION = re.compile(
    r"\b(?:wait|actually|correction|on second thoughts?|scratch that|revis(?:ed|ing)|sorry"
    r"|re-?(?:check|examin|consider)(?:ed|ing)?)\b|[-=]>|→|更正|等等"
)
"""Words that withdraw what was just said."""
_LIMITED = re.compile(r"\b(?:but|however|except|although|though|despite|apart from|with)\b|但|不过")
_EXCEPT = re.compile(r"\W{1,3}(?:except|apart from|aside from)\b")
_CHOICE = re.compile(
    r"\b(?:in)?correct\W{0,5}(?:/|\||\bor\b)\W{0,5}(?:incorrect|correct|wrong)\b"
    r"|[\[<]\s*(?:input|insert|state|your)\b|正确\s*[/或]\s*(?:错误|不正确)"
)
_DECISION_HEADING = re.compile(
    r"(?:final[ _-]?decision|\bdecision|\bverdict|\bjudge?ment|最终(?:判定|决定|结论))"
    r"[ \t]*(?:\([^()\n]{0,40}\))?[*_\"'` \t\])]{0,8}+(?:[:\uff1a=>]|[-\u2013—](?=\s)|(?=\n))"
)

_ADVERB = r"(?:be|been|being|considered|a|an|the|actually|really|at|all|deemed|very|so|\w{1,16}ly)"
_ENTIRELY = r"(?:entirely|fully|completely|totally|wholly|quite|strictly|100%|perfectly|altogether)"
_NOT = r"(?:\bnot|\bcannot|n't|\bisnt|\bnever|\bfar\s+from)"
_FAULT = r"(?:errors?|mistakes?|bugs?|flaws?)\b"
_THING = (
    r"(?:final\s+)?(?:answers?|options?|choices?|values?|results?|formulas?|steps?|way|method|equations?|numbers?|expression|"
    r"lines?|outputs?|one|track|path|direction|idea|conclusion|units?|signs?|use|understanding|principle|concept)\b"
)
_MENTION = re.compile(
    "|".join(
        (
            rf"(?P<unfaulted>{_NOT}\s+(?:incorrect|wrong|invalid|flawed|erroneous)\b"
            rf"|{_NOT}\s+(?:contain|have|include|make)\s+(?:\w{{1,20}}\s+){{0,3}}?{_FAULT}"
            rf"|\b(?:no|without|zero|free\s+(?:of|from))\s+(?:\w{{1,20}}\s+){{0,2}}?{_FAULT}|\berror-free\b"
            r"|没有错误|无误)",
            r"(?P<doubt>\b(?:not\s+sure|unsure|uncertain|unclear|undetermined|neither|whether|unknown)\b"
            r"|\b(?:can\s?not|can't|unable\s+to|could\s+not|couldn't|hard\s+to|impossible\s+to|difficult\s+to)\s+"
            r"(?:be\s+)?(?:fully\s+)?(?:tell|told|say|determine|verify|judge|decide|confirm|assess|evaluate|conclude)\w*"
            r"|\b(?:may|might|could)\s+(?:not\s+)?be\s+(?:\w{1,16}\s+)?(?:in)?correct\b|\b(?:maybe|perhaps|possibly)\b"
            r"|无法|不确定|不能确定|是否)",
            r"(?P<hedged>\b(?:mostly|largely|generally|almost|nearly|essentially|basically|mainly)\s+(?:correct|right)\b"
            rf"|{_NOT}\s+{_ENTIRELY}\s+(?:incorrect|wrong)\b|(?:基本|大致|大体)正确)",
            r"(?P<partial>\b(?:partially|partly|half|somewhat|only\s+\w{1,12})\s+(?:correct|right)\b"
            r"|部分正确|不完全正确)",
            rf"(?P<negated>{_NOT}\s+(?:{_ADVERB}\s+){{0,4}}?(?:correct|right|valid|accurate|true)\b"
            rf"|(?:{_NOT}|\bfails?(?:\s+to)?)\s+(?:\w{{1,20}}\s+){{0,5}}?correctly\b)",
            rf"(?P<faulted>\b(?:contains?|has|have|there\s+(?:is|are)|makes?|includes?|with)\s+"
            rf"(?:(?!no\b|any\b|zero\b)\w{{1,20}}\s+){{0,3}}?{_FAULT})",
            r"(?P<wrong>\b(?:in-?correct(?:ly)?|wrong(?:ly)?|erroneous|flawed|faulty|mistaken|inaccurate|invalid)\b"
            r"(?!\s*\?)(?!\s+(?:option|choice)s?\b)|不正确|不对|错误|有误|错)",
            rf"(?P<right>\bcorrect(?:ly)?\b(?!\s*\?)(?!\s+{_THING})"
            rf"|\b(?:is|are|was|seems|looks)\s+(?:right|valid|accurate)\b(?!\s*[?-])|正确)",
        )
    )
)
_SHORT = re.compile(
    r"[\W_]*?(?:(?P<right>yes|true|right|valid|accurate|[✓✔✅]|对|是)|(?P<wrong>no|false|[✗✘❌]|否))(?:[\s.,;:!)\]。\uff0c]|$)"
)
_LEAD_IN = frozenset(
    _WORD.findall(
        "the this that my your our overall final given provided proposed student's student students model's model code "
        "solution answer response explanation reasoning it is was are be being as a an whole therefore thus hence so "
        "verdict decision correctness appears seems looks to considered deemed likely probably definitely clearly "
        "ultimately still in conclusion program function implementation approach of text boxed textbf mathrm judged"
    )
)
