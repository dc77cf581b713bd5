"""A leaderboard in every format: the same values everywhere, and names that can do nothing."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import cmarkgfm
import msgspec
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given

from grader.decisions.comparison import RunName
from grader.decisions.leaderboard import Leaderboard, leaderboard
from grader.errors import UsageError
from grader.reports import record_json as as_json
from grader.reports.csv import guarded
from grader.reports.leaderboard import FORMATS, format_of, html, latex, markdown, table
from grader.reports.leaderboard import csv as as_csv
from tests.decisions.test_leaderboard import board, questions
from tests.made_runs import circular
from tests.reports.made_reports import any_text

MADE = board(
    best=questions(150, official=90),
    middle=questions(142, official=142),
    last=questions(90, official=90),
    other=circular([[True, True], [True, False]]),
)


def named(name: str) -> Leaderboard:
    runs = [msgspec.structs.replace(questions(count, protocol=name), benchmark_name=name) for count in (150, 100)]
    return leaderboard([(RunName(name=name, results=name), runs[0]), (RunName(name=f"{name}2"), runs[1])])


def test_the_terminal_shows_ranks_both_readings_letters_and_the_method() -> None:
    text = table.render(MADE)
    assert "Models by benchmarks" in text
    assert re.search(r"1 +best +45\.0 b +75\.0 a +68\.\d to 80\.\d +200", text)
    assert re.search(r"2 +middle +71\.0 a +71\.0 b ", text)
    assert re.search(r"3 +last +45\.0 b +45\.0 c ", text)
    assert "P values are corrected for 3 comparisons (Holm, level 5 %)." in text
    assert "Letters: corrected for 6 comparisons." in text


def test_a_narrow_terminal_breaks_headings_and_names_but_no_value() -> None:
    runs = {f"a model with a long name {n}": questions(150 - n, benchmark=f"benchmark-{n}") for n in range(4)}
    lines = table.render(board(**runs), width=80).partition("benchmark-0 · ")[0].splitlines()
    assert all(len(line) <= 80 for line in lines)
    text = " ".join(lines)
    assert re.findall(r"\d+\.\d", text) == ["75.0", "75.0", "74.5", "74.5", "74.0", "74.0", "73.5", "73.5"]
    assert text.count("official") == text.count("careful") == 4
    assert text.count("a model with a") == 8


def test_a_benchmark_of_ones_own_has_its_name_and_no_published_scorer() -> None:
    of_vstar = html.make(board(a=questions(150), b=questions(100))).decode()
    assert "Official is the verdict of the published scorer, bug for bug;" in of_vstar
    own = {
        name: msgspec.structs.replace(questions(count), benchmark="floorplans", benchmark_name="Floor plans")
        for name, count in (("a", 150), ("b", 100))
    }
    page = html.make(board(**own)).decode()
    assert ">Floor plans: accuracy</h2>" in page
    assert "floorplans" not in page
    assert "Official is the verdict of the rules that the benchmark&#39;s protocol names;" in page


def test_csv_has_unrounded_values_by_run_metric_group_and_reading() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv.make(MADE).decode(), newline="")))
    (row,) = [r for r in rows if (r["model"], r["reading"], r["group"]) == ("best", "careful", "category=x")]
    assert (float(row["value"]), row["n"], row["comparisons"]) == (75.0, "100", "6")
    (row,) = [r for r in rows if (r["model"], r["reading"], r["group"]) == ("middle", "careful", "")]
    assert (row["rank_best"], row["rank_worst"], row["letters"]) == ("2", "2", "b")


def test_json_is_the_whole_leaderboard() -> None:
    assert msgspec.json.decode(as_json.make(MADE), type=Leaderboard) == MADE


def rendered(data: bytes) -> str:
    """Markdown as GitHub's own parser reads it, tags of our own included."""
    return cmarkgfm.github_flavored_markdown_to_html(data.decode(), Options.CMARK_OPT_UNSAFE)


def test_markdown_is_tables_with_the_same_values() -> None:
    text = markdown.make(MADE).decode()
    assert "| 2 | `middle` | 71.0 <sup>a</sup> | 71.0 <sup>b</sup> |" in text
    assert rendered(text.encode()).count("<table>") == 4


def test_latex_closes_what_it_opens() -> None:
    text = latex.make(MADE).decode()
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 4
    assert r"2 & middle & 71.0\textsuperscript{a} & 71.0\textsuperscript{b} &" in text
    for line in text.splitlines():
        if line.endswith(r"\\"):
            assert line.count(" & ") in {2, 3, 4}


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.inside = tag
        self.links += [value or "" for name, value in attrs if name in {"href", "src"} or name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += "" if self.inside in {"style", "script"} else data


def read(data: bytes) -> Page:
    page = Page()
    page.feed(data.decode())
    return page


def test_html_shows_every_board_complete_without_a_script() -> None:
    page = read(html.make(MADE))
    said = " ".join(page.text.split())
    for words in (
        "Models by benchmarks",
        "corrected for 3 comparisons (Holm, level 5 %)",
        "p <0.001",
        "By category, careful",
    ):
        assert words in said
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert page.links == ["#content"]


@given(any_text)
def test_names_of_models_and_files_can_do_nothing(name: str) -> None:
    made = named(name)
    page = read(html.make(made))
    assert page.tags.count("script") == 1
    assert page.links == ["#content"]
    assert page.tags.count("a") == 1
    assert "img" not in page.tags
    rows = list(csv.DictReader(io.StringIO(as_csv.make(made).decode(), newline="")))
    assert rows[0]["model"] == guarded(made.boards[0].runs[0].short)
    tags = set(re.findall(r"<(\w+)", rendered(markdown.make(made))))
    assert tags <= {"h2", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "sup", "ul", "li", "br"}
    assert "\x1b" not in table.render(made)


@pytest.mark.parametrize("name", [r"\input{/etc/passwd}", "a & b", "50 % #1 $x$ ^_~ {}", "\\", "x\\\\[1cm]"])
def test_no_name_is_a_command_of_latex(name: str) -> None:
    shown = latex.escaped(name)
    bare = re.sub(r"\\(textbackslash|textasciicircum|textasciitilde)\{\}|\\[{}$&#_%]|\{-\}", "", shown)
    assert not set(bare) & set("\\{}$&#^_%~")


def test_another_ending_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"-o x\.pdf: a leaderboard is written as \.json, \.csv, \.md, \.tex, \.html"):
        format_of("x.pdf")
    assert all(format_of(f"x{ending}") for ending in FORMATS)
    assert format_of("-") is as_json.make
