"""The page for people who decide: plain sentences about one run, on one printed sheet."""

import html
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from grader.decisions.gate import GateResult
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.reports import format_of
from grader.results import Part, Report
from tests.acceptance.command import grade as grade_command
from tests.conftest import ROOT
from tests.reports import made_reports as made
from tests.reports.browser.conftest import Watched
from tests.reports.runs.test_formats import read


def never() -> object:
    raise AssertionError("this page shows no material")


def page(report: Report, *gates: GateResult) -> bytes:
    return format_of("run1_Decision-for-boss.html")(report, never, gates)


def test_each_command_of_the_page_works_in_the_folder_of_the_results(tmp_path: Path) -> None:
    """The self-test, which takes minutes, is only parsed: it is that of all benchmarks, as some have no answers."""
    benchmark = "mr-ben"
    report = made.of_sample(benchmark)
    shutil.copy(ROOT / f"benchmarks/{benchmark}/sample/predictions.json", tmp_path)
    (tmp_path / "predictions_results.json").write_bytes(msgspec.json.encode(report))
    shown = page(report).decode()
    commands = [
        html.unescape(re.sub("<.*?>", "", found)).split() for found in re.findall("<dd><code>(.*?)</code>", shown)
    ]
    assert [command[1] for command in commands] == ["show", "report", "predictions.json", "selftest"]
    for command in commands:
        more = ["--help"] if command[1] == "selftest" else []
        done = grade_command(*command[1:], *more, cwd=tmp_path)
        assert done.returncode == 0, done.stderr


def test_what_is_missing_and_what_was_asked_for_is_said() -> None:
    samples = [made.sample(f"q{n}", made.read("correct"), made.read("unscored" if n else "correct")) for n in range(3)]
    report = msgspec.structs.replace(made.report(samples), unscored=2, part=Part(n=3, of=9, ids_hash="abc"))
    gate = GateResult(gate="accuracy >= 75", state="failed", reason="it is 33.3.")
    text = read(page(report, gate)).text
    assert "accuracy >= 75: not met. It is 33.3." in text
    assert "2 of 3 answers could not be scored" in text
    assert "not counted as wrong." in text
    assert "Only 3 of 9 tasks were graded. This value is not that of the benchmark." in text
    assert re.search(r"q1 ?correct ?not scored", text)
    assert "_part-abc_results.json -o report.html" in text
    assert "--score-only" not in text


def test_many_answers_of_one_kind_hide_no_other_kind() -> None:
    lost = [made.sample(f"lost{n}", made.read("wrong", "A"), made.read("unscored")) for n in range(9)]
    other = made.sample("other", made.read("wrong", "A"), made.read("correct", "B"))
    assert re.search(r"other ?A, wrong ?B, correct", read(page(made.report([*lost, other]))).text)


def test_the_official_value_never_takes_the_place_of_a_careful_one_that_could_not_be_scored() -> None:
    text = read(page(made.lost())).text
    assert "– accuracy" in text
    assert "The careful reading could not score any answer. The benchmark's own scorer says 0.0." in text
    assert "1 of 1 answer could not be scored (official 0, careful 1; the model's server failed)" in text
    assert "excluded from accuracy (careful), not counted as wrong" in text


def test_a_first_metric_without_a_value_is_a_range_and_no_other_metric_takes_its_place(tmp_path: Path) -> None:
    sample = ROOT / "benchmarks/mr-ben/sample"
    (tmp_path / "p.json").write_bytes((sample / "predictions.json").read_bytes())
    report = grade(tmp_path / "p.json", Options(benchmark="mr-ben", data=sample / "data"), Silent()).report
    text = read(page(report)).text
    assert "31.0 to 76.3 % mr score" in text
    assert "the lower value holds if all of them are wrong" in text
    assert "would give another mcc" not in text
    assert "1 gets more credit in the careful reading, 8 are not scored by at least one of them." in text
    assert "The benchmark's own scorer says 15.2 to 44.2." in text
    assert "31.0 to 76.3 is not an uncertainty interval." in text
    assert re.search("total…, not scored, step not judged ?incorrect; return total…, not scored, step credited", text)
    assert "3 answers on which the two disagree and 5 answers on which they agree, without a clear" in text
    assert "excluded from mr score, acc step and acc reason" in text


def test_an_official_value_refers_to_the_note_about_it() -> None:
    report = msgspec.structs.replace(made.of_sample("vstar"), notes=["† No judge: replies are not read."])
    text = read(page(report)).text
    assert "The benchmark's own scorer says 30.0 (see below)." in text
    sure, _, unmeasured = text.partition("What could not be measured")
    assert "No judge: replies are not read." in sure.partition("How sure it is")[2]
    assert "No judge" not in unmeasured
    assert "(see below)" not in read(page(made.of_sample("vstar"))).text


def test_answers_that_are_not_believed_are_explained() -> None:
    report = made.report([made.sample("q1", made.read("passed"), made.read("suspect"))])
    assert "1 answer is not believed, and counted as not solved: the program passes" in read(page(report)).text


@pytest.mark.browser
@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("benchmark", ["mr-ben", "long"])
def test_it_is_one_printed_sheet_and_nothing_overflows(
    benchmark: str, watch: Callable[..., Watched], tmp_path: Path
) -> None:
    if benchmark == "long":
        report = made.of_sample("vstar")
        many = [msgspec.structs.replace(s, qid="a_long_id_" * 9 + str(n)) for n, s in enumerate(report.samples * 9)]
        report = msgspec.structs.replace(report, samples=many, notes=["A note that takes two lines. " * 7] * 20)
    else:
        report = made.of_sample(benchmark)
    path = tmp_path / "decision.html"
    path.write_bytes(page(report))
    for width in (1280, 390):
        opened = watch(path, viewport={"width": width, "height": 800}).page
        opened.goto(path.as_uri())
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert len(re.findall(rb"/Type\s*/Page\b", opened.pdf(prefer_css_page_size=True))) == 1
