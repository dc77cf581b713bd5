"""The messages between a pool's process and its clients: JSON in frames, over a socket of one node and user."""

from __future__ import annotations

import struct

import msgspec

from grader import errors
from grader.errors import GradeError, InfrastructureError
from grader.results import Outcome, Reading, SampleResult
from grader.scorers.asking import NOT_ASKED, Asked

MAX_FRAME = 256 << 20
HEADER = struct.Struct(">I")


class Grade(msgspec.Struct, frozen=True, kw_only=True, tag="grade"):
    """Request: score these samples."""

    samples: list[Asked]
    seconds: float
    """Time after which samples without a result are unscored."""
    rows: dict[str, msgspec.Raw] = {}
    """The rows of samples that bring their tasks, by name."""


class Tell(msgspec.Struct, frozen=True, tag="tell"):
    """Request: report your state."""


class Leave(msgspec.Struct, frozen=True, tag="leave"):
    """Request: I disconnect; end at once if you have no other client."""


Request = Grade | Tell | Leave


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag="hello"):
    """The first message on a connection."""

    pid: int


class Found(msgspec.Struct, frozen=True, kw_only=True, tag="found"):
    """The result of one sample."""

    place: int
    result: SampleResult


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag="refused"):
    """None of the request was or will be scored. Also the last message of a process that cannot start."""

    kind: str
    """Name of a class in `grader.errors`."""
    text: str


class PoolState(msgspec.Struct, frozen=True, kw_only=True, tag="state"):
    """The state of a pool, with counts since its process started."""

    pid: int
    benchmark: str
    seconds: float
    """Time since the process started."""
    waiting: int
    """Samples that wait for a round or are in one."""
    lanes: dict[str, int]
    """Lane -> number of samples that wait in it."""
    oldest_seconds: float
    """How long the oldest of the waiting samples has waited."""
    rate: float
    """Results per second, averaged over about the last ten seconds with results."""
    clients: int
    """Number of connections."""
    rounds: int
    busy_seconds: float
    """Total time of all rounds."""
    outcomes: dict[str, int]
    """Careful outcome -> number of samples."""
    flagged: dict[str, int]
    """Flag -> number of samples."""
    expired: int
    """Samples whose time was over before they were scored, or whose client had gone."""
    repeated: int
    """Samples that were scored again because infrastructure failed, and jobs that were because a sandbox was lost."""
    lost_sandboxes: int
    failures: int
    """Rounds that found no sandbox."""
    problem: str
    """Why the last round failed; empty if it did not."""
    memory_bytes: int
    """Resident memory of the process, without its sandboxes."""


Reply = Hello | Found | Refused | PoolState
_REQUEST: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_REPLY: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


def frame(message: Request | Reply) -> bytes:
    """Encode a message with its header."""
    data = msgspec.json.encode(message)
    return HEADER.pack(len(data)) + data


def length(header: bytes) -> int:
    """Return the message length in a header; raises ConnectionError if it is too large."""
    (size,) = HEADER.unpack(header)
    if size > MAX_FRAME:
        raise ConnectionError(f"a message of {size} bytes is too long")
    return int(size)


def request(data: bytes) -> Request:
    """Decode a request; raises msgspec.MsgspecError."""
    return _REQUEST.decode(data)


def reply(data: bytes) -> Reply:
    """Decode a reply; raises ConnectionError."""
    try:
        return _REPLY.decode(data)
    except msgspec.MsgspecError as error:
        raise ConnectionError(f"invalid message: {error}") from error


def unscored(request: Asked, why: str, rule: str = "infrastructure") -> SampleResult:
    """Return the result of a sample that was not scored. `rule`: whose fault it is; with another, it is final."""
    return _result(request, Reading(outcome=Outcome.UNSCORED, credit=0, detail=why, rule=rule))


def _result(request: Asked, reading: Reading) -> SampleResult:
    return SampleResult(qid=request.qid, sample=0, official=reading if request.official else NOT_ASKED, careful=reading)


def error_of(refused: Refused) -> GradeError:
    """Return the error in a refusal."""
    kind = getattr(errors, refused.kind, InfrastructureError)
    if kind is errors.InputError:
        return errors.InputError(refused.text.split("\n"))
    error: GradeError = kind(refused.text)
    return error
