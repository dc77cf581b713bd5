"""The interface of backends: they start warm supervisors and identify their content."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from grade_sandbox.jobs import Job

    from grader.results import SandboxProvenance

BackendName = Literal["docker", "bubblewrap"]

Answer = dict[str, object]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The resource limits of one program."""

    cpu_seconds: float = 2.0
    """CPU time. It replaces the official evaluator's wall-clock limit, and does not depend on the machine's load."""
    wall_seconds: float = 20.0
    """Maximum duration of a run, without the time in which it waits for a core."""
    memory_bytes: int = 1 << 30
    """Memory of a program whose job says nothing else."""
    max_memory_bytes: int = 0
    """Memory of the program with the most, if that is more."""

    @property
    def sandbox_bytes(self) -> int:
        """Memory that a sandbox has for a program."""
        return max(self.memory_bytes, self.max_memory_bytes)


INSIDE_SITE = "/opt/grade-site"
"""The folder of the packages, inside a sandbox."""


UIDS_PER_SUPERVISOR = 16
"""More than the processes of a supervisor that need a user id each: its programs, and the linter."""


def random_first_uid() -> int:
    """Return the first of 65,536 user ids that probably no user, container or other grader of this machine has.

    A user's limit of processes counts on the whole machine, and a user may end its own processes everywhere.
    """
    return random.SystemRandom().randrange(1 << 20, 1 << 30) & ~0xFFFF


def environment(limits: Limits, first_uid: int, *, has_cgroup: bool, for_linting: bool) -> dict[str, str]:
    """Return the environment of a supervisor: its settings, and nothing of the grader's.

    The hash seed is fixed, so that no verdict depends on the order of a set. The addresses of library functions are
    looked up at the start. Otherwise each fork would look up those it calls.
    """
    settings = {"memory": limits.sandbox_bytes, "first_uid": first_uid, "cgroup": has_cgroup, "lint": for_linting}
    return {
        "GRADE_SETTINGS": json.dumps(settings),
        "PYTHONPATH": INSIDE_SITE,
        "PYTHONHASHSEED": "0",
        "LD_BIND_NOW": "1",
    }


class SupervisorLostError(Exception):
    """Raised if the connection to a supervisor breaks. The state of its jobs is unknown."""


class Supervisor(Protocol):
    """A connection to one running supervisor, used by one thread at a time."""

    greeting: Answer
    """Its first message, sent when it was ready."""

    def send(self, job: Job, timeout: float) -> None:
        """Send one job; raises SupervisorLostError, also if nothing can be sent or received for `timeout` seconds."""

    def receive(self, timeout: float) -> Answer:
        """Return the next answer; raises SupervisorLostError at the end of the stream or after `timeout` seconds."""

    def yield_cores(self, *, to_others: bool) -> None:
        """Leave more of the cores to other supervisors from now on; `to_others=False`: no longer. It never raises."""

    def close(self) -> None:
        """End it and remove everything that belongs to it. It never raises, and may be called twice."""


FEW_LINTS = 64
"""One linter alone lints up to this number of programs. A second one would need more CPU time to load than it saves."""


class Backend(Protocol):
    """A way to start supervisors."""

    name: BackendName
    identity: str
    """A hash of everything that can change a verdict: the image or the packages, and the code inside."""

    def load(self) -> None:
        """Load the modules that `start` needs. Call it while no other thread is busy: then it takes half the time."""

    def start(self, index: int, *, for_linting: bool = False) -> Supervisor:
        """Start supervisor number `index` and wait until it is ready; raises InfrastructureError.

        `for_linting`: it will get lint jobs, and may load the linter at once.
        """

    def reap(self) -> int:
        """Remove what dead graders have left behind; return the number of things removed."""

    def describe(self) -> SandboxProvenance:
        """Return the provenance of this sandbox for a report."""
