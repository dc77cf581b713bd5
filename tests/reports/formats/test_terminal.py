"""The report on a terminal."""

import pytest

from grader.reports.document import Column, Table, cells
from grader.reports.formats.terminal import drawn
from grader.reports.text import cut, wrapped
from grader.results import Metric, Note, Report
from tests.made_runs import figures, report, tasks
from tests.reports.made_reports import read, sample
from tests.reports.shown import on_terminal


def test_a_submission_has_nothing_that_the_readings_could_agree_on() -> None:
    said = on_terminal(report([], split="test-en", notes=[Note("test-en has no public answers.")]))
    assert "agree" not in said
    assert "test-en has no public answers." in said


def test_of_many_differences_all_are_counted_by_their_kind() -> None:
    right, wrong = read("correct"), read("wrong")
    said = on_terminal(report([*(sample(f"a{n}", wrong, right) for n in range(12)), sample("b", right, wrong)]))
    assert "12 wrong to correct, 1 correct to wrong." in said.splitlines()
    assert "  ... 3 more; `-o FILE.json` has all." in said.splitlines()


def _grouped(*labels: str) -> Report:
    """Two metrics, overall and by these groups."""
    return report(
        [],
        metrics=[
            metric
            for group in (None, *labels)
            for name, value in (("pass@1", 40.0), ("parse_success_rate", 100.0))
            for metric in figures(name, value, 10, group)
        ],
    )


def test_many_groups_are_only_shown_on_request() -> None:
    made = _grouped(*(f"task_type={number}" for number in range(9)))
    said = on_terminal(made)
    assert "9 groups (task_type): `-v` shows them here" in said
    assert said.count("40.0") == 2
    assert "pass@1 by task_type" not in said, "a heading with nothing under it"
    shown = on_terminal(made, verbose=True)
    assert shown.count("40.0") == 20
    assert "pass@1 by task_type" in shown


def test_a_narrow_terminal_breaks_a_name_between_its_words_and_no_value() -> None:
    label = "structuralized imagetext_understanding of documents"
    made = report([], metrics=[*figures("accuracy", 40.0, 10), *figures("accuracy", 30.0, 5, f"category={label}")])
    rows = on_terminal(made, width=72).splitlines()
    assert all(len(row) <= 72 for row in rows)
    start = next(at for at, row in enumerate(rows) if "30.0" in row)
    assert [row.strip().split("  ")[0] for row in rows[start : start + 2]] == [
        "structuralized imagetext_",
        "understanding of documents",
    ]
    narrow = on_terminal(made, width=50)
    assert all(len(row) <= 50 for row in narrow.splitlines() if "0.0" in row)
    assert narrow.count("30.0") == 2


@pytest.mark.parametrize("width", range(40, 72))
def test_a_narrow_terminal_loses_no_character_of_long_names(width: int) -> None:
    columns = [Column(name=name, kind=kind) for name, kind in (("id", "word"), ("splits", "name"), ("rules", "name"))]
    row = ["humaneval-plus", "dev-en-v11, test-en-v11", "vlmevalkit-2026-06, vlmevalkit-2025-08"]
    lines = drawn(Table(title="", columns=columns, rows=[cells(row)]), width)
    assert all(len(line) <= width for line in lines)
    assert sorted("".join(lines[2:]).replace(" ", "")) == sorted("".join(row).replace(" ", ""))


def test_a_metric_of_one_reading_has_a_dash_in_the_other_column_and_is_no_difference() -> None:
    only = [Metric(name="calls_right", reading="careful", value=87.5, ci95=(60.0, 100.0), n=8)]
    said = on_terminal(report([], metrics=[*figures("pass@1", 40.0, 8), *only]), colour=True)
    [row] = [line for line in said.splitlines() if "calls_right" in line]
    assert row.split() == ["calls_right", "–", "87.5", "60.0", "to", "100.0", "8"]


def test_a_text_is_cut_after_a_word_if_it_has_words() -> None:
    assert cut("which the official extraction does not find", 36) == "which the official extraction does…"
    assert cut("x" * 50, 10) == "x" * 9 + "…"
    assert cut("a " + "x" * 50, 10) == "a xxxxxxx…"
    assert cut("a b", 3) == "a b"


def test_prose_on_a_terminal_breaks_no_word_and_no_command() -> None:
    text = "  q1: the first call was not answered as it should be; run `grade show vstar q1` for more"
    assert wrapped(text, 40).splitlines() == [
        "  q1: the first call was not answered as",
        "    it should be; run",
        "    `grade show vstar q1` for more",
    ]
    assert wrapped(text, 120) == text
    assert wrapped("a power of 80 % at a level of 5 % of all", 32).splitlines() == [
        "a power of 80 % at a level of",
        "  5 % of all",
    ]


def test_a_curve_is_a_table_of_its_values_and_of_many_has_some() -> None:
    """What a page draws, a terminal has as numbers."""
    heading, _, official, careful = curve_lines(tasks([1, 0], samples=3))
    assert (heading.split(), careful.split()) == (
        ["reading", "pass@1", "pass@2", "pass@3"],
        ["careful", "16.7", "33.3", "50.0"],
    )
    assert official.split()[0] == "official"
    assert curve_lines(tasks([12], samples=12))[0].split() == [
        "reading",
        "pass@1",
        "pass@2",
        "pass@5",
        "pass@10",
        "pass@12",
    ]


def curve_lines(made: Report) -> list[str]:
    rows = on_terminal(made).splitlines()
    at = rows.index("pass@k against k")
    return rows[at + 1 : at + 5]
