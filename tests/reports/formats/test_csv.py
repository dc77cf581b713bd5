"""CSV: a row a sample, readable by any reader, and never a formula."""

import csv
import io
import re

from hypothesis import given

from grader.reports.formats.csv import _SIGN, guard_formula
from tests.reports import made_reports as made
from tests.reports.shown import as_file
from tests.tables import each

HEADER = (
    "official_outcome,official_credit,official_answer,official_rule,official_detail,"
    "careful_outcome,careful_credit,careful_answer,careful_rule,careful_detail,seconds\r\n"
)


def unguarded(cell: str) -> str:
    """Return the original text of a guarded cell."""
    return re.sub(rf"^'(?='*[\t\r\n])|(^|[;\t\r\n])'(?={_SIGN})", r"\g<1>", cell)


def rows(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))


def test_a_row_a_sample_with_both_readings_side_by_side() -> None:
    report = made.report(
        [
            made.sample(
                "q1",
                made.read("correct", "B", rule="starts_with_letter"),
                made.read("no_answer", detail='says "none", twice'),
                groups={"category": "colour", "skills": ["count", "read"]},
            ),
            made.sample("q2", made.read("failed", detail="two\nlines"), number=3, seconds=0.25, unit="g"),
        ]
    )
    assert as_file("x.csv", report).decode() == (
        "qid,sample,unit,group.category,group.skills," + HEADER + "q1,0,q1,colour,count;read,"
        'correct,1,B,starts_with_letter,,no_answer,0,,,"says ""none"", twice",0\r\n'
        'q2,3,g,,,failed,0,,,"two\nlines",failed,0,,,"two\nlines",0.25\r\n'
    )


@each(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("\uff1d1", "'\uff1d1"),
        ("'=1", "''=1"),
        ("a;=1", "a;'=1"),
        ("a\n=1", "a\n'=1"),
        ("'list' object", "'list' object"),
    ],
)
def test_what_a_spreadsheet_could_take_for_a_formula_is_marked_as_text_and_nothing_else_is(
    text: str, cell: str
) -> None:
    assert (guard_formula(text), unguarded(cell)) == (cell, text)


@given(made.any_text)
def test_any_text_comes_back_but_for_nul_and_half_characters(text: str) -> None:
    kept = re.sub("[\0\ud800-\udfff]", "\ufffd", text)
    report = made.report([made.sample(text, made.read("wrong", text, text, text), groups={"g": text})])
    _, row = rows(as_file("x.csv", report))
    texts = [unguarded(cell) for cell in row]
    assert texts == [kept, "0", kept, kept, *["wrong", "0", kept, kept, kept] * 2, "0"]


@given(made.any_text)
def test_no_cell_of_any_report_begins_as_a_formula_wherever_cells_are_split(text: str) -> None:
    for row in rows(as_file("x.csv", made.hostile_report(text))):
        for cell in row:
            # A comma is not among the separators: within quotes it is none, whatever the language.
            for part in re.split(r"[;\t\r\n]", cell):
                assert not re.match(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]", part), cell
            assert not cell.startswith(("\t", "\r", "\n"))
