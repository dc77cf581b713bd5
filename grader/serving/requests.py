"""The requests over HTTP, and their limits."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

import msgspec

from grader.errors import UsageError
from grader.files import compact_json
from grader.options import parse_size
from grader.pool.exchange import id_of
from grader.pool.messages import NO_TASK, REQUEST_BYTES, Batch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request

    from grader.scorers.sample_scorer import ScoreRequest

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")

BODIES = 8
"""The bodies of all open requests have at most the bytes of so many of the longest."""


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a server."""

    body_bytes: int = 16 << 20
    waiting: int = 8192
    """Maximum number of samples in one request, and in all open requests."""
    body_seconds: float = 30.0
    """Maximum time in which a request must arrive."""
    wait: float = 600.0
    """Maximum time in which a request is graded."""


OWN = ServerLimits(body_bytes=REQUEST_BYTES, waiting=1 << 20, body_seconds=600.0, wait=float("inf"))
"""The limits of a pool's own process: its clients are this user's."""


def whole(batch: Batch, most: float) -> Batch:
    """Return a batch whose samples have all that they need; raises UsageError. `most`: seconds that it may wait."""
    samples, most = [], min(batch.wait or most, most)
    for number, sample in enumerate(batch.samples):
        try:
            samples.append(_whole(sample, batch, most))
        except UsageError as error:
            raise UsageError(f"$.samples[{number}]: {error}") from None
    return msgspec.structs.replace(batch, samples=samples)


def _whole(sample: ScoreRequest, batch: Batch, most: float) -> ScoreRequest:
    """Return a sample with its row instead of the row's name, and its time; raises UsageError."""
    row = sample.row
    if _begins(row) == b'"':
        try:
            row = batch.rows[msgspec.json.decode(row)]
        except KeyError as error:
            raise UsageError(f"no row is named {error}") from None
    row = msgspec.Raw() if bytes(row) == b"null" else row
    if _begins(row) not in (b"", b"{"):
        raise UsageError(f"its row is {bytes(row).decode()!r:.80}, not an object")
    if not row and not sample.qid:
        raise UsageError(NO_TASK)
    return msgspec.structs.replace(
        sample,
        qid=sample.qid or id_of(msgspec.json.decode(row)),
        row=row,
        official=batch.official or sample.official,
        wait=min(sample.wait or most, most),
        memory=parse_size(sample.memory) if isinstance(sample.memory, str) else sample.memory,
    )


def _begins(row: msgspec.Raw) -> bytes:
    return bytes(memoryview(row)[:1])


class Remote(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /openrlhf`: the request of OpenRLHF to `--reward.remote_url`."""

    query: list[str]
    prompts: list[str]
    labels: list[str]


class RejectedError(Exception):
    """A request that is rejected; `headers` are added to the answer."""

    def __init__(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers or {}


class Intake:
    """Reads requests. The bodies of all open requests have a limit, too, so that many clients fit into memory."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._bytes = 0
        """Bytes of the bodies of all open requests."""

    @asynccontextmanager
    async def read(self, request: Request, decode: Callable[[bytes], T]) -> AsyncIterator[T]:
        """Yield what `decode` makes of the body; raises RejectedError if it is too long, too slow or invalid."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise RejectedError(415, "expected Content-Type: application/json")
        body = bytearray()
        try:
            await self._receive(request, body)
            try:
                found = decode(bytes(body))
            except msgspec.ValidationError as error:
                raise RejectedError(422, str(error)) from None
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise RejectedError(400, f"not JSON: {error}") from None
            yield found
        finally:
            self._bytes -= len(body)

    async def _receive(self, request: Request, body: bytearray) -> None:
        """Read the body; stop if it is too slow, or too long whatever its header says."""
        most = self._limits.body_bytes
        too_long = RejectedError(413, f"the body is longer than {most} bytes; send fewer samples at a time")
        announced = request.headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > most:
            raise too_long
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                async for part in request.stream():
                    body += part
                    self._bytes += len(part)
                    if len(body) > most:
                        raise too_long
                    if self._bytes > BODIES * most:
                        raise RejectedError(
                            503, "too many long requests at a time; try again later", {"Retry-After": "1"}
                        )
        except TimeoutError:
            seconds = self._limits.body_seconds
            raise RejectedError(408, f"the body did not arrive within {seconds:g} seconds") from None


def decoded(kind: type[S], body: bytes) -> S:
    """Return a body as a request of this kind; raises msgspec's errors, UnicodeDecodeError and RecursionError."""
    return compact_json.decode_typed(msgspec.json.Decoder(kind), body)
