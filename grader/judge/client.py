"""A judge behind any OpenAI-compatible endpoint: tries, back-off, a cache, threads, and an end to waiting."""

from __future__ import annotations

import email.utils
import itertools
import math
import os
import queue
import random
import re
import threading
import time
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias
from urllib.parse import urlsplit

import msgspec

from grader.errors import InfrastructureError, UsageError
from grader.judge import JudgeQuestion, JudgeReply, JudgeUsage, refuse_duplicates
from grader.judge.cache import ReplyCache, cache_key
from grader.observer import Observer, Silent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import openai

KEY_VARIABLE = "OPENAI_API_KEY"
OPENAI_URL = "https://api.openai.com/v1"

_PLACEHOLDER_KEY = "no-key"
_ATTEMPTS = {"down": 5, "busy": 9}
"""Requests for one reply before giving up: with the default back-off 7 s of failures, a minute and a half of 429s."""
_LONGEST_BACKOFF = 30.0
_LONGEST_WAIT = 120.0
"""An endpoint that asks for more than this is not waited for."""
_CONNECT_SECONDS = 10.0
_GRACE_SECONDS = 0.5
_REPLY_LIMIT = 100_000


class _Completion(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    prompt_tokens: int
    completion_tokens: int


class _Failure(msgspec.Struct, frozen=True, kw_only=True):
    kind: Literal["again", "busy", "down", "refused", "exhausted", "fatal", "halted"]
    """Ask otherwise; ask later; no sensible reply; wrong question; no credit; no question can be right; not asked."""
    reason: str
    wait: float = 0.0
    """Seconds that the endpoint asked for."""


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Body(msgspec.Struct):
    """What is read of a chat completion; everything else in it is ignored."""

    choices: list[_Choice]
    usage: Any = None


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
        self._endpoint = _Endpoint(model=model, base_url=base_url, api_key=api_key, timeout=timeout)
        self._line = _Line(self._endpoint, backoff=backoff, patience=patience)
        self._cache = cache
        self._concurrency = max(1, concurrency)
        self._temperatures = [min(0.5 * number, 1.0) for number in range(max(1, tries))]
        self._observer = observer or Silent()
        self._cached = self._failed = 0
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

    def environment(self) -> dict[str, object]:
        """Return what a report says about this judge."""
        return {"model": self.model, "endpoint": self.endpoint, **msgspec.to_builtins(self.usage)}

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
            if isinstance(outcome, _Failure):
                if outcome.kind == "fatal":
                    raise InfrastructureError(outcome.reason)
                tries = number - (outcome.kind == "halted")
                return JudgeReply(text=None, tries=tries, error=outcome.reason, unreadable=heard)
            heard = outcome.text
            if heard.strip() and question.accept(heard):
                if self._cache is not None:
                    self._cache.keep(self._key(question), heard)
                return JudgeReply(text=heard, tries=number)
        error = f"no readable reply in {number} tries; the last was {_one_line(heard, 120)!r}"
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


class _Line:
    """The line to one endpoint, shared by the threads: repeats, waits, counts, and hangs up for good."""

    def __init__(self, endpoint: _Endpoint, *, backoff: float, patience: int) -> None:
        self._endpoint = endpoint
        self._backoff = backoff
        self._patience = patience
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._calls = self._prompt_tokens = self._completion_tokens = 0
        self._failures = 0
        self._resume_at = 0.0
        self.halted = ""
        """Why nothing more is asked; empty while something is."""

    def usage(self, *, cached: int, failed: int) -> JudgeUsage:
        with self._lock:
            return JudgeUsage(
                calls=self._calls,
                cached=cached,
                failed=failed,
                prompt_tokens=self._prompt_tokens,
                completion_tokens=self._completion_tokens,
            )

    def halt(self, reason: str) -> None:
        """Ask nothing more and end every wait; the first reason stays."""
        with self._lock:
            self.halted = self.halted or reason
        self._stop.set()

    def reach(self, prompt: str, temperature: float) -> _Completion | _Failure:
        """Return a completion, or why there is none after as many attempts as the kind of failure deserves."""
        for attempt in itertools.count(1):
            self._wait_for_resumption()
            if self._stop.is_set():
                return _Failure(kind="halted", reason=self.halted)
            outcome = self._endpoint.post(prompt, temperature)
            self._count(outcome)
            if isinstance(outcome, _Completion):
                return outcome
            if outcome.kind == "again":
                continue
            if attempt >= _ATTEMPTS.get(outcome.kind, 1) or outcome.wait > _LONGEST_WAIT:
                return self._give_up(outcome, attempt)
            self._stop.wait(self._pause(attempt))
        raise AssertionError("unreachable")

    def _count(self, outcome: _Completion | _Failure) -> None:
        with self._lock:
            self._calls += 1
            if isinstance(outcome, _Completion):
                self._prompt_tokens += outcome.prompt_tokens
                self._completion_tokens += outcome.completion_tokens
            troubled = isinstance(outcome, _Failure) and outcome.kind in _ATTEMPTS
            self._failures = self._failures + 1 if troubled else 0
            if isinstance(outcome, _Failure) and outcome.wait <= _LONGEST_WAIT:
                self._resume_at = max(self._resume_at, time.monotonic() + outcome.wait)

    def _give_up(self, failure: _Failure, attempts: int) -> _Failure:
        reason = failure.reason
        if attempts > 1:
            reason += f" ({attempts} attempts)"
        if failure.wait > _LONGEST_WAIT:
            reason += f"; it asks to wait {failure.wait:.0f} s"
        if failure.kind == "exhausted":
            self.halt(reason)
        elif failure.kind in _ATTEMPTS and self._failures >= self._patience:
            self.halt(f"{self._failures} requests to the judge failed in a row, the last: {reason}")
        return _Failure(kind=failure.kind, reason=reason)

    def _wait_for_resumption(self) -> None:
        """One thread's Retry-After holds for all of them."""
        while (left := self._resume_at - time.monotonic()) > 0 and not self._stop.wait(left):
            pass

    def _pause(self, attempt: int) -> float:
        longest = min(self._backoff * 2.0 ** (attempt - 1), _LONGEST_BACKOFF)
        return longest * random.uniform(0.75, 1.0)  # noqa: S311 - spreads requests, guards nothing


class _Endpoint:
    """One request at a time to one endpoint; every failure is returned, worded, and free of the key."""

    def __init__(self, *, model: str, base_url: str | None, api_key: str | None, timeout: float) -> None:
        self._url = (base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL).strip()
        self.name, password = _public_address(self._url)
        self._model = model
        self._timeout = timeout
        self._secrets = _Secrets((api_key or os.environ.get(KEY_VARIABLE) or "").strip(), password)
        self._client: openai.OpenAI | None = None
        self.own_temperature = False
        """The model refused to be given a temperature."""

    def connect(self) -> None:
        """Make the client; raises `InfrastructureError` where the key is missing or cannot be sent."""
        if self._client is not None:
            return
        if not self._secrets.key and self.name == OPENAI_URL:
            raise InfrastructureError(f"The judge at {self.name} needs a key: set {KEY_VARIABLE}, {_OTHERWISE}")
        if not re.fullmatch(r"[!-~]*", self._secrets.key):
            raise InfrastructureError(f"{KEY_VARIABLE} holds a blank or a character outside ASCII: set it again")
        import openai

        self._client = openai.OpenAI(
            api_key=self._secrets.key or _PLACEHOLDER_KEY,
            base_url=self._url,
            timeout=openai.Timeout(self._timeout, connect=min(self._timeout, _CONNECT_SECONDS)),
            max_retries=0,
        )

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def post(self, prompt: str, temperature: float) -> _Completion | _Failure:
        """Send one request and read the reply."""
        import openai

        assert self._client is not None
        options = {} if self.own_temperature else {"temperature": temperature}
        try:
            response = self._client.chat.completions.with_raw_response.create(
                model=self._model,
                messages=[{"role": "user", "content": _encodable(prompt)}],
                extra_body=options,
            )
        except openai.APIStatusError as error:
            if options and error.status_code == 400 and _is_about_temperature(error.body):
                self.own_temperature = True
                return _Failure(kind="again", reason="the model takes no temperature")
            return self._status_failure(error)
        except openai.APITimeoutError:
            return _Failure(kind="down", reason=f"{self.name} did not reply within {self._timeout:g} s")
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            said = self._public(str(cause) or type(cause).__name__)
            return _Failure(kind="down", reason=f"no connection to {self.name}: {said}")
        return self._read(response.content)

    def _read(self, content: bytes) -> _Completion | _Failure:
        try:
            body = msgspec.json.decode(content, type=_Body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            what = "something that is not a chat completion; its address usually ends in /v1"
            return _Failure(kind="down", reason=f"{self.name} replied with {what}")
        text = body.choices[0].message.content or "" if body.choices else ""
        return _Completion(
            text=self._secrets.hide(_encodable(text[:_REPLY_LIMIT])),
            prompt_tokens=_tokens(body.usage, "prompt_tokens"),
            completion_tokens=_tokens(body.usage, "completion_tokens"),
        )

    def _status_failure(self, error: openai.APIStatusError) -> _Failure:
        status, body = error.status_code, error.body
        reason = f"{self.name} replied with HTTP {status}: {self._public(_words(body))}"
        if status in {401, 403}:
            return _Failure(kind="fatal", reason=self._refusal(status))
        if status == 404:
            what = f"no model {self._model!r} there, or the address is wrong (it usually ends in /v1)"
            hint = "check --judge-model and --judge-base-url"
            return _Failure(kind="fatal", reason=f"The judge at {self.name} replied with HTTP 404: {what}; {hint}")
        if status == 402 or (status == 429 and _is_about_quota(body)):
            return _Failure(kind="exhausted", reason=reason)
        if status == 429:
            return _Failure(kind="busy", reason=reason, wait=_retry_after(error))
        if status in {408, 409} or status >= 500:
            return _Failure(kind="down", reason=reason, wait=_retry_after(error))
        return _Failure(kind="refused", reason=reason)

    def _refusal(self, status: int) -> str:
        """Word a 401 or 403 without the endpoint's own words, which may quote the key."""
        key = f"the key in {KEY_VARIABLE} was refused" if self._secrets.key else f"{KEY_VARIABLE} is not set"
        return f"The judge at {self.name} replied with HTTP {status}: {key}. Set {KEY_VARIABLE}, {_OTHERWISE}"

    def _public(self, text: str) -> str:
        return _one_line(self._secrets.hide(text), 300)


_OTHERWISE = "or grade without a judge, or with --judge-replies FILE."


class _Secrets:
    """What must not be shown: the key and the address's password."""

    def __init__(self, key: str, password: str) -> None:
        self.key = key
        # Short ones ("x", "EMPTY") are conventions of local servers, and replacing them would garble replies.
        self._hidden = [secret for secret in (key, password) if len(secret) >= 8]

    def __repr__(self) -> str:
        return "<secrets>"

    def hide(self, text: str) -> str:
        for secret in self._hidden:
            text = text.replace(secret, "***")
        return text


def _public_address(url: str) -> tuple[str, str]:
    """Return a URL without user, password, query and fragment, and the password; raises `UsageError`."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid:
        raise UsageError("The judge's address must be like http://localhost:8000/v1: check --judge-base-url")
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}", parts.password or ""


def _retry_after(error: openai.APIStatusError) -> float:
    """Return the seconds that a Retry-After header asks for, 0 without one that can be read."""
    header = str(error.response.headers.get("retry-after", "")).strip()
    try:
        seconds = float(header)
    except ValueError:
        date = email.utils.parsedate_tz(header)
        seconds = email.utils.mktime_tz(date) - time.time() if date else 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def _is_about_temperature(body: object) -> bool:
    return isinstance(body, dict) and (body.get("param") == "temperature" or "support temperature" in _words(body))


def _is_about_quota(body: object) -> bool:
    return isinstance(body, dict) and "insufficient_quota" in (body.get("code"), body.get("type"))


def _words(body: object) -> str:
    """Return the endpoint's own words about an error."""
    said = body.get("message", body) if isinstance(body, dict) else body
    return "no explanation" if said is None else str(said)


def _tokens(usage: object, field: str) -> int:
    count = usage.get(field) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and count > 0 else 0


def _encodable(text: str) -> str:
    """Replace lone surrogates, which no request and no cache can carry."""
    return text.encode("utf-8", errors="replace").decode()


def _one_line(text: str, limit: int) -> str:
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."
