"""One request to an OpenAI-compatible server. Failures are returned with a message that never contains the key."""

from __future__ import annotations

import base64
import email.utils
import math
import os
import re
import ssl
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import msgspec

from grader.errors import InfrastructureError, UsageError
from grader.models import replies
from grader.models.messages import Request, wire
from grader.models.replies import EndlessReplyError, Failure, Outcome

if TYPE_CHECKING:
    import openai


class Secrets:
    """The key and the address's password, which are hidden in every text from the client."""

    def __init__(self, key: str, password: str) -> None:
        self.key = key
        # Short keys ("x", "EMPTY") are conventions of local servers; replacing them would damage replies.
        plain = [secret for secret in (key, password) if len(secret) >= _SHORTEST]
        self._hidden = plain + [form for secret in plain for form in _in_base64(secret)]

    def __repr__(self) -> str:
        return "<secrets>"

    def hide(self, text: str) -> str:
        """Return the text with every secret replaced."""
        for secret in self._hidden:
            text = text.replace(secret, "***")
        return text


_SHORTEST = 8


def _in_base64(secret: str) -> list[str]:
    """Return the characters that a secret has in base64, wherever it begins in the encoded bytes."""
    data, found = secret.encode(), []
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).decode()
        # The first and the last character may also depend on the bytes around the secret.
        inner = encoded[(8 * before + 5) // 6 : 8 * (before + len(data)) // 6]
        found += [inner, inner.replace("+", "-").replace("/", "_")]
    return found


def public_address(url: str) -> tuple[str, str]:
    """Return a URL without user, password, query and fragment, and its password. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or (parts.port is not None and parts.port <= 0):
        raise ValueError("not an HTTP address")
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}", parts.password or ""


def one_line(text: str, limit: int) -> str:
    """Return a text on one line, no longer than `limit`, without control characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"

_PLACEHOLDER_KEY = "no-key"
_CONNECT_SECONDS = 10.0
LONGEST_WAIT = 86_400.0
"""A server that asks to wait longer is understood to ask for a day."""
_REASON_LIMIT = 300
_PAGE = re.compile(rb"\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_KEY = re.compile(
    r"api[ _-]?key|authenticat|unauthori[sz]ed|credential|\b(?:access|bearer|server) token", re.IGNORECASE
)
"""What a proxy writes about a wrong key that it answers with 400."""


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
    """Seconds that a request may take, until its reply is complete."""
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
        self._has_replied = False

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

        from grader.models.bounded import BoundedClient

        self._client = openai.OpenAI(
            http_client=BoundedClient(self._server.timeout),
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
        self._has_replied |= isinstance(outcome, replies.Reply)
        return msgspec.structs.replace(self._hidden(outcome), seconds=round(time.monotonic() - started, 3))

    def _send(self, request: Request) -> Outcome:
        import openai

        assert self._client is not None
        fields, content = self.body(request), b""
        try:
            response = self._client.chat.completions.with_raw_response.create(
                model=self.model,
                messages=wire(request.messages),  # type: ignore[arg-type]  # the SDK's types are one for each role
                extra_body=fields,
            )
            content = response.content
            return replies.read(content)
        except openai.APIStatusError as error:
            return self._adapted(error, fields) or self._status_failure(error)
        except (openai.APIConnectionError, EndlessReplyError) as error:
            return self._no_reply(error, error.__cause__ or error)
        except ValueError:
            # The SDK also raises ValueError for a body that it cannot decode.
            if _PAGE.match(content) and not self._has_replied:
                return Failure(kind="fatal", reason=self._wrong_address("a web page, so"))
            what = "something that is not a chat completion; its address usually ends in /v1"
            return Failure(kind="down", reason=f"{self.name} replied with {what}")

    def _no_reply(self, error: Exception, cause: BaseException) -> Failure:
        """Return the failure of a request whose connection failed or broke off."""
        connecting = type(cause).__name__ in {"ConnectError", "ConnectTimeout"}
        if isinstance(cause, EndlessReplyError):
            return Failure(kind="down", reason=f"{self.name} {cause}")
        if (tls := _of_tls(cause)) is not None:
            return Failure(kind="untrusted", reason=f"no secure connection to {self.name}: {self._public(tls)}")
        said = str(cause) or type(cause).__name__
        if "Timeout" in type(error).__name__:
            if not connecting:
                return Failure(kind="down", reason=f"{self.name} did not reply within {self._server.timeout:g} s")
            said = "timed out"
        reason = f"no connection to {self.name}: {self._public(said)}"
        return Failure(kind="unreachable" if connecting else "down", reason=reason)

    def _hidden(self, outcome: Outcome) -> Outcome:
        """Hide the secrets in every text of an outcome: all of them can come from the server."""
        texts = {name: text for name, text in msgspec.structs.asdict(outcome).items() if isinstance(text, str)}
        hidden = {name: self._secrets.hide(text) for name, text in texts.items()}
        if isinstance(outcome, Failure):
            hidden |= {"kind": outcome.kind, "reason": one_line(hidden["reason"], _REASON_LIMIT)}
        return msgspec.structs.replace(outcome, **hidden)

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
        status, body = error.status_code, error.body
        reason = f"{self.name} replied with HTTP {status}: {self._public(_words(body))}"
        if 300 <= status < 400 or status in {401, 403, 404} or (status == 400 and _KEY.search(_words(body))):
            return Failure(kind="fatal", reason=self._hopeless(status, error))
        if status == 402 or (status == 429 and _is_about_quota(body)):
            return Failure(kind="exhausted", reason=reason)
        if status == 429:
            return Failure(kind="busy", reason=reason, wait=_retry_after(error))
        if status in {408, 409, 425} or status >= 500:
            return Failure(kind="down", reason=reason, wait=_retry_after(error))
        return Failure(kind="refused", reason=reason)

    def _hopeless(self, status: int, error: openai.APIStatusError) -> str:
        """Return a message for a status with which no request can succeed."""
        if status < 400:
            return self._redirection(error)
        if status != 404:
            return self._refusal(status)
        return self._wrong_address(f"HTTP 404: no model {self.model!r} there, or")

    def _wrong_address(self, what: str) -> str:
        hint = f"check {self.wording.model_option} and {self.wording.address_option}"
        where = f"{self.wording.who} at {self.name} replied with {what}"
        return f"{where} the address is wrong (it usually ends in /v1); {hint}"

    def _redirection(self, error: openai.APIStatusError) -> str:
        """Return a message for a redirect, which is not followed: prompt and images would go to another address."""
        try:
            location = error.response.headers.get("location", "")
            there = public_address(urljoin(str(error.request.url), location))[0]
        except ValueError:
            there = "an address that is none"
        return (
            f"{self.wording.who} at {self.name} redirects to {self._public(there)}. Nothing was sent there: if it is "
            f"the right address, give it with {self.wording.address_option}."
        )

    def _refusal(self, status: int) -> str:
        """Return a message for a 401 or 403, or a proxy's 400, without the server's text, which may quote the key."""
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
        seconds = _until(header)
    return 0.0 if math.isnan(seconds) else min(max(0.0, seconds), LONGEST_WAIT)


def _until(date: str) -> float:
    """Return the seconds until a date of a header; 0 if it cannot be read."""
    try:
        found = email.utils.parsedate_tz(date)
        return email.utils.mktime_tz(found) - time.time() if found else 0.0
    except (ValueError, OverflowError):  # a year that no calendar has
        return 0.0


def _of_tls(error: BaseException) -> str | None:
    """Return what OpenSSL said, if a connection failed because of TLS."""
    below: BaseException | None = error
    while below is not None:
        if isinstance(below, ssl.SSLError):
            return str(below)
        below = below.__cause__ or below.__context__
    return None


def _is_about(setting: str, body: object) -> bool:
    return isinstance(body, dict) and (body.get("param") == setting or f"support {setting}" in _words(body))


def _is_about_quota(body: object) -> bool:
    return isinstance(body, dict) and "insufficient_quota" in (body.get("code"), body.get("type"))


def _words(body: object) -> str:
    """Return the server's error message."""
    said = body.get("message", body) if isinstance(body, dict) else body
    return "no explanation" if said is None else str(said)
