"""docs/results-file.md explains every outcome; docs/readings.md names every published reader."""

import re

from grader.results import Outcome
from grader.scorers.choice.published import READERS
from grader.scorers.oddities import NOT_JUDGED, SERVER_FAILURE
from tests.conftest import ROOT


def test_every_outcome_and_rule_of_what_is_unscored_is_documented() -> None:
    text = (ROOT / "docs" / "results-file.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([^`\n]+)`", text))
    assert {*(outcome.value for outcome in Outcome), SERVER_FAILURE, NOT_JUDGED, "judge"} <= named


def test_the_page_of_readings_has_all_published_readers() -> None:
    page = (ROOT / "docs" / "readings.md").read_text(encoding="utf-8")
    assert [name for name in READERS if f"| `{name}` |" not in page] == []
