"""Turn responses into samples: both readings of every response, and the decision of the judge, who is asked here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.predictions.file import judge_key
from grader.results import Outcome, Reading, SampleResult
from grader.scorers.interface import missing_reading
from grader.scorers.mr_ben import reading as mr_ben
from grader.scorers.mr_ben.careful import careful_decision, read_careful
from grader.scorers.mr_ben.facts import MrBenFacts, ReadingFacts, facts_of
from grader.scorers.mr_ben.official import MrBenReading, official_letters, read_official
from grader.scorers.mr_ben.reading import Credit, GoldRow
from grader.scorers.mr_ben.tasks import MrBenBenchmark, MrBenTask, plain
from grader.scorers.oddities import NOT_JUDGED, SERVER_FAILURE, with_oddities

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.judge import JudgeQuestion, JudgeReply
    from grader.judge.session import JudgeSession
    from grader.predictions.outcomes import Oddities
    from grader.scorers.interface import Run
    from grader.scorers.mr_ben.official import Parser


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """One response to one row, with both readings."""

    qid: str
    sample: int
    task: MrBenTask
    official: MrBenReading
    careful: MrBenReading
    is_failure: bool = False
    """Whether the text is a server failure and not a response."""

    @property
    def gold(self) -> GoldRow:
        """The gold annotation."""
        return self.task.gold_row

    @property
    def key(self) -> str:
        """The key of the question to the judge."""
        return judge_key(self.qid, self.sample)

    @property
    def asks_official(self) -> bool:
        """Whether the official scorer asks the judge about it."""
        return mr_ben.needs_judge_official(self.gold, self.official)

    @property
    def asks_careful(self) -> bool:
        """Whether the careful reading depends on the judge."""
        return not self.is_failure and mr_ben.needs_judge_careful(self.gold, self.careful)


def read(
    tasks: Mapping[str, MrBenTask], predictions: Mapping[str, list[str]], oddities: Oddities, parser: Parser = "mr-ben"
) -> list[Response]:
    """Read every response both ways."""
    return [
        Response(
            qid=qid,
            sample=number,
            task=task,
            official=read_official(text, parser),
            careful=read_careful(text, task.gold_row.program),
            is_failure=(qid, number) in oddities.failures,
        )
        for qid, texts in predictions.items()
        for task in (tasks[qid],)
        for number, text in enumerate(texts)
    ]


def make_samples(
    run: Run[MrBenBenchmark, MrBenTask], replies: list[Response], answers: Mapping[str, JudgeReply]
) -> list[SampleResult]:
    """Return the results in the benchmark's order, with those of missing responses."""
    samples = [_sample(reply, answers.get(reply.key)) for reply in replies]
    samples += [_sample_without_response(task, number) for task, number in run.missing()]
    order = {qid: number for number, qid in enumerate(run.predictions)}
    return sorted(samples, key=lambda sample: order[sample.qid])


def exclude_failures(samples: list[SampleResult], oddities: Oddities) -> list[SampleResult]:
    """Mark the oddities, and exclude server failures from the careful metrics; officially they are responses."""
    return [
        _without_careful_facts(sample) if sample.careful.rule == SERVER_FAILURE else sample
        for sample in with_oddities(samples, oddities)
    ]


def _without_careful_facts(sample: SampleResult) -> SampleResult:
    careful = ReadingFacts(correctness=None, step=None, reason=None, lost=True)
    facts = msgspec.structs.replace(facts_of(sample), careful=careful, difference=None)
    return msgspec.structs.replace(sample, facts=facts)


def _sample(reply: Response, answer: JudgeReply | None) -> SampleResult:
    """Return the result of a response; `answer` is the judge's, None if it was not asked."""
    judge_text = None if answer is None else answer.text
    if answer is not None and judge_text is None:
        # The official scorer also reads a reply that has no decision for the careful one.
        judge_text = answer.unreadable
    official = _official_credit(reply, judge_text)
    careful = mr_ben.credit_careful(reply.gold, reply.careful, _decision(answer))
    judge_error = "" if answer is None else answer.error
    facts = MrBenFacts(
        gold="correct" if reply.gold.correct else "incorrect",
        gold_step=reply.gold.step,
        official=_facts(reply.official, official),
        careful=_facts(reply.careful, careful),
        judge=None if judge_text is None else judge_text[:_LONGEST_JUDGE_TEXT],
        difference=mr_ben.difference_kind(reply.gold, reply.official, reply.careful, judge_text) or None,
    )
    return SampleResult(
        qid=reply.qid,
        sample=reply.sample,
        official=_reading(reply, reply.official, official, judge_error),
        careful=_reading(reply, reply.careful, careful, judge_error),
        unit=reply.task.unit,
        groups=reply.task.groups,
        facts=facts,
    )


_LONGEST_JUDGE_TEXT = 4000


def _official_credit(reply: Response, judge_text: str | None) -> Credit:
    """Return the official credit; parts that depend on a missing reply of the judge are unscored."""
    credit = mr_ben.credit_official(reply.gold, reply.official, judge_text if reply.asks_official else None)
    lacks_reply = reply.asks_official and judge_text is None
    # The judge is asked about any verdict that contains "incorrect", but only "incorrect" alone earns credit.
    if not lacks_reply or official_letters(reply.official.raw.correctness) != "incorrect":
        return credit
    if reply.gold.coding:
        # A line other than the gold one is credited only by the judge.
        return Credit(step=True if credit.step else None, reason=None)
    # A wrong step never earns the reason.
    return Credit(step=credit.step, reason=None if credit.step else False)


def _decision(answer: JudgeReply | None) -> str | None:
    return None if answer is None or answer.text is None else careful_decision(answer.text)


def _facts(reading: MrBenReading, credit: Credit) -> ReadingFacts:
    return ReadingFacts(correctness=reading.correctness, step=credit.step, reason=credit.reason)


def _reading(reply: Response, reading: MrBenReading, credit: Credit, judge_error: str) -> Reading:
    """Return the result of a row in one reading; `judge_error` is why the judge did not decide about its reason."""
    answer: str | None = reading.correctness
    if answer == "incorrect" and not reply.gold.correct:
        # Officially a line of code is not parsed but compared unchanged.
        step = reading.raw.step.strip() if reply.gold.coding and reading is reply.official else reading.step
        answer = f"incorrect; {step or 'no step read'}"
    outcome, detail = _outcome(reply.gold, reading, credit)
    rule = reading.rule
    if outcome is Outcome.UNSCORED:
        detail, rule = f"the error reason was not judged ({judge_error or 'no judge'})", NOT_JUDGED
    return Reading(
        outcome=outcome,
        credit=None if outcome is Outcome.UNSCORED else int(outcome is Outcome.CORRECT),
        answer=answer,
        detail=detail,
        rule=rule,
        span=reading.span or msgspec.UNSET,
    )


def _outcome(gold: GoldRow, reading: MrBenReading, credit: Credit) -> tuple[Outcome, str]:
    """Judge a whole row: it is correct if all its parts are, and unscored if one needs the judge's missing decision."""
    if reading.correctness is None:
        return Outcome.NO_ANSWER, reading.detail
    if (reading.correctness == "correct") != gold.correct:
        return Outcome.WRONG, "the verdict is wrong"
    if gold.correct:
        return Outcome.CORRECT, ""
    if credit.step is None or credit.reason is None:
        return Outcome.UNSCORED, ""
    if not credit.step:
        return Outcome.WRONG, "the first error step is wrong"
    return (Outcome.CORRECT, "") if credit.reason else (Outcome.WRONG, "the error reason is wrong")


def _sample_without_response(task: MrBenTask, number: int) -> SampleResult:
    """Return the result of a missing response, under `--missing wrong`: no answer, and nothing right."""
    reading = missing_reading(Outcome.NO_ANSWER)
    nothing = ReadingFacts(correctness=None, step=False, reason=False)
    facts = MrBenFacts(gold=task.row["Model_Solution_Correctness"], official=nothing, careful=nothing)
    return SampleResult(
        qid=task.id, sample=number, official=reading, careful=reading, unit=task.unit, groups=task.groups, facts=facts
    )


_VERDICTS = {"correct": "Correct", "right": "Correct", "wrong": "Wrong", "incorrect": "Wrong"}
"""A person's verdict, one word -> the judge's decision."""


def ask_judge(replies: list[Response], session: JudgeSession, *, can_be_one_word: bool) -> Mapping[str, JudgeReply]:
    """Ask about the error reasons that matter in at least one reading; return question key -> reply."""
    if session.judge is None:
        return {}
    answers = session.judge.ask([_question(r, session.template) for r in replies if r.asks_official or r.asks_careful])
    # A reply of --judge-replies can be a person's verdict.
    return {key: _as_judge_reply(answer) for key, answer in answers.items()} if can_be_one_word else answers


def _as_judge_reply(answer: JudgeReply) -> JudgeReply:
    """Turn a person's one-word verdict into the form of a judge's reply, so that both readings can read it."""
    verdict = _VERDICTS.get((answer.text or "").strip(" \t\r\n.!*").lower())
    if verdict is None:
        return answer
    form = f"Step-by-Step Reasoning: -\nStudent Error Reason Analysis: -\nFinal Decision: {verdict}"
    return msgspec.structs.replace(answer, text=form)


def _question(reply: Response, template: str | None) -> JudgeQuestion:
    """Return the judge's question whether a response names the error; for coding, its line is a part of the reason."""
    from grader.judge import JudgeQuestion
    from grader.judge.prompts import error_reason_prompt

    row = reply.task.row
    reason = reply.careful.error_reason or reply.official.raw.reason
    if reply.gold.coding:
        reason = f"First error line: {reply.careful.step or reply.official.raw.step.strip()}\n{reason}"
    prompt = error_reason_prompt(
        question=plain(row.get("Question")),
        solution=plain(row.get("Model_Solution_Steps")),
        first_error_step=plain(row.get("Model_Solution_First_Error_Step")),
        error_reason=plain(row.get("Model_Solution_Error_Reason")),
        rectified_step=plain(row.get("Model_Solution_Rectified_First_Error_Step")),
        answer=reason,
        template=template,
    )
    return JudgeQuestion(qid=reply.key, prompt=prompt, accept=lambda text: careful_decision(text) is not None)
