"""Whether an answer is one of those accepted: numbers as quantities, texts but for case and spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.choice.careful.options import tokens
from grader.scorers.choice.careful.patterns import Pattern
from grader.scorers.choice.careful.quantities import Quantity, quantity
from grader.scorers.choice.careful.spelling import folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.scorers.answer.declaration import Kind
    from grader.scorers.answer.expressions import Comparer

_SIGNS = Pattern(r"[\d+=<>/^]")
_FRAME = frozenset(
    ("a", "an", "the", "it", "this", "that", "there", "is", "are", "was", "were", "of", "in", "on", "at")
)


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
    said, wanted, asked = ([folded(word) for word in tokens(text)] for text in (answer, gold, question))
    places = [at for at in range(len(said)) if wanted and said[at : at + len(wanted)] == wanted]
    if not places or _SIGNS.search(gold):
        return False
    rest = {*said[: places[0]], *said[places[0] + len(wanted) :]}
    return True if rest <= _FRAME.union(asked) else None


def is_number(text: str) -> bool:
    """Whether a text is a number, perhaps with a unit of measurement."""
    said = quantity(text)
    return said is not None and (not said.unit or said.is_measure)


def is_same(answer: str, gold: str, kind: Kind) -> bool:
    """Whether two answers are the same number or text; expressions are not transformed."""
    if kind in ("number", "expression"):
        said, wanted = quantity(answer), quantity(gold)
        if kind == "number" or (said is not None and wanted is not None):
            return said is not None and wanted is not None and _equal(said, wanted)
    mine, theirs = (" ".join(text.lower().split()).strip(" .") for text in (answer, gold))
    return mine == theirs or (kind == "text" and not _SIGNS.search(theirs) and folded(mine) == folded(theirs))


def _equal(said: Quantity, wanted: Quantity) -> bool:
    if said.equals(wanted):
        return True
    return said.same_number(wanted) and not (said.unit and wanted.unit and said.is_measure and wanted.is_measure)
