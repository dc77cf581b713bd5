"""What a Mr-Ben judge's reply decides, officially and carefully."""

import re

from hypothesis import given
from hypothesis import strategies as st

from grader.scorers.mr_ben.careful import careful_decision
from grader.scorers.mr_ben.official import PARSING_ERROR, is_credited_official, official_decision
from tests.tables import each

REASONING, ANALYSIS, DECISION = "Step-by-Step Reasoning:", "Student Error Reason Analysis:", "Final Decision:"


def reply(decision: str) -> str:
    return f"{REASONING} The reference.\n{ANALYSIS} Compared with it.\n{DECISION} {decision}"


def official_by_expressions(text: str) -> str:
    """The three searches as the official scorer writes them."""
    try:
        for first, second in ((REASONING, ANALYSIS), (ANALYSIS, DECISION)):
            re.search(rf"{first}\s*(.*?)\s*{second}", text, re.DOTALL).group(1)  # type: ignore[union-attr]
        return re.search(rf"{DECISION}\s*(.*)", text, re.DOTALL).group(1)  # type: ignore[union-attr]
    except AttributeError:
        return PARSING_ERROR


@each(
    ("text", "official", "credited", "careful"),
    [
        (reply("Correct"), "Correct", True, "correct"),
        (reply("Wrong"), "Wrong", False, "wrong"),
        (reply("Incorrect"), "Incorrect", True, "wrong"),
        (reply("Mostly correct"), "Mostly correct", True, None),
        (reply("It does not correctly name the slip"), "It does not correctly name the slip", True, "wrong"),
        (reply("I cannot tell whether it is correct"), "I cannot tell whether it is correct", True, None),
        ("**Final Decision**\nWrong", PARSING_ERROR, False, "wrong"),
        ("The decision is Correct", PARSING_ERROR, False, "correct"),
        ("<think>Final Decision: Wrong</think>Final Decision: Correct", PARSING_ERROR, False, "correct"),
        ("Final Decision: Correct\nFinal Decision: Wrong", PARSING_ERROR, False, None),
        ('{"reasoning": "...", "final_decision": "wrong"}', PARSING_ERROR, False, "wrong"),
        ("**3. Final Decision:** ~~Wrong~~ Correct", PARSING_ERROR, False, "correct"),
        ("The student is on the correct track.", PARSING_ERROR, False, None),
        ("", PARSING_ERROR, False, None),
    ],
)
def test_a_reply_is_read_as_each_reading_reads_it(
    text: str, official: str, credited: bool, careful: str | None
) -> None:
    decision = official_decision(text)
    assert (decision, is_credited_official(decision), careful_decision(text)) == (official, credited, careful)


@given(st.lists(st.sampled_from((REASONING, ANALYSIS, DECISION, " ", "\n", "Correct", "Final Decision", "x"))))
def test_official_decision_equals_the_official_expressions(parts: list[str]) -> None:
    text = "".join(parts)
    assert official_decision(text) == official_by_expressions(text)
