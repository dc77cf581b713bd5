"""A judge model for short answers: the benchmark's prompt, and what its grades are called in the judge's reply.

The official reading of the rule `judge` is the judge's grade. The careful reading asks about replies that its rules
cannot decide: prose, and texts that are not the gold answer, which may say the same in other words.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from grader.predictions.file import judge_key
from grader.results import Note, Outcome, Reading
from grader.scorers.answer.declaration import JUDGE
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.judge import JudgeReply
    from grader.judge.session import JudgeSession
    from grader.results import ReadingName, SampleResult
    from grader.scorers.answer.declaration import AnswerBenchmark, AnswerTask, Grade
    from grader.scorers.interface import Run

_OUTCOMES: Mapping[Grade, Outcome] = {
    "correct": Outcome.CORRECT,
    "wrong": Outcome.WRONG,
    "no_answer": Outcome.NO_ANSWER,
}
_UNDECIDED_RULES = frozenset(("nothing_read", "says_more", "several_answers", "too_long_to_compare"))
"""Rules by which the careful reading does not know whether the reply has the answer."""
NOT_ASKED = Reading(outcome=Outcome.UNSCORED, credit=None, detail="no judge was asked", rule=JUDGE)


def with_judge(
    samples: list[SampleResult], run: Run[AnswerBenchmark, AnswerTask], session: JudgeSession
) -> tuple[list[SampleResult], list[Note]]:
    """Return the samples with the judge's grades, and a note."""
    asking = {_key(sample): names for sample in samples if (names := _readings_that_ask(sample, run))}
    if session.judge is None:
        return samples, _no_judge_notes(sum("official" in names for names in asking.values()))
    from grader.judge import JudgeQuestion
    from grader.judge.prompts import short_answer_prompt

    grades = run.benchmark.judge_grades
    texts = {(task.id, number): text for task, number, text in run.replies() if text is not None}
    questions = [
        JudgeQuestion(
            qid=key,
            prompt=short_answer_prompt(
                run.tasks[sample.qid].text,
                run.tasks[sample.qid].accepted,
                texts[sample.qid, sample.sample],
                template=session.template or "",
            ),
            accept=partial(_is_readable, grades, asking[key]),
        )
        for sample in samples
        if (key := _key(sample)) in asking
    ]
    replies = session.judge.ask(questions)
    judged = [
        _with_grade(sample, asking[key], replies[key], grades) if (key := _key(sample)) in asking else sample
        for sample in samples
    ]
    return judged, [Note(f"A judge was asked about {len(asking):,} of {counted(len(samples), 'sample')}.")]


def _no_judge_notes(number: int) -> list[Note]:
    if not number:
        return []
    text = f"No judge: {counted(number, 'sample')} are unscored officially, because this protocol"
    return [Note(f"{text} is scored by a judge model. Give `--judge-model` or `--judge-replies`.", "official")]


def _key(sample: SampleResult) -> str:
    return judge_key(sample.qid, sample.sample)


def _readings_that_ask(sample: SampleResult, run: Run[AnswerBenchmark, AnswerTask]) -> frozenset[ReadingName]:
    """Return the readings that need the judge; the careful one, not for options or a failure of the server."""
    task, careful = run.tasks[sample.qid], sample.careful
    if task.broken:
        return frozenset()
    is_undecided = careful.rule_name in _UNDECIDED_RULES or (task.kind == "text" and careful.outcome is Outcome.WRONG)
    is_failure = (sample.qid, sample.sample) in run.oddities.failures
    needs: dict[ReadingName, bool] = {
        "official": sample.official.rule_name == JUDGE,
        "careful": is_undecided and not task.options and not is_failure,
    }
    return frozenset(name for name, is_needed in needs.items() if is_needed)


def _grade(reply: str, grades: Mapping[Grade, str], reading: ReadingName) -> Grade | None:
    """Return the grade whose name stands first in a judge's reply; carefully, only as a word of its own."""
    before, behind = (r"(?<!\w)", r"(?!\w)") if reading == "careful" else ("", "")
    positions = {
        grade: match.start()
        for grade, name in grades.items()
        if (match := re.search(before + re.escape(name) + behind, reply)) is not None
    }
    return min(positions, key=positions.__getitem__, default=None)


def _is_readable(grades: Mapping[Grade, str], names: frozenset[ReadingName], reply: str) -> bool:
    return _grade(reply, grades, "careful" if "careful" in names else "official") is not None


def _with_grade(
    sample: SampleResult, names: frozenset[ReadingName], reply: JudgeReply, grades: Mapping[Grade, str]
) -> SampleResult:
    """Return a sample whose named readings are the judge's."""
    text = reply.text if reply.text is not None else reply.unreadable  # None: the judge has not replied
    readings = {}
    if "official" in names:
        grade = None if text is None else _grade(text, grades, "official")
        # A judge's reply in which no grade is read is a grade for the official scorer, too: "not attempted".
        without_grade = Outcome.UNSCORED if text is None else Outcome.NO_ANSWER
        readings["official"] = _reading(None, grade, without_grade, reply.error)
    if "careful" in names:
        grade = None if text is None else _grade(text, grades, "careful")
        readings["careful"] = _reading(sample.careful.answer, grade, Outcome.UNSCORED, reply.error)
    return msgspec.structs.replace(sample, **readings)


def _reading(answer: str | None, grade: Grade | None, without_grade: Outcome, error: str) -> Reading:
    """Return a reading with the judge's grade.

    `without_grade`: the outcome if there is none. `error`: why the judge gave none.
    """
    outcome = without_grade if grade is None else _OUTCOMES[grade]
    is_unscored = outcome is Outcome.UNSCORED
    return Reading(
        outcome=outcome,
        credit=None if is_unscored else int(outcome is Outcome.CORRECT),
        answer=answer,
        detail=f"the judge gave no grade ({error})" if is_unscored else "decided by the judge",
        rule=JUDGE,
    )
