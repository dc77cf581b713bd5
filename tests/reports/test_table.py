"""The report on a terminal."""

from __future__ import annotations

from grader.reports.table import render
from tests.made_runs import figures, of_sample, report
from tests.reports.made_reports import read, sample


def test_a_submission_has_nothing_that_the_readings_could_agree_on() -> None:
    said = render(report([], split="test-en", notes=["test-en has no public answers."]))
    assert "agree" not in said
    assert "test-en has no public answers." in said


def test_it_says_on_how_many_samples_the_readings_differ() -> None:
    made = of_sample("vstar")
    assert f"differ on {len(made.differences())} of {len(made.samples)} samples" in render(made)


def test_every_group_row_says_which_figure_it_is_of_and_follows_it() -> None:
    made = report(
        [],
        metrics=[
            *figures("pass@1", 40.0, 10),
            *figures("parse_success_rate", 100.0, 10),
            *figures("pass@1", 30.0, 5, "task_type=Odd"),
            *figures("parse_success_rate", 100.0, 5, "task_type=Odd"),
        ],
    )
    rows = [line.split()[0:2] for line in render(made).splitlines() if "." in line]
    assert rows == [["pass@1", "40.0"], ["pass@1,", "task_type=Odd"], ["parse_success_rate", "100.0"]]


def test_the_groups_of_mr_ben_are_those_of_the_mr_score() -> None:
    lines = [line.split() for line in render(of_sample("mr-ben"), width=140).splitlines()]
    grouped = [words[0] for words in lines if len(words) > 1 and words[1].startswith("subject=")]
    assert grouped
    assert set(grouped) == {"mr_score,"}


def test_a_broken_group_row_is_indented_on_every_line() -> None:
    label = "structuralized imagetext understanding of documents"
    made = report([], metrics=[*figures("accuracy", 40.0, 10), *figures("accuracy", 30.0, 5, f"category={label}")])
    rows = render(made, width=70).splitlines()
    start = next(at for at, row in enumerate(rows) if "accuracy, " in row)
    broken = [row.partition("30.0")[0] for row in rows[start:-1]]
    assert all(row.startswith("    ") for row in broken if row.strip())
    assert "".join("".join(broken).split()) == f"accuracy, category={label}".replace(" ", "")


def test_a_difference_is_explained_by_what_the_rules_mean() -> None:
    first = read("no_answer", rule="none_matched")
    made = report([sample("q1", first, read("correct", "B", rule="own_line"))])
    assert (
        "  q1 #0: no_answer -> B (correct)  "
        "(official: no rule found an answer; careful: the letter or text is on a line by itself)"
    ) in render(made, width=140).splitlines()
    same = report([sample("q1", first, read("correct", "B", rule="none_matched"))])
    assert "  q1 #0: no_answer -> B (correct)" in render(same).splitlines()
