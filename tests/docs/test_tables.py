"""The lists of fields that `make docs-tables` writes are those that follow from the code."""

from pathlib import Path

import pytest

from grader.results import Report
from tests.conftest import ROOT
from tests.tools.document import fields_of, renewed

PAGES = [path for path in sorted((ROOT / "docs").glob("*.md")) if "<!-- end -->" in path.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_of_a_page_are_current(page: Path) -> None:
    assert renewed(page.read_text()) == page.read_text(), "run `make docs-tables`"


def test_the_results_file_has_every_field() -> None:
    named = fields_of("grader.results.Report")
    assert named in (ROOT / "docs" / "results-file.md").read_text()
    assert all(f"`{field}" in named for field in Report.__struct_encode_fields__)
