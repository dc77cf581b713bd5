"""A supervisor's answer, typed: what was seen of one program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from grader.sandbox.interface import Answer


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What the kernel and the watch say, nothing that the program said."""

    stopped: str | None
    """Why it was stopped: `cpu`, `blocked`, `wall`, `memory`, `shared`, `garbage`; None: it ended by itself.

    `shared`: the machine's shared memory grew beyond the limit, and shrank when the program ended; `disturbed`: it
    grew and did not shrink, so it was somebody else's (never final)."""
    status: int | None
    """Exit code, or minus the signal that ended it; None after a result (it is killed then)."""
    cpu: float
    wall: float
    waited: float
    """Seconds it was ready to run and the machine was busy with something else."""
    oom: bool
    """The kernel killed for memory while it ran."""


class Lint(msgspec.Struct, frozen=True, kw_only=True):
    """The linter's word."""

    messages: list[str] = []
    broken: str = ""
    """Why there is no word: the source hung or crashed the linter."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """The official single-process run."""

    evidence: Evidence
    result: str | None = None
    """The official result text; None where the process ended without one."""
    kind: str = ""
    """Type of the exception behind the text."""
    lines: str = ""
    """Lines of the program that the exception came by, outermost first and comma-separated; the program's own word."""


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """What the tests made of a candidate that has a process of its own."""

    evidence: Evidence
    confirmed: bool = False
    reason: str = ""
    kind: str = ""


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """One recording of the calls of a task's tests."""

    calls: list[str] | None = None
    """JSON texts; None: they cannot be recorded, for the reason `refused`."""
    names: list[str] = []
    reads: list[str] = []
    refused: str = ""
    begun: list[str] | None = None
    """The calls until an exception of the tests' own ended them, where that is why there are no `calls`."""


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """A task's calls, recorded with truthy and with falsy answers."""

    truthy: Recorded
    falsy: Recorded


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """The recording run."""

    evidence: Evidence
    recorded: Recording | None = None


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """What a candidate answered to the recorded calls, as it sent it."""

    evidence: Evidence
    hello: str | None = None
    """What it says of itself once its code is loaded; None: its process ended before."""
    replies: list[str] = []


class Executed(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one job."""

    lint: Lint | None = None
    run: Run | None = None
    record: Record | None = None
    answer: Answers | None = None
    judge: Split | None = None
    split: Split | None = None


def understand(answer: Answer) -> Executed:
    """Convert an answer; raises msgspec.ValidationError where it is none, or says nothing."""
    executed = msgspec.convert(answer, Executed)
    if all(getattr(executed, name) is None for name in executed.__struct_fields__):
        raise msgspec.ValidationError("an answer that says nothing")
    return executed
