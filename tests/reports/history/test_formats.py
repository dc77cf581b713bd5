"""A history in every format: the same values everywhere, and names that can do nothing."""

from __future__ import annotations

import csv
import io
import re

import msgspec
import pytest

from grader.decisions.comparison import RunName
from grader.decisions.history import History, history
from grader.errors import UsageError
from grader.reports import record_json as as_json
from grader.reports.history import csv as as_csv
from grader.reports.history import format_of, html, markdown, table
from tests.decisions.test_history import made
from tests.decisions.test_leaderboard import questions
from tests.reports.leaderboard.test_formats import read, rendered
from tests.reports.made_reports import HOSTILE

MADE = made(100, 150, 152, line=60.0)


def test_the_terminal_has_bars_a_table_and_what_the_data_show() -> None:
    text = table.render(MADE)
    assert re.search(r"1000 +50\.0 +50\.0 +43\.1 to 56\.9 +below", text)
    assert re.search(r"2000 +75\.0 +75\.0 +68\.\d to 80\.\d +\+25\.0 +<0\.001 +50 +0 +met", text)
    assert "careful: ▁▇█" in text or "careful: ▁██" in text
    assert "The gate's threshold is 60; below it: step 1000." in text
    assert "significant change at step 2000" in text


def test_csv_and_json_are_unrounded_and_whole() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv.make(MADE).decode(), newline="")))
    (row,) = [one for one in rows if (one["step"], one["reading"]) == ("2000", "careful")]
    assert (float(row["value"]), float(row["change"]), row["higher"], row["lower"]) == (75, 25, "50", "0")
    assert msgspec.json.decode(as_json.make(MADE), type=History) == MADE


def test_markdown_lists_what_moved_at_the_last_step() -> None:
    text = markdown.make(MADE).decode()
    assert "**Higher from 2000 to 3000:** 2" in text
    assert rendered(text.encode()).count("<table>") == 2


def test_html_draws_both_readings_the_band_and_the_line() -> None:
    page = read(html.make(MADE))
    assert page.tags.count("polygon") == page.tags.count("polyline") == 2
    assert page.tags.count("circle") == 6
    assert "The gate's threshold is 60; below it: step 1000." in page.text
    assert page.tags.count("details") == 2
    assert (page.tags.count("script"), page.links) == (1, ["#content"])


@pytest.mark.parametrize("text", HOSTILE)
def test_names_can_do_nothing(text: str) -> None:
    runs = [(n, RunName(name=text, results=text), questions(n, protocol=text)) for n in (100, 150)]
    found = history(runs)
    page = read(html.make(found))
    assert (page.tags.count("script"), page.links) == (1, ["#content"])
    tags = set(re.findall(r"<(\w+)", rendered(markdown.make(found))))
    assert tags <= {"h2", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "ul", "li", "strong", "em", "br"}


def test_another_ending_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"-o x\.tex: a history is written as \.json, \.csv, \.md, \.html"):
        format_of("x.tex")
