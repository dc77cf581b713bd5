"""What a pool's process and those who ask it say to each other: JSON in frames, over a socket of one node and user."""

from __future__ import annotations

import struct

import msgspec

from grader import errors
from grader.errors import GradeError, InfrastructureError
from grader.results import Outcome, Reading, SampleResult
from grader.scorers.asked import NOT_ASKED, Asked

MAX_FRAME = 256 << 20
HEADER = struct.Struct(">I")


class Grade(msgspec.Struct, frozen=True, kw_only=True, tag="grade"):
    """Score these samples."""

    samples: list[Asked]
    seconds: float
    """What has no result by then is unscored."""


class Tell(msgspec.Struct, frozen=True, tag="tell"):
    """Say how you are."""


class Leave(msgspec.Struct, frozen=True, tag="leave"):
    """I am leaving; end at once if nobody else is there."""


Request = Grade | Tell | Leave


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag="hello"):
    """The first message on a connection."""

    pid: int


class Found(msgspec.Struct, frozen=True, kw_only=True, tag="found"):
    """The result of one sample."""

    place: int
    result: SampleResult


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag="refused"):
    """Nothing of the request was or will be scored; also the last word of a process that cannot start."""

    kind: str
    """Name of a class in grader.errors."""
    text: str


class PoolState(msgspec.Struct, frozen=True, kw_only=True, tag="state"):
    """How a pool is: counts since its process started."""

    pid: int
    benchmark: str
    seconds: float
    """How long the process has been running."""
    waiting: int
    """Samples that wait for a round, or are in one."""
    clients: int
    """Connections of processes and threads."""
    rounds: int
    busy_seconds: float
    """How long rounds took, all together."""
    outcomes: dict[str, int]
    """Careful outcome -> samples."""
    flagged: dict[str, int]
    """Flag -> samples."""
    expired: int
    """Samples whose time was over before they were scored, or that nobody waited for any more."""
    repeated: int
    """Samples that were scored again because infrastructure failed."""
    failures: int
    """Rounds that found no sandbox."""
    problem: str
    """Why the last round failed; empty: it did not."""
    memory_bytes: int
    """Resident memory of the process, without its sandboxes."""


Reply = Hello | Found | Refused | PoolState
_REQUEST = msgspec.json.Decoder(Request)
_REPLY = msgspec.json.Decoder(Reply)


def frame(message: Request | Reply) -> bytes:
    """Return a message as it is sent."""
    data = msgspec.json.encode(message)
    return HEADER.pack(len(data)) + data


def length(header: bytes) -> int:
    """Return the length that a header announces; raises ConnectionError for one that nobody sends."""
    (size,) = HEADER.unpack(header)
    if size > MAX_FRAME:
        raise ConnectionError(f"a message of {size} bytes")
    return int(size)


def request(data: bytes) -> Request:
    """Decode a request; raises msgspec.MsgspecError."""
    found: Request = _REQUEST.decode(data)
    return found


def reply(data: bytes) -> Reply:
    """Decode a reply; raises ConnectionError."""
    try:
        found: Reply = _REPLY.decode(data)
    except msgspec.MsgspecError as error:
        raise ConnectionError(f"a message that cannot be understood: {error}") from error
    return found


def unscored(one: Asked, why: str) -> SampleResult:
    """Return the result of a sample that was not scored."""
    reading = Reading(outcome=Outcome.UNSCORED, credit=0, detail=why, rule="infrastructure")
    return SampleResult(qid=one.qid, sample=0, official=reading if one.official else NOT_ASKED, careful=reading)


def error_of(refused: Refused) -> GradeError:
    """Return the error that a process has told of."""
    kind = getattr(errors, refused.kind, InfrastructureError)
    if kind is errors.InputError:
        return errors.InputError(refused.text.split("\n"))
    found: GradeError = kind(refused.text)
    return found
