"""The report for everyone: screen readers, both themes, narrow screens, paper, no script."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.reports.material import RunFiles
from tests.reports.browser.conftest import Watched, settled, violations

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

VIEWS = ("tab=summary", "tab=differences", "tab=items", "tab=items&item=q1&sample=1", "tab=about")


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_axe_finds_nothing_in_any_view(watch: Callable[..., Watched], made: Path, graded_page, theme: str) -> None:
    """Contrast, names, roles, headings, tables: what can be checked without a person."""
    # The colours of the dark theme are the same in all views.
    places = {made: VIEWS if theme == "light" else VIEWS[2:4], graded_page("vstar")[0]: ("tab=differences",)}
    found = []
    for path, views in places.items():
        watched = watch(path, color_scheme=theme)
        for view in views:
            found += violations(watched.open(view), theme)
    assert found == []


def test_tabs_tables_and_lists_say_what_they_are(watch: Callable[..., Watched], made: Path) -> None:
    page = watch(made).open("tab=items")
    selected = page.get_by_role("tab", selected=True)
    assert selected.get_attribute("id") == page.get_by_role("tabpanel").get_attribute("aria-labelledby")
    assert [tab.get_attribute("tabindex") for tab in page.get_by_role("tab").all()] == ["-1", "-1", "0", "-1"]
    for view in VIEWS:
        before = page.locator("#panel").get_attribute("data-ready")
        page.evaluate(f"location.hash = {view!r}")
        settled(page, f"document.querySelector('#panel').dataset.ready !== '{before}'")
        for table in page.locator("table").all():
            assert table.locator("caption").text_content()
            assert table.locator("thead th:not([scope=col])").count() == 0
            assert table.locator("tbody tr").count() == table.locator("tbody tr > th[scope=row]").count()
        names = page.evaluate("[...document.querySelectorAll('[id]')].map((node) => node.id)")
        assert len(names) == len(set(names))


def test_the_theme_follows_the_system_and_then_the_button(watch: Callable[..., Watched], made: Path) -> None:
    def paper() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = "rgb(255, 255, 255)", "rgb(20, 25, 30)"
    page = watch(made, color_scheme="dark").open()
    button = page.locator("#theme")
    assert (button.inner_text(), paper()) == ("Theme: auto", dark)
    button.click()
    assert (button.inner_text(), paper()) == ("Theme: light", light)
    page.reload()
    page.wait_for_selector("#panel[data-ready]")
    assert (button.inner_text(), paper()) == ("Theme: light", light)
    page.emulate_media(color_scheme="light")
    button.click()
    assert (button.inner_text(), paper()) == ("Theme: dark", dark)
    button.click()
    assert (button.inner_text(), paper()) == ("Theme: auto", light)


def test_a_narrow_page_says_which_column_a_value_is_of(watch: Callable[..., Watched], made: Path) -> None:
    watched = watch(made, viewport={"width": 390, "height": 800})
    page = watched.open("tab=differences")
    label = "(at) => getComputedStyle(document.querySelectorAll('.differences td')[at], '::before').content"
    assert [page.evaluate(label, at) for at in (0, 1)] == ['"official"', '"careful"']
    page = watched.open("tab=items")
    left = "nodes => nodes.slice(-4).map((node) => Math.round(node.getBoundingClientRect().left))"
    heads, cells = (page.locator(rows).evaluate_all(left) for rows in (".items thead th", ".items tr:last-child td"))
    assert heads == cells


def test_on_paper_there_are_no_controls_and_nothing_is_cut(watch: Callable[..., Watched], made: Path) -> None:
    watched = watch(made)
    page = watched.open("tab=items&item=q1&sample=1")
    page.emulate_media(media="print")
    for control in ("#tabs", "#theme", ".steps", ".strip"):
        assert not page.locator(control).is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('pre.code')).overflow") == "visible"
    assert len(page.pdf()) > 10_000
    links = watched.open("tab=summary").locator(".brief li a")
    assert [link.is_visible() for link in links.all()] == [False] * 3


def test_without_a_script_the_figures_are_there_and_the_reason(watch: Callable[..., Watched], made: Path) -> None:
    page = watch(made, java_script_enabled=False).page
    page.goto(made.as_uri())
    text = page.locator("body").inner_text()
    assert "this browser does not run scripts" in text
    assert re.search(r"pass@1\s+51\.0\*\s+42\.0 to 60\.0\s+between 40\.0 and 60\.0\s+46\.0\*\s+37\.0 to 55\.0", text)
    assert "One task has no diagram." in text


def test_what_could_not_be_shown_is_said_on_top_and_at_the_item(
    show: Callable[..., Watched], graded_page, tmp_path: Path
) -> None:
    _, report = graded_page("vstar")
    watched = show(report, RunFiles(report=report, data=tmp_path / "gone.jsonl").material())
    note = watched.open().get_by_role("note").inner_text()
    assert "Raw outputs: predictions.json is not beside the results." in note
    assert "Questions: The data cannot be read" in note
    text = watched.open("tab=items&item=0").locator("#panel").inner_text()
    assert "The question cannot be shown: The data cannot be read" in text
    assert "The output cannot be shown: predictions.json is not beside the results." in text
    assert "starts_with_letter" in text
