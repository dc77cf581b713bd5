"""Find where a reply names an option, by letter, number or text, and what it says about the option there."""

# Foreign words are what this file is about, and lists of words read best as words.
# ruff: noqa: RUF001, SIM905

from __future__ import annotations

import re
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.scorers.choice.careful import wordings as say
from grader.scorers.choice.careful.patterns import Pattern
from grader.scorers.choice.reading import ChoiceReading

if TYPE_CHECKING:
    from grader.scorers.choice.careful.options import Options
    from grader.scorers.choice.careful.text import Page

Role = Literal["declared", "concluded", "own_line", "leading", "denied", "doubted", "listed", "named"]

_WORDY = "A-Za-z0-9_\u00c0-\u024f\u0370-\u03ff\u0400-\u052f"
_LABEL = Pattern(
    rf"(?<![{_WORDY}])[(\[{{<]\s?(?P<low1>[a-z])\s?[)\]}}>]|[(\[{{<\"']\s?(?P<up1>[A-Z])\s?[)\]}}>\"']"
    rf"|(?<![{_WORDY}'°])(?<!\w\.)(?P<up>[A-Z])(?![{_WORDY}#°]|\+(?:\+|\s|$|[.,;!?)])|'(?!s\b|d[iıuü]r|t[iıuü]r)[{_WORDY}]|"
    rf"-[{_WORDY}]|\.[A-Z]\b)"
    r"|(?:(?<=option )|(?<=choice )|(?<=answer ))(?P<low3>[b-z]|a(?= (?:is|was|seems|because|matches)\b))"
    rf"(?![{_WORDY}'-])"
    rf"|(?<![{_WORDY}'°./-])(?P<low2>[a-z])(?=\s*(?:$|[).,:;!?\]}}\"'\n。]))(?!\.[a-z])"
)
_ORDINAL = Pattern(
    r"\b(?:option|choice|answer|alternative|opción|antwort|réponse)(?:\s{1,3}(?:number|"
    r"no\.?))?\s{0,3}#?\s?(?P<digit>[1-9])(?![\w%]|[.,]\d)"
    r"|\b(?P<word>first|second|third|fourth|fifth|erste|zweite|dritte|vierte|première|deuxième|troisième|"
    r"quatrième|primera|segunda|tercera|cuarta)"
    r"\s{1,3}(?:option|choice|answer|one|alternative|antwort|réponse|opción|respuesta)\b"
    r"|第(?P<han>[一二三四五1-5])[个個]?(?:选项|選項|答案|项)"
)
_RANK = {
    **dict(zip("123456789", range(9), strict=True)),
    **dict(zip("一二三四五", range(5), strict=True)),
    **dict(zip(("first", "second", "third", "fourth", "fifth"), range(5), strict=True)),
    **dict(zip(("erste", "zweite", "dritte", "vierte"), range(4), strict=True)),
    **dict(zip(("première", "deuxième", "troisième", "quatrième"), range(4), strict=True)),
    **dict(zip(("primera", "segunda", "tercera", "cuarta"), range(4), strict=True)),
}
_VERBS = frozenset(
    "is isn't was are aren't would should must can cannot can't could does doesn't has have seems appears "
    "looks matches match fits fit describes depicts shows represents corresponds because since and or but "
    "nor not it though although might may will remains works indicates refers contains states mentions "
    "says makes suggests gives ist wäre weil und oder aber passt stimmt est et ou car parce semble mais "
    "es y o porque corresponde parece pero è perché corrisponde é ou является и или верно верный "
    "правильный als ainsi oraz lub ve veya và hoặc şıkkı şıkkıdır şıkkını seçeneği seçeneğidir seçeneğini".split()
)
_AFTERWORDS = frozenset(
    "as for which with best correctly accurately clearly definitely most correct right wrong incorrect "
    "only too also here there rather over than if due given based in from instead again on by to all "
    "final answer please obviously".split()
)
_NAMED_THINGS = Pattern(
    r"\b(?:vitamins?|points?|plan|figure|fig\.?|panel|team|groups?|types?|class|grade|room|gate|section|"
    r"part|person|object|lines?|"
    r"angle|side|box|region|area|hepatitis|images?|pictures?|photo|player|car|building|solutions?|"
    r"magnets?|samples?|pairs?|terminal|block|"
    r"zone|exit|level|row|column|step|appendix|table|chart|graph|diagram|map|city|country|house|item|lane|bus|route|"
    r"appendix|version|model|series|drive|disk|minor|major|variable|circle|triangle|shape|arrow|location|"
    r"position)\s+$"
)
_READ_THERE = Pattern(r"\b(?:says|reads|spells|written|printed|labell?ed|lettering)\s+(?:the letter\s+)?[\"']$")
"""Text on a thing in the picture: "the box says 'B'"."""
_OPTION_WORD = Pattern(
    r"(?:\b(?:option|choice|letter|answer|opción|opzione|opção|alternativa|letra|lettera|lettre|antwort|"
    r"buchstabe|вариант|réponse|optie|opcja|pilihan|đáp án)s?|选项|選項|選択肢|선택지|보기)\s*[\"'(\[]*$"
)
_NEXT_WORD = Pattern(r"[ \t]+([^\W\d_][^\W\d_']*(?:'\w+)?)")
_CLOSERS = Pattern(r"[\s\"'*)\]}>]{0,8}")
_DELIMITED = Pattern(
    r"[ \t\"'*)\]}>]{0,6}(?P<delim>[.):,=|-]|\s-|(?:is|was|says|reads|ist|est|es|è|é)(?= )|是)?"
    r"[ \t\"'(*\[{:=-]{0,6}(?:(?<= )(?:the|an?) )?"
)
_CLAUSE_STOP = Pattern(r"[ \t\"'*)\]}]*(?:$|[.,;!?\n。(]|-\s)")
_LINE_BEFORE = Pattern(r"[\s\"'(\[{<*>:.=-]*$")
_LINE_AFTER = Pattern(r"[\s\"')\]}>*.,;!。=-]*$")
_LEAD_AFTER = Pattern(
    r"[ \t\"')\]}>*]*(?:[.):,;!。-]|\n|$|because\b|since\b|as\b|for\b|weil\b|car\b|porque\b|因为)", re.IGNORECASE
)
_LEAD_TEXT_AFTER = Pattern(r"[ \t\"')\]}>*]*(?:[.:,;!。]|\n|$|\s-|because\b|since\b)", re.IGNORECASE)
_MANY = Pattern(r"\b(?:each|every|all|these|following|options|choices|one by one)\b")
_OPTIONS_FOLLOW = Pattern(r"\b(?:options?|choices?)(?: are)?[ \t]*:[ \t]*$")
_MOST = 1500
_REACH = 140
_ASKED = 24
"""Maximum length, in characters, of a short question and of the answer to it."""


class Mention(msgspec.Struct):
    """One place where a reply names an option."""

    letters: frozenset[str]
    start: int
    end: int
    """End of the label or text itself."""
    stop: int
    """End including the option's own text, if it follows the label."""
    kind: Literal["label", "ordinal", "text"]
    marked: bool = False
    """It is certainly a label: bracketed, after "option", or followed by a delimiter or its own text."""
    conflict: str | None = None
    """Another option whose text follows the label."""
    shaky: bool = False
    """A bare capital before a word that is not a verb, or a common word: used only if it is declared."""
    role: Role = "named"


def find_mentions(page: Page, options: Options) -> list[Mention]:
    """Return the mentions in order. A text that belongs to a label is merged into it; roles are not set yet."""
    places = options.occurrences(page.low)
    labels = _labels(page, options)
    # "Point B", "Both A and B": a label inside a longer option text is part of that text.
    covers = [(s, e, k) for s, e, k in places if e - s > 2]
    found = [m for m in labels if not _covered(m, covers)] if covers else labels
    taken = [(m.start, m.stop) for m in found if m.stop > m.end]
    found += _texts(options, places, taken)
    found += _ordinals(page, options)
    found.sort(key=lambda m: (m.start, m.kind != "label"))
    if len(found) > _MOST:
        found = found[:100] + found[100 - _MOST :]
    return found


def _covered(label: Mention, covers: list[tuple[int, int, str]]) -> bool:
    """Whether a longer option text contains the label (binary search would not pay: few texts, few labels)."""
    for start, end, _ in covers:
        if start > label.start:
            return False
        if start <= label.start and label.end <= end and (label.start > start or label.end < end):
            return True
    return False


def _labels(page: Page, options: Options) -> list[Mention]:
    found = []
    matches = _LABEL.finditer(page.shown)
    # All matches of a reply of many megabytes would be gigabytes.
    for m in [*islice(matches, 100), *deque(matches, _MOST - 100)]:
        mention = _label(m, page, options)
        if mention is not None:
            found.append(mention)
    return found


def _label(m: re.Match[str], page: Page, options: Options) -> Mention | None:
    """Return the mention for a lone letter; None if it is an article, a pronoun or part of a name."""
    shown, low = page.shown, page.low
    letter = m[m.lastgroup or 0].upper()
    start, end = m.span()
    left = low[max(0, start - 40) : start]
    marked = m.lastgroup in ("up1", "low1") or _OPTION_WORD.search(left) is not None
    if m.lastgroup in ("low1", "low2", "low3") and not (
        letter in options and (marked or _lower_case_label(left, start, len(low.rstrip())))
    ):
        return None
    shaky = False
    if m.lastgroup == "up":
        word = _NEXT_WORD.match(shown, end)
        verdict = _before_word(letter, word[1] if word else "", marked)
        if verdict is None and not _own_text_follows(letter, end, page, options):
            return None
        shaky = verdict is False
        if not marked and _NAMED_THINGS.search(left):
            return None
    if _READ_THERE.search(left) or (m.lastgroup == "up1" and _READ_THERE.search(left + '"')):
        return None
    return _extended(Mention(frozenset(letter), start, end, end, "label", marked=marked, shaky=shaky), page, options)


def _lower_case_label(left: str, start: int, length: int) -> bool:
    """Whether a bare small letter is a label: it opens the reply or a line, or a declaration precedes it."""
    opens = not left.rpartition("\n")[2].strip(" -*") and (start < 40 or "\n" in left)
    # A long text that ends in a single small letter was cut off inside a word.
    cut = start > 100 and start + 1 >= length
    return opens or (not cut and bool(say.STRONG_BEFORE.search(left) or say.WEAK_BEFORE.search(left)))


def _before_word(letter: str, word: str, marked: bool) -> bool | None:
    """Classify a bare capital by the word after it: True a label, False uncertain, None an article or pronoun."""
    if letter == "I" and word:
        return True if marked else None
    if not word or word in _VERBS:
        return True
    if "Ѐ" <= word[0] < "\u0530" or (letter in "AEIOUY" and word[0] < "Ѐ"):
        return marked or None
    if word[0] >= "\u0530":  # a Latin capital before a word in another script: "C 选项", "C है"
        return True
    return marked or word in _AFTERWORDS or word[0].isupper()


def _own_text_follows(letter: str, end: int, page: Page, options: Options) -> bool:
    found = options.starting_at(page.low, end + 1) if end + 1 < len(page.low) else None
    if found is None:
        return False
    # "A dog" opens a sentence with an article; "A blue" cannot, and inside a sentence an article is lower-case.
    opens = page.only_before(page.sentence(end - 1, end)[0], end - 1, " \"'*(-")
    return found[0] == letter or not opens or options.takes_no_article(found[0])


def _extended(mention: Mention, page: Page, options: Options) -> Mention:
    """Include what follows a label: its own text extends the mention, another option's text is a conflict."""
    match = _DELIMITED.match(page.low, mention.end)
    if match is None or match.end() >= len(page.low):
        return mention
    (letter,) = mention.letters
    found = options.starting_at(page.low, match.end())
    if found is None:
        mention.marked = mention.marked or (match["delim"] or ",") in ").:"
        return mention
    if found[0] == letter or options.low.get(letter) == options.low[found[0]]:
        mention.stop, mention.marked, mention.shaky = found[1], True, False
        if found[1] - match.end() == 1 and page.low[match.end() - 1] == "(":
            # "B (A)" where A says "B" and B says "A": either can be the label.
            mention.conflict = options.named_letters.get(letter)
    elif match["delim"] != "|" and _CLAUSE_STOP.match(page.low, found[1]) and letter in options:
        mention.conflict, mention.stop = found[0], found[1]
    return mention


def _texts(options: Options, places: list[tuple[int, int, str]], taken: list[tuple[int, int]]) -> list[Mention]:
    found: list[Mention] = []
    next_taken = 0
    for start, end, letter in places:
        while next_taken < len(taken) and taken[next_taken][1] <= start:
            next_taken += 1
        if next_taken < len(taken) and taken[next_taken][0] <= start:
            continue
        if found and found[-1].start == start and found[-1].end == end:
            found[-1].letters |= {letter}
        elif len(options.texts[letter]) > 1 or not options.texts[letter].isascii() or options.texts[letter].isdigit():
            found.append(Mention(frozenset(letter), start, end, end, "text", shaky=letter in options.common))
    return found


def _ordinals(page: Page, options: Options) -> list[Mention]:
    found = []
    for m in _ORDINAL.finditer(page.low):
        said = m["digit"] or m["word"] or m["han"]
        rank = _RANK[said]
        said_by = [k for k, w in options.words.items() if said in w or any(t == str(rank + 1) for t in w)]
        if rank >= len(options.letters):
            continue
        letter = options.letters[rank]
        if said_by and m["word"]:
            continue
        conflict = next((k for k in said_by if k != letter), None)
        found.append(Mention(frozenset(letter), m.start(), m.end(), m.end(), "ordinal", marked=True, conflict=conflict))
    return found


class Group(msgspec.Struct):
    """Mentions that form one list ("A and B") and get one role."""

    members: list[Mention]
    role: Role = "named"
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
    def letters(self) -> frozenset[str]:
        """Every option named."""
        return frozenset().union(*(m.letters for m in self.members))


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
    for one in groups:
        texts = sum(m.stop > m.end for m in one.members)
        one.echo = len(one.letters) > 1 and texts >= len(one.members) - 1
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


def judge(one: Group, page: Page, last_line: tuple[int, int], first: int) -> None:
    """Set the group's role from the words around it; `first` is where the reply's text begins."""
    start, stop = one.start, one.stop
    left_end, right_end = page.sentence(start, stop)
    left = page.low[max(left_end, start - _REACH) : start]
    heading = _heading_before(page, left_end) if not left.strip(" -*\"'([{>") and left_end else ""
    left = heading + left
    right = page.low[stop : min(right_end, stop + _REACH)]
    if right.rstrip().endswith("?") and len(right) < _ASKED:
        right += page.low[right_end : right_end + _ASKED]  # "A? No." has its answer in the next sentence
    one.role = _role(one, left, right)
    if one.role == "doubted" and heading and _is_announced(one, page, heading):
        one.role = "declared"
    if one.role == "named":
        _judge_by_place(one, page, first)
    in_last_line = start >= last_line[0]
    one.final = bool(say.FINAL_BEFORE.search(left)) or (in_last_line and one.role == "own_line")


def _heading_before(page: Page, at: int) -> str:
    """Return the line before `at` if it announces something ("Answer:"), else an empty string."""
    above = page.low[max(0, at - _REACH) : at].rstrip().rpartition("\n")[2].rstrip(" \"'*")
    if _MANY.search(above):
        return ""
    return above + " " if above.endswith((":", "is", "是", "answer")) else ""


def _is_announced(one: Group, page: Page, heading: str) -> bool:
    """Whether a label is alone on its line, below a line such as "I will choose:"; doubts in that line are ignored."""
    choosing = say.STRONG_BEFORE.search(heading) and not say.DENIED_BEFORE.search(heading)
    if not choosing or one.members[0].kind != "label":
        return False
    first, last = page.line(one.start, one.stop)
    marks = " \t*\"'([{<)]}>.!"
    return page.only_before(first, one.start, marks) and page.only_after(one.stop, last, marks)


def _role(one: Group, left: str, right: str) -> Role:
    if say.ALL_BUT_BEFORE.search(left):
        return "declared" if say.DENIED_AFTER.match(right) else "denied"
    if say.DENIED_AFTER.match(right) or say.DENIED_BEFORE.search(left):
        return "denied"
    if one.echo or say.COMPARED_BEFORE.search(left):
        return "listed"
    if say.DOUBTED_BEFORE.search(left) or say.DOUBTED_AFTER.match(right):
        return "doubted"
    # A confirmed text ("the dog is right there") is not necessarily the answer; a confirmed label is.
    if one.members[0].kind == "text":
        return "declared" if say.TEXT_BEFORE.search(left) else "named"
    return "declared" if say.CONFIRMED_AFTER.match(right) else _role_by_left(one, left, right)


def _role_by_left(one: Group, left: str, right: str) -> Role:
    if say.STRONG_BEFORE.search(left):
        cut_off = any(m.shaky for m in one.members) and not say.CLAUSE_END.match(right)
        return "named" if cut_off else "declared"
    return "concluded" if say.WEAK_BEFORE.search(left) and say.CLAUSE_END.match(right) else "named"


def _judge_by_place(one: Group, page: Page, first: int) -> None:
    """Take a label or text for a statement if it is alone on its line, or at the very start before a delimiter."""
    line_start, line_end = page.line(one.start, one.stop)
    if line_end >= page.end and page.only_after(one.stop, line_end, " .*)!\"'"):
        line_start = max(line_start, page.sentence(one.start, one.stop)[0])
    is_short = one.start - line_start < 60 and line_end - one.stop < 60
    before, after = (page.shown[line_start : one.start], page.shown[one.stop : line_end]) if is_short else ("", "")
    if is_short and _LINE_BEFORE.fullmatch(before) and _LINE_AFTER.fullmatch(after):
        announced = page.low[max(0, line_start - _REACH) : line_start].removesuffix("\n")
        one.role = "listed" if _OPTIONS_FOLLOW.search(announced) else "own_line"
    elif one.start <= first + 3 and not page.shown[first : one.start].strip("\"'([{<*- "):
        pattern = _LEAD_TEXT_AFTER if one.members[0].kind == "text" else _LEAD_AFTER
        if pattern.match(page.shown, one.stop):
            one.role = "leading"
