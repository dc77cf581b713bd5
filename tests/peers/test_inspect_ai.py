"""Logs that inspect_ai writes, in both of its formats: they are graded as the same texts in a prediction file."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import grade
from tests.golden import verdicts
from tests.golden.corpora import SAMPLES, SHARED, Corpus, as_it_is

pytestmark = pytest.mark.peers

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai could not be installed")

GRADED = {
    "vstar": (SAMPLES / "vstar/sample/predictions.json", SAMPLES / "vstar/sample/questions.jsonl", []),
    "humaneval-v": (
        SAMPLES / "humaneval-v/sample/predictions.json",
        SAMPLES / "humaneval-v/sample/tasks.jsonl",
        ["-k", "1"],
    ),
    "mmbench": (SHARED / "mmbench/llava15_13b_styled.json", SHARED / "mmbench/questions.tsv", []),
}
"""Benchmark -> predictions, data, options."""


def logged(records: list[dict[str, Any]], folder: Path, form: str, data: Path | None = None) -> Path:
    """Let inspect_ai ask a mock model that gives these texts, an epoch for each, and return its log.

    `data`: a table with the questions, which stand before the ids in the prompts.
    """
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    rest = {record["qid"]: list(record["predictions"]) for record in records}

    def answered(messages: list[Any], *_: object) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", rest[messages[-1].text.split("\n")[-1]].pop(0))
        # Else the mock counts tokens, with a vocabulary that it fetches.
        output.usage = ModelUsage()
        return output

    questions: dict[str, str] = {}
    if data is not None:
        with data.open(encoding="utf-8", newline="") as file:
            questions = {row["index"]: row["question"] for row in csv.DictReader(file, delimiter="\t")}
    asked = [Sample(id=qid, input=f"{questions[qid]}\n{qid}" if qid in questions else qid) for qid in rest]
    epochs = max(map(len, rest.values()))
    task = inspect_ai.Task(name="asked", dataset=MemoryDataset(asked), epochs=epochs)
    model = get_model("mockllm/model", custom_outputs=answered)
    # One sample at a time where there are several epochs, so that they get the texts in their order.
    (log,) = inspect_ai.eval(
        task, model=model, log_dir=str(folder), log_format=form, display="none", max_samples=1 if epochs > 1 else 50
    )
    assert log.status == "success", log.error
    (path,) = folder.glob(f"*.{form}")
    return path


@pytest.mark.parametrize("form", ["eval", "json"])
@pytest.mark.parametrize("benchmark", GRADED)
def test_a_log_is_graded_as_its_texts(benchmark: str, form: str, request: Any, tmp_path: Path) -> None:
    predictions, data, more = GRADED[benchmark]
    if predictions.is_relative_to(SHARED):
        request.getfixturevalue("shared")
    options = ["-b", benchmark, "--data", str(data), *more]
    table = data if data.suffix == ".tsv" else None  # a log whose questions are not the data's is refused
    log = logged(json.loads(predictions.read_text()), tmp_path / "logs", form, table)
    done = grade(log, *options, "--sandbox", "bubblewrap", "--no-cache", "-q", "--output-dir", tmp_path)
    assert done.returncode == 0, done.stderr
    (found,) = tmp_path.glob("*_results.json")
    (tmp_path / "plain").mkdir()
    plain = verdicts.graded(Corpus(name=benchmark, write=as_it_is(predictions, *options)), tmp_path / "plain")
    assert verdicts.frozen(json.loads(found.read_text())) == verdicts.frozen(plain)


def test_precomputed_scores_of_the_example_are_applied_to_the_log(tmp_path: Path) -> None:
    import subprocess
    import sys

    from inspect_ai import score
    from inspect_ai.log import read_eval_log
    from inspect_ai.scorer import precomputed_scores

    records = json.loads(GRADED["vstar"][0].read_text())
    log = logged(records, tmp_path, "eval")
    path = tmp_path / "p.json"
    path.write_text(json.dumps(records))
    assert grade(path, "-b", "vstar", "--data", GRADED["vstar"][1], "-q").returncode == 0
    scores = tmp_path / "scores.jsonl"
    script = SAMPLES.parent / "examples" / "to_inspect.py"
    subprocess.run([sys.executable, script, tmp_path / "p_results.json", scores], check=True)
    scored = score(read_eval_log(log), precomputed_scores(str(scores)), display="none")
    (found,) = scored.results.scores
    results = json.loads((tmp_path / "p_results.json").read_text())
    careful = next(one["value"] for one in results["metrics"] if one["reading"] == "careful" and one["group"] is None)
    assert round(100 * found.metrics["accuracy"].value, 6) == round(careful, 6)
