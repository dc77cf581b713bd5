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
from grader.reports.text import clean
from grader.reports.views import gates as gate_views
from grader.results import Outcome, SampleResult, other_reading
from grader.results.groups import by_observation, by_round
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.decisions.gate import GateResult
    from grader.results import ReadingName, Report
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
    rounds: list[CaseState]
    other_rounds: list[CaseState]
    """The verdicts of the rounds in the other reading."""

    @property
    def verdict(self) -> CaseState:
        """The verdict of the case: passed if a round passed, else unscored if a round is unscored."""
        return _verdict(self.rounds)


def _verdict(rounds: list[CaseState]) -> CaseState:
    return next((v for v in ("passed", "unscored") if v in rounds), "failed")


def suites(report: Report, gates: Sequence[GateResult], reading: ReadingName) -> Iterator[Suite]:
    """Yield the gates, and a suite for each group of the first category field."""
    if gates:
        yield gate_views.suite(gates, report.benchmark)
    scorer = scorer_of(report)
    for label, items in _suites(report, reading, scorer).items():
        place = report.benchmark if label is None else f"{report.benchmark}.{label.partition('=')[2]}"
        yield Suite(
            name=label or report.benchmark,
            properties=list(_properties(report, label, reading)),
            cases=[_case(item, place, reading, scorer) for item in items],
        )


def _suites(report: Report, reading: ReadingName, scorer: AnyScorer) -> dict[str | None, list[_Item]]:
    """Return the cases by `field=label` of the first category field, in the report's order."""
    field = next((next(iter(s.groups)) for s in report.samples if isinstance(s.groups, dict) and s.groups), None)
    clusters = by_observation(report.samples)
    suites: dict[str | None, list[_Item]] = {}
    for name, members in clusters.items():
        rounds, others = (_rounds(members, name_, scorer) for name_ in (reading, other_reading(reading)))
        case = _Item(name=name, samples=members, rounds=rounds, other_rounds=others)
        suites.setdefault(_label(members[0], field), []).append(case)
    return suites


def _label(sample: SampleResult, field: str | None) -> str | None:
    labels = sample.groups.get(field or "", []) if isinstance(sample.groups, dict) else []
    first = labels if isinstance(labels, str) else next(iter(labels), None)
    return None if first is None else f"{field}={first}"


def _rounds(members: list[SampleResult], reading: ReadingName, scorer: AnyScorer) -> list[CaseState]:
    ids = {sample.qid for sample in members}
    return [_round(part, ids, reading, scorer) for part in by_round(members).values()]


def _round(part: list[SampleResult], ids: set[str], reading: ReadingName, scorer: AnyScorer) -> CaseState:
    """Return the verdict of one round. If a unit has several tasks, the scorer knows which of them may be missing."""
    said = scorer.marks(part[0]).unit.get(reading)
    if said is not None:
        return "passed" if said == Outcome.CORRECT else "failed" if said == Outcome.WRONG else "unscored"
    readings = [sample.reading(reading) for sample in part]
    if {sample.qid for sample in part} < ids:
        return "failed"
    if any(r.points < 1 and r.is_scored for r in readings):
        return "failed"
    return "unscored" if not all(r.is_scored for r in readings) else "passed"


def _properties(report: Report, label: str | None, reading: ReadingName) -> Iterator[tuple[str, str]]:
    """Yield benchmark, split and protocol, then the metrics of the run and of the suite's group in both readings."""
    yield from (("benchmark", report.benchmark), ("split", report.split), ("protocol", report.protocol))
    yield "reading", reading
    for metric in report.metrics:
        if metric.value is not None and metric.group in (None, label):
            group = "" if metric.group is None else f" {metric.group}"
            yield f"{metric.name} ({metric.reading}){group}", repr(float(metric.value))


def _case(item: _Item, place: str, reading: ReadingName, scorer: AnyScorer) -> Case:
    seconds = round(sum(sample.seconds for sample in item.samples), 3)
    remarks = _remarks(item, reading)
    if item.verdict == "failed":
        remarks = [_message(item, reading), _details(item, reading), *_gold(item, scorer), *remarks]
    if item.verdict != "unscored":
        return Case(name=item.name, place=place, seconds=seconds, state="passed", remarks=remarks)
    return Case(
        name=item.name,
        place=place,
        seconds=seconds,
        state="skipped",
        kind="unscored",
        message=_message(item, reading),
        details=_details(item, reading),
        remarks=remarks,
    )


def _gold(item: _Item, scorer: AnyScorer) -> list[str]:
    found = (scorer.marks(sample).gold for sample in item.samples)
    answers = ", ".join(dict.fromkeys(clean(answer)[:MOST_CHARACTERS] for answer in found if answer))
    return [f"gold answer: {answers}"] if answers else []


def _without_full_credit(case: _Item, reading: ReadingName) -> list[SampleResult]:
    """Return the samples without full credit, which explain a verdict other than passed."""
    return [sample for sample in case.samples if sample.reading(reading).points < 1]


def _outcomes(case: _Item, reading: ReadingName) -> Counter[str]:
    """Count the outcomes of the samples without full credit."""
    return Counter(sample.reading(reading).outcome.value for sample in _without_full_credit(case, reading))


def _message(case: _Item, reading: ReadingName) -> str:
    counts = _outcomes(case, reading)
    outcomes = ", ".join(f"{n} {outcome}" for outcome, n in counts.items())
    if case.verdict == "unscored":
        details = (r.detail for s in case.samples if not (r := s.reading(reading)).is_scored)
        why = next(filter(None, details), "infrastructure failed")
        return f"unscored, which says nothing about the model: {why[:MOST_CHARACTERS]} ({outcomes or 'its question'})"
    return f"{_passing(case, reading)}: {outcomes}" if len(case.samples) > 1 else next(iter(counts), "failed")


def _passing(case: _Item, reading: ReadingName) -> str:
    """Return how many rounds pass, or, for a single round of several tasks, how many of its samples are correct."""
    several = len({sample.qid for sample in case.samples}) > 1
    if several and len(case.rounds) == 1:
        return f"{len(case.samples) - len(_without_full_credit(case, reading))} of {len(case.samples)} right"
    return f"{case.rounds.count('passed')} of {len(case.rounds)} {'rounds' if several else 'samples'} pass"


def _details(case: _Item, reading: ReadingName) -> str:
    lost = _without_full_credit(case, reading)
    lines = []
    for sample in lost[:MOST_DETAILS]:
        read = sample.reading(reading)
        answer = f" (answer {clean(read.answer)})" if read.answer else ""
        detail = f": {read.detail[:MOST_CHARACTERS]}" if read.detail else ""
        lines.append(f"{clean(sample.qid)} #{sample.sample}: {read.outcome.value}{answer}{detail}")
        if (first := sample.explaining_call(read)) is not None:
            lines.append(f"  {first.call} returned {first.returned or 'nothing'}, expected {first.expected}")
    more = len(lost) - MOST_DETAILS
    return "\n".join([*lines, f"... {more} more; all are in the results file."] if more > 0 else lines)


def _remarks(case: _Item, reading: ReadingName) -> list[str]:
    """Return additional lines: how many rounds pass, and the other reading's verdict if it differs."""
    other, elsewhere = other_reading(reading), _verdict(case.other_rounds)
    lines = [_passing(case, reading)] if len(case.rounds) > 1 and case.verdict != "failed" else []
    if elsewhere != case.verdict:
        lines.append(f"{reading}: {case.verdict}; {other}: {elsewhere}")
    return lines
