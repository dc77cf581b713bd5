"""Self-test responses whose verdict is known: the annotators' answers in several wordings, wrong ones, refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.probe import Probe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.scorers.mr_ben.tasks import MrBenTask

PUBLISHED = (
    "Solution Analysis: Each step was checked.\n"
    "Solution Correctness: {verdict}\nFirst Error Step: {named}\nError Reason: {reason}"
)
"""The format that the published prompt asks for: the only wording that the official parser reads, too."""

WORDINGS = (
    "**Solution Correctness:** {verdict}\n**First Error Step:** {named}\n**Error Reason:** {reason}",
    "### Solution Correctness\n{verdict}\n\n### First Error Step\n{named}\n\n### Error Reason\n{reason}",
    "- Solution Correctness: The solution is {verdict}.\n- First Error Step: {named}\n- Error Reason: {reason}",
    '{{"solution_correctness": "{verdict}", "first_error_step": "{step}", "error_reason": "{reason}"}}',
    "<think>It seems {opposite} at first.</think>\n"
    "Solution Correctness: {verdict}\nFirst Error Step: {named}\nError Reason: {reason}",
)
REFUSALS = (
    "I cannot judge this solution.",
    "I would need more information to answer.",
    "Sorry, I can't help with that.",
)

JUDGE = "Step-by-Step Reasoning: -\nStudent Error Reason Analysis: -\nFinal Decision: {decision}"


def probes(tasks: Mapping[str, MrBenTask]) -> Iterator[Probe]:
    """Yield the responses to every task."""
    for qid, task in tasks.items():
        values = _values(task)
        yield _right(qid, PUBLISHED, values, official=True)
        for wording in WORDINGS:
            yield _right(qid, wording, values, official=None)
        yield from _wrong(qid, task, values)
        for text in REFUSALS:
            yield Probe(qid=qid, kind="refusal", title=text, prediction=text, official=False, careful=False)


def _values(task: MrBenTask) -> dict[str, str]:
    gold = task.gold_row
    if gold.correct:
        return {"verdict": "correct", "opposite": "incorrect", "step": "N/A", "named": "N/A", "reason": "N/A"}
    step = gold.step.strip()
    return {
        "verdict": "incorrect",
        "opposite": "correct",
        "step": step,
        "named": step if gold.coding else f"Step {step}",
        "reason": "It does not follow from the step before it.",
    }


def _right(qid: str, wording: str, values: dict[str, str], *, official: bool | None) -> Probe:
    return Probe(
        qid=qid,
        kind="wording",
        title=wording.partition("\n")[0],
        prediction=wording.format(**values),
        official=official,
        careful=True,
        judge_reply=JUDGE.format(decision="Correct"),
    )


def _wrong(qid: str, task: MrBenTask, values: dict[str, str]) -> Iterator[Probe]:
    """Yield a wrong verdict, and for an incorrect solution a reason that the judge rejects."""
    other = {"verdict": values["opposite"], "named": "Step 1", "reason": "It does not follow."}
    if not task.gold_row.correct:
        other |= {"named": "N/A", "reason": "N/A"}
        yield Probe(
            qid=qid,
            kind="wrong",
            title="an error reason that the judge does not accept",
            prediction=PUBLISHED.format(**values),
            careful=False,
            judge_reply=JUDGE.format(decision="Wrong"),
        )
    yield Probe(
        qid=qid,
        kind="wrong",
        title="the opposite verdict",
        prediction=PUBLISHED.format(**other),
        official=False,
        careful=False,
        judge_reply=JUDGE.format(decision="Correct"),
    )
