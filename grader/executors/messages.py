"""The messages between driver and nodes of a cluster. Ray copies them from process to process."""

from __future__ import annotations

import msgspec

from grader.options import Options
from grader.results import SandboxProvenance
from grader.sandbox.interface import Answer, Limits


class NodeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The sandboxes that a node must start."""

    options: Options
    limits: Limits
    python: str | None
    workers: int
    answer_seconds: float
    """Maximum time of a job."""


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A node's report on itself, after one of its sandboxes has started."""

    kernel: str
    architecture: str
    code: str
    """Hash of the code that runs inside the sandbox, and of the lock files of the packages inside."""
    python: str
    """Python version inside, for example `3.12.1`."""
    workers: int
    sandbox: SandboxProvenance

    @property
    def minor(self) -> str:
        """Return the minor version, `3.12`."""
        return ".".join(self.python.split(".")[:2])


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """A node's reply to a batch."""

    answers: dict[str, Answer | str] = {}
    """Place of a job in the batch -> its answer, or why there is none."""
    failure: str = ""
    """Why the node can run nothing more; empty if it can."""
