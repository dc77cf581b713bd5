"""docs/results-file.md names every field that a results file can have, and none that it cannot."""

import re
from pathlib import Path
from typing import get_args, get_type_hints

import msgspec
import pytest

from grader import results
from grader.results import Outcome
from grader.scorers.choice import facts as choice
from grader.scorers.choice.careful.read import read_choice
from grader.scorers.choice.published import READERS
from grader.scorers.execution import facts as execution
from grader.scorers.mr_ben import facts as mr_ben
from grader.scorers.oddities import NOT_JUDGED, SERVER_FAILURE
from tests.conftest import ROOT

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "results-file.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`([^`\n]+)`", TEXT))
ROOTS = (
    results.Report,
    choice.SampleFacts,
    choice.RunFacts,
    execution.SampleFacts,
    mr_ben.SampleFacts,
    mr_ben.RunFacts,
)


def _records(kind: object, found: dict[str, type[msgspec.Struct]]) -> dict[str, type[msgspec.Struct]]:
    """Return every record that a type holds."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if kind.__qualname__ not in found:
            found[f"{kind.__module__}.{kind.__qualname__}"] = kind
            for hint in get_type_hints(kind).values():
                _records(hint, found)
    else:
        for part in get_args(kind):
            _records(part, found)
    return found


FIELDS = sorted(
    {
        (record.rpartition(".")[2], field.encode_name)
        for root in ROOTS
        for record, kind in _records(root, {}).items()
        for field in msgspec.structs.fields(kind)
    }
)


def test_every_field_outcome_and_rule_of_what_is_unscored_is_documented() -> None:
    assert [(record, field) for record, field in FIELDS if field not in NAMED] == []
    assert {*(outcome.value for outcome in Outcome), SERVER_FAILURE, NOT_JUDGED, "judge"} <= NAMED


def test_tables_name_no_field_that_does_not_exist() -> None:
    known = {field for _, field in FIELDS} | {SERVER_FAILURE, NOT_JUDGED, "judge"}
    known |= {"execution", "multiple_choice", "circular", "mr_score"}
    rows = re.findall(r"^\| ((?:`[a-z_0-9]+`(?:, )?)+) \|", TEXT, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert named - known == set()


PAGE = (ROOT / "docs" / "readings.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \| `(.+)` \|$", PAGE, re.MULTILINE)
QUESTIONS = {"absent": "Which object is NOT in the image?", "yes_or_no": "Is the door open?"}


@pytest.mark.parametrize(("rule", "options", "reply"), ROWS, ids=[rule for rule, *_ in ROWS])
def test_an_example_is_read_by_its_rule(rule: str, options: str, reply: str) -> None:
    texts = dict(zip("ABCD", options.split(" / "), strict=False))
    text = reply.replace("⏎", "\n").replace("\\|", "|")
    assert read_choice(text, texts, QUESTIONS.get(rule, "")).rule == rule


def test_the_page_has_most_rules_and_all_published_readers() -> None:
    assert len(ROWS) > 15
    assert [name for name in READERS if f"| `{name}` |" not in PAGE] == []
