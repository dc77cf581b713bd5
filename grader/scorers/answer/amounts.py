"""Numbers as answers: which number a claim says, and whether it is the gold one.

A number belongs to what it counts. In a sentence, numbers that the question states are repeated, not answered; a
condition ("at x = 4"), a part ("3 of which"), and a rate that nobody asked for are not answers. Of several numbers, the
one of what the question counts is the answer. Where there is none, functions return None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.numbers import Number, as_number, numbers_in, simplify_numbers
from grader.scorers.patterns import Pattern, heuristic
from grader.scorers.plain_text import plain

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from grader.scorers.own_words import OwnWords
    from grader.scorers.places import Claim

_LABEL = Pattern(r"^A(?:ns)?:", 2)
_NUMERALS = {
    word: str(number)
    for number, words in enumerate(
        (
            "zwei deux dos dois два",
            "drei trois tres tre três три",
            "vier quatre cuatro quattro quatro четыре",
            "fünf cinq cinco cinque пять",
            "sechs seis шесть",
            "sieben sept siete sette sete семь",
            "acht huit ocho otto oito восемь",
            "neun neuf nueve nove девять",
            "zehn dix diez dieci dez десять",
        ),
        2,
    )
    for word in words.split()
}
"""Numerals of other languages, without words that English has, too ("due", "six"). A public report needs them; none of
19,257 replies has one."""
_NUMERAL = Pattern(rf"\b(?:{'|'.join(_NUMERALS)})\b", 2)


def is_number(text: str) -> bool:
    """Whether a text is a number, perhaps with a unit of measurement."""
    whole = as_number(text)
    return whole is not None and (not whole.unit or whole.is_measure)


def is_same(answer: str, gold: str, tolerance: float = 0) -> bool:
    """Whether two texts are the same number. A gold answer that is not a number must be equal as a text."""
    answer_number, gold_number = as_number(answer), as_number(gold)
    if answer_number is None or gold_number is None:
        return answer.strip() == gold.strip()
    return answer_number.same_amount(gold_number, tolerance)


def read_number(reply: OwnWords, claim: Claim) -> str | None:
    """Return the number that a claim says, as it is written; None if it says none, or several.

    Numbers in prose are read one sentence at a time, so the body and a conclusion (part of a sentence) say none.
    """
    if claim.is_cut or claim.form in ("body", "conclusion"):
        return None
    if claim.parts:  # several boxes: no answer if their numbers differ
        contents = [simplify_numbers(reply.text[slice(*part)]) for part in claim.parts]
        return contents[-1] if all(is_same(content, contents[-1]) for content in contents) else None
    content = reply.text[claim.start : claim.end].strip(" \t\n*_")
    content = _NUMERAL.sub(lambda m: _NUMERALS[m[0].lower()], content)
    match claim.form:
        case "sentence":
            return _number_in_sentence(_without_repeats(simplify_numbers(content)), reply.question)
        case "line":
            line = _without_repeats(simplify_numbers(_LABEL.sub("", content).lstrip()))
            return line if as_number(line) else None
        case "choice":
            chosen = as_number(content)
            return _with_percent(chosen) if chosen else None
        case _:
            return _number_in_form(reply, claim, _without_repeats(simplify_numbers(content)))


def _number_in_form(reply: OwnWords, claim: Claim, content: str) -> str | None:
    """Return the number of a container, a mark or a declaration; `content` is its content in simple numbers."""
    if as_number(content):
        return content
    # What is neither on the line of the form's words nor at the end of the reply can be other text than the answer.
    is_on_line = "\n" not in reply.text[claim.outer_span[0] : claim.start]
    is_last = not reply.text[claim.end :].strip(" $*.\n")
    return _number_in_last_line(content, reply.question) if is_on_line or is_last else None


def _number_in_last_line(content: str, question: str) -> str | None:
    """Return the number in the last line of a form's content, by the first of these rules that finds one.

    - No word stands before the first number, and there is no equals sign: the first number.
    - The result of the line, or the only number that the question does not state.
    - The only number.
    """
    lines = [line for line in content.split("\n") if line.strip()]
    line = lines[-1] if lines else ""
    numbers = [*numbers_in(line)]
    if numbers and _NO_WORD.fullmatch(line[: numbers[0].start]) and "=" not in line:
        return _with_percent(numbers[0])
    answer = _result_or_only_number(line, numbers, _numbers_of_question(question))
    return answer or _result_or_only_number(line, numbers, ())


_NO_WORD = Pattern(r"[\W_]*")
_TWICE = Pattern(
    r"(?P<first>(?<![\d.,])[$€£]?-?\d[\d.,]{0,30}(?: ?/ ?\d{1,9})?%?)"
    r"(?:,? or |,? which is | \()"
    r"(?P<second>[$€£]?-?\d[\d.,]{0,30}(?: ?/ ?\d{1,9})?%?)(?=[\s.,;)]|$)\)?"
)


def _with_percent(answer: Number) -> str:
    return f"{answer.text}%" if answer.unit == "%" else answer.text


def _without_repeats(content: str) -> str:
    """Return a text without repeated numbers: "0.5 or 1/2" becomes "0.5", but "50% (1/2)" becomes "1/2"."""

    def merge(m: re.Match[str]) -> str:
        second_text = m["second"].rstrip(".,")
        first, second = as_number(m["first"]), as_number(second_text)
        if first is None or second is None or not first.same_amount(second):
            return m[0]
        end_of_clause = m["second"][len(second_text) :]
        return m["second"] if "%" in m["first"] else m["first"] + end_of_clause

    return _TWICE.sub(merge, content)


# --- sentences -------------------------------------------------------------------------------------------------------


def _number_in_sentence(content: str, question: str) -> str | None:
    """Return the number with which a sentence answers the question."""
    count = _count_of_asked_noun(content, question)
    if count is not None:
        return count
    numbers = [*numbers_in(content)]
    if not _ASKS_RATE.search(question):
        numbers = [number for number in numbers if not _RATE.match(content, number.end)]
    answer = _result_or_only_number(content, numbers, _numbers_of_question(question))
    denial = _NONE.search(content) if answer is None and _HOW_MANY.search(question) else None
    if denial is not None and _stem(denial[1]) in {_stem(word) for word in question.lower().split()}:
        return "0"
    return answer


@heuristic(needed_by="g5-number-with-its-parts")
def _count_of_asked_noun(content: str, question: str) -> str | None:
    """Return the only number of several that counts what the question asks for: "12 apples and 5 pears"."""
    asked_words = _HOW_MANY_OF.search(question)
    # A result ("= 17", "so 17") is the answer, and the counts are its parts.
    if asked_words is None or _THEREFORE.search(content) or "=" in content:
        return None
    nouns = {_stem(word) for word in asked_words[1].split()}
    counts = [(count[1], _stem(count[2])) for count in _COUNT.finditer(content)]
    asked_counts = [number for number, noun in counts if noun in nouns]
    return asked_counts[0] if len(asked_counts) == 1 and len(counts) > 1 else None


_HOW_MANY_OF = Pattern(r"\bhow many ((?:[^\W\d]+ ){0,2}[^\W\d]+?)s? (?:are|is|do|did|does|were|was|can|in|on)\b", 2)
_COUNT = Pattern(r"(?<![\w.,$-])(\d[\d,]*(?:\.\d+)?) ([^\W\d]+)")
_RATE = Pattern(r"(?: [^\W\d]+)? (?:per|each|every|apiece)\b", 2)
"""Words behind a number that make it a rate; public reports need it, none of 19,257 replies."""
_ASKS_RATE = Pattern(r"\b(?:per|each|every|a|an)\b (?:\w+)|\b(?:rate|average|mean|speed)\b", 2)
_HOW_MANY = Pattern(r"\bhow (?:many|much)\b", 2)
_NONE = Pattern(r"\b(?:there (?:is|are|was|were)|has|have|had) no (\w+)", 2)
"""Says that there is none of what is asked for: 38 of 19,401 replies."""


def _stem(word: str) -> str:
    return word.lower().strip(".,?!").removesuffix("s")


def _numbers_of_question(question: str) -> list[Number]:
    return [*numbers_in(simplify_numbers(plain(question)))]


def _result_or_only_number(content: str, numbers: list[Number], stated: Sequence[Number]) -> str | None:
    """Return the last result of a content, else its only number beside those stated and the bare word "one"."""
    numbers = [
        number for number in numbers if not _CONDITION.search(content, max(0, number.start - _REACH), number.start)
    ]
    result = _last_result(content, numbers)
    if result is not None:
        return _with_percent(result)
    new = [
        number
        for number in numbers
        if number.text.lower() not in ("one", "一") and not any(number.same_number(other) for other in stated)
    ]
    return _with_percent(new[0]) if new and all(number.same_number(new[0]) for number in new) else None


def _last_result(content: str, numbers: list[Number]) -> Number | None:
    """Return the last number behind an equals sign, else the first one behind the last "so"."""
    results = [number for number in numbers if _RESULT.search(content, max(0, number.start - len("=  ")), number.start)]
    if results:
        return results[-1]
    conclusions = [m.end() for m in _THEREFORE.finditer(content)]
    return next((number for number in numbers if conclusions and number.start >= conclusions[-1]), None)


_REACH = 30
"""Characters before a number in which words about it are searched; the longest have 20."""
_CONDITION = Pattern(
    r"\b(?:(?:at|for|when|if|where|with) \$?[a-z]\$? ?= ?|the (?:first|last|other|next|remaining) )$", 2
)
"""Words of a condition or of another part before a number; public reports need it, 1 of 19,257 replies."""
_RESULT = Pattern(r"[=≈]\s*$")
_THEREFORE = Pattern(
    r"(?<=\w)[,;]? \b(?:so|thus|hence|therefore|equals|(?:for|making) a total of|"
    r"which is(?! \S+ (?:\w+ )?(?:more|less|fewer|\w{3,}er|times)\b))\b",
    2,
)
