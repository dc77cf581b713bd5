"""The requests over HTTP, and their limits."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

import msgspec

from grader.errors import UsageError
from grader.files import compact_json
from grader.options import parse_memory
from grader.pool.exchange import id_of
from grader.pool.messages import NO_TASK, REQUEST_BYTES, Batch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request

    from grader.scorers.sample_scorer import ScoreRequest

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")

MAX_LONGEST_BODIES = 8
"""The bodies of all open requests have at most the bytes of so many of the longest."""


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a server."""

    body_bytes: int = 16 << 20
    max_samples: int = 8192
    """Maximum number of samples in one request, and in all open requests."""
    body_seconds: float = 30.0
    """Maximum time in which a request must arrive."""
    wait: float = 600.0
    """Maximum time in which a request is graded."""


POOL_LIMITS = ServerLimits(body_bytes=REQUEST_BYTES, max_samples=1 << 20, body_seconds=600.0, wait=float("inf"))
"""The limits of a pool's own process: its clients are this user's."""


def complete_batch(batch: Batch, max_wait: float) -> Batch:
    """Return a batch whose samples have all that they need; raises UsageError. `max_wait`: in seconds."""
    samples = []
    wait = min(batch.wait or max_wait, max_wait)
    for index, sample in enumerate(batch.samples):
        try:
            samples.append(_complete_sample(sample, batch, wait))
        except UsageError as error:
            raise UsageError(f"$.samples[{index}]: {error}") from None
    return msgspec.structs.replace(batch, samples=samples)


def _complete_sample(sample: ScoreRequest, batch: Batch, max_wait: float) -> ScoreRequest:
    """Return a sample with its row in place of the row's name, an id, and its limits as numbers; raises UsageError."""
    row = sample.row
    is_row_name = _first_byte(row) == b'"'
    if is_row_name:
        try:
            row = batch.rows[msgspec.json.decode(row)]
        except KeyError as error:
            raise UsageError(f"no row is named {error}") from None
    row = msgspec.Raw() if bytes(row) == b"null" else row
    if _first_byte(row) not in (b"", b"{"):
        raise UsageError(f"its row is {bytes(row).decode()!r:.80}, not an object")
    if not row and not sample.qid:
        raise UsageError(NO_TASK)
    return msgspec.structs.replace(
        sample,
        qid=sample.qid or id_of(msgspec.json.decode(row)),
        row=row,
        official=batch.official or sample.official,
        wait=min(sample.wait or max_wait, max_wait),
        memory=parse_memory(sample.memory) if isinstance(sample.memory, str) else sample.memory,
    )


def _first_byte(row: msgspec.Raw) -> bytes:
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
        self._open_bytes = 0
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
                content = decode(bytes(body))
            except msgspec.ValidationError as error:
                raise RejectedError(422, str(error)) from None
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise RejectedError(400, f"not JSON: {error}") from None
            yield content
        finally:
            self._open_bytes -= len(body)

    async def _receive(self, request: Request, body: bytearray) -> None:
        """Read the body; stop if it is too slow, or too long whatever its header says."""
        max_bytes = self._limits.body_bytes
        too_long = RejectedError(413, f"the body is longer than {max_bytes} bytes; send fewer samples at a time")
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length[:20]) > max_bytes:  # Python refuses to read a number of many digits
            raise too_long
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                async for part in request.stream():
                    body += part
                    self._open_bytes += len(part)
                    if len(body) > max_bytes:
                        raise too_long
                    if self._open_bytes > MAX_LONGEST_BODIES * max_bytes:
                        raise RejectedError(
                            503, "too many long requests at a time; try again later", {"Retry-After": "1"}
                        )
        except TimeoutError:
            seconds = self._limits.body_seconds
            raise RejectedError(408, f"the body did not arrive within {seconds:g} seconds") from None


def decode_body(kind: type[S], body: bytes) -> S:
    """Return a body as a request of this kind; raises msgspec's errors, UnicodeDecodeError and RecursionError."""
    return compact_json.decode_typed(msgspec.json.Decoder(kind), body)
