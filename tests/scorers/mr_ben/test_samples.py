"""From responses to samples: a response that is missing."""

import json
from pathlib import Path

import pytest

from grader.errors import InputError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import READINGS, JudgeProvenance
from grader.scorers.mr_ben.facts import facts_of
from tests.conftest import ROOT
from tests.models.server import ModelServer, fail, say
from tests.scorers.mr_ben.made import RIGHT, YES, facts_of_run, metric, metrics_of, replies, run, run_math


def test_a_row_without_a_prediction_is_an_error_or_wrong(tmp_path: Path) -> None:
    texts = {qid: text for qid, text in RIGHT.items() if qid != "q1/m"}
    with pytest.raises(InputError, match=r'1 of 4 rows without a prediction: "q1/m"'):
        run_math(tmp_path, texts, judged=YES)
    report = run_math(tmp_path, texts, judged=YES, missing="wrong")
    assert [s.qid for s in report.samples] == ["q1/m", "q2/m", "q3/m", "q4/m"]
    absent = report.samples[0]
    assert (absent.careful.outcome, absent.careful.detail) == ("no_answer", "there is no prediction")
    for reading in READINGS:
        got = metrics_of(report, reading)
        assert (got["recall"], got["parse_success_rate"], got["acc_reason"]) == (0, 75, 50)
    assert [note.text for note in report.notes] == ["1 of 4 rows have no prediction and count as wrong."]
    options = Options(benchmark="mr-ben", data=tmp_path / "data", score_only=True)
    again = grade(tmp_path / "preds.json", options, Silent()).report
    assert again == report


def test_a_row_without_a_prediction_weighs_as_much_as_a_row_with_several_samples(tmp_path: Path) -> None:
    texts = {qid: text for qid, text in RIGHT.items() if qid != "q1/m"}
    once = run_math(tmp_path, texts, judged=YES, missing="wrong")
    path = tmp_path / "twice.json"
    path.write_text(json.dumps([{"qid": qid, "predictions": [text] * 2} for qid, text in texts.items()]))
    judged = replies(tmp_path, dict.fromkeys((f"{qid}{sample}" for qid in texts for sample in ("", "@1")), YES))
    twice = run(path, tmp_path / "data", judge_replies=judged, missing="wrong")
    assert [s.sample for s in twice.samples if s.qid == "q1/m"] == [0, 1]
    for reading in READINGS:
        assert metrics_of(twice, reading) == metrics_of(once, reading)


def test_the_judge_is_asked_only_where_its_word_can_matter(tmp_path: Path) -> None:
    """Wrong verdicts, wrong steps and solutions that are correct need no judge."""
    with ModelServer.playing(say(YES)) as server:
        report = run_math(tmp_path, judge_model="m", judge_base_url=server.url)
    assert len(server.asked) == 1
    for shown in ("What is q2?", "Step 1: one\nStep 2: two", "two is not it", "it is not two"):
        assert shown in server.asked[0].prompt
    assert metrics_of(report, "careful")["acc_reason"] == 50
    assert facts_of_run(report).judged == 1
    assert report.provenance.judge == JudgeProvenance(
        source="endpoint", model="m", endpoint=server.url, questions=1, calls=1, prompt_tokens=11, completion_tokens=2
    )
    assert facts_of(report.samples[1]).judge == YES


def test_a_judge_that_is_never_readable_leaves_the_careful_reason_unscored_between_bounds(tmp_path: Path) -> None:
    """Officially such a reply is an error without credit, never retried."""
    with ModelServer.playing(say("hm")) as server:
        report = run_math(tmp_path, judge_model="m", judge_base_url=server.url)
    assert len(server.asked) == 3
    assert report.unscored == 1
    assert [(s.official.outcome, s.careful.outcome) for s in report.samples][1] == ("wrong", "unscored")
    official, careful = (metric(report, "acc_reason", reading) for reading in READINGS)
    assert (official.value, careful.value, careful.bounds) == (0, None, (0, 50))
    assert metric(report, "mcc", "careful").bounds != metric(report, "mr_score", "careful").bounds


@pytest.mark.parametrize("judged", ["none", "unreachable"])
def test_without_a_judges_word_what_hangs_on_it_is_unscored_in_both_readings(tmp_path: Path, judged: str) -> None:
    if judged == "none":
        report = run_math(tmp_path)
        assert report.notes[0].text.startswith("No judge: rows whose error reason had to be judged are unscored.")
    else:
        with ModelServer.playing(fail(429, code="insufficient_quota")) as server:
            report = run_math(tmp_path, judge_model="m", judge_base_url=server.url)
        assert ", 1 question without a reply; " in report.notes[0].text
    for reading in READINGS:
        assert report.samples[1].reading(reading).outcome == "unscored"
        assert metric(report, "acc_reason", reading).bounds == (0, 50)
        score = metric(report, "mr_score", reading)
        assert score.bounds
        assert [round(b, 4) for b in score.bounds] == [26.547, 51.547]
    assert report.unscored == 1


@pytest.mark.parametrize(("word", "reason"), [("Correct", 50), ("right.", 50), ("wrong", 0), ("Incorrect", 0)])
def test_a_persons_verdict_in_one_word_holds_in_both_readings(tmp_path: Path, word: str, reason: float) -> None:
    report = run_math(tmp_path, judged=word)
    assert [metrics_of(report, reading)["acc_reason"] for reading in READINGS] == [reason, reason]
    assert report.unscored == 0


def test_a_declared_template_replaces_the_wording(tmp_path: Path) -> None:
    declaration = (ROOT / "benchmarks" / "mr-ben" / "benchmark.toml").read_text()
    wording = "{question}|{solution}|{first_error_step}|{error_reason}|{answer}"
    (tmp_path / "benchmark.toml").write_text(f'judge_prompt = "{wording}"\n{declaration}')
    with ModelServer.playing(say(YES)) as server:
        run_math(tmp_path, benchmark=str(tmp_path), judge_model="m", judge_base_url=server.url)
    assert server.asked[0].prompt.startswith("What is q2?|Step 1: one\nStep 2: two|2|two is not it|-----")
