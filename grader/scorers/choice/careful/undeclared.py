"""Replies that declare no answer: what is left, the only or the last label, the closing statement."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from grader.scorers.choice.careful import wordings as say
from grader.scorers.choice.careful.groups import problem_within
from grader.scorers.choice.careful.statement import read_statement
from grader.scorers.choice.careful.statements import numbered
from grader.scorers.choice.careful.yes_no import read_yes_or_no
from grader.scorers.choice.reading import ChoiceReading, ambiguous, no_answer, read_as

if TYPE_CHECKING:
    from grader.scorers.choice.careful.groups import Group
    from grader.scorers.choice.careful.options import Options
    from grader.scorers.choice.careful.text import Page

_SHORT = 400
_REACH = 100
_NOTHING = (
    "no declared answer, no box or tag, no single letter, text or value of an option, and no closing statement with one"
)


def read_undeclared(groups: list[Group], page: Page, options: Options) -> ChoiceReading:
    """Return the reading of a reply that declares no answer."""
    certain = _declared_content(page, options) or _left_by_elimination(groups, page, options)
    if certain is not None:
        return certain
    refusal = say.REFUSED.search(page.low)
    if refusal is not None and not _is_an_option(groups, page, options):
        span = refusal.span()
        return no_answer("refusal", span, "says that it has no answer")
    listed = [g for g in groups if numbered(g, page)]
    letters = frozenset().union(*(g.letters for g in listed))
    if len(letters) > 1 and len(page.low.strip()) <= _SHORT:
        span = (listed[0].start, listed[-1].stop)
        if letters == set(options.letters):
            return no_answer("echo", span, "repeats the options")
        return ambiguous("several_answers", span, f"lists {' and '.join(sorted(letters))}")
    if len(page.low.strip()) <= _SHORT and say.ALL_OF_THEM.fullmatch(page.low):
        return ambiguous("several_answers", (0, len(page.low)), "names all options")
    return (
        _only_label(groups, page, options)
        or _closing_label(groups, page)
        or _absent(groups, page, options)
        or read_statement(page, options, groups, 0)
        or read_yes_or_no(page, options)
        or no_answer("nothing_read", None, _NOTHING)
    )


def _declared_content(page: Page, options: Options, most: int = 30) -> ChoiceReading | None:
    """Read the words after the last "the answer is" as a whole, if they are an option's text or its value."""
    for m in reversed(deque(say.FORM.finditer(page.low), most)):
        end = min(page.line(m.end(), m.end())[1], m.end() + 2 * options.longest + 60)
        said = page.shown[m.end() : end]
        if page.low[slice(*page.sentence(m.end(), m.end()))].rstrip().endswith("?"):
            continue
        same = options.same_text(said) or options.same_text(page.shown[m.end() : page.sentence(m.end(), m.end())[1]])
        if (alone := said.strip(" .*()\n")) in options:
            return read_as(alone, "declaration", (m.end(), max(m.end() + 1, end)))  # a letter, also where it is a text
        if len(same) == 1:
            return read_as(same[0], "option_text", (m.end(), max(m.end() + 1, end)))
    return None


def _absent(groups: list[Group], page: Page, options: Options) -> ChoiceReading | None:
    """Read the only option that a short reply denies, if the question asks for what is not there."""
    if len(page.low.strip()) > _SHORT or page.breaks_off or not say.NEGATED_QUESTION.search(options.question):
        return None
    texts = [g for g in groups if not g.is_label]
    denied = frozenset().union(*(g.letters for g in texts if g.role == "denied"))
    if len(denied) != 1 or not all(g.letters == denied for g in texts if g.role == "denied"):
        return None
    first = next(g for g in texts if g.role == "denied")
    return read_as(next(iter(denied)), "absent", (first.start, first.stop))


def _left_by_elimination(groups: list[Group], page: Page, options: Options) -> ChoiceReading | None:
    """Return the one option that is left if all others are denied."""
    if page.breaks_off:
        return None
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
    labels = [g for g in groups if is_short and g.is_label and g.role != "denied"]
    labels = [g for g in labels if not all(m.shaky for m in g.members)]
    labels = [g for g in labels if g.letters & set(options.letters) and not _asked(g, page)]
    labels = [g for g in labels if not say.SUPPOSED_BEFORE.search(page.low[max(0, g.start - _REACH) : g.start])]
    if any(_has_text(g) for g in labels):
        # A label with its option's text is certain; bare letters beside it are names ("Company D").
        labels = [g for g in labels if _has_text(g) or any(m.marked for m in g.members)]
    if not labels:
        return None
    span = (labels[0].start, labels[-1].stop)
    beside = (m.letters for g in groups if not g.is_label for m in g.members if m.kind == "label")
    letters = frozenset().union(*(g.letters for g in labels), *beside)
    if len(labels) == 1 and labels[0].echo and letters == set(options.letters):
        worded = read_statement(page, options, [g for g in groups if g.start >= labels[0].stop], labels[0].stop)
        if worded is not None:
            return worded
        return no_answer("echo", span, "repeats the options")
    if len(letters) > 1:
        return ambiguous("several_letters", span, f"names {' and '.join(sorted(letters))}")
    problem = problem_within(labels[0])
    if problem:
        return ambiguous(problem[0], span, problem[1])
    return read_as(next(iter(letters)), "only_letter", span)


def _closing_label(groups: list[Group], page: Page) -> ChoiceReading | None:
    """Read the label with which a reply ends, if it has its option's own text and no other label has."""
    texted = [g for g in groups if g.is_label and _has_text(g)]
    if not texted or texted[-1].role != "named" or len({k for g in texted for k in g.letters}) != 1:
        return None
    last = texted[-1]
    if not page.only_after(last.stop, page.end, " .*)!\"'\n"):
        return None
    return read_as(next(iter(last.letters)), "closing_label", (last.start, last.stop))


def _has_text(one: Group) -> bool:
    """Whether an option's own text follows its label."""
    return any(m.stop > m.end and not m.conflict for m in one.members)


def _asked(one: Group, page: Page) -> bool:
    start, end = page.sentence(one.start, one.stop)
    return page.low[start:end].rstrip().endswith("?") and say.QUESTION.match(page.low, start) is not None
