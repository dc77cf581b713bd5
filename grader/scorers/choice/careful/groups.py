"""Join mentions to groups ("A and B"), and judge from the words around a group what the reply says about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from grader.scorers.choice.careful import wordings as say
from grader.scorers.choice.careful.mentions import Mention, Role
from grader.scorers.choice.reading import ChoiceReading
from grader.scorers.patterns import Pattern

if TYPE_CHECKING:
    from grader.scorers.choice.careful.text import Page

_LINE_BEFORE = Pattern(r"[\s\"'(\[{<*>:.=-]*$")
_LINE_AFTER = Pattern(r"[\s\"')\]}>*.,;!。=-]*$")
_LEAD_AFTER = Pattern(
    r"[ \t\"')\]}>*]*(?:[.):,;!。-]|\n|$|because\b|since\b|as\b|for\b|weil\b|car\b|porque\b|因为)", re.IGNORECASE
)
_LEAD_TEXT_AFTER = Pattern(r"[ \t\"')\]}>*]*(?:[.:;!。]|\n|$|\s-|,?\s*(?:because|since|as|not)\b)", re.IGNORECASE)
_MANY = Pattern(r"\b(?:each|every|all|these|following|options|choices|one by one)\b")
_OPTIONS_FOLLOW = Pattern(r"\b(?:options?|choices?)(?: are)?[ \t]*:[ \t]*$")
_REACH = 140
_ASKED = 24
"""Maximum length, in characters, of a short question and of the answer to it."""


class Group(msgspec.Struct):
    """Mentions that form one list ("A and B") and get one role."""

    members: list[Mention]
    role: Role = "named"
    form: bool = False
    """Declared in the form of an answer ("The answer is (B)", "Answer: B", a box): it beats weaker statements."""
    final: bool = False
    """Worded or placed as the reply's conclusion."""
    echo: bool = False
    """An echoed list of options, not a statement."""
    reading: ChoiceReading | None = None
    """The reading of a container, if the group represents one."""

    @property
    def start(self) -> int:
        """Start of the first member."""
        return self.members[0].start

    @property
    def stop(self) -> int:
        """End of the last member with its text."""
        return self.members[-1].stop

    @property
    def is_label(self) -> bool:
        """Whether it names an option by letter or number, and not by its text."""
        return self.members[0].kind != "text"

    @property
    def letters(self) -> frozenset[str]:
        """Every option named."""
        return self.members[0].letters.union(*(m.letters for m in self.members[1:]))


def group(mentions: list[Mention], page: Page) -> list[Group]:
    """Join mentions with nothing but connectives between them."""
    groups: list[Group] = []
    for mention in mentions:
        if groups and mention.start < groups[-1].stop:
            continue
        if groups and _continues(groups[-1], mention, page):
            groups[-1].members.append(mention)
        else:
            groups.append(Group([mention]))
    for members in groups:
        texts = sum(m.stop > m.end for m in members.members)
        members.echo = len(members.letters) > 1 and texts >= len(members.members) - 1
    return groups


def _continues(so_far: Group, mention: Mention, page: Page) -> bool:
    last = so_far.members[-1]
    between = page.low[last.stop : mention.start]
    if len(between) > 24:
        return False
    if mention.letters <= so_far.letters and len(so_far.letters) > 1 and mention.kind == last.kind:
        return False  # "of B and C, C fits": a list names each option once
    if "\n" in between:
        # A list of options has ascending letters; a blank line or a smaller letter begins something new.
        if between.count("\n") > 1 or min(mention.letters) <= max(last.letters) or last.kind == "text":
            return False
        between = between.replace(".", " ").replace("-", " ")
    elif last.stop > last.end and mention.stop > mention.end:
        between = between.replace(".", " ")
    if last.kind == mention.kind or "text" not in (last.kind, mention.kind):
        return say.CONNECTED.fullmatch(between) is not None
    # "blue (B)" and "blue, B" name one option twice or disagree; in both cases they belong together.
    return last.kind == "text" and mention.kind == "label" and re.fullmatch(r"[\s,]*[(\[]?", between) is not None


def judge(group: Group, page: Page, last_line: tuple[int, int], first: int) -> None:
    """Set the group's role from the words around it; `first` is where the reply's text begins."""
    start, stop = group.start, group.stop
    left_end, right_end = page.sentence(start, stop)
    left = page.low[max(left_end, start - _REACH) : start]
    heading = _heading_before(page, left_end) if not left.strip(" -*\"'([{>") and left_end else ""
    left = heading + left
    right = page.low[stop : min(right_end, stop + _REACH)]
    if right.rstrip().endswith("?") and len(right) < _ASKED:
        right += page.low[right_end : right_end + _ASKED]  # "A? No." has its answer in the next sentence
    group.role = _role(group, left, right)
    if group.role == "doubted" and heading and _is_announced(group, page, heading):
        group.role = "declared"
    if group.role == "named":
        _judge_by_place(group, page, first)
    group.form = group.role == "declared" and group.members[0].kind == "label" and _has_form(group, left, right)
    in_last_line = start >= last_line[0]
    group.final = bool(say.FINAL_BEFORE.search(left)) or (in_last_line and group.role == "own_line")


def _has_form(group: Group, left: str, right: str) -> bool:
    """Whether a label follows "the answer is" directly, and nothing makes it part of a longer expression."""
    closed = group.members[-1].stop > group.members[-1].end or say.CLAUSE_END.match(right) is not None
    return closed and (say.FORM_BEFORE.search(left) or say.FORM_LIST.search(left)) is not None


def _heading_before(page: Page, at: int) -> str:
    """Return the line before `at` if it announces something ("Answer:"), else an empty string."""
    above = page.low[max(0, at - _REACH) : at].rstrip().rpartition("\n")[2].rstrip(" \"'*")
    if _MANY.search(above):
        return ""
    return above + " " if above.endswith((":", "is", "是", "answer")) else ""


def _is_announced(group: Group, page: Page, heading: str) -> bool:
    """Whether a label is alone on its line, below a line such as "I will choose:"; doubts in that line are ignored."""
    choosing = say.STRONG_BEFORE.search(heading) and not say.DENIED_BEFORE.search(heading)
    if not choosing or group.members[0].kind != "label":
        return False
    first, last = page.line(group.start, group.stop)
    marks = " \t*\"'([{<)]}>.!"
    return page.only_before(first, group.start, marks) and page.only_after(group.stop, last, marks)


def _role(group: Group, left: str, right: str) -> Role:
    if say.ALL_BUT_BEFORE.search(left):
        return "declared" if say.DENIED_AFTER.match(right) else "denied"
    if say.DENIED_AFTER.match(right) or say.DENIED_BEFORE.search(left):
        return "denied"
    if (compared := _compared(group, left)) is not None:
        return compared
    if say.DOUBTED_BEFORE.search(left) or say.DOUBTED_AFTER.match(right):
        return "doubted"
    # A confirmed text ("the dog is right there") is not necessarily the answer; a confirmed label is.
    if group.members[0].kind == "text":
        return "declared" if say.TEXT_BEFORE.search(left) else "named"
    return "declared" if say.CONFIRMED_AFTER.match(right) else _role_by_left(group, left, right)


def _compared(group: Group, left: str) -> Role | None:
    """Return the role of options that are only listed, or compared with another; None for all others."""
    if group.members[0].kind == "text" and say.OTHER_SIDE_BEFORE.search(left):
        return "doubted"
    if not group.echo and not say.COMPARED_BEFORE.search(left):
        return None
    several = len(group.letters) > 1 and group.is_label and not group.echo
    return "declared" if several and say.FORM_LIST.search(left) else "listed"


def _role_by_left(group: Group, left: str, right: str) -> Role:
    if say.STRONG_BEFORE.search(left):
        cut_off = any(m.shaky for m in group.members) and not say.CLAUSE_END.match(right)
        return "named" if cut_off else "declared"
    return "concluded" if say.WEAK_BEFORE.search(left) and say.CLAUSE_END.match(right) else "named"


def _judge_by_place(group: Group, page: Page, first: int) -> None:
    """Take a label or text for a statement if it is alone on its line, or at the very start before a delimiter."""
    line_start, line_end = page.line(group.start, group.stop)
    if line_end >= page.end and page.only_after(group.stop, line_end, " .*)!\"'"):
        line_start = max(line_start, page.sentence(group.start, group.stop)[0])
    is_short = group.start - line_start < 60 and line_end - group.stop < 60
    before, after = (page.shown[line_start : group.start], page.shown[group.stop : line_end]) if is_short else ("", "")
    if is_short and _LINE_BEFORE.fullmatch(before) and _LINE_AFTER.fullmatch(after):
        announced = page.low[max(0, line_start - _REACH) : line_start].removesuffix("\n")
        # One option alone at the end is no list of options, whatever announces it.
        lists = line_end < page.end and _OPTIONS_FOLLOW.search(announced)
        group.role = "listed" if lists else "own_line"
    elif group.start <= first + 3 and not page.shown[first : group.start].strip("\"'([{<*- "):
        pattern = _LEAD_TEXT_AFTER if group.members[0].kind == "text" else _LEAD_AFTER
        if pattern.match(page.shown, group.stop):
            group.role = "leading"


def problem_within(group: Group) -> tuple[str, str] | None:
    """Return (rule, detail) if one statement does not name exactly one option, else None."""
    for mention in group.members:
        if mention.conflict:
            return "letter_and_text_disagree", f"names {'/'.join(mention.letters)} with the text of {mention.conflict}"
    if len(group.letters) > 1:
        kinds = {m.kind for m in group.members}
        rule = "letter_and_text_disagree" if len(kinds) > 1 else "several_answers"
        return rule, f"names {' and '.join(sorted(group.letters))}"
    return None
