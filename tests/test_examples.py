"""The scripts that give results to other tools: each one's output is read with its target's own schema or reader."""

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from grader.files.compact_json import encode_indented
from grader.predictions.read import read_predictions
from grader.results import Note, Outcome, Part, Report
from tests.conftest import ROOT
from tests.made_runs import BENCHMARKS, of_sample

SCHEMAS = Path(__file__).parent / "files" / "schemas"
SCRIPTS = sorted((ROOT / "examples").glob("to_*.py"))


def run(script: str, report: Report, folder: Path, *words: str, site: Path | None = None) -> Any:
    """Run a script on a report beside the predictions of its bundled sample."""
    predictions = BENCHMARKS / report.benchmark / "sample" / "predictions.json"
    (folder / "predictions.json").write_bytes(predictions.read_bytes())
    results = folder / "predictions_results.json"
    results.write_bytes(encode_indented(report))
    path = os.pathsep.join(str(one) for one in (site, ROOT) if one is not None)
    command = [sys.executable, ROOT / "examples" / f"{script}.py", results, *words]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, check=False)


def validator(name: str) -> Any:
    from jsonschema import Draft7Validator

    return Draft7Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_text()))


def test_each_script_is_short_and_has_a_test() -> None:
    assert len(SCRIPTS) == 6
    text = Path(__file__).read_text()
    for script in SCRIPTS:
        assert f'"{script.stem}"' in text
        assert script.read_text().count("\n") <= 100


@pytest.mark.parametrize("benchmark", ["mmbench", "mr-ben"])
def test_every_eval_ever_accepts_results_and_samples(benchmark: str, tmp_path: Path) -> None:
    report = of_sample(benchmark)
    sample = BENCHMARKS / benchmark / "sample"
    data = str(sample / {"mmbench": "questions.tsv", "mr-ben": "data"}[benchmark])
    done = run("to_every_eval_ever", report, tmp_path, str(tmp_path / "out"), "../../org/model", data)
    assert done.returncode == 0, done.stderr
    (results,) = (tmp_path / "out" / "data" / benchmark).rglob("*.json")
    made = json.loads(results.read_text())
    assert [error.message for error in validator("eval").iter_errors(made)] == []
    detailed = made["detailed_evaluation_results"]
    lines = [json.loads(line) for line in (tmp_path / "out" / detailed["file_path"]).read_text().splitlines()]
    check = validator("instance_level_eval")
    assert [error.message for line in lines for error in check.iter_errors(line)] == []
    assert detailed["total_rows"] == len(lines) > len(report.samples)
    ids = {one["evaluation_result_id"] for one in made["evaluation_results"]}
    assert {line["evaluation_result_id"] for line in lines} < ids
    by_question: dict[str, set[str]] = {}
    for line in lines:
        assert line["input"]["raw"]
        assert line["input"]["reference"]
        by_question.setdefault(line["sample_id"], set()).add(line["sample_hash"])
    assert all(len(hashes) == 1 for hashes in by_question.values())
    scores = [one["score_details"]["score"] for one in made["evaluation_results"]]
    assert scores == [metric.value for metric in report.metrics if metric.value is not None]


def test_hugging_face_reads_the_official_value_back(tmp_path: Path) -> None:
    from huggingface_hub import parse_eval_result_entries

    report = msgspec.structs.replace(of_sample("vstar"), notes=[Note("No judge.", "official")])
    done = run("to_hugging_face", report, tmp_path, str(tmp_path), "org/data")
    assert done.returncode == 0, done.stderr
    (entry,) = parse_eval_result_entries(yaml.safe_load((tmp_path / ".eval_results" / "vstar.yaml").read_text()))
    official = report.metric("accuracy", "official")
    assert (entry.dataset_id, entry.task_id, entry.value) == ("org/data", "vstar", official.value)
    assert (entry.notes or "").endswith("n = 10, No judge.")
    part = msgspec.structs.replace(report, part=Part(n=1, of=2, ids_hash="x"))
    refused = run("to_hugging_face", part, tmp_path, str(tmp_path), "org/data")
    assert (refused.returncode, "of a part of the benchmark" in refused.stderr) == (1, True)


def test_inspect_gets_a_score_for_each_scored_sample(tmp_path: Path) -> None:
    """`tests/peers/test_inspect_ai.py` reads them with inspect_ai's own scorer."""
    report = of_sample("vstar")
    for reading in ("careful", "official"):
        done = run("to_inspect", report, tmp_path, str(tmp_path / "s.jsonl"), reading)
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
        credits_ = [sample.reading(reading).credit for sample in report.samples]  # type: ignore[arg-type]
        assert [line["value"] for line in lines] == credits_
        assert {line["epoch"] for line in lines} == {1}


def test_lmms_evals_sample_log_is_read_back_as_predictions(tmp_path: Path) -> None:
    report = of_sample("vstar")
    done = run("to_lmms_eval", report, tmp_path, str(tmp_path / "out"), "org/model")
    assert done.returncode == 0, done.stderr
    (results,) = (tmp_path / "out").glob("*_results.json")
    official = report.metric("accuracy", "official")
    values = json.loads(results.read_text())["results"]["vstar"]
    assert values["accuracy,official"] == pytest.approx((official.value or 0) / 100)
    (log,) = (tmp_path / "out").glob("*_samples_vstar.jsonl")
    found = read_predictions(log)
    given = read_predictions(BENCHMARKS / "vstar" / "sample" / "predictions.json")
    assert found.format == "lmms-eval"
    assert [(one.qid, one.predictions) for one in found.records] == [(o.qid, o.predictions) for o in given.records]


MLFLOW = """
import contextlib, json, types
logged = {}
def set_experiment(name): logged["experiment"] = name
def log_params(values): logged.update(values)
def log_metrics(values): logged.update(values)
def log_table(table, artifact_file): logged["samples"] = {name: len(column) for name, column in table.items()}
def get_tracking_uri(): return json.dumps(logged)
@contextlib.contextmanager
def start_run(run_name): yield types.SimpleNamespace(info=types.SimpleNamespace(run_id=run_name))
"""
WANDB = """
import contextlib, json, types
class Table(types.SimpleNamespace): pass
class Run:
    dir = ""
    def __init__(self, config): self.summary, self.config = {}, config
    def log(self, values): self.rows = len(values["samples"].data)
    @property
    def url(self): return json.dumps(self.summary | self.config | {"samples": self.rows})
@contextlib.contextmanager
def init(project, name, config, job_type): yield Run(config)
"""
"""What the scripts call of the trackers, which are not installed here."""


@pytest.mark.parametrize(("script", "library", "text"), [("to_mlflow", "mlflow", MLFLOW), ("to_wandb", "wandb", WANDB)])
def test_a_tracker_gets_metrics_facts_and_samples(script: str, library: str, text: str, tmp_path: Path) -> None:
    (tmp_path / f"{library}.py").write_text(text)
    report = of_sample("vstar")
    assert any(sample.careful.outcome is Outcome.NO_ANSWER for sample in report.samples)
    done = run(script, report, tmp_path, site=tmp_path)
    assert done.returncode == 0, done.stderr
    logged = json.loads(done.stdout[done.stdout.index("{") : done.stdout.rindex("}") + 1])
    assert logged["official/accuracy"] == report.metric("accuracy", "official").value
    assert logged["protocol"] == report.protocol
    rows = logged["samples"]
    assert set(rows.values() if isinstance(rows, dict) else [rows]) == {len(report.samples)}


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_what_an_example_imports_from_grade_is_there(script: Path) -> None:
    """Some need another tool to run, so they run with the peers only."""
    names = [
        (node.module, alias.name)
        for node in ast.walk(ast.parse(script.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("grader")
        for alias in node.names
    ]
    missing = [(module, name) for module, name in names if not _is_there(module, name)]
    assert missing == []


def _is_there(module: str, name: str) -> bool:
    return hasattr(importlib.import_module(module), name) or importlib.util.find_spec(f"{module}.{name}") is not None
