"""docs/results-file.md explains every outcome; docs/readings.md has examples that are read by the rules it names."""

import re

import pytest

from grader.results import Outcome
from grader.scorers.choice.careful import read_choice
from grader.scorers.choice.published import READERS
from grader.scorers.oddities import NOT_JUDGED, SERVER_FAILURE
from tests.conftest import ROOT


def test_every_outcome_and_rule_of_what_is_unscored_is_documented() -> None:
    text = (ROOT / "docs" / "results-file.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([^`\n]+)`", text))
    assert {*(outcome.value for outcome in Outcome), SERVER_FAILURE, NOT_JUDGED, "judge"} <= named


PAGE = (ROOT / "docs" / "readings.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^- `(\w+)`: `(.+)`$", PAGE, re.MULTILINE)
COLOURS = {"A": "red", "B": "blue", "C": "green", "D": "yellow"}


@pytest.mark.parametrize(("rule", "reply"), ROWS, ids=[rule for rule, _ in ROWS])
def test_an_example_is_read_by_its_rule(rule: str, reply: str) -> None:
    is_yes_or_no = rule == "yes_or_no"
    options = {"A": "Yes", "B": "No"} if is_yes_or_no else COLOURS
    text = reply.replace("⏎", "\n")
    assert read_choice(text, options, "Is the door open?" if is_yes_or_no else "").rule == rule


def test_the_page_has_most_rules_and_all_published_readers() -> None:
    assert len(ROWS) > 15
    assert [name for name in READERS if f"| `{name}` |" not in PAGE] == []
