"""What words say about right and wrong: "not incorrect", "mostly correct", "partially correct", a tick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from grader.scorers.patterns import Pattern

if TYPE_CHECKING:
    import re

Says = Literal["right", "wrong", "hedged", "mixed", "doubt"]
LONGEST = 400
"""Number of characters of a line that can contain a verdict; the rest is explanation."""


class Stance(NamedTuple):
    """Whether a line calls something right or wrong, and where it says so."""

    says: Says
    """hedged: "mostly correct"; mixed: both right and wrong; doubt: says that it cannot tell."""
    start: int
    end: int
    is_leading: bool
    """Whether the line begins with it, so that it is the line's statement and not a remark."""


_NOT = r"(?:\bnot|\bcannot|n't|\bisnt|\bnever|\bfar from)"
_FEW = r"(?:\w{1,20}\s+){0,3}?"
_FAULT = r"(?:errors?|mistakes?|bugs?|flaws?)\b"
_ENTIRELY = r"(?:entirely|fully|completely|totally|wholly|quite|strictly|100%|perfectly|altogether)"
_OTHER = (
    r"(?!\s*\?|\s+(?:final\s+)?(?:answers?|options?|choices?|values?|results?|formulas?|steps?|way|method|equations?|"
    r"numbers?|expression|lines?|outputs?|one|track|path|direction|idea|conclusion|units?|signs?|use|understanding|"
    r"principle|concept)\b)"
)
_MENTIONS: tuple[tuple[Says, str], ...] = (
    ("right", rf"{_NOT}\s+(?:incorrect|wrong|invalid|flawed|erroneous)\b|没有错误|无误|\berror-free\b"),
    ("right", rf"{_NOT}\s+(?:contain|have|include|make|see|find)\s+{_FEW}{_FAULT}"),
    ("right", rf"\b(?:no|without|zero|free\s+(?:of|from))\s+{_FEW}{_FAULT}"),
    ("doubt", r"\b(?:not\s+sure|unsure|uncertain|unclear|undetermined|neither|whether|unknown|maybe|perhaps|"
     r"possibly)\b"),
    ("doubt", r"\b(?:can\s?not|can't|unable\s+to|could\s+not|couldn't|(?:hard|impossible|difficult)\s+to)\s+(?:be\s+)?"
     r"(?:fully\s+)?(?:tell|told|say|determine|verify|judge|decide|confirm|assess|evaluate|conclude)\w*"),
    ("doubt", r"\b(?:may|might|could)\s+(?:not\s+)?be\s+(?:\w{1,16}\s+)?(?:in)?correct\b|无法|不确定|不能确定|是否"),
    ("hedged", r"\b(?:mostly|largely|generally|almost|nearly|essentially|basically|mainly)\s+(?:correct|right)\b"
     rf"|{_NOT}\s+{_ENTIRELY}\s+(?:incorrect|wrong)\b|(?:基本|大致|大体)正确"),
    ("wrong", r"\b(?:partially|partly|half|somewhat|only\s+\w{1,12})\s+(?:correct|right)\b|不对"
     r"|(?:部分|不完全|不)正确"),
    ("wrong", rf"{_NOT}\s+(?:(?:be|been|being|considered|a|an|the|at|all|deemed|very|so|\w{{1,16}}ly)\s+){{0,4}}?"
     r"(?:correct|right|valid|accurate|true)\b"),
    ("wrong", rf"(?:{_NOT}|\bfails?(?:\s+to)?)\s+(?:\w{{1,20}}\s+){{0,5}}?correctly\b"),
    ("wrong", r"\b(?:contains?|has|have|there\s+(?:is|are)|makes?|includes?|with)\s+"
     rf"(?:(?!no\b|any\b|zero\b)\w{{1,20}}\s+){{0,3}}?{_FAULT}"),
    ("wrong", r"\b(?:in-?correct(?:ly)?|wrong(?:ly)?|erroneous|flawed|faulty|mistaken|inaccurate|invalid)\b"
     r"(?!\s*\?)(?!\s+(?:option|choice)s?\b)|错误|有误|错"),
    ("right", rf"\bcorrect(?:ly)?\b{_OTHER}|正确|\b(?:is|are|was|seems|looks)\s+(?:right|valid|accurate)\b(?!\s*[?-])"),
)  # fmt: skip
_MENTION = Pattern("|".join(f"(?P<{says}_{number}>{words})" for number, (says, words) in enumerate(_MENTIONS)))
_BARE_VERDICT = Pattern(
    r"[\W_]*?(?:(?P<right>yes|true|right|valid|accurate|[✓✔✅]|对|是)|(?P<wrong>no|false|[✗✘❌]|否))(?:[\s.,;:!)\]。]|$)"
)
_OBJECTION = Pattern(r"\b(?:but|however|except|although|though|despite|apart from|with)\b|但|不过")
_EXCEPTION = Pattern(r"\W{1,3}(?:except|apart from|aside from)\b")
_CHOICE = Pattern(
    r"\b(?:in)?correct\W{0,5}(?:/|\||\bor\b)\W{0,5}(?:incorrect|correct|wrong)\b"
    r"|[\[<]\s*(?:input|insert|state|your)\b|正确\s*[/或]\s*(?:错误|不正确)|^\W*\[\s?\]"
)
"""What the prompt offers ("correct/incorrect"), or a box without a tick."""
WORD = Pattern(r"[^\W\d_]+(?:'[a-z]+)?")
_LEAD_IN = frozenset(
    WORD.findall(
        "the this that my your our overall final given provided proposed student's student students model's model code "
        "solution answer response explanation reasoning it is was are were be being as a an whole therefore thus hence "
        "so verdict decision correctness appears seems looks to considered deemed likely probably definitely clearly "
        "ultimately still has have contains contain does do in conclusion "
        "program function implementation approach of text boxed textbf mathrm judged"
    )
)
"""Words before a verdict that say nothing else."""


def stance(line: str) -> Stance | None:
    """Read whether a line without markup, in lower case, calls something right or wrong; None if it does not say."""
    line = line[:LONGEST]
    if _CHOICE.search(line):
        return None
    mentions = [_mention(match, line) for match in _MENTION.finditer(line)]
    if mentions:
        return _deciding_mention(mentions, line)
    if bare := _BARE_VERDICT.match(line):
        says = bare.lastgroup or ""
        return Stance(cast("Says", says), *bare.span(says), is_leading=True)
    return None


def _mention(match: re.Match[str], line: str) -> Stance:
    """Return what a match of `_MENTION` says: its groups are called `right_0`, `right_1`, ..."""
    says = cast("Says", (match.lastgroup or "").partition("_")[0])
    is_leading = _LEAD_IN.issuperset(WORD.findall(line, 0, match.start()))
    return Stance(says, *match.span(), is_leading=is_leading)


def _deciding_mention(mentions: list[Stance], line: str) -> Stance:
    """Return what a line says by all its mentions, by the first of these rules that applies.

    - All agree. Then "correct" is hedged if an exception follows: "correct, except for step 3".
    - The last mention counts if words such as "wait" before it withdraw the others.
    - The first mention counts if the line begins with it, unless "correct" is followed by a word such as "but".
    - The line is a doubt if one of its mentions is, else it is mixed.
    """
    first, last = mentions[0], mentions[-1]
    kinds = {mention.says for mention in mentions}
    if len(kinds) == 1:
        has_exception = first.says == "right" and _EXCEPTION.match(line, first.end)
        return first._replace(says="hedged") if has_exception else first
    if last.says in ("right", "wrong") and WITHDRAWN.search(line, first.end, last.start):
        return last
    has_objection = first.says == "right" and _OBJECTION.search(line, first.end)
    if first.is_leading and not has_objection:
        return first
    return first._replace(says="doubt" if "doubt" in kinds else "mixed")


WITHDRAWN = Pattern(r"\b(?:wait|actually|correction|on second thoughts?|scratch that|sorry)\b|[-=]>|→|更正|等等")
