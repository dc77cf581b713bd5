"""Sending of the requests that a log does not have yet. Every reply is on disk before its slot is used again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.errors import InfrastructureError
from grader.models.workers import TroubleReporter, in_threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.inference.log import Log
    from grader.inference.plan import Conversation
    from grader.models.model import Model, RequestRecord
    from grader.observer import Observer


def ask_all(
    selected: Sequence[Conversation],
    log: Log,
    model: Model,
    coder: Model | None,
    *,
    concurrency: int,
    observer: Observer,
) -> str:
    """Send the missing requests of the selected conversations; return why the run stopped early, or "".

    Raises InfrastructureError if the key is refused or replies cannot be written. What is logged stays, however the run
    ends; a run that stops early still waits for the requests under way.
    """
    models = [model] if coder is None else [model, coder]

    def converse(conversation: Conversation) -> Iterator[RequestRecord]:
        """Ask the missing steps of one conversation, one after the other, in a worker thread."""
        texts: dict[str, str] = {}
        for step in conversation.steps:
            key = conversation.key(step)
            if key in log:
                record = log.reply(key)
            else:
                asked = coder if step.by_coder and coder is not None else model
                record = asked.ask(conversation.request(step, texts))
                if record.attempts:
                    log.append(record)
                yield record
            if record.content is None:
                return
            texts[step.stage] = step.text(record.content)

    left = _ordered(selected, log)
    if left:
        for each in models:
            each.connect()
    observer.phase("requests", sum(len(log.missing(each)) for each in left))
    trouble = TroubleReporter(models, observer)
    records = in_threads(converse, left, concurrency, tick=trouble.look)
    try:
        for record in records:
            observer.advance(steps=record.attempts > 0)
    except OSError as error:
        raise InfrastructureError(
            f"{log.path} could not be written: {error.strerror}. {what_is_kept(selected, log)}"
        ) from error
    finally:
        records.close()
    return next((each.stopped for each in models if each.stopped), "")


def _ordered(selected: Sequence[Conversation], log: Log) -> list[Conversation]:
    """Return the conversations to ask: those that failed before come last, the least recent failure first."""
    failed = {(qid, sample): number for number, (qid, sample, _) in enumerate(log.failures)}
    left = [each for each in selected if log.missing(each)]
    return sorted(left, key=lambda each: failed.get((each.qid, each.sample), -1))


def what_is_kept(selected: Sequence[Conversation], log: Log) -> str:
    """Return, for an error, what is kept of a run whose files cannot be written, and what to do."""
    done = sum(not log.missing(each) for each in selected)
    left = len(selected) - done
    then = f"it asks only for the other {left}" if left else "it asks for nothing again and writes the predictions"
    return (
        f"{done} of {len(selected)} samples are kept in {log.path}. Make room, and run the same command again: {then}."
    )
