"""Combine what a reply says about each option into one conclusion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.choice.careful import wordings as say
from grader.scorers.choice.careful.groups import Group, group, judge, problem_within
from grader.scorers.choice.careful.mentions import find_mentions
from grader.scorers.choice.careful.statement import read_statement
from grader.scorers.choice.careful.statements import NO_WORD, REASONED, answers, statements
from grader.scorers.choice.careful.undeclared import read_undeclared
from grader.scorers.choice.reading import ChoiceReading, ambiguous, no_answer, read_as
from grader.scorers.patterns import Pattern

if TYPE_CHECKING:
    from grader.scorers.choice.careful.options import Options
    from grader.scorers.choice.careful.text import Page
    from grader.scorers.containers import Wrapped

_NEAR = 12
_SHORT = 400
_FAR = 400
_CORRECTS = Pattern(r"[ \t,]*[.!\n-][\s.!-]{0,8}(?:sorry|correction|actually|no|oops|i mean)\b")
"""The next sentence corrects the last one."""


def read_page(page: Page, options: Options, inner: list[tuple[Wrapped, ChoiceReading]]) -> ChoiceReading:
    """Return the reading of a cleaned reply; `inner` has the readings of its containers, blanked in the page."""
    groups = _judged(page, options)
    claims = statements(groups, page, options)
    if not any(g.form for g in claims) and not inner and options.values_in(page.low):
        groups = _judged(page, options, with_values=True)
        claims = statements(groups, page, options)
    claims = answers(claims, inner, page, options)
    if claims and _goes_round(claims, page):
        named = " and ".join(sorted(frozenset().union(*(g.letters for g in claims))))
        return no_answer("loop", (claims[0].start, claims[-1].stop), f"declares {named} in turn and breaks off")
    if claims:
        return _settle(claims, groups, page, options)
    return read_undeclared(groups, page, options)


def _judged(page: Page, options: Options, *, with_values: bool = False) -> list[Group]:
    groups = group(find_mentions(page, options, with_values=with_values), page)
    text = page.shown
    end = len(text.rstrip())
    last_line = page.line(end, end)
    first = len(text) - len(text.lstrip())
    for mentioned in groups:
        judge(mentioned, page, last_line, first)
    return groups


def _settle(claims: list[Group], groups: list[Group], page: Page, options: Options) -> ChoiceReading:
    last = claims[-1]
    span = (last.members[0].start, last.members[-1].stop)
    if last.reading is not None and last.reading.outcome != "letter":
        return last.reading
    problem = problem_within(last)
    if problem and not _said_before(last, claims):
        return ambiguous(problem[0], span, problem[1])
    (letter,) = last.letters
    if letter not in options:
        detail = f"{letter} is not among the options"
        return no_answer("outside_options", span, detail)
    rival = next((g for g in reversed(claims[:-1]) if g.letters != last.letters and not _replaced(g, last, page)), None)
    if rival is None and claims[0].role == "leading" and claims[0].letters != last.letters:
        rival = None if _replaced(claims[0], last, page) else claims[0]
    if rival is not None:
        named = " and ".join(sorted(rival.letters | last.letters))
        return ambiguous("several_answers", (rival.start, last.stop), f"declares {named}")
    undone = _undone(last, letter, groups, page, options)
    if undone is not None:
        return undone
    earlier = next((g for g in reversed(claims[:-1]) if g.letters != last.letters), None)
    detail = f"declares {', '.join(sorted(earlier.letters))}, then withdraws it for {letter}" if earlier else ""
    rule = last.reading.rule if last.reading else _rule_name(last)
    span = (last.reading.span if last.reading else None) or span
    return read_as(letter, rule, span, detail)


def _said_before(last: Group, claims: list[Group]) -> bool:
    """Whether a letter with the text of another option was declared before, with its own text or alone."""
    return len(last.letters) == 1 and any(
        g.form and g.letters == last.letters and problem_within(g) is None for g in claims[:-1]
    )


def _goes_round(claims: list[Group], page: Page) -> bool:
    """Whether a reply returns to an option after leaving it for another, and then ends in mid-sentence."""
    turns = [g.letters for i, g in enumerate(claims) if not i or g.letters != claims[i - 1].letters]
    rest = page.shown[claims[-1].stop :].rstrip()
    return len(turns) > len(set(turns)) and (rest[-1:].isalnum() or rest.endswith((",", "-", "(")))


def _rule_name(group: Group) -> str:
    if group.members[0].kind == "text":
        return "option_text"
    if group.members[0].kind == "ordinal":
        return "ordinal"
    return {"declared": "declaration", "concluded": "conclusion"}.get(group.role, group.role)


def _replaced(earlier: Group, last: Group, page: Page) -> bool:
    """Whether `last` replaces `earlier`; otherwise both are answers."""
    if not earlier.letters:
        return True
    if len(earlier.letters) > 1 and last.final:
        return True
    start, end = earlier.stop, last.start
    before, after = page.low[start : min(end, start + 300)], page.low[max(start, end - 2000) : end]
    if say.RECONSIDERED.search(before) or say.RECONSIDERED.search(after):
        return True
    gap = len(NO_WORD.sub("", page.low[start : min(end, start + 1000)]))
    if gap < (REASONED if earlier.form else _NEAR) or earlier.role == "leading":
        return False
    return (last.final and not earlier.final) or gap >= _FAR // 2


def _undone(last: Group, letter: str, groups: list[Group], page: Page, options: Options) -> ChoiceReading | None:
    """Return why the last statement is not the answer: it is denied, withdrawn or left open afterwards; else None."""
    later = [g for g in groups if g.start >= last.stop]
    denial = next((g for g in later if g.role == "denied" and g.letters == last.letters and g.is_label), None)
    if denial is not None:
        return ambiguous("denied_later", (last.start, denial.stop), f"declares {letter} and denies it")
    reach = later[0].start if later else len(page.low)
    back = say.WITHDRAWN.search(page.low[last.stop : min(reach, last.stop + 250)])
    if back is not None:
        return no_answer("withdrawn", (last.start, last.stop + back.end()), f"declares {letter}, then withdraws it")
    planned = page.breaks_off and not last.is_label and say.PLANNED.match(page.low.lstrip())
    if not last.final and (planned or (last.start > _SHORT and _breaks_off(page, last.stop))):
        return no_answer("breaks_off", (last.start, last.stop), f"declares {letter}, goes on and breaks off")
    corrected = None if last.form else _CORRECTS.match(page.low, last.stop)
    if corrected is not None:
        statement = read_statement(page, options, later, corrected.end())
        if statement is not None and statement.letter != letter:
            return statement
    return _contrary_end(last, letter, later, page, options) or _left_open(last, letter, later, page, options)


def _left_open(last: Group, letter: str, later: list[Group], page: Page, options: Options) -> ChoiceReading | None:
    """Return `ambiguous` if a "wait" after the declaration leads to no new conclusion."""
    cue = say.UNSETTLED.search(page.low[last.stop : last.stop + 4000])
    if cue is None or say.SETTLED.search(page.low, last.stop + cue.end()):
        return None
    after = last.stop + cue.end()
    statement = read_statement(page, options, [g for g in later if g.start >= after], after)
    if statement is not None and statement.letter == letter:
        return None
    return ambiguous("left_open", (last.start, after), f"declares {letter}, then reconsiders without a conclusion")


def _breaks_off(page: Page, at: int, most: int = 800) -> bool:
    """Whether the reply continues for long after `at` and ends within a sentence."""
    rest = page.low[at:].rstrip()
    return len(rest) > most and (rest[-1].isalnum() or rest.endswith(("...", ",", "(", "-")))


def _contrary_end(last: Group, letter: str, later: list[Group], page: Page, options: Options) -> ChoiceReading | None:
    """Return `ambiguous` if the reply ends with a conclusion in words that contradicts the letter declared before."""
    if last.role == "leading" or last.final or not any(g.members[0].kind == "text" for g in later):
        return None
    start, end = page.sentence(later[-1].start, later[-1].stop)
    if page.low[end:].strip() or not say.CONCLUDING.search(page.low[start:end]):
        return None
    statement = read_statement(page, options, later, start)
    if statement is None or statement.letter in (None, letter):
        return None
    detail = f"declares {letter}, then concludes with the text of {statement.letter}"
    return ambiguous("contrary_conclusion", (last.start, end), detail)
