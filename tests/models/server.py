"""A real HTTP server on loopback that speaks the OpenAI chat-completions protocol, well or badly."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it came."""

    number: int
    """Position among all requests, from 0."""
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def temperature(self) -> float | None:
        value = self.body.get("temperature")
        return None if value is None else float(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What the server does with a request."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before the reply; ends early when the server is stopped."""
    sent: int | None = None
    """Bytes of the body that are sent, where not all: Content-Length still announces all."""
    hang_up: bool = False
    """Reset the connection: without a reply, or after the bytes that are sent."""


def say(
    text: str | None,
    *,
    delay: float = 0.0,
    tokens: tuple[int, int] | None = (11, 2),
    finish: str | None = "stop",
    choices: int = 1,
    **fields: object,
) -> Action:
    """Reply with a completion; `fields` are further fields of the message (`reasoning_content`, ...)."""
    message = {"role": "assistant", "content": text, **fields}
    completion: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}] * choices,
    }
    if tokens is not None:
        completion["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)}
    return Action(body=json.dumps(completion).encode(), delay=delay)


def fail(
    status: int, message: str = "no", *, code: str | None = None, param: str | None = None, **headers: str
) -> Action:
    """Reply with an error; `retry_after="1"` becomes the header Retry-After."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": code, "param": param}}).encode()
    return Action(status=status, body=body, headers={name.replace("_", "-"): text for name, text in headers.items()})


def raw(body: bytes, content_type: str = "application/json") -> Action:
    """Reply 200 with any bytes."""
    return Action(body=body, headers={"Content-Type": content_type})


def truncated(text: str = "A") -> Action:
    """Announce a whole body, send half of it, close."""
    whole = say(text).body
    return Action(body=whole, sent=len(whole) // 2)


EMPTY_CHOICES = raw(b'{"id": "1", "object": "chat.completion", "created": 1, "model": "served", "choices": []}')
HANG_UP = Action(hang_up=True)


class ModelServer:
    """Serves `decide(request) -> Action` in threads until the `with` block ends."""

    def __init__(self, decide: Callable[[Asked], Action], *, port: int = 0) -> None:
        self.decide = decide
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self.release = threading.Event()
        """Set to end every delay."""
        self._at_once = 0
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", port), _Handler)
        self._http.served = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @classmethod
    def playing(cls, *actions: Action, port: int = 0) -> Self:
        """Play the actions in turn, the last one for ever."""
        return cls(lambda asked: actions[min(asked.number, len(actions) - 1)], port=port)

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.release.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def enter(self, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Asked:
        with self._lock:
            asked = Asked(number=len(self.asked), path=path, headers=headers, body=body)
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            return asked

    def leave(self) -> None:
        with self._lock:
            self._at_once -= 1


class _Http(ThreadingHTTPServer):
    daemon_threads = False  # so that closing the server waits for its handlers, and they for their sockets
    request_queue_size = 64
    served: ModelServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 3  # an idle connection that a test forgot must not hold up the end of the server
    server: _Http

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        served = self.server.served
        asked = served.enter(self.path, {name.lower(): text for name, text in self.headers.items()}, body)
        try:
            self._act(served.decide(asked), served)
        finally:
            served.leave()

    def _act(self, action: Action, served: ModelServer) -> None:
        if action.delay:
            served.release.wait(action.delay)
        if action.hang_up:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            if action.sent is None:
                return
        self.send_response(action.status)
        for name, text in {"Content-Type": "application/json", **action.headers}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(action.body)))
        self.end_headers()
        self.wfile.write(action.body[: action.sent])
        if action.sent is not None:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Say nothing."""
