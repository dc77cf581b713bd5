"""Accuracy over questions and circular groups, with bounds where something is unscored."""

import math
from typing import Any

import msgspec
import pytest

from grader.results import Outcome, Reading, SampleResult
from grader.results.groups import by_observation
from grader.scorers import means
from grader.scorers.choice import metrics as cm
from grader.scorers.choice.careful import read_choice
from grader.scorers.choice.facts import ChoiceFacts, LetterCounts, UnitOutcome
from grader.scorers.choice.metrics import GLOSSARY
from grader.scorers.choice.official import LMMS_EVAL_VERSIONS, VLMEVALKIT_VERSIONS, read_lmms_eval, read_vlmevalkit
from tests.scorers.choice.test_principles import DECLARED, LABELS, REFUSALS
from tests.tables import each


def reading(word: str, answer: str | None = None) -> Reading:
    """`correct`, `wrong`, `unscored`, `no_answer`, or `missing`."""
    rule: Any = "missing" if word == "missing" else msgspec.UNSET
    outcome = Outcome("no_answer" if word == "missing" else word)
    return Reading(outcome=outcome, credit=int(word == "correct"), rule=rule, answer=answer)


def sample(qid: str, official: str, careful: str | None = None, *, unit: str = "", number: int = 0, **groups: str
           ) -> SampleResult:  # fmt: skip
    return SampleResult(
        qid=qid,
        sample=number,
        official=reading(official),
        careful=reading(careful or official),
        unit=unit or msgspec.UNSET,
        groups=dict(groups) or msgspec.UNSET,
        facts=ChoiceFacts(gold="A"),
    )


def value(observe: Any, *samples: SampleResult, name: Any = "official") -> tuple[float, int, object] | None:
    """Value, observations and bounds of a figure."""
    row = means.metric("x", name, None, observe(list(samples), name))
    return None if row is None else (row.number, row.n, row.bounds)


def test_unscored_questions_are_left_out_and_bounded() -> None:
    got = value(means.each_observation, sample("1", "correct"), sample("2", "unscored"), sample("3", "wrong"))
    assert got == (50, 2, pytest.approx((100 / 3, 200 / 3)))
    assert value(means.each_observation, sample("1", "unscored")) is None


@each(
    ("passes", "official", "careful"),
    [
        (("correct", "correct"), 100, 100),
        (("correct", "wrong"), 0, 0),
        (("correct", "no_answer"), 0, 0),
        (("wrong", "unscored"), 0, 0),
        (("correct", "unscored"), None, None),
        (("correct", "missing"), 100, 0),
        (("missing", "missing"), 0, 0),
        (("missing", "unscored"), None, 0),
    ],
)
def test_a_circular_question_is_right_where_every_pass_is(
    passes: tuple[str, str], official: float | None, careful: float | None
) -> None:
    samples = [sample(str(n), word, unit="0") for n, word in enumerate(passes)]
    for name, wanted in (("official", official), ("careful", careful)):
        got = value(cm.circular_observations, *samples, name=name)
        assert (None if got is None else got[0]) == wanted
    words = {100: Outcome.CORRECT, 0: Outcome.WRONG, None: Outcome.UNSCORED}
    question = UnitOutcome(official=words[official], careful=words[careful])
    marked = cm.with_unit_outcomes(samples)
    assert [cm.facts_of(s) for s in marked] == [ChoiceFacts(gold="A", question=question)] * len(passes)


def test_the_first_pass_is_the_questions_own_or_else_the_first_there_is() -> None:
    samples = [
        sample("1000001", "wrong", unit="1"), sample("1", "correct"),
        sample("x2", "correct", unit="x"), sample("x1", "wrong", unit="x"),
    ]  # fmt: skip
    assert value(cm.vanilla_observations, *samples) == (100, 2, msgspec.UNSET)
    assert value(cm.pass_observations, *samples) == (50, 2, msgspec.UNSET)


@each("name", ["circular_accuracy", "vanilla_accuracy"])
def test_the_values_of_questions_with_a_broken_pass_are_those_of_the_metric(name: str) -> None:
    broken = [sample("1", "correct", unit="1"), sample("1000001", "correct", "not_judged", unit="1")]
    observe: Any = cm.observe(name)
    assert (observe(broken, "careful"), observe(broken, "official")) == (1, 1)
    assert observe(broken[1:], "careful") is None


def test_vanilla_accuracy_of_all_passes_is_the_mean_of_passes_and_not_of_questions() -> None:
    """As in VLMEvalKit, whose mean is over the rows of its table; a question with more options counts more."""
    samples = [sample(f"{n}", "correct", unit="one") for n in range(2)]
    samples += [sample(f"{n}", "correct" if n == 2 else "wrong", "unscored", unit="two") for n in range(2, 6)]
    rows = means.metric_rows(samples, cm.ALL_PASSES, cm.pass_observations)
    assert [(row.reading, row.number, row.n, row.bounds) for row in rows] == [
        ("official", pytest.approx(50), 2, msgspec.UNSET),
        ("careful", pytest.approx(100), 1, pytest.approx((100 / 3, 100))),
    ]
    assert rows[0].stderr == pytest.approx(100 / 3)  # of a ratio, whose clusters are the questions
    found = cm.pass_values(by_observation(samples), "official")
    assert math.fsum(filter(None, found.values())) / 2 == pytest.approx(0.5)


def test_position_bias_leaves_out_the_unscored() -> None:
    def made(gold: str, word: str, answer: str | None) -> SampleResult:
        read = reading(word, answer)
        return SampleResult(qid="1", sample=0, official=read, careful=read, facts=ChoiceFacts(gold=gold))

    samples = [made("A", "correct", "A"), made("B", "wrong", "A"), made("B", "unscored", None), made("A", "wrong", "C")]
    assert cm.position_bias(samples).careful == {
        "A": LetterCounts(chosen=2, right=2, accuracy=50),
        "B": LetterCounts(chosen=0, right=1, accuracy=0),
        "C": LetterCounts(chosen=1, right=0, accuracy=None),
    }


def test_every_rule_that_reads_a_wording_is_explained() -> None:
    texts = [*DECLARED, *LABELS, *REFUSALS]
    rules = {read_choice(text, options).rule for text, options, _ in texts}
    rules |= {read_lmms_eval(text, version).rule for text, *_ in texts for version in LMMS_EVAL_VERSIONS}
    rules |= {
        read_vlmevalkit(text, options, version).rule for text, options, _ in texts for version in VLMEVALKIT_VERSIONS
    }
    assert len(rules) > 10
    assert rules - set(GLOSSARY) == set()
