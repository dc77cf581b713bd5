"""Ask a judge about error reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.scorers.mr_ben.judge_decision import decision_careful
from grader.scorers.mr_ben.tasks import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.judge import JudgeQuestion, JudgeReply
    from grader.judge.session import JudgeSession
    from grader.scorers.mr_ben.samples import Reply

_VERDICTS = {"correct": "Correct", "right": "Correct", "wrong": "Wrong", "incorrect": "Wrong"}
"""A person's verdict, one word -> the judge's decision."""


def ask_judge(replies: list[Reply], session: JudgeSession, *, by_person: bool) -> Mapping[str, JudgeReply]:
    """Ask about the error reasons that matter in at least one reading; return question key -> reply."""
    if session.judge is None:
        return {}
    answers = session.judge.ask([_question(r, session.template) for r in replies if r.asks_official or r.asks_careful])
    return {key: _as_judged(answer) for key, answer in answers.items()} if by_person else answers


def _as_judged(answer: JudgeReply) -> JudgeReply:
    """Turn a person's one-word verdict into the form of a judge's reply, so that both readings can read it."""
    verdict = _VERDICTS.get((answer.text or "").strip(" \t\r\n.!*").lower())
    if verdict is None:
        return answer
    form = f"Step-by-Step Reasoning: -\nStudent Error Reason Analysis: -\nFinal Decision: {verdict}"
    return msgspec.structs.replace(answer, text=form)


def _question(reply: Reply, template: str | None) -> JudgeQuestion:
    from grader.judge import JudgeQuestion
    from grader.judge.prompts import error_reason_prompt

    row = reply.task.row
    reason = reply.careful.error_reason or reply.official.raw[2]
    if reply.gold.coding:
        reason = f"First error line: {reply.careful.step or reply.official.raw[1].strip()}\n{reason}"
    prompt = error_reason_prompt(
        question=plain(row.get("Question")),
        solution=plain(row.get("Model_Solution_Steps")),
        first_error_step=plain(row.get("Model_Solution_First_Error_Step")),
        error_reason=plain(row.get("Model_Solution_Error_Reason")),
        rectified_step=plain(row.get("Model_Solution_Rectified_First_Error_Step")),
        answer=reason,
        template=template,
    )
    return JudgeQuestion(qid=reply.key, prompt=prompt, accept=lambda text: decision_careful(text) is not None)
