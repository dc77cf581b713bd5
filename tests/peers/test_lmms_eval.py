"""V*: every letter and accuracy is what lmms-eval's own functions give."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.golden import verdicts
from tests.golden.corpora import CORPORA, SAMPLES, SHARED, Corpus
from tests.peers.peer import loaded

pytestmark = pytest.mark.peers

TAGS = [["<think>", "</think>"], ["<analysis>", "</analysis>"]]
"""The default of its --reasoning_tags."""


@pytest.fixture(scope="module")
def vstar() -> ModuleType:
    return loaded("lmms-eval", "lmms_eval/tasks/vstar_bench/utils.py")


@pytest.fixture(scope="module")
def reasoning() -> ModuleType:
    return loaded("lmms-eval", "lmms_eval/api/reasoning.py")


@pytest.mark.parametrize("corpus", [c for c in CORPORA if "vstar" in c.name], ids=lambda corpus: corpus.name)
def test_vstar(corpus: Corpus, vstar: ModuleType, reasoning: ModuleType, tmp_path: Path, request: Any) -> None:
    if corpus.shared:
        request.getfixturevalue("shared")
    results = verdicts.graded(corpus, tmp_path)
    questions = SHARED / "vstar/questions.jsonl" if corpus.shared else SAMPLES / "vstar/sample/questions.jsonl"
    docs = {str(row["question_id"]): row for row in map(json.loads, questions.read_text().splitlines())}
    theirs = {}
    for record in json.loads((tmp_path / "predictions.json").read_text()):
        for number, text in enumerate(record["predictions"]):
            reply = reasoning.strip_reasoning_tags(text, TAGS)
            found = vstar.vstar_process_results(docs[record["qid"]], [reply])
            theirs[record["qid"], number] = found["vstar_overall_acc"]
    ours = {(sample["qid"], sample["sample"]): sample["official"]["answer"] for sample in results["samples"]}
    assert ours == {key: found["prediction"] for key, found in theirs.items()}
    (accuracy,) = [
        metric["value"]
        for metric in results["metrics"]
        if (metric["name"], metric["reading"], metric["group"]) == ("accuracy", "official", None)
    ]
    assert accuracy == pytest.approx(vstar.vstar_aggregate_results(list(theirs.values())))
