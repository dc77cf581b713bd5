"""The HTTP application: access control, limits, and the answers."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route

from grader.errors import GradeError
from grader.integrations.openrlhf import rewards_of, samples_of
from grader.pool.messages import INFRASTRUCTURE, Batch, PoolState, ResultLine, unscored_result
from grader.pool.rewards import rewarded
from grader.pool.scheduler import QueuedSample, Scheduler
from grader.results import Outcome
from grader.scorers.sample_scorer import ScoreRequest
from grader.serving import sandbox_fusion
from grader.serving.connection import Connections, raise_connection_limit
from grader.serving.metrics import Metrics
from grader.serving.requests import Intake, RejectedError, Remote, ServerLimits, complete_batch, decode_body

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from grader.pool.samples import Samples
    from grader.results import SampleResult

    Handler = Callable[[Request], Awaitable[Response]]

LOOPBACK = ["localhost", "127.0.0.1", "[::1]", "::1"]
ROOM_TICK = 0.1
"""Seconds between two looks for room."""
LEAVE_SECONDS = 0.1
"""In this time, a client that leaves closes its other connections."""
CLIENT_HAS_GONE = 499
"""The status that nginx logs for this; nobody receives it."""
CLOSE = {"Connection": "close"}
OTHER_PATH = "other"
"""In the metrics, this stands for all unknown paths, and for requests that are not valid HTTP."""


class Service:
    """What a server grades with, and how it answers. Use it as a context manager: it grades as long as it is open."""

    def __init__(self, samples: Samples, limits: ServerLimits, *, token: str = "") -> None:
        """`token`: required in every request."""
        self._samples, self._limits, self._token = samples, limits, token
        self._intake = Intake(limits)
        self._scheduler = Scheduler(samples)
        self._counts = Metrics(self.state)
        self.connections = Connections(
            raise_connection_limit(), lambda status: self._counts.count_answer(OTHER_PATH, status)
        )
        """All open connections."""
        self.end: Callable[[], None] | None = None
        """Ends the server when its last client leaves; None: it does not end then."""

    def __enter__(self) -> Self:
        self._scheduler.start()
        return self

    def __exit__(self, *_: object) -> None:
        # Nobody waits any more, and a program may run for a minute.
        self._scheduler.stop(self._samples.abort)

    def app(self, allowed_hosts: list[str] | None) -> ASGIApp:
        """Return the application. `allowed_hosts`: the Host headers that requests may have; None: any."""
        for_sandbox_fusion = partial(self._with_errors_as_json, retry_status=sandbox_fusion.RETRY_STATUS)
        routes = [
            Route("/grade", self._with_errors_as_json(self._grade_one), methods=["POST"]),
            Route("/grade/batch", self._with_errors_as_json(self._grade_batch), methods=["POST"]),
            Route("/openrlhf", self._with_errors_as_json(self._grade_openrlhf), methods=["POST"]),
            Route("/run_code", for_sandbox_fusion(self._run_code), methods=["POST"]),
            Route("/submit", for_sandbox_fusion(self._submit), methods=["POST"]),
            Route("/state", self._with_errors_as_json(self._state), methods=["GET"]),
            Route("/metrics", self._with_errors_as_json(self._metrics), methods=["GET"]),
            Route("/health", self._health, methods=["GET"]),
        ]
        if self.end is not None:
            routes.append(Route("/leave", self._leave, methods=["POST"]))
        # A page in a browser could send requests to this machine under its own host name.
        host_check = Middleware(TrustedHostMiddleware, allowed_hosts=allowed_hosts or ["*"], www_redirect=False)
        errors = {HTTPException: _http_error, Exception: _internal_error}
        app = Starlette(routes=routes, middleware=[host_check], exception_handlers=errors)
        return _CountingMiddleware(app, self._counts, {route.path for route in routes})

    # --- common to all requests ---

    def _with_errors_as_json(self, handler: Handler, retry_status: int | None = None) -> Handler:
        """Return a handler that checks the token and answers errors as JSON.

        `retry_status`: the status for "try again later", if the clients of this path know only this one.
        """

        async def handle(request: Request) -> Response:
            try:
                self._check_token(request)
                return await handler(request)
            except RejectedError as error:
                status = retry_status if retry_status and "Retry-After" in error.headers else error.status
                return _json(status, {"error": error.text}, error.headers)
            except ClientDisconnect:
                return _json(CLIENT_HAS_GONE, {"error": "the client has disconnected"})
            except GradeError as error:
                return _json(422, {"error": str(error)})

        return handle

    def _check_token(self, request: Request) -> None:
        if not self._token:
            return
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self._token.encode()):
            raise RejectedError(401, "expected Authorization: Bearer <token>", {"WWW-Authenticate": "Bearer"})

    # --- grading ---

    async def _grade_one(self, request: Request) -> Response:
        async with self._intake.read(request, lambda body: self._batch_of([decode_body(ScoreRequest, body)])) as batch:
            (result,) = await self._results(request, batch)
        return _json(200, result)

    def _batch_of(self, samples: list[ScoreRequest]) -> Batch:
        return complete_batch(Batch(samples=samples), self._limits.wait)

    async def _grade_batch(self, request: Request) -> Response:
        """Answer with all results, or with a stream of them."""
        async with contextlib.AsyncExitStack() as stack:
            reading = self._intake.read(
                request, lambda body: complete_batch(decode_body(Batch, body), self._limits.wait)
            )
            batch = await stack.enter_async_context(reading)
            if not batch.stream:
                return _json(200, {"samples": await self._results(request, batch)})
            stack.enter_context(self._hold_room(len(batch.samples)))
            # The room of body and samples is held until the end of the stream.
            return _StreamedResults(self.results(request, batch), stack.pop_all())

    async def _grade_openrlhf(self, request: Request) -> Response:
        async with self._intake.read(request, self._openrlhf_batch) as batch:
            results = await self._results(request, batch)
        return _json(200, rewards_of([rewarded(result) for result in results]))

    def _openrlhf_batch(self, body: bytes) -> Batch:
        """Return a request's samples. They are counted first, because finding responses in queries may take long."""
        remote = decode_body(Remote, body)
        self._check_count(len(remote.query))
        pairs = samples_of(remote.query, remote.prompts, remote.labels)
        return self._batch_of([ScoreRequest(qid=qid, text=text) for qid, text in pairs])

    async def _run_code(self, request: Request) -> Response:
        """Run a program as SandboxFusion does."""
        async with self._intake.read(request, partial(decode_body, sandbox_fusion.RunCode)) as run:
            if problem := run.problem:
                return _json(200, sandbox_fusion.refusal_response(problem))
            batch = await self._wait_for_room(request, self._batch_of([run.sample]))
            (result,) = await self._results(request, batch)
            return _json(200, sandbox_fusion.run_response(_require_verdict(result)))

    async def _submit(self, request: Request) -> Response:
        """Judge a program as SandboxFusion does."""
        async with self._intake.read(request, partial(decode_body, sandbox_fusion.Submit)) as submission:
            if problem := submission.problem:
                raise RejectedError(422, problem)
            batch = await self._wait_for_room(request, self._batch_of([submission.sample]))
            (result,) = await self._results(request, batch)
            return _json(200, sandbox_fusion.submit_response(submission, _require_verdict(result)))

    async def _wait_for_room(self, request: Request, batch: Batch) -> Batch:
        """Wait until there is room for the only sample of a batch; return it with the time that is left.

        If there is still none when its time is over, `_hold_room` refuses it next: the client may try again.
        """
        (sample,) = batch.samples
        end = time.monotonic() + sample.wait
        while self._counts.samples_under_way + 1 > self._limits.max_samples and time.monotonic() < end:
            await asyncio.sleep(ROOM_TICK)
            if await request.is_disconnected():
                raise ClientDisconnect
        remaining_seconds = max(ROOM_TICK, end - time.monotonic())
        return Batch(samples=[msgspec.structs.replace(sample, wait=remaining_seconds)])

    async def _results(self, request: Request, batch: Batch) -> list[SampleResult]:
        """Return all results of a batch, in its order."""
        with self._hold_room(len(batch.samples)):
            async with contextlib.aclosing(self.results(request, batch)) as parts:
                results = {line.place: line.result async for part in parts for line in part}
        return [results[index] for index in range(len(batch.samples))]

    @contextlib.contextmanager
    def _hold_room(self, count: int) -> Iterator[None]:
        """Count samples as being graded; raises RejectedError above the limit of a request, or of all together."""
        self._check_count(count)
        counts = self._counts
        if counts.samples_under_way + count > self._limits.max_samples:
            text = f"{counts.samples_under_way} samples are being graded; try again later"
            raise RejectedError(429, text, {"Retry-After": "1"})
        counts.samples_under_way += count
        try:
            yield
        finally:
            counts.samples_under_way -= count

    def _check_count(self, count: int) -> None:
        if count > self._limits.max_samples:
            raise RejectedError(413, f"{count} samples; a request may have at most {self._limits.max_samples}")

    # --- monitoring ---

    async def _state(self, request: Request) -> Response:
        del request
        return _json(200, self.state())

    async def _metrics(self, request: Request) -> Response:
        del request
        return Response(self._counts.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _health(self, request: Request) -> Response:
        """Say whether samples would be graded. It needs no token, and says nothing else."""
        del request
        has_sandbox = not self._scheduler.problem
        return _json(200 if has_sandbox else 503, {"status": "ok" if has_sandbox else "no sandbox"})

    async def _leave(self, request: Request) -> Response:
        """End the server if this was its last client; answer with the id of the process that ends, or 0.

        First it waits a moment: until then, the client has closed its other connections.
        """
        del request
        await asyncio.sleep(LEAVE_SECONDS)
        is_last = self.connections.count == 1
        if is_last and self.end is not None:
            self.end()
        return _json(200, {"pid": os.getpid() if is_last else 0})

    def state(self) -> PoolState:
        """Return the state of the pool."""
        state = self._scheduler.state()
        return msgspec.structs.replace(
            state,
            clients=self.connections.count,
            lost_sandboxes=self._samples.lost_sandboxes,
            memory_bytes=_resident_bytes(),
        )

    async def results(self, request: Request, batch: Batch) -> AsyncGenerator[list[ResultLine], None]:
        """Yield results as they come, until all are there; a late sample is unscored.

        Raises ClientDisconnect if the client has gone. Then, samples that have not begun are dropped.
        """
        loop, now = asyncio.get_running_loop(), time.monotonic()
        finished = asyncio.Queue[ResultLine | None]()
        """The results that are there; None: the client has gone."""

        def give(index: int, result: SampleResult) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, so no client waits
                loop.call_soon_threadsafe(finished.put_nowait, ResultLine(place=index, result=result))

        samples = batch.samples
        items = [QueuedSample(sample, now + sample.wait, partial(give, index)) for index, sample in enumerate(samples)]
        # The indexes without a result, by deadline, so that only the first needs a timer.
        pending = dict.fromkeys(sorted(range(len(items)), key=lambda index: samples[index].wait))
        disconnect = asyncio.ensure_future(_wait_until_gone(request))
        disconnect.add_done_callback(lambda _: finished.put_nowait(None))
        self._scheduler.submit(items)
        try:
            while pending:
                first = next(iter(pending))
                try:
                    async with asyncio.timeout(max(0.0, items[first].deadline - time.monotonic())):
                        lines = [await finished.get()]
                except TimeoutError:
                    items[first].is_abandoned = True
                    reason = _late_reason(samples[first].wait, self._scheduler.problem)
                    lines = [ResultLine(place=first, result=unscored_result(samples[first], reason))]
                while not finished.empty():
                    lines.append(finished.get_nowait())
                if None in lines:
                    raise ClientDisconnect
                # A sample that was late may have a result meanwhile; its client has been told that it has none.
                new_lines = [line for line in lines if line and line.place in pending]
                for line in new_lines:
                    pending.pop(line.place, None)
                yield new_lines
        finally:
            disconnect.cancel()
            for item in items:
                item.is_abandoned = True


async def _wait_until_gone(request: Request) -> None:
    """Return when the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _late_reason(seconds: float, problem: str) -> str:
    advice = f"the last round failed: {problem}" if problem else "wait longer, or ask for fewer samples at a time"
    return f"not scored within {seconds:g} seconds; {advice}"


def _resident_bytes() -> int:
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - bytes of a file of the kernel
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class _StreamedResults(Response):
    """An answer of lines that are sent as soon as they are known."""

    def __init__(self, results: AsyncGenerator[list[ResultLine], None], resources: contextlib.AsyncExitStack) -> None:
        """`resources` are released when the answer has been sent."""
        super().__init__(media_type="application/x-ndjson")
        del self.headers["content-length"]
        self._results, self._resources = results, resources

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive
        async with self._resources, contextlib.aclosing(self._results):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            with contextlib.suppress(ClientDisconnect):
                async for lines in self._results:
                    body = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
                    await send({"type": "http.response.body", "body": body, "more_body": True})
                await send({"type": "http.response.body", "body": b""})


class _CountingMiddleware:
    """Counts all answers, and refuses bodies in chunks: a small chunk costs as much as a long one."""

    def __init__(self, app: ASGIApp, counts: Metrics, paths: set[str]) -> None:
        self._app, self._counts, self._paths = app, counts, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = time.monotonic()
        path = scope["path"] if scope["path"] in self._paths else OTHER_PATH

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._counts.count_answer(path, message["status"], time.monotonic() - start)
            await send(message)

        if any(name == b"transfer-encoding" for name, _ in scope["headers"]):
            refusal = _json(411, {"error": "expected Content-Length, and a body that is not in chunks"}, CLOSE)
            await refusal(scope, receive, send_counted)
        else:
            await self._app(scope, receive, send_counted)


def _json(status: int, content: Any, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(content), status, headers, "application/json")


def _require_verdict(result: SampleResult) -> SampleResult:
    """Return a result that has a verdict; raises RejectedError for others, which SandboxFusion cannot express."""
    reading = result.careful
    if reading.outcome is Outcome.UNSCORED and reading.rule == INFRASTRUCTURE:
        raise RejectedError(503, reading.detail, {"Retry-After": "1"})
    if not reading.is_scored:
        raise RejectedError(422, reading.detail)
    return result


async def _http_error(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, HTTPException)
    return _json(error.status_code, {"error": error.detail}, dict(error.headers or {}))


async def _internal_error(request: Request, error: Exception) -> Response:
    """Answer after an error of grade itself, which the server logs."""
    del request
    return _json(500, {"error": f"an error of grade itself ({type(error).__name__}); the server's log has it"}, CLOSE)
