"""Combine what a reply says about each option into one conclusion."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.scorers.choice.careful import wordings as say
from grader.scorers.choice.careful.mentions import Group, Mention, find_mentions, group, judge
from grader.scorers.choice.careful.patterns import Pattern
from grader.scorers.choice.careful.statement import read_statement
from grader.scorers.choice.reading import ChoiceReading, ambiguous, no_answer, read_as

if TYPE_CHECKING:
    from grader.scorers.choice.careful.options import Options
    from grader.scorers.choice.careful.text import Page
    from grader.scorers.choice.careful.wrapped import Wrapped

_SAID = ("declared", "concluded", "own_line", "leading")
_NEAR = 12
_SHORT = 400
_FAR = 400
_ITEM = Pattern(r"(?:^|\s)\d{1,2}[.)]\s*[\"'(]*$")
"""The number of a list item."""
_WORD = Pattern(r"[^\W_]")


def read_page(page: Page, options: Options, inner: list[tuple[Wrapped, ChoiceReading]]) -> ChoiceReading:
    """Return the reading of a cleaned reply; `inner` has the readings of its containers, blanked in the page."""
    groups = _judged(page, options)
    said = _statements(groups, page)
    said += [_from_container(*one) for one in inner]
    said.sort(key=lambda g: g.start)
    if said and _goes_round(said, page):
        named = " and ".join(sorted(frozenset().union(*(g.letters for g in said))))
        return no_answer("loop", (said[0].start, said[-1].stop), f"declares {named} in turn and breaks off")
    if said:
        return _settle(said, groups, page, options)
    return _without_declaration(groups, page, options)


def _from_container(container: Wrapped, reading: ChoiceReading) -> Group:
    letters = frozenset(reading.letter or ())
    label = Mention(letters, container.start, container.end, container.end, "label", marked=True)
    return Group([label], "declared", final=True, reading=reading)


def _judged(page: Page, options: Options) -> list[Group]:
    groups = group(find_mentions(page, options), page)
    text = page.shown
    end = len(text.rstrip())
    last_line = page.line(end, end)
    first = len(text) - len(text.lstrip())
    for one in groups:
        judge(one, page, last_line, first)
    return groups


def _statements(groups: list[Group], page: Page) -> list[Group]:
    """Return the groups that state an answer, in order."""
    said = [g for i, g in enumerate(groups) if g.role in _SAID and not _lists_on(groups[:i], g, page)]
    lines = [g for g in said if g.role in ("own_line", "leading") and g.members[0].kind != "text"]
    headed = {k for g in groups if _heads(g, page) for k in g.letters}
    if len(headed.union(*(g.letters for g in lines))) > 1:
        # Labels as headings of an analysis of each option state nothing; the one on the last line can be a statement.
        said = [g for g in said if g not in lines or (g.final and g.role == "own_line") or _stands(g, lines, page)]
    said = [g for g in said if not _is_item(g, groups, page)]
    return [g for g in said if not (g.role == "own_line" and g.members[0].kind == "text" and not g.final)]


def _is_item(one: Group, groups: list[Group], page: Page) -> bool:
    """Whether a text is one of several in a numbered list ("1. cat 2. bird")."""
    if not _numbered(one, page):
        return False
    return any(g.letters != one.letters and _numbered(g, page) for g in groups)


def _numbered(one: Group, page: Page) -> bool:
    return (
        one.role in ("own_line", "named", "leading")
        and _ITEM.search(page.low[max(0, one.start - 8) : one.start]) is not None
    )


def _lists_on(earlier: list[Group], one: Group, page: Page) -> bool:
    """Whether a lone label is only the next item of a list of options ("- (A) red: no", "- (B) blue")."""
    before = next((g for g in reversed(earlier[-8:]) if _is_label(g)), None)
    if before is None or one.role != "own_line" or page.low[before.stop : one.start].count("\n") != 1:
        return False
    if not _is_label(one) or max(before.letters) >= min(one.letters):
        return False
    return page.only_before(page.line(before.start, before.stop)[0], before.start, " \t-*([")


def _stands(line: Group, lines: list[Group], page: Page) -> bool:
    """Whether a lone label contradicts the last line: it opens the reply, or it is directly above the last line."""
    last = lines[-1]
    if line is last or line.letters == last.letters or any(m.stop > m.end for m in line.members):
        return False
    opens = line is lines[0] and not page.low[: line.start].strip(" \n\t\"'*(") and line.role == "own_line"
    close = _WORD.search(page.low, line.stop, last.start) is None
    return last.final and (close or (opens and len({k for g in lines for k in g.letters}) == 2))


def _heads(one: Group, page: Page) -> bool:
    """Whether the group is a label with a delimiter that opens a sentence ("A. The car ... B. The car ...")."""
    first = one.members[0]
    if first.kind != "label" or one.echo or page.shown[first.end : first.end + 1] not in (".", ")", ":"):
        return False
    return page.only_before(page.sentence(first.start, first.end)[0], first.start, " \t-*(")


def _settle(said: list[Group], groups: list[Group], page: Page, options: Options) -> ChoiceReading:
    last = said[-1]
    span = (last.members[0].start, last.members[-1].stop)
    if last.reading is not None and last.reading.outcome != "letter":
        return last.reading
    problem = _problem_within(last, options)
    if problem:
        return ambiguous(problem[0], span, problem[1])
    (letter,) = last.letters
    if letter not in options:
        detail = f"{letter} is not among the options"
        return no_answer("outside_options", span, detail)
    rival = next((g for g in reversed(said[:-1]) if g.letters != last.letters and not _replaced(g, last, page)), None)
    if rival is None and said[0].role == "leading" and said[0].letters != last.letters:
        rival = None if _replaced(said[0], last, page) else said[0]
    if rival is not None:
        named = " and ".join(sorted(rival.letters | last.letters))
        return ambiguous("several_answers", (rival.start, last.stop), f"declares {named}")
    undone = _undone(last, letter, groups, page, options)
    if undone is not None:
        return undone
    earlier = next((g for g in reversed(said[:-1]) if g.letters != last.letters), None)
    detail = f"declares {', '.join(sorted(earlier.letters))}, then withdraws it for {letter}" if earlier else ""
    rule = last.reading.rule if last.reading else _rule_name(last)
    span = (last.reading.span if last.reading else None) or span
    return read_as(letter, rule, span, detail)


def _goes_round(said: list[Group], page: Page) -> bool:
    """Whether a reply returns to an option after leaving it for another, and then ends in mid-sentence."""
    turns = [g.letters for i, g in enumerate(said) if not i or g.letters != said[i - 1].letters]
    rest = page.shown[said[-1].stop :].rstrip()
    return len(turns) > len(set(turns)) and (rest[-1:].isalnum() or rest.endswith((",", "-", "(")))


def _rule_name(one: Group) -> str:
    if one.members[0].kind == "text":
        return "option_text"
    if one.members[0].kind == "ordinal":
        return "ordinal"
    return {"declared": "declaration", "concluded": "conclusion"}.get(one.role, one.role)


def _problem_within(one: Group, options: Options) -> tuple[str, str] | None:
    """Return (rule, detail) if one statement does not name exactly one option, else None."""
    for mention in one.members:
        if mention.conflict:
            return "letter_and_text_disagree", f"names {'/'.join(mention.letters)} with the text of {mention.conflict}"
    if len(one.letters) > 1:
        kinds = {m.kind for m in one.members}
        rule = "letter_and_text_disagree" if len(kinds) > 1 else "several_answers"
        return rule, f"names {' and '.join(sorted(one.letters))}"
    (letter,) = one.letters
    other = options.named_letters.get(letter)
    if other and one.members[0].kind == "label" and not any(m.marked for m in one.members):
        return "letter_is_a_text", f"names option {letter}, or option {other}, whose text is that letter"
    return None


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
    gap = len(re.sub(r"[\W_]+", "", page.low[start : min(end, start + 1000)]))
    if gap < _NEAR or earlier.role == "leading":
        return False
    return (last.final and not earlier.final) or gap >= _FAR // 2


def _undone(last: Group, letter: str, groups: list[Group], page: Page, options: Options) -> ChoiceReading | None:
    """Return why the last statement is not the answer: it is denied, withdrawn or left open afterwards; else None."""
    later = [g for g in groups if g.start >= last.stop]
    denial = next((g for g in later if g.role == "denied" and g.letters == last.letters and _is_label(g)), None)
    if denial is not None:
        return ambiguous("denied_later", (last.start, denial.stop), f"declares {letter} and denies it")
    reach = later[0].start if later else len(page.low)
    back = say.WITHDRAWN.search(page.low[last.stop : min(reach, last.stop + 250)])
    if back is not None:
        return no_answer("withdrawn", (last.start, last.stop + back.end()), f"declares {letter}, then withdraws it")
    if not last.final and last.start > _SHORT and _breaks_off(page, last.stop):
        return no_answer("breaks_off", (last.start, last.stop), f"declares {letter}, goes on and breaks off")
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


def _is_label(one: Group) -> bool:
    return one.members[0].kind != "text"


def _without_declaration(groups: list[Group], page: Page, options: Options) -> ChoiceReading:
    remaining = None if page.breaks_off else _left_by_elimination(groups, options)
    if remaining is not None:
        return remaining
    refusal = say.REFUSED.search(page.low)
    if refusal is not None and not _is_an_option(groups, page, options):
        span = refusal.span()
        return no_answer("refusal", span, "says that it has no answer")
    listed = [g for g in groups if _numbered(g, page)]
    letters = frozenset().union(*(g.letters for g in listed))
    if len(letters) > 1 and len(page.low.strip()) <= _SHORT:
        span = (listed[0].start, listed[-1].stop)
        if letters == set(options.letters):
            return no_answer("echo", span, "repeats the options")
        return ambiguous("several_answers", span, f"lists {' and '.join(sorted(letters))}")
    if len(page.low.strip()) <= _SHORT and say.ALL_OF_THEM.fullmatch(page.low):
        return ambiguous("several_answers", (0, len(page.low)), "names all options")
    return _only_label(groups, page, options) or read_statement(page, options, groups, 0) or no_answer("nothing_read")


def _left_by_elimination(groups: list[Group], options: Options) -> ChoiceReading | None:
    """Return the one option that is left if all others are denied."""
    denied = [g for g in groups if g.role == "denied"]
    out = frozenset().union(*(g.letters for g in denied))
    left = [k for k in options.letters if k not in out]
    if not denied or len(left) != 1 or len(out & set(options.letters)) != len(options.letters) - 1:
        return None
    span = (denied[0].start, denied[-1].stop)
    return ChoiceReading(
        outcome="letter", letter=left[0], rule="elimination", span=span, detail="all others are denied"
    )


def _is_an_option(groups: list[Group], page: Page, options: Options) -> bool:
    """Whether the words of a refusal are an option's own text ("None of the above")."""
    worded = [k for k, t in options.low.items() if say.REFUSED.search(t)]
    return any(g.letters & set(worded) for g in groups) and len(page.low) < _SHORT


def _only_label(groups: list[Group], page: Page, options: Options) -> ChoiceReading | None:
    """Read a short reply by the only letter that it names; `ambiguous` if it names several."""
    is_short = len(page.low.strip()) <= _SHORT and not page.breaks_off
    labels = [g for g in groups if is_short and _is_label(g) and g.role != "denied" and not _loose(g)]
    labels = [g for g in labels if g.letters & set(options.letters) and not _asked(g, page)]
    if not labels:
        return None
    span = (labels[0].start, labels[-1].stop)
    letters = frozenset().union(*(g.letters for g in labels))
    if len(labels) == 1 and labels[0].echo and letters == set(options.letters):
        worded = read_statement(page, options, [g for g in groups if g.start >= labels[0].stop], labels[0].stop)
        if worded is not None:
            return worded
        return no_answer("echo", span, "repeats the options")
    if len(letters) > 1:
        return ambiguous("several_letters", span, f"names {' and '.join(sorted(letters))}")
    problem = _problem_within(labels[0], options)
    if problem:
        return ambiguous(problem[0], span, problem[1])
    return read_as(next(iter(letters)), "only_letter", span)


def _asked(one: Group, page: Page) -> bool:
    start, end = page.sentence(one.start, one.stop)
    return page.low[start:end].rstrip().endswith("?") and say.QUESTION.match(page.low, start) is not None


def _loose(one: Group) -> bool:
    return all(m.shaky for m in one.members)
