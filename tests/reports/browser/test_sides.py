"""Two runs side by side, and a leaderboard, in a real browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page

from grader.reports.findings import Findings
from grader.reports.formats import html
from grader.reports.material import Material
from grader.reports.views import leaderboard as of_leaderboard
from grader.reports.web.items import PageRun
from grader.results import Note, Provenance, Report
from grader.scorers.means import each_observation, metric_rows
from grader.scorers.registry import scorer_of
from grader.task import Task
from tests.decisions.test_leaderboard import board, questions
from tests.made_runs import Row, mr_ben, report, sample, tasks
from tests.reports.browser.conftest import Watched, settled, violations
from tests.reports.browser.test_hostile import HOSTILE
from tests.reports.shown import side_by_side

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

#        q0         q1         q2       q3       q4
A = ["correct", "correct", "wrong", "wrong", "correct"]
B = ["correct", "wrong", "correct", "wrong", "wrong"]


def run(outcomes: list[str], **fields: Any) -> Report:
    samples = [sample(f"q{i}", word, group=f"kind={'xy'[i % 2]}") for i, word in enumerate(outcomes)]
    return report(samples, metric_rows(samples, "accuracy", each_observation), scorer="multiple_choice", **fields)


def side(name: str, made: Report, text: str = "output of {name} for {qid}") -> PageRun:
    qids = list(dict.fromkeys(one.qid for one in made.samples))
    shown = {qid: [text.format(name=name, qid=qid)] * sum(one.qid == qid for one in made.samples) for qid in qids}
    asked = {qid: Task(id=qid, text=f"What is {qid}?", options={"A": "yes", "B": "no"}, gold="A") for qid in qids}
    return PageRun(name=name, findings=Findings(made), material=Material(replies=shown, tasks=asked))


@pytest.fixture
def page(watch: Callable[..., Watched], tmp_path: Path) -> Callable[..., Page]:
    def opened(*sides: PageRun, view: str = "", **settings: Any) -> Page:
        path = tmp_path / "sides.html"
        path.write_bytes(side_by_side(*sides))
        return watch(path, **settings).open(view)

    return opened


def names(page: Page) -> list[str]:
    return page.locator("a.open").all_text_contents()


def test_items_are_filtered_by_what_moved_from_a_to_b(page: Callable[..., Page]) -> None:
    opened = page(side("old", run(A)), side("new", run(B)), view="tab=items")
    assert names(opened) == ["q0", "q1", "q2", "q3", "q4"]
    chips = opened.locator(".chips a").all_text_contents()
    assert chips == [
        "all (5)",
        "old correct, new wrong (2)",
        "old wrong, new correct (1)",
        "both correct (1)",
        "both wrong (1)",
    ]
    opened.get_by_role("link", name="old correct, new wrong").click()
    settled(opened, "document.querySelectorAll('a.open').length === 2")
    assert names(opened) == ["q1", "q4"]


def test_an_item_shows_the_question_once_and_both_outputs_beside_each_other(page: Callable[..., Page]) -> None:
    opened = page(side("old", run(A)), side("new", run(B)), view="tab=items&item=q1")
    assert opened.locator(".asked .prose").all_text_contents() == ["What is q1?"]
    columns = opened.locator(".side")
    assert [column.locator("pre.raw").text_content() for column in columns.all()] == [
        "output of old for q1",
        "output of new for q1",
    ]
    boxes = [column.bounding_box() for column in columns.all()]
    assert boxes[0]["y"] == boxes[1]["y"]  # type: ignore[index]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]  # type: ignore[index]
    assert "old correct, new wrong (careful)" in opened.locator(".chips").inner_text()


def test_values_are_rounded_as_in_other_formats_and_official_ones_with_a_note_are_marked(
    page: Callable[..., Page],
) -> None:
    right, lost = ["correct"] * 13 + ["wrong"] * 3, ["unscored"] + ["correct"] * 12 + ["wrong"] * 3
    noted = run(right, notes=[Note("Run with `python`.", "official")])
    opened = page(side("old", noted), side("new", run(lost)))
    rows = [row.split() for row in opened.locator(".figures").first.locator("tbody tr").all_inner_texts()]
    assert [(row[:4], row[-2:]) for row in rows] == [(["accuracy", "80.0", "80.0", "0.0"], ["15", "0.0\N{DAGGER}"])]
    assert opened.locator("ul.notes li").last.inner_text() == "\N{DAGGER} old: Run with python."
    assert opened.locator("ul.notes code").last.inner_text() == "python"


def test_shares_of_samples_are_higher_or_lower_not_right_or_wrong(page: Callable[..., Page]) -> None:
    opened = page(side("old", tasks([5, 10, 0])), side("new", tasks([7, 10, 0])), view="tab=items")
    chips = opened.locator(".chips a").all_text_contents()
    assert chips == ["all (3)", "higher in new (1)", "100 % in both (1)", "0 % in both (1)"]
    row = opened.locator("tbody tr").first
    assert row.locator(".share").all_text_contents() == ["5/10", "7/10"]


def test_an_item_opens_in_the_reading_in_which_it_changed(watch: Callable[..., Watched], tmp_path: Path) -> None:
    runs = (
        [sample("q0", "wrong", official=official), sample("q1", careful, official="correct")]
        for official, careful in (("correct", "correct"), ("wrong", "wrong"))
    )
    before, after = (report(samples, metric_rows(samples, "accuracy", each_observation)) for samples in runs)
    path = tmp_path / "sides.html"
    path.write_bytes(side_by_side(side("old", before), side("new", after), reading="official"))
    opened = watch(path).open()
    opened.locator("details a").click()
    settled(opened, "document.querySelector('#item')")
    assert opened.locator(".chips").first.inner_text() == "old correct, new wrong (official)"


def test_an_item_of_one_run_only_is_not_paired(page: Callable[..., Page]) -> None:
    opened = page(side("old", run(A)), side("new", run(B[:4])), view="tab=items&moved=unpaired")
    assert names(opened) == ["q4"]
    assert "not in this run" in opened.locator("tbody tr").inner_text()


def test_an_item_that_no_difference_counts_has_not_moved(page: Callable[..., Page]) -> None:
    """One with other passes, and one that rose only because a run lost a sample of it."""
    passes = report(
        [sample("1", "correct", unit="1"), sample("1000001", "correct", unit="1"), sample("2", "wrong", unit="2")],
        benchmark="mmbench", scorer="circular",
    )  # fmt: skip
    fewer = replace(passes, samples=[sample("1", "wrong", unit="1"), sample("2", "correct", unit="2")])
    rows: list[Row] = [("math", "1", False, False, True, True), ("math", "1", False, False, True, False)]
    other: list[Row] = [("math", "2", True, True, True, True)]
    solved, lost = mr_ben([*rows, *other]), mr_ben([rows[0], (*rows[1][:5], None), *other])
    for *runs, chips in (
        (passes, fewer, ["old wrong, new correct (1)", "not scored in both (1)"]),
        (solved, lost, ["both credited (2)"]),
    ):
        before, after = (replace(run, metrics=scorer_of(run).metrics(run)) for run in runs)
        opened = page(side("old", before), side("new", after), view="tab=items")
        assert opened.locator(".chips a").all_text_contents()[1:] == chips


def test_items_of_several_solutions_are_questions_and_each_solution_is_a_row(page: Callable[..., Page]) -> None:
    rows: list[Row] = [("math", "1", False, False, True, True), ("math", "1", False, False, True, False)]
    solved = mr_ben(rows)
    solved = replace(solved, metrics=scorer_of(solved).metrics(solved))
    both = [PageRun(name=name, findings=Findings(solved), material=Material(unit="row")) for name in ("a", "b")]
    assert page(*both, view="tab=items").locator("#count").inner_text() == "1 question"
    opened = page(*both, view="tab=items&item=1")
    assert opened.locator("article.pass > h3").all_text_contents() == ["Row 1 of 2", "Row 2 of 2"]


def test_what_is_not_alike_in_how_runs_were_made_is_marked(page: Callable[..., Page]) -> None:
    given = [run(A, provenance=Provenance(data_digest="d", grade=version)) for version in ("1", "2")]
    opened = page(side("old", given[0]), side("new", given[1]), view="tab=about")
    assert [" ".join(row.split()) for row in opened.locator("tr.unlike").all_inner_texts()] == ["grade 1 2"]


def test_nothing_that_runs_hold_can_act(watch: Callable[..., Watched], tmp_path: Path) -> None:
    path = tmp_path / "sides.html"
    texts = list(HOSTILE.values())
    some = [" ".join(texts[at::2]) for at in (0, 1)]
    plain = [text.replace("{", "{{").replace("}", "}}") for text in some]
    path.write_bytes(side_by_side(*(side(text, run((A, B)[n]), plain[n]) for n, text in enumerate(some))))
    watched = watch(path)
    for view in ("tab=summary", "tab=items", "tab=items&item=q1", "tab=about"):
        opened = watched.open(view)
        assert opened.evaluate("window.pwned") is None
        assert opened.locator("iframe, form[action], link, base").count() == 0
    # The watched page fails the test for every request, dialog and complaint.


@pytest.mark.parametrize(
    "names",
    [
        ("baseline", "candidate"),
        ("checkpoint-12000-instruct", "checkpoint-14000-instruct"),
        ("a_rather_long_name_of_a_checkpoint_12000", "a_rather_long_name_of_a_checkpoint_14000"),
    ],
)
def test_on_a_phone_the_name_of_a_run_is_broken_only_between_its_words(
    page: Callable[..., Page], names: tuple[str, str]
) -> None:
    opened = page(side(names[0], run(A)), side(names[1], run(B)), viewport={"width": 390, "height": 800})
    # A browser breaks a line after a hyphen and after a space without width.
    labels = """[...document.querySelectorAll(".figures td[data-label]")].map((cell) => {
      const pen = document.createElement("canvas").getContext("2d");
      const label = getComputedStyle(cell, "::before");
      pen.font = `${label.fontSize} ${label.fontFamily}`;
      const words = cell.dataset.label.split(/(?<=[-\\u200b])/);
      const isBroken = words.some((word) => pen.measureText(word).width > cell.clientWidth + 1);
      return [cell.dataset.label.replaceAll("\\u200b", ""), isBroken];
    })"""
    found = opened.evaluate(labels)
    assert [name for name, _ in found[:2]] == list(names)
    assert [name for name, is_broken in found if is_broken] == []


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), pytest.param(1280, "light", marks=pytest.mark.slow)])
def test_nothing_overflows_and_axe_finds_nothing(
    watch: Callable[..., Watched], tmp_path: Path, width: int, theme: str
) -> None:
    sides, ranked = tmp_path / "sides.html", tmp_path / "board.html"
    names = ("a-rather-long-name-of-a-checkpoint_0001", "anotherlongnameinwhichnothingjoinsthewordsofacheckpoint")
    sides.write_bytes(side_by_side(*(side(name, run(made)) for name, made in zip(names, (A, B), strict=True))))
    made = board(best=questions(150), middle=questions(142), last=questions(90))
    ranked.write_bytes(html.make(of_leaderboard.document(made)))
    found = []
    settings = {"viewport": {"width": width, "height": 800}, "color_scheme": theme}
    watched, still = watch(sides, **settings), watch(ranked, **settings).page
    for view in ("", "tab=items", "tab=items&item=q1", "tab=about"):
        opened = watched.open(view)
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        cells = "[...document.querySelectorAll('.figures td.num')]"
        assert opened.evaluate(f"{cells}.filter(cell => cell.scrollWidth > cell.clientWidth).length") == 0
        found += violations(opened, theme)
    still.goto(ranked.as_uri())
    assert still.evaluate("document.documentElement.scrollWidth") <= width
    found += violations(still, theme)
    assert found == []
