"""Reports by extension, from a run and from its results file later; comparisons of two results files."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from tests.acceptance.command import grade


@pytest.fixture
def vstar(sample):
    path, folder = sample("vstar")
    return [path, "-b", "vstar", "--data", folder / "questions.jsonl"], path


def test_a_run_writes_every_report_that_is_asked_for(vstar):
    words, path = vstar
    names = [path.with_name(f"out.{suffix}") for suffix in ("json", "csv", "md", "xml", "html")]
    said = grade(*words, *[word for name in names for word in ("-o", name)])
    assert said.returncode == 0, said.stderr
    report = json.loads(names[0].read_text())
    assert report["benchmark"] == "vstar"
    with names[1].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["qid"] for row in rows] == [sample["qid"] for sample in report["samples"]]
    assert "`accuracy` | 30.0 | **70.0** |" in names[2].read_text()
    root = ET.parse(names[3]).getroot()
    assert (root.tag, root.get("tests")) == ("testsuites", "10")
    assert names[4].read_text().startswith("<!doctype html>")


def test_reports_made_later_are_those_of_the_run(vstar):
    words, path = vstar
    folder = path.parent
    assert grade(*words, *[w for s in ("csv", "md", "xml") for w in ("-o", folder / f"first.{s}")]).returncode == 0
    later = [w for s in ("csv", "md", "xml", "html") for w in ("-o", folder / f"later.{s}")]
    said = grade("report", folder / "predictions_results.json", *later, "--data", words[4])
    assert said.returncode == 0, said.stderr
    for suffix in ("csv", "md", "xml"):
        assert (folder / f"later.{suffix}").read_bytes() == (folder / f"first.{suffix}").read_bytes()
    assert (folder / "later.html").stat().st_size > 10_000


@pytest.fixture
def run(vstar):
    """A run's results file, its data, and how a later report of it begins."""
    words, path = vstar
    assert grade(*words, "-q").returncode == 0
    return path.with_name("predictions_results.json"), words[4], ["-o", path.with_name("later.html")]


@pytest.mark.parametrize("option", ["--data", "--predictions", "-b"])
def test_a_report_made_of_what_is_not_there_is_an_error_and_is_not_written(run, option):
    results, _, output = run
    said = grade("report", results, *output, option, results.with_name("typo.jsonl"))
    assert said.returncode == 2
    assert "typo.jsonl" in said.stderr
    assert not output[1].exists()


def test_a_report_that_shows_everything_says_nothing_but_where_it_is(run):
    results, data, output = run
    said = grade("report", results, *output, "--data", data)
    assert (said.returncode, said.stderr) == (0, f"Wrote {output[1]}\n")


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_a_named_file_that_is_not_what_was_graded_is_said_on_the_terminal(run, quiet):
    results, data, output = run
    other = results.with_name("other.jsonl")
    other.write_text(data.read_text().replace("kite", "dragon"))
    texts = results.with_name("other.json")
    texts.write_text('[{"qid": "0", "predictions": ["B"]}]')
    said = grade("report", results, *output, "--data", other, "--predictions", texts, *quiet)
    assert said.returncode == 0
    assert [line for line in said.stderr.splitlines() if not line.startswith("Wrote")] == [
        "The report does not show all predictions: other.json does not hold the predictions that were graded "
        "(predictions.json).",
        "The report does not show all questions: The data (other.jsonl) is not the data that was graded.",
    ]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.pdf", ".json, .csv, .md, .xml, .html"),
        ("none/x.md", "none does not exist; create it first"),
        ("folder.md", "is a folder; name a file in it"),
        ("predictions.json", "this run reads or writes that file itself"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_anything_runs(vstar, name, message):
    words, path = vstar
    (path.parent / "folder.md").mkdir()
    said = grade(*words, "-o", path.parent / name)
    assert said.returncode == 2
    assert message in said.stderr
    assert [p.name for p in path.parent.iterdir() if p.is_file()] == ["predictions.json"]


def test_an_output_does_not_replace_the_executed_file_that_the_run_writes(sample):
    path, folder = sample("humaneval-v")
    said = grade(path, "--data", folder / "tasks.jsonl", "-o", path.with_name("predictions_executed.json"))
    assert said.returncode == 2
    assert "this run reads or writes that file itself" in said.stderr


@pytest.mark.parametrize("words", ["report {0}", "compare {0} {0}", "leaderboard {0}", "history {1}"])
def test_an_output_about_earlier_runs_does_not_replace_what_they_graded(vstar, words):
    given, path = vstar
    assert grade(*given, "-q").returncode == 0
    results = path.with_name("predictions_results.json").rename(path.with_name("step_1_results.json"))
    before = path.read_bytes()
    said = grade(*words.format(results, path.parent).split(), "-o", path)
    assert (said.returncode, "reads or writes that file itself" in said.stderr) == (2, True), said.stderr
    assert path.read_bytes() == before


def test_what_is_no_results_file_is_named(vstar, tmp_path):
    said = grade("report", vstar[1], "-o", tmp_path / "x.md")
    assert said.returncode == 2
    assert "not a results file" in said.stderr
    assert "give the `_results.json` that grading wrote" in said.stderr


def test_compare_pairs_two_runs_and_writes_json_on_standard_output(vstar):
    words, path = vstar
    assert grade(*words, "-q").returncode == 0
    results = path.with_name("predictions_results.json")
    before = path.with_name("before_results.json")
    shutil.copy(results, before)
    right = [s["qid"] for s in json.loads(results.read_text())["samples"] if s["careful"]["outcome"] == "correct"]
    records = json.loads(path.read_text())
    (record,) = [record for record in records if record["qid"] == right[0]]
    record["predictions"] = ["I cannot see the image."]
    path.write_text(json.dumps(records))
    assert grade(*words, "-q").returncode == 0
    files = [word for ending in ("md", "csv") for word in ("-o", path.with_name(f"compared.{ending}"))]
    said = grade("compare", before, results, "-o", "-", *files)
    assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout)
    (careful,) = [m for m in found["metrics"] if (m["reading"], m["group"]) == ("careful", None)]
    assert (careful["before"], careful["after"]) == (70.0, 60.0)
    assert careful["difference"]["test"] == "exact McNemar"
    assert [flip["item"] for flip in found["fallen"]] == right[:1]
    assert found["risen"] == []
    assert "Lower in B (careful): 1" in said.stderr
    assert f"A: {before}" in said.stderr
    assert f"B: {results}" in said.stderr
    assert path.with_name("compared.md").read_text().startswith("## grade: `vstar · ")
    assert path.with_name("compared.csv").read_text().startswith("metric,reading,group,")


def test_compare_refuses_runs_of_different_benchmarks(vstar, sample, tmp_path):
    words, path = vstar
    assert grade(*words, "-q").returncode == 0
    first = tmp_path / "vstar_results.json"
    path.with_name("predictions_results.json").rename(first)
    other, folder = sample("mmbench")
    assert grade(other, "-b", "mmbench", "--data", folder / "questions.tsv", "-q").returncode == 0
    said = grade("compare", first, other.with_name("predictions_results.json"))
    assert said.returncode == 2
    assert "These runs cannot be compared: benchmark 'vstar' and 'mmbench'." in said.stderr


def test_standard_output_has_room_for_one_report_only(vstar):
    words, path = vstar
    said = grade(*words, "-q", "-o", "-", "-o", "-")
    assert (said.returncode, said.stdout) == (2, "")
    assert "-o - is given twice" in said.stderr
    assert grade(*words, "-q").returncode == 0
    results = path.with_name("predictions_results.json")
    said = grade("compare", results, results, "-o", "none/x.json", cwd=path.parent)
    assert said.returncode == 2
    assert "none does not exist; create it first" in said.stderr


def test_compare_and_report_write_one_page_of_several_runs(run, tmp_path):
    results, data, _ = run
    other = results.with_name("other_results.json")
    other.write_bytes(results.read_bytes())
    page = tmp_path / "compared.html"
    said = grade("compare", f"old run={results}", other, "-o", page, "--data", data)
    assert said.returncode == 0, said.stderr
    assert "old run" in said.stderr
    assert '<b class="run run-A">A</b> old run' in page.read_text()
    both = tmp_path / "both.html"
    assert grade("report", results, other, "-o", both, "-q").returncode == 0
    assert "2 runs side by side" in both.read_text()
    said = grade("report", results, other, "-o", tmp_path / "x.md")
    assert (said.returncode, "several runs become one .html" in said.stderr) == (2, True)


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="no prlimit")
def test_a_report_that_cannot_be_written_hides_neither_the_results_nor_the_other_reports(sample):
    """A file beyond the limit is as a full disk; the command in the message writes the report later."""
    path, folder = sample("vstar")
    page, table = path.with_name("r.html"), path.with_name("r.csv")
    results = path.with_name("predictions_results.json")
    words = [path, "-b", "vstar", "--data", folder / "questions.jsonl", "-o", page, "-o", table]
    assert grade(*words).returncode == 0
    limit = results.stat().st_size + 1000
    assert table.stat().st_size < limit < page.stat().st_size
    for file in (results, page, table):
        file.unlink()
    command = ["prlimit", f"--fsize={limit}", sys.executable, "-m", "grader", *map(str, words)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    again = ["report", str(results), "-o", str(page), "--data", str(folder / "questions.jsonl")]
    assert ran.returncode == 3
    assert ran.stderr.splitlines()[-3:] == [
        f"Wrote {results}",
        f"Wrote {table}",
        f"error: The report {page} could not be written: File too large. The results are in {results}. Make room, or "
        f"name another file, and run `grade {shlex.join(again)}`.",
    ]
    assert not page.exists()
    assert grade(*again, "-q").returncode == 0
    assert page.exists()
