"""Rows of Mr-Ben: when the judge is asked, the credit, the kinds of difference, and the sample's figures from them."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest

from grader.predictions.foreign import row_qids
from grader.scorers.mr_ben.figures import RowFacts, figures, mean_figures
from grader.scorers.mr_ben.judge_decision import decision_careful
from grader.scorers.mr_ben.reading import (
    Credit,
    GoldRow,
    credit_careful,
    credit_official,
    difference_kind,
    needs_judge_careful,
    needs_judge_official,
    read_careful,
    read_official,
    steps_match,
)
from tests.scorers.mr_ben.made import PROGRAM, SAMPLE, full_response, sample_rows


def test_steps_match_forgives_whitespace_and_a_missing_comment_in_code() -> None:
    gold = GoldRow(correct=False, step="    if y > 3:  # big", coding=True, solution=PROGRAM)
    assert steps_match("if y>3: # big", gold)
    assert steps_match("if y > 3:", gold)
    assert not steps_match("if y > 4:  # big", gold)
    assert not steps_match("return x", GoldRow(correct=False, step="return x  # again", coding=True, solution=PROGRAM))
    assert not steps_match("", GoldRow(correct=False, step="   ", coding=True))
    assert steps_match("3", GoldRow(correct=False, step="3"))
    assert not steps_match("N/A", GoldRow(correct=False, step="3"))


@pytest.mark.parametrize(
    ("gold", "text", "official", "careful"),
    [
        (GoldRow(correct=False, step="3"), full_response("incorrect", "Step 3"), True, True),
        (GoldRow(correct=False, step="3"), full_response("The solution is incorrect", "3"), True, True),
        (GoldRow(correct=False, step="3"), full_response("incorrect", "Step 3: x"), False, True),
        (GoldRow(correct=False, step="3"), full_response("incorrect", "Step 2"), False, False),
        (GoldRow(correct=False, step="3"), full_response("incorrect", "Step 3", "N/A"), True, False),
        (GoldRow(correct=True, step="N/A"), full_response("incorrect", "Step 3"), False, False),
        (GoldRow(correct=False, step="x = 1", coding=True), full_response("incorrect", "y = 2"), True, True),
        (GoldRow(correct=False, step="x = 1", coding=True), full_response("correct", "N/A", "N/A"), False, False),
    ],
)
def test_the_judge_is_asked_only_where_it_can_matter(gold: GoldRow, text: str, official: bool, careful: bool) -> None:
    assert needs_judge_official(gold, read_official(text)) is official
    assert needs_judge_careful(gold, read_careful(text, coding=gold.coding)) is careful


JUDGED = "Step-by-Step Reasoning: x\nStudent Error Reason Analysis: y\nFinal Decision: {}"


@pytest.mark.parametrize(
    ("gold", "text", "reply", "official", "careful", "kind"),
    [
        (("3", False), full_response("incorrect", "Step 3"), "Correct", (True, True), (True, True), ""),
        (("3", False), full_response("incorrect", "Step 3"), "Wrong", (True, False), (True, False), ""),
        (("3", False), full_response("incorrect", "3"), "Correct", (False, False), (True, True), "bare digit"),
        (
            ("3", False),
            full_response("incorrect", "Step 3: x"),
            None,
            (False, False),
            (True, None),
            "wording of the step",
        ),
        (
            ("3", False),
            full_response("incorrect", "Step 3"),
            "Incorrect",
            (True, True),
            (True, False),
            '"Incorrect" credited',
        ),
        (("", True), full_response("incorrect", "x = 1"), "Wrong", (True, False), (False, False), "empty gold step"),
        (("", True), full_response("incorrect", "x = 1"), "Correct", (True, True), (True, True), ""),
        (("x = 1", True), full_response("incorrect", "`x=1`"), "Wrong", (False, False), (True, False), "code line"),
        (
            ("3", False),
            full_response("It is incorrect", "Step 3"),
            "Wrong",
            (False, False),
            (True, False),
            "wording of the verdict",
        ),
        (
            ("3", False),
            full_response("incorrect", "Step 3").lower(),
            None,
            (False, False),
            (True, None),
            "headings not read",
        ),
    ],
)
def test_credit_and_the_kind_of_difference(
    gold: tuple[str, bool],
    text: str,
    reply: str | None,
    official: tuple[bool, bool],
    careful: tuple[bool | None, bool | None],
    kind: str,
) -> None:
    row = GoldRow(correct=False, step=gold[0], coding=gold[1])
    replied = None if reply is None else JUDGED.format(reply)
    readings = read_official(text), read_careful(text, coding=row.coding)
    decision = None if replied is None else decision_careful(replied)
    assert credit_official(row, readings[0], replied) == Credit(*official)
    assert credit_careful(row, readings[1], decision) == Credit(*careful)
    assert difference_kind(row, *readings, replied) == kind


def test_an_unparsable_reply_is_no_credit_officially_and_unscored_carefully() -> None:
    row, text = GoldRow(correct=False, step="3"), full_response("incorrect", "Step 3")
    assert credit_official(row, read_official(text), "Hm.") == Credit(step=True, reason=False)
    assert credit_careful(row, read_careful(text, coding=False), decision_careful("Hm.")) == Credit(
        step=True, reason=None
    )


def sample_metrics() -> dict[str, dict[str, float]]:
    predictions = json.loads((SAMPLE / "predictions.json").read_text(encoding="utf-8"))
    texts = {record["qid"]: record["predictions"][0] for record in predictions}
    replies = json.loads((SAMPLE / "judge_replies.json").read_text(encoding="utf-8"))
    facts: dict[str, dict[str, list[RowFacts]]] = {"official": defaultdict(list), "careful": defaultdict(list)}
    for subject, rows in sample_rows().items():
        for qid, row in zip(row_qids(rows), rows, strict=True):
            gold = GoldRow(
                correct=row["Model_Solution_Correctness"] == "correct",
                step=str(row["Model_Solution_First_Error_Step"]),
                coding=subject == "coding",
                solution=row["Model_Solution_Steps"],  # type: ignore[arg-type]
            )
            official = read_official(texts[qid])
            careful = read_careful(texts[qid], coding=gold.coding, solution=gold.solution)
            asked = needs_judge_careful(gold, careful)
            assert (qid in replies) >= (asked or needs_judge_official(gold, official))
            decision = decision_careful(replies[qid]) if asked else None
            for name, reading, credit in (
                ("official", official, credit_official(gold, official, replies.get(qid))),
                ("careful", careful, credit_careful(gold, careful, decision)),
            ):
                said = None if reading.correctness is None else reading.correctness == "correct"
                facts[name][subject].append(
                    RowFacts(gold_correct=gold.correct, predicted_correct=said, step=credit.step, reason=credit.reason)
                )
    metrics: dict[str, dict[str, float]] = {}
    for reading_name, subjects in facts.items():
        found = {f"subject={subject}/": figures(rows) for subject, rows in subjects.items()}
        found[""] = mean_figures(list(found.values()))
        metrics[reading_name] = {
            prefix + name: getattr(figure, name)
            for prefix, figure in found.items()
            for name in ("mr_score", "mcc", "acc_step", "acc_reason")
        }
    return metrics


@pytest.mark.parametrize("reading", ["official", "careful"])
def test_the_sample_has_the_figures_worked_out_by_hand(reading: str) -> None:
    expected = json.loads((SAMPLE / "expected.json").read_text(encoding="utf-8"))["metrics"][reading]
    assert sample_metrics()[reading] == pytest.approx(expected)
