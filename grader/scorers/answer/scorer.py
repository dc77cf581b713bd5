"""The scorer `answer`: short answers, by an official rule and as a careful person reads them.

Rows of one benchmark can have different kinds of answers. Rows with options are read as multiple choice is.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from grader.predictions.file import PredictionFile
from grader.results import Facts, Note, Outcome, Reading, SampleResult
from grader.scorers.answer import metrics as answer_metrics
from grader.scorers.answer.careful import ReadAnswer, is_accepted, read_answer
from grader.scorers.answer.declaration import JUDGE, AnswerBenchmark, AnswerKind, AnswerProtocol, AnswerTask
from grader.scorers.answer.expressions import Comparer
from grader.scorers.answer.judging import NOT_ASKED, with_judge
from grader.scorers.answer.metrics import AnswerFacts
from grader.scorers.answer.official import RULES, as_text
from grader.scorers.answer.tasks import read_tasks
from grader.scorers.carried import carried_rows
from grader.scorers.choice.readers import official_reader
from grader.scorers.choice.replies import read_choice_between, verdict
from grader.scorers.interface import (
    Observe,
    Run,
    SampleDetails,
    Scorer,
    ScorerOutput,
    Words,
    in_group,
    mean_credit,
    missing_reading,
)
from grader.scorers.marks import answer_between
from grader.scorers.means import each_observation
from grader.scorers.oddities import quoting_filtered_texts
from grader.scorers.pass_at_k import check_k, observe_pass_at_k, pass_at_k_names, sample_counts
from grader.scorers.unread import unread_note

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grader.data.tables import Rows
    from grader.results import Metric, ReadingName, Report

_UNREAD = "The rule found no answer."
_UNDECIDED = {
    "expression": (
        "too_long_to_compare",
        "The expression could not be compared with the gold answer in 2 s of CPU time.",
    ),
    "text": ("says_more", "The reply is a sentence, and not an accepted answer alone: it may say it in other words."),
}
"""Kind -> (rule, why it is not known whether an answer is accepted)."""


GLOSSARY = {
    "accuracy": "The share of questions that are answered correctly; of several samples, their mean.",
    "precision": 'The share of the answers "yes" that are right.',
    "recall": 'The share of the questions with the answer "yes" that are answered so.',
    "f1": "The harmonic mean of precision and recall.",
    "yes_ratio": 'The share of answers that are "yes".',
    "maj@*": "The share of questions with k samples whose most frequent answer is correct.",
    "gsm8k": "The number after ####.",
    "lm-eval-flexible": "The last number of the text.",
    "pope": '"no" if the first sentence has no or not as a word, else "yes".',
    "vlmevalkit-yes-no": "The only one of yes and no that the text has as a word.",
    "hendrycks-math": "The content of the last LaTeX box.",
    "mmmu": "The numbers and short texts after words such as is or therefore, as MMMU reads open answers.",
    "bbh": 'What follows "answer is ".',
    "relaxed": "The whole text; numbers may differ by 5 %.",
    "relaxed-2024": "The whole text; numbers may differ by 5 % of the text's number.",
    "mathvista": "The whole text, which a model has extracted; numbers are rounded as the gold answer is.",
    "math-vision": "The only box, or what follows words such as the answer is, to two decimals.",
    "cruxeval": "The whole text as a value of Python.",
    "llmdrift": "The word yes, else the word no.",
    "llmdrift-boxed": "The first LaTeX box.",
    "processbench": "The integer of the last LaTeX box.",
    "zerobench": "The last braces have the gold text in them.",
    "zeroeval": "The field answer of the first JSON object.",
    "zeroeval-math": "The first number of the field answer.",
    "zero-shot-cot-number": "The first number.",
    "zero-shot-cot-yes-no": "The first word that is yes or no.",
    "zero-shot-cot-text": "The whole text without quotes, full stops and blanks.",
    "exact": "The whole text.",
    "judge": "A judge model graded the reply.",
    "json": "The answer is a field of a JSON object.",
    "boxed": "The answer is in a LaTeX box.",
    "mark": "The answer stands behind or between the benchmark's marks, such as ####.",
    "own_line": "The answer is a line of its own.",
    "sentence": "The sentence that concludes, or is nearest to the question, has one answer.",
    "several_answers": "The text gives several answers, and withdraws none.",
    "says_more": "The text is a sentence that may say the answer in other words.",
    "bracket": "The answer is in brackets at the end of the text.",
    "choice": "The text chooses its answer, or corrects an earlier one.",
    "answer_tag": "The answer is in an answer tag.",
    "declaration": "The text declares this to be its answer.",
    "unclosed_reasoning": "The reasoning was cut off before an answer.",
    "cut_off": "The reply was cut off in the sentence that would be its answer.",
    "empty": "The reply is empty, or has nothing after its reasoning.",
    "nothing_read": "No rule reads one answer in the text.",
    "refusal": "The text says that it has no answer.",
    "too_long_to_compare": "Comparing the expression with the gold answer takes too long.",
    "missing": "The prediction file has no answer to this task.",
    "broken_row": "The row of the data is broken: no answer to it can be right.",
    "server_failure": "The model's server failed; this says nothing about the model.",
}


class AnswerRunFacts(Facts, frozen=True, kw_only=True):
    """The kind of a run's answers, of rows that do not have their own."""

    kind: AnswerKind


class Answer(Scorer[AnswerBenchmark, AnswerTask]):
    """Reads a number, a text, or yes or no, and compares it with the accepted answers."""

    declaration = AnswerBenchmark
    sample_facts = AnswerFacts
    run_facts = AnswerRunFacts
    reads_whole_replies = True
    words = Words(glossary=GLOSSARY, unread=frozenset(("nothing_read", "says_more")))
    options: ClassVar[frozenset[str]] = frozenset({"k", "judge_model", "judge_base_url", "judge_replies"})

    def load_scorer_rows(
        self, declared: AnswerBenchmark, split: str, source: Path | PredictionFile | None
    ) -> Rows | None:
        """Return the questions of a prediction file (a table or log) that has them, else None."""
        if not isinstance(source, PredictionFile):
            return None
        return carried_rows(source, declared, options_column=declared.columns.options or "")

    def tasks(self, declared: AnswerBenchmark, split: str, rows: Rows) -> dict[str, AnswerTask]:
        """Turn rows into tasks; raises InputError for rows without an id, and for too many broken rows."""
        return read_tasks(rows, declared)

    def metric_names(self, run: Run[AnswerBenchmark, AnswerTask]) -> Sequence[str]:
        """Return the names of the metrics."""
        most_samples = max(sample_counts(run), default=0)
        majority = [f"maj@{most_samples}"] if most_samples > 1 else []
        several = pass_at_k_names(most_samples, run.options.k)
        has_yes_no = any(task.kind == "yes_no" for task in run.tasks.values())
        yes_no = ["precision", "recall", "f1", "yes_ratio"] if has_yes_no else []
        return ["accuracy", *majority, *several, *yes_no]

    def score(self, run: Run[AnswerBenchmark, AnswerTask]) -> ScorerOutput:
        """Read every reply by the protocol's rule and carefully."""
        check_k(run)
        declared = run.benchmark
        protocol = declared.protocols[run.protocol]
        full_outputs = run.oddities.outputs
        with Comparer() as comparer:
            samples = [
                _sample(task, number, _readings(task, text, full_outputs.get((task.id, number), text), run, comparer))
                for task, number, text in run.replies()
            ]
        notes = list(map(Note, _unread_note(run, samples, protocol))) if protocol.rule != JUDGE else []
        judge = None
        if declared.judge_prompt is not None:
            from grader.judge.session import judge_session

            wording, recorded = declared.judge_prompt, run.file.judge_replies
            with judge_session(run.options, run.observer, "short_answer", wording, recorded) as session:
                samples, judge_notes = with_judge(samples, run, session)
            judge = session.provenance
            notes += [*judge_notes, *map(Note, session.notes)]
        facts = AnswerRunFacts(kind=declared.kind)
        samples = quoting_filtered_texts(run.with_task_data(samples), run.predictions, run.oddities)
        return ScorerOutput(samples=samples, notes=notes, judge=judge, facts=facts)

    def metrics(self, report: Report) -> list[Metric]:
        """Return the metrics that a report's samples give."""
        return answer_metrics.metrics(report.samples, report.aggregation.k)

    def observations(
        self, report: Report, name: str, reading: ReadingName, group: str | None = None
    ) -> dict[str, float | None] | None:
        """Return the value of each question, as in `Scorer`.

        Accuracy and maj@k are weighted, as their means are, with how often it counts in the group (`counted_in`).
        """
        values = super().observations(report, name, reading, group)
        if values is None or not (name == "accuracy" or name.startswith("maj@")):
            return values
        return values | _weighted_values(report, name, reading, group)

    def observe(self, name: str) -> Observe | None:
        """Return the function that gives a question's value in a metric that is a mean; None for F1 and its parts."""
        if name.startswith("maj@"):
            return partial(answer_metrics.majority_credit, votes=_votes(name))
        return mean_credit if name == "accuracy" else observe_pass_at_k(name)

    def sample_details(self, sample: SampleResult) -> SampleDetails:
        """Return the gold answer."""
        return SampleDetails(gold=answer_metrics.facts_of(sample).gold)


def _weighted_values(report: Report, name: str, reading: ReadingName, group: str | None) -> dict[str, float | None]:
    """Return the value, weighted by `counted_in`, of each question with enough samples for the metric."""
    votes = _votes(name)
    tasks = {qid: members for qid, members in in_group(report, group).items() if len(members) >= votes}
    samples = [sample for members in tasks.values() for sample in members]
    observe = answer_metrics.majority if name.startswith("maj@") else each_observation
    # One observation per question, in the same order.
    observations = answer_metrics.weighted_by_count(samples, reading, group=group, observe=observe)
    return {qid: each.value for qid, each in zip(tasks, observations, strict=True)}


def _votes(name: str) -> int:
    """Return the number of samples that a question needs for a metric: k of `maj@k`, else 1."""
    return int(name.removeprefix("maj@")) if name.startswith("maj@") else 1


def _readings(
    task: AnswerTask,
    text: str | None,
    full_output: str | None,
    run: Run[AnswerBenchmark, AnswerTask],
    comparer: Comparer,
) -> tuple[Reading, Reading]:
    """Return both readings of a prediction (None: missing), the careful one of the full output that it was made of."""
    if text is None or full_output is None:
        return missing_reading(Outcome.NO_ANSWER), missing_reading(Outcome.NO_ANSWER)
    protocol = run.benchmark.protocols[run.protocol]
    if task.options and protocol.reader:
        official = verdict(task, official_reader(protocol.reader)(text, task.options))
    else:
        official = _official_reading(task, text, protocol.rule)
    return official, _careful_reading(task, full_output, comparer, run.benchmark.answer_between)


def _sample(task: AnswerTask, number: int, readings: tuple[Reading, Reading]) -> SampleResult:
    official, careful = readings
    kind: AnswerKind | Literal["choice"] = "choice" if task.options else task.kind
    facts = AnswerFacts(gold=task.gold or "", kind=kind, counted_in=task.counted_in)
    return SampleResult(qid=task.id, sample=number, official=official, careful=careful, facts=facts)


def _unread_note(
    run: Run[AnswerBenchmark, AnswerTask], samples: list[SampleResult], protocol: AnswerProtocol
) -> list[str]:
    """Return a note if the protocol's rule reads nothing in the replies to questions without options."""
    replies = [(task, text) for task, _, text in run.replies() if not task.options and (text or "").strip()]
    read = sum(s.official.outcome is not Outcome.NO_ANSWER for s in samples if not run.tasks[s.qid].options)
    return unread_note(protocol.rule, replies, read, {name: partial(_verdict_of_rule, name) for name in RULES})


def _verdict_of_rule(name: str, reply: tuple[AnswerTask, str]) -> bool | None:
    """Return whether an official rule finds a reply correct; None if it reads no answer."""
    reading = _official_reading(*reply, name)
    return None if reading.outcome is Outcome.NO_ANSWER else reading.outcome is Outcome.CORRECT


def _official_reading(task: AnswerTask, text: str, name: str) -> Reading:
    """Read and score a reply by the official rule of this name."""
    if name == JUDGE:
        return NOT_ASKED
    rule = RULES[name]
    answer = rule.read(text)
    if answer is None:
        return Reading(outcome=Outcome.NO_ANSWER, credit=0, detail=_UNREAD, rule=name)
    gold_text = task.options.get(task.gold or "")  # None in a row without options, or with a gold answer not in them
    accepted = task.accepted if gold_text is None else (*task.accepted, gold_text)
    is_right = any(rule.same(answer, gold) for gold in accepted)
    return _right_or_wrong(as_text(answer), name, is_right=is_right)


def _careful_reading(task: AnswerTask, text: str, comparer: Comparer, marks: tuple[str, str] | None) -> Reading:
    """Read and score a reply: a letter, if the row has options, else its kind; first between the `marks`, if any."""
    if task.options:
        several = len(task.gold or "") > 1
        return verdict(task, read_choice_between(text, task.options, task.text, marks, several=several))
    read = _read_between(task, text, marks) or read_answer(text, task.text, task.kind, task.tolerance)
    span = read.span or msgspec.UNSET
    if read.answer is None:
        return Reading(outcome=Outcome.NO_ANSWER, credit=0, rule=read.rule, span=span)
    is_right = is_accepted(read, task.accepted, task.kind, comparer, question=task.text, tolerance=task.tolerance)
    if is_right is None:
        rule, detail = _UNDECIDED["expression" if task.kind == "expression" else "text"]
        return Reading(outcome=Outcome.NO_ANSWER, credit=0, rule=rule, detail=detail, span=span)
    return _right_or_wrong(read.answer, read.rule, is_right=is_right, span=span)


def _read_between(task: AnswerTask, text: str, marks: tuple[str, str] | None) -> ReadAnswer | None:
    """Return the answer that stands between the benchmark's marks; None if there is none."""
    span = answer_between(text, marks) if marks else None
    if span is None:
        return None
    read = read_answer(text[slice(*span)], task.text, task.kind, task.tolerance)
    return None if read.answer is None else read._replace(rule="mark", span=span)


def _right_or_wrong(
    answer: str, rule: str, *, is_right: bool, span: tuple[int, int] | msgspec.UnsetType = msgspec.UNSET
) -> Reading:
    outcome = Outcome.CORRECT if is_right else Outcome.WRONG
    return Reading(outcome=outcome, credit=int(is_right), answer=answer, rule=rule, span=span)
