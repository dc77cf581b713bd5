"""Multiple choice: every letter is what VLMEvalKit's own rules read, in the releases of it that PyPI has."""

import json
import logging
from collections import defaultdict
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest
from pandas._libs.parsers import STR_NA_VALUES

from tests.golden import verdicts
from tests.golden.corpora import LETTERS, SAMPLES, SHARED, Corpus, as_it_is, choice
from tests.peers.peer import loaded

pytestmark = pytest.mark.peers

RELEASES = {"vlmevalkit-2025-07": "nvidia-vlmeval", "vlmevalkit-2025-08": "ms-vlmeval"}
"""Our version of the rules -> a package that has them."""


@pytest.fixture(params=RELEASES)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def rules(version: str) -> ModuleType:
    log = {"get_logger": logging.getLogger}
    file = "vlmeval/utils/matching_util.py"
    return loaded(RELEASES[version], file, vlmeval__smp=log, vlmeval__smp__log=log)


def letter(rules: ModuleType, reply: str, choices: dict[str, str]) -> str | None:
    """Return what the rules read; their "Z" is a reply that names no option."""
    found = rules.can_infer(reply, choices)
    return found if found and found != "Z" else None


def official(results: dict[str, Any]) -> dict[str, str | None]:
    return {sample["qid"]: sample["official"]["answer"] for sample in results["samples"]}


def differing(ours: dict[str, str | None], theirs: dict[str, str | None]) -> list[tuple[str, str | None, str | None]]:
    assert ours.keys() == theirs.keys()
    return [(qid, ours[qid], theirs[qid]) for qid in ours if ours[qid] != theirs[qid]]


def in_a_table(options: list[str]) -> dict[str, str]:
    """Return the options that are left once VLMEvalKit has read them from a table, where "None" is an empty cell."""
    return {name: text for name, text in zip(LETTERS, options, strict=False) if text not in STR_NA_VALUES}


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize(
    "file",
    [
        "mcq_written/cases.jsonl",
        "mcq_real/labelled.jsonl",
        "mcq_real/mmlu_pro.jsonl.gz",
        "mcq_real/mmmu_pro_gpt-4o.jsonl.gz",
    ],
)
def test_letters(version: str, rules: ModuleType, file: str, tmp_path: Path) -> None:
    corpus = Corpus(name=file, write=partial(choice, SHARED / file, 1, reader=version))
    ours = official(verdicts.graded(corpus, tmp_path))
    options = {row["id"]: in_a_table(row["options"]) for row in _lines(tmp_path / "questions.jsonl")}
    rows = _lines(tmp_path / "predictions.json")
    theirs = {row["qid"]: letter(rules, row["predictions"][0], options[row["qid"]]) for row in rows}
    assert differing(ours, theirs) == []


@pytest.mark.parametrize(
    ("data", "file"),
    [
        (SAMPLES / "mmbench/sample", "predictions.json"),
        (SHARED / "mmbench", "llava15_13b.json"),
        (SHARED / "mmbench", "llava15_13b_styled.json"),
    ],
    ids=["sample", "llava15_13b", "llava15_13b_styled"],
)
def test_mmbench(version: str, rules: ModuleType, data: Path, file: str, request: Any, tmp_path: Path) -> None:
    """Letters of every pass, and the questions with all passes right; the table is read as VLMEvalKit reads it."""
    if data.is_relative_to(SHARED):
        request.getfixturevalue("shared")
    table = data / "questions.tsv"
    graded = as_it_is(data / file, "-b", "mmbench", "--data", table, "--protocol", version)
    results = verdicts.graded(Corpus(name=file, write=graded), tmp_path)
    replies = {row["qid"]: row["predictions"][0] for row in json.loads((tmp_path / "predictions.json").read_text())}
    theirs, right = {}, defaultdict(list)
    for row in pd.read_csv(table, sep="\t").to_dict("records"):
        qid = str(row["index"])
        choices = {name: row[name] for name in "ABCD" if not pd.isna(row[name])}
        theirs[qid] = letter(rules, replies[qid], choices)
        right[row["index"] % 1_000_000].append(theirs[qid] == row["answer"])
    assert differing(official(results), theirs) == []
    (circular,) = [
        metric["value"]
        for metric in results["metrics"]
        if (metric["name"], metric["reading"], metric["group"]) == ("circular_accuracy", "official", None)
    ]
    assert circular == pytest.approx(100 * sum(map(all, right.values())) / len(right))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
