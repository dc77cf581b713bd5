"""A program that reads standard input, on its page: each input with what was expected and printed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.test_standard_input import SUM, SUMS, graded
from tests.reports.browser.conftest import Watched, settled, violations


@pytest.mark.bubblewrap
def test_the_page_shows_input_expected_and_printed_side_by_side(tmp_path: Path, watch: Callable[..., Watched]) -> None:
    sums = SUMS | {"outputs": ["3\n", "7\n", "12\n13\n"]}
    graded(tmp_path, [sums], {"7": [f"{SUM}print('<b>14')"]}, "-o", str(tmp_path / "page.html"))
    page = watch(tmp_path / "page.html").open("tab=items&item=7")
    settled(page, "document.querySelector('.readings mark') !== null")
    texts = page.locator(".readings", has=page.locator("mark")).inner_text()
    assert texts.startswith("expected\n")
    assert page.locator(".readings mark").all_inner_texts() == ["(nothing)", "<b>14"]
    page.emulate_media(color_scheme="dark")
    assert violations(page, "dark") == []
