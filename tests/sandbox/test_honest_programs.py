"""Correct programs keep their credit, however unusual the values are that they return."""

import json
from pathlib import Path

import pytest
from catalogue import PROGRAMS

from tests.acceptance.command import grade

KNOWN_LOSSES = {
    "container-of-its-own-class": "an object of a class of its own is sent as its attributes, without its methods",
    "generator-that-is-sent-values": "a generator is sent as its items; it cannot be sent values",
    "class-of-its-own-turned-to-text": "an object of a class of its own is sent as its attributes",
    "exception-with-a-cause": "an exception is sent with its class, its numbers and its texts",
    "record-array": "of arrays, those of numbers, texts and times are sent",
    "property-of-its-own-class": "an object of a class of its own is sent as its attributes",
    "enumeration-of-texts": "an object of a class of its own is sent as its attributes",
    "subclass-of-a-class-of-the-signature": "an object of a class of its own is of no class that the tests have",
    "groups-of-the-standard-library": "an iterator is sent as its items, and those of groupby() end with the next one",
    "generator-over-an-argument-without-end": "of an iterator, a bounded number of items is sent",
    "coroutine": "a coroutine runs in the event loop of the tests, where no code of a candidate is",
}
"""Program -> why the careful reading does not credit it."""
_BESIDE = " beside its reference"


@pytest.mark.bubblewrap
def test_honest_programs_keep_their_credit_but_for_known_losses(tmp_path: Path) -> None:
    rows = [{"qid": p.name, "function_signature": p.signature, "test_script": p.tests} for p in PROGRAMS]
    rows += [
        row | {"qid": f"{p.name}{_BESIDE}", "ground_truth_solution": p.source}
        for row, p in zip(rows, PROGRAMS, strict=True)
    ]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = zip(rows, PROGRAMS * 2, strict=True)
    predictions = [{"qid": row["qid"], "predictions": [f"```python\n{p.source}```"]} for row, p in answers]
    (tmp_path / "predictions.json").write_text(json.dumps(predictions))
    words = ["predictions.json", "--data", "tasks.jsonl", "--no-cache", "-q", "--timeout", "6", "--workers", "1"]
    ran = grade(*words, "--sandbox", "bubblewrap", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    samples = json.loads((tmp_path / "predictions_results.json").read_text())["samples"]
    official = {one["official"]["outcome"] for one in samples}
    assert official == {"passed", "lint_failed"}  # the published evaluator drops a constant of one of them
    lost = {one["qid"]: one["careful"] for one in samples if not one["careful"]["credit"]}
    beside = {name.removesuffix(_BESIDE): one["detail"] for name, one in lost.items() if name.endswith(_BESIDE)}
    assert beside.keys() == KNOWN_LOSSES.keys(), beside
    # Without a reference, a task whose tests use an answer otherwise than by comparing it is not judged. Each task is
    # left out before a program runs, and no honest program is called anything.
    assert {one["outcome"] for one in lost.values()} == {"not_judged"}
