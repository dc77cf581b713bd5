"""HumanEval-V runs among the published models: the ranks that the official interval allows."""

import json
from typing import Any

import msgspec

from grader.decisions import published
from grader.decisions.comparison import RunName
from grader.decisions.leaderboard import Board, leaderboard
from grader.reports.document import Table
from grader.reports.views import leaderboard as view
from grader.results import Metric, Provenance, Report
from tests.reports.made_reports import BENCHMARKS, read, report, sample
from tests.tables import each


def run(value: float = 30.0, *, tasks: int = 253, number: int = 1, **fields: Any) -> Report:
    samples = [sample(f"q{at}", read("passed"), number=one) for at in range(tasks) for one in range(number)]
    metric = Metric(name="pass@1", reading="official", value=value, ci95=(value - 5, value + 5), n=tasks)
    return report(samples, benchmark="humaneval-v", protocol="v2", metrics=[metric], **fields)


def mode(name: object) -> Provenance:
    return Provenance(inference={"mode": name})


def board(*reports: Report) -> Board:
    runs = [(RunName(name=f"mine {at}"), each) for at, each in enumerate(reports)]
    (made,) = leaderboard(runs, reading="official", with_published=True).boards
    return made


def test_the_published_values_are_percentages_of_25_models() -> None:
    known = published.load("humaneval-v")
    assert known is not None
    assert len(known.models) == 25
    raw = json.loads((BENCHMARKS / "humaneval-v" / "published.json").read_text())
    assert raw["models"]["Claude 3.5 Sonnet (1022)"]["v2c-cot"] == {"pass@1": 36.8, "pass@3": 47.9}
    values = [v for modes in known.models.values() for of in modes.values() for v in of.values()]
    assert 0 <= min(values) < 1 < max(values) == 47.9
    assert {metric for modes in known.models.values() for of in modes.values() for metric in of} == {*known.samples}


def test_a_run_stands_among_the_published_models_of_its_prompt_mode() -> None:
    """GPT-4o (27.7) is within 25 to 35; o1 (40.6) and Claude (36.8) are above it, Gemini (22.9) is below."""
    mine = run(provenance=mode("v2c-cot"))
    made = board(mine)
    assert made.rankings["official"].ranks == [(3, 4)]
    assert made.rankings["careful"].ranks == [None]
    assert made.notes == ["Published: https://github.com/HumanEval-V/humaneval-v.github.io at e0d8a31."]
    ranked = leaderboard([(RunName(name="mine"), mine)], reading="official", with_published=True)
    (table, *said) = view.document(ranked).sections[0].parts
    assert isinstance(table, Table)
    rows = [[cell.text for cell in row] for row in table.rows]
    assert len(rows) == 26
    assert [(row[0], row[1], row[3], row[5]) for row in rows[:4]] == [
        ("–", "OpenAI o1, V2C-CoT", "40.6", "–"),
        ("–", "Claude 3.5 Sonnet (1022), V2C-CoT", "36.8", "–"),
        ("3–4", "mine", "30.0", "25.0 to 35.0"),
        ("–", "GPT-4o (0806), V2C-CoT", "27.7", "–"),
    ]
    assert "Published values have no interval: the rank of a run counts" in str(said[0])


def test_settings_that_differ_are_said() -> None:
    notes = board(run(number=6)).notes
    assert "mine 0: its file does not say a published prompt mode; it is shown among V2C-CoT." in notes
    assert "mine 0: pass@1 is from 6 samples of a task, the published one from 1 sample." in notes


@each("value", ["other", ["v2c"], {"v2c": 1}, None, 3])
def test_a_mode_that_is_not_a_published_one_is_as_if_it_were_not_said(value: object) -> None:
    (_, note) = board(run(provenance=mode(value))).notes
    assert note == "mine 0: its file does not say a published prompt mode; it is shown among V2C-CoT."


@each(
    ("other", "why"),
    [
        (run(tasks=12), "the published values are of 253 tasks, this run has 12"),
        (msgspec.structs.replace(run(), protocol="v1"), "the published values are of protocol v2, this run is of v1"),
    ],
)
def test_other_tasks_and_protocols_are_not_compared(other: Report, why: str) -> None:
    made = board(other)
    assert (made.published, made.rankings["official"].ranks) == ([], [None])
    assert made.notes == [f"The published models of humaneval-v are not shown: {why}."]


def test_a_benchmark_without_published_values_says_so() -> None:
    assert board(msgspec.structs.replace(run(), benchmark="vstar")).notes == ["No published values of vstar are known."]
