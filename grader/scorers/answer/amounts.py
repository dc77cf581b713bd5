"""Numbers as answers: which number a claim says, and whether it is the gold one.

A number belongs to what it counts. In a sentence, numbers that the question states are repeated, not answered; a
condition ("at x = 4"), a part ("3 of which"), and a rate that nobody asked for are not answers. Of several numbers, the
one of what the question counts is the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.numbers import Number, number, numbers_in, simplified
from grader.scorers.patterns import Pattern, rule
from grader.scorers.place_wordings import NUMERALS
from grader.scorers.plain_text import plain

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from grader.scorers.own_words import OwnWords
    from grader.scorers.places import Claim

_NUMERAL = Pattern(rf"\b(?:{'|'.join(NUMERALS)})\b", 2)
_LABEL = Pattern(r"^A(?:ns)?:", 2)


def is_number(text: str) -> bool:
    """Whether a text is a number, perhaps with a unit of measurement."""
    read = number(text)
    return read is not None and (not read.unit or read.is_measure)


def is_same(answer: str, gold: str, tolerance: float = 0) -> bool:
    """Whether two texts are the same number. A gold answer that is not a number must be equal as a text."""
    stated, wanted = number(answer), number(gold)
    if stated is None or wanted is None:
        return answer.strip() == gold.strip()
    return stated.equals(wanted, tolerance)


def value(reply: OwnWords, claim: Claim) -> str | None:
    """Return the number that a claim says."""
    content = _NUMERAL.sub(lambda m: NUMERALS[m[0].lower()], reply.text[claim.start : claim.end].strip(" \t\n*_"))
    if claim.is_cut or claim.form in ("body", "conclusion"):
        return None
    if claim.form == "sentence":
        return _number_of_sentence(_without_repeats(simplified(content)), reply.question)
    if claim.form == "line":
        content = _LABEL.sub("", content).lstrip()
        whole = _without_repeats(simplified(content))
        return whole if number(whole) else None
    if claim.form == "choice":
        whole_number = number(content)
        return whole_number and _with_percent(whole_number)
    if claim.parts:
        contents = [simplified(reply.text[slice(*part)]) for part in claim.parts]
        return contents[-1] if all(is_same(one, contents[-1]) for one in contents) else None
    is_near = "\n" not in reply.text[claim.whole[0] : claim.start] or not reply.text[claim.end :].strip(" $*.\n")
    return _number_of_form(content.replace("\\n", "\n"), reply.question, is_near=is_near, is_before=claim.is_before)


def _number_of_form(content: str, question: str, *, is_near: bool, is_before: bool) -> str | None:
    """Return the number of a form's content: all of it, its result, its first or only number."""
    content = _without_repeats(simplified(content))
    if number(content):
        return content
    if not is_near and not is_before:
        return None
    if "\n" in content:
        *_, content = [line for line in content.split("\n") if line.strip()] or [""]
    found = [*numbers_in(content)]
    if found and not is_before and _LEAD.fullmatch(content[: found[0].start]) and "=" not in content:
        return _with_percent(found[0])
    return _result_or_only_number(content, found, _numbers_of_question(question)) or (
        _result_or_only_number(content, found, ()) if is_near else None
    )


_LEAD = Pattern(r"(?:[\W_]|\b(?:that|it|about|approximately|around|roughly|minus|negative|usd|eur|is|equal|to)\b)*", 2)
_TWICE = Pattern(
    r"(?P<first>(?<![\d.,])[$€£]?-?\d[\d.,]{0,30}(?: ?/ ?\d{1,9})?%?)"
    r"(?P<join>,? or |,? which is (?:equal to |the same as )?| \(|,? "
    r"i\.e\.,? )"
    r"(?P<second>[$€£]?-?\d[\d.,]{0,30}(?: ?/ ?\d{1,9})?%?)(?=[\s.,;)]|$)(?P<close>\))?"
)


def _with_percent(one: Number) -> str:
    return f"{one.text}%" if one.unit == "%" else one.text


def _without_repeats(content: str) -> str:
    """Return a text with every number that is stated twice in a row, in two forms, stated once."""

    def merged(m: re.Match[str]) -> str:
        first, second = number(m["first"]), number(m["second"].rstrip(".,"))
        if first is None or second is None or not (first.equals(second) or second.equals(first)):
            return m[0]
        return m["second"] if "%" in m["first"] else m["first"] + m["second"][len(m["second"].rstrip(".,")) :]

    return _TWICE.sub(merged, _TWICE.sub(merged, content))


# --- sentences -------------------------------------------------------------------------------------------------------


def _number_of_sentence(content: str, question: str) -> str | None:
    """Return the number with which a sentence answers the question."""
    counted = _count_of_what_is_asked(content, question)
    if counted is not None:
        return counted
    found = _of_years(content, question)
    if not _RATES.search(question):
        found = [one for one in found if not _RATE.match(content, one.end)]
    answer = _result_or_only_number(content, found, _numbers_of_question(question))
    if answer is None and _HOW_MANY.search(question) and (none := _NONE.search(content)):
        return "0" if _stem(none[1]) in {_stem(word) for word in question.lower().split()} else None
    return answer


@rule("g5-number-with-its-parts")
def _count_of_what_is_asked(content: str, question: str) -> str | None:
    """Return the only number of several that counts what the question asks for: "12 apples and 5 pears"."""
    asked = _ASKED.search(question)
    if asked is None or _SO.search(content):
        return None
    nouns = {_stem(word) for word in asked[1].split()}
    counts = list(_COUNT.finditer(content))
    mine = [m for m in counts if _stem(m[2]) in nouns]
    others = [m for m in counts if _stem(m[2]) not in nouns]
    return mine[0][1] if len(mine) == 1 and others and "=" not in content else None


_ASKED = Pattern(r"\bhow many ((?:[^\W\d]+ ){0,2}[^\W\d]+?)s? (?:are|is|do|did|does|were|was|can|in|on)\b", 2)
_COUNT = Pattern(r"(?<![\w.,$-])(\d[\d,]*(?:\.\d+)?) ([^\W\d]+)")
_RATE = Pattern(r"(?: [^\W\d]+)? (?:per|each|every|apiece)\b", 2)
_RATES = Pattern(r"\b(?:per|each|every|a|an)\b (?:\w+)|\b(?:rate|average|mean|speed)\b", 2)
_HOW_MANY = Pattern(r"\bhow (?:many|much)\b", 2)
_NONE = Pattern(r"\b(?:there (?:is|are|was|were)|has|have|had) no (\w+)", 2)


def _stem(word: str) -> str:
    return word.lower().strip(".,?!").removesuffix("s")


def _of_years(content: str, question: str) -> list[Number]:
    """Return the numbers of a sentence: its years if a year is asked for, else all but years that say when."""
    found = [*numbers_in(content)]
    years = [one for one in found if _YEAR.fullmatch(one.text)]
    if _ASKS_YEAR.search(question):
        return [one for one in years if " " in content[: one.start].strip()] or found
    if _YEARS.search(question) and not _HOW_MANY.search(question):
        return found
    when = [one for one in years if _WHEN.search(content, max(0, one.start - 20), one.start)]
    return [one for one in found if one not in when] or ([] if _HOW_MANY.search(question) else found)


_YEAR = Pattern(r"(?:1[5-9]|20)\d\d")
_YEARS = Pattern(r"\b(?:when|years?)\b", 2)
_ASKS_YEAR = Pattern(r"\b(?:when (?:is|was|were|do|does|did)|(?:which|what)(?: \w+)? years?)\b", 2)
_WHEN = Pattern(r"\b(?:in|by|since|until|during|before|after|year) $", 2)


def _numbers_of_question(question: str) -> list[Number]:
    return [*numbers_in(simplified(plain(question)))]


def _result_or_only_number(content: str, found: list[Number], stated: Sequence[Number]) -> str | None:
    """Return the last result of a content, else its only number beside those stated and the bare word "one"."""
    found = [one for one in found if not _CONDITION.search(content, max(0, one.start - 30), one.start)]
    results = [one for one in found if _RESULT.search(content, max(0, one.start - 3), one.start)]
    concluded = [at.end() for at in _SO.finditer(content)][-1:]
    results = results[-1:] or [one for one in found if concluded and one.start >= concluded[0]][:1]
    kept = results or [
        one
        for one in found
        if one.text.lower() not in ("one", "一") and not any(one.same_number(other) for other in stated)
    ]
    return _with_percent(kept[0]) if kept and all(one.same_number(kept[0]) for one in kept) else None


_CONDITION = Pattern(
    r"\b(?:(?:at|for|when|if|where|with) \$?[a-z]\$? ?= ?|the (?:first|last|other|next|remaining) )$", 2
)
_RESULT = Pattern(r"[=≈]\s*$")
_SO = Pattern(
    r"(?<=\w)[,;]? \b(?:so|thus|hence|therefore|equals|(?:for|making) a total of|"
    r"which (?:is|gives)(?! \S+ (?:\w+ )?(?:more|less|fewer|\w{3,}er|times)\b))\b",
    2,
)
