"""What a run leaves: the prediction file, built from the log, and a summary of what is complete and what is missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

import msgspec

from grader.files.replacing import replacing
from grader.inference.resume import walk
from grader.models.messages import plain_text
from grader.models.replies import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.inference.log import Kept, Log
    from grader.inference.plan import Conversation, Key, Plan


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


_LONG_TEXT = 100
"""Minimum length in characters for equal samples to be suspicious (two samples "B" are not)."""


class Missing(msgspec.Struct, frozen=True, kw_only=True):
    """A sample without a prediction."""

    qid: str
    sample: int
    reason: str
    """Why its request failed; empty if no request was sent."""
    kind: str = ""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the selected samples."""

    samples: int
    done: int
    missing: list[Missing]
    truncated: dict[str, int]
    """Stage -> number of replies that the token limit cut (`finish_reason` is `length`)."""
    requests: dict[str, int]
    """Stage -> number of replies."""
    limits: dict[str, int | None]
    """Stage -> the token limit of its requests."""
    identical: int
    """Number of samples at a temperature above 0 that are identical to an earlier sample of their task."""
    several_choices: int
    """Number of replies with more than one choice, of which the first one was used."""
    usage: Usage
    """Of all requests in the log."""

    @property
    def complete(self) -> bool:
        """Whether every selected sample has a prediction."""
        return not self.missing

    @property
    def failed(self) -> list[Missing]:
        """The missing samples whose request failed permanently."""
        return [sample for sample in self.missing if sample.reason]


def summarize(selected: Sequence[Conversation], log: Log) -> Summary:
    """Return the state of the selected conversations, according to the log."""
    missing = [lost for each in selected if (lost := _missing(each, log.replies, log.failures)) is not None]
    requests: Counter[str] = Counter()
    truncated: Counter[str] = Counter()
    limits: dict[str, int | None] = {}
    several = 0
    for conversation in selected:
        for step in conversation.steps:
            limits[step.stage] = step.settings.max_tokens
            reply = log.replies.get(conversation.key(step))
            if reply is not None:
                requests[step.stage] += 1
                truncated[step.stage] += reply.finish_reason == "length"
                several += reply.choices > 1
    return Summary(
        samples=len(selected),
        done=len(selected) - len(missing),
        missing=missing,
        truncated={stage: count for stage, count in truncated.items() if count},
        requests=dict(requests),
        limits=limits,
        identical=_identical(selected, log.replies),
        several_choices=several,
        usage=log.usage,
    )


def _missing(conversation: Conversation, replies: Mapping[Key, Kept], failures: Mapping[Key, Kept]) -> Missing | None:
    for step in conversation.steps:
        if conversation.key(step) in replies:
            continue
        failure = failures.get(conversation.key(step))
        reason, kind = (failure.error or "", failure.error_kind) if failure is not None else ("", "")
        return Missing(qid=conversation.qid, sample=conversation.sample, reason=reason, kind=kind)
    return None


def _identical(selected: Sequence[Conversation], replies: Mapping[Key, Kept]) -> int:
    """Count identical samples, which are a sign of an ignored seed or a cache."""
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for conversation in selected:
        for step in conversation.steps:
            reply = replies.get(conversation.key(step))
            sampled = (step.settings.temperature or 0.0) > 0
            if reply is not None and sampled and len(reply.content or "") >= _LONG_TEXT:
                seen[conversation.qid, step.stage][reply.content or ""] += 1
    return sum(count - 1 for texts in seen.values() for count in texts.values())
