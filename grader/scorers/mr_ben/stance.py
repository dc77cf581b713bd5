"""What words say about right and wrong: "correct", "not correct", "no errors", a tick.

All of 832 published verdicts are "correct", "incorrect" or "wrong". A negation turns what it precedes, because public
reports have such verdicts. Words that say both, or only doubt, are unsure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from grader.scorers.patterns import Pattern

if TYPE_CHECKING:
    import re

Says = Literal["right", "wrong", "unsure"]
LONGEST = 400
"""Number of characters of a line that can contain a verdict; the rest is explanation."""


class Stance(NamedTuple):
    """Whether a line calls something right or wrong, and where it says so."""

    says: Says
    start: int
    end: int
    is_leading: bool
    """Whether the line begins with it, so that it is the line's statement and not a remark."""


_NOT = r"(?:\bnot|n't|\bnever|\bfails?)\s+(?:\w{1,20}\s+){0,4}?"
_FAULT = r"(?:\w{1,20}\s+){0,3}?(?:errors?|mistakes?|bugs?|flaws?)\b"
_MENTIONS: tuple[tuple[Says, str], ...] = (
    ("unsure", r"\b(?:mostly|unsure|not sure|uncertain|unclear|unable|cannot|can't|whether|may|might|"
     r"could)\b"),
    ("right", rf"{_NOT}(?:incorrect|wrong)\b|(?:\b(?:no|without)|{_NOT}(?:contain|have|find|see))\s+{_FAULT}|没有错误"),
    ("wrong", rf"{_NOT}(?:correct(?:ly)?|right|valid|accurate)\b|\b(?:partially|partly) correct\b|(?:不|部分)正确"),
    ("wrong", r"\b(?:incorrect(?:ly)?|wrong|invalid|flawed)\b|错误"),
    ("wrong", rf"\b(?:contains?|has|have|there (?:is|are))\s+(?!no\b){_FAULT}"),
    # "The correct answer" and "a correct formula" are no verdicts.
    ("right", r"(?<!\bthe )(?<!\ba )\bcorrect(?:ly)?\b|\b(?:is|are|was) (?:right|valid|accurate)\b|正确"),
)  # fmt: skip
_MENTION = Pattern("|".join(f"(?P<{says}_{number}>{words})" for number, (says, words) in enumerate(_MENTIONS)))
_BARE_VERDICT = Pattern(r"[\W_]*?(?:(?P<right>yes|true|right|[✓✔✅])|(?P<wrong>no|false|[✗✘❌]))(?:[\s.,;:!)\]。]|$)")
_OBJECTION = Pattern(r"\b(?:but|however|except|wait)\b|但")
_CHOICE = Pattern(r"\b(?:in)?correct\W{0,5}(?:/|\||\bor\b)\W{0,5}(?:in)?correct\b|^\W*\[\s?\]")
"""What the prompt offers ("correct/incorrect"), or a box without a tick."""
WORD = Pattern(r"[^\W\d_]+(?:'[a-z]+)?")
_LEAD_IN = frozenset(
    WORD.findall(
        "the this that overall final given student's model's solution code program answer response all steps it i is "
        "was are be to of there therefore thus hence so yes in conclusion verdict decision explanation seems appears "
        "has have does do found see"
    )
)
"""Words before a verdict that say nothing else."""


def stance(line: str) -> Stance | None:
    """Read whether a line without markup, in lower case, calls something right or wrong; None if it does not say.

    Of different mentions, the first one counts if the line begins with it, unless "correct" is followed by a word such
    as "but".
    """
    line = line[:LONGEST]
    if _CHOICE.search(line):
        return None
    mentions = [_mention(match, line) for match in _MENTION.finditer(line)]
    if not mentions:
        bare = _BARE_VERDICT.match(line)
        says = cast("Says", bare.lastgroup) if bare else None
        return Stance(says, *bare.span(says), is_leading=True) if bare and says else None
    first = mentions[0]
    has_objection = first.says == "right" and _OBJECTION.search(line, first.end)
    if len({mention.says for mention in mentions}) == 1 or (first.is_leading and not has_objection):
        return first
    return first._replace(says="unsure")


def _mention(match: re.Match[str], line: str) -> Stance:
    """Return what a match of `_MENTION` says: its groups are called `right_1`, `wrong_2`, ..."""
    says = cast("Says", (match.lastgroup or "").partition("_")[0])
    is_leading = _LEAD_IN.issuperset(WORD.findall(line, 0, match.start()))
    return Stance(says, *match.span(), is_leading=is_leading)
