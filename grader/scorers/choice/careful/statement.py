"""Replies in words: find the option that the closing or only statement of a reply names."""

# Lists of words read best as words.
# ruff: noqa: SIM905

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING

from grader.scorers.choice.careful import wordings as say
from grader.scorers.choice.careful.options import tokens
from grader.scorers.choice.careful.spelling import folded, near_word, stem
from grader.scorers.choice.reading import ambiguous, read_as
from grader.scorers.patterns import Pattern

if TYPE_CHECKING:
    from grader.scorers.choice.careful.groups import Group
    from grader.scorers.choice.careful.options import Options
    from grader.scorers.choice.careful.text import Page
    from grader.scorers.choice.reading import ChoiceReading

_SHORT = 240
_FEW = 2
_MOST_OF_IT = 0.6
_SECOND_THING = Pattern(
    r"\w*\s+(?:(?:hand\s+)?side\s+)?(?:(?:of|from|than|to)\s+)?(?:the|its|his|her)\s+([^\n.,;!?]{1,60})"
)
"""What follows a relation: "left (side of the bench)", "above (the bird)"."""
_CLAUSE = Pattern(r",|\b(?:and|but|while|whereas)\b")
_OWNER = Pattern(r"\b\w+'s?\s")
_TOTAL = Pattern(
    r"(?:(?!\b(?:so|making|thus|hence|therefore)\b)[^,.;:\n])*\b(?:total|altogether)\b"
    r"(?:(?!\b(?:so|making|thus|hence|therefore)\b)[^,.;:\n])*"
)
"""The clause that says how many there are in all; the other clauses count parts."""
_NEXT_WORD = Pattern(r"[ \t]+([^\W\d_]+)")
_COMPLETE = Pattern(r"[.!?。)\"'\]:]\s*$")
_PRONOUN_ONE = Pattern(r"\bone of\b|\b(?:the|this|that|which|only|another|each|other|first|last|left|right) one\b")
_STOP_WORDS = frozenset(
    "is are was were be been being of in on at to and or by with for from it its this that these those "
    "there he she they his her their has have had does do did will would can could not no as if so than "
    "then image picture photo shown answer option choice correct would seems appears looks like".split()
)

_ASKING = frozenset("what which who whose where when why how many much".split())


def read_statement(page: Page, options: Options, groups: list[Group], start: int) -> ChoiceReading | None:
    """Return the option that the last full statement from `start` on names in words, or None."""
    texts = [
        g
        for g in groups
        if g.members[0].kind == "text" and g.role not in ("denied", "doubted") and not all(m.shaky for m in g.members)
    ]
    leading = next((g for g in groups if g.members[0].kind == "text" and g.role == "leading"), None)
    body = page.low[start:].strip()
    short = len(body) <= _SHORT
    if page.breaks_off:
        return None
    if not short or say.PLANNED.match(body):
        return _closing(texts, page, start)
    denied = frozenset().union(*(g.letters for g in groups if g.is_label and g.role == "denied"))
    texts = [g for g in texts if not g.letters <= denied and not _turned(g.stop, page.low, options)]
    if len(options.frames) > 1:  # "There is no cup on the left side" says nothing about "The cup is on the ... side"
        texts = [g for g in texts if not say.NEGATION.search(_clause(page, g))]
    return _only_text(texts, leading, page, options) or _by_words(page, options, start)


def _clause(page: Page, group: Group) -> str:
    """Return the beginning of a group's clause, up to the group."""
    start = page.sentence(group.start, group.stop)[0]
    return _CLAUSE.sub("\n", page.low[start : group.start]).rpartition("\n")[2]


def _turned(stop: int, low: str, options: Options) -> bool:
    """Whether a relation that ends at `stop` has as its second thing the first thing of the question.

    "The bench is to the left of the dog" says something else than "the dog is to the left of the bench".
    """
    second = _SECOND_THING.match(low, stop)
    if second is None:
        return False
    own = frozenset().union(*_own_words(options).values())
    for text in (*options.frames, *options.low.values()):
        asked = [stem(word) for word in tokens(text)]
        relations = [at for at, word in enumerate(asked) if word in own] or [len(asked)]
        first_things = {*asked[: relations[0]]} - _STOP_WORDS
        second_things = {*asked[relations[-1] + 1 :]} - _STOP_WORDS - first_things
        things = (word for word in map(stem, tokens(second[1])) if word in first_things | second_things)
        if not second_things.isdisjoint(map(stem, tokens(low))) and next(things, "") in first_things:
            return True
    return False


def _own_words(options: Options) -> dict[str, set[str]]:
    """Return the words of each option that no other option has."""
    words = {k: {stem(t) for t in w} - _STOP_WORDS for k, w in options.words.items()}
    return {k: w - set().union(*(v for j, v in words.items() if j != k)) for k, w in words.items()}


def _only_text(texts: list[Group], leading: Group | None, page: Page, options: Options) -> ChoiceReading | None:
    """Read a short reply by the only option whose text it contains."""
    letters = frozenset().union(*(g.letters for g in texts))
    if len(letters) == 1 and not any(g.role == "listed" for g in texts):
        return read_as(next(iter(letters)), "option_text", (texts[0].start, texts[-1].stop))
    if not letters:
        return None
    closing = _closing(texts, page, 0)
    if closing is not None and _is_about_another(closing, texts, page, options):
        closing = None
    if closing is not None and (leading is None or leading.letters == {closing.letter}):
        return closing
    if (of_subject := _said_of_subject(texts, page, options)) is not None:
        return of_subject
    span = (texts[0].start, texts[-1].stop)
    detail = f"names the texts of {' and '.join(sorted(letters))}"
    return ambiguous("several_texts", span, detail)


def _said_of_subject(texts: list[Group], page: Page, options: Options) -> ChoiceReading | None:
    """Read the option that a reply states of what was asked, if it reconsiders nothing.

    "The oldest city of France is Marseille. Paris and Lyon are younger." Before the option, the sentence has only
    words of the question, in its order, and all but one of them ("The door is red" says which colour it has), or most.
    Or a word of the question follows: "a green door", "3 people".
    """
    asked = [word for word in tokens(_OWNER.sub("", options.question)) if word not in _STOP_WORDS | _ASKING]
    if not asked or say.RECONSIDERED.search(_CLAUSE.sub(" ", page.low)) or "?" in page.low:
        return None
    stated, joined = [], []
    total = _TOTAL.search(page.low)
    for group in texts:
        before = [word for word in tokens(_OWNER.sub("", _clause(page, group))) if word not in _STOP_WORDS]
        in_question = iter(asked)
        enough = min(_MOST_OF_IT * len(asked), len(asked) - 1)
        if len(asked) >= _FEW and len(before) >= enough and all(word in in_question for word in before):
            stated.append(group)
        after = _NEXT_WORD.match(page.low, group.stop)
        with_noun = tokens(page.low[group.start : after.end() if after else group.stop])
        own = {word for letter in group.letters for word in options.words[letter]}
        nouns = {stem(word) for word in with_noun if word not in own}
        if len(asked) <= _FEW and not nouns.isdisjoint(map(stem, asked)):
            joined.append(group)
    for groups in ([g for g in texts if total.start() <= g.start < total.end()],) if total else (stated, joined):
        letters = frozenset().union(*(group.letters for group in groups))
        if groups:
            return (
                read_as(min(letters), "option_text", (groups[0].start, groups[0].stop)) if len(letters) == 1 else None
            )
    return None


def _is_about_another(closing: ChoiceReading, texts: list[Group], page: Page, options: Options) -> bool:
    """Whether an earlier sentence states another option as the last one does, and is as near to the question."""
    assert closing.span is not None
    start, end = page.sentence(*closing.span)
    if say.CONCLUDING.search(page.low[start:end]) or say.RECONSIDERED.search(page.low[:end]):
        return False
    question = set(tokens(options.question)) - _STOP_WORDS
    mine = len(question & set(tokens(page.low[start:end])))
    earlier: dict[tuple[int, int], set[str]] = {}
    for group in texts:
        if group.stop <= start and not say.OBSERVED.search(page.low[slice(*page.sentence(group.start, group.stop))]):
            earlier.setdefault(page.sentence(group.start, group.stop), set()).update(group.letters)
    others = [span for span, letters in earlier.items() if len(letters) == 1 and letters != {closing.letter}]
    return any(len(question & set(tokens(page.low[slice(*span)]))) >= mine for span in others)


def _closing(texts: list[Group], page: Page, start: int) -> ChoiceReading | None:
    """Read the last full sentence: the option that its main clause names, if it is exactly one."""
    end = len(page.low.rstrip())
    if not _COMPLETE.search(page.low[max(start, end - 4) : end]):
        return None
    begin = _sentence_start(page, start, end)
    named = [g for g in texts if g.start >= begin]
    if not named:
        return None
    sentence = page.low[begin:end]
    # "The car is red, as the sign next to it is blue": reasons and surroundings come after the statement.
    if say.SUBORDINATE.match(sentence.lstrip()) and "," in sentence:
        named = [g for g in named if g.start > begin + sentence.index(",")]
    cut = say.SUBORDINATE.search(sentence, max(1, named[0].stop - begin)) if named else None
    main = [g for g in named if cut is None or g.stop <= begin + cut.start()]
    letters = frozenset().union(*(g.letters for g in main))
    if len(letters) != 1 or any(g.role == "listed" for g in main):
        return None
    if sentence.endswith("?") or say.INTENDED.search(sentence) or not _concludes(page, start, begin, sentence):
        return None
    if say.NEGATION.search(sentence[: main[-1].stop - begin]) is not None:
        return None
    return read_as(next(iter(letters)), "final_statement", (main[0].start, main[-1].stop))


def _sentence_start(page: Page, start: int, end: int) -> int:
    core = len(page.low[:end].rstrip(" .!?\n\"'。"))
    before = bisect_left(page.ends, core)
    return max(start, page.ends[before - 1] if before else 0)


def _concludes(page: Page, start: int, begin: int, sentence: str) -> bool:
    """Whether a long reply's last sentence is its conclusion: it says so, or it has its own paragraph."""
    if len(page.low[start:].strip()) <= _SHORT and not say.PLANNED.match(page.low[start:].lstrip()):
        return True
    alone = page.low[:begin].rstrip(" \t").endswith("\n\n") or begin == start
    return say.CONCLUDING.match(sentence) is not None or (alone and not say.OBSERVED.search(sentence))


def _by_words(page: Page, options: Options, start: int) -> ChoiceReading | None:
    """Read a short reply that has an option's text in another order or form.

    The reply must have most of the option's words, or no others but those of the question; at least one that no other
    option has, and no word that only other options have.
    """
    body = page.low[start:]
    told = {stem(t) for t in tokens(_PRONOUN_ONE.sub(" ", body))} - _STOP_WORDS
    compares = "than" in tokens(body) and "than" not in tokens(" ".join([options.question, *options.low.values()]))
    if not told or say.NEGATION.search(body) or "?" in body or compares:
        return None
    words = {k: {stem(t) for t in w} - _STOP_WORDS for k, w in options.words.items()}
    told = _respelled(told, tokens(body), options, words)
    shared = {k: w & told for k, w in words.items()}
    own = {k: w & told for k, w in _own_words(options).items()}
    holders = [k for k in own if own[k] and k not in options.common]
    if len(holders) != 1:
        return None
    letter = holders[0]
    whole = told <= words[letter] | {stem(word) for word in tokens(options.question)}
    ends = (m.end() for word in own[letter] for m in re.finditer(rf"\b{re.escape(word)}", page.low[start:]))
    if any(_turned(start + end, page.low, options) for end in ends):
        return None
    if len(shared[letter]) < 0.6 * len(words[letter]) and not whole:
        return None
    lead = len(body) - len(body.lstrip())
    return read_as(letter, "words", (start + lead, start + len(body.rstrip())))


def _respelled(told: set[str], in_order: tuple[str, ...], options: Options, words: dict[str, set[str]]) -> set[str]:
    """Add the options' words that the reply spells in another way, also one word as two ("teddy bear")."""
    known = set().union(*words.values())
    pairs = {a + b for a, b in pairwise(in_order)}
    forms = {folded(word) for word in told | pairs}
    extra = {near for word in (told | pairs) - known if (near := near_word(word, known)) is not None}
    for letter, own in options.words.items():
        if 1 < len(own) < 4 and "".join(own).isalpha() and folded("".join(own)) in forms:
            extra |= words[letter]
    return told | extra
