"""What a dispatcher and its nodes say to each other."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import msgspec

from grader.options import Options
from grader.results import CanaryProvenance, SandboxProvenance
from grader.sandbox.interface import Limits

if TYPE_CHECKING:
    from grader.sandbox.interface import Job


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a node is to run programs in."""

    options: Options
    limits: Limits
    python: str | None
    workers: int
    answer_seconds: float
    """No job takes longer."""


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a node says of itself once a sandbox of it has started."""

    kernel: str
    architecture: str
    code: str
    """Hash of the code that runs inside."""
    lock: str
    """Hash of the lock of the packages inside."""
    python: str
    """Python inside, as in `3.12.1`."""
    identity: str
    workers: int
    sandbox: SandboxProvenance

    @property
    def minor(self) -> str:
        """Return `3.12`."""
        return ".".join(self.python.split(".")[:2])


class Exchanged(msgspec.Struct, frozen=True, kw_only=True):
    """What a node gives back for jobs."""

    verdicts: list[bytes]
    """Pickled verdicts; their keys are the numbers that came with the jobs."""
    aside: int
    """Jobs that wait for the last one: to run again alone, or for a canary to vouch for their answer."""
    canaries: CanaryProvenance = CanaryProvenance()
    """All canaries of the node so far."""
    failure: str = ""
    """Why the node can run nothing more; empty: it can."""


class Parcel(msgspec.Struct, frozen=True, kw_only=True):
    """A job on its way to a node."""

    number: str
    job: bytes
    """Pickled: packed once, however often it is sent."""
    tried: bool = False
    """It has been on a node that was lost: no program of its task may have run in the sandbox that it gets."""


def pack(job: Job) -> bytes:
    """Return a job as bytes; a text may hold half a character, which JSON libraries refuse."""
    return pickle.dumps(job, protocol=5)
