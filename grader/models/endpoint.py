"""One request to an OpenAI-compatible server. Failures are returned with a message that never contains the key."""

from __future__ import annotations

import email.utils
import math
import os
import re
import time
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import InfrastructureError, UsageError
from grader.models import replies
from grader.models.messages import Message, wire
from grader.models.replies import Failure, Outcome, Reply
from grader.models.secrets import Secrets, one_line, public_address

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"

_PLACEHOLDER_KEY = "no-key"
_CONNECT_SECONDS = 10.0
_REASON_LIMIT = 300


class Settings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Sampling settings of a request; None is not sent."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    extra: dict[str, Any] = {}
    """Additional fields of the request's body."""

    def fields(self) -> dict[str, Any]:
        """Return the fields of the request's body."""
        named = {name: getattr(self, name) for name in ("temperature", "top_p", "max_tokens", "seed")}
        return {name: value for name, value in named.items() if value is not None} | self.extra


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request to a model."""

    messages: tuple[Message, ...]
    settings: Settings = Settings()


class Wording(msgspec.Struct, frozen=True, kw_only=True):
    """The names of a server and of its options in messages."""

    who: str
    """Subject of sentences: `The judge`."""
    model_option: str
    address_option: str
    otherwise: str = ""
    """Alternatives to setting a key; begins with `, or`."""
    key_variable: str = KEY_VARIABLE
    """The environment variable that holds the key; empty: no key is sent."""
    key_option: str = ""
    """The option that names another variable."""

    def how_to_set_key(self) -> str:
        """Return advice for a missing or wrong key, without a full stop."""
        if not self.key_variable:
            return f"Name the environment variable of its key with {self.key_option}"
        other = f", or name another variable with {self.key_option}" if self.key_option else ""
        return f"Set {self.key_variable}{other}{self.otherwise}"


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """The server of a model, and the timeout of a request."""

    model: str
    base_url: str | None = None
    """None: OPENAI_BASE_URL, else OpenAI's own URL."""
    api_key: str | None = None
    """None: the value of the wording's key variable."""
    timeout: float = 600.0
    """Seconds of silence that end a request."""
    optional: frozenset[str] = frozenset()
    """Settings that may be left out if the model refuses them."""

    def __repr__(self) -> str:
        return f"Server(model={self.model!r})"


class Endpoint:
    """A connection to one model. Every failure is returned as a message without the key."""

    def __init__(self, server: Server, wording: Wording) -> None:
        self.model = server.model
        self._server = msgspec.structs.replace(server, api_key=None, base_url=None)
        self.wording = wording
        self._url = (server.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL).strip()
        try:
            self.name, password = public_address(self._url)
        except ValueError as error:
            raise UsageError(
                f"{wording.who}'s address must be like http://localhost:8000/v1: check {wording.address_option}"
            ) from error
        self._secrets = Secrets((server.api_key or os.environ.get(wording.key_variable) or "").strip(), password)
        self._client: openai.OpenAI | None = None
        self.left_out: frozenset[str] = frozenset()
        """Settings that the model refused."""
        self._limit_field = "max_tokens"

    def __repr__(self) -> str:
        return f"Endpoint(model={self.model!r}, name={self.name!r})"

    def connect(self) -> None:
        """Create the client. Raises `InfrastructureError` if the key is missing or cannot be sent."""
        if self._client is not None:
            return
        wording = self.wording
        if not self._secrets.key and self.name == OPENAI_URL:
            raise InfrastructureError(f"{wording.who} at {self.name} needs a key. {wording.how_to_set_key()}.")
        if not re.fullmatch(r"[!-~]*", self._secrets.key):
            raise InfrastructureError(f"{wording.key_variable} contains a blank or a non-ASCII character: set it again")
        import openai

        self._client = openai.OpenAI(
            api_key=self._secrets.key or _PLACEHOLDER_KEY,
            base_url=self._url,
            timeout=openai.Timeout(self._server.timeout, connect=min(self._server.timeout, _CONNECT_SECONDS)),
            max_retries=0,
        )

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()

    def body(self, request: Request) -> dict[str, Any]:
        """Return the fields of the request, except messages and model."""
        fields = {name: value for name, value in request.settings.fields().items() if name not in self.left_out}
        if "max_tokens" in fields and self._limit_field != "max_tokens":
            fields[self._limit_field] = fields.pop("max_tokens")
        return fields

    def post(self, request: Request) -> Outcome:
        """Send one request and read the reply."""
        started = time.monotonic()
        outcome = self._send(request)
        return msgspec.structs.replace(self._hidden(outcome), seconds=round(time.monotonic() - started, 3))

    def _send(self, request: Request) -> Outcome:
        import openai

        assert self._client is not None
        fields = self.body(request)
        try:
            response = self._client.chat.completions.with_raw_response.create(
                model=self.model,
                messages=wire(request.messages),  # type: ignore[arg-type]  # the SDK's types are one for each role
                extra_body=fields,
            )
            return replies.read(response.content)
        except openai.APIStatusError as error:
            return self._adapted(error, fields) or self._status_failure(error)
        except openai.APITimeoutError as error:
            if _is_about_connecting(error):
                return Failure(kind="unreachable", reason=f"no connection to {self.name}: timed out")
            return Failure(kind="down", reason=f"{self.name} did not reply within {self._server.timeout:g} s")
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            said = f"no connection to {self.name}: {self._public(str(cause) or type(cause).__name__)}"
            return Failure(kind="unreachable" if _is_about_connecting(error) else "down", reason=said)
        except ValueError:
            # The SDK also raises ValueError for a body that it cannot decode.
            what = "something that is not a chat completion; its address usually ends in /v1"
            return Failure(kind="down", reason=f"{self.name} replied with {what}")

    def _hidden(self, outcome: Outcome) -> Outcome:
        hide = self._secrets.hide
        if isinstance(outcome, Reply):
            content, reasoning = hide(_clean(outcome.content)), hide(_clean(outcome.reasoning))
            return msgspec.structs.replace(outcome, content=content, reasoning=reasoning)
        reasoning = hide(_clean(outcome.reasoning))
        return msgspec.structs.replace(outcome, reason=self._public(outcome.reason), reasoning=reasoning)

    def _adapted(self, error: openai.APIStatusError, fields: dict[str, Any]) -> Failure | None:
        """Adapt later requests if the model refused an optional setting, or has another name for a setting."""
        if error.status_code not in {400, 422}:
            return None
        if "max_tokens" in fields and "max_completion_tokens" in _words(error.body):
            self._limit_field = "max_completion_tokens"
            return Failure(kind="again", reason="the model calls the token limit max_completion_tokens")
        for name in self._server.optional & fields.keys():
            if _is_about(name, error.body):
                self.left_out |= {name}
                return Failure(kind="again", reason=f"the model takes no {name}")
        return None

    def _status_failure(self, error: openai.APIStatusError) -> Failure:
        status, body, wording = error.status_code, error.body, self.wording
        reason = f"{self.name} replied with HTTP {status}: {self._public(_words(body))}"
        if status in {401, 403}:
            return Failure(kind="fatal", reason=self._refusal(status))
        if status == 404:
            what = f"no model {self.model!r} there, or the address is wrong (it usually ends in /v1)"
            hint = f"check {wording.model_option} and {wording.address_option}"
            return Failure(kind="fatal", reason=f"{wording.who} at {self.name} replied with HTTP 404: {what}; {hint}")
        if status == 402 or (status == 429 and _is_about_quota(body)):
            return Failure(kind="exhausted", reason=reason)
        if status == 429:
            return Failure(kind="busy", reason=reason, wait=_retry_after(error))
        if status in {408, 409, 425} or status >= 500:
            return Failure(kind="down", reason=reason, wait=_retry_after(error))
        return Failure(kind="refused", reason=reason)

    def _refusal(self, status: int) -> str:
        """Return a message for a 401 or 403, without the server's text, which may quote the key."""
        wording = self.wording
        variable = wording.key_variable
        missing = f"{variable} is not set" if variable else "no key was sent"
        key = f"the key in {variable} was refused" if self._secrets.key else missing
        return f"{wording.who} at {self.name} replied with HTTP {status}: {key}. {wording.how_to_set_key()}."

    def _public(self, text: str) -> str:
        return one_line(self._secrets.hide(text), _REASON_LIMIT)


def _retry_after(error: openai.APIStatusError) -> float:
    """Return the seconds of a Retry-After header; 0 if it is missing or unreadable."""
    header = str(error.response.headers.get("retry-after", "")).strip()
    try:
        seconds = float(header)
    except ValueError:
        date = email.utils.parsedate_tz(header)
        seconds = email.utils.mktime_tz(date) - time.time() if date else 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def _is_about_connecting(error: Exception) -> bool:
    """Return whether the connection could not be established."""
    return type(error.__cause__).__name__ in {"ConnectError", "ConnectTimeout"}


def _is_about(setting: str, body: object) -> bool:
    return isinstance(body, dict) and (body.get("param") == setting or f"support {setting}" in _words(body))


def _is_about_quota(body: object) -> bool:
    return isinstance(body, dict) and "insufficient_quota" in (body.get("code"), body.get("type"))


def _words(body: object) -> str:
    """Return the server's error message."""
    said = body.get("message", body) if isinstance(body, dict) else body
    return "no explanation" if said is None else str(said)


def _clean(text: str) -> str:
    """Replace lone surrogates, which cannot be written to a file."""
    return text.encode("utf-8", errors="replace").decode()
