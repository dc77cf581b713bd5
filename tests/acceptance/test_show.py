"""`grade show`: a task, and why a sample has its verdicts, without a page."""

import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from grader.cli import run
from grader.files.compact_json import encode_indented
from grader.reports.views import run as view
from grader.results import Calls, FirstDifference, Outcome, Report
from grader.scorers.execution.facts import ExecutionFacts
from grader.scorers.registry import scorer_of
from tests.acceptance.command import grade
from tests.made_runs import BENCHMARKS, tasks

VSTAR = BENCHMARKS / "vstar" / "sample"


def test_a_terminal_breaks_no_word_and_the_defaults_are_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    data = ["--data", str(VSTAR / "questions.jsonl")]
    assert run(["show", "vstar", *data]) == 0
    assert (
        "protocols, the default first: lmms-eval-0.7.1, lmms-eval-0.7.0, lmms-eval-0.6,\n  vlmevalkit-2026-06\n"
    ) in capsys.readouterr().out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["show", "vstar", "0", *data]) == 0
    assert "(D) green\n  Answer with" in capsys.readouterr().out


def test_a_task_that_is_not_there_is_told() -> None:
    said = grade("show", "vstar", "99", "--data", VSTAR / "questions.jsonl")
    assert (said.returncode, "vstar has no question '99'. `grade show vstar` lists the ids." in said.stderr) == (
        2,
        True,
    )


def test_a_results_file_in_place_of_a_benchmark_is_told_how_its_samples_are_shown() -> None:
    said = grade("show", "a_results.json")
    assert (said.returncode, said.stderr) == (
        2,
        "error: a_results.json is a results file. To show one of its samples: grade show ID QID --results FILE.\n",
    )


# --- one sample of a run ---------------------------------------------------------------------------------------------


def write(report: Report, folder: Path) -> None:
    whole = msgspec.structs.replace(report, metrics=scorer_of(report).metrics(report))
    (folder / "a_results.json").write_bytes(encode_indented(whole))


def test_a_multiple_choice_sample_shows_both_verdicts_the_rules_and_the_output(tmp_path: Path) -> None:
    shutil.copy(VSTAR / "predictions.json", tmp_path)
    data = ["--data", VSTAR / "questions.jsonl"]
    done = grade("predictions.json", "-b", "vstar", *data, "-v", cwd=tmp_path)
    assert done.stderr.startswith("vstar"), "the title is first"
    table = done.stderr.partition("Evidence for every verdict")[2]
    lines = [" ".join(line.split()) for line in table.splitlines()]
    at = lines.index("0 #0 B correct B (starts_with_letter) wrong C (declaration)")
    assert lines[at + 1] == "`the answer is C`"
    words = "show", "vstar", "0", "--results", "predictions_results.json"
    assert "note: The questions cannot be shown: The data of vstar" in grade(*words, cwd=tmp_path).stdout
    said = grade(*words, *data, cwd=tmp_path).stdout
    assert "note:" not in said
    assert said.startswith("question: What is the color of the kite? (A) red"), said
    assert "\nA: red\nB: yellow\nC: blue\nD: green\ngold answer: B\nofficial: B" in said
    assert "official: B (correct): The text begins with the letter." in said
    assert "careful: C (wrong): The text declares this to be its answer." in said
    assert "\nraw output:\nBased on" in said


def test_a_program_shows_the_first_other_call_and_the_failing_test(tmp_path: Path) -> None:
    report = tasks([0], samples=2)
    first = FirstDifference(call="solution(3, 0)", expected="270.0", returned="90.0")
    facts = ExecutionFacts(failed_test="assert solution(3, 0) == 270", failed_line=3)
    failed = msgspec.structs.replace(report.samples[1], calls=Calls(n=7, same=5, alike=2, first=first), facts=facts)
    assert failed.careful.outcome is Outcome.FAILED
    report = msgspec.structs.replace(report, samples=[report.samples[0], failed])
    test = "failed test (official run)"
    shown = f"first call with another answer solution(3, 0); expected 270.0; returned 90.0; {test} assert"
    kinds = "right calls 5 of 7 (same answer as the reference solution), 2 of the same kind"
    *_, (item, _, careful, evidence) = view.document(report).evidence().rows
    assert (item.text, careful.text.split()[0]) == (f"{failed.qid} #1", "failed")
    assert evidence.text.endswith(f"{kinds}; {shown} solution(3, 0) == 270")
    write(report, tmp_path)
    words = ["show", report.benchmark, failed.qid, "--results", "a_results.json"]
    said = grade(*words, "--sample", failed.sample, cwd=tmp_path).stdout
    assert f"first call with another answer: solution(3, 0)\nexpected: 270.0\nreturned: 90.0\n{test}: assert" in said
    assert "note: The predictions cannot be shown: " in said


def test_what_cannot_be_shown_says_what_there_is(tmp_path: Path) -> None:
    report = tasks([0], samples=2)
    write(report, tmp_path)
    qid = report.samples[0].qid
    (tmp_path / "one").mkdir()
    write(tasks([0], samples=1), tmp_path / "one")
    for words, problem in (
        (
            [report.benchmark, qid, "--results", "a_results.json", "--sample", "9"],
            f"no sample 9 of {qid!r}; it has samples 0, 1.",
        ),
        ([report.benchmark, qid, "--results", "one/a_results.json", "--sample", "1"], "it has only sample 0."),
        ([report.benchmark, f"{qid}x", "--results", "a_results.json"], f"has no sample of '{qid}x'."),
        (["vstar", qid, "--results", "a_results.json"], f"has results of {report.benchmark}, not of vstar."),
        (["vstar", qid, "--sample", "1"], "--sample needs --results"),
        (["vstar", "--results", "a_results.json"], "--results needs a QID"),
    ):
        refused = grade("show", *words, cwd=tmp_path)
        assert (refused.returncode, problem in refused.stderr) == (2, True), refused.stderr
