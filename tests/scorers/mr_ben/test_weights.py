"""MR-Score's weights: declared, recorded, and refused; and the published prompts."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from grader.decisions.comparison import compare
from grader.errors import InputError, UsageError
from grader.grading import grade
from grader.models.prompt import PromptOptions
from grader.observer import Silent
from grader.options import Options
from grader.scorers import declarations
from grader.scorers.mr_ben.mr_score import RowFacts, Weights, jackknife_intervals
from grader.scorers.mr_ben.paired import difference
from grader.scorers.mr_ben.prompts import demonstrations_for, load_demonstrations, prompt
from grader.scorers.mr_ben.reading import GoldRow
from grader.scorers.mr_ben.scorer import MrScore
from grader.scorers.mr_ben.tasks import MrBenTask
from tests.conftest import ROOT
from tests.scorers.mr_ben.made import MATH, NO, RIGHT, facts_of_run, folder, metrics_of, predictions, replies, run
from tests.tables import each


def weighted(folder: Path, weights: str) -> str:
    """Write a declaration like Mr-Ben's with other weights, and return its folder."""
    folder.mkdir(exist_ok=True)
    declaration = (ROOT / "benchmarks" / "mr-ben" / "benchmark.toml").read_text()
    (folder / "benchmark.toml").write_text(f"{declaration}\n[settings]\n{weights}\n")
    return str(folder)


def test_weights_come_from_the_declaration_and_are_recorded(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    path, judged = predictions(tmp_path, RIGHT), replies(tmp_path, {"q2/m": NO})
    published = run(path, data, judge_replies=judged)
    assert facts_of_run(published).weights == {"mcc": 0.2, "step": 0.3, "reason": 0.5}
    assert published.provenance.settings == {}
    own = weighted(tmp_path / "own", "mcc = 0\nstep = 1")
    report = run(path, data, judge_replies=judged, benchmark=own)
    assert facts_of_run(report).weights == {"mcc": 0, "step": 1, "reason": 0.5}
    assert report.provenance.settings == {"mcc": 0, "step": 1}
    assert metrics_of(report, "official")["mr_score"] == 50
    with pytest.raises(UsageError, match="their scorer had different settings"):
        compare(published, report)


def test_an_earlier_run_is_scored_again_with_the_weights_of_now(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    path = predictions(tmp_path, RIGHT)
    run(path, data, judge_replies=replies(tmp_path, {"q2/m": NO}))
    own = weighted(tmp_path / "own", "reason = 0")
    again = grade(path, Options(benchmark=own, data=data, score_only=True), Silent()).report
    assert facts_of_run(again).weights == {"mcc": 0.2, "step": 0.3, "reason": 0}
    assert again.provenance.settings == {"reason": 0}
    (said,) = [note.text for note in again.notes if note.kind == "weights"]
    assert said.endswith(
        "(the published ones are mcc 0.2, step 0.3, reason 0.5). They add up to 0.5, so its highest value is 50."
    )
    again = grade(path, Options(benchmark="mr-ben", data=data, score_only=True), Silent()).report
    assert not [note.text for note in again.notes if note.kind == "weights"]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("mcc = 0\nstep = 0\nreason = 0", "one of MR-Score's weights must be more than 0 - at `$.settings`"),
        ("step = nan", "step = nan: a weight must be 0 or more - at `$.settings`"),
        ("steps = 1", "Object contains unknown field `steps` - at `$.settings`; did you mean `step`?"),
        ('step = "1"', "Expected `float`, got `str` - at `$.settings.step`"),
    ],
)
def test_weights_that_make_no_score_are_refused(tmp_path: Path, weights: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        declarations.load(weighted(tmp_path / "own", weights))
    assert caught.value.problems == [f"{tmp_path}/own/benchmark.toml: {message}"]


def answers(found: int) -> dict[str, list[tuple[str, RowFacts]]]:
    """40 solutions, every second one correct; the first `found` are judged rightly, with step and reason."""
    rows = []
    for number in range(40):
        is_found, gold = number < found, number % 2 == 0
        facts = RowFacts(gold_correct=gold, predicted_correct=gold is is_found, step=is_found, reason=is_found)
        rows.append((str(number), facts))
    return {"s": rows}


def test_intervals_and_differences_grow_with_the_weights() -> None:
    """With weights of 2, 3 and 5, MR-Score ends at 1000 and not at 100."""

    def ends(weights: Weights) -> list[float]:
        interval = jackknife_intervals(answers(36), weights)[None, "mr_score"]
        change = difference(answers(36), answers(20), "mr_score", weights)
        return [interval.low, interval.high, *change.ci95, *change.ci90, change.detectable]

    assert ends(Weights(2, 3, 5)) == pytest.approx([10 * end for end in ends(Weights())])


SHOWN = {"Options": "A: x", "Model_Solution_Steps": ["Step 1: a", "", "Step 2: b"]}
DEMONSTRATIONS: dict[str, list[Any]] = {
    "high_school_physics": [
        {"Question": f"q{n}", **SHOWN, "cot_analysis": f"Solution Analysis: c{n}"} for n in range(3)
    ],
    "coding": [{"Question": f"q{n}", "Solution": f"s{n}", "cot_analysis": f"c{n}"} for n in range(3)],
}
PHYSICS = {
    "Subject": "high_school_physics",
    "Question": "Why {so}?",
    "Options": "A: it is\nB: it is not",
    "Model_Solution_Steps": ['Step 1: "one"', "Step 2: it's two"],
}
CODING = {"Subject": "coding", "Question": "Sort it.", "Model_Solution_Steps": "def f(x):\n    return {x}"}


@each(
    ("row", "shots", "expected"),
    [
        (PHYSICS, 0, "333a7b5503b57a6a"),
        (CODING, 0, "687dcc18af51d797"),
        (PHYSICS, 2, "15dfcf4f5b040d0e"),
        (CODING, 2, "2097a92f80038c01"),
    ],
)
def test_a_row_is_asked_with_the_published_text(row: dict[str, Any], shots: int, expected: str) -> None:
    text = prompt(row, demonstrations_for(row, DEMONSTRATIONS, shots))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == expected


def test_too_few_demonstrations_are_an_error() -> None:
    with pytest.raises(InputError, match="3 demonstrations for 'coding', but --shots is 4"):
        demonstrations_for(CODING, DEMONSTRATIONS, 4)


@each("text", ["{", "[]", "{'coding': [{'n': " + 9_999 * "["])
def test_demonstrations_that_cannot_be_read_are_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "k_shot_demo.json").write_text(text.replace("'", '"'))
    with pytest.raises(InputError, match=r"k_shot_demo\.json: .*; expected \{subject: \[demonstrations\]\}"):
        load_demonstrations(tmp_path)


def test_demonstrations_are_those_beside_the_subject_files(tmp_path: Path) -> None:
    (tmp_path / "k_shot_demo.json").write_text(json.dumps(DEMONSTRATIONS))
    declared: Any = declarations.load("mr-ben")
    task = MrBenTask(id="q", row=PHYSICS, gold_row=GoldRow(correct=True, step="N/A"))
    asked = PromptOptions(protocol="mr-ben", split="test", data=tmp_path, shots=1)
    (turn,) = MrScore().turns(declared, task, asked)
    assert turn.text({}) == prompt(PHYSICS, demonstrations_for(PHYSICS, DEMONSTRATIONS, 1))
    assert turn.extra_settings == {"shots": 1}
