"""The statements of a reply that count as its answers: which groups state one, and which are about this question."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from grader.scorers.choice.careful import wordings as say
from grader.scorers.choice.careful.groups import Group
from grader.scorers.choice.careful.mentions import Mention
from grader.scorers.choice.careful.options import tokens
from grader.scorers.choice.reading import ChoiceReading, no_answer
from grader.scorers.patterns import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.scorers.choice.careful.options import Options
    from grader.scorers.choice.careful.text import Page
    from grader.scorers.containers import Wrapped

_SAID = ("declared", "concluded", "own_line", "leading")
REASONED = 80
"""Fewer letters and digits than this before an answer are no reasoning."""
_ITEM = Pattern(r"(?:^|\s)\d{1,2}[.)]\s*[\"'(]*$")
"""The number of a list item."""
_LINE_LABEL = Pattern(r"[ \t*(\[-]*([a-z])[.):\]]")
_SHORT_WORD = 3
_WORD = Pattern(r"[^\W_]")
NO_WORD = Pattern(r"[\W_]+")


def _from_container(container: Wrapped, reading: ChoiceReading) -> Group:
    letters = frozenset(reading.letter or ())
    label = Mention(letters, container.start, container.end, container.end, "label", marked=True)
    return Group([label], "declared", form=True, final=True, reading=reading)


def _refusals(page: Page, options: Options, most: int = 20) -> Iterator[Group]:
    """Yield the statements that refuse an answer ("I cannot tell"), unless an option is such a statement."""
    refused = list(islice(say.FORM_REFUSED.finditer(page.low), most))
    if refused and any(say.REFUSED.search(text) for text in options.low.values()):
        return
    for m in refused:
        start, end = m.start(), page.sentence(*m.span())[1]
        reading = no_answer("refusal", (start, end), "says that it has no answer")
        label = Mention(frozenset(), start, end, end, "label", marked=True)
        yield Group([label], "declared", form=True, final=True, reading=reading)


def statements(groups: list[Group], page: Page, options: Options) -> list[Group]:
    """Return the groups that state an answer, in order."""
    told = [g for g in groups if g.role in _SAID and not _lists_on(g, page)]
    lines = [g for g in told if g.role in ("own_line", "leading") and g.members[0].kind != "text"]
    headed = {k for g in groups if _heads(g, page) for k in g.letters}
    if len(headed.union(*(g.letters for g in lines))) > 1:
        # Labels as headings of an analysis of each option state nothing; the one on the last line can be a statement.
        told = [g for g in told if g not in lines or (g.final and g.role == "own_line") or _stands(g, lines, page)]
    told = [g for g in told if not _is_item(g, groups, page)]
    texts = [g for g in groups if g.role in ("own_line", "leading") and not g.is_label]
    if len(texts) > 1 and [min(g.letters) for g in texts] == options.letters:
        told = [g for g in told if g not in texts]  # all options, one a line
    return [g for g in told if not (g.role == "own_line" and g.members[0].kind == "text" and not g.final)]


def answers(told: list[Group], inner: list[tuple[Wrapped, ChoiceReading]], page: Page, options: Options) -> list[Group]:
    """Return the statements that count, in order, with those of containers (`inner`) and that no answer is right."""
    claims = [*told, *(_from_container(*inside) for inside in inner), *_refusals(page, options)]
    claims.sort(key=lambda g: g.start)
    claims = [g for g in claims if not (g.letters and claims[-1].letters and _is_its_text(g, claims[-1], options))]
    return _strongest(_of_this_question(claims, page, options), page, options)


def _strongest(told: list[Group], page: Page, options: Options) -> list[Group]:
    """Drop weaker statements before an answer in the form of one, and letters that are no options beside real ones."""
    real = [g for g in told if g.reading or g.letters & set(options.letters)]
    told = real if real and not (told[-1].form and told[-1] not in real) else told
    last = max((i for i, g in enumerate(told) if g.form), default=0)
    if not told or not told[last].form:
        return told
    return [
        g
        for i, g in enumerate(told)
        if g.form or (i > last and not _is_aside(g)) or (g.role == "leading" and _answers_first(g, told[last], page))
    ]


def _answers_first(group: Group, form: Group, page: Page) -> bool:
    """Whether what opens a reply is an answer beside a later one in the form of one, and no item or fact to begin with.

    It has no reasoning behind it, or it is a label alone on its line or with its option's own text. "A: Let us see"
    opens the answer of a few-shot prompt.
    """
    rest = page.low[group.stop : page.line(group.start, group.stop)[1]]
    bare = all(m.stop == m.end for m in group.members)
    if group.letters == {"A"} and rest.startswith(":") and rest.strip(": ") and bare:
        return False
    if len(NO_WORD.sub("", page.low[group.stop : form.start][:2000])) < REASONED:
        return True
    alone = page.only_after(group.stop, page.line(group.start, group.stop)[1], " \t.,:)]*\"'")
    return group.is_label and (alone or any(m.stop > m.end for m in group.members))


def _is_aside(group: Group) -> bool:
    """Whether an option's text merely stands alone: behind an answer it is the answer to something else."""
    return group.role == "own_line" and not group.is_label


def _is_its_text(group: Group, last: Group, options: Options) -> bool:
    """Whether a letter is the text of the option that the reply answers with last ("it is point C. Answer: A")."""
    return group is not last and {options.named_letters.get(k) for k in group.letters} == last.letters


def _of_this_question(claims: list[Group], page: Page, options: Options) -> list[Group]:
    """Drop answers without reasoning beside one that has reasoning: earlier ones are examples, later ones go on.

    A base model repeats the answers of its examples before its own, and continues with answers to other questions.
    """
    if len({g.letters for g in claims}) < 2:
        return claims
    starts = [*(g.start for g in claims[1:]), page.end + 1]
    foreign = [_is_foreign(g, after, page, options) for g, after in zip(claims, starts, strict=True)]
    own = [g for g, other in zip(claims, foreign, strict=True) if not other]
    if not any(g.form and g.letters for g in own):
        foreign, own = [False] * len(claims), claims
    standing, reasoned, done = [], [], 0
    for group, other in zip(claims, foreign, strict=True):
        between = page.low[done : group.start]
        done = _end_of_label(group, page)
        if other:
            continue
        work = len(NO_WORD.sub("", between[-2000:])) >= REASONED
        if work and group.form and (group.letters or group.reading is None):
            reasoned.append(group)
        stands = not group.form or not group.letters or work or (reasoned and "\n" not in between)
        if stands or say.RECONSIDERED.search(between) or say.INSISTS.search(between):
            standing.append(group)
    return standing if reasoned else own


def _is_foreign(group: Group, after: int, page: Page, options: Options) -> bool:
    """Whether the rest of a label's line is a text with no word of its option or of the question: "B. cognitive"."""
    label = group.members[-1]
    (letter, *more) = sorted(group.letters) or [""]
    if (
        more
        or group.reading
        or not group.is_label
        or label.stop > label.end
        or page.low[group.stop : group.stop + 2] != ". "
    ):
        return False
    end = page.line(group.stop, group.stop)[1]
    rest = page.low[group.stop : end]
    if after < end or say.RECONSIDERED.search(rest):
        return False
    text = {word for word in tokens(rest) if len(word) > _SHORT_WORD} or set(tokens(rest))
    known = {*options.words.get(letter, ()), *tokens(options.question)}
    return bool(text) and bool(known) and not (text & known)


def _end_of_label(group: Group, page: Page) -> int:
    """Return where a label ends with the text that follows it as its option's: "H. cognitive"."""
    follows = page.shown[group.stop - 1 : group.stop].isalpha() and page.low[group.stop : group.stop + 2] == ". "
    return page.line(group.stop, group.stop)[1] if follows else group.stop


def _is_item(group: Group, groups: list[Group], page: Page) -> bool:
    """Whether a text is one of several in a numbered list ("1. cat 2. bird")."""
    if not numbered(group, page):
        return False
    return any(g.letters != group.letters and numbered(g, page) for g in groups)


def numbered(group: Group, page: Page) -> bool:
    """Whether a group follows the number of a list's item."""
    return (
        group.role in ("own_line", "named", "leading")
        and _ITEM.search(page.low[max(0, group.start - 8) : group.start]) is not None
    )


def _lists_on(group: Group, page: Page) -> bool:
    """Whether a lone label is only the next item of a list of options ("- (A) red: no", "- (B) blue")."""
    if group.role != "own_line" or not group.is_label:
        return False
    here = page.line(group.start, group.stop)[0]
    above = _LINE_LABEL.match(page.low, page.line(here - 1, here - 1)[0]) if here else None
    return above is not None and above[1].upper() < min(group.letters)


def _stands(line: Group, lines: list[Group], page: Page) -> bool:
    """Whether a lone label contradicts the last line: it opens the reply, or it is directly above the last line."""
    last = lines[-1]
    if line is last or line.letters == last.letters or any(m.stop > m.end for m in line.members):
        return False
    opens = line is lines[0] and not page.low[: line.start].strip(" \n\t\"'*(") and line.role == "own_line"
    close = _WORD.search(page.low, line.stop, last.start) is None
    return last.final and (close or (opens and len({k for g in lines for k in g.letters}) == 2))


def _heads(group: Group, page: Page) -> bool:
    """Whether the group is a label with a delimiter that opens a sentence ("A. The car ... B. The car ...")."""
    first = group.members[0]
    if first.kind != "label" or group.echo or page.shown[first.end : first.end + 1] not in (".", ")", ":"):
        return False
    return page.only_before(page.sentence(first.start, first.end)[0], first.start, " \t-*(")
