"""A judge on an OpenAI-compatible server, with repeated tries for a readable reply and a cache of replies."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, Self

import msgspec

from grader import resources
from grader.files.compact_json import without_surrogates
from grader.files.key_value import KeyValueFile
from grader.judge import JudgeQuestion, JudgeReply, refuse_duplicates
from grader.models.messages import user
from grader.models.model import RETRIES, Model, Request, Server, one_line
from grader.models.replies import split_reasoning
from grader.models.workers import TroubleReporter, run_in_threads
from grader.observer import Observer, Silent
from grader.results import JudgeProvenance
from grader.results.groups import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path


def default_path() -> Path:
    """Return the path of the user's judge cache."""
    return resources.cache_folder() / "judge-2.sqlite3"


def cache_key(endpoint: str, model: str, prompt: str) -> bytes:
    """Return the key of a reply: a digest, so that the file contains no prompts."""
    fields = list(map(without_surrogates, (endpoint, model, prompt)))
    return hashlib.sha256(msgspec.json.encode(fields)).digest()


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
        self.store([(key, text.encode("utf-8", errors="replace"))])


DEFAULT_CONCURRENCY = 8
TIMEOUT = 300.0
"""Seconds of one attempt. A judge that reasons takes minutes; one that hangs is given up after a few of them."""
TEMPERATURES = (0.0, 0.5, 1.0)
"""After an unreadable or empty reply, the question is asked again with the next one."""

_REPLY_LIMIT = 100_000
"""Characters of a reply that are read."""


class OpenAIJudge:
    """A judge that uses the `openai` SDK. Close it (or use `with`) after the last question.

    `base_url` None means OPENAI_BASE_URL, else OpenAI's own URL; `api_key` None means OPENAI_API_KEY, which only
    OpenAI's own server requires. `retries`: of the SDK, for each reply. After an interrupt, the judge sends
    no more requests.
    """

    def __init__(
        self,
        *,
        model: str,
        cache: ReplyCache | None,
        base_url: str | None = None,
        api_key: str | None = None,
        concurrency: int = DEFAULT_CONCURRENCY,
        retries: int = RETRIES,
        observer: Observer | None = None,
    ) -> None:
        self.model = model
        server = Server(
            model=model,
            base_url=base_url,
            api_key=api_key,
            timeout=TIMEOUT,
            can_go_without_temperature=True,
            subject="The judge",
            address_option="--judge-base-url",
            alternative_advice=", or grade without a judge, or with --judge-replies FILE",
        )
        self._server = Model(server, retries=retries)
        self._cache = cache
        self._concurrency = max(1, concurrency)
        self._observer = observer or Silent()
        self._cost = JudgeProvenance(source="endpoint", model=model, endpoint=self._server.address)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"OpenAIJudge(model={self.model!r}, endpoint={self.endpoint!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Send nothing more, and close the connections and the cache."""
        self._server.close()
        if self._cache is not None:
            self._cache.close()

    @property
    def endpoint(self) -> str:
        """The server's address without credentials and query."""
        return self._server.address

    def provenance(self) -> JudgeProvenance:
        """Return the provenance of this judge for a report, with its cost so far."""
        return self._cost

    def ask(self, questions: Sequence[JudgeQuestion]) -> dict[str, JudgeReply]:
        """Return a reply for every question, by qid.

        Raises `InfrastructureError` if the key is refused.
        """
        refuse_duplicates(questions)
        if not questions:
            return {}
        replies = self._from_cache(questions)
        missing = [question for question in questions if question.qid not in replies]
        self._observer.phase("judge", len(questions))
        self._observer.advance(len(replies))
        if missing:
            self._server.connect()
            self._ask_all(missing, replies)
        self._report_cost(replies)
        return {question.qid: replies[question.qid] for question in questions}

    def _report_cost(self, replies: dict[str, JudgeReply]) -> None:
        """Add the replies of one call to the cost, and tell the observer what went wrong."""
        stopped = self._server.stopped
        errors = [reply.error for reply in replies.values() if reply.text is None]
        self._add_to_cost(
            questions=len(replies),
            cached=sum(reply.cached for reply in replies.values()),
            failed=len(errors),
            unreadable=sum(reply.error.startswith(_NOT_READABLE) for reply in replies.values()),
        )
        if errors:
            self._cost = msgspec.structs.replace(self._cost, last_error=stopped or errors[-1])
        if self._cache is not None and self._cache.problem:
            self._observer.message(self._cache.problem)
        if self._server.has_no_temperature:
            self._observer.message(f"{self.model} accepts no temperature: it judged at its default temperature")
        if stopped:
            self._observer.warning(f"{stopped}; {len(errors)} of {len(replies)} questions have no reply")

    def _add_to_cost(self, **counts: int) -> None:
        """Add to the cost; called from several threads."""
        with self._lock:
            sums = {name: getattr(self._cost, name) + count for name, count in counts.items()}
            self._cost = msgspec.structs.replace(self._cost, **sums)

    def _from_cache(self, questions: Sequence[JudgeQuestion]) -> dict[str, JudgeReply]:
        """Return the cached replies that are readable for their questions, by qid."""
        if self._cache is None:
            return {}
        keys = {question.qid: self._key(question) for question in questions}
        texts = self._cache.replies(keys.values())
        return {
            question.qid: JudgeReply(text=text, cached=True)
            for question in questions
            if (text := texts.get(keys[question.qid])) is not None and question.accept(text)
        }

    def _key(self, question: JudgeQuestion) -> bytes:
        return cache_key(self.endpoint, self.model, question.prompt)

    def _ask_all(self, questions: list[JudgeQuestion], replies: dict[str, JudgeReply]) -> None:
        """Fill in the replies."""
        groups = list(grouped(questions, lambda question: question.prompt).values())
        reporter = TroubleReporter([self._server], self._observer)
        for qid, reply in run_in_threads(self._answer_group, groups, self._concurrency, tick=reporter.report_if_due):
            replies[qid] = reply
            self._observer.advance()

    def _answer_group(self, group: list[JudgeQuestion]) -> Iterator[tuple[str, JudgeReply]]:
        """Answer questions with the same prompt one after the other; a reply is reused if it is readable for them."""
        last_text: str | None = None
        for question in group:
            if last_text is not None and question.accept(last_text):
                yield question.qid, JudgeReply(text=last_text, cached=True)
                continue
            reply = self._answer(question)
            last_text = reply.text or last_text
            yield question.qid, reply

    def _answer(self, question: JudgeQuestion) -> JudgeReply:
        """Ask, with varying temperature, until a reply is readable; only a readable reply is stored."""
        last_text, why = "", ""
        for temperature in TEMPERATURES:
            request = Request(
                qid=question.qid, messages=(user(question.prompt),), settings={"temperature": temperature}
            )
            record = self._server.ask(request)
            self._add_to_cost(
                calls=record.attempts,
                prompt_tokens=record.usage.prompt_tokens,
                completion_tokens=record.usage.completion_tokens,
            )
            # `Model` has repeated a failed request itself. Only a completion without an answer is asked for again.
            has_failed = record.content is None and not record.finish_reason
            if has_failed:
                return JudgeReply(text=None, error=record.error or "", unreadable=last_text or None)
            last_text = split_reasoning(record.content or "")[0][:_REPLY_LIMIT]
            why = f"the last was {one_line(last_text, 120)!r}" if last_text else f"the last time, {record.error}"
            if last_text.strip() and question.accept(last_text):
                if self._cache is not None:
                    self._cache.keep_reply(self._key(question), last_text)
                return JudgeReply(text=last_text)
        error = f"{_NOT_READABLE} in {len(TEMPERATURES)} tries; {why}"
        return JudgeReply(text=None, error=error, unreadable=last_text or None)


_NOT_READABLE = "no readable reply"
