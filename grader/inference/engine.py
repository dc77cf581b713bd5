"""Sending of the requests that a log does not have yet. Every reply is on disk before its slot is used again."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Protocol

import msgspec

from grader import observer
from grader.errors import InfrastructureError
from grader.inference import log as records
from grader.inference.resume import missing
from grader.models.client import FirstRefusals, TroubleReporter
from grader.models.messages import Request
from grader.models.replies import Failure, Reply, Usage
from grader.models.workers import Workers
from grader.observer import Listener

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grader.inference.log import Log
    from grader.inference.plan import Conversation, Plan, Role, Step
    from grader.models.client import Client
    from grader.models.messages import Message
    from grader.models.replies import Outcome


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The progress of a run, in requests."""

    total: int
    """Number of requests of the whole run, including those of earlier runs."""
    before: int
    """Answered in earlier runs."""
    done: int = 0
    """Answered in this run."""
    failed: int = 0
    """Failed permanently in this run."""
    in_flight: int = 0
    waiting: int = 0
    """Failed, and waiting to be sent again."""
    usage: Usage = Usage()
    """Tokens of this run."""
    seconds: float = 0.0
    """Time since the run began."""

    @property
    def tokens_a_second(self) -> float:
        """Tokens that the model wrote per second."""
        return self.usage.completion_tokens / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated time until the end; None before the first reply."""
        finished = self.done + self.failed
        return self.seconds / finished * (self.total - self.before - finished) if finished else None


class Watcher(Listener, Protocol):
    """A receiver of a run's events, all from one thread."""

    def progress(self, progress: Progress) -> None:
        """Show the progress of the run; called about twice per second."""


class Silent(observer.Silent):
    """A watcher that ignores everything."""

    def progress(self, progress: Progress) -> None:
        """Ignore."""


TICK_SECONDS = 0.5
_CHARACTERS_A_TOKEN = 4
"""Used for an estimate if the server does not count tokens."""
_NOT_RECORDED = frozenset({"fatal", "exhausted", "halted"})
"""Failures that have nothing to do with the requested sample."""


class Engine:
    """One run of a plan.

    `max_total_tokens` is the budget of all requests in the log, including earlier runs. With `accept_empty`, an empty
    reply that the model ended itself is its answer.
    """

    def __init__(
        self,
        plan: Plan,
        log: Log,
        clients: Mapping[Role, Client],
        watcher: Watcher | None = None,
        *,
        max_total_tokens: int | None = None,
        accept_empty: bool = False,
    ) -> None:
        self._plan = plan
        self._log = log
        self._clients = clients
        self._max_total_tokens, self._accept_empty = max_total_tokens, accept_empty
        self._watcher = watcher or Silent()
        self._reporters = {role: TroubleReporter(_name(role), self._watcher.message) for role in clients}
        self._lock = threading.Lock()
        self._refusals = FirstRefusals()
        self._uncounted = 0
        self._done = self._failed = self._before = self._total = 0
        self._began = time.monotonic()

    def run(self, selected: Sequence[Conversation], *, concurrency: int) -> str:
        """Send the missing requests of the selected conversations; return why the run stopped early, or "".

        Raises InfrastructureError if replies cannot be written. An interrupt stops the sending at once; replies that
        arrive within the next moment are still written.
        """
        open_ = [each for each in selected if missing(each, self._log.replies)]
        self._total = sum(len(each.steps) for each in selected)
        self._before = self._total - sum(len(missing(each, self._log.replies)) for each in open_)
        self._connect(open_)
        self._began = time.monotonic()
        workers = Workers(self._converse, concurrency, "infer")
        try:
            self._show()
            for outcome in workers.run(self._ordered(open_), tick=self._show, seconds=TICK_SECONDS):
                self._count(outcome)
            self._show()
        except BaseException as error:
            self._halt("the run was interrupted")
            workers.join()
            if isinstance(error, OSError):
                raise InfrastructureError(
                    f"{self._log.path} could not be written: {error.strerror}. {what_is_kept(selected, self._log)}"
                ) from error
            raise
        return self._stopped()

    def _connect(self, open_: Sequence[Conversation]) -> None:
        roles = {step.role for each in open_ for step in missing(each, self._log.replies)}
        for role in sorted(roles):
            self._clients[role].connect()

    def _ordered(self, open_: Sequence[Conversation]) -> list[Conversation]:
        """Put conversations that failed before at the end, so that permanent failures do not delay the others."""
        failed = {(qid, sample) for qid, sample, _ in self._log.failures}
        return sorted(open_, key=lambda each: (each.qid, each.sample) in failed)

    def _converse(self, conversation: Conversation) -> Iterator[Outcome]:
        """Request the missing steps of one conversation, one after the other, in a worker thread."""
        texts: dict[str, str] = {}
        for step in conversation.steps:
            kept = self._log.replies.get(conversation.key(step))
            if kept is not None and kept.content is not None:
                texts[step.stage] = step.text(kept.content)
                continue
            if not self._may_spend():
                return
            messages = step.build(texts)
            outcome = self._accepted(self._clients[step.role].ask(Request(messages=messages, settings=step.settings)))
            self._keep(conversation, step, messages, outcome)
            yield outcome
            if isinstance(outcome, Failure):
                return
            texts[step.stage] = step.text(outcome.content)

    def _keep(self, conversation: Conversation, step: Step, messages: tuple[Message, ...], outcome: Outcome) -> None:
        if isinstance(outcome, Failure) and outcome.kind in _NOT_RECORDED:
            self._halt(outcome.reason)
            return
        model = self._plan.models[step.role]
        record = records.make(conversation, step, model, messages, outcome)
        self._log.append(record)
        if isinstance(outcome, Reply) and not outcome.usage.total:
            with self._lock:
                self._uncounted += len(record.prompt + outcome.content + outcome.reasoning) // _CHARACTERS_A_TOKEN
        if refused := self._refusals.note(outcome):
            self._halt(refused)

    def _accepted(self, outcome: Outcome) -> Outcome:
        """Convert an empty reply to an answer, if the user accepts empty replies."""
        ended = isinstance(outcome, Failure) and outcome.kind == "empty" and outcome.finish_reason == "stop"
        if not (self._accept_empty and ended):
            return outcome
        return Reply(
            content="",
            finish_reason="stop",
            usage=outcome.usage,
            attempts=outcome.attempts,
            seconds=outcome.seconds,
        )

    def _may_spend(self) -> bool:
        most, spent = self._max_total_tokens, self._log.usage.total + self._uncounted
        if most is None or spent < most:
            return True
        how = "estimated, because the server does not count them" if self._uncounted else "counted"
        self._halt(f"the budget of {most} tokens is spent ({spent} {how}); raise --max-total-tokens")
        return False

    def _halt(self, reason: str) -> None:
        for client in self._clients.values():
            client.pace.halt(reason)

    def _stopped(self) -> str:
        return next((client.pace.halted for client in self._clients.values() if client.pace.halted), "")

    def _count(self, outcome: Outcome) -> None:
        if isinstance(outcome, Reply):
            self._done += 1
        elif outcome.kind != "halted":
            self._failed += 1

    def _show(self) -> None:
        statuses = {role: client.status() for role, client in self._clients.items()}
        for role, status in statuses.items():
            self._reporters[role].look(status)
        self._watcher.progress(
            Progress(
                total=self._total,
                before=self._before,
                done=self._done,
                failed=self._failed,
                in_flight=sum(status.pace.in_flight for status in statuses.values()),
                waiting=sum(status.waiting for status in statuses.values()),
                usage=sum((status.usage for status in statuses.values()), Usage()),
                seconds=time.monotonic() - self._began,
            )
        )


def what_is_kept(selected: Sequence[Conversation], log: Log) -> str:
    """Return, for an error, what is kept of a run whose files cannot be written, and what to do."""
    done = sum(not missing(each, log.replies) for each in selected)
    left = len(selected) - done
    then = f"it asks only for the other {left}" if left else "it asks for nothing again and writes the predictions"
    return (
        f"{done} of {len(selected)} samples are kept in {log.path}. Make room, and run the same command again: {then}."
    )


def _name(role: Role) -> str:
    return {"model": "The model", "coder": "The coder model"}[role]
