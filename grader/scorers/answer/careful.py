"""The careful reading of short answers: the statement with which a reply answers, never a guess.

The same principles as for options: an answer in the form of one beats the last sentence; answers to a next question
and what follows a loop do not count. Where no rule finds an answer, the outcome is `no_answer`.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from grader.predictions.reasoning import hide_reasoning
from grader.scorers.choice.careful.options import tokens
from grader.scorers.choice.careful.quantities import Quantity, quantities_in, quantity
from grader.scorers.choice.careful.read import LONGEST_WITH_REASONING
from grader.scorers.choice.careful.spelling import folded
from grader.scorers.choice.careful.yes_no import polarity
from grader.scorers.containers import find_wrapped
from grader.scorers.patterns import Pattern
from grader.scorers.places import end_turn, this_question, without_loop
from grader.scorers.plain_text import plain, without_markup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.scorers.answer.declaration import Kind
    from grader.scorers.answer.expressions import Comparer

_FORM = Pattern(r"(?:\b(?:final )?answer\b(?: is|:| =)|####)[ \t*]*:?[ \t*]*(?:about |approximately |that )?", 2)
_END = Pattern(r"[\n!?;]|\.(?=\s|$)")
_RESULT = Pattern(r"=|\b(?:so|thus|hence|therefore|equals)\b", 2)
_DENIED = Pattern(r"\bnot\s+$", 2)
_LONGEST = 200_000
_MOST = 50


class Said(NamedTuple):
    """What a reply answers, and by which rule it was read; an answer of None says why there is none."""

    answer: str | None
    rule: str


def read_answer(text: str, question: str, kind: Kind) -> Said:
    """Return the answer of a reply as it is written."""
    cleaned, unclosed = hide_reasoning(plain(text[-LONGEST_WITH_REASONING:]))
    if unclosed:
        return Said(None, "unclosed_reasoning")
    cleaned = without_loop(end_turn(cleaned)[-_LONGEST:])
    cleaned = this_question(cleaned, question).strip()
    if not cleaned:
        return Said(None, "empty")
    for rule, content in _candidates(cleaned):
        answer = _part(content, question, kind, whole=rule != "final_statement")
        if answer:
            return Said(answer, rule)
    return Said(None, "nothing_read")


def _candidates(text: str) -> Iterator[tuple[str, str]]:
    """Yield (rule, content) of what can be the answer, the strongest first."""
    wrapped = find_wrapped(text)
    if wrapped:
        yield wrapped[-1].rule, text[slice(*wrapped[-1].inner)]
    shown = without_markup(text).replace("\\$", "$")
    for form in reversed(deque(_FORM.finditer(shown), _MOST)):
        end = _END.search(shown, form.end())
        yield "declaration", shown[form.end() : end.start() if end else len(shown)]
    yield "bare_text", shown
    paragraphs = shown.rstrip().rpartition("\n")
    yield "final_statement", paragraphs[2]


def _part(content: str, question: str, kind: Kind, *, whole: bool) -> str:
    """Return the answer in a piece of a reply; empty if there is none, or several."""
    content = without_markup(content).strip("{} \t\n") if kind == "text" else content
    content = content.strip(" \t\n*").rstrip(" \t\n.*")
    if kind == "number" or (kind == "expression" and not whole):
        return _number(content, whole=whole)
    if kind == "yes_no":
        answer = polarity(content.lower(), question.lower())
        return "" if answer is None else "yes" if answer else "no"
    return content if whole and len(content) <= 200 and "\n" not in content else ""


def _number(content: str, *, whole: bool) -> str:
    if len(content) < 100 and quantity(content) is not None:
        return content
    if len(content) > 1000 or (whole and "\n" in content):
        return ""
    spans = [span for span in quantities_in(content) if not _DENIED.search(content, max(0, span[0] - 8), span[0])]
    # "18 - 6 = 12", "so 12 are left of 18": a sentence with several other numbers does not say which one it means.
    results = [result.end() for result in _RESULT.finditer(content)][-1:]
    spans = [span for span in spans if results and span[0] >= results[0]][:1] or spans
    return content[slice(*spans[0][:2])] if len(spans) == 1 else ""


_SIGNS = Pattern(r"[\d+=<>/^]")
_FRAME = frozenset(
    (  # noqa: SIM905 - shorter than a list
        "a an the it this that there is are was were of in on at by says reads shows called named "
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
    words, wanted, question_words = ([folded(word) for word in tokens(text)] for text in (answer, gold, question))
    places = [at for at in range(len(words)) if wanted and words[at : at + len(wanted)] == wanted]
    if not places or _SIGNS.search(gold):
        return False
    rest = {*words[: places[0]], *words[places[0] + len(wanted) :]}
    if rest <= _FRAME.union(question_words):
        return True
    # "Paris. It lies on the Seine.": the first sentence answers, and what follows only explains.
    first, _, more = answer.partition(". ")
    return True if more and not _TURN.search(more) and _says(first, gold, question) else None


def is_number(text: str) -> bool:
    """Whether a text is a number, perhaps with a unit of measurement."""
    read = quantity(text)
    return read is not None and (not read.unit or read.is_measure)


def is_same(answer: str, gold: str, kind: Kind) -> bool:
    """Whether two answers are the same number or text; expressions are not transformed."""
    if kind in ("number", "expression"):
        stated, wanted = quantity(answer), quantity(gold)
        if kind == "number" or (stated is not None and wanted is not None):
            return stated is not None and wanted is not None and _equal(stated, wanted)
    mine, theirs = (" ".join(text.lower().split()).strip(" .") for text in (answer, gold))
    return mine == theirs or (kind == "text" and not _SIGNS.search(theirs) and folded(mine) == folded(theirs))


def _equal(stated: Quantity, wanted: Quantity) -> bool:
    if stated.equals(wanted):
        return True
    return stated.same_number(wanted) and not (stated.unit and wanted.unit and stated.is_measure and wanted.is_measure)
