"""A grading run of Mr-Ben: verdicts, first error steps and judged reasons, and MR-Score in both readings."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from grader.data.load import Row
from grader.errors import InputError, UsageError
from grader.judge.session import Bench, bench
from grader.results import READINGS, Metric, Outcome, Reading, ReadingName, Report, SampleResult
from grader.scorers.mr_ben import figures
from grader.scorers.mr_ben import reading as mr_ben
from grader.scorers.mr_ben.figures import RowFacts, Weights
from grader.scorers.mr_ben.judge_decision import decision_careful
from grader.scorers.mr_ben.official import official_letters
from grader.scorers.mr_ben.reading import Credit, GoldRow, MrBenReading
from grader.scorers.mr_ben.scored_file import row_qids
from grader.scorers.mr_ben.subjects import SUBJECT
from grader.scorers.selection import Graded, check_unchanged, earlier_report, environment, select, stem_of, stem_of_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from grader.benchmark import Benchmark
    from grader.judge import JudgeQuestion, JudgeReply
    from grader.options import Options
    from grader.scorers.selection import Selection

NO_JUDGE = (
    "No judge: rows whose error reason had to be judged are unscored. Give --judge-model (and --judge-base-url), "
    "or recorded replies with --judge-replies."
)
OWN_WEIGHTS = "MR-Score has weights of your own"


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One response to one row, read both ways."""

    qid: str
    sample: int
    row: Row
    gold: GoldRow
    official: MrBenReading
    careful: MrBenReading

    @property
    def key(self) -> str:
        """Its name at the judge."""
        return self.qid if not self.sample else f"{self.qid}@{self.sample}"

    @property
    def asks_official(self) -> bool:
        """Whether the official scorer sends it to the judge."""
        return mr_ben.needs_judge_official(self.gold, self.official)

    @property
    def asks_careful(self) -> bool:
        """Whether the judge matters to the careful reading."""
        return mr_ben.needs_judge_careful(self.gold, self.careful)


def run(selection: Selection) -> Graded:
    """Read, judge and score; raises a GradeError."""
    declared = selection.benchmark
    rows = dict(zip(row_qids(selection.rows.rows), selection.rows.rows, strict=True))
    predictions, notes = select(selection, list(rows))
    weights = weights_of(declared, selection.options)
    replies = _read(rows, predictions)
    by_person = selection.options.judge_replies is not None
    facts = environment(selection, predictions) | {"weights": weights._asdict(), "intervals": figures.INTERVALS}
    with bench(selection.options, selection.observer, "error_reason", selection.file.judge_replies) as seat:
        answers = _judge(replies, seat, by_person=by_person)
    needed = sum(reply.asks_official or reply.asks_careful for reply in replies)
    if seat.judge is None and needed:
        notes.append(NO_JUDGE)
    samples = _samples(rows, predictions, replies, answers)
    kinds = Counter(
        str(s.extra["difference"]) for s in samples if isinstance(s.extra, dict) and "difference" in s.extra
    )
    report = Report(
        benchmark=declared.id,
        split=selection.split,
        protocol=selection.protocol,
        metrics=metrics(samples, weights),
        samples=samples,
        unscored=sum(Outcome.UNSCORED in (s.official.outcome, s.careful.outcome) for s in samples),
        environment=facts
        | seat.facts
        | {"judged": needed, "difference_kinds": dict(kinds.most_common()), "counts": tally(samples)},
        notes=[*selection.file.warnings, *notes, *seat.notes, *_kind_notes(kinds), *_weight_notes(declared, weights)],
    )
    return Graded(report=report, stem=stem_of(selection.file))


def _weight_notes(declared: Benchmark, weights: Weights) -> Iterator[str]:
    """Say that MR-Score is not the published one, where other weights were asked for."""
    if weights == Weights(**declared.weights):
        return
    words = ", ".join(f"{name} {weight:g}" for name, weight in weights._asdict().items())
    usual = ", ".join(f"{name} {weight:g}" for name, weight in Weights(**declared.weights)._asdict().items())
    total = math.fsum(weights)
    scale = "" if math.isclose(total, 1) else f" They add up to {total:g}, so its highest value is {100 * total:g}."
    yield f"{OWN_WEIGHTS} in both readings: {words} (the benchmark's are {usual}).{scale}"


def weights_of(declared: Benchmark, options: Options) -> Weights:
    """Return MR-Score's weights: the declared ones, then those given."""
    given = {**declared.weights, **options.weights}
    strangers = given.keys() - set(Weights._fields)
    if strangers:
        raise UsageError(f"--weight {sorted(strangers)[0]}: the parts of MR-Score are {', '.join(Weights._fields)}.")
    senseless = [name for name, weight in given.items() if not 0 <= weight < math.inf]
    if senseless:
        raise UsageError(f"--weight {senseless[0]}={given[senseless[0]]:g}: a weight is 0 or more.")
    if not any(given.values()):
        raise UsageError("--weight: one of MR-Score's weights must be more than 0.")
    return Weights(**given)


def _read(rows: Mapping[str, Row], predictions: Mapping[str, list[str]]) -> list[Reply]:
    replies = []
    for qid, texts in predictions.items():
        gold = _gold(rows[qid])
        for number, text in enumerate(texts):
            replies.append(
                Reply(
                    qid=qid,
                    sample=number,
                    row=rows[qid],
                    gold=gold,
                    official=mr_ben.read_official(text),
                    careful=mr_ben.read_careful(text, coding=gold.coding, solution=gold.solution),
                )
            )
    return replies


def _gold(row: Row) -> GoldRow:
    return GoldRow(
        correct=row["Model_Solution_Correctness"] == "correct",
        step=str(row["Model_Solution_First_Error_Step"]),
        coding=row[SUBJECT] == "coding",
        solution=row["Model_Solution_Steps"],
    )


# --- the judge --------------------------------------------------------------------------------------------------


_VERDICTS = {"correct": "Correct", "right": "Correct", "wrong": "Wrong", "incorrect": "Wrong"}
"""A person's verdict, given in one word, and the decision it is."""


def _judge(replies: list[Reply], seat: Bench, *, by_person: bool) -> Mapping[str, JudgeReply]:
    """Ask about the error reasons that matter in either reading."""
    if seat.judge is None:
        return {}
    answers = seat.judge.ask([_question(r, seat.template) for r in replies if r.asks_official or r.asks_careful])
    return {key: _as_judged(answer) for key, answer in answers.items()} if by_person else answers


def _as_judged(answer: JudgeReply) -> JudgeReply:
    """Give a person's one word the form of a judge's reply, so that it holds in both readings."""
    verdict = _VERDICTS.get((answer.text or "").strip(" \t\r\n.!*").lower())
    if verdict is None:
        return answer
    form = f"Step-by-Step Reasoning: -\nStudent Error Reason Analysis: -\nFinal Decision: {verdict}"
    return msgspec.structs.replace(answer, text=form)


def _question(reply: Reply, template: str | None) -> JudgeQuestion:
    from grader.judge import JudgeQuestion
    from grader.judge.prompts import error_reason_prompt

    row = reply.row
    reason = reply.careful.error_reason or reply.official.raw[2]
    if reply.gold.coding:
        reason = f"First error line: {reply.careful.step or reply.official.raw[1].strip()}\n{reason}"
    prompt = error_reason_prompt(
        question=_plain(row.get("Question")),
        solution=_plain(row.get("Model_Solution_Steps")),
        first_error_step=_plain(row.get("Model_Solution_First_Error_Step")),
        error_reason=_plain(row.get("Model_Solution_Error_Reason")),
        rectified_step=_plain(row.get("Model_Solution_Rectified_First_Error_Step")),
        answer=reason,
        template=template,
    )
    return JudgeQuestion(qid=reply.key, prompt=prompt, accept=lambda text: decision_careful(text) is not None)


def _plain(value: object) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value or "")


# --- samples ----------------------------------------------------------------------------------------------------


def _samples(
    rows: Mapping[str, Row],
    predictions: Mapping[str, list[str]],
    replies: list[Reply],
    answers: Mapping[str, JudgeReply],
) -> list[SampleResult]:
    """Return the results of the replies and of those that are absent, in the benchmark's order."""
    samples = [_sample(reply, answers.get(reply.key)) for reply in replies]
    samples += [_absent(qid, rows[qid]) for qid, texts in predictions.items() if not texts]
    order = {qid: number for number, qid in enumerate(predictions)}
    return sorted(samples, key=lambda sample: order[sample.qid])


def _sample(reply: Reply, answer: JudgeReply | None) -> SampleResult:
    said = None if answer is None else answer.text if answer.text is not None else answer.unreadable or None
    official = _official_credit(reply, said)
    careful = mr_ben.credit_careful(reply.gold, reply.careful, _decision(answer))
    why = "" if answer is None else answer.error
    extra: dict[str, object] = {
        "gold": "correct" if reply.gold.correct else "incorrect",
        "gold_step": reply.gold.step,
        "official": _facts(reply.official, official),
        "careful": _facts(reply.careful, careful),
    }
    if said is not None:
        extra["judge"] = said[:4000]
    kind = mr_ben.difference_kind(reply.gold, reply.official, reply.careful, said)
    if kind:
        extra["difference"] = kind
    return SampleResult(
        qid=reply.qid,
        sample=reply.sample,
        official=_reading(reply, reply.official, official, why),
        careful=_reading(reply, reply.careful, careful, why),
        unit=str(reply.row["Question_UUID"]),
        groups={SUBJECT: str(reply.row[SUBJECT])},
        extra=extra,
    )


def _official_credit(reply: Reply, said: str | None) -> Credit:
    """Return the official credit; where the judge was needed and said nothing, what hangs on it is unscored."""
    if not reply.asks_official:
        return mr_ben.credit_official(reply.gold, reply.official, None)
    credit = mr_ben.credit_official(reply.gold, reply.official, said)
    if said is not None or official_letters(reply.official.raw[0]) != "incorrect":
        return credit
    if reply.gold.coding:
        return Credit(step=credit.step or None, reason=None)
    return Credit(step=credit.step, reason=None if credit.step else False)


def _decision(answer: JudgeReply | None) -> str | None:
    return None if answer is None or answer.text is None else decision_careful(answer.text)


def _facts(reading: MrBenReading, credit: Credit) -> dict[str, object]:
    return {"correctness": reading.correctness, "step": credit.step, "reason": credit.reason}


def _reading(reply: Reply, reading: MrBenReading, credit: Credit, why: str) -> Reading:
    answer: str | None = reading.correctness
    if answer == "incorrect" and not reply.gold.correct:
        # Officially a line of code is not read but compared as it stands.
        step = reading.raw[1].strip() if reply.gold.coding and reading is reply.official else reading.step
        answer = f"incorrect; {step or '-'}"
    outcome, detail = _outcome(reply.gold, reading, credit)
    if outcome is Outcome.UNSCORED:
        detail = f"the judge's word on the error reason is missing ({why or 'no judge'})"
    return Reading(
        outcome=outcome,
        credit=int(outcome is Outcome.CORRECT),
        answer=answer,
        detail=detail,
        rule=reading.rule,
        span=reading.span or msgspec.UNSET,
    )


def _outcome(gold: GoldRow, reading: MrBenReading, credit: Credit) -> tuple[Outcome, str]:
    """Judge a whole row: it is correct where all that is asked of it is right."""
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


def _absent(qid: str, row: Row) -> SampleResult:
    reading = Reading(outcome=Outcome.NO_ANSWER, credit=0, detail="there is no prediction", rule="missing")
    nothing = {"correctness": None, "step": False, "reason": False}
    return SampleResult(
        qid=qid,
        sample=0,
        official=reading,
        careful=reading,
        unit=str(row["Question_UUID"]),
        groups={SUBJECT: str(row[SUBJECT])},
        extra={"gold": row["Model_Solution_Correctness"], "official": nothing, "careful": nothing},
    )


def _kind_notes(kinds: Counter[str]) -> list[str]:
    if not kinds:
        return []
    return ["Why the readings differ: " + ", ".join(f"{kind} {n}" for kind, n in kinds.most_common()) + "."]


# --- metrics ----------------------------------------------------------------------------------------------------


def metrics(samples: list[SampleResult], weights: Weights) -> list[Metric]:
    """Return the figures of every subject and their mean, in both readings, with bootstrap intervals over questions."""
    rows: list[Metric] = []
    for reading in READINGS:
        rows += _reading_metrics(facts_by_subject(samples, reading), weights, reading)
    return rows


def facts_by_subject(
    samples: list[SampleResult], reading: ReadingName, beside: Iterable[SampleResult] = ()
) -> dict[str, list[tuple[str, RowFacts]]]:
    """Return what the figures are made of: subject -> (question, the row's facts).

    What is unscored in the rows of another run that stand `beside` these is unscored here.
    """
    others = {(sample.qid, sample.sample): _row_facts(sample, reading) for sample in beside}
    table: dict[str, list[tuple[str, RowFacts]]] = {}
    for sample in samples:
        assert isinstance(sample.groups, dict)
        facts = _row_facts(sample, reading)
        if (sample.qid, sample.sample) in others:
            other = others[sample.qid, sample.sample]
            lost = {part: None for part in ("step", "reason") if getattr(other, part) is None}
            facts = msgspec.structs.replace(facts, **lost)
        table.setdefault(str(sample.groups[SUBJECT]), []).append((sample.cluster, facts))
    return table


def facts_of_both(
    before: list[SampleResult], after: list[SampleResult], reading: ReadingName
) -> tuple[dict[str, list[tuple[str, RowFacts]]], dict[str, list[tuple[str, RowFacts]]]]:
    """Return the same of two runs; what one of them could not score is unscored in both, else it would be a change."""
    first, second = (
        facts_by_subject(samples, reading, beside) for samples, beside in ((before, after), (after, before))
    )
    return first, second


def tally(samples: list[SampleResult]) -> dict[str, dict[str, dict[str, int]]]:
    """Return, by reading and subject, what the figures are made of (positive class: a correct solution)."""
    table: dict[str, dict[str, dict[str, int]]] = {}
    for reading in READINGS:
        by_subject: dict[str, list[RowFacts]] = {}
        for sample in samples:
            assert isinstance(sample.groups, dict)
            by_subject.setdefault(str(sample.groups[SUBJECT]), []).append(_row_facts(sample, reading))
        table[reading] = {
            subject: {"rows": len(rows), **figures.count(rows)._asdict()} for subject, rows in by_subject.items()
        }
    return table


def _row_facts(sample: SampleResult, reading: ReadingName) -> RowFacts:
    extra: dict[str, Any] = sample.extra if isinstance(sample.extra, dict) else {}
    said = extra[reading]
    predicted = None if said["correctness"] is None else said["correctness"] == "correct"
    return RowFacts(
        gold_correct=extra["gold"] == "correct", predicted_correct=predicted, step=said["step"], reason=said["reason"]
    )


def _reading_metrics(
    table: dict[str, list[tuple[str, RowFacts]]], weights: Weights, reading: ReadingName
) -> list[Metric]:
    intervals = figures.bootstrap_interval(table, weights)
    counts = {subject: figures.count([facts for _, facts in pairs]) for subject, pairs in table.items()}
    by_subject = {subject: figures.figures_of_counts(c, weights) for subject, c in counts.items()}
    extremes = {subject: figures.bounds(c, weights) for subject, c in counts.items()}
    everything: list[tuple[str | None, Any, Any, Any, int]] = [
        (None, figures.mean_figures(list(by_subject.values())),
         figures.mean_figures([low for low, _ in extremes.values()]),
         figures.mean_figures([high for _, high in extremes.values()]),
         sum(len({q for q, _ in pairs}) for pairs in table.values()))
    ]  # fmt: skip
    everything += [(s, by_subject[s], *extremes[s], len({q for q, _ in table[s]})) for s in table]
    rows = []
    for subject, value, low, high, questions in everything:
        uncertain = {name for name in figures.FIGURES if getattr(low, name) != getattr(high, name)}
        group = None if subject is None else f"{SUBJECT}={subject}"
        for name in figures.FIGURES:
            interval = intervals[subject, name]
            rows.append(
                Metric(
                    name=name,
                    reading=reading,
                    group=group,
                    value=getattr(value, name),
                    ci95=(interval.low, interval.high),
                    stderr=interval.stderr,
                    n=questions,
                    bounds=(getattr(low, name), getattr(high, name)) if name in uncertain else msgspec.UNSET,
                )
            )
        unread = 100 * (1 - value.counts.unread / value.rows) if value.rows else 0.0
        rows.append(Metric(name="parse_success_rate", reading=reading, group=group, value=unread, n=questions))
    return rows


def rescore(path: Path, declared: Benchmark, split: str, protocol: str, options: Options) -> Graded:
    """Score again from the results file."""
    report = earlier_report(path, declared, split, protocol)
    if report is None:
        raise UsageError(
            f"--score-only: there is no {stem_of_path(path).name}_results.json beside {path.name}; "
            "grade it once without --score-only."
        )
    check_unchanged(path, report)
    weights = weights_of(declared, options)
    try:
        again = metrics(report.samples, weights)
    except (KeyError, TypeError, AssertionError) as error:
        raise InputError([f"{path.name}: its results file lacks what Mr-Ben needs ({error})"]) from error
    facts = report.environment | {"weights": weights._asdict()}
    notes = [note for note in report.notes if not note.startswith(OWN_WEIGHTS)] + list(_weight_notes(declared, weights))
    again_report = msgspec.structs.replace(report, metrics=again, environment=facts, notes=notes)
    return Graded(report=again_report, stem=stem_of_path(path))
