"""Where a HumanEval-V run stands among the published models: the ranks that its official interval allows."""

import json
from typing import Any

import msgspec
import pytest

from grader.decisions.comparison import RunName
from grader.decisions.leaderboard import leaderboard
from grader.reports import published
from grader.reports.document import Table
from grader.reports.views import leaderboard as view
from grader.reports.views import run as run_view
from grader.results import Metric, Provenance, Report
from tests.reports.made_reports import BENCHMARKS, read, report, sample


def run(value: float = 30.0, *, tasks: int = 253, number: int = 1, **fields: Any) -> Report:
    samples = [sample(f"q{at}", read("passed"), number=one) for at in range(tasks) for one in range(number)]
    metric = Metric(name="pass@1", reading="official", value=value, ci95=(value - 5, value + 5), n=tasks)
    return report(samples, benchmark="humaneval-v", protocol="v2", metrics=[metric], **fields)


def known() -> published.Published:
    found = published.load("humaneval-v")
    assert found is not None
    return found


def mode(name: str) -> Provenance:
    return Provenance(inference={"mode": name})


def test_the_published_values_are_percentages_of_25_models() -> None:
    assert len(known().models) == 25
    raw = json.loads((BENCHMARKS / "humaneval-v" / "published.json").read_text())
    assert raw["models"]["Claude 3.5 Sonnet (1022)"]["v2c-cot"] == {"pass@1": 36.8, "pass@3": 47.9}
    values = [v for modes in known().models.values() for of in modes.values() for v in of.values()]
    assert 0 <= min(values) < 1 < max(values) == 47.9
    assert {metric for modes in known().models.values() for of in modes.values() for metric in of} == {*known().samples}


def test_a_run_has_the_ranks_that_its_official_interval_allows() -> None:
    """GPT-4o (27.7) is within 25 to 35; o1 (40.6) and Claude (36.8) are above it, Gemini (22.9) is below."""
    made = published.table([("mine", run(provenance=mode("v2c-cot")))], known())
    rows = [[cell.text for cell in row] for row in made.rows]
    assert [row[0] for row in rows][:5] == [
        "OpenAI o1", "Claude 3.5 Sonnet (1022)", "mine", "GPT-4o (0806)", "Gemini 1.5 Pro (002)",
    ]  # fmt: skip
    assert rows[2][1:5] == ["V2C-CoT", "30.0", "25.0 to 35.0", "3–4 of 26"]
    assert rows[0][2:6] == ["40.6", "", "", "–"]
    assert made.note == "Published: https://github.com/HumanEval-V/humaneval-v.github.io at e0d8a31."


def test_settings_that_differ_are_said() -> None:
    note = published.table([("mine", run(number=6))], known()).note
    assert "its file does not say the prompt mode; the rank is among V2C-CoT." in note
    assert "pass@1 is from 6 samples of a task, the published one from 1 sample." in note


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (run(tasks=12), "the published values are of 253 tasks, this run has 12"),
        (msgspec.structs.replace(run(), protocol="v1"), "the published values are of protocol v2, this run is of v1"),
    ],
)
def test_other_tasks_and_protocols_are_not_compared(other: Report, why: str) -> None:
    assert published.why_not(other, known()) == why
    section = view.document(leaderboard([(RunName(name="x"), other)]), None, [(RunName(name="x"), other)]).sections[-1]
    assert section.parts == [f"x is not among the published models: {why}."]


def test_the_page_of_a_run_and_a_leaderboard_have_the_same_rows() -> None:
    mine = run(provenance=mode("v2c"), model="mine")
    parts = [part for section in run_view.document(mine).sections for part in section.parts]
    (block,) = (part for part in parts if isinstance(part, Table) and part.title.startswith("Among"))
    document = view.document(leaderboard([(RunName(model="mine"), mine)]), None, [(RunName(model="mine"), mine)])
    (table,) = document.sections[-1].parts
    assert not isinstance(table, str)
    assert block.rows == table.rows
    assert len(block.rows) == 24  # o1 and QVQ were published with one prompt mode only
