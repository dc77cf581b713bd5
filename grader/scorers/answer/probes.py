"""Self-test replies whose answer is known: correct answers in several wordings, wrong answers and refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.choice.careful.quantities import quantity
from grader.scorers.choice.probes import REFUSALS
from grader.scorers.probe import Probe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.scorers.answer.declaration import AnswerTask

BARE = "{answer}"
OFFICIAL = {"gsm8k": "#### {answer}", "hendrycks-math": "\\boxed{{{answer}}}"}
"""Name of an official rule -> the wording that it reads; the others read the bare answer."""

MARKED = ("\\boxed{{{answer}}}", "<answer>{answer}</answer>")
"""Wordings that say where an answer begins and ends."""

SENTENCES = (
    "#### {answer}",
    "**{answer}**",
    "Answer: {answer}",
    "The answer is {answer}.",
    "**Final answer:** {answer}",
    "<think>Let me see.</think>\nThe answer is {answer}.",
)
"""Wordings for numbers, yes and no. A text could have a full stop or other words of its own."""


def probes(tasks: Mapping[str, AnswerTask], rule: str) -> Iterator[Probe]:
    """Yield the replies to every task without options."""
    official = OFFICIAL.get(rule, BARE)
    for qid, task in tasks.items():
        if task.options:
            continue
        gold = task.accepted[0]
        is_short = task.kind == "yes_no" or (task.kind == "number" and quantity(gold) is not None)
        for wording in dict.fromkeys((BARE, *MARKED, *(SENTENCES if is_short else ()), official)):
            yield Probe(
                qid=qid,
                kind="wording",
                title=wording.replace("{answer}", "<answer>"),
                prediction=wording.format(answer=gold),
                # Whether a rule reads a longer text or an expression depends on the text.
                official=True if is_short and wording == official else None,
                careful=True,
            )
        other = _other(task)
        yield Probe(qid=qid, kind="wrong", title=other, prediction=other, official=False, careful=False)
        for text in REFUSALS:
            yield Probe(qid=qid, kind="refusal", title=text, prediction=text, careful=False)


def _other(task: AnswerTask) -> str:
    """Return an answer that is not accepted."""
    candidates = ("yes", "no") if task.kind == "yes_no" else ("90217.5", "-31")
    return next(each for each in candidates if each not in task.accepted)
