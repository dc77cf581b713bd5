"""The cases of a run, so that a CI system shows grading like a test run.

A suite is a label of the benchmark's first category, or the whole benchmark if it has no categories. An item with
several labels is in the suite of its first label. A case is a task, a question or a circular group. The samples of a
case form rounds: a round has the samples with the same number, of all ids of the case. A round passes if all its
samples earn full credit. A case passes if one of its rounds passes, as in pass@n. So a task passes with one passing
program, a circular question with one round in which all passes are correct, and a question of Mr-Ben if all its rows
are correct. If only unscored samples could still make a case pass, the case is skipped, with the reason.

Only gates fail: they form a suite of their own. A wrong answer is no failed test of a checkpoint whose gates are met,
so its case passes, with the answer and the gold answer as its output. A gate that could not be decided is an error, so
that no CI system shows success.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.reports.document import Case, Suite
from grader.reports.why import INFRASTRUCTURE
from grader.results import READINGS, Outcome, ReadingName, SampleResult, other_reading
from grader.results.groups import by_observation, by_round
from grader.scorers.registry import scorer_of
from grader.wording import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.results import Report
    from grader.scorers.registry import AnyScorer

CaseState = Literal["passed", "failed", "unscored"]

MOST_DETAILS = 20
"""Maximum number of samples per case whose details are written."""
MOST_CHARACTERS = 2_000
"""Maximum length of one sample's detail, in characters."""


class _Item(msgspec.Struct, frozen=True, kw_only=True):
    """One task, question or circular group, with the verdicts of its rounds."""

    name: str
    samples: list[SampleResult]
    rounds: dict[ReadingName, list[CaseState]]

    def verdict(self, reading: ReadingName) -> CaseState:
        """Return the verdict of the case: passed if a round passed, else unscored if a round is unscored."""
        rounds = self.rounds[reading]
        if "passed" in rounds:
            return "passed"
        return "unscored" if "unscored" in rounds else "failed"


def suites(report: Report, reading: ReadingName) -> Iterator[Suite]:
    """Yield a suite for each group of the first category field."""
    scorer = scorer_of(report)
    for label, items in _items_by_label(report, scorer).items():
        class_name = report.benchmark if label is None else f"{report.benchmark}.{label.partition('=')[2]}"
        yield Suite(
            name=label or report.benchmark,
            properties=list(_properties(report, label, reading)),
            cases=[_case(item, class_name, reading, scorer) for item in items],
        )


def _items_by_label(report: Report, scorer: AnyScorer) -> dict[str | None, list[_Item]]:
    """Return the items by `field=label` of the first category field, in the report's order."""
    first_field = next((group.partition("=")[0] for sample in report.samples for group in sample.group_names()), "")
    items: dict[str | None, list[_Item]] = {}
    for name, samples in by_observation(report.samples).items():
        label = next((group for group in samples[0].group_names() if group.startswith(f"{first_field}=")), None)
        qids = {sample.qid for sample in samples}
        members_by_round = by_round(samples)
        rounds = {
            reading: [_round_state(members, qids, reading, scorer) for members in members_by_round.values()]
            for reading in READINGS
        }
        items.setdefault(label, []).append(_Item(name=name, samples=samples, rounds=rounds))
    return items


def _round_state(samples: list[SampleResult], qids: set[str], name: ReadingName, scorer: AnyScorer) -> CaseState:
    """Return the verdict of the samples of one round. If they are one unit, it is the scorer's, which all of them have.

    Else the round fails if one of the item's tasks (`qids`) has no sample.
    """
    unit_outcome = scorer.sample_details(samples[0]).unit.get(name)
    if unit_outcome is not None:
        states: dict[Outcome, CaseState] = {Outcome.CORRECT: "passed", Outcome.WRONG: "failed"}
        return states.get(unit_outcome, "unscored")
    readings = [sample.reading(name) for sample in samples]
    has_all_tasks = {sample.qid for sample in samples} == qids
    if not has_all_tasks or any(reading.is_scored and reading.points < 1 for reading in readings):
        return "failed"
    return "passed" if all(reading.is_scored for reading in readings) else "unscored"


def _properties(report: Report, label: str | None, reading: ReadingName) -> Iterator[tuple[str, str]]:
    """Yield benchmark, split and protocol, then the metrics of the run and of the suite's group in both readings."""
    yield from (("benchmark", report.benchmark), ("split", report.split), ("protocol", report.protocol))
    yield "reading", reading
    for metric in report.metrics:
        if metric.value is not None and metric.group in (None, label):
            group = "" if metric.group is None else f" {metric.group}"
            yield f"{metric.name} ({metric.reading}){group}", repr(float(metric.value))


def _case(item: _Item, class_name: str, reading: ReadingName, scorer: AnyScorer) -> Case:
    """Return the case of an item. A wrong answer passes as a test, with remarks: only gates fail a build."""
    seconds = round(sum(sample.seconds for sample in item.samples), 3)
    remarks = _remarks(item, reading)
    verdict = item.verdict(reading)
    if verdict == "unscored":
        return Case(
            name=item.name,
            class_name=class_name,
            seconds=seconds,
            state="skipped",
            kind=_state_word(item, reading).replace(" ", "_"),
            message=_unscored_message(item, reading),
            details=_details(item, reading),
            remarks=remarks,
        )
    if verdict == "failed":
        remarks = [_failure_message(item, reading), _details(item, reading), *_gold_lines(item, scorer), *remarks]
    return Case(name=item.name, class_name=class_name, seconds=seconds, state="passed", remarks=remarks)


def _state_word(item: _Item, reading: ReadingName) -> str:
    """Return the verdict of an item; of one without a verdict, whether it is unscored, or careful does not judge it."""
    verdict = item.verdict(reading)
    outcomes = {sample.reading(reading).outcome for sample in item.samples}
    is_not_judged = Outcome.NOT_JUDGED in outcomes and Outcome.UNSCORED not in outcomes
    return "not judged" if verdict == "unscored" and is_not_judged else verdict


def _gold_lines(item: _Item, scorer: AnyScorer) -> list[str]:
    golds = (scorer.sample_details(sample).gold for sample in item.samples)
    answers = ", ".join(dict.fromkeys(clean(gold)[:MOST_CHARACTERS] for gold in golds if gold))
    return [f"gold answer: {answers}"] if answers else []


def _without_full_credit(item: _Item, reading: ReadingName) -> list[SampleResult]:
    """Return the samples without full credit, which explain a verdict other than passed."""
    return [sample for sample in item.samples if sample.reading(reading).points < 1]


def _outcomes_in_words(item: _Item, reading: ReadingName) -> str:
    """Return the outcomes of the samples without full credit, with their numbers."""
    counts = Counter(sample.reading(reading).outcome.value for sample in _without_full_credit(item, reading))
    return ", ".join(f"{number} {outcome}" for outcome, number in counts.items())


def _unscored_message(item: _Item, reading: ReadingName) -> str:
    """Return the detail of the first unscored sample, and the outcomes of those without full credit.

    Without a detail, the infrastructure failed, or careful does not judge the task. An item of several tasks may be
    unscored although each of its samples has full credit: then only the question as a whole has no verdict.
    """
    verdicts = [sample.reading(reading) for sample in item.samples]
    details = (verdict.detail for verdict in verdicts if not verdict.is_scored)
    state = _state_word(item, reading)
    otherwise = INFRASTRUCTURE if state == "unscored" else "the careful reading does not judge this task"
    why = next(filter(None, details), otherwise)
    outcomes = _outcomes_in_words(item, reading) or "its question"
    return f"{state}, which says nothing about the model: {why[:MOST_CHARACTERS]} ({outcomes})"


def _failure_message(item: _Item, reading: ReadingName) -> str:
    """Return how many rounds pass, and what the samples without full credit are; of one sample only its outcome."""
    if len(item.samples) > 1:
        return f"{_rounds_in_words(item, reading)}: {_outcomes_in_words(item, reading)}"
    verdict = item.samples[0].reading(reading)
    # An item may fail although its only sample has full credit: its other tasks have no samples.
    return verdict.outcome.value if verdict.points < 1 else "failed"


def _rounds_in_words(item: _Item, reading: ReadingName) -> str:
    """Return how many rounds pass, or, for a single round of several tasks, how many of its samples are correct."""
    has_several_tasks = len({sample.qid for sample in item.samples}) > 1
    rounds = item.rounds[reading]
    if has_several_tasks and len(rounds) == 1:
        return f"{len(item.samples) - len(_without_full_credit(item, reading))} of {len(item.samples)} right"
    return f"{rounds.count('passed')} of {len(rounds)} {'rounds' if has_several_tasks else 'samples'} pass"


def _details(item: _Item, reading: ReadingName) -> str:
    """Return a line for each of the first samples without full credit, and one for a call that explains it."""
    samples = _without_full_credit(item, reading)
    lines = []
    for sample in samples[:MOST_DETAILS]:
        verdict = sample.reading(reading)
        answer = f" (answer {clean(verdict.answer)})" if verdict.answer else ""
        detail = f": {verdict.detail[:MOST_CHARACTERS]}" if verdict.detail else ""
        lines.append(f"{clean(sample.qid)} #{sample.sample}: {verdict.outcome.value}{answer}{detail}")
        if (call := sample.explaining_call(verdict)) is not None:
            lines.append(f"  {call.call} returned {call.returned or 'nothing'}, expected {call.expected}")
    if len(samples) > MOST_DETAILS:
        lines.append(f"... {len(samples) - MOST_DETAILS} more; all are in the results file.")
    return "\n".join(lines)


def _remarks(item: _Item, reading: ReadingName) -> list[str]:
    """Return additional lines: how many rounds pass, and the other reading's verdict if it differs.

    The message of a failed item has the rounds already.
    """
    says_rounds = len(item.rounds[reading]) > 1 and item.verdict(reading) != "failed"
    lines = [_rounds_in_words(item, reading)] if says_rounds else []
    word, other_word = (_state_word(item, name) for name in (reading, other_reading(reading)))
    if other_word != word:
        lines.append(f"{reading}: {word}; {other_reading(reading)}: {other_word}")
    return lines
