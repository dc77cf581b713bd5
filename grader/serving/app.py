"""The HTTP application: access control, limits, and the answers."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from grader.errors import GradeError, InfrastructureError
from grader.integrations.openrlhf import rewards_of, samples_of
from grader.pool.rounds import Rate
from grader.results import Outcome
from grader.serving import sandbox_fusion
from grader.serving.requests import Batch, Intake, Limits, One, RejectedError, Remote, Results, decoded

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from grader.pool.client import Pool
    from grader.pool.settings import Sample
    from grader.results import SampleResult
    from grader.serving.metrics import Metrics

    Handler = Callable[[Request], Awaitable[Response]]

LOOPBACK = ["localhost", "127.0.0.1", "[::1]", "::1"]
TICK = 0.5
HOLD_TICK = 0.1
"""Seconds between two tries of a request that waits for room."""
MOST_RETRY_SECONDS = 60
CLIENT_HAS_GONE = 499
CLOSE = {"Connection": "close"}
OTHER_PATH = "other"
"""The path of requests for unknown paths and of invalid requests, in the metrics."""


def make_app(pool: Pool, limits: Limits, metrics: Metrics, *, token: str, hosts: list[str] | None) -> ASGIApp:
    """Return the application. `token`: required in every request; `hosts`: allowed Host headers (None: any)."""
    server = _Server(pool, limits, metrics, token)
    fusion = partial(server.guarded, again=sandbox_fusion.AGAIN)
    routes = [
        Route("/grade", server.guarded(server.one), methods=["POST"]),
        Route("/grade/batch", server.guarded(server.batch), methods=["POST"]),
        Route("/openrlhf", server.guarded(server.remote), methods=["POST"]),
        Route("/run_code", fusion(server.run_code), methods=["POST"]),
        Route("/submit", fusion(server.submit), methods=["POST"]),
        Route("/metrics", server.guarded(server.metrics), methods=["GET"]),
        Route("/health", server.health, methods=["GET"]),
    ]
    # A page in a browser could send requests to this machine under its own host name.
    known = Middleware(TrustedHostMiddleware, allowed_hosts=hosts or ["*"], www_redirect=False)
    errors = {HTTPException: _http_error, Exception: _own_error}
    app = Starlette(routes=routes, middleware=[known], exception_handlers=errors)
    return _Counting(app, metrics, {route.path for route in routes})


class _Counting:
    """Counts every answer, whoever gives it, and refuses bodies in chunks: a small one costs as much as a long one."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: set[str]) -> None:
        self._app, self._metrics, self._paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, path = time.monotonic(), scope["path"] if scope["path"] in self._paths else OTHER_PATH

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.requests.labels(path, str(message["status"])).inc()
                self._metrics.seconds.observe(time.monotonic() - began)
            await send(message)

        if any(name == b"transfer-encoding" for name, _ in scope["headers"]):
            refusal = _json(411, {"error": "expected Content-Length, and a body that is not in chunks"}, CLOSE)
            await refusal(scope, receive, counted)
        else:
            await self._app(scope, receive, counted)


class _Server:
    """The state that all requests share."""

    def __init__(self, pool: Pool, limits: Limits, metrics: Metrics, token: str) -> None:
        self._pool, self._limits, self._metrics, self._token = pool, limits, metrics, token
        self._intake = Intake(limits)
        self._waiting = 0
        self._rate = Rate()

    # --- common to all requests ---

    def guarded(self, handler: Handler, again: int | None = None) -> Handler:
        """Return a handler that checks the token and answers errors as JSON.

        `again`: the only status after which the clients of this path try again, instead of those of HTTP.
        """

        async def handle(request: Request) -> Response:
            try:
                self._check_token(request)
                return await handler(request)
            except RejectedError as error:
                status = again if again and "Retry-After" in error.headers else error.status
                return _json(status, {"error": error.text}, error.headers)
            except ClientDisconnect:
                return _json(CLIENT_HAS_GONE, {"error": "the client has disconnected"})
            except InfrastructureError as error:
                return _json(again or 503, {"error": str(error)}, {"Retry-After": "10"})
            except GradeError as error:
                return _json(422, {"error": str(error)})

        return handle

    def _check_token(self, request: Request) -> None:
        if not self._token:
            return
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token.encode()):
            raise RejectedError(401, "expected Authorization: Bearer <token>", {"WWW-Authenticate": "Bearer"})

    # --- grading ---

    async def one(self, request: Request) -> Response:
        async with self._intake.read(request, partial(decoded, One)) as asked:
            (result,) = await self._grade(request, [asked.of_pool], asked.official, asked.wait)
        return _json(200, result)

    async def batch(self, request: Request) -> Response:
        async with self._intake.read(request, partial(decoded, Batch)) as asked:
            pairs = [sample.of_pool for sample in asked.samples]
            return _json(200, Results(samples=await self._grade(request, pairs, asked.official, asked.wait)))

    async def remote(self, request: Request) -> Response:
        async with self._intake.read(request, self._remote_samples) as pairs:
            results = await self._grade(request, pairs, official=False, wait=None)
        return _json(200, rewards_of(results, self._pool.reward))

    def _remote_samples(self, body: bytes) -> list[tuple[str, str]]:
        asked = decoded(Remote, body)
        self._check_count(len(asked.query))
        return samples_of(asked.query, asked.prompts, asked.labels)

    async def run_code(self, request: Request) -> Response:
        """Run a program as SandboxFusion does."""
        async with self._intake.read(request, partial(decoded, sandbox_fusion.RunCode)) as asked:
            if problem := asked.problem:
                return _json(200, sandbox_fusion.refused(problem))
            (result,) = await self._grade(request, [asked.sample], official=False, wait=asked.wait, holds=True)
            return _json(200, sandbox_fusion.ran(_scored(result)))

    async def submit(self, request: Request) -> Response:
        """Judge a program as SandboxFusion does."""
        async with self._intake.read(request, partial(decoded, sandbox_fusion.Submit)) as asked:
            if problem := asked.problem:
                raise RejectedError(422, problem)
            (result,) = await self._grade(request, [asked.sample], official=False, wait=None, holds=True)
            return _json(200, sandbox_fusion.judged(asked, _scored(result)))

    async def _grade(
        self, request: Request, pairs: Sequence[Sample], official: bool, wait: float | None, *, holds: bool = False
    ) -> list[SampleResult]:
        """Return the results. `holds`: samples above the limit wait for room, and are not refused at once."""
        end = time.monotonic() + min(wait or self._limits.wait, self._limits.wait)
        while holds and self._waiting + len(pairs) > self._limits.waiting and time.monotonic() < end:
            await asyncio.sleep(HOLD_TICK)
            if await request.is_disconnected():
                raise ClientDisconnect
        self._admit(len(pairs))
        if not self._waiting:
            self._rate.note(idle=True)
        self._count(len(pairs))
        seconds = max(HOLD_TICK, end - time.monotonic())
        grading = asyncio.ensure_future(self._pool.grade_samples_async(pairs, official=official, wait=seconds))
        try:
            while not grading.done():
                await asyncio.wait({grading}, timeout=TICK)
                if not grading.done() and await request.is_disconnected():
                    raise ClientDisconnect
            results = grading.result()
        finally:
            grading.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await grading
            self._count(-len(pairs))
        self._rate.note(len(pairs))
        return results

    def _admit(self, count: int) -> None:
        """Raise RejectedError for more samples than one request, or all requests together, may have."""
        self._check_count(count)
        if self._waiting + count > self._limits.waiting:
            seconds = min(MOST_RETRY_SECONDS, max(1, math.ceil(self._waiting / max(self._rate.value, 0.1))))
            raise RejectedError(
                429, f"{self._waiting} samples are being graded; try again later", {"Retry-After": str(seconds)}
            )

    def _check_count(self, count: int) -> None:
        if count > self._limits.samples:
            raise RejectedError(413, f"{count} samples; a request may have at most {self._limits.samples}")

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


def _scored(result: SampleResult) -> SampleResult:
    """Return a result if it has a verdict; else raises RejectedError, as SandboxFusion has no answer for this case."""
    reading = result.careful
    if reading.outcome is Outcome.UNSCORED and reading.rule == "infrastructure":
        raise RejectedError(503, reading.detail, {"Retry-After": "1"})
    if not reading.is_scored:
        raise RejectedError(422, reading.detail)
    return result


async def _http_error(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, HTTPException)
    return _json(error.status_code, {"error": error.detail}, dict(error.headers or {}))


async def _own_error(request: Request, error: Exception) -> Response:
    """Answer after an error of grade itself, which the server logs."""
    del request
    return _json(500, {"error": f"an error of grade itself ({type(error).__name__}); the server's log has it"}, CLOSE)
