"""The HTTP application: access control, limits, and the answers."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import math
import time
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response
from starlette.routing import Route

from grader.errors import GradeError, InfrastructureError
from grader.integrations.queries import rewards_of, samples_of
from grader.serving.metrics import Metrics
from grader.serving.requests import Batch, Limits, One, RejectedError, Remote, Results, read

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from grader.pool.client import Pool
    from grader.results import SampleResult

    Handler = Callable[[Request], Awaitable[Response]]

LOOPBACK = ["localhost", "127.0.0.1", "[::1]", "::1"]
TICK = 0.5
MOST_RETRY_SECONDS = 60
CLIENT_HAS_GONE = 499


def make_app(pool: Pool, limits: Limits, *, token: str = "", hosts: list[str] | None = None) -> Starlette:
    """Return the application. `token`: required in every request; `hosts`: allowed Host headers (None: any)."""
    server = _Server(pool, limits, token)
    routes = [
        Route("/grade", server.guarded(server.one), methods=["POST"]),
        Route("/grade/batch", server.guarded(server.batch), methods=["POST"]),
        Route("/openrlhf", server.guarded(server.remote), methods=["POST"]),
        Route("/metrics", server.guarded(server.metrics), methods=["GET"]),
        Route("/health", server.health, methods=["GET"]),
    ]
    # A page in a browser could send requests to this machine under its own host name.
    middleware = [Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)] if hosts else []
    return Starlette(routes=routes, middleware=middleware, exception_handlers={HTTPException: _http_error})


class _Server:
    """The state that all requests share."""

    def __init__(self, pool: Pool, limits: Limits, token: str) -> None:
        self._pool, self._limits, self._token = pool, limits, token
        self._metrics = Metrics()
        self._waiting = 0
        self._rate = 1.0
        """Recent rate, in samples per second."""

    # --- common to all requests ---

    def guarded(self, handler: Handler) -> Handler:
        """Return a handler that checks the token, answers errors as JSON, and counts requests."""

        async def handle(request: Request) -> Response:
            began = time.monotonic()
            try:
                self._check_token(request)
                response = await handler(request)
            except RejectedError as error:
                response = _json(error.status, {"error": error.text}, error.headers)
            except InfrastructureError as error:
                response = _json(503, {"error": str(error)}, {"Retry-After": "10"})
            except GradeError as error:
                response = _json(422, {"error": str(error)})
            self._metrics.requests.labels(request.url.path, str(response.status_code)).inc()
            self._metrics.seconds.observe(time.monotonic() - began)
            return response

        return handle

    def _check_token(self, request: Request) -> None:
        if not self._token:
            return
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token.encode()):
            raise RejectedError(401, "expected Authorization: Bearer <token>", {"WWW-Authenticate": "Bearer"})

    # --- grading ---

    async def one(self, request: Request) -> Response:
        asked = await read(request, One, self._limits)
        (result,) = await self._grade(request, [(asked.qid, asked.text)], asked.official, asked.wait)
        return _json(200, result)

    async def batch(self, request: Request) -> Response:
        asked = await read(request, Batch, self._limits)
        pairs = [(sample.qid, sample.text) for sample in asked.samples]
        return _json(200, Results(samples=await self._grade(request, pairs, asked.official, asked.wait)))

    async def remote(self, request: Request) -> Response:
        asked = await read(request, Remote, self._limits)
        pairs = samples_of(asked.query, asked.prompts, asked.labels)
        return _json(200, rewards_of(await self._grade(request, pairs, official=False, wait=None)))

    async def _grade(
        self, request: Request, pairs: list[tuple[str, str]], official: bool, wait: float | None
    ) -> list[SampleResult]:
        self._admit(len(pairs))
        self._count(len(pairs))
        began = time.monotonic()
        grading = asyncio.ensure_future(self._pool.grade_samples_async(pairs, official=official, wait=wait))
        try:
            while not grading.done():
                await asyncio.wait({grading}, timeout=TICK)
                if not grading.done() and await request.is_disconnected():
                    raise RejectedError(CLIENT_HAS_GONE, "the client has disconnected")
            results = grading.result()
        finally:
            grading.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await grading
            self._count(-len(pairs))
        if pairs:
            self._rate = 0.8 * self._rate + 0.2 * len(pairs) / max(time.monotonic() - began, 0.001)
        return results

    def _admit(self, count: int) -> None:
        """Raise RejectedError for more samples than one request, or all requests together, may have."""
        if count > self._limits.samples:
            raise RejectedError(413, f"{count} samples; a request may have at most {self._limits.samples}")
        if self._waiting + count > self._limits.waiting:
            seconds = min(MOST_RETRY_SECONDS, max(1, math.ceil(self._waiting / max(self._rate, 0.1))))
            raise RejectedError(
                429, f"{self._waiting} samples are being graded; try again later", {"Retry-After": str(seconds)}
            )

    def _count(self, samples: int) -> None:
        self._waiting += samples
        self._metrics.waiting.set(self._waiting)

    # --- monitoring ---

    async def metrics(self, request: Request) -> Response:
        del request
        state = None
        with contextlib.suppress(GradeError):
            state = await asyncio.to_thread(self._pool.state)
        return Response(self._metrics.text(state), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def health(self, request: Request) -> Response:
        """Say whether samples would be graded. It needs no token, and says nothing else."""
        del request
        try:
            state = await asyncio.to_thread(self._pool.state)
        except GradeError:
            return _json(503, {"status": "the pool does not answer"})
        if state.problem:
            return _json(503, {"status": "no sandbox"})
        return _json(200, {"status": "ok"})


def _json(status: int, content: Any, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(content), status, headers, "application/json")


async def _http_error(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, HTTPException)
    return _json(error.status_code, {"error": error.detail}, dict(error.headers or {}))
