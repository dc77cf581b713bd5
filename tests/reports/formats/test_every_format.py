"""A comparison and a leaderboard in every format: the same values, and names that can do nothing."""

import csv
import io
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import cmarkgfm
import msgspec
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given, settings

from grader.decisions.comparison import Comparison, Flip, MetricComparison, RunName, compare, run_name
from grader.decisions.leaderboard import Leaderboard, leaderboard
from grader.errors import UsageError
from grader.reports.document import Column, Document, Table, cells
from grader.reports.formats import FORMATS, format_of, html, markdown, terminal
from grader.reports.formats.csv import guard_formula
from grader.reports.views import comparison as of_comparison
from grader.reports.views import leaderboard as of_leaderboard
from grader.results import JudgeProvenance, Note, Provenance
from grader.statistics.paired import Difference, difference
from grader.wording import signed
from tests.conftest import cases
from tests.decisions.test_leaderboard import board, questions
from tests.made_runs import circular
from tests.reports.made_reports import any_text
from tests.tables import each

MOVED = difference([1.0] * 8 + [0.0] * 2, [1.0] * 6 + [0.0] * 4)
RANKED = board(
    best=questions(150, official=90),
    middle=questions(142, official=142),
    last=questions(90, official=90),
    other=circular([[True, True], [True, False]]),
)


def comparison(**changes: object) -> Comparison:
    row = MetricComparison(name="accuracy", reading="careful", group=None, before=80, after=60, difference=MOVED)
    flips = [Flip(item=f"q{n}", before=1, after=0, outcomes=(["correct"], ["wrong"])) for n in range(2)]
    made = {"benchmark": "vstar", "split": "test", "protocol": "p", "reading": "careful", "metrics": [row]}
    named = {"a": RunName(results="a_results.json", model="tiny-1"), "b": RunName(predictions="b.json")}
    return Comparison(**{**made, **named, "risen": [], "fallen": flips, "notes": ["A note."], **changes})


DOCUMENTS = {"comparison": of_comparison.document(comparison()), "leaderboard": of_leaderboard.document(RANKED)}


def written(document: Document, ending: str) -> bytes:
    return format_of(f"x{ending}")(document)


def rows_of(document: Document) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(document, ".csv").decode(), newline="")))


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
    page.text = " ".join(page.text.split())
    return page


def rendered(data: bytes) -> str:
    """Markdown as GitHub's own parser reads it, tags of our own included."""
    return cmarkgfm.github_flavored_markdown_to_html(data.decode(), Options.CMARK_OPT_UNSAFE)


# --- every format -----------------------------------------------------------------------------------------------


@each("name", list(DOCUMENTS))
def test_every_format_has_a_row_a_thing_with_the_same_values(name: str) -> None:
    document = DOCUMENTS[name]
    row = {
        "comparison": ("accuracy", "80.0", "60.0", "\N{MINUS SIGN}20.0", "0.500", "10"),
        "leaderboard": ("2", "middle", "71.0", "71.0"),
    }[name]
    wanted = ".{0,60}?".join(map(re.escape, row))
    texts = [
        terminal.render(document),
        written(document, ".md").decode().replace("&lt;", "<"),
        read(written(document, ".html")).text,
    ]
    plain = [re.sub(r"[|&`*\\{}]", " ", text) for text in texts]
    assert [bool(re.search(wanted, text)) for text in plain] == [True] * 3


def test_json_is_the_whole_record_and_csv_has_unrounded_values() -> None:
    kinds = {"comparison": (Comparison, comparison()), "leaderboard": (Leaderboard, RANKED)}
    for name, (kind, record) in kinds.items():
        assert msgspec.json.decode(format_of("-")(DOCUMENTS[name]), type=kind) == record
    (row,) = rows_of(DOCUMENTS["comparison"])
    assert (row["a_run"], row["b_run"]) == ("a_results.json (tiny-1)", "b.json")
    assert (float(row["a"]), float(row["change"]), float(row["ci95_low"])) == (80, MOVED.value, MOVED.ci95[0])
    rows = rows_of(DOCUMENTS["leaderboard"])
    (row,) = [r for r in rows if (r["model"], r["reading"]) == ("middle", "careful")]
    assert (row["rank_best"], row["rank_worst"], float(row["value"])) == ("2", "2", 71)


def test_an_official_value_with_a_note_is_marked_wherever_runs_are_together() -> None:
    noted, plain = questions(150, notes=[Note("Another Python.", "official")]), questions(100)
    runs = [(run_name(noted, "a_results.json"), noted), (run_name(plain, "b_results.json"), plain)]
    named = run_name(noted, name="x"), run_name(plain, name="y")
    documents = {
        ("a", "75.0"): of_leaderboard.document(leaderboard(runs)),
        ("x", "25.0"): of_comparison.document(compare(noted, plain, names=named)),
    }
    for (name, value), document in documents.items():
        text = terminal.render(document)
        assert set(re.findall(r"[\d.]+\N{DAGGER}", text)) == {f"{value}\N{DAGGER}"}
        assert f"\N{DAGGER} {name}: Another Python." in text.splitlines()


def test_the_columns_of_models_by_benchmarks_say_what_tells_boards_of_one_benchmark_apart() -> None:
    ranked = board(
        a=questions(150),
        b=questions(90, protocol="old"),
        c=questions(90, provenance=Provenance()),
        d=questions(90, provenance=Provenance(judge=JudgeProvenance(source="endpoint", model="m", questions=5))),
        e=circular([[True]]),
    )
    overview, *sections = of_leaderboard.document(ranked).sections
    (table,) = overview.parts
    assert isinstance(table, Table)
    assert [column.name.removesuffix(", official") for column in table.columns[1::2]] == [
        "V*Bench accuracy, p, no judge",
        "V*Bench accuracy, old, no judge",
        "V*Bench accuracy, p, no judge, table 2",
        "V*Bench accuracy, p, m",
        "MMBench circular_accuracy",
    ]
    assert [section.title for section in sections[-2:]] == [
        "V*Bench · test · p · m: accuracy",
        "MMBench · test · p: circular_accuracy",
    ]


@settings(max_examples=cases(12))
@given(any_text)
def test_names_can_do_nothing_in_any_format(name: str) -> None:
    runs = [msgspec.structs.replace(questions(count, protocol=name), benchmark_name=name) for count in (150, 100)]
    ranked = leaderboard([(RunName(name=name, results=name), runs[0]), (RunName(name=f"{name}2"), runs[1])])
    flip = Flip(item=name, before=1, after=0, outcomes=(["correct"], ["wrong"]))
    compared = comparison(fallen=[flip], a=RunName(results=name), protocol=name)
    for document in (of_leaderboard.document(ranked), of_comparison.document(compared)):
        page = read(html.make(document))
        assert (page.tags.count("script"), page.links) == (1, ["#content"])
        tags = set(re.findall(r"<(\w+)", rendered(written(document, ".md"))))
        assert not [
            tag for tag in tags if not re.fullmatch("h2|h3|p|table|t(head|body|r|h|d)|code|sup|ul|li|strong|em|br", tag)
        ]
        assert "\x1b" not in terminal.render(document)
    assert rows_of(of_leaderboard.document(ranked))[0]["model"] == guard_formula(ranked.boards[0].runs[0].short)


def test_another_ending_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"-o x\.unknown: reports are written as \.json, .*\.html; name"):
        format_of("x.unknown")
    with pytest.raises(UsageError, match=r"Leaderboard cannot be written as \.xml \(JUnit\)"):
        written(DOCUMENTS["leaderboard"], ".xml")
    assert all(map(format_of, (f"x{ending}" for ending in FORMATS)))


# --- a terminal ---------------------------------------------------------------------------------------------------


@each("width", [80, 120])
def test_a_terminal_of_any_width_breaks_names_and_headings_but_no_value(width: int) -> None:
    boards = {f"protocol_{letter}": questions(90 + 2 * at, protocol=letter) for at, letter in enumerate("abcdef")}
    made = board(**{"a model with a long name": questions(150), "b": questions(90), **boards})
    text = terminal.render(of_leaderboard.document(made), width=width)
    rows = [line for line in text.splitlines() if re.search(r"\d\.\d", line) and "P values" not in line]
    assert all(len(line) <= width for line in rows)
    shown = [f"{value.value:.1f}" for only in made.boards for value in only.rankings["careful"].values]
    assert not Counter(shown) - Counter(re.findall(r"\d+\.\d+", " ".join(rows)))
    row = MetricComparison(
        name="vanilla_accuracy_all_passes", reading="careful", group=None, before=80, after=60, difference=MOVED
    )
    narrow = terminal.render(of_comparison.document(comparison(metrics=[row])), width=width)
    low, high = map(re.escape, map(signed, MOVED.ci95))
    assert re.search(rf"80\.0 +60\.0 +\N{{MINUS SIGN}}20\.0 +{low} to {high} +0\.500 +10", narrow)
    assert "\u2026" not in text + narrow


def test_a_leaderboard_shows_ranks_and_the_method() -> None:
    text = terminal.render(DOCUMENTS["leaderboard"])
    assert "Models by benchmarks" in text
    assert re.search(r"1 +best +45\.0 +75\.0 +68\.\d to 80\.\d +200", text)
    assert re.search(r"3 +last +45\.0 +45\.0 ", text)
    assert "P values are corrected for 3 comparisons (Holm, level 5 %)." in " ".join(text.split())


def test_a_comparison_names_the_runs_the_test_and_the_first_items() -> None:
    outcomes = ["failed", "timeout", "lint_failed"]
    flips = [
        Flip(item=f"q{n}", before=2 / 5, after=0, outcomes=(["passed", *outcomes, "passed"], ["failed"]))
        for n in range(13)
    ]
    text = terminal.render(of_comparison.document(comparison(fallen=flips)))
    assert text.startswith("vstar · test · p: tiny-1 to b\n\naccuracy (careful) is lower: 80.0 in tiny-1, 60.0 in b; ")
    assert "chance can explain this (p = 0.500)." in text
    assert "\ntiny-1: a_results.json\nb: b.json\n" in text
    power = f"minimum detectable change {MOVED.detectable:.1f} points (80 % power, n = 10)"
    assert f"accuracy (careful): exact McNemar test, item by item; {power}." in " ".join(text.split())
    assert "Higher in b (careful): none." in text
    named = terminal.render(of_comparison.document(comparison(fallen=flips), outcome_names={"passed": "credited"}))
    assert "40 % (2 credited, failed, timeout, lint_failed)" in " ".join(named.split())
    risen = of_comparison.document(comparison(risen=flips, fallen=flips))
    for both in (terminal.render(risen), markdown.make(risen).decode()):
        assert re.search(r"Higher in b \\?\(careful\\?\): 13", both)
    assert re.search(r"Lower in b \(careful\): 13", text)
    assert re.search(r"q9 +40 % \(2 passed, failed, timeout, lint_failed\) +failed", text)
    assert "q10" not in text
    assert "... 3 more; `-o FILE.json` has all." in text
    same: Difference = difference([1.0, 0.0], [1.0, 0.0])
    row = MetricComparison(name="accuracy", reading="careful", group=None, before=50, after=50, difference=same)
    assert "accuracy (careful): no item differs." in terminal.render(
        of_comparison.document(comparison(metrics=[row], fallen=[]))
    )


def test_a_note_on_official_values_stays_if_the_other_run_has_the_same_name() -> None:
    a, b = RunName(predictions="p.json", official_notes=["Python 3.8."]), RunName(predictions="p.json")
    assert "\n\N{DAGGER} p: Python 3.8.\n" in terminal.render(of_comparison.document(comparison(a=a, b=b)))


def test_many_groups_of_a_comparison_are_only_shown_on_a_terminal_on_request() -> None:
    row = comparison().metrics[0]
    groups = [msgspec.structs.replace(row, group=f"kind={n}") for n in range(9)]
    document = of_comparison.document(comparison(metrics=[row, *groups]))
    text = terminal.render(document)
    assert "9 groups (kind): `-v` shows them here" in text
    assert ("kind=8" in text, "kind=8" in terminal.render(document, verbose=True)) == (False, True)
    assert b"kind=8" in written(document, ".md")


# --- pages ----------------------------------------------------------------------------------------------------------


def test_runs_link_to_the_pages_that_there_are(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "b 2.html").write_text("")
    named = [RunName(results=str(tmp_path / "runs" / f"{name}_results.json")) for name in ("a", "b 2")]
    ranked = leaderboard(list(zip(named, map(questions, (100, 102)), strict=True)))
    assert read(html.make(of_leaderboard.document(ranked, tmp_path))).links == ["#content", "runs/b%202.html"]


def test_wide_characters_are_aligned() -> None:
    columns = [Column(name="category", kind="name"), Column(name="n")]
    table = Table(title="", columns=columns, rows=[cells(["空间关系", "5"]), cells(["e\u0301", "5"])])
    assert terminal.table_lines(table, 40)[2:4] == ["空间关系  5", "e\u0301         5"]
