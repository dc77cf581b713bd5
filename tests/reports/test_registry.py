"""A report's format is its file's extension."""

from __future__ import annotations

import functools
import subprocess
import sys
from types import ModuleType

import pytest

from grader.errors import UsageError
from grader.reports import FORMATS, format_of, format_of_runs
from grader.results.file import decode_report
from tests.reports import made_reports as made


def never() -> object:
    raise AssertionError("only the page shows material")


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("report.json", b'{\n "schema": 2,'),
        ("results.v2/report.csv", b"qid,sample,unit,"),
        ("REPORT.MD", b"## grade: `vstar`"),
        ("report.tar.xml", b"<?xml "),
    ],
)
def test_the_extension_chooses_the_format(name: str, begins: bytes) -> None:
    assert format_of(name)(made.report(), never, []).startswith(begins)


@pytest.mark.parametrize("name", ["report", "report.txt", ".csv", "report.csv.gz", "report.", ""])
def test_another_extension_is_a_usage_error_that_lists_those_there_are(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        format_of(name)
    assert str(caught.value) == (
        f"-o {name}: reports are written as .json, .csv, .md, .xml, .html, decision.html; "
        "name the file with one of these extensions."
    )


@pytest.mark.parametrize("function", ["make", "of_runs"])
def test_a_format_has_one_of_the_two_functions_or_both(function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("grader.reports.tsv")
    setattr(module, function, lambda *_, **__: b"")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(FORMATS, ".tsv", module.__name__)
    find = {"make": format_of, "of_runs": functools.partial(format_of_runs, what="a history is")}
    assert find.pop(function)("x.tsv") is getattr(module, function)
    for other in find.values():
        with pytest.raises(UsageError, match=r"-o x\.tsv: .* written as .*; name the file"):
            other("x.tsv")


@pytest.mark.parametrize("benchmark", made.SAMPLES)
def test_json_is_the_results_file_again(benchmark: str) -> None:
    report = made.of_sample(benchmark)
    assert decode_report(format_of("x.json")(report, never)) == report


@pytest.mark.parametrize("extension", [".csv", ".md", ".xml"])
@pytest.mark.parametrize("benchmark", made.SAMPLES)
def test_a_report_is_the_same_file_whether_just_made_or_read_from_its_results_file(
    benchmark: str, extension: str
) -> None:
    report = made.of_sample(benchmark)
    again = decode_report(format_of("r.json")(report, never))
    assert format_of(f"r{extension}")(report, never) == format_of(f"r{extension}")(again, never)


def test_the_reading_that_decides_reaches_the_format_that_has_verdicts() -> None:
    report = made.report([made.sample("q", made.read("correct"), made.read("wrong"))])
    verdicts = {reading: b"<failure" in format_of("r.xml")(report, never, (), reading=reading)
                for reading in ("official", "careful")}  # fmt: skip
    assert verdicts == {"official": False, "careful": True}


def test_naming_a_format_loads_none_of_what_formats_need() -> None:
    heavy = "{'jinja2', 'junitparser', 'markupsafe', 'PIL', 'csv'}"
    code = f"""
import sys
from grader.reports import format_of
format_of("a.html")
print(sorted({heavy} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
