"""Asks what a log does not have yet, and keeps every reply before its slot is used again."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InfrastructureError
from grader.inference import record as records
from grader.inference.events import Progress, Silent, Watcher
from grader.inference.resume import missing
from grader.models.endpoint import Request
from grader.models.replies import Failure, Reply, Usage
from grader.models.trouble import TroubleReporter
from grader.models.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grader.inference.log import Log
    from grader.inference.plan import Conversation, Plan, Role, Step
    from grader.models.client import Client
    from grader.models.messages import Message
    from grader.models.replies import Outcome

TICK_SECONDS = 0.5
FIRST_REFUSED = 10
"""Requests refused with HTTP 400 from the start, without any reply, after which a run stops."""
_CHARACTERS_A_TOKEN = 4
"""For servers that do not count tokens."""
_NOT_RECORDED = frozenset({"fatal", "exhausted", "halted"})
"""Failures that say nothing about the sample that was asked for."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When a run stops by itself, and what it takes for an answer."""

    max_total_tokens: int | None = None
    """Of all requests in the log, earlier runs included."""
    accept_empty: bool = False
    """An empty reply that the model ended itself is its answer."""


class Engine:
    """One run over a plan. `run` returns when everything is asked, or why it stopped before."""

    def __init__(
        self,
        plan: Plan,
        log: Log,
        clients: Mapping[Role, Client],
        limits: Limits | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        self._plan = plan
        self._log = log
        self._clients = clients
        self._limits = limits or Limits()
        self._watcher = watcher or Silent()
        self._reporters = {role: TroubleReporter(_name(role), self._watcher.message) for role in clients}
        self._lock = threading.Lock()
        self._refused = self._uncounted = 0
        self._done = self._failed = self._before = self._total = 0
        self._began = time.monotonic()

    def run(self, selected: Sequence[Conversation], *, concurrency: int) -> str:
        """Ask what is missing of the selected conversations; return why the run stopped before its end, or "".

        Raises InfrastructureError where replies cannot be written. An interrupt stops the asking at once; replies
        that come in the next moment are kept still.
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
                    f"{self._log.path} could not be written: {error.strerror}. Make room, and run the same command "
                    "again: it goes on where this one stopped."
                ) from error
            raise
        return self._stopped()

    def _connect(self, open_: Sequence[Conversation]) -> None:
        roles = {step.role for each in open_ for step in missing(each, self._log.replies)}
        for role in sorted(roles):
            self._clients[role].connect()

    def _ordered(self, open_: Sequence[Conversation]) -> list[Conversation]:
        """Put what failed before last: requests that always fail must not keep the others from being asked."""
        failed = {(qid, sample) for qid, sample, _ in self._log.failures}
        return sorted(open_, key=lambda each: (each.qid, each.sample) in failed)

    def _converse(self, conversation: Conversation) -> Iterator[Outcome]:
        """Ask the missing steps of one conversation, one after the other; runs in a worker thread."""
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
        self._consider_refusals(outcome)

    def _accepted(self, outcome: Outcome) -> Outcome:
        """Take an empty reply for an answer where that was asked for."""
        ended = isinstance(outcome, Failure) and outcome.kind == "empty" and outcome.finish_reason == "stop"
        if not (self._limits.accept_empty and ended):
            return outcome
        return Reply(
            content="",
            finish_reason="stop",
            usage=outcome.usage,
            attempts=outcome.attempts,
            seconds=outcome.seconds,
        )

    def _consider_refusals(self, outcome: Outcome) -> None:
        """Stop where all of the first requests are refused: then it is no single sample's fault."""
        with self._lock:
            if isinstance(outcome, Reply):
                self._refused = -1
            elif outcome.kind == "refused" and self._refused >= 0:
                self._refused += 1
            stop = self._refused >= FIRST_REFUSED
        if stop and isinstance(outcome, Failure):
            self._halt(f"the first {FIRST_REFUSED} requests were all refused, the last: {outcome.reason}")

    def _may_spend(self) -> bool:
        most, spent = self._limits.max_total_tokens, self._log.usage.total + self._uncounted
        if most is None or spent < most:
            return True
        how = "estimated, as the server does not count them" if self._uncounted else "counted"
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


def _name(role: Role) -> str:
    return {"model": "The model", "coder": "The coder model"}[role]
