"""The tables that `make docs-tables` writes are those that follow from the code."""

from pathlib import Path

import pytest

from grader.results import Report
from tests.conftest import ROOT
from tests.tools.document import fields_of, renewed

PAGES = [path for path in sorted((ROOT / "docs").glob("*.md")) if "<!-- end -->" in path.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_of_a_page_are_current(page: Path) -> None:
    assert renewed(page.read_text()) == page.read_text(), "run `make docs-tables`"


def test_the_tables_have_every_option_and_every_field() -> None:
    reference, results = ((ROOT / "docs" / f"{name}.md").read_text() for name in ("reference", "results-file"))
    assert all(word in reference for word in ("`--fail-under METRIC=V`", "Default: `1g`.", "`grade image build`"))
    named = fields_of("grader.results.Report")
    assert named in results
    assert all(f"`{field}" in named for field in Report.__struct_encode_fields__)
