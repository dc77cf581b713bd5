"""Rows of Mr-Ben: when the judge is asked, the credit, the kinds of difference."""

from grader.scorers.mr_ben.careful import careful_decision, read_careful
from grader.scorers.mr_ben.official import read_official
from grader.scorers.mr_ben.reading import (
    Credit,
    GoldRow,
    credit_careful,
    credit_official,
    difference_kind,
    needs_judge_careful,
    needs_judge_official,
    steps_match,
)
from tests.scorers.mr_ben.made import PROGRAM, full_response
from tests.tables import each


def test_steps_match_forgives_only_whitespace_in_code() -> None:
    gold = GoldRow(correct=False, step="    if y > 3:  # big", program=PROGRAM)
    assert steps_match("if y>3: # big", gold)
    assert not steps_match("if y > 3:", gold)
    assert not steps_match("", GoldRow(correct=False, step="   ", program=""))
    assert steps_match("3", GoldRow(correct=False, step="3"))
    assert not steps_match("N/A", GoldRow(correct=False, step="3"))


@each(
    ("gold", "text", "official", "careful"),
    [
        (GoldRow(correct=False, step="3"), full_response("incorrect", "Step 3"), True, True),
        (GoldRow(correct=False, step="3"), full_response("The solution is incorrect", "3"), True, True),
        (GoldRow(correct=False, step="3"), full_response("incorrect", "Step 3: x"), False, True),
        (GoldRow(correct=False, step="3"), full_response("incorrect", "Step 2"), False, False),
        (GoldRow(correct=False, step="3"), full_response("incorrect", "Step 3", "N/A"), True, False),
        (GoldRow(correct=True, step="N/A"), full_response("incorrect", "Step 3"), False, False),
        (GoldRow(correct=False, step="x = 1", program=""), full_response("incorrect", "y = 2"), True, True),
        (GoldRow(correct=False, step="x = 1", program=""), full_response("correct", "N/A", "N/A"), False, False),
    ],
)
def test_the_judge_is_asked_only_where_it_can_matter(gold: GoldRow, text: str, official: bool, careful: bool) -> None:
    assert needs_judge_official(gold, read_official(text)) is official
    assert needs_judge_careful(gold, read_careful(text, gold.program)) is careful


STEP, CODE, EMPTY = (
    GoldRow(correct=False, step=step, program=None if step == "3" else "") for step in ("3", "x = 1", "")
)
JUDGED = "Step-by-Step Reasoning: x\nStudent Error Reason Analysis: y\nFinal Decision: {}"


@each(
    ("gold", "text", "reply", "official", "careful", "kind"),
    [
        (STEP, ("incorrect", "Step 3"), "Correct", (True, True), (True, True), ""),
        (STEP, ("incorrect", "3"), "Correct", (False, False), (True, True), "bare digit"),
        (STEP, ("incorrect", "Step 3: x"), None, (False, False), (True, None), "wording of the step"),
        (STEP, ("incorrect", "Step 3"), "Incorrect", (True, True), (True, False), '"Incorrect" credited'),
        (EMPTY, ("incorrect", "x = 1"), "Wrong", (True, False), (False, False), "empty gold step"),
        (CODE, ("incorrect", "`x=1`"), "Wrong", (False, False), (True, False), "code line"),
        (STEP, ("It is incorrect", "Step 3"), "Wrong", (False, False), (True, False), "wording of the verdict"),
    ],
)
def test_credit_and_the_kind_of_difference(
    gold: GoldRow,
    text: tuple[str, str],
    reply: str | None,
    official: tuple[bool, bool],
    careful: tuple[bool | None, bool | None],
    kind: str,
) -> None:
    replied = None if reply is None else JUDGED.format(reply)
    readings = read_official(full_response(*text)), read_careful(full_response(*text), gold.program)
    decision = None if replied is None else careful_decision(replied)
    assert credit_official(gold, readings[0], replied) == Credit(*official)
    assert credit_careful(gold, readings[1], decision) == Credit(*careful)
    assert difference_kind(gold, *readings, replied) == kind


def test_an_unparsable_reply_is_no_credit_officially_and_unscored_carefully() -> None:
    row, text = GoldRow(correct=False, step="3"), full_response("incorrect", "Step 3")
    assert credit_official(row, read_official(text), "Hm.") == Credit(step=True, reason=False)
    assert credit_careful(row, read_careful(text), careful_decision("Hm.")) == Credit(step=True, reason=None)
