import base64
import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.benchmark import Benchmark
from grader.predictions.read import read_predictions
from grader.predictions.select import fingerprint
from grader.reports.material import Material, RunFiles, files_of_results
from grader.reports.questions import Gap, gather_tasks
from grader.results import Outcome, Provenance, Reading, Report, SampleResult
from grader.scorers import declarations
from grader.scorers.interface import ExecutedProgram
from grader.scorers.report_check import read_report

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def _load(results: Path, data: Path | None) -> tuple[Report, Material]:
    report = read_report(results)
    return report, files_of_results(results, report, data=data).material()


def test_a_choice_run_has_questions_options_gold_images_and_outputs(graded) -> None:
    folder, data = graded("vstar")
    report, found = _load(folder / "predictions_results.json", data)
    assert not found.runs_programs
    assert found.gaps == []
    assert found.replies == {r.qid: r.predictions for r in read_predictions(folder / "predictions.json").records}
    question = found.tasks["0"]
    assert question.text.startswith("What is the color of the kite?")
    assert (question.options["B"], question.gold) == ("yellow", "B")
    assert found.images[found.image_of["0"]] == data.parent / "images/0.png"
    assert found.tasks.keys() == {s.qid for s in report.samples}


def test_predictions_that_changed_since_are_not_shown_and_the_report_says_so(graded, tmp_path: Path) -> None:
    folder, data = graded("vstar")
    for name in ("predictions.json", "predictions_results.json"):
        shutil.copy(folder / name, tmp_path)
    changed = (tmp_path / "predictions.json").read_text().replace("Based on", "Base on", 1)
    (tmp_path / "predictions.json").write_text(changed)
    _, found = _load(tmp_path / "predictions_results.json", data)
    assert found.replies == {}
    assert [(gap.kind, gap.reason) for gap in found.gaps] == [
        ("predictions", "predictions.json has changed since it was graded.")
    ]
    assert len(found.tasks) == 10


@pytest.mark.parametrize("benchmark", ["vstar", "mr-ben"])
def test_the_data_that_was_graded_is_found_beside_the_results(graded, tmp_path: Path, benchmark: str) -> None:
    folder, data = graded(benchmark)
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (shutil.copytree if data.is_dir() else shutil.copy)(data, tmp_path / data.name)
    results = tmp_path / "predictions_results.json"
    report = read_report(results)
    found = files_of_results(results, report).material()
    assert set(found.tasks) == {sample.qid for sample in report.samples}
    assert not [gap for gap in found.gaps if gap.kind == "questions"]


def test_data_beside_the_results_that_is_not_what_was_graded_is_not_shown(graded, tmp_path: Path) -> None:
    folder, data = graded("vstar")
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / data.name).write_text(data.read_text().replace('"label": "B"', '"label": "A"'))
    results = tmp_path / "predictions_results.json"
    report = read_report(results)
    gaps: list[Gap] = []
    shown = gather_tasks(report, _nowhere("vstar"), None, None, gaps, folders=[tmp_path])
    assert not shown.tasks
    assert [gap.reason for gap in gaps] == [
        "The data of vstar (test) is not on this machine; give it with --data. "
        "(questions.jsonl beside the results is not the data that was graded.)"
    ]


def _nowhere(name: str) -> Benchmark:
    """A declaration whose data is neither on the hub nor on this machine."""
    declared = declarations.load(name)
    splits = {split: msgspec.structs.replace(place, hub="") for split, place in declared.splits.items()}
    return msgspec.structs.replace(declared, splits=splits)


def test_a_name_in_the_results_leads_to_no_data_elsewhere(graded, tmp_path: Path) -> None:
    folder, data = graded("vstar")
    report = read_report(folder / "predictions_results.json")
    for name in ("..", f"../{data.name}", str(data)):
        shutil.copy(data, tmp_path / data.name)
        (tmp_path / "inner").mkdir(exist_ok=True)
        led = msgspec.structs.replace(report, provenance=msgspec.structs.replace(report.provenance, data=name))
        assert not gather_tasks(led, _nowhere("vstar"), None, None, [], folders=[tmp_path / "inner"]).tasks


def test_each_thing_that_is_missing_is_named(graded, tmp_path: Path) -> None:
    folder, _ = graded("mr-ben")
    shutil.copy(folder / "predictions_results.json", tmp_path)
    _, found = _load(tmp_path / "predictions_results.json", None)
    assert [gap.kind for gap in found.gaps] == ["predictions", "questions"]
    assert found.gaps[0].reason == "predictions.json is not beside the results."
    assert "--data" in found.gaps[1].reason


def test_a_benchmark_that_is_not_here_leaves_outputs_and_a_gap(graded) -> None:
    folder, data = graded("vstar")
    report = read_report(folder / "predictions_results.json")
    strange = msgspec.structs.replace(report, benchmark="elsewhere")
    found = RunFiles(report=strange, predictions=folder / "predictions.json", data=data).material()
    assert len(found.replies) == 10
    assert found.gaps[0].kind == "questions"
    assert "elsewhere" in found.gaps[0].reason


# --- images -----------------------------------------------------------------------------------------------------


def _choice_run(tmp_path: Path, cells: list[Any], suffix: str = ".jsonl") -> Material:
    """A V* run over questions with these image cells."""
    rows = [
        {"question_id": str(n), "text": "Which? (A) one (B) two", "label": "A", "category": "c", "image": cell}
        for n, cell in enumerate(cells)
    ]
    data = tmp_path / f"data{suffix}"
    data.write_text("\n".join(map(json.dumps, rows)))
    reading = Reading(outcome=Outcome.CORRECT, credit=1, answer="A")
    samples = [SampleResult(qid=str(n), sample=0, official=reading, careful=reading) for n in range(len(cells))]
    report = Report(
        benchmark="vstar",
        scorer="multiple_choice",
        split="test",
        protocol="lmms-eval-0.7.1",
        metrics=[],
        samples=samples,
    )
    return RunFiles(report=report, data=data).material()


def test_an_image_is_a_file_or_base64_or_the_name_of_the_row_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "one.png").write_bytes(PIXEL)
    found = _choice_run(tmp_path, ["one.png", base64.b64encode(PIXEL).decode(), "1", {"path": "one.png"}])
    assert found.images[found.image_of["0"]] == tmp_path / "one.png"
    assert found.images[found.image_of["1"]] == PIXEL
    assert found.image_of["2"] == found.image_of["1"]
    assert found.image_of["3"] == found.image_of["0"]


def test_data_cannot_bring_files_from_elsewhere_into_a_report(tmp_path: Path) -> None:
    inside = tmp_path / "data"
    inside.mkdir()
    (tmp_path / "private.png").write_bytes(PIXEL)
    (inside / "link.png").symlink_to(tmp_path / "private.png")
    found = _choice_run(inside, ["../private.png", str(tmp_path / "private.png"), "link.png", "a\0b", "!" * 5000])
    assert found.images == {}
    assert [gap.reason for gap in found.gaps if gap.kind == "images"] == [
        "The images that the data names for 5 questions were not found."
    ]


def test_data_without_images_says_so_once(tmp_path: Path) -> None:
    found = _choice_run(tmp_path, [None, None])
    assert [gap.reason for gap in found.gaps if gap.kind == "images"] == [
        "The report has no images, because the data (data.jsonl) has none (column image)."
    ]


# --- programs ---------------------------------------------------------------------------------------------------


def _execution_run(tmp_path: Path, results: list[str], outputs: list[str]) -> tuple[Report, Path]:
    """A run of one task: its report, and an executed file with these result texts."""
    good, bad = Reading(outcome=Outcome.PASSED, credit=1), Reading(outcome=Outcome.ERROR, credit=0)
    samples = [
        SampleResult(qid="q1", sample=n, official=reading, careful=reading) for n, reading in enumerate((good, bad))
    ]
    report = Report(
        benchmark="humaneval-v", scorer="execution", split="test", protocol="v2", metrics=[], samples=samples,
        provenance=Provenance(predictions="p.json", predictions_digest=fingerprint({"q1": ["one", "two"]})),
    )  # fmt: skip
    record = {
        "qid": "q1", "predictions": outputs, "processed_predictions": ["a = 1", "b = 2"],
        "concatenated_predictions": ["a = 1\ntest()", "b = 2\ntest()"],
        "results": [{"qid": "q1", "task_id": n, "passed": text == "passed", "result": text}
                    for n, text in enumerate(results)],
    }  # fmt: skip
    path = tmp_path / "p_executed.json"
    path.write_text(json.dumps([record]))
    return report, path


def test_programs_come_from_the_executed_file_and_so_do_predictions_that_are_gone(tmp_path: Path, root: Path) -> None:
    report, path = _execution_run(tmp_path, ["passed", "NameError: c"], ["one", "two"])
    data = root / "benchmarks/humaneval-v/sample/tasks.jsonl"
    results = tmp_path / "p_results.json"
    found = files_of_results(results, report, data=data).material()
    assert found.programs["q1"][1] == ExecutedProgram(
        completion="b = 2", program="b = 2\ntest()", result="NameError: c"
    )
    assert found.replies == {"q1": ["one", "two"]}
    assert found.gaps == []
    assert [block.title for block in found.tasks["q1"].blocks if block.kind == "code"] == [
        "Signature",
        "Tests",
        "Reference solution",
    ]
    assert found.images[found.image_of["q1"]] == data.parent / "images/q1.png"
    assert path.is_file()


def test_a_prediction_file_that_is_not_used_stays_said_where_an_executed_file_has_the_outputs(
    tmp_path: Path, root: Path
) -> None:
    report, path = _execution_run(tmp_path, ["passed", "NameError: c"], ["one", "two"])
    other = tmp_path / "other.json"
    data = root / "benchmarks/humaneval-v/sample/tasks.jsonl"
    other.write_text('[{"qid": "q1", "predictions": ["one", "three"]}]')
    found = files_of_results(path.with_name("p_results.json"), report, data=data, predictions=other).material()
    assert found.replies == {"q1": ["one", "two"]}
    assert [gap.reason for gap in found.gaps] == ["other.json does not hold the predictions that were graded (p.json)."]
    other.write_text('[{"qid": "q1", "predictions": 1}]')
    found = files_of_results(path.with_name("p_results.json"), report, data=data, predictions=other).material()
    (gap,) = found.gaps
    assert gap.reason.startswith("other.json cannot be read: ")


def test_an_executed_file_of_another_run_is_not_shown(tmp_path: Path) -> None:
    report, path = _execution_run(tmp_path, ["NameError: c", "passed"], ["one", "two"])
    found = RunFiles(report=report, scorer_file=path).material()
    assert (found.programs, found.replies) == ({}, {})
    assert "p_executed.json does not belong to this run: its verdicts differ." in [g.reason for g in found.gaps]
    alone = RunFiles(report=report).material()
    assert "The executed file is not beside the results." in [gap.reason for gap in alone.gaps]


@pytest.mark.parametrize("text", ["{}", '[{"qid": "q1", "results": [{}]}]', "[" * 100_000], ids=range(3))
def test_an_executed_file_that_is_none_is_a_gap(tmp_path: Path, text: str) -> None:
    report, path = _execution_run(tmp_path, ["passed", "failed"], ["one", "two"])
    path.write_text(text)
    found = RunFiles(report=report, scorer_file=path).material()
    assert found.programs == {}
    if text != "{}":
        assert "p_executed.json cannot be read" in " ".join(gap.reason for gap in found.gaps)


def test_a_name_in_the_results_cannot_lead_out_of_their_folder(tmp_path: Path) -> None:
    inside = tmp_path / "results"
    inside.mkdir()
    (tmp_path / "secret.json").write_text("[]")
    report = Report(
        benchmark="vstar", scorer="multiple_choice", split="test", protocol="p", metrics=[], samples=[],
        provenance=Provenance(predictions="../secret.json"),
    )  # fmt: skip
    assert files_of_results(inside / "x_results.json", report).predictions is None
