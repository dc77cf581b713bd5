"""What a run leaves: the prediction file, built from the log, and a summary of what is complete and what is missing."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from grader.files.replacing import replacing
from grader.models.replies import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from grader.inference.log import Log
    from grader.inference.plan import Conversation, Plan
    from grader.models.model import RequestRecord


def write(path: Path, plan: Plan, log: Log) -> int:
    """Write the prediction file in one step (JSON Lines for `.jsonl`), task by task; return its number of predictions.

    If there are none, nothing is written. Raises OSError.
    """
    complete = [conversation for conversation in plan.conversations if not log.missing(conversation)]
    if not complete:
        return 0
    is_lines = path.suffix == ".jsonl"
    with replacing(path) as file:
        separator = b"" if is_lines else b"[\n"
        for _, conversations in groupby(complete, key=lambda conversation: conversation.qid):
            for record in _records(list(conversations), plan, log):
                file.write(separator + msgspec.json.encode(record))
                separator = b"\n" if is_lines else b",\n"
        file.write(b"\n" if is_lines else b"\n]\n")
    return len(complete)


def _records(conversations: list[Conversation], plan: Plan, log: Log) -> Iterator[dict[str, Any]]:
    """Yield one record of a task's samples, or one per sample if their prompts differ."""
    last_steps = [conversation.steps[-1] for conversation in conversations]
    replies = [log.reply(conversation.key(step)) for conversation, step in zip(conversations, last_steps, strict=True)]
    samples = [(reply, step.text(reply.content or "")) for reply, step in zip(replies, last_steps, strict=True)]
    has_one_prompt = len({reply.prompt for reply in replies}) == 1
    for group in [samples] if has_one_prompt else [[sample] for sample in samples]:
        yield _record(group, plan)


def _record(samples: list[tuple[RequestRecord, str]], plan: Plan) -> dict[str, Any]:
    """Return the record of a prediction file for samples with the same prompt."""
    first, _ = samples[0]
    return {
        "qid": first.qid,
        "prompt": first.prompt,
        "predictions": [text for _, text in samples],
        "model": plan.model,
        **({"coder_model": plan.coder} if plan.coder is not None else {}),
        "settings": {name: value for name, value in first.settings.items() if name not in PER_SAMPLE_SETTINGS},
        "finish_reasons": [reply.finish_reason for reply, _ in samples],
        "samples": [reply.sample for reply, _ in samples],
    }


PER_SAMPLE_SETTINGS = {"seed", "images", "image_positions"}
"""Settings that differ from sample to sample, or from task to task."""


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """A sample without a prediction."""

    qid: str
    sample: int
    reason: str
    """Why its request failed; empty if no request was sent."""


class InferSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the selected samples."""

    samples: int
    missing: list[Missing]
    truncated: dict[str, int]
    """Stage -> number of replies that the token limit cut (see `Ending.is_cut`)."""
    usage: Usage
    """Of all requests in the log."""

    @property
    def done(self) -> int:
        """The number of samples with a prediction."""
        return self.samples - len(self.missing)

    @property
    def failed(self) -> list[Missing]:
        """The missing samples whose request failed."""
        return [sample for sample in self.missing if sample.reason]


def summarize(selected: Sequence[Conversation], log: Log) -> InferSummary:
    """Return the state of the selected conversations, according to the log."""
    missing = []
    truncated: Counter[str] = Counter()
    for conversation in selected:
        stages = (step.stage for step in conversation.steps if conversation.key(step) in log.truncated)
        truncated.update(stages)
        if steps := log.missing(conversation):
            # Without a failure, the request of its next step was not sent.
            reason = log.failures.get(conversation.key(steps[0]), "")
            missing.append(Missing(qid=conversation.qid, sample=conversation.sample, reason=reason))
    return InferSummary(samples=len(selected), missing=missing, truncated=dict(truncated), usage=log.usage)
