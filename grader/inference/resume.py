"""Resuming a run: checks that the replies in a log belong to the requests of the current command."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from grader.errors import UsageError
from grader.models.messages import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from grader.inference.log import Kept
    from grader.inference.plan import Conversation, Key, Plan, Step

_SHOWN = 3


def check(plan: Plan, replies: Mapping[Key, Kept], path: Path) -> None:
    """Raise UsageError, with the differences, if a log's replies are from other requests."""
    differences: dict[str, list[str]] = defaultdict(list)
    known = set()
    for conversation in plan.conversations:
        for step, reply, texts in walk(conversation, replies):
            known.add(conversation.key(step))
            for difference in _differences(plan, step, reply, texts) if reply is not None else ():
                differences[difference].append(conversation.qid)
    strangers = sorted(key for key in replies if key not in known)
    problems = [f"{what} ({_named(qids)})" for what, qids in differences.items()] + _strange(plan, strangers)
    if problems:
        listed = "\n".join(f"- {problem}" for problem in problems)
        raise UsageError(
            f"{path} has replies to other requests than those of this command:\n{listed}\n"
            "Give the same options as before, another -o, or --fresh to start over (the old files are kept)."
        )


def _differences(plan: Plan, step: Step, reply: Kept, texts: Mapping[str, str]) -> Iterator[str]:
    model = plan.models[step.role]
    if reply.model != model:
        yield f"model: {reply.model} in the file, {model} now"
    # Compare after a round trip through JSON, in which tuples become lists.
    now = msgspec.json.decode(msgspec.json.encode(step.recorded_settings()))
    for name in sorted(reply.settings.keys() | now.keys()):
        there, here = reply.settings.get(name), now.get(name)
        if there != here and name != "seed":
            yield f"{name.replace('_', '-')}: {_value(there)} in the file, {_value(here)} now"
        elif there != here:
            yield "seed: a different one in the file"
    if reply.prompt_sha256 != digest(step.build(texts)):
        yield "prompt: a different text or image was sent"


def _value(value: object) -> str:
    shown = "none" if value is None else str(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _strange(plan: Plan, strangers: list[Key]) -> list[str]:
    """Return problems for replies that belong to no request of this command."""
    qids = {conversation.qid for conversation in plan.conversations}
    samples = {conversation.sample for conversation in plan.conversations}
    other = [qid for qid, _, _ in strangers if qid not in qids]
    more = [qid for qid, sample, _ in strangers if qid in qids and sample not in samples]
    stages = [qid for qid, sample, _ in strangers if qid in qids and sample in samples]
    problems = [f"tasks that the data does not have ({_named(other)})"] if other else []
    most = max((sample + 1 for _, sample, _ in strangers), default=0)
    problems += [f"-n: up to {most} samples in the file, {len(samples)} now ({_named(more)})"] if more else []
    return problems + ([f"mode: different requests were sent ({_named(stages)})"] if stages else [])


def _named(qids: list[str]) -> str:
    distinct = list(dict.fromkeys(qids))
    more = f" and {len(distinct) - _SHOWN} more" if len(distinct) > _SHOWN else ""
    return ", ".join(distinct[:_SHOWN]) + more


def walk(conversation: Conversation, replies: Mapping[Key, Kept]) -> Iterator[tuple[Step, Kept | None, dict[str, str]]]:
    """Yield each step with its reply and the answers of the earlier steps by stage; end after one without a reply."""
    texts: dict[str, str] = {}
    for step in conversation.steps:
        reply = replies.get(conversation.key(step))
        if reply is None or reply.content is None:
            yield step, None, texts
            return
        yield step, reply, texts
        texts = texts | {step.stage: step.text(reply.content)}


def missing(conversation: Conversation, replies: Mapping[Key, Kept]) -> list[Step]:
    """Return the steps that have no reply yet."""
    return [step for step in conversation.steps if conversation.key(step) not in replies]
