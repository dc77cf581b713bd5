"""Mr-Ben from prediction file to report: metrics, differences by kind, private benchmarks, foreign files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.decisions.comparison import compare
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.reports.material import files_of_results
from grader.results import READINGS, JudgeProvenance
from grader.scorers.mr_ben.facts import facts_of
from grader.scorers.mr_ben.scorer import MrScore
from grader.scorers.pairing import Side
from tests.conftest import ROOT
from tests.scorers.mr_ben.made import (
    MATH,
    NO,
    RIGHT,
    YES,
    facts_of_run,
    folder,
    metric,
    metrics_of,
    predictions,
    replies,
    response,
    row,
    run,
    run_math,
)

SAMPLE = ROOT / "benchmarks" / "mr-ben" / "sample"


def test_the_sample_gives_the_metrics_worked_out_by_hand(sample: Any) -> None:
    path, place = sample("mr-ben")
    report = run(path, place / "data", judge_replies=place / "judge_replies.json")
    expected = json.loads((SAMPLE / "expected.json").read_text())["metrics"]
    for reading in READINGS:
        got = {(f"{m.group}/" if m.group else "") + m.name: m.value for m in report.metrics if m.reading == reading}
        assert {name: got[name] for name in expected[reading]} == pytest.approx(expected[reading])
    for s in report.samples:
        facts = facts_of(s)
        assert (facts.official != facts.careful) == (facts.difference is not None), s.qid
    kinds = facts_of_run(report).difference_kinds
    marked = [kind for s in report.differences() if (kind := facts_of(s).difference)]
    assert {kind: marked.count(kind) for kind in marked} == kinds, "every sample of a kind is listed"
    assert set(kinds) >= {
        "headings not read", "wording of the verdict", "wording of the step", "bare digit", "code line",
        '"Incorrect" credited', "empty gold step",
    }  # fmt: skip
    assert MrScore().summary(report).lines == ["n counts questions: 12 questions with 25 graded solutions."]
    listed = ", ".join(f"{kind} ({n})" for kind, n in kinds.items())
    assert report.notes[-1].text == f"Why the readings differ: {listed}."


def test_a_subject_of_which_nothing_is_scored_has_no_metrics_and_is_in_no_mean(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH, physics=[row("p1"), row("p2", "2")])
    lost = dict.fromkeys(("p1/m", "p2/m"), "Error code: 429 - rate limit")
    report = run(predictions(tmp_path, RIGHT | lost), data, judge_replies=replies(tmp_path, {"q2/m": YES}))
    assert metrics_of(report, "careful", "subject=physics") == {}
    assert metrics_of(report, "careful") == metrics_of(report, "careful", "subject=math")
    assert metric(report, "parse_success_rate", "careful").bounds == pytest.approx((100 * 4 / 6, 100))
    assert metrics_of(report, "official", "subject=physics")["mr_score"] == 0
    compared = MrScore().compare(Side(report, "careful"), Side(report, "careful"), "acc_step")
    assert (compared.before, compared.after, compared.difference.n) == (50, 50, 4)


def test_a_mean_over_subjects_is_never_outside_of_its_bounds(tmp_path: Path) -> None:
    """The MCC of correct solutions alone is 0, whatever the model says of them."""
    data = folder(tmp_path / "data", math=MATH, physics=[row("p1")])
    texts = RIGHT | {"p1/m": "Error code: 429 - rate limit"}
    report = run(predictions(tmp_path, texts), data, judge_replies=replies(tmp_path, {"q2/m": YES}))
    mean, math = (report.metric("mcc", "careful", group) for group in (None, "subject=math"))
    assert mean is not None
    assert math is not None
    assert math.value == pytest.approx(57.735027)
    assert (mean.value, mean.bounds) == (pytest.approx(57.735027 / 2), msgspec.UNSET)


def test_the_interval_of_a_mean_that_was_moved_into_its_bounds_contains_it(tmp_path: Path) -> None:
    right, wrong = ([f"{kind}{number}" for number in range(10)] for kind in "rw")
    rows = [*map(row, right), *(row(question, "2") for question in wrong)]
    data = folder(tmp_path / "data", math=rows, physics=[row("p1")])
    texts = {f"{question}/m": response("correct") for question in right}
    texts |= {f"{question}/m": response("incorrect", "Step 1") for question in wrong}
    report = run(predictions(tmp_path, texts | {"p1/m": "Error code: 429 - rate limit"}), data)
    mean, math = (report.metric("mcc", "careful", group) for group in (None, "subject=math"))
    assert math is not None
    assert mean is not None
    assert (math.value, mean.value) == (100, 50)
    assert math.ci95 is not None
    assert math.ci95[0] > 50
    assert mean.ci95 is not None
    assert mean.ci95[0] == 50


def test_all_metrics_and_counts_of_a_subject(tmp_path: Path) -> None:
    report = run_math(tmp_path, judged=YES)
    # tp 1, tn 2, fp 0, fn 1: mcc = 2 / sqrt(1 * 2 * 2 * 3)
    wanted = {
        "mr_score": 20 * 0.577350 + 15 + 25, "mcc": 57.735027, "acc_step": 50, "acc_reason": 50, "precision": 100,
        "recall": 50, "parse_success_rate": 100,
    }  # fmt: skip
    for reading in READINGS:
        assert metrics_of(report, reading) == pytest.approx(wanted, abs=1e-4)
        assert metrics_of(report, reading, "subject=math") == metrics_of(report, reading)
        assert metric(report, "mr_score", reading).n == 4
        low, high = metric(report, "mr_score", reading).ci95 or (0, 0)
        assert 0 <= low < metric(report, "mr_score", reading).number < high <= 100
    counts = {"rows": 4, "tp": 1, "tn": 2, "fp": 0, "fn": 1, "step": 1, "reason": 1, "step_unscored": 0,
              "reason_unscored": 0, "unread": 0, "judged": 1, "lost_correct": 0, "lost_incorrect": 0}  # fmt: skip
    assert facts_of_run(report).counts == {reading: {"math": counts} for reading in READINGS}
    outcomes = [(s.careful.outcome, s.careful.answer, s.careful.detail) for s in report.samples]
    assert outcomes == [
        ("correct", "correct", ""),
        ("correct", "incorrect; 2", ""),
        ("wrong", "incorrect; 2", "the first error step is wrong"),
        ("wrong", "incorrect", "the verdict is wrong"),
    ]


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
    report = run_math(tmp_path, dict.fromkeys(RIGHT, text), judged=NO)
    step = 50 if "Step 2" in text else 0
    never = -100 if not parsed else 0  # officially what is not read counts as the wrong class
    for reading in READINGS:
        assert metrics_of(report, reading) == {
            "mr_score": 0.3 * step, "mcc": never, "acc_step": step, "acc_reason": 0, "precision": precision,
            "recall": recall, "parse_success_rate": parsed,
        }  # fmt: skip


def test_a_private_benchmark_declares_its_own_weights_and_subjects(tmp_path: Path) -> None:
    place = tmp_path / "mine"
    folder(tmp_path / "mine", cooking=MATH)
    (place / "benchmark.toml").write_text(
        'id = "mine"\nname = "Mine"\nscoring = "mr_score"\ndefault_split = "all"\ndefault_protocol = "p"\n'
        'subjects = ["cooking"]\n[columns]\nid = "Question_UUID"\n[settings]\nmcc = 0\nstep = 1\nreason = 0\n'
        '[splits.all]\ndata = "."\n[protocols.p]\n'
    )
    report = grade(predictions(tmp_path, RIGHT), Options(benchmark=str(place)), Silent()).report
    assert metrics_of(report, "careful", "subject=cooking")["mr_score"] == 50


def test_declared_metrics_stand_beside_its_own(tmp_path: Path) -> None:
    place = tmp_path / "mine"
    folder(place, cooking=MATH)
    (place / "benchmark.toml").write_text(
        'id = "mine"\nname = "Mine"\nscoring = "mr_score"\ndefault_split = "all"\ndefault_protocol = "p"\n'
        'subjects = ["cooking"]\nmean_over = "subject"\ntogether.pair.rows = 2\n[columns]\nid = "Question_UUID"\n'
        'groups = ["subject"]\n[splits.all]\ndata = "."\n[protocols.p]\n'
    )
    report = grade(predictions(tmp_path, RIGHT), Options(benchmark=str(place)), Silent()).report
    rows = {row.name: row for row in compare(report, report).metrics if row.group is None}
    assert rows["macro_accuracy"].after == report.metric("macro_accuracy", "careful").value  # type: ignore[union-attr]
    assert report.metric("pair_accuracy", "careful") is not None
    assert "pair_accuracy" not in rows, "its difference is not tested"


# --- data and files -------------------------------------------------------------------------------------------------


def scored(rows: list[dict[str, Any]], texts: dict[str, str], judged: Mapping[str, str | None]) -> list[dict[str, Any]]:
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
    plain = run_math(tmp_path, judged=YES)
    assert (report.metrics, report.samples, report.unscored) == (plain.metrics, plain.samples, 0)
    assert report.provenance.judge == JudgeProvenance(source="replies from the predictions")
    assert (report.provenance.data, report.provenance.data_is_carried) == ("run.json", True)
    again = grade(path, Options(benchmark="mr-ben", score_only=True), Silent()).report
    assert (again.metrics, again.samples) == (report.metrics, report.samples)
    for data in (None, path):
        material = files_of_results(tmp_path / "run_results.json", report, data=data, predictions=path).material()
        assert (len(material.tasks), material.gaps) == (len(report.samples), [])


@pytest.mark.parametrize("raw", ["", None])
def test_an_empty_recorded_reply_of_the_judge_earns_no_official_credit(tmp_path: Path, raw: str | None) -> None:
    """The published calculation reads it as an error without credit; a careful reader does not know."""
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"math": scored(MATH, RIGHT, {"q2/m": raw})}))
    report = run(path, None)
    official, careful = (metric(report, "acc_reason", reading) for reading in READINGS)
    assert (official.value, official.bounds) == (0, msgspec.UNSET)
    assert (careful.value, careful.bounds) == (None, (0, 50))
    assert [(s.official.outcome, s.careful.outcome) for s in report.samples][1] == ("wrong", "unscored")
    given = run_math(tmp_path, judged="")
    assert (given.metrics, given.unscored) == (report.metrics, 1)
