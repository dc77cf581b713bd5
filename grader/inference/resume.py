"""Resuming a run: checks that the replies in a log belong to the requests of the current command."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from grader.errors import UsageError
from grader.inference.output import PER_SAMPLE_SETTINGS
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.inference.log import Log
    from grader.inference.plan import Conversation, Plan
    from grader.models.model import RequestRecord

_MAX_LISTED_IDS = 3
_MAX_VALUE_CHARS = 60


class ResumeCheck:
    """Compares the replies in a log, one by one, with the requests of a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._planned = {(conversation.qid, conversation.sample): conversation for conversation in plan.conversations}
        self._qids = {conversation.qid for conversation in plan.conversations}
        self._sample_count = 1 + max((conversation.sample for conversation in plan.conversations), default=-1)
        self._differences: dict[str, list[str]] = defaultdict(list)
        """A difference in words -> the ids of the replies that have it."""

    def compare(self, log: Log, reply: RequestRecord) -> None:
        """Compare one reply."""
        for difference in self._differences_of(log, reply):
            self._differences[difference].append(reply.qid)

    def raise_differences(self, path: Path) -> None:
        """Raise UsageError, with the differences, if replies are from other requests."""
        if not self._differences:
            return
        lines = "\n".join(f"- {difference} ({_id_list(qids)})" for difference, qids in self._differences.items())
        raise UsageError(
            f"{path} has replies to other requests than those of this command:\n{lines}\n"
            "Give the same options as before, another -o, or --fresh to start over (the old files are kept)."
        )

    def _differences_of(self, log: Log, reply: RequestRecord) -> Iterator[str]:
        """Yield why a reply belongs to no request of the plan, or how its request differs from what was sent."""
        conversation = self._planned.get((reply.qid, reply.sample))
        if reply.qid not in self._qids:
            yield "tasks that the data does not have"
        elif conversation is None:
            yield f"-n: more than {counted(self._sample_count, 'sample')} a task"
        elif all(step.stage != reply.stage for step in conversation.steps):
            yield "mode: different requests were sent"
        else:
            yield from self._differences_from_request(log, reply, conversation)

    def _differences_from_request(self, log: Log, reply: RequestRecord, conversation: Conversation) -> Iterator[str]:
        """Yield how the request of a reply differs from the planned one, which is built from the replies before it."""
        texts: dict[str, str] = {}
        stages = [step.stage for step in conversation.steps]
        *earlier_steps, step = conversation.steps[: stages.index(reply.stage) + 1]
        for earlier in earlier_steps:
            key = conversation.key(earlier)
            if key not in log:
                yield f"{earlier.stage}: its line is gone, but not the {reply.stage} that was made from it"
                return
            texts[earlier.stage] = earlier.text(log.reply(key).content or "")
        request, model = conversation.request(step, texts), self._plan.model_of(step)
        if reply.model != model:
            yield f"model: {reply.model} in the file, {model} now"
        yield from _setting_differences(reply, request.recorded_settings())
        if reply.prompt != request.prompt():
            yield "prompt: a different text was sent"


def _setting_differences(reply: RequestRecord, planned: dict[str, object]) -> Iterator[str]:
    """Yield the settings in which a reply and the planned request differ."""
    # Compare after a round trip through JSON, in which tuples become lists.
    planned = msgspec.json.decode(msgspec.json.encode(planned))
    for name in sorted(reply.settings.keys() | planned.keys()):
        logged_value, planned_value = reply.settings.get(name), planned.get(name)
        if logged_value == planned_value:
            continue
        # Every sample has a seed of its own, and every task its images: values of one would mislead.
        is_per_sample = name in PER_SAMPLE_SETTINGS and logged_value is not None and planned_value is not None
        values = f"{_value_text(logged_value)} in the file, {_value_text(planned_value)} now"
        yield f"{name}: {'different ones' if is_per_sample else values}"


def _value_text(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[: _MAX_VALUE_CHARS - 3]}..."


def _id_list(qids: list[str]) -> str:
    distinct = list(dict.fromkeys(qids))
    more = f" and {len(distinct) - _MAX_LISTED_IDS} more" if len(distinct) > _MAX_LISTED_IDS else ""
    return ", ".join(distinct[:_MAX_LISTED_IDS]) + more
