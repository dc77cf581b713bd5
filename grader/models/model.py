"""A model on a server: one request at a time, with the SDK's own retries, and every outcome as a record."""

from __future__ import annotations

import os
import re
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urljoin, urlsplit

import msgspec

from grader.errors import InfrastructureError, UsageError
from grader.files.compact_json import without_surrogates
from grader.models.messages import Message, image_positions, images, plain_text, request_messages, sha256
from grader.models.replies import NOT_A_COMPLETION, Reply, Usage, error_text, read
from grader.wording import clean

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
RETRIES = 20
"""Of the SDK, after 408, 409, 429, 5xx and broken connections. Waits: 0.5 s, doubled up to 8 s (about two minutes in
all), or what `Retry-After` says, up to two minutes."""
MAX_WAIT = 3600.0
"""Seconds that a request waits in all, where `Retry-After` is longer than the SDK waits."""
MAX_FAILURES_IN_A_ROW = 10
"""After so many tasks failed without a reply in between, no more requests are sent: the cause is not one of them."""
_PLACEHOLDER_KEY = "no-key"
_MIN_SECRET_CHARS = 8
"""Shorter keys ("x", "EMPTY") are placeholders for local servers; to replace them would damage replies."""
_MAX_WORD_CHARS = 20
"""A key of at most so many letters and nothing else ("whatever") is a placeholder, too."""
_MAX_ERROR_CHARS = 300


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """A model, its server, and what they are called in messages."""

    model: str
    base_url: str | None = None
    """None: OPENAI_BASE_URL, else OpenAI's own URL."""
    key_variable: str = KEY_VARIABLE
    """The environment variable with the key."""
    api_key: str | None = None
    """The key itself; None: the variable's value."""
    timeout: float = 600.0
    """Seconds that one attempt may take, until its reply is complete."""
    can_go_without_temperature: bool = False
    """Whether a model that refuses the setting is asked without it."""
    subject: str = "The model"
    """Subject of sentences."""
    address_option: str = "--base-url"
    alternative_advice: str = ""
    """What can be done instead of setting a key; begins with `, or`."""

    def __repr__(self) -> str:
        return f"Server(model={self.model!r})"

    def url(self) -> str:
        """Return the server's whole address, which may hold a password."""
        return (self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL).strip()

    def key(self) -> str:
        """Return the key; empty: there is none."""
        return (self.api_key or os.environ.get(self.key_variable) or "").strip()


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One request, and where its reply belongs."""

    qid: str
    sample: int = 0
    stage: str = "answer"
    messages: tuple[Message, ...]
    settings: dict[str, Any] = {}
    """Fields of the request's body; None is not sent."""
    extra_settings: dict[str, Any] = {}
    """Further settings that can change the answer; they are recorded, but not sent."""

    def sent_settings(self) -> dict[str, Any]:
        """Return the settings that are sent."""
        return {name: value for name, value in self.settings.items() if value is not None}

    def prompt(self) -> str:
        """Return the messages as text, for the record."""
        return plain_text(self.messages)

    def recorded_settings(self) -> dict[str, Any]:
        """Return the settings for the record: those that are sent, the images, and `extra_settings`.

        The text of the record does not show where images are, so their positions are recorded, unless all are first.
        """
        sent_images = images(self.messages)
        image_settings: dict[str, Any] = {"images": [sha256(image) for image in sent_images]} if sent_images else {}
        if sent_images and sent_images[0].detail is not None:
            image_settings["image_detail"] = sent_images[0].detail
        positions = image_positions(self.messages)
        if any(positions):
            image_settings["image_positions"] = positions
        return self.sent_settings() | self.extra_settings | image_settings


class RequestRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A request and its outcome: a line of `<stem>_requests.jsonl`."""

    qid: str
    sample: int
    """From 0."""
    stage: str
    model: str
    settings: dict[str, Any]
    """Everything that was asked with, besides the text; images by their SHA-256."""
    prompt: str
    """The sent text; several messages are marked with their roles."""
    content: str | None
    """The unchanged reply; None: the request failed."""
    reasoning: str = ""
    """Reasoning that the server sent separately."""
    finish_reason: str = ""
    """As the server sent it; empty: there was no chat completion."""
    usage: Usage = Usage()
    seconds: float = 0.0
    """From the first attempt to the last one's end."""
    attempts: int = 0
    """Number of requests sent. 0: no outcome is known, because the model has stopped or was closed."""
    error: str | None = None
    """Why the request failed; None: there is a reply."""


class _Outcome(NamedTuple):
    """What came back from one call of the SDK, which may send a request several times."""

    reply: Reply
    sent: int
    """Number of requests sent."""
    retry_after: float | None = None
    """Seconds after which to ask again, 0.0: at once; None: the reply is final."""


class Model:
    """A model on a server, for many threads. Close it (or use `with`) after the last request."""

    def __init__(self, server: Server, *, retries: int = RETRIES) -> None:
        self._server = server
        self.name = server.model
        try:
            self.address = public_url(server.url())
        except ValueError as error:
            raise UsageError(
                f"{server.subject}'s address must be like http://localhost:8000/v1: check {server.address_option}"
            ) from error
        self._retries = retries
        self._client: openai.OpenAI | None = None
        self._transport: Any = None
        self._lock = threading.Lock()
        self._failed: set[str] = set()
        """The tasks that failed since the last reply."""
        self.stopped = ""
        """Why no more requests are sent; empty while they are."""
        self._is_over = threading.Event()
        """Set as soon as `stopped` is: it ends long waits."""
        self.has_no_temperature = False
        """Whether the model refused the setting."""
        self._limit_name = "max_tokens"
        """The name under which the token limit is sent: some models want `max_completion_tokens`."""

    def __repr__(self) -> str:
        return f"Model(name={self.name!r}, address={self.address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Send nothing more and close the connections."""
        self._stop("the model is closed")
        if self._client is not None:
            self._client.close()

    @property
    def last_problem(self) -> str:
        """What was wrong with the last attempt, if it is repeated; else empty."""
        return self._transport.last_problem if self._transport is not None else ""

    def connect(self) -> None:
        """Create the client. Raises InfrastructureError if the key is missing or cannot be sent."""
        if self._client is not None:
            return
        server, key = self._server, self._server.key()
        if not key and self.address == OPENAI_URL:
            raise InfrastructureError(f"{server.subject} at {self.address} needs a key. {self._how_to_set_key()}.")
        if not re.fullmatch(r"[!-~]*", key):
            raise InfrastructureError(f"{server.key_variable} contains a blank or a non-ASCII character: set it again")
        import openai

        from grader.models.transport import Transport

        password = urlsplit(server.url()).password or ""
        is_word = key.isalpha() and len(key) <= _MAX_WORD_CHARS
        secrets = [secret for secret in ("" if is_word else key, password) if len(secret) >= _MIN_SECRET_CHARS]
        self._transport = Transport(server.timeout, secrets)
        self._client = openai.OpenAI(
            http_client=self._transport,
            api_key=key or _PLACEHOLDER_KEY,
            base_url=server.url(),
            max_retries=self._retries,
        )

    def ask(self, request: Request) -> RequestRecord:
        """Return the reply, or why there is none. Raises InfrastructureError if the key is refused."""
        began = time.monotonic()
        reply, attempts = (Reply(error=self.stopped), 0) if self.stopped else self._ask(request)
        if reply.error is not None and self._transport is not None and self._transport.is_closed:
            # That the request failed says nothing about the server: it was interrupted.
            reply, attempts = Reply(error=self.stopped), 0
        if attempts:
            self._count_failures(request.qid, reply)
        error = None if reply.error is None else one_line(reply.error, _MAX_ERROR_CHARS)
        return RequestRecord(
            qid=request.qid,
            sample=request.sample,
            stage=request.stage,
            model=self.name,
            settings=request.recorded_settings(),
            prompt=request.prompt(),
            content=reply.content,
            reasoning=reply.reasoning,
            finish_reason=reply.finish_reason,
            usage=reply.usage,
            seconds=round(time.monotonic() - began, 3),
            attempts=attempts,
            error=error,
        )

    def _count_failures(self, qid: str, reply: Reply) -> None:
        """Count the tasks that failed in a row, and stop after too many."""
        with self._lock:
            # All samples of one task may fail, for example because its prompt is too long.
            self._failed = set() if reply.error is None else self._failed | {qid}
            if len(self._failed) >= MAX_FAILURES_IN_A_ROW:
                self._stop(f"{MAX_FAILURES_IN_A_ROW} tasks in a row failed, the last: {reply.error}")

    def _stop(self, reason: str) -> None:
        self.stopped = self.stopped or reason
        self._is_over.set()

    def _ask(self, request: Request) -> tuple[Reply, int]:
        """Return what came back, and the number of requests sent."""
        messages = request_messages(request.messages)
        attempts, waited = 0, 0.0
        while True:
            reply, sent, retry_after = self._send(messages, self._body(request))
            attempts += sent
            if retry_after is None or waited + retry_after > MAX_WAIT or self._is_over.wait(retry_after):
                return reply, attempts
            waited += retry_after

    def _send(self, messages: list[dict[str, Any]], fields: dict[str, Any]) -> _Outcome:
        """Let the SDK send a request."""
        import openai

        assert self._client is not None
        try:
            response = self._client.chat.completions.with_raw_response.create(
                model=self.name,
                messages=messages,  # type: ignore[arg-type]  # the SDK's types are one for each role
                extra_body=fields,
            )
            return _Outcome(read(response.content), response.retries_taken + 1)
        except openai.AuthenticationError:
            raise InfrastructureError(self._refused_key()) from None
        except openai.APIStatusError as error:
            retry_after = 0.0 if self._adapt_requests(error, fields) else _long_wait(error)
            return _Outcome(Reply(error=self._status_error(error)), _attempts(error.request), retry_after)
        except openai.APIConnectionError as error:
            return self._connection_failure(error)
        except ValueError:
            # A status that is no error, with a body that the SDK cannot decode.
            return _Outcome(Reply(error=f"{self.address} sent {NOT_A_COMPLETION}"), 1)

    def _body(self, request: Request) -> dict[str, Any]:
        """Return the settings to send, as this model wants them: see `_adapt_requests`."""
        fields = request.sent_settings()
        if self.has_no_temperature:
            fields.pop("temperature", None)
        if "max_tokens" in fields:
            fields.setdefault(self._limit_name, fields.pop("max_tokens"))
        return fields

    def _adapt_requests(self, error: openai.APIStatusError, fields: dict[str, Any]) -> bool:
        """Change all requests from now on if the model refuses a setting; return whether to ask again at once."""
        if error.status_code not in {400, 422}:
            return False
        if "max_tokens" in fields and "max_completion_tokens" in error_text(error.body):
            self._limit_name = "max_completion_tokens"
            return True
        if self._server.can_go_without_temperature and "temperature" in fields and _is_about_temperature(error.body):
            self.has_no_temperature = True
            return True
        return False

    def _connection_failure(self, error: openai.APIConnectionError) -> _Outcome:
        """Return the outcome of a request whose connection failed or broke off. Without any connection so far, stop."""
        import openai

        if isinstance(error, openai.APITimeoutError):
            reason = f"{self.address} did not reply within {self._server.timeout:g} s"
            return _Outcome(Reply(error=reason), _attempts(error.request))
        cause = str(error.__cause__ or error.message) or type(error.__cause__).__name__
        if self._transport.has_connected:
            reason = f"the connection to {self.address} failed: {cause}"
            return _Outcome(Reply(error=reason), _attempts(error.request))
        self._stop(f"no connection to {self.address}: {cause}; is it running? Check {self._server.address_option}")
        return _Outcome(Reply(error=self.stopped), sent=0)

    def _status_error(self, error: openai.APIStatusError) -> str:
        """Return what an HTTP status means for the user, and what to check."""
        status, server = error.status_code, self._server
        reply = f"{self.address} replied with HTTP {status}"
        if status < 400:
            target = _redirect_target(error.response, str(error.request.url))
            return f"{reply}: it redirects to {target}, where nothing was sent; is that {server.address_option}?"
        reply += f": {error_text(error.body)}"
        if status == 404:
            return f"{reply}; check the model's name and {server.address_option} (it usually ends in /v1)"
        wait = _long_wait(error)
        return reply if wait is None else f"{reply} (it asks to wait {wait:,.0f} s)"

    def _refused_key(self) -> str:
        variable = self._server.key_variable
        key = f"the key in {variable} was refused" if self._server.key() else f"{variable} is not set"
        return f"{self._server.subject} at {self.address} replied with HTTP 401: {key}. {self._how_to_set_key()}."

    def _how_to_set_key(self) -> str:
        return f"Set {self._server.key_variable}{self._server.alternative_advice}"


def public_url(url: str) -> str:
    """Return the public part of a URL: no user, password, query and fragment. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or (parts.port is not None and parts.port <= 0):
        raise ValueError("not an HTTP address")
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"


def _redirect_target(response: Any, request_url: str) -> str:
    """Return where a redirect leads."""
    try:
        return public_url(urljoin(request_url, response.headers.get("location", "")))
    except ValueError:
        return "an invalid address"


def _attempts(request: Any) -> int:
    """Return which attempt a failed request was; the SDK counts its retries in a header."""
    return int(request.headers.get("x-stainless-retry-count", 0)) + 1


def _long_wait(error: openai.APIStatusError) -> float | None:
    """Return the seconds of a `Retry-After` that is too long for the SDK to wait; None: it is not."""
    try:
        seconds = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    from grader.models.transport import is_temporary

    return seconds if seconds > _SDK_MAX_WAIT and is_temporary(error.status_code) else None


_SDK_MAX_WAIT = 120.0
"""Seconds. The SDK itself waits this long, if `Retry-After` says so."""


def _is_about_temperature(body: object) -> bool:
    return isinstance(body, dict) and (body.get("param") == "temperature" or "support temperature" in error_text(body))


def one_line(text: str, limit: int) -> str:
    """Return a text on one line, no longer than `limit`, without control characters."""
    beginning = without_surrogates(text[: limit * 4])  # blanks become one, so more than `limit` is needed
    line = " ".join(clean(beginning).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."
