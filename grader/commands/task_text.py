"""The text that `grade show` prints about a benchmark and its tasks."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.errors import GradeError, UsageError
from grader.grading import load_tasks
from grader.scorers import declarations

if TYPE_CHECKING:
    from grader.options import Options


def describe(options: Options) -> list[str]:
    """Return lines with a benchmark's settings, and the ids of its tasks if its data is available."""
    declared = declarations.load(options.benchmark)
    lines = [
        f"{declared.id}: {declared.name} ({declared.scoring})",
        f"splits: {', '.join(declared.splits)} (default {declared.default_split})",
        f"protocols: {', '.join(declared.protocols)} (default {declared.default_protocol})",
    ]
    try:
        _, tasks = load_tasks(options)
    except GradeError as error:
        return [*lines, f"{declared.unit}s: {error}"]
    return [*lines, f"{len(tasks)} {declared.unit}s:", *tasks]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The first request that a model gets for a task."""

    prompt: str
    image: bytes | None
    """The image as the data has it, or None."""
    stage: str
    stages: int
    """Number of requests for the task."""


def as_asked(options: Options, qid: str, mode: str) -> Asked:
    """Return the first request that `grade infer` sends for a task. Raises GradeError."""
    from grader.inference import session
    from grader.inference.options import InferOptions, ModelAt
    from grader.models.messages import images, plain_text

    asked = InferOptions(
        model=ModelAt(name="model"),
        output=Path("predictions.json"),
        benchmark=options.benchmark,
        split=options.split,
        protocol=options.protocol,
        data=options.data,
        ids=(qid,),
        mode=mode,
    )
    conversation = next(each for each in session.prepare(asked).selected if each.qid == qid)
    step = conversation.steps[0]
    messages = step.build({})
    shown = images(messages)
    return Asked(
        prompt=plain_text(messages),
        image=shown[0].data if shown else None,
        stage=step.stage,
        stages=len(conversation.steps),
    )


def show(options: Options, qid: str) -> list[tuple[str, str]]:
    """Return a task's columns as (name, text), without images. Raises UsageError if the task does not exist."""
    declared, tasks = load_tasks(options)
    if qid not in tasks:
        near = difflib.get_close_matches(qid, tasks, n=3)
        hint = f"Did you mean {', '.join(near)}?" if near else f"`grade show {options.benchmark}` lists the ids."
        raise UsageError(f"{declared.id} has no {declared.unit} {qid!r}. {hint}")
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
        for name, value in tasks[qid].row.items()
        if name != declared.columns.image and value not in (None, "")
    ]
