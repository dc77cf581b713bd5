"""Exports of a real run, each checked with its target's own schema, library or reader."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from grader.decisions.comparison import RunName
from grader.errors import UsageError
from grader.integrations.exports import target
from grader.integrations.exports.interface import Exported, Wanted
from grader.predictions.read import read_predictions
from grader.reports.material import Material
from grader.results import READINGS, Outcome, Part, Report, UnscoredCounts
from grader.results.file import encode_report
from grader.scorers.registry import scorer_of
from grader.task import Task
from tests.made_runs import BENCHMARKS, of_sample, tasks

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


@pytest.mark.parametrize("benchmark", ["mmbench", "mr-ben"])
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
    assert (entry.dataset_id, entry.task_id, entry.value) == ("lmms-lab-encoder/vstar-bench", "vstar", official.value)
    assert entry.date == "2027-01-15T08:00:00Z"
    assert "official reading, protocol lmms-eval-0.7.1" in (entry.notes or "")


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
    assert results["results"]["vstar"]["accuracy,official"] == pytest.approx((official.value or 0) / 100)
    log = tmp_path / "samples.jsonl"
    log.write_bytes(next(content for name, content in files.items() if name.endswith(".jsonl")))
    found = read_predictions(log)
    assert found.format == "lmms-eval"
    assert {record.qid: record.predictions for record in found.records} == material("vstar")().predictions


def test_exports_tell_unscored_samples_and_notes_on_official_values() -> None:
    report = of_sample("vstar")
    first = report.samples[0]
    lost = msgspec.structs.replace(first.careful, outcome=Outcome.UNSCORED, credit=0)
    report = msgspec.structs.replace(
        report,
        samples=[msgspec.structs.replace(first, careful=lost), *report.samples[1:]],
        unscored_by_reading=UnscoredCounts(careful=1),
        notes=["\N{DAGGER} No judge."],
    )
    files = exported("lmms-eval", report).files
    (log,) = (content for name, content in files.items() if name.endswith(".jsonl"))
    line = json.loads(log.splitlines()[0])
    assert (line["official_accuracy"], line["careful_accuracy"]) == ([first.official.credit], [None])
    ends = [
        yaml.safe_load(content)[0]["notes"].partition("n = 10")[2]
        for reading in READINGS
        for content in exported(
            "hugging-face", report, wanted=msgspec.structs.replace(WANTED, reading=reading)
        ).files.values()
    ]
    assert ends == [", may differ from the value of the official scorer", ", 1 sample unscored"]


TRACKER = """
import contextlib, json, types
logged = {}
def set_experiment(name): logged["experiment"] = name
def log_params(values): logged.update(values)
def log_metrics(values): logged.update(values)
def log_table(table, artifact_file): logged["samples"] = len(table["qid"])
def get_tracking_uri(): return json.dumps(logged)
@contextlib.contextmanager
def start_run(run_name): yield types.SimpleNamespace(info=types.SimpleNamespace(run_id=run_name))
"""
"""What the example calls of MLflow, which is not installed here."""


def test_an_installed_package_adds_targets_and_names_a_library_that_is_missing(tmp_path: Path) -> None:
    site, results = tmp_path / "site", tmp_path / "a_results.json"
    example = Path(__file__).parents[3] / "examples" / "trackers"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", site, example]
    subprocess.run(pip, check=True, capture_output=True)
    report = tasks([5, 10])
    results.write_bytes(encode_report(msgspec.structs.replace(report, metrics=scorer_of(report).recompute(report))))

    def export(name: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(Path(__file__).parents[3])])}
        command = [sys.executable, "-m", "grader", "export", name, str(results), "--model", "a/b"]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    (site / "mlflow.py").write_text("raise ImportError('no mlflow')")
    refused = export("mlflow")
    assert (refused.returncode, "pip install 'grade-trackers[mlflow]'" in refused.stderr) == (2, True)
    (site / "mlflow.py").write_text(TRACKER)
    said = export("mlflow").stderr
    logged = json.loads(said.partition("Logged to MLflow: ")[2].rpartition(", run ")[0])
    assert (logged["official/pass_at_1"], logged["model"], logged["samples"]) == (75, "a/b", 20)
    unknown = export("excel")
    assert "the targets are every-eval-ever, hugging-face, lmms-eval, mlflow, wandb." in unknown.stderr
