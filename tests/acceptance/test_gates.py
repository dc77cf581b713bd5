"""The gate as a CI job meets it: exit codes, the last words, the step summary, annotations."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.acceptance.command import Started, grade
from tests.models.server import ModelServer, fail, say


@pytest.fixture
def vstar(sample, once):
    """A graded run, and the words that grade it: 70 % careful, 30 % official, ten questions."""
    path, folder = sample("vstar")
    words = [path, "-b", "vstar", "--data", folder / "questions.jsonl"]

    def run(shared):
        assert grade(*words, "--output-dir", shared, "-q").returncode == 0

    results = once("vstar-for-gates", run) / "predictions_results.json"
    baseline = path.with_name("baseline_results.json")
    for target in (path.with_name("predictions_results.json"), baseline):
        shutil.copy(results, target)
    return words, path, baseline


def last(said):
    return said.stderr.splitlines()[-1]


def test_a_figure_at_the_line_passes_and_one_below_fails_with_exit_1_and_says_so_last(vstar):
    words, _, _ = vstar
    met = grade(*words, "--fail-under", "accuracy=70")
    assert (met.returncode, last(met)[:36]) == (0, "GATE MET: accuracy >= 70 (careful): ")
    failed = grade(*words, "--fail-under", "accuracy=70.01", "--fail-under", "accuracy=10")
    assert failed.returncode == 1
    assert last(failed) == ("GATE NOT MET: accuracy >= 70.01 (careful): it is 70.00 (95 % interval 39.7 to 89.2, n 10)")


def test_the_reading_can_be_the_official_one_and_a_line_can_be_a_groups(vstar):
    words, _, _ = vstar
    assert grade(*words, "--fail-under", "accuracy=70", "--reading", "official").returncode == 1
    said = grade(*words, "--fail-under", "accuracy:category=relative_position=75", "-q")
    assert said.returncode == 0
    assert said.stderr.startswith("GATE MET: accuracy of category=relative_position >= 75 (careful)")


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--max-drop", "2"], "--max-drop needs --baseline"), (["--confident"], "--confident needs --fail-under")],
)
def test_a_gate_that_cannot_be_is_exit_2(vstar, words, message):
    said = grade(*vstar[0], *words)
    assert said.returncode == 2
    assert message in said.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--fail-under", "acuracy=75"],
            "error: --fail-under acuracy: this run has no metric 'acuracy'; it has accuracy.\n",
        ),
        (
            ["--fail-under", "accuracy=-5"],
            "error: --fail-under accuracy=-5: accuracy is never below 0, so this gate is always met.\n",
        ),
        (
            ["--baseline", "baseline_results.json", "--max-drop", "acuracy=2"],
            "error: --max-drop acuracy: this run has no metric 'acuracy'; it has accuracy.\n",
        ),
    ],
)
def test_a_gate_on_something_that_the_run_will_not_have_is_refused_before_grading(vstar, words, message):
    given, path, _ = vstar
    results = path.with_name("predictions_results.json")
    results.unlink()
    said = grade(*given, *words, cwd=path.parent)
    assert (said.returncode, said.stderr) == (2, message)
    assert not results.exists()


def test_a_baseline_of_something_else_is_refused_before_anything_runs(vstar):
    words, path, baseline = vstar
    path.with_name("predictions_results.json").unlink()
    other = json.loads(baseline.read_text()) | {"protocol": "lmms-eval-0.1"}
    baseline.write_text(json.dumps(other))
    said = grade(*words, "--baseline", baseline)
    assert said.returncode == 2
    assert (
        "cannot be the baseline of this run: it has vstar, test, lmms-eval-0.1; this run has vstar, test, "
        in said.stderr
    )
    assert not path.with_name("predictions_results.json").exists()


def test_few_items_are_inconclusive_with_exit_4_and_a_collapse_is_exit_1(vstar):
    words, path, baseline = vstar
    records = json.loads(path.read_text())
    records[0]["predictions"] = ["I cannot see the image."]
    path.write_text(json.dumps(records))
    said = grade(*words, "--baseline", baseline, "--max-drop", "5")
    assert said.returncode == 4
    assert last(said).startswith("GATE INCONCLUSIVE: accuracy no more than 5 points below the baseline (careful): ")
    path.write_text(json.dumps([r | {"predictions": ["I cannot see the image."]} for r in records]))
    said = grade(*words, "--baseline", baseline, "--max-drop", "5")
    assert said.returncode == 1
    assert last(said).startswith("GATE NOT MET: ")


def test_a_judge_that_is_not_there_leaves_a_gate_open_with_exit_3(sample):
    path, folder = sample("mmbench")
    words = [path, "-b", "mmbench", "--data", folder / "questions.tsv", "-q"]
    judge = ["--judge-model", "m", "--judge-base-url", "http://127.0.0.1:9/v1"]
    said = grade(*words, *judge, "--fail-under", "circular_accuracy=60", "--reading", "official")
    assert said.returncode == 3, said.stderr
    assert "GATE BLOCKED: circular_accuracy >= 60 (official)" in last(said)
    assert "samples are unscored" in last(said)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (
            fail(400, "no"),
            r"there was no reply\. Last reason: .*replied with HTTP 400: no\. The same command asks again",
        ),
        (
            say("hm"),
            r"it replied, but no reply could be read\. Last reason: no readable reply in 3 tries; the last was "
            r".*If it does not keep to the prompt, give another --judge-model\.",
        ),
    ],
)
def test_a_judge_that_answers_nothing_is_an_error_with_the_last_reason(sample, action, message):
    path, folder = sample("mmbench")
    words = [path, "-b", "mmbench", "--data", folder / "questions.tsv", "-q", "--no-cache", "--judge-model", "m"]
    with ModelServer.playing(action) as server:
        said = grade(*words, "--judge-base-url", server.url)
    assert said.returncode == 3, said.stderr
    assert re.search(r"^error: the judge answered none of its \d+ questions: " + message, last(said))


def obeyed(said: str) -> list[str]:
    """The workflow commands among these lines, as GitHub's runner takes them."""
    found, resume = [], ""
    for line in map(str.strip, said.splitlines()):
        if resume:
            resume = "" if line == f"::{resume}::" else resume
        elif line.startswith("::stop-commands::"):
            resume = line.removeprefix("::stop-commands::")
        elif line.startswith("::"):
            found.append(line)
    assert not resume, "later steps would be disarmed"
    return found


def test_no_line_of_a_model_is_a_workflow_command(vstar, monkeypatch, tmp_path):
    """A name or a text with a line like `::error::` would put words on the page, or hide those of others."""
    (_, *options), path, _ = vstar
    evil = tmp_path / "x\n::error title=forged::y.json"
    evil.write_bytes(path.read_bytes())
    assert "\n::error title=forged::y" in grade(evil, *options).stderr
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert obeyed(grade(evil, *options).stderr) == []


def test_the_step_summary_and_the_annotations_are_githubs(vstar, monkeypatch, tmp_path):
    words, _, _ = vstar
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    said = grade(*words, "--fail-under", "accuracy=99", "-q")
    assert said.returncode == 1
    assert obeyed(said.stderr) == [
        "::error title=grade::accuracy >= 99 (careful): it is 70.00 (95 %25 interval 39.7 to 89.2, n 10)"
    ]
    assert "GATE NOT MET: accuracy >= 99 (careful): it is 70.00 (95 % interval 39.7 to 89.2, n 10)" in said.stderr
    text = summary.read_text()
    assert text.startswith("before\n")
    assert "accuracy" in text
    assert "70.0" in text


def test_a_baseline_that_the_run_itself_would_replace_is_refused_and_left_as_it_is(vstar):
    # The second attempt would be held against the first one, and pass.
    words, path, _ = vstar
    own = path.with_name("predictions_results.json")
    before = own.read_bytes()
    path.write_text(path.read_text().replace("The answer", "An answer"))
    for more in ([], ["--score-only"]):
        said = grade(*words, "--baseline", own, "--max-drop", "2", *more)
        assert said.returncode == 2
        assert "this run writes its own results there" in said.stderr
        assert own.read_bytes() == before


FULL = Path("/dev/full")


@pytest.mark.parametrize(
    ("more", "stream", "exit_code"),
    [
        (["--fail-under", "accuracy=99", "-v"], "stderr", 1),
        (["--fail-under", "accuracy=1", "-v"], "stderr", 0),
        (["--fail-under", "accuracy=1", "-q", "-o", "-"], "stdout", 3),
        (["--fail-under", "accuracy=99", "-q", "-o", "-"], "stdout", 1),
    ],
)
def test_a_gates_verdict_does_not_hang_on_an_output_that_is_full(vstar, more, stream, exit_code):
    said = Started(*vstar[0], *more, streams={stream: FULL}).wait()
    assert said.returncode == exit_code, said.stderr
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize("reads", [0, 1], ids=["before", "after"])
@pytest.mark.parametrize(("more", "stream"), [([], "stderr"), (["-q", "-o", "-"], "stdout")])
def test_a_gates_verdict_does_not_hang_on_who_reads_the_output(vstar, tmp_path, more, stream, reads):
    """Who reads a pipe may be gone before the command writes to it, or after."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    run = Started(*vstar[0], "--fail-under", "accuracy=99", *more, streams={stream: pipe})
    with pipe.open("rb", buffering=0) as reader:
        reader.read(reads)
    said = run.wait()
    assert said.returncode == 1, said.stderr
    assert "Traceback" not in said.stderr


def test_files_that_cannot_be_written_hide_no_verdict_and_turn_none_that_failed(vstar, tmp_path):
    words, _, _ = vstar
    long = tmp_path / f"{'x' * 250}.md"
    failed = grade(*words, "-q", "--fail-under", "accuracy=99", "-o", long)
    assert failed.returncode == 1
    assert f"error: The report {long} could not be written: File name too long. The results are in" in failed.stderr
    assert "executed" not in failed.stderr
    assert last(failed).startswith("GATE NOT MET")
    met = grade(*words, "-q", "--fail-under", "accuracy=1", "-o", long)
    assert met.returncode == 3
    assert met.stderr.startswith("GATE MET")
    assert "could not be written" in last(met)
    assert "--output-dir" not in last(met)
