"""A comparison as a file: what JSON, CSV and Markdown say of it, and that names in it cannot act."""

from __future__ import annotations

import csv
import io

import msgspec
import pytest

from grader.decisions.comparison import Flip, RunName
from grader.errors import UsageError
from grader.reports.comparison import format_of
from grader.reports.comparison.csv import make as as_csv
from grader.reports.comparison.markdown import make as as_markdown
from grader.reports.comparison.table import render
from grader.reports.record_json import make as as_json
from tests.reports.comparison.test_table import MOVED, comparison

NAMED = comparison(
    a=RunName(results="a_results.json", predictions="a.json", model="tiny-1"),
    b=RunName(predictions="b.json"),
)


def test_every_format_names_both_runs() -> None:
    assert NAMED.names() == ("a_results.json (tiny-1)", "b.json")
    assert render(NAMED).splitlines()[:2] == ["A: a_results.json (tiny-1)", "B: b.json"]
    text = as_markdown(NAMED).decode()
    assert "- **A**: `a_results.json (tiny-1)`\n- **B**: `b.json`\n" in text
    found = msgspec.json.decode(as_json(NAMED))
    assert found["a"] == {"results": "a_results.json", "predictions": "a.json", "model": "tiny-1"}


def test_the_table_has_a_row_a_metric_with_unrounded_values() -> None:
    (row,) = csv.DictReader(io.StringIO(as_csv(NAMED).decode(), newline=""))
    assert (row["metric"], row["reading"], row["a_run"], row["b_run"]) == ("accuracy", "careful", *NAMED.names())
    assert (float(row["a"]), float(row["b"]), float(row["change"])) == (80, 60, MOVED.value)
    assert (float(row["ci95_low"]), float(row["ci95_high"]), float(row["p"])) == (*MOVED.ci95, MOVED.p_value)


def test_markdown_has_the_change_the_power_and_the_items() -> None:
    text = as_markdown(NAMED).decode()
    low, high = (f"{end:+.1f}" for end in MOVED.ci95)
    assert f"| `accuracy` | careful |  | 80.0 | 60.0 | -20.0 | {low} to {high} | 0.500 | 10 |" in text
    assert f"`accuracy`: minimum detectable change {MOVED.detectable:.1f} points (80 % power, n = 10)" in text
    assert "| `q0` | `correct` | `wrong` |" in text
    assert "**Higher in B (careful):** none" in text


def test_names_of_items_and_files_cannot_act_in_a_spreadsheet_or_a_page() -> None:
    bad = "=1+1 | <script> @you\n# x"
    flip = Flip(item=bad, before=1, after=0, outcomes=(["correct"], ["wrong"]))
    made = comparison(fallen=[flip], a=RunName(results=bad))
    (row,) = csv.DictReader(io.StringIO(as_csv(made).decode(), newline=""))
    assert row["a_run"].startswith("'=")
    text = as_markdown(made).decode()
    assert "`=1+1 `&#124;` <script> @you # x`" in text
    assert "\n# x" not in text


def test_another_ending_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"-o x\.pdf: a comparison is written as \.json, \.md, \.csv, or `-`"):
        format_of("x.pdf")
