"""The properties of a machine that can change a verdict."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader import resources

if TYPE_CHECKING:
    from grader.results import SandboxProvenance


class Machine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A machine and its sandbox. Without a sandbox, only the fields of the grader are set."""

    grade: str
    """Version of grade."""
    kernel: str
    cpu: str
    cores: int
    backend: str = ""
    sandbox: str = ""
    """Identity of the sandbox: a hash of the image or the packages, and of the code inside."""
    runtime: str = ""
    python: str = ""
    """Version of the Python that runs programs."""
    cpu_seconds: float = 0.0
    memory_bytes: int = 0


NAMES = {
    "grade": "the version of grade",
    "kernel": "the kernel",
    "cpu": "the processor",
    "cores": "the number of cores",
    "backend": "the kind of sandbox",
    "sandbox": "the sandbox image",
    "runtime": "the container runtime",
    "python": "the sandbox's Python",
    "cpu_seconds": "the time limit",
    "memory_bytes": "the memory limit",
}
"""Field -> its description for users."""
OF_THE_MACHINE = ("grade", "kernel", "cpu", "cores")
"""Fields that do not depend on a sandbox."""


def this_machine(sandbox: SandboxProvenance | None) -> Machine:
    """Return this machine, with the sandbox that a run used."""
    own = Machine(grade=resources.version(), kernel=platform.release(), cpu=_cpu(), cores=resources.usable_cores())
    if sandbox is None:
        return own
    return msgspec.structs.replace(
        own,
        # A self-test of this machine is not valid for the nodes of a cluster.
        backend="cluster" if sandbox.nodes else sandbox.backend,
        sandbox=sandbox.identity,
        runtime=sandbox.runtime,
        python=sandbox.python,
        cpu_seconds=sandbox.cpu_seconds,
        memory_bytes=sandbox.memory_bytes,
    )


def differences(first: Machine, second: Machine, *, of_sandbox: bool = True) -> list[str]:
    """Return the fields that differ, as text; without `of_sandbox`, compare only the fields of the grader."""
    fields = NAMES if of_sandbox else OF_THE_MACHINE
    return [NAMES[field] for field in fields if getattr(first, field) != getattr(second, field)]


def load_average() -> float:
    """Return the load average of the last minute; 0 if the system does not provide it."""
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return 0.0


def _cpu() -> str:
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.lower().startswith("model name"))
    return next(named, platform.processor() or platform.machine())
