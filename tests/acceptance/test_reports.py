"""Reports by extension, from a run and from its results file later; comparisons of two results files."""

import csv
import json
import re
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


def test_a_run_writes_every_report_that_is_asked_for_and_later_ones_are_the_same(vstar):
    words, path = vstar
    names = [path.with_name(f"out.{suffix}") for suffix in ("json", "csv", "md", "xml", "html")]
    said = grade(*words, *[word for name in names for word in ("-o", name)])
    assert said.returncode == 0, said.stderr
    assert "does not show" not in said.stderr
    report = json.loads(names[0].read_text())
    assert report["benchmark"] == "vstar"
    with names[1].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["qid"] for row in rows] == [sample["qid"] for sample in report["samples"]]
    assert "`accuracy` | 30.0 | 70.0 |" in names[2].read_text()
    root = ET.parse(names[3]).getroot()
    assert (root.tag, root.get("tests")) == ("testsuites", "10")
    assert names[4].read_text().startswith("<!doctype html>")
    later = [word for name in names[1:] for word in ("-o", name.with_stem("later"))]
    said = grade("report", path.with_name("predictions_results.json"), *later, "--data", words[4])
    assert said.returncode == 0, said.stderr
    assert said.stderr.splitlines() == [f"Wrote {name.with_stem('later')}" for name in names[1:]]
    for name in names[1:4]:
        assert name.with_stem("later").read_bytes() == name.read_bytes()


@pytest.fixture
def run(vstar):
    """A run's results file, its data, and how a later report of it begins."""
    words, path = vstar
    assert grade(*words, "-q").returncode == 0
    return path.with_name("predictions_results.json"), words[4], ["-o", path.with_name("later.html")]


def test_a_named_file_that_is_not_there_or_not_what_was_graded_is_said_on_the_terminal(run):
    results, data, output = run
    for option in ("--data", "--predictions", "-b"):
        said = grade("report", results, *output, option, results.with_name("typo.jsonl"))
        assert (said.returncode, "typo.jsonl" in said.stderr) == (2, True)
        assert not output[1].exists()
    other = results.with_name("other.jsonl")
    other.write_text(data.read_text().replace("kite", "dragon"))
    texts = results.with_name("other.json")
    texts.write_text('[{"qid": "0", "predictions": ["B"]}]')
    said = grade("report", results, *output, "--data", other, "--predictions", texts, "-q")
    assert said.returncode == 0
    assert said.stderr.splitlines() == [
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
        ("predictions_results.json", "this run reads or writes that file itself"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_anything_runs(vstar, name, message):
    words, path = vstar
    (path.parent / "folder.md").mkdir()
    said = grade(*words, "-o", path.parent / name)
    assert said.returncode == 2
    assert message in said.stderr
    assert [p.name for p in path.parent.iterdir() if p.is_file()] == ["predictions.json"]


def test_an_output_does_not_replace_what_a_run_writes_or_graded(vstar, sample):
    given, path = vstar
    assert grade(*given, "-q").returncode == 0
    results = path.with_name("predictions_results.json").rename(path.with_name("step_1_results.json"))
    before = path.read_bytes()
    copy = path.with_name("copy.json")
    copy.write_bytes(before)
    report = f"report {results}"
    for words in (report, f"{report} --predictions {copy}", f"compare {results} {results}", f"leaderboard {results}"):
        said = grade(*words.split(), "-o", path)
        assert (said.returncode, "reads or writes that file itself" in said.stderr) == (2, True), said.stderr
        assert path.read_bytes() == before
    path, folder = sample("humaneval-v")
    said = grade(path, "--data", folder / "tasks.jsonl", "-o", path.with_name("predictions_executed.json"))
    assert (said.returncode, "this run reads or writes that file itself" in said.stderr) == (2, True)


def test_a_report_does_not_replace_the_data_that_it_finds_beside_the_results(vstar):
    words, path = vstar
    data = path.with_name("data.json")
    data.write_text(json.dumps([json.loads(line) for line in words[-1].read_text().splitlines()]))
    assert grade(*words[:-1], data, "-q").returncode == 0
    said = grade("report", path.with_name("predictions_results.json"), "-o", data)
    assert (said.returncode, "reads or writes that file itself" in said.stderr) == (2, True), said.stderr


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
    assert "Lower in predictions (careful): 1" in said.stderr
    unbroken = "".join(said.stderr.split())
    assert f"before:{before}" in unbroken
    assert f"predictions:{results}" in unbroken
    assert path.with_name("compared.md").read_text().startswith("## grade: vstar · ")
    assert path.with_name("compared.csv").read_text().startswith("metric,reading,group,")


def test_standard_output_has_room_for_one_report_only(vstar):
    said = grade(*vstar[0], "-q", "-o", "-", "-o", "-")
    assert (said.returncode, said.stdout) == (2, "")
    assert "-o - is given twice" in said.stderr


def test_compare_writes_a_page_of_two_runs(run, tmp_path):
    results, data, _ = run
    other = results.with_name("other_results.json")
    other.write_bytes(results.read_bytes())
    page = tmp_path / "compared.html"
    said = grade("compare", f"old run={results}", other, "-o", page, "--data", data)
    assert said.returncode == 0, said.stderr
    assert "old run" in said.stderr
    assert re.search(r"<span>old run: [^<]*_results.json", page.read_text().replace("<wbr>", ""))
    assert grade("report", results, other, "-o", tmp_path / "both.html").returncode == 2


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
