"""The HTTP client below the SDK's: replies that end, no redirects, and no secret in what is received."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import httpx2
import openai

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = 64 << 20
"""Maximum length of a reply."""
_CONNECT_SECONDS = 10.0
_SHOULD_RETRY = "x-should-retry"
"""A header of the server's, which the SDK obeys."""
_NO_QUOTA = b"insufficient_quota"
"""The code of an account without credit: a 429 that no waiting mends, though the SDK repeats it for two minutes."""


def is_temporary(status: int) -> bool:
    """Return whether the SDK repeats a request after this HTTP status."""
    return status in {408, 409, 429} or status >= 500


class Transport(openai.DefaultHttpxClient):
    """The SDK's HTTP client; each reply is read whole, within `seconds` and `MAX_BYTES`.

    The timeout of an HTTP library is a limit of silence, so a server that sends a byte now and then would never be
    given up. A redirect would send prompt and images to an address that nobody gave. What is raised here as one of the
    SDK's own errors is not repeated by the SDK.
    """

    def __init__(self, seconds: float, secrets: Sequence[str]) -> None:
        timeout = openai.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        super().__init__(timeout=timeout, headers={"Accept-Encoding": "identity"})
        self._seconds = seconds
        self._secrets = [secret.encode() for secret in secrets]
        self.has_connected = False
        """Whether there was a connection to the server."""
        self.last_problem = ""
        """What was wrong with the last attempt, if it is repeated; else empty."""

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request and read its reply. Raises the SDK's errors, and the library's own."""
        options |= {"stream": True, "follow_redirects": False}
        deadline = time.monotonic() + self._seconds
        try:
            streaming = super().send(request, **options)
            self.has_connected = True
            response = self._read_all(streaming, deadline)
        except httpx2.TransportError as error:
            self.last_problem = str(error) or type(error).__name__
            if not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
                self.has_connected = True  # what broke was a connection
            if self.is_closed or not self.has_connected:
                # Not repeated: nobody listens there, or this client was closed meanwhile.
                raise openai.APIConnectionError(request=request) from error
            if isinstance(error, httpx2.ReadTimeout):
                # Not repeated: the server is most likely still at work on it.
                raise openai.APITimeoutError(request) from error
            raise
        except RuntimeError as error:
            # The client was closed while the SDK waited to repeat the request.
            raise openai.APIConnectionError(request=request) from error
        # Waiting does not help.
        if response.status_code == 429 and _NO_QUOTA in response.content:
            response.headers[_SHOULD_RETRY] = "false"
        self.last_problem = f"HTTP {response.status_code}" if is_temporary(response.status_code) else ""
        return response

    def _read_all(self, response: httpx2.Response, deadline: float) -> httpx2.Response:
        """Return a response that has been read whole, without secrets; raises errors of the SDK and of the library."""
        content = bytearray()
        try:
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > MAX_BYTES:
                    problem = f"a reply of more than {MAX_BYTES >> 20} MB"
                    raise openai.APIConnectionError(message=problem, request=response.request)
                if time.monotonic() > deadline:
                    raise httpx2.ReadTimeout("the reply was not complete in time", request=response.request)
        finally:
            response.close()
            if self.is_closed and (connection := response.extensions.get("network_stream")) is not None:
                # It was opened while this was closed, so nothing else closes it.
                connection.close()
        headers = [(name, self._redact(value.encode()).decode()) for name, value in response.headers.items()]
        headers = [pair for pair in headers if pair[0].lower() not in _TRANSFER_HEADERS]
        return httpx2.Response(
            response.status_code, headers=headers, content=self._redact(bytes(content)), request=response.request
        )

    def _redact(self, received: bytes) -> bytes:
        """Replace the secrets, wherever the server repeats them: in a reply, in an error, in an address."""
        for secret in self._secrets:
            received = received.replace(secret, b"***")
        return received


_TRANSFER_HEADERS = {"content-encoding", "content-length", "transfer-encoding"}
