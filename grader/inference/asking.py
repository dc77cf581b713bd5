"""Sending of the requests that a log does not have yet. Every reply is on disk before its slot is used again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.errors import InfrastructureError
from grader.models.workers import TroubleReporter, run_in_threads

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

    `coder`: the model for the steps that write code; None: `model` writes it, too. Raises InfrastructureError if the
    key is refused or replies cannot be written. What is logged stays, however the run ends; a run that stops early
    still waits for the requests under way.
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
                client = coder if step.by_coder and coder is not None else model
                record = client.ask(conversation.request(step, texts))
                # Without an attempt, there is nothing to log: the model had stopped, or was closed.
                if record.attempts:
                    log.append(record)
                yield record
            if record.content is None:
                return
            texts[step.stage] = step.text(record.content)

    pending = _pending(selected, log)
    if pending:
        for client in models:
            client.connect()
    observer.phase("requests", sum(len(log.missing(conversation)) for conversation in pending))
    reporter = TroubleReporter(models, observer)
    records = run_in_threads(converse, pending, concurrency, tick=reporter.report_if_due)
    try:
        for record in records:
            observer.advance(steps=1 if record.attempts else 0)
    except OSError as error:
        raise InfrastructureError(
            f"{log.path} could not be written: {error.strerror}. {resume_advice(selected, log)}"
        ) from error
    finally:
        records.close()
    return next((client.stopped for client in models if client.stopped), "")


def _pending(selected: Sequence[Conversation], log: Log) -> list[Conversation]:
    """Return the conversations to ask: those that failed before come last, the least recent failure first.

    After some failures in a row, a run stops. With these first, every run would stop before it has asked anything else.
    """
    failure_order = {(qid, sample): index for index, (qid, sample, _) in enumerate(log.failures)}
    pending = [conversation for conversation in selected if log.missing(conversation)]
    return sorted(pending, key=lambda conversation: failure_order.get((conversation.qid, conversation.sample), -1))


def resume_advice(selected: Sequence[Conversation], log: Log) -> str:
    """Return, for the error of a run whose files cannot be written, what is in its log, and what to do."""
    done = sum(not log.missing(conversation) for conversation in selected)
    missing = len(selected) - done
    remaining_work = (
        f"it asks only for the other {missing}" if missing else "it asks for nothing again and writes the predictions"
    )
    return (
        f"{done} of {len(selected)} samples are kept in {log.path}. Make room, and run the same command again: "
        f"{remaining_work}."
    )
