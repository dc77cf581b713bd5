"""Exports of a real run, each checked with its target's own schema, library or reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import yaml

from grader.decisions.comparison import RunName
from grader.errors import UsageError
from grader.integrations.exports import TARGETS, target
from grader.integrations.exports.interface import Exported, Wanted
from grader.integrations.exports.mlflow import _allowed
from grader.predictions.read import read_predictions
from grader.reports.material import Material
from grader.results import Part, Report
from grader.task import Task
from tests.made_runs import BENCHMARKS, of_sample, tasks

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMAS = Path(__file__).parents[2] / "files" / "schemas"
WANTED = Wanted(model="some-org/some-model", organization="us", now=1_800_000_000)


def material(benchmark: str) -> Callable[[], Material]:
    records = read_predictions(BENCHMARKS / benchmark / "sample" / "predictions.json").records
    predictions = {record.qid: record.predictions for record in records}
    asked = {qid: Task(id=qid, text="?", options={"A": "x"}, gold="A") for qid in predictions}
    return lambda: Material(predictions=predictions, tasks=asked)


def exported(name: str, report: Report, benchmark: str = "vstar", wanted: Wanted = WANTED) -> Exported:
    return target(name)(report, RunName(name="run"), material(benchmark), wanted)


def validator(name: str) -> Any:
    from jsonschema import Draft7Validator

    return Draft7Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text()))


@pytest.mark.parametrize("benchmark", ["vstar", "mmbench", "mr-ben"])
def test_every_eval_ever_accepts_results_and_samples(benchmark: str) -> None:
    report = of_sample(benchmark)
    files = exported("every-eval-ever", report, benchmark).files
    samples, results = sorted(files, key=lambda name: name.endswith(".json"))
    made = json.loads(files[results])
    assert [error.message for error in validator("eval").iter_errors(made)] == []
    lines = [json.loads(line) for line in files[samples].splitlines()]
    check = validator("instance_level_eval")
    assert [error.message for line in lines for error in check.iter_errors(line)] == []
    assert made["detailed_evaluation_results"]["total_rows"] == len(lines) > len(report.samples)
    scores = {one["evaluation_result_id"]: one["score_details"]["score"] for one in made["evaluation_results"]}
    headline = report.metrics[0]
    assert scores[f"{made['evaluation_id']}/{headline.name}/{headline.reading}"] == headline.value
    assert len(scores) == sum(metric.value is not None for metric in report.metrics)


def test_the_schema_would_notice_what_is_wrong() -> None:
    files = exported("every-eval-ever", of_sample("vstar")).files
    made = json.loads(next(content for name, content in files.items() if name.endswith(".json")))
    del made["evaluation_results"][0]["score_details"]["score"]
    assert list(validator("eval").iter_errors(made))


def test_a_model_name_cannot_lead_out_of_the_folder() -> None:
    wanted = msgspec.structs.replace(WANTED, model="../../etc/..")
    names = list(exported("every-eval-ever", of_sample("vstar"), wanted=wanted).files)
    assert names
    for name in names:
        assert ".." not in Path(name).parts
        assert name.startswith("data/vstar/")


def test_hugging_face_reads_the_official_value_back() -> None:
    from huggingface_hub import parse_eval_result_entries

    report = of_sample("vstar")
    ((name, content),) = exported("hugging-face", report).files.items()
    assert name == ".eval_results/vstar.yaml"
    (entry,) = parse_eval_result_entries(yaml.safe_load(content))
    official = report.metric("accuracy", "official")
    assert official is not None
    assert (entry.dataset_id, entry.task_id, entry.value) == ("lmms-lab-encoder/vstar-bench", "vstar", official.value)
    assert entry.date == "2027-01-15T08:00:00Z"
    assert "official reading, protocol lmms-eval-0.7" in (entry.notes or "")


def test_hugging_face_needs_a_data_set_and_a_whole_run() -> None:
    with pytest.raises(UsageError, match=r"on the hub is not known. Name it with --dataset"):
        exported("hugging-face", of_sample("mr-ben"), "mr-ben")
    part = msgspec.structs.replace(of_sample("vstar"), part=Part(n=1, of=2, ids_hash="x"))
    with pytest.raises(UsageError, match="are for a part of the benchmark"):
        exported("hugging-face", part)


def test_lmms_evals_sample_log_is_read_back_as_predictions(tmp_path: Path) -> None:
    report = of_sample("vstar")
    files = exported("lmms-eval", report).files
    results = json.loads(next(content for name, content in files.items() if name.endswith("_results.json")))
    official = report.metric("accuracy", "official")
    assert official is not None
    assert results["results"]["vstar"]["accuracy,official"] == pytest.approx((official.value or 0) / 100)
    log = tmp_path / "samples.jsonl"
    log.write_bytes(next(content for name, content in files.items() if name.endswith(".jsonl")))
    found = read_predictions(log)
    assert found.format == "lmms-eval"
    assert {record.qid: record.predictions for record in found.records} == material("vstar")().predictions


def test_mlflow_keeps_the_metrics_and_the_samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'runs.db'}")
    said = exported("mlflow", tasks([5, 10])).said
    assert "Logged to MLflow" in said
    run = mlflow.get_run(said.rpartition(" ")[2])
    assert run.data.metrics["official/pass_at_1"] == 75
    assert run.data.params["model"] == "some-org/some-model"


def test_mlflow_refuses_no_name_of_ours() -> None:
    assert _allowed("careful/pass@1/category=a b") == "careful/pass_at_1/category_a b"


def test_wandb_keeps_a_run_on_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    assert str(tmp_path) in exported("wandb", tasks([5, 10])).said
    assert list(tmp_path.glob("wandb/offline-run-*/*.wandb"))


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_a_library_that_is_missing_is_named_with_its_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError, match=rf"pip install 'grade-predictions\[{name}\]'"):
        exported(name, tasks([5]))


def test_every_target_has_an_export() -> None:
    assert all(callable(target(name)) for name in TARGETS)
