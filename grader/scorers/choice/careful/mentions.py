"""Find where a reply names an option, by letter, number or text, and what it says about the option there."""

# Foreign words are what this file is about, and lists of words read best as words.
# ruff: noqa: RUF001, SIM905

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.scorers.choice.careful import wordings as say
from grader.scorers.choice.careful.options import bare
from grader.scorers.patterns import Pattern

if TYPE_CHECKING:
    import re

    from grader.scorers.choice.careful.options import Options
    from grader.scorers.choice.careful.text import Page

Role = Literal["declared", "concluded", "own_line", "leading", "denied", "doubted", "listed", "named"]

_WORDY = "A-Za-z0-9_\u00c0-\u024f\u0370-\u03ff\u0400-\u052f"
_LABEL = Pattern(
    rf"[(\[{{<](?<![{_WORDY}].)\s?(?P<low1>[a-z])\s?[)\]}}>]|[(\[{{<\"']\s?(?P<up1>[A-Z])\s?[)\]}}>\"']"
    rf"|[A-Z](?<![{_WORDY}'°].)(?<!\w\..)(?:(?<![A-Za-z]-.)|(?<=(?i:option|choice|answer|letter)-.))(?![{_WORDY}#°]|\+(?:\+|\s|$|[.,;!?)])|"
    rf"'(?!s\b|d[iıuü]r|t[iıuü]r)[{_WORDY}]|-[{_WORDY}]|\.[A-Z]\b)"
    rf"|[a-z](?<![{_WORDY}'°].)(?:(?<=(?:option|choice|answer) .)(?:(?<!a)|(?= (?:is|was|seems|because|matches)\b))"
    rf"(?![{_WORDY}'-])|(?<![./-].)(?=\s*(?:$|[).,:;!?\]}}\"'\n。]))(?!\.[a-z]))"
)
_ORDINAL = Pattern(
    r"\b(?:option|choice|answer|alternative|opción|antwort|réponse)(?:\s{1,3}(?:number|"
    r"no\.?))?\s{0,3}#?\s?(?P<digit>[1-9])(?![\w%]|[.,]\d)"
    r"|\b(?P<word>first|second|third|fourth|fifth|last|erste|zweite|dritte|vierte|première|deuxième|troisième|"
    r"quatrième|primera|segunda|tercera|cuarta)"
    r"\s{1,3}(?:option|choice|answer|one|alternative|antwort|réponse|opción|respuesta)\b"
    r"|\bthe (?P<of_two>former|latter)\b|第(?P<han>[一二三四五1-5])[个個]?(?:选项|選項|答案|项)"
)
_RANK = {
    **dict(zip("123456789", range(9), strict=True)),
    **dict(zip("一二三四五", range(5), strict=True)),
    "former": 0,
    "latter": 1,
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
    r"magnets?|samples?|pairs?|terminal|block|symbol|"
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
_DELIMITED = Pattern(
    r"[ \t\"'*)\]}>]{0,6}(?P<delim>[.):,=|-]|\s-|(?:is|was|says|reads|ist|est|es|è|é)(?= )|是)?"
    r"[ \t\"'(*\[{:=-]{0,6}(?:(?<= )(?:the|an?) )?"
)
_TIGHT = Pattern(r"[ \t\"'*)\]}>]{0,6}[.):,=|]?[ \t]{1,6}(?=[-(])")
_CLAUSE_STOP = Pattern(r"[ \t\"'*)\]}]*(?:$|[.,;!?\n。(]|-\s)")
_SYMBOL_AFTER = Pattern(r"'*[(\[](?!\s*$)|\s*(?:[<>≤≥≡∨∧·⊃∪∩×^]|[=≈]\s*[\w\\(+-])")
_SYMBOL_BEFORE = Pattern(r"[¬~≡∨∧·⊃∪∩×^≤≥]\s?$|\d[ \t]*$")
"""What joins a capital to a formula: a call, a relation, an operator, a number (then it is a unit)."""
_MOST = 1500


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


def find_mentions(page: Page, options: Options, *, with_values: bool = False) -> list[Mention]:
    """Return the mentions in order. A text that belongs to a label is merged into it; roles are not set yet."""
    places = options.occurrences(page.low, options.values_in(page.low) if with_values else [])
    labels = _labels(page, options)
    # "Point B", "Both A and B": a label inside a longer option text is part of that text.
    covers = [(s, e, k) for s, e, k in places if e - s > 2]
    mentions = [m for m in labels if not _covered(m, covers)] if covers else labels
    taken = [(m.start, m.stop) for m in mentions if m.stop > m.end]
    mentions += _texts(options, places, taken)
    mentions += _ordinals(page, options)
    mentions.sort(key=lambda m: (m.start, m.kind != "label"))
    if len(mentions) > _MOST:
        mentions = mentions[:100] + mentions[100 - _MOST :]
    return mentions


def _covered(label: Mention, covers: list[tuple[int, int, str]]) -> bool:
    """Whether a longer option text contains the label (binary search would not pay: few texts, few labels)."""
    for start, end, _ in covers:
        if start > label.start:
            return False
        if start <= label.start and label.end <= end and (label.start > start or label.end < end):
            return True
    return False


def _labels(page: Page, options: Options) -> list[Mention]:
    labels = []
    matches = _LABEL.finditer(page.shown)
    # All matches of a reply of many megabytes would be gigabytes.
    for m in [*islice(matches, 100), *deque(matches, _MOST - 100)]:
        mention = _label(m, page, options)
        if mention is not None:
            labels.append(mention)
    return labels


def _label(m: re.Match[str], page: Page, options: Options) -> Mention | None:
    """Return the mention for a lone letter; None if it is an article, a pronoun or part of a name."""
    shown, low = page.shown, page.low
    letter, is_small = m[m.lastgroup or 0].upper(), m[m.lastgroup or 0].islower()
    start, end = m.span()
    left = low[max(0, start - 40) : start]
    marked = m.lastgroup in ("up1", "low1") or _OPTION_WORD.search(left) is not None
    if is_small and not (
        letter in options and _lower_case_label(left, start, len(low.rstrip()), options, marked=marked)
    ):
        return None
    shaky = False
    is_bare = not (m.lastgroup or is_small)
    if is_bare:
        word = _NEXT_WORD.match(shown, end)
        verdict = _before_word(letter, word[1] if word else "", marked)
        if verdict is None and not _own_text_follows(letter, end, page, options):
            return None
        shaky = verdict is False
    if not marked and ((is_bare and _NAMED_THINGS.search(left)) or _is_symbol(page, start, end, options)):
        return None
    quoted = m.lastgroup == "up1" or left.endswith(('"', "'"))
    if quoted and (_READ_THERE.search(left) or (m.lastgroup == "up1" and _READ_THERE.search(left + '"'))):
        return None
    label = Mention(frozenset(letter), start, end, end, "label", marked=marked, shaky=shaky)
    if letter not in options and letter in options.named_letters:
        label.letters = frozenset(options.named_letters[letter])  # the option whose text is the letter
        return label
    return _extended(label, page, options)


def _is_symbol(page: Page, start: int, end: int, options: Options) -> bool:
    """Whether a bare capital is a symbol of a formula ("P(x > 5)", "H = 3", "T ⊃ U") and no label."""
    joined = _SYMBOL_AFTER.match(page.shown, end) or _SYMBOL_BEFORE.search(page.shown, max(0, start - 16), start)
    if not joined and (not page.is_formula(start, end) or say.FORM_BEFORE.search(page.low, max(0, start - 40), start)):
        return False
    match = _DELIMITED.match(page.low, end)
    text_ = options.starting_at(page.low, match.end()) if match else None
    return text_ is None


def _lower_case_label(left: str, start: int, length: int, options: Options, *, marked: bool) -> bool:
    """Whether a small letter is a label: it is marked, opens the reply or a line, or a declaration precedes it."""
    if options.asks_in_parts:
        return say.FORM_BEFORE.search(left) is not None
    if marked:
        return True
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
    named = options.starting_at(page.low, end + 1) if end + 1 < len(page.low) else None
    if named is None:
        return False
    # "A dog" opens a sentence with an article; "A blue" cannot, and inside a sentence an article is lower-case.
    opens = page.only_before(page.sentence(end - 1, end)[0], end - 1, " \"'*(-")
    return named[0] == letter or not opens or options.takes_no_article(named[0])


def _extended(mention: Mention, page: Page, options: Options) -> Mention:
    """Include what follows a label: its own text extends the mention, another option's text is a conflict."""
    (letter,) = mention.letters
    tight = _TIGHT.match(page.low, mention.end)
    own = options.starting_at(page.low, tight.end()) if tight else None
    if own is not None and own[0] == letter:  # a minus or a bracket belongs to the text: "I. -$1,500"
        mention.stop, mention.marked, mention.shaky = own[1], True, False
        return mention
    match = _DELIMITED.match(page.low, mention.end)
    if match is None or match.end() >= len(page.low):
        return mention
    named = options.starting_at(page.low, match.end()) or _own_formula(letter, match.end(), page, options)
    if named is None:
        mention.marked = mention.marked or (match["delim"] or ",") in ").:"
        return mention
    if named[0] == letter or options.low.get(letter) == options.low[named[0]]:
        mention.stop, mention.marked, mention.shaky = named[1], True, False
        if named[1] - match.end() == 1 and page.low[match.end() - 1] == "(":
            # "B (A)" where A says "B" and B says "A": either can be the label.
            mention.conflict = options.named_letters.get(letter)
    elif match["delim"] != "|" and _CLAUSE_STOP.match(page.low, named[1]) and letter in options:
        mention.conflict, mention.stop = named[0], named[1]
    return mention


def _own_formula(letter: str, at: int, page: Page, options: Options) -> tuple[str, int] | None:
    """Return (letter, end) if the rest of the line is the option's text but for blanks, marks and LaTeX."""
    end = page.line(at, at)[1]
    text = options.low.get(letter, "")
    if not text or end - at > 2 * len(text) + 40 or bare(page.low[at:end]) != bare(text):
        return None
    return letter, at + len(page.low[at:end].rstrip(" .*"))


def _texts(options: Options, places: list[tuple[int, int, str]], taken: list[tuple[int, int]]) -> list[Mention]:
    texts: list[Mention] = []
    next_taken = 0
    for start, end, letter in places:
        while next_taken < len(taken) and taken[next_taken][1] <= start:
            next_taken += 1
        if next_taken < len(taken) and taken[next_taken][0] <= start:
            continue
        if texts and texts[-1].start == start and texts[-1].end == end:
            texts[-1].letters |= {letter}
        elif len(options.texts[letter]) > 1 or not options.texts[letter].isascii() or options.texts[letter].isdigit():
            texts.append(Mention(frozenset(letter), start, end, end, "text", shaky=letter in options.common))
    return texts


def _ordinals(page: Page, options: Options) -> list[Mention]:
    ordinals = []
    for m in _ORDINAL.finditer(page.low):
        word = m["digit"] or m["word"] or m["han"] or m["of_two"]
        rank = len(options.letters) - 1 if word == "last" else _RANK[word]
        if m["of_two"] and len(options.letters) != 2:
            continue
        said_by = [k for k, w in options.words.items() if word in w or any(t == str(rank + 1) for t in w)]
        if rank >= len(options.letters):
            continue
        letter = options.letters[rank]
        if said_by and m["word"]:
            continue
        conflict = next((k for k in said_by if k != letter), None)
        ordinals.append(
            Mention(frozenset(letter), m.start(), m.end(), m.end(), "ordinal", marked=True, conflict=conflict)
        )
    return ordinals
