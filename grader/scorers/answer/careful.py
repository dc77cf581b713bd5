"""The careful reading of short answers: what stands in an answer's place, whole or not at all, never a guess.

Where no claim is one of the kind, the sentences that can answer are read: numbers that the question states are
repeated, not answered; if the last sentence has one other number, that is the answer, else the first. Where no rule
finds an answer, the outcome is `no_answer`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.numbers import Number, number, numbers_in, simplified
from grader.scorers.patterns import Pattern
from grader.scorers.place_wordings import REFUSES
from grader.scorers.places import claims, own_words, settle, withdrawn_before
from grader.scorers.plain_text import plain, without_markup
from grader.scorers.yes_no import polarity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.scorers.answer.declaration import Kind
    from grader.scorers.answer.expressions import Comparer
    from grader.scorers.places import Claim, Reply


class Said(NamedTuple):
    """What a reply answers, and by which rule it was read; an answer of None says why there is none."""

    answer: str | None
    rule: str


def read_answer(text: str, question: str, kind: Kind) -> Said:
    """Return the answer of a reply as it is written."""
    reply = own_words(text, question)
    if reply.problem:
        return Said(None, reply.problem)
    found = settle(claims(reply), partial(_content, reply, question, kind), partial(is_same, kind=kind))
    if found is None or (found.several and found.claim.form == "line"):
        answer = _undeclared(reply, question, kind)
        return Said(answer, "sentence") if answer else Said(None, "nothing_read")
    result = _number_of(reply, question, found.claim.end) if kind == "number" else None
    if found.several or (result is not None and not is_same(result, found.value, kind)):
        return Said(None, "several_answers")
    return Said(found.value, found.claim.rule)


def _content(reply: Reply, question: str, kind: Kind, claim: Claim) -> str | None:
    """Return the answer in a claim; None if it is not one of the kind, or not whole."""
    content = reply.text[claim.start : claim.end].strip(" \t\n*_")
    if kind == "number":
        if claim.form == "line":
            content = _without_brackets(simplified(_EXPLAINED.split(_LABEL.sub("", content))[0]))
            return content if number(content) else None
        content = simplified(content)
        if number(content):
            return content
        is_near = "\n" not in reply.text[claim.whole[0] : claim.start]
        return _first_or_only(content, question, is_near=is_near)
    if claim.form == "line":
        return None
    if kind == "yes_no":
        return _said(polarity(without_markup(content).lower(), ""))
    opened = _OPENED.search(reply.text, 0, claim.start) if claim.form == "declaration" else None
    return _OPTION.sub("", (opened[0] if opened else "") + content) or None


_LABEL = Pattern(r"^A(?:ns)?:", 2)
_EXPLAINED = Pattern(r"[,;]? (?:because|since) |, as ", 2)
_OPENED = Pattern(r"[(\[{]+$")
_OPTION = Pattern(r"^\([A-Z]\)\s*(?=\S)")


def _undeclared(reply: Reply, question: str, kind: Kind) -> str | None:
    """Return the answer of the sentences that can answer."""
    if kind == "yes_no":
        own = "\n".join(reply.shown[start:end] for start, end in reply.sentences) or reply.shown
        return _said(polarity(own.strip().lower(), question.lower()))
    text = None if kind == "number" else _text(reply, question)
    return text if kind == "text" or (text and not _PROSE.search(text)) else _number_of(reply, question)


def _said(agrees: bool | None) -> str | None:
    return None if agrees is None else "yes" if agrees else "no"


def _text(reply: Reply, question: str) -> str | None:
    """Return a reply of one line, without its courtesies; of several lines, the only one that is a list or emphasized.

    The first of several lines can be a heading. It is the answer if later lines repeat it and the question does not.
    """
    spans = [] if REFUSES.search(reply.low) else reply.sentences
    framed = reply.text[spans[0][0] : spans[-1][1]] if spans else reply.text.strip()
    lines = [line for line in reply.text.split("\n") if line.strip()] if "\n" in framed else [framed]
    if len(lines) > 1:
        first, *rest = (folded(line).strip(" .") for line in lines)
        is_repeated = first in "\n".join(rest) and not {*_WORD.findall(first)} <= _FRAME.union(_words(question))
        alone = [pair for pair in pairwise(["", *lines]) if _ALONE.fullmatch(pair[1])]
        own = [line for before, line in alone if "*" not in line or line == lines[-1] or _ANNOUNCES.search(before)]
        lines = lines[:1] if is_repeated else own
    return lines[0].strip(" \t*_`.") if len(lines) == 1 else None


_ANNOUNCES = Pattern(r":[ *_]*$")
_PROSE = Pattern(r"(?<![\\A-Za-z])[A-Za-z]{3}|boxed")
_ALONE = Pattern(r"\s*(?:\[[^\[\]]*\]|\*\*[^*]+\*\*|\$+[^$]+\$+)[.\s]*")


# --- numbers ---------------------------------------------------------------------------------------------------------


def _first_or_only(content: str, question: str, *, is_near: bool) -> str | None:
    """Return the number with which a content begins; else its result, or its only number, which may be an echo."""
    found = [*numbers_in(content)]
    if found and _LEAD.fullmatch(content[: found[0].start]):
        return found[0].text
    return _the_one(content, found, _stated(question)) or (_the_one(content, found, ()) if is_near else None)


_LEAD = Pattern(r"(?:[\W_]|\b(?:that|it|about|approximately|around|roughly|minus|negative|usd|eur|is|equal|to)\b)*", 2)


def _number_of(reply: Reply, question: str, after: int | None = None) -> str | None:
    """Return the number of the sentence that concludes, or of that with most words of the question.

    `after`: only sentences that conclude, and stand behind this place.
    """
    last = (simplified(reply.text[slice(*span)]) for span in reply.sentences[-1:])
    if reply.breaks_off and not any(any(numbers_in(content)) for content in last):
        return None
    asked, stated = _words(question), _stated(question)
    best: tuple[float, str] | None = None
    said = withdrawn_before(reply.low)
    for start, end in reply.sentences:
        concludes = _CONCLUDES.match(reply.text, start) is not None
        if end <= said or (after is not None and (start < after or not concludes)):
            continue
        near = len(asked & _words(reply.text[start:end])) / (len(asked) or 1) + concludes
        near += 0.3 * (_EMPHASIZED.search(reply.text, start, end) is not None)
        near += 0.2 * (end == reply.sentences[-1][1])
        if best is None or near > best[0] or near == best[0] > 1:
            content = _without_brackets(simplified(reply.text[start:end]))
            answer = _the_one(content, _of_years(content, question), stated)
            best = (near, answer) if answer else best
    return best and best[1]


def _without_brackets(content: str) -> str:
    """Leave out what is in brackets if there is a number outside: brackets explain."""
    outside = _BRACKETS.sub(" ", content)
    return outside if _DIGIT.search(outside) and "=" not in content else content


_BRACKETS = Pattern(r"\([^()]*\)")
_DIGIT = Pattern(r"\d")


def _of_years(content: str, question: str) -> list[Number]:
    """Return the numbers of a sentence: its years if the question asks for a year, else all but years that say when."""
    found = [*numbers_in(content)]
    years = [one for one in found if _YEAR.fullmatch(one.text)]
    if _ASKS_YEAR.search(question):
        return [one for one in years if " " in content[: one.start].strip()] or found
    if _YEARS.search(question):
        return found
    when = [one for one in years if _WHEN.search(content, 0, one.start)]
    return [one for one in found if one not in when] or found


_YEAR = Pattern(r"(?:1[5-9]|20)\d\d")
_YEARS = Pattern(r"\b(?:when|years?)\b", 2)
_ASKS_YEAR = Pattern(r"\b(?:when (?:is|was|were|do|does|did)|(?:which|what)(?: \w+)? years?)\b", 2)
_WHEN = Pattern(r"\b(?:in|by|since|until|during|before|after|year) $", 2)
_EMPHASIZED = Pattern(r"\*\*\W{0,2}\d[^*\n]{0,40}\*\*")
_CONCLUDES = Pattern(
    r"\W{0,4}(?:(?:so|thus|hence|therefore|finally|in total|overall|in conclusion|consequently)\b|"
    r"(?:a|ans|(?:the )?(?:grand )?(?:total|sum|result)):)",
    2,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d_]{3,}", text.lower()))


def _stated(question: str) -> list[Number]:
    return [*numbers_in(simplified(plain(question)))]


def _the_one(content: str, found: list[Number], stated: Sequence[Number]) -> str | None:
    """Return the last result of a content, else its only number beside those stated and the bare word "one"."""
    results = [one for one in found if _RESULT.search(content, max(0, one.start - 3), one.start)]
    concluded = [at.end() for at in _SO.finditer(content)][-1:]
    results = results[-1:] or [one for one in found if concluded and one.start >= concluded[0]][:1]
    kept = results or [
        one for one in found if one.text.lower() != "one" and not any(one.same_number(other) for other in stated)
    ]
    return kept[0].text if kept and all(one.same_number(kept[0]) for one in kept) else None


_RESULT = Pattern(r"[=≈]\s*$")
_SO = Pattern(
    r"(?<=\w)[,;]? \b(?:so|thus|hence|therefore|equals|(?:for|making) a total of|"
    r"which (?:is|gives)(?! \S+ (?:\w+ )?(?:more|less|fewer|\w{3,}er|times)\b))\b",
    2,
)


# --- comparing -------------------------------------------------------------------------------------------------------

_SIGNS = Pattern(r"[\d+=<>/^]")
_FRAME = frozenset(
    (  # noqa: SIM905 - shorter than a list
        "a an the it this that there is are was were would be of in on at by with says reads shows called named "
        "i think believe it's s"
    ).split()
)
_TURN = Pattern(
    r"\b(?:no|not|never|nor|or|but|however|wait|actually|although|though|instead|wrong|incorrect|today|now|formerly|"
    r"until|if|maybe|perhaps|might|could)\b|n't\b",
    2,
)
"""Words after an answer that may take it back."""


def is_accepted(
    answer: str, accepted: Sequence[str], kind: Kind, comparer: Comparer, question: str = ""
) -> bool | None:
    """Whether an answer as it is written is one of those accepted.

    None if that is not known: an expression takes too long to compare, or a text says more than an accepted answer.
    """
    if any(is_same(answer, gold, kind) for gold in accepted):
        return True
    if kind == "expression":
        compared = [comparer.equal(answer.strip(" $."), gold.strip(" $.")) for gold in accepted]
    elif kind == "text":
        compared = [_says(answer, gold, question) for gold in accepted]
    else:
        return False
    return True if True in compared else None if None in compared else False


def _says(answer: str, gold: str, question: str) -> bool | None:
    """Whether a sentence has the gold answer beside words of the question; None if it has other words, too."""
    is_list = _ALONE.fullmatch(gold)
    word = _WORD if is_list or not _SIGNS.search(gold) else _WORD_WITH_SIGNS
    words, wanted, asked = (word.findall(folded(text).replace("'s ", " ")) for text in (answer, gold, question))
    if is_list:
        words, wanted = ([word for word in of if word != "and"] for of in (words, wanted))
    places = [at for at in range(len(words)) if wanted and words[at : at + len(wanted)] == wanted]
    if not places:
        return False
    rest = {*words[: places[0]], *words[places[0] + len(wanted) :]}
    if rest <= _FRAME.union(asked):
        return True
    # "Paris. It lies on the Seine.": the first clause answers, and what follows only explains.
    first, *more = _MORE.split(answer, 1)
    return True if more and not _TURN.search(more[0]) and _says(first, gold, question) else None


_WORD = Pattern(r"\w+(?:[.']\w+)*")
_WORD_WITH_SIGNS = Pattern(r"[^\s\"';!?]*[^\s\"',;!?.:]")
_MORE = Pattern(
    r"\. | \(|,? (?=(?:because|since)\b)|, (?=(?:located|which|who|where|an?|at|with|in|on|as|based|according)\b)", 2
)


_BRITISH = (("grey", "gray"), ("colour", "color"), ("metre", "meter"), ("litre", "liter"), ("centre", "center"))


def folded(text: str) -> str:
    """Return a text in lower case and American spelling, without accents and markup."""
    decomposed = unicodedata.normalize("NFKD", without_markup(plain(text)).casefold())
    for british, american in _BRITISH:
        decomposed = decomposed.replace(british, american)
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def is_number(text: str) -> bool:
    """Whether a text is a number, perhaps with a unit of measurement."""
    read = number(text)
    return read is not None and (not read.unit or read.is_measure)


def is_same(answer: str, gold: str, kind: Kind) -> bool:
    """Whether two answers are the same number or text; expressions are not transformed."""
    if kind in ("number", "expression"):
        stated, wanted = number(answer), number(gold)
        if kind == "number" or (stated is not None and wanted is not None):
            return stated is not None and wanted is not None and stated.equals(wanted)
    return _spelled(answer) == _spelled(gold)


def _spelled(text: str) -> str:
    """Return a text without what does not tell answers apart: case, blanks, markup, kinds of quotes, a full stop."""
    return _LOOSE.sub(r"\1", " ".join(folded(text).replace("'", '"').split())).strip(" .")


_LOOSE = Pattern(r" ?([\[\](){},:]) ?")
