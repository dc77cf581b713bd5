"""An HTTP client whose replies have an end: at most so many seconds and bytes, and no redirects.

The timeout of an HTTP library is a limit of silence, so a server that sends a byte now and then is never given up, and
a reply can have any length. A redirect of a POST would send prompt and images to an address that nobody gave.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import Any

import openai

from grader.models.replies import EndlessReplyError

MOST_BYTES = 64 << 20
"""Maximum length of a reply, unpacked."""
_GRACE_SECONDS = 1.0
"""The library's own limits, whose errors say more, come first."""
_ENCODINGS = {"", "identity", "gzip", "deflate"}
"""Compressions that unpack a network packet to megabytes at most; others can unpack it to gigabytes."""


class BoundedClient(openai.DefaultHttpxClient):
    """The SDK's own HTTP client; each reply is read whole, within `seconds` and `MOST_BYTES`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(follow_redirects=False, headers={"Accept-Encoding": "gzip, deflate"})
        self._seconds = seconds

    def send(self, request: Any, **options: Any) -> Any:
        """Send a request and read its reply. Raises EndlessReplyError, and the library's own errors."""
        options |= {"stream": True, "follow_redirects": False}
        content = bytearray()
        made: Future[Any] = Future()

        def whole() -> None:
            try:
                made.set_result(self._whole(request, options, content, time.monotonic() + self._seconds))
            except BaseException as error:
                made.set_exception(error)

        # In a thread of its own, because no limit of the library ends headers that arrive byte by byte.
        threading.Thread(target=whole, name="request", daemon=True).start()
        try:
            return made.result(self._seconds + _GRACE_SECONDS)
        except TimeoutError:
            raise EndlessReplyError(self._too_slow(len(content))) from None

    def _too_slow(self, received: int) -> str:
        if not received:
            return f"did not reply within {self._seconds:g} s"
        return f"sends its reply too slowly: after {self._seconds:g} s it was not complete ({received:,} bytes)"

    def _whole(self, request: Any, options: dict[str, Any], content: bytearray, deadline: float) -> Any:
        response = super().send(request, **options)
        try:
            self._read(response, content, deadline)
        finally:
            response.close()
        headers = [pair for pair in response.headers.items() if pair[0].lower() not in _OF_THE_TRANSFER]
        return type(response)(response.status_code, headers=headers, content=bytes(content), request=request)

    def _read(self, response: Any, content: bytearray, deadline: float) -> None:
        packed = response.headers.get("content-encoding", "").strip().lower()
        if packed not in _ENCODINGS:
            raise EndlessReplyError(f"compressed its reply with {packed[:20]!r}, which was not asked for")
        for chunk in response.iter_bytes():
            content += chunk
            if len(content) > MOST_BYTES:
                raise EndlessReplyError(f"sent a reply of more than {MOST_BYTES >> 20} MB")
            if time.monotonic() > deadline:
                raise EndlessReplyError(self._too_slow(len(content)))


_OF_THE_TRANSFER = {"content-encoding", "content-length", "transfer-encoding"}
