"""A report's format is its file's extension."""

import pytest

from grader.errors import UsageError
from grader.reports.formats import FORMATS, format_of
from grader.reports.views import run
from tests.reports import made_reports as made
from tests.tables import each


def never() -> object:
    raise AssertionError("only the page shows material")


@each(
    ("name", "begins"),
    [
        ("report.json", b'{\n "schema": 1,'),
        ("results.v2/report.csv", b"qid,sample,unit,"),
        ("REPORT.MD", b"## grade: vstar "),
        ("report.tar.xml", b"<?xml "),
    ],
)
def test_the_extension_chooses_the_format(name: str, begins: bytes) -> None:
    assert format_of(name)(run.document(made.report(), never)).startswith(begins)


@each("name", ["report", ".csv", "report.csv.gz"])
def test_another_extension_is_a_usage_error_that_lists_those_there_are(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        format_of(name)
    assert str(caught.value) == (
        f"-o {name}: reports are written as {', '.join(FORMATS)}; name the file with one of these extensions."
    )
