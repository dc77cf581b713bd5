"""A judge on an OpenAI-compatible server, with repeated tries for a readable reply and a cache of replies."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, Self

import msgspec

from grader import resources
from grader.errors import InfrastructureError
from grader.files.key_value import KeyValueFile
from grader.judge import JudgeQuestion, JudgeReply, refuse_duplicates
from grader.models.client import Client, FirstRefusals, Patience, TroubleReporter
from grader.models.endpoint import Server, Wording, one_line
from grader.models.messages import Request, Settings, user
from grader.models.replies import Failure, Reply, split_reasoning
from grader.models.workers import Workers
from grader.observer import Observer, Silent
from grader.results import JudgeProvenance, grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path


def default_path() -> Path:
    """Return the path of the user's judge cache."""
    return resources.cache_folder() / "judge-2.sqlite3"


def cache_key(endpoint: str, model: str, prompt: str) -> bytes:
    """Return the key of a reply: a digest, so that the file contains no prompts."""
    fields = (part.encode("utf-8", errors="replace").decode() for part in (endpoint, model, prompt))
    return hashlib.sha256(msgspec.json.encode(list(fields))).digest()


class ReplyCache(KeyValueFile):
    """A file of replies, safe for several threads and processes at once."""

    path: Path

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(path or default_path(), "judge's cache")

    def replies(self, keys: Iterable[bytes]) -> dict[bytes, str]:
        """Return the stored replies of the keys that have one."""
        return {key: value.decode() for key, value in self.find(keys).items()}

    def keep_reply(self, key: bytes, text: str) -> None:
        """Store a reply on disk at once, so that an interrupted run loses no replies."""
        self.keep([(key, text.encode("utf-8", errors="replace"))])


DEFAULT_CONCURRENCY = 8
DEFAULT_TIMEOUT = 300.0
"""A judge that reasons takes minutes for a question; one that hangs is given up after a few of them."""

_REPLY_LIMIT = 100_000
_WORDING = Wording(
    who="The judge",
    model_option="--judge-model",
    address_option="--judge-base-url",
    otherwise=", or grade without a judge, or with --judge-replies FILE",
)


class OpenAIJudge:
    """A judge that uses the `openai` SDK. Close it (or use `with`) after the last question.

    `base_url` None means OPENAI_BASE_URL, else OpenAI's own URL; `api_key` None means OPENAI_API_KEY, which only
    OpenAI's own server requires. `timeout`: maximum duration of one request, in seconds. `tries`: maximum number of
    replies requested until one is readable. `patience`: how long to wait for a failing server. After an interrupt, the
    judge sends no more requests.
    """

    def __init__(
        self,
        *,
        model: str,
        cache: ReplyCache | None,
        base_url: str | None = None,
        api_key: str | None = None,
        concurrency: int = DEFAULT_CONCURRENCY,
        timeout: float = DEFAULT_TIMEOUT,
        tries: int = 3,
        patience: Patience | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.model = model
        server = Server(
            model=model,
            base_url=base_url,
            api_key=api_key,
            timeout=timeout,
            optional=frozenset({"temperature"}),
        )
        # After an unreadable or empty reply, the question is asked again with another temperature.
        patience = msgspec.structs.replace(patience or Patience(), empty_attempts=1)
        self._client = Client(server, _WORDING, concurrency=concurrency, patience=patience)
        self._cache = cache
        self._concurrency = max(1, concurrency)
        self._temperatures = [min(0.5 * number, 1.0) for number in range(max(1, tries))]
        self._observer = observer or Silent()
        self._trouble = TroubleReporter("The judge", self._observer.message)
        self._asked = self._cached = self._failed = 0
        self._lock = threading.Lock()
        self._unreadable = 0
        self._refusals = FirstRefusals()
        self._last_error = ""
        self._workers: Workers[list[JudgeQuestion], tuple[str, JudgeReply]] | None = None

    def __repr__(self) -> str:
        return f"OpenAIJudge(model={self.model!r}, endpoint={self.endpoint!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and the cache. After an interrupt, replies that arrive soon are still stored."""
        self._client.pace.halt("the judge is closed")
        if self._workers is not None:
            self._workers.join()
        self._client.close()
        if self._cache is not None:
            self._cache.close()

    @property
    def endpoint(self) -> str:
        """The server's address without credentials and query."""
        return self._client.endpoint.name

    def provenance(self) -> JudgeProvenance:
        """Return the provenance of this judge for a report, with its cost so far."""
        status = self._client.status()
        return JudgeProvenance(
            source="endpoint",
            model=self.model,
            endpoint=self.endpoint,
            questions=self._asked,
            calls=status.calls,
            cached=self._cached,
            failed=self._failed,
            unreadable=self._unreadable,
            last_error=self._last_error,
            prompt_tokens=status.usage.prompt_tokens,
            completion_tokens=status.usage.completion_tokens,
        )

    def ask(self, questions: Sequence[JudgeQuestion]) -> dict[str, JudgeReply]:
        """Return a reply for every question, by qid.

        Raises `InfrastructureError` if no question can be answered (key refused, unknown model).
        """
        refuse_duplicates(questions)
        if not questions:
            return {}
        replies = self._from_cache(questions)
        left = [question for question in questions if question.qid not in replies]
        self._observer.phase("judge", len(questions))
        self._observer.advance(len(replies))
        if left:
            self._client.connect()
            self._ask_all(left, replies)
        self._conclude(replies)
        return {question.qid: replies[question.qid] for question in questions}

    def _conclude(self, replies: dict[str, JudgeReply]) -> None:
        self._asked += len(replies)
        self._cached += sum(reply.cached for reply in replies.values())
        errors = [reply.error for reply in replies.values() if reply.text is None]
        self._failed += len(errors)
        if errors:
            self._last_error = self._client.pace.halted or errors[-1]
        if self._cache is not None and self._cache.problem:
            self._observer.message(self._cache.problem)
        if "temperature" in self._client.endpoint.left_out:
            self._observer.message(f"{self.model} accepts no temperature: it judged at its default temperature")
        if self._client.pace.halted:
            self._observer.warning(
                f"{self._client.pace.halted}; {len(errors)} of {len(replies)} questions have no reply"
            )

    def _from_cache(self, questions: Sequence[JudgeQuestion]) -> dict[str, JudgeReply]:
        if self._cache is None:
            return {}
        keys = {question.qid: self._key(question) for question in questions}
        found = self._cache.replies(keys.values())
        return {
            question.qid: JudgeReply(text=text, cached=True)
            for question in questions
            if (text := found.get(keys[question.qid])) is not None and question.accept(text)
        }

    def _key(self, question: JudgeQuestion) -> bytes:
        return cache_key(self.endpoint, self.model, question.prompt)

    def _ask_all(self, questions: list[JudgeQuestion], replies: dict[str, JudgeReply]) -> None:
        """Fill in the replies. After any exception, the threads are told to stop, without waiting for them."""
        self._workers = Workers(self._answer_group, self._concurrency, "judge")
        try:
            alike = list(grouped(questions, lambda question: question.prompt).values())
            for qid, reply in self._workers.run(alike, tick=self._tick):
                replies[qid] = reply
                self._observer.advance()
        except BaseException:
            self._client.pace.halt("the judge was interrupted")
            raise

    def _tick(self) -> None:
        self._trouble.look(self._client.status())

    def _answer_group(self, group: list[JudgeQuestion]) -> Iterator[tuple[str, JudgeReply]]:
        """Answer questions with the same prompt one after the other; a reply is reused if it is readable for them."""
        heard: str | None = None
        for question in group:
            if heard is not None and question.accept(heard):
                yield question.qid, JudgeReply(text=heard, cached=True)
                continue
            reply = self._answer(question)
            heard = reply.text or heard
            yield question.qid, reply

    def _answer(self, question: JudgeQuestion) -> JudgeReply:
        """Ask, with varying temperature, until a reply is readable; only a readable reply is stored."""
        heard, why = "", ""
        for number, temperature in enumerate(self._temperatures, start=1):
            outcome = self._client.ask(self._request(question, temperature))
            if refused := self._refusals.note(outcome):
                self._client.pace.halt(refused)
            if isinstance(outcome, Reply):
                heard = split_reasoning(outcome.content)[0][:_REPLY_LIMIT]
                why = f"the last was {one_line(heard, 120)!r}"
            elif outcome.kind in {"empty", "reasoning_only", "filtered"}:
                heard, why = "", _advice(outcome)
            else:
                return self._unanswered(outcome, number, heard)
            if heard.strip() and question.accept(heard):
                if self._cache is not None:
                    self._cache.keep_reply(self._key(question), heard)
                return JudgeReply(text=heard, tries=number)
        with self._lock:
            self._unreadable += 1
        error = f"no readable reply in {number} tries; {why}"
        return JudgeReply(text=None, tries=number, error=error, unreadable=heard or None)

    def _request(self, question: JudgeQuestion, temperature: float) -> Request:
        return Request(messages=(user(question.prompt),), settings=Settings(temperature=temperature))

    def _unanswered(self, failure: Failure, number: int, heard: str) -> JudgeReply:
        if failure.kind == "fatal":
            raise InfrastructureError(failure.reason)
        tries = number - (failure.kind == "halted")
        return JudgeReply(text=None, tries=tries, error=failure.reason, unreadable=heard or None)


def _advice(failure: Failure) -> str:
    said = f"the last time {failure.reason}"
    if failure.finish_reason != "length":
        return said
    if failure.kind == "reasoning_only":
        return f"{said} of the judge's server, which is too low"
    return f"{said}, because the token limit of the judge's server is too low"
