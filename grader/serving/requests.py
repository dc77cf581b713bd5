"""The requests over HTTP, and their limits."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, TypeVar

import msgspec

from grader.results import SampleResult

if TYPE_CHECKING:
    from starlette.requests import Request

S = TypeVar("S", bound=msgspec.Struct)
Seconds = Annotated[float, msgspec.Meta(gt=0, le=86_400)]
Qid = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a server."""

    body_bytes: int = 16 << 20
    samples: int = 1024
    """Maximum number of samples in one request."""
    waiting: int = 8192
    """Maximum number of samples in all open requests."""
    body_seconds: float = 30.0
    """Maximum time in which a request must arrive."""


class Sample(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One sample of a batch."""

    qid: Qid
    text: str


class One(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /grade`: one sample."""

    qid: Qid
    text: str
    official: bool = False
    wait: Seconds | None = None


class Batch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`POST /grade/batch`: samples that are graded together."""

    samples: list[Sample]
    official: bool = False
    wait: Seconds | None = None


class Remote(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /openrlhf`: the request of OpenRLHF to `--reward.remote_url`."""

    query: list[str]
    prompts: list[str]
    labels: list[str]


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a batch, in its order."""

    samples: list[SampleResult]


class RejectedError(Exception):
    """A request that is rejected; `headers` are added to the answer."""

    def __init__(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers or {}


async def read(request: Request, kind: type[S], limits: Limits) -> S:
    """Return the body of a request; raises RejectedError if it is too long, too slow or invalid."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RejectedError(415, "expected Content-Type: application/json")
    try:
        async with asyncio.timeout(limits.body_seconds):
            data = await _body(request, limits.body_bytes)
    except TimeoutError:
        raise RejectedError(408, f"the body did not arrive within {limits.body_seconds:g} seconds") from None
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise RejectedError(422, str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RejectedError(400, f"not JSON: {error}") from None


async def _body(request: Request, most: int) -> bytes:
    """Return the body; stop reading if it is too long, whatever its header says."""
    too_long = RejectedError(413, f"the body is longer than {most} bytes; send fewer samples at a time")
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > most:
        raise too_long
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise too_long
    return bytes(body)
