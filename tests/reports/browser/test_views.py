"""Every view of the HTML report, read in Chromium as a reader reads it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Page

from grader.reports.material import Material, RunFiles
from grader.results import Note, Outcome, Reading, Report
from grader.scorers.registry import scorer_of
from tests import made_runs
from tests.reports.browser.conftest import Watched, settled
from tests.reports.browser.made import CODE
from tests.reports.made_reports import read, report, sample
from tests.reports.shown import on_terminal

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def _ids(page: Page) -> list[str]:
    return page.locator("table.items tbody th").all_inner_texts()


def _count(page: Page, text: str) -> None:
    settled(page, f"document.querySelector('#count')?.textContent === {text!r}")


def test_the_summary_draws_both_readings_with_their_intervals_and_curve(
    watch: Callable[..., Watched], made: Path
) -> None:
    page = watch(made).open()
    titles = page.locator("svg.curve title").all_text_contents()
    assert (len(titles), titles[0]) == (6, "official: pass@1 = 54.2 over 4 tasks")
    assert "careful rises from" in (page.locator("svg.curve").get_attribute("aria-label") or "")
    row = page.locator("table.figures").first.locator("tbody tr").first
    for reading, value in (("official", 51.0), ("careful", 46.0)):
        at = float(row.locator(f"circle.{reading}").get_attribute("cx") or 0)
        line = row.locator(f"line.range.{reading}").first
        ends = [float(line.get_attribute(name) or 0) for name in ("x1", "x2")]
        assert ends[0] < at < ends[1]
        assert at == pytest.approx(8 + value / 100 * 284)


def test_outcomes_totals_and_categories_lead_to_their_items(watch: Callable[..., Watched], made: Path) -> None:
    watched = watch(made)
    page = watched.open()
    matrix = "section.card:has(h3:text-is('Outcomes'))"
    rows = page.locator(f"{matrix} tbody th").all_inner_texts()[:-1]
    heads = page.locator(f"{matrix} thead th.num").all_inner_texts()[:-1]
    assert [name for name in rows if name in heads] == [name for name in heads if name in rows]
    lint = page.locator(f"{matrix} tbody tr", has=page.locator("th", has_text="lint_failed"))
    for link, count, items in (
        (lint.locator("td a").first, "1 of 4 tasks with such a sample", ["q3"]),
        (page.locator(f"{matrix} tbody tr").last.locator("a").last, "4 tasks", ["q1", "q2", "q3", "q10"]),
        (page.get_by_role("link", name="Even", exact=True), "2 of 4 tasks", ["q2", "q10"]),
    ):
        watched.open()
        link.click()
        _count(page, count)
        assert _ids(page) == items


def test_another_metric_can_be_broken_down_and_what_is_unscored_is_listed(
    watch: Callable[..., Watched], made: Path
) -> None:
    page = watch(made).open()
    page.get_by_text("pass@3 by task_type").click()
    body = page.locator("details.board tbody tr").first
    assert body.locator("b").all_inner_texts() == ["53.0*", "48.0*"]
    assert "1 of 12 samples unscored" in page.locator("#panel").inner_text()
    page.get_by_role("tab", name="How it was made").click()
    page.get_by_role("heading", name="Unscored", exact=True).wait_for()
    assert "1 sample without a verdict (infrastructure failed)" in page.locator("#panel").inner_text()
    assert "One task has no diagram." in page.locator("#panel").inner_text()
    assert "sha256:1" in page.locator("#panel").inner_text()
    page.get_by_role("link", name="1 sample").click()
    _count(page, "1 of 4 tasks with such a sample")
    assert _ids(page) == ["q3"]


def _made(*outcomes: tuple[str, str]) -> Report:
    """A run with these official and careful outcomes."""
    made = made_runs.report(
        made_runs.sample(f"q{n}", careful, official=official) for n, (official, careful) in enumerate(outcomes)
    )
    return replace(made, metrics=scorer_of(made).metrics(made))


def test_links_to_unscored_samples_lead_to_those_of_either_reading(show: Callable[..., Watched]) -> None:
    made = _made(("unscored", "correct"), ("unscored", "unscored"), ("wrong", "unscored"), ("wrong", "not_judged"))
    page = show(made, Material()).open()
    hint = page.locator(".brief li").first
    assert hint.inner_text().startswith("3 of 4 samples are unscored (")
    hint.get_by_role("link").click()
    _count(page, "3 of 4 questions")
    assert _ids(page) == ["q0", "q1", "q2"]


def test_readings_that_differ_in_partial_credit_alone_say_so_in_every_place(show: Callable[..., Watched]) -> None:
    official, careful = (Reading(outcome=Outcome.WRONG, credit=credit, answer="x") for credit in (0.5, 1 / 3))
    made = report([sample("q1", official, careful)])
    page = show(made, Material()).open("tab=differences")
    assert page.locator("td.verdict .faint").all_text_contents() == [" credit 0.5", " credit 0.333333"]
    assert "wrong x credit 0.5  wrong x credit 0.333333" in on_terminal(made, verbose=True)


def test_the_readings_agree_only_on_samples_that_both_judge(show: Callable[..., Watched]) -> None:
    for careful, sentence in (
        (["correct"], "Official and careful agree on the only sample."),
        (["correct", "not_judged"], "Official and careful agree on the only sample that both judge."),
        (["not_judged"], "The careful reading judges no sample."),
    ):
        page = show(_made(*(("correct", outcome) for outcome in careful)), Material()).open("tab=differences")
        assert page.locator("#panel .notice").inner_text() == sentence


def test_filters_and_order_are_in_the_address(watch: Callable[..., Watched], made: Path) -> None:
    watched = watch(made)
    for filters, expected in {
        "q=diagram+q1": ["q1", "q10"],
        "q=STEP": ["q3"],
        "official=passed&careful=suspect": ["q1"],
        "differs=1": ["q1", "q3"],
        "group=task_type%3DOdd&official=failed": ["q1"],
        "q=nowhere": [],
        "sort=careful": ["q2", "q1", "q3", "q10"],
        "q=sample+q2&deep=1": ["q2"],
    }.items():
        page = watched.open(f"tab=items&{filters}")
        if "deep" in filters:
            _count(page, "1 of 4 tasks")
        assert _ids(page) == expected, filters


def test_typing_filters_and_the_number_found_is_announced(watch: Callable[..., Watched], made: Path) -> None:
    page = watch(made).open("tab=items")
    page.fill("#search", "q1")
    _count(page, "2 of 4 tasks")
    assert page.locator("#status").inner_text() == "2 of 4 tasks"
    assert page.evaluate("document.activeElement.id") == "search"
    page.select_option("#filter-careful", "suspect")
    _count(page, "1 of 4 tasks with such a sample")
    page.check("#filter-differs")
    settled(page, "location.hash.includes('differs=1')")
    page.click("#clear")
    _count(page, "4 tasks")
    assert page.input_value("#search") == ""


def test_a_heading_sorts_one_way_then_the_other_then_not(watch: Callable[..., Watched], made: Path) -> None:
    page = watch(made).open("tab=items")
    header = page.locator("th", has=page.locator("#sort-id"))
    seen = []
    for _ in range(4):
        seen.append((header.get_attribute("aria-sort"), _ids(page)))
        before = page.locator("#panel").get_attribute("data-ready")
        page.click("#sort-id")
        settled(page, f"document.querySelector('#panel').dataset.ready !== '{before}'")
        assert page.evaluate("document.activeElement.id") == "sort-id"
    up, down = ["q1", "q2", "q3", "q10"], ["q10", "q3", "q2", "q1"]
    assert seen == [("none", up), ("ascending", up), ("descending", down), ("none", up)]


def test_an_item_shows_its_image_and_what_of_its_program_the_model_wrote(
    watch: Callable[..., Watched], made: Path
) -> None:
    page = watch(made).open("tab=items&item=q1&sample=1")
    own = page.locator(".answered pre.code .line.own").all_text_contents()
    assert "".join(own).rstrip("\n") == CODE
    assert "the bar marks what the official extraction gives" in page.locator(".answered summary small").inner_text()
    settled(page, "document.querySelector('figure img').naturalWidth === 300")
    assert page.locator(".asked summary").all_inner_texts() == ["Signature", "Tests"]
    assert page.locator(".sample").count() == 3


def test_the_samples_of_an_item_are_links_and_keys(watch: Callable[..., Watched], made: Path) -> None:
    page = watch(made).open("tab=items&item=q1")
    page.locator(".sample").nth(2).click()
    settled(page, "document.querySelector('.reading.official .badge')?.textContent.includes('failed')")
    assert "sample=2" in page.url
    page.keyboard.press("[")
    settled(page, "document.querySelector('.sample[aria-current]').textContent === '1'")
    page.keyboard.press("ArrowRight")
    settled(page, "document.querySelector('.sample[aria-current]').textContent === '2'")


def test_a_link_to_what_is_not_there_says_so(watch: Callable[..., Watched], made: Path) -> None:
    page = watch(made).open("tab=items&item=q99")
    assert "This report has no item q99" in page.locator("#panel").inner_text()
    assert "filtered" not in page.locator("#panel").inner_text()
    page.click("#back")
    _count(page, "4 tasks")


def test_back_and_forward_go_through_the_views(watch: Callable[..., Watched], made: Path) -> None:
    page = watch(made).open("tab=items&careful=failed")
    page.get_by_role("link", name="q2", exact=True).click()
    page.locator("#item").wait_for()
    page.get_by_role("tab", name="Where they differ").click()
    page.locator("table.differences").wait_for()
    page.go_back()
    page.locator("#item").wait_for()
    assert page.locator("#item").inner_text() == "q2"
    page.go_back()
    _count(page, "2 of 4 tasks with such a sample")
    page.go_forward()
    page.locator("#item").wait_for()


def test_the_report_can_be_read_with_keys_alone(watch: Callable[..., Watched], made: Path) -> None:
    page = watch(made).open()
    page.locator("#tab-summary").focus()
    page.keyboard.press("ArrowRight")
    settled(page, "document.querySelector('#tab-differences').getAttribute('aria-selected') === 'true'")
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    settled(page, "document.activeElement.id === 'tab-summary' && location.hash === '#tab=summary'")
    page.keyboard.press("/")
    settled(page, "document.activeElement.id === 'search'")
    page.keyboard.type("q1")
    _count(page, "2 of 4 tasks")
    page.keyboard.press("Escape")
    _count(page, "4 tasks")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == "q2"
    page.keyboard.press("Enter")
    settled(page, "document.activeElement.id === 'item'")
    page.keyboard.press("j")
    settled(page, "document.querySelector('#item').textContent === 'q3' && document.activeElement.id === 'item'")
    page.keyboard.press("Escape")
    settled(page, "document.activeElement.textContent === 'q3' && document.activeElement.className === 'open'")


def test_the_differences_are_those_of_the_report_with_marks_on_what_was_read(watch, graded_page) -> None:
    path, graded = graded_page("vstar")
    page = watch(path).open("tab=differences")
    different = graded.differences()
    rows = page.locator("table.differences tbody tr")
    assert rows.locator("th").all_inner_texts() == [sample.qid for sample in different]
    first = rows.first
    assert first.locator(".verdict .answer").all_inner_texts() == ["B", "C"]
    assert first.locator(".verdict code").all_inner_texts() == ["starts_with_letter", "declaration"]
    assert first.locator(".excerpt").inner_text() == "Based on the image, the answer is C."
    assert first.locator("mark.by-official").inner_text() == "B"
    assert first.locator("mark.by-careful").inner_text() == "C"
    page.get_by_role("link", name="correct → wrong 1").click()
    settled(page, "document.querySelectorAll('table.differences tbody tr').length === 1")
    page.get_by_role("link", name="0", exact=True).click()
    page.locator("#item").wait_for()
    assert page.locator(".options li.gold").inner_text().split() == ["B", "yellow", "gold", "official"]
    assert page.locator(".answered pre mark").all_inner_texts() == ["B", "C"]
    settled(page, "document.querySelector('figure img').naturalWidth > 0")


def test_a_run_without_samples_opens_and_says_what_it_is(show: Callable[..., Watched]) -> None:
    note = "The data of test-en has no answers, so there are no scores, only a submission file."
    advice = "To use 3.10, run `grade image build --python 3.10`."
    empty = report(
        benchmark="mmbench", scorer="circular", split="test-en", protocol="vlmevalkit-2026-06",
        notes=[Note(note), Note(advice)]
    )  # fmt: skip
    watched = show(empty, RunFiles(report=empty).material())
    assert "This run has no metrics." in watched.open().locator("#panel").inner_text()
    assert note in watched.page.locator("#panel").inner_text()
    assert watched.page.locator(".notes li").last.inner_text() == advice.replace("`", "")
    assert watched.page.locator(".notes code").all_inner_texts() == ["grade image build --python 3.10"]
    assert "There are no samples." in watched.open("tab=differences").locator("#panel").inner_text()
    assert "There are no samples." in watched.open("tab=items").locator("#panel").inner_text()
    assert note in watched.open("tab=about").locator("#panel").inner_text()


def test_long_lists_are_drawn_as_they_come_into_view_under_their_heads(show: Callable[..., Watched]) -> None:
    made = report([sample(f"n{n}", read("correct"), read("wrong")) for n in range(250)])
    page = show(made, Material()).open("tab=items")
    assert len(_ids(page)) == 100
    page.evaluate("window.scrollTo(0, 1500)")
    assert page.locator("table.items thead th").first.evaluate("node => node.getBoundingClientRect().top") == 0
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    settled(page, "document.querySelectorAll('table.items tbody tr').length >= 200")
    page.get_by_role("link", name="n199", exact=True).click()
    page.locator("#item").wait_for()
    page.keyboard.press("Escape")
    settled(page, "document.activeElement.textContent === 'n199'")
    page.get_by_role("tab", name="Where they differ").click()
    settled(page, "document.querySelectorAll('table.differences tbody tr').length === 100")


def test_code_in_an_output_keeps_its_lines_and_prose_does_not(show: Callable[..., Watched]) -> None:
    long = "word " * 99
    texts = {"q1": [f"{long}\n```python\n    {long}\n```\n{long}"]}
    made = report([sample("q1", read("passed"))], scorer="execution")
    raw = show(made, Material(runs_programs=True, replies=texts)).open("tab=items&item=q1").locator("pre.raw").first
    assert (
        raw.locator(".fenced").evaluate("node => new Set([...node.getClientRects()].map((box) => box.top)).size") == 3
    )
    assert raw.evaluate("node => node.scrollWidth > node.clientWidth && node.clientHeight > 5 * 19")
    assert "gradient" in raw.evaluate("node => getComputedStyle(node).backgroundImage")  # the shade: it scrolls
    raw.page.emulate_media(media="print")
    assert raw.evaluate("node => node.scrollWidth <= node.clientWidth")


def test_programs_and_outputs_can_be_copied(watch: Callable[..., Watched], made: Path) -> None:
    page = watch(made, permissions=["clipboard-read", "clipboard-write"]).open("tab=items&item=q1&sample=2")
    page.get_by_role("button", name="Copy program").click()
    settled(page, "document.querySelector('#status').textContent === 'program copied'")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert CODE in copied
    assert "assert solution(1) == 2" in copied
    page.get_by_role("button", name="Copy raw output").click()
    settled(page, "document.querySelector('#status').textContent === 'raw output copied'")
    assert page.evaluate("() => navigator.clipboard.readText()") != copied


def test_a_long_id_is_shortened_in_its_column_and_whole_on_hover(show: Callable[..., Watched]) -> None:
    name = f"{'0123456789abcdef' * 3}/a-model-of-some-size"
    link = show(report([sample(name, read("correct"))]), Material()).open("tab=items").locator("a.open")
    assert link.get_attribute("title") == name
    assert link.text_content() == name
    assert link.locator(".long-id").evaluate("node => node.getBoundingClientRect().width") <= 210
    assert link.evaluate("node => node.getBoundingClientRect().height") < 30
    assert link.locator(".end").text_content() == "/a-model-of-some-size"
