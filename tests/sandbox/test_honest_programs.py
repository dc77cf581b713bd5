"""Correct programs keep their credit, however unusual the values are that they return."""

import json
from pathlib import Path

import pytest
from catalogue import PROGRAMS

from tests.acceptance.command import grade

KNOWN_LOSSES = {
    "container-of-its-own-class": "an object of a class of its own is sent as its attributes, without its methods",
    "generator-that-is-sent-values": "a generator is sent as its items; it cannot be sent values",
    "class-of-its-own-turned-to-text": "an object of a class of its own is sent as its attributes, length and items",
    "exception-with-a-cause": "an exception is sent with its class, its numbers and its texts",
    "record-array": "of arrays, those of numbers, texts and times are sent",
    "coroutine": "a coroutine runs in the event loop of the tests, where no code of a candidate is",
}
"""Program -> why the careful reading does not credit it."""


@pytest.mark.bubblewrap
def test_honest_programs_keep_their_credit_but_for_known_losses(tmp_path: Path) -> None:
    rows = [{"qid": p.name, "function_signature": p.signature, "test_script": p.tests} for p in PROGRAMS]
    rows += [
        row | {"qid": f"{p.name} beside its reference", "ground_truth_solution": p.source}
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
    lost = {one["qid"]: one["careful"]["detail"][:150] for one in samples if not one["careful"]["credit"]}
    beside = {name.removesuffix(" beside its reference") for name in lost if " beside " in name}
    without = {name for name in lost if " beside " not in name}
    assert (beside, without) == (set(KNOWN_LOSSES), set(KNOWN_LOSSES)), lost
