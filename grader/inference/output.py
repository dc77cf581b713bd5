"""The prediction file, built from the log: the samples that have a reply, in the benchmark's order."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from grader.files.replacing import replacing
from grader.inference.resume import walk
from grader.models.messages import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from grader.inference.plan import Key, Plan
    from grader.inference.record import Kept


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One prediction, with its prompt and settings."""

    qid: str
    sample: int
    prediction: str
    prompt: str
    finish_reason: str
    settings: dict[str, Any]
    """The settings of its last request."""


def write(path: Path, plan: Plan, replies: Mapping[Key, Kept]) -> int:
    """Write the prediction file in one step (JSON Lines for `.jsonl`); return the number of predictions.

    If there are no predictions, nothing is written. Raises OSError.
    """
    samples = list(finished(plan, replies))
    if not samples:
        return 0
    lines = [msgspec.json.encode(record) for record in _records(samples, plan)]
    with replacing(path) as file:
        if path.suffix == ".jsonl":
            file.write(b"".join(line + b"\n" for line in lines))
        else:
            file.write(b"[\n" + b",\n".join(lines) + b"\n]\n")
    return len(samples)


def finished(plan: Plan, replies: Mapping[Key, Kept]) -> Iterator[Sample]:
    """Yield the samples whose last step has a reply, in the plan's order."""
    for conversation in plan.conversations:
        *_, (last, reply, texts) = walk(conversation, replies)
        if reply is not None:
            yield Sample(
                qid=conversation.qid,
                sample=conversation.sample,
                prediction=last.text(reply.content or ""),
                prompt=plain_text(last.build(texts)),
                finish_reason=reply.finish_reason,
                settings=last.recorded_settings(),
            )


def _records(samples: Iterable[Sample], plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield one record per task, or one per sample if the samples of a task have different prompts."""
    for _, group in groupby(samples, key=lambda sample: sample.qid):
        of_task = list(group)
        apart = len({sample.prompt for sample in of_task}) > 1
        for part in [[sample] for sample in of_task] if apart else [of_task]:
            yield _record(part, plan)


def _record(samples: list[Sample], plan: Plan) -> dict[str, Any]:
    coder = {"coder_model": plan.models["coder"]} if "coder" in plan.models else {}
    return {
        "qid": samples[0].qid,
        "prompt": samples[0].prompt,
        "predictions": [sample.prediction for sample in samples],
        "model": plan.models["model"],
        **coder,
        "settings": {name: value for name, value in samples[0].settings.items() if name != "seed"},
        "finish_reasons": [sample.finish_reason for sample in samples],
        "samples": [sample.sample for sample in samples],
    }
