"""One request to an OpenAI-compatible endpoint, and what came of it: failures are returned, worded, without the key."""

from __future__ import annotations

import email.utils
import math
import os
import re
import time
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import msgspec

from grader.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    import openai

KEY_VARIABLE = "OPENAI_API_KEY"
OPENAI_URL = "https://api.openai.com/v1"

_PLACEHOLDER_KEY = "no-key"
_CONNECT_SECONDS = 10.0
_REPLY_LIMIT = 100_000
_OTHERWISE = "or grade without a judge, or with --judge-replies FILE."


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """A reply, and what it cost."""

    text: str
    prompt_tokens: int
    completion_tokens: int


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no reply."""

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


class Endpoint:
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
        """Close the connections."""
        if self._client is not None:
            self._client.close()

    def post(self, prompt: str, temperature: float) -> Completion | Failure:
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
                return Failure(kind="again", reason="the model takes no temperature")
            return self._status_failure(error)
        except openai.APITimeoutError:
            return Failure(kind="down", reason=f"{self.name} did not reply within {self._timeout:g} s")
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            said = self._public(str(cause) or type(cause).__name__)
            return Failure(kind="down", reason=f"no connection to {self.name}: {said}")
        return self._read(response.content)

    def _read(self, content: bytes) -> Completion | Failure:
        try:
            body = msgspec.json.decode(content, type=_Body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            what = "something that is not a chat completion; its address usually ends in /v1"
            return Failure(kind="down", reason=f"{self.name} replied with {what}")
        text = body.choices[0].message.content or "" if body.choices else ""
        return Completion(
            text=self._secrets.hide(_encodable(text[:_REPLY_LIMIT])),
            prompt_tokens=_tokens(body.usage, "prompt_tokens"),
            completion_tokens=_tokens(body.usage, "completion_tokens"),
        )

    def _status_failure(self, error: openai.APIStatusError) -> Failure:
        status, body = error.status_code, error.body
        reason = f"{self.name} replied with HTTP {status}: {self._public(_words(body))}"
        if status in {401, 403}:
            return Failure(kind="fatal", reason=self._refusal(status))
        if status == 404:
            what = f"no model {self._model!r} there, or the address is wrong (it usually ends in /v1)"
            hint = "check --judge-model and --judge-base-url"
            return Failure(kind="fatal", reason=f"The judge at {self.name} replied with HTTP 404: {what}; {hint}")
        if status == 402 or (status == 429 and _is_about_quota(body)):
            return Failure(kind="exhausted", reason=reason)
        if status == 429:
            return Failure(kind="busy", reason=reason, wait=_retry_after(error))
        if status in {408, 409} or status >= 500:
            return Failure(kind="down", reason=reason, wait=_retry_after(error))
        return Failure(kind="refused", reason=reason)

    def _refusal(self, status: int) -> str:
        """Word a 401 or 403 without the endpoint's own words, which may quote the key."""
        key = f"the key in {KEY_VARIABLE} was refused" if self._secrets.key else f"{KEY_VARIABLE} is not set"
        return f"The judge at {self.name} replied with HTTP {status}: {key}. Set {KEY_VARIABLE}, {_OTHERWISE}"

    def _public(self, text: str) -> str:
        return one_line(self._secrets.hide(text), 300)


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


def one_line(text: str, limit: int) -> str:
    """Return a text on one line, no longer than `limit`, without control characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."
