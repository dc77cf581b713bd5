"""A second opinion counts the samples of one run whose verdicts changed, and bounds how many others would."""

import random

import msgspec
import pytest

from grader.regrading import second_opinion
from grader.regrading.again import Again, Key
from grader.regrading.second_opinion import Chosen
from grader.results import Outcome, Report, SampleResult
from grader.selftest import verdict
from tests.selftest.made import faultless, plan, reading

LATE = reading(False, outcome=Outcome.TIMEOUT)
LOST = reading(False, outcome=Outcome.UNSCORED)


def made() -> tuple[Report, list[str]]:
    """The report of the sample's probes, and its tasks; the first five samples timed out."""
    of = plan("humaneval-v")
    report = faultless(of)
    late = [msgspec.structs.replace(sample, careful=LATE) for sample in report.samples[:5]]
    return msgspec.structs.replace(report, samples=[*late, *report.samples[5:]]), list(of.probes)


def again(report: Report, *samples: SampleResult) -> Again:
    """Other results of samples of a report."""
    pairs: dict[Key, tuple[SampleResult, SampleResult]] = {
        (now.qid, now.sample): (was, now)
        for now in samples
        for was in report.samples
        if (was.qid, was.sample) == (now.qid, now.sample)
    }
    return Again(pairs=pairs, report=report)


def test_every_timeout_and_at_least_20_others_are_executed_again() -> None:
    report, qids = made()
    chosen = second_opinion.choose(report, qids, 1, random.Random(1))
    assert chosen.late == [(sample.qid, sample.sample) for sample in report.samples[:5]]
    assert len(set(chosen.drawn) - set(chosen.late)) == 20
    others = len(report.samples) - 5
    assert len(second_opinion.choose(report, qids, 50, random.Random(1)).drawn) == -(-others // 2)
    assert second_opinion.choose(report, qids, 1, random.Random(2)) != chosen


def test_what_changed_is_named_and_what_was_lost_is_not_counted() -> None:
    report, _ = made()
    graded = {(sample.qid, sample.sample): sample for sample in report.samples}
    chosen = Chosen(late=[("q1", 1)], drawn=[("q1", 7), ("q1", 8), ("q2", 0)], left=8)
    second = again(
        report,
        graded["q1", 1],
        msgspec.structs.replace(graded["q1", 7], careful=reading(True)),
        graded["q1", 8],
        msgspec.structs.replace(graded["q2", 0], careful=LOST),
    )
    found = second_opinion.compare(report, second, chosen)
    assert second_opinion.in_words(found) == (
        "Second opinion: 3 samples were executed again in fresh sandboxes, docker (Python 3.12.4), and 1 of them "
        "changed (q1 #7 careful failed -> passed). 0 of 1 timeouts changed. 1 of 2 randomly drawn samples "
        "changed, so at most 9 of the other 9 would (95 % confidence). The verdicts of this run stay as they are. "
        "These programs or their tests seem to depend on chance: no verdict on them is certain."
    )


def test_where_every_sample_was_executed_again_there_is_no_bound_to_lower() -> None:
    report, _ = made()
    second = again(report, report.samples[6])
    for left, says in ((0, False), (3, True)):
        chosen = Chosen(late=[], drawn=[(report.samples[6].qid, report.samples[6].sample)], left=left)
        words = second_opinion.in_words(second_opinion.compare(report, second, chosen))
        assert ("lowers the bound" in words) is says


@pytest.mark.parametrize(
    ("outcome", "advice"), [(Outcome.TIMEOUT, verdict.TIME), (Outcome.OUT_OF_MEMORY, verdict.MEMORY)]
)
def test_the_advice_follows_from_what_changed(outcome: Outcome, advice: str) -> None:
    report, _ = made()
    sample = report.samples[-1]
    second = again(report, msgspec.structs.replace(sample, careful=reading(False, outcome=outcome)))
    found = second_opinion.compare(report, second, Chosen(late=[], drawn=[(sample.qid, sample.sample)]))
    assert found.advice == [advice]
