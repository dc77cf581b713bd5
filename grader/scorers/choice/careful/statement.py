"""Replies in words: find the option that the closing or only statement of a reply names."""

# Lists of words read best as words.
# ruff: noqa: SIM905

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from grader.scorers.choice.careful import wordings as say
from grader.scorers.choice.careful.options import tokens
from grader.scorers.choice.careful.patterns import Pattern
from grader.scorers.choice.reading import ambiguous, read_as

if TYPE_CHECKING:
    from grader.scorers.choice.careful.mentions import Group
    from grader.scorers.choice.careful.options import Options
    from grader.scorers.choice.careful.text import Page
    from grader.scorers.choice.reading import ChoiceReading

_SHORT = 240
_COMPLETE = Pattern(r"[.!?。)\"'\]:]\s*$")
_PRONOUN_ONE = Pattern(r"\bone of\b|\b(?:the|this|that|which|only|another|each|other|first|last|left|right) one\b")
_STOP_WORDS = frozenset(
    "is are was were be been being of in on at to and or by with for from it its this that these those "
    "there he she they his her their has have had does do did will would can could not no as if so than "
    "then image picture photo shown answer option choice correct would seems appears looks like".split()
)


def read_statement(page: Page, options: Options, groups: list[Group], start: int) -> ChoiceReading | None:
    """Return the option that the last full statement from `start` on names in words, or None."""
    texts = [
        g for g in groups if g.members[0].kind == "text" and g.role not in ("denied", "doubted") and not _common(g)
    ]
    leading = next((g for g in groups if g.members[0].kind == "text" and g.role == "leading"), None)
    body = page.low[start:].strip()
    short = len(body) <= _SHORT
    if page.breaks_off:
        return None
    if not short or say.PLANNED.match(body):
        return _closing(texts, page, start)
    return _only_text(texts, leading, page) or _by_words(page, options, start)


def _common(one: Group) -> bool:
    return all(m.shaky for m in one.members)


def _only_text(texts: list[Group], leading: Group | None, page: Page) -> ChoiceReading | None:
    """Read a short reply by the only option whose text it contains."""
    letters = frozenset().union(*(g.letters for g in texts))
    if len(letters) == 1 and not any(g.role == "listed" for g in texts):
        return read_as(next(iter(letters)), "option_text", (texts[0].start, texts[-1].stop))
    if not letters:
        return None
    closing = _closing(texts, page, 0)
    if closing is not None and (leading is None or leading.letters == {closing.letter}):
        return closing
    span = (texts[0].start, texts[-1].stop)
    detail = f"names the texts of {' and '.join(sorted(letters))}"
    return ambiguous("several_texts", span, detail)


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
    if _denied_elsewhere(sentence, main, begin):
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


def _denied_elsewhere(sentence: str, main: list[Group], begin: int) -> bool:
    return say.NEGATION.search(sentence[: main[-1].stop - begin]) is not None


def _by_words(page: Page, options: Options, start: int) -> ChoiceReading | None:
    """Read a short reply that has an option's text in another order or form.

    The reply must have most of the option's words, at least one that no other option has, and no word that only other
    options have.
    """
    body = page.low[start:]
    said = {_stem(t) for t in tokens(_PRONOUN_ONE.sub(" ", body))} - _STOP_WORDS
    if not said or say.NEGATION.search(body):
        return None
    words = {k: {_stem(t) for t in w} - _STOP_WORDS for k, w in options.words.items()}
    shared = {k: w & said for k, w in words.items()}
    own = {k: s - set().union(*(w for j, w in words.items() if j != k)) for k, s in shared.items()}
    holders = [k for k in own if own[k] and k not in options.common]
    if len(holders) != 1:
        return None
    letter = holders[0]
    whole = said <= words[letter] and len(own[letter]) > 1
    if len(shared[letter]) < 0.6 * len(words[letter]) and not whole:
        return None
    lead = len(body) - len(body.lstrip())
    return read_as(letter, "words", (start + lead, start + len(body.rstrip())))


def _stem(word: str) -> str:
    """Cut the most common endings, so that "riding" matches "ride" and "dogs" matches "dog"."""
    for ending in ("ing", "es", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
