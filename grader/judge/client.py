"""A judge behind any OpenAI-compatible endpoint: tries, back-off, a cache, threads, and an end to waiting."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Self, TypeAlias

import msgspec

from grader.errors import InfrastructureError
from grader.judge import JudgeQuestion, JudgeReply, JudgeUsage, refuse_duplicates
from grader.judge.cache import ReplyCache, cache_key
from grader.judge.endpoint import Endpoint, Failure, one_line
from grader.judge.line import Line
from grader.observer import Observer, Silent
from grader.results import JudgeProvenance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_GRACE_SECONDS = 0.5


_Jobs: TypeAlias = "queue.SimpleQueue[list[JudgeQuestion]]"
_Results: TypeAlias = "queue.SimpleQueue[tuple[str, JudgeReply] | Exception]"


class OpenAIJudge:
    """Asks a model through the `openai` SDK. Close it (or use `with`) after the last question.

    `base_url` None means OPENAI_BASE_URL, else OpenAI's own; `api_key` None means OPENAI_API_KEY, which only
    OpenAI's own endpoint must have. `timeout` bounds one request's silence, in seconds; `backoff` is the first
    wait after a failure and doubles. After `patience` consecutive failed requests over all threads, the last of
    which ended a question, nothing more is asked. After an interrupt the judge asks nothing more either.
    """

    def __init__(
        self,
        *,
        model: str,
        cache: ReplyCache | None,
        base_url: str | None = None,
        api_key: str | None = None,
        concurrency: int = 8,
        timeout: float = 60.0,
        tries: int = 3,
        backoff: float = 0.5,
        patience: int = 10,
        observer: Observer | None = None,
    ) -> None:
        self.model = model
        self._endpoint = Endpoint(model=model, base_url=base_url, api_key=api_key, timeout=timeout)
        self._line = Line(self._endpoint, backoff=backoff, patience=patience)
        self._cache = cache
        self._concurrency = max(1, concurrency)
        self._temperatures = [min(0.5 * number, 1.0) for number in range(max(1, tries))]
        self._observer = observer or Silent()
        self._asked = self._cached = self._failed = 0
        self._threads: list[threading.Thread] = []

    def __repr__(self) -> str:
        return f"OpenAIJudge(model={self.model!r}, endpoint={self.endpoint!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and the cache; after an interrupt, replies about to arrive are kept still."""
        self._line.halt("the judge is closed")
        deadline = time.monotonic() + _GRACE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._endpoint.close()
        if self._cache is not None:
            self._cache.close()

    @property
    def endpoint(self) -> str:
        """The endpoint's address without credentials and query."""
        return self._endpoint.name

    @property
    def usage(self) -> JudgeUsage:
        """What was asked so far."""
        return self._line.usage(cached=self._cached, failed=self._failed)

    def provenance(self) -> JudgeProvenance:
        """Return what a report says about this judge."""
        usage = msgspec.structs.asdict(self.usage)
        return JudgeProvenance(
            source="endpoint", model=self.model, endpoint=self.endpoint, questions=self._asked, **usage
        )

    def ask(self, questions: Sequence[JudgeQuestion]) -> dict[str, JudgeReply]:
        """Return a reply for every question, by qid.

        Raises `InfrastructureError` where no question can be answered (key refused, no such model).
        """
        refuse_duplicates(questions)
        if not questions:
            return {}
        replies = self._from_cache(questions)
        left = [question for question in questions if question.qid not in replies]
        self._observer.phase("judge", len(questions))
        self._observer.advance(len(replies))
        if left:
            self._endpoint.connect()
            self._ask_all(left, replies)
        self._conclude(replies)
        return {question.qid: replies[question.qid] for question in questions}

    def _conclude(self, replies: dict[str, JudgeReply]) -> None:
        self._asked += len(replies)
        self._cached += sum(reply.cached for reply in replies.values())
        self._failed += sum(reply.text is None for reply in replies.values())
        if self._cache is not None and self._cache.problem:
            self._observer.message(self._cache.problem)
        if self._endpoint.own_temperature:
            self._observer.message(f"{self.model} takes no temperature: it judged at its default one")
        if self._line.halted:
            unanswered = sum(reply.text is None for reply in replies.values())
            self._observer.message(f"{self._line.halted}; {unanswered} of {len(replies)} questions have no reply")

    def _from_cache(self, questions: Sequence[JudgeQuestion]) -> dict[str, JudgeReply]:
        if self._cache is None:
            return {}
        keys = {question.qid: self._key(question) for question in questions}
        found = self._cache.find(keys.values())
        return {
            question.qid: JudgeReply(text=text, cached=True)
            for question in questions
            if (text := found.get(keys[question.qid])) is not None and question.accept(text)
        }

    def _key(self, question: JudgeQuestion) -> bytes:
        return cache_key(self.endpoint, self.model, question.prompt)

    def _ask_all(self, questions: list[JudgeQuestion], replies: dict[str, JudgeReply]) -> None:
        """Fill in the replies; on any exception, an interrupt included, the threads are told to stop, not waited for.

        They are daemons: a request under way may take a minute, and Ctrl-C is not to take that long.
        """
        groups = _by_prompt(questions)
        jobs: _Jobs = queue.SimpleQueue()
        results: _Results = queue.SimpleQueue()
        for group in groups:
            jobs.put(group)
        self._threads = []
        threads = [
            threading.Thread(target=self._work, args=(jobs, results), name=f"judge-{number}", daemon=True)
            for number in range(min(self._concurrency, len(groups)))
        ]
        try:
            for thread in threads:
                thread.start()
                self._threads.append(thread)
            for _ in questions:
                qid, reply = _take(results)
                replies[qid] = reply
                self._observer.advance()
        except BaseException:
            self._line.halt("the judge was interrupted")
            raise
        for thread in self._threads:
            thread.join()

    def _work(self, jobs: _Jobs, results: _Results) -> None:
        try:
            while True:
                for result in self._answer_group(jobs.get_nowait()):
                    results.put(result)
        except queue.Empty:
            return
        except Exception as error:  # a thread's outermost edge: the calling thread raises it
            results.put(error)

    def _answer_group(self, group: list[JudgeQuestion]) -> Iterator[tuple[str, JudgeReply]]:
        """Answer questions of one prompt, one after the other, so that one reply serves all that can read it."""
        heard: str | None = None
        for question in group:
            if heard is not None and question.accept(heard):
                yield question.qid, JudgeReply(text=heard, cached=True)
                continue
            reply = self._answer(question)
            heard = reply.text or heard
            yield question.qid, reply

    def _answer(self, question: JudgeQuestion) -> JudgeReply:
        """Ask until a reply can be read; only such a reply is kept, and re-asking varies the temperature."""
        heard = ""
        for number, temperature in enumerate(self._temperatures, start=1):
            outcome = self._line.reach(question.prompt, temperature)
            if isinstance(outcome, Failure):
                if outcome.kind == "fatal":
                    raise InfrastructureError(outcome.reason)
                tries = number - (outcome.kind == "halted")
                return JudgeReply(text=None, tries=tries, error=outcome.reason, unreadable=heard)
            heard = outcome.text
            if heard.strip() and question.accept(heard):
                if self._cache is not None:
                    self._cache.keep(self._key(question), heard)
                return JudgeReply(text=heard, tries=number)
        error = f"no readable reply in {number} tries; the last was {one_line(heard, 120)!r}"
        return JudgeReply(text=None, tries=number, error=error, unreadable=heard)


def _take(results: _Results) -> tuple[str, JudgeReply]:
    result = results.get()
    if isinstance(result, Exception):
        raise result
    return result


def _by_prompt(questions: Sequence[JudgeQuestion]) -> list[list[JudgeQuestion]]:
    groups: dict[str, list[JudgeQuestion]] = {}
    for question in questions:
        groups.setdefault(question.prompt, []).append(question)
    return list(groups.values())
