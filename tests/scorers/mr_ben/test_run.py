"""Mr-Ben from prediction file to report: figures, weights, judge, differences by kind, foreign files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from grader.errors import InputError, UsageError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import READINGS, Metric, Report, decode_report
from tests.models.server import ModelServer, fail, say

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "benchmarks" / "mr-ben" / "sample"
YES = "Step-by-Step Reasoning: r\nStudent Error Reason Analysis: a\nFinal Decision: Correct"
NO = YES.replace("Correct", "Wrong")


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No key, no proxy and no cache of the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in list(os.environ):
        if name.startswith("OPENAI_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def row(question: str, step: str = "N/A", **more: Any) -> dict[str, Any]:
    """A solution of two steps; wrong where a step is named."""
    return {
        "Question_UUID": question,
        "Sampled_Model": "m",
        "Question": f"What is {question}?",
        "Model_Solution_Steps": ["Step 1: one", "Step 2: two"],
        "Model_Solution_Correctness": "correct" if step == "N/A" else "incorrect",
        "Model_Solution_First_Error_Step": step,
        "Model_Solution_Error_Reason": "two is not it",
        **more,
    }


def folder(path: Path, **subjects: list[dict[str, Any]]) -> Path:
    """Write a folder of subject files."""
    path.mkdir(exist_ok=True)
    for name, rows in subjects.items():
        questions: dict[str, list[dict[str, Any]]] = {}
        for r in rows:
            questions.setdefault(r["Question_UUID"], []).append(r)
        (path / f"{name}.json").write_text(json.dumps(questions))
    return path


def response(verdict: str, step: str = "N/A", reason: str = "N/A") -> str:
    return f"Solution Correctness: {verdict}\nFirst Error Step: {step}\nError Reason: {reason}"


def predictions(place: Path, texts: dict[str, str]) -> Path:
    path = place / "preds.json"
    path.write_text(json.dumps([{"qid": qid, "predictions": [text]} for qid, text in texts.items()]))
    return path


def replies(place: Path, texts: dict[str, str]) -> Path:
    path = place / "replies.json"
    path.write_text(json.dumps(texts))
    return path


def run(path: Path, data: Path | None, **options: Any) -> Report:
    """Grade, write, and return the report as it was written."""
    graded = grade(path, Options(benchmark="mr-ben", data=data, **options), Silent())
    report = decode_report(graded.write()[-1].read_bytes())
    assert report == graded.report
    return report


def figures(report: Report, reading: str, group: str | None = None) -> dict[str, float]:
    return {m.name: round(m.value, 6) for m in report.metrics if (m.reading, m.group) == (reading, group)}


def metric(report: Report, name: str, reading: str) -> Metric:
    found = report.metric(name, reading)  # type: ignore[arg-type]
    assert found
    return found


# --- figures -----------------------------------------------------------------------------------------------------


def test_the_sample_gives_the_figures_worked_out_by_hand(sample: Any) -> None:
    path, place = sample("mr-ben")
    report = run(path, place / "data", judge_replies=place / "judge_replies.json")
    expected = json.loads((SAMPLE / "expected.json").read_text())["metrics"]
    for reading in READINGS:
        got = {(f"{m.group}/" if m.group else "") + m.name: m.value for m in report.metrics if m.reading == reading}
        assert {name: got[name] for name in expected[reading]} == pytest.approx(expected[reading])
    kinds = report.environment["difference_kinds"]
    assert isinstance(kinds, dict)
    marked = [s.extra["difference"] for s in report.samples if isinstance(s.extra, dict) and "difference" in s.extra]
    assert {kind: marked.count(kind) for kind in marked} == kinds
    assert set(kinds) >= {
        "headings not read", "wording of the verdict", "wording of the step", "bare digit", "code line",
        '"Incorrect" credited', "empty gold step",
    }  # fmt: skip
    listed = ", ".join(f"{kind} {n}" for kind, n in kinds.items())
    assert report.notes[-1] == f"Why the readings differ: {listed}."


def test_every_difference_in_credit_has_a_kind(sample: Any) -> None:
    path, place = sample("mr-ben")
    report = run(path, place / "data", judge_replies=place / "judge_replies.json")
    for s in report.samples:
        assert isinstance(s.extra, dict)
        assert (s.extra["official"] != s.extra["careful"]) == ("difference" in s.extra), s.qid


MATH = [row("q1"), row("q2", "2"), row("q3", "1"), row("q4")]
RIGHT = {
    "q1/m": response("correct"),
    "q2/m": response("incorrect", "Step 2", "it is not two"),
    "q3/m": response("incorrect", "Step 2", "it is not two"),
    "q4/m": response("incorrect", "Step 1", "it is not one"),
}


def test_all_figures_and_counts_of_a_subject(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    report = run(predictions(tmp_path, RIGHT), data, judge_replies=replies(tmp_path, {"q2/m": YES}))
    # tp 1, tn 2, fp 0, fn 1: mcc = 2 / sqrt(1 * 2 * 2 * 3)
    wanted = {
        "mr_score": 20 * 0.577350 + 15 + 25, "mcc": 57.735027, "acc_step": 50, "acc_reason": 50, "precision": 100,
        "recall": 50, "parse_success_rate": 100,
    }  # fmt: skip
    for reading in READINGS:
        assert figures(report, reading) == pytest.approx(wanted, abs=1e-4)
        assert figures(report, reading, "subject=math") == figures(report, reading)
        assert metric(report, "mr_score", reading).n == 4
        low, high = metric(report, "mr_score", reading).ci95 or (0, 0)
        assert 0 <= low < metric(report, "mr_score", reading).value < high <= 100
    counts = {"rows": 4, "tp": 1, "tn": 2, "fp": 0, "fn": 1, "step": 1, "reason": 1, "step_unscored": 0,
              "reason_unscored": 0, "unread": 0}  # fmt: skip
    assert report.environment["counts"] == {reading: {"math": counts} for reading in READINGS}
    outcomes = [(s.careful.outcome, s.careful.answer, s.careful.detail) for s in report.samples]
    assert outcomes == [
        ("correct", "correct", ""),
        ("correct", "incorrect; 2", ""),
        ("wrong", "incorrect; 2", "the first error step is wrong"),
        ("wrong", "incorrect", "the verdict is wrong"),
    ]


def test_the_overall_figure_is_the_unweighted_mean_over_subjects(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=[row("q1"), row("q2"), row("q3", "1")], logic=[row("q4"), row("q5", "1")])
    texts = {"q1/m": "correct", "q2/m": "correct", "q3/m": "correct", "q4/m": "correct", "q5/m": "incorrect"}
    report = run(predictions(tmp_path, {q: response(t, "Step 2") for q, t in texts.items()}), data)
    by_subject = [figures(report, "careful", f"subject={s}")["mcc"] for s in ("math", "logic")]
    assert (by_subject, figures(report, "careful")["mcc"]) == ([0, 100], 50)


@pytest.mark.parametrize(
    ("text", "precision", "recall", "parsed"),
    [
        pytest.param(response("incorrect", "Step 2", "r"), 0, 0, 100, id="always incorrect"),
        pytest.param(response("correct"), 50, 100, 100, id="always correct"),
        pytest.param("I would need more time.", 0, 0, 0, id="never parses"),
        pytest.param("", 0, 0, 0, id="says nothing"),
    ],
)
def test_a_model_with_one_answer_gets_a_score(
    tmp_path: Path, text: str, precision: float, recall: float, parsed: float
) -> None:
    data = folder(tmp_path / "data", math=MATH)
    report = run(predictions(tmp_path, dict.fromkeys(RIGHT, text)), data, judge_replies=replies(tmp_path, {"q2/m": NO}))
    step = 50 if "Step 2" in text else 0
    never = -100 if not parsed else 0  # officially what is not read counts as the wrong class
    for reading in READINGS:
        assert figures(report, reading) == {
            "mr_score": 0.3 * step, "mcc": never, "acc_step": step, "acc_reason": 0, "precision": precision,
            "recall": recall, "parse_success_rate": parsed,
        }  # fmt: skip


def test_weights_come_from_the_declaration_and_then_the_command(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    path, judged = predictions(tmp_path, RIGHT), replies(tmp_path, {"q2/m": NO})
    report = run(path, data, judge_replies=judged)
    assert report.environment["weights"] == {"mcc": 0.2, "step": 0.3, "reason": 0.5}
    report = run(path, data, judge_replies=judged, weights={"mcc": 0, "step": 1})
    assert report.environment["weights"] == {"mcc": 0, "step": 1, "reason": 0.5}
    assert figures(report, "official")["mr_score"] == 50
    again = grade(path, Options(benchmark="mr-ben", data=data, score_only=True, weights={"reason": 0}), Silent()).report
    assert again.environment["weights"] == {"mcc": 0.2, "step": 0.3, "reason": 0}
    (said,) = [note for note in again.notes if "weights" in note]
    assert said.endswith(
        "(the benchmark's are mcc 0.2, step 0.3, reason 0.5). They add up to 0.5, so its highest value is 50."
    )
    again = grade(path, Options(benchmark="mr-ben", data=data, score_only=True), Silent()).report
    assert not [note for note in again.notes if "weights" in note]
    with pytest.raises(UsageError, match="must be more than 0"):
        run(path, data, judge_replies=judged, weights={"mcc": 0, "step": 0, "reason": 0})
    with pytest.raises(UsageError, match="--weight steps: the parts of MR-Score are mcc, step, reason"):
        run(path, data, judge_replies=judged, weights={"steps": 1})
    with pytest.raises(UsageError, match="--weight step=nan: a weight is 0 or more"):
        run(path, data, judge_replies=judged, weights={"step": float("nan")})


def test_a_private_benchmark_declares_its_own_weights_and_subjects(tmp_path: Path) -> None:
    place = tmp_path / "mine"
    folder(tmp_path / "mine", cooking=MATH)
    (place / "benchmark.toml").write_text(
        'id = "mine"\nname = "Mine"\nscoring = "mr_score"\ndefault_split = "all"\ndefault_protocol = "p"\n'
        'subjects = ["cooking"]\n[columns]\nid = "Question_UUID"\n[weights]\nmcc = 0\nstep = 1\nreason = 0\n'
        '[splits.all]\ndata = "."\n[protocols.p]\n'
    )
    report = grade(predictions(tmp_path, RIGHT), Options(benchmark=str(place)), Silent()).report
    assert figures(report, "careful", "subject=cooking")["mr_score"] == 50


def test_the_command_takes_weights(tmp_path: Path) -> None:
    from grader.cli import run as command

    data = folder(tmp_path / "data", math=MATH)
    path, judged = predictions(tmp_path, RIGHT), replies(tmp_path, {"q2/m": YES})
    words = [str(path), "-b", "mr-ben", "--data", str(data), "--judge-replies", str(judged), "-q"]
    assert command([*words, "--weight", "mcc=0", "--weight", "step=0"]) == 0
    report = decode_report((tmp_path / "preds_results.json").read_bytes())
    assert metric(report, "mr_score", "official").value == 25


# --- the judge ---------------------------------------------------------------------------------------------------


def test_the_judge_is_asked_only_where_its_word_can_matter(tmp_path: Path) -> None:
    """Wrong verdicts, wrong steps and solutions that are correct need no judge."""
    data = folder(tmp_path / "data", math=MATH)
    with ModelServer.playing(say(YES)) as server:
        report = run(predictions(tmp_path, RIGHT), data, judge_model="m", judge_base_url=server.url)
    assert len(server.asked) == 1
    for shown in ("What is q2?", "Step 1: one\nStep 2: two", "two is not it", "it is not two"):
        assert shown in server.asked[0].prompt
    assert figures(report, "careful")["acc_reason"] == 50
    assert report.environment["judged"] == 1
    assert report.environment["judge"] == {
        "model": "m", "endpoint": server.url, "questions": 1, "calls": 1, "cached": 0, "failed": 0, "prompt_tokens": 11,
        "completion_tokens": 2,
    }  # fmt: skip
    assert report.samples[1].extra["judge"] == YES  # type: ignore[index]


def test_a_reply_that_cannot_be_read_is_asked_for_again(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    with ModelServer.playing(say("hm"), say(YES)) as server:
        report = run(predictions(tmp_path, RIGHT), data, judge_model="m", judge_base_url=server.url)
    assert len(server.asked) == 2
    assert (report.unscored, figures(report, "careful")["acc_reason"]) == (0, 50)


def test_a_judge_that_is_never_readable_leaves_the_careful_reason_unscored_between_bounds(tmp_path: Path) -> None:
    """Officially such a reply is an error without credit, never retried."""
    data = folder(tmp_path / "data", math=MATH)
    with ModelServer.playing(say("hm")) as server:
        report = run(predictions(tmp_path, RIGHT), data, judge_model="m", judge_base_url=server.url)
    assert len(server.asked) == 3
    assert report.unscored == 1
    assert [(s.official.outcome, s.careful.outcome) for s in report.samples][1] == ("wrong", "unscored")
    official, careful = (metric(report, "acc_reason", reading) for reading in READINGS)
    assert (official.value, careful.value, careful.bounds) == (0, 0, (0, 50))
    assert metric(report, "mcc", "careful").bounds != metric(report, "mr_score", "careful").bounds


@pytest.mark.parametrize("judged", ["none", "unreachable"])
def test_without_a_judges_word_what_hangs_on_it_is_unscored_in_both_readings(tmp_path: Path, judged: str) -> None:
    data = folder(tmp_path / "data", math=MATH)
    path = predictions(tmp_path, RIGHT)
    if judged == "none":
        report = run(path, data)
        assert report.notes[0].startswith("No judge: rows whose error reason had to be judged are unscored.")
    else:
        with ModelServer.playing(fail(429, code="insufficient_quota")) as server:
            report = run(path, data, judge_model="m", judge_base_url=server.url)
        assert ", 1 without a readable reply; " in report.notes[0]
    for reading in READINGS:
        assert report.samples[1].reading(reading).outcome == "unscored"
        assert metric(report, "acc_reason", reading).bounds == (0, 50)
        score = metric(report, "mr_score", reading)
        assert score.bounds
        assert [round(b, 4) for b in score.bounds] == [26.547, 51.547]
    assert report.unscored == 1


@pytest.mark.parametrize(("word", "reason"), [("Correct", 50), ("right.", 50), ("wrong", 0), ("Incorrect", 0)])
def test_a_persons_verdict_in_one_word_holds_in_both_readings(tmp_path: Path, word: str, reason: float) -> None:
    data = folder(tmp_path / "data", math=MATH)
    report = run(predictions(tmp_path, RIGHT), data, judge_replies=replies(tmp_path, {"q2/m": word}))
    assert [figures(report, reading)["acc_reason"] for reading in READINGS] == [reason, reason]
    assert report.unscored == 0


def test_a_judges_incorrect_is_credited_officially_and_is_a_no_to_a_careful_reader(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    told = YES.replace("Correct", "Incorrect")
    report = run(predictions(tmp_path, RIGHT), data, judge_replies=replies(tmp_path, {"q2/m": told}))
    assert [figures(report, reading)["acc_reason"] for reading in READINGS] == [50, 0]
    assert report.environment["difference_kinds"] == {'"Incorrect" credited': 1}
    assert report.notes == ['Why the readings differ: "Incorrect" credited 1.']


def test_a_template_replaces_the_wording(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    template = tmp_path / "prompt.txt"
    template.write_text("{question}|{solution}|{first_error_step}|{error_reason}|{answer}")
    with ModelServer.playing(say(YES)) as server:
        run(predictions(tmp_path, RIGHT), data, judge_model="m", judge_base_url=server.url, judge_prompt=template)
    assert server.asked[0].prompt.startswith("What is q2?|Step 1: one\nStep 2: two|2|two is not it|-----")


# --- data and files ----------------------------------------------------------------------------------------------


def test_subjects_that_are_there_are_graded_and_other_files_are_not_looked_at(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH[:1], biology=[row("b1")])
    (data / "k_shot_demo.json").write_text("not even JSON")
    report = run(predictions(tmp_path, {"q1/m": response("correct"), "b1/m": response("correct")}), data)
    assert {m.group for m in report.metrics} == {None, "subject=math", "subject=biology"}


def scored(rows: list[dict[str, Any]], texts: dict[str, str], judged: dict[str, str]) -> list[dict[str, Any]]:
    """The rows as the official scorer writes them."""
    done = []
    for r in rows:
        qid = f"{r['Question_UUID']}/m"
        added = {"Evaluation_Result": {"evaluation_raw_response": texts[qid], "evaluated_model": "e"}}
        if qid in judged:
            added["Error_Reason_Correctness_Analysis"] = {"scoring_raw_response": judged[qid], "scoring_model": "j"}
        done.append(r | added)
    return done


def test_an_official_result_file_is_rescored_by_itself(tmp_path: Path) -> None:
    """It carries questions, responses and the judge's replies: neither data nor judge are needed."""
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"math": scored(MATH, RIGHT, {"q2/m": YES})}))
    report = run(path, None)
    data = folder(tmp_path / "data", math=MATH)
    plain = run(predictions(tmp_path, RIGHT), data, judge_replies=replies(tmp_path, {"q2/m": YES}))
    assert (report.metrics, report.samples, report.unscored) == (plain.metrics, plain.samples, 0)
    assert report.environment["judge"] == "replies from the predictions"
    assert report.environment["data"] == "run.json"
    again = grade(path, Options(benchmark="mr-ben", score_only=True), Silent()).report
    assert (again.metrics, again.samples) == (report.metrics, report.samples)


def test_a_row_without_a_prediction_is_an_error_or_wrong(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    texts = {qid: text for qid, text in RIGHT.items() if qid != "q1/m"}
    path, judged = predictions(tmp_path, texts), replies(tmp_path, {"q2/m": YES})
    with pytest.raises(InputError, match=r'1 of 4 rows without a prediction: "q1/m"'):
        run(path, data, judge_replies=judged)
    report = run(path, data, judge_replies=judged, missing="wrong")
    assert [s.qid for s in report.samples] == ["q1/m", "q2/m", "q3/m", "q4/m"]
    absent = report.samples[0]
    assert (absent.careful.outcome, absent.careful.detail) == ("no_answer", "there is no prediction")
    for reading in READINGS:
        got = figures(report, reading)
        assert (got["recall"], got["parse_success_rate"], got["acc_reason"]) == (0, 75, 50)
    assert report.notes == ["1 of 4 rows have no prediction and count as wrong."]
    again = grade(path, Options(benchmark="mr-ben", data=data, score_only=True), Silent()).report
    assert again == report


def test_a_second_row_of_one_key_has_its_own_name(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=[row("q1"), row("q1", "1")])
    path = predictions(tmp_path, {"q1/m": response("correct"), "q1/m#2": response("incorrect", "Step 2")})
    report = run(path, data)
    assert [(s.qid, s.careful.outcome) for s in report.samples] == [("q1/m", "correct"), ("q1/m#2", "wrong")]
    assert metric(report, "mr_score", "careful").n == 1


def test_a_row_that_the_benchmark_has_not_is_named(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    path = predictions(tmp_path, RIGHT | {"q1/n": "x"})
    with pytest.raises(InputError, match=r'"q1/n" is no row of the benchmark'):
        run(path, data)
