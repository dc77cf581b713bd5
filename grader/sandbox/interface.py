"""What every backend offers: warm supervisors to talk to, and a name for what they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from grader.results import SandboxProvenance

BackendName = Literal["docker", "bubblewrap"]

Job = dict[str, object]
"""One request to a supervisor; the fields are described in sandbox_image/runner.py."""
Answer = dict[str, object]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one program may use."""

    cpu_seconds: float = 2.0
    """CPU time; the official evaluator's wall-clock limit, made independent of the machine's load."""
    wall_seconds: float = 20.0
    """No run is longer than this, whatever the machine is doing."""
    memory_bytes: int = 1 << 30


class SupervisorLostError(Exception):
    """The connection to a supervisor broke; what it was doing is not known."""


class Supervisor(Protocol):
    """A connection to one running supervisor. Used by one thread at a time."""

    greeting: Answer
    """What it said of itself when it was ready."""

    def send(self, job: Job, timeout: float) -> None:
        """Hand over one job; raises SupervisorLostError, also where nothing moves for `timeout` seconds."""

    def receive(self, timeout: float) -> Answer:
        """Return the next answer; raises SupervisorLostError at the end of the stream or after `timeout` seconds."""

    def close(self) -> None:
        """End it and remove all of it. Never raises, may be called twice."""


class Backend(Protocol):
    """A way to start supervisors."""

    name: BackendName
    identity: str
    """A hash of everything that can change a verdict: the image or the packages, and the code inside."""

    def start(self, index: int, *, lint: bool = False) -> Supervisor:
        """Start supervisor number `index` and wait until it is ready; raises InfrastructureError.

        `lint`: it will be asked to, and may load what that takes at once.
        """

    def reap(self) -> int:
        """Remove what graders that no longer live have left; return how many things that were."""

    def describe(self) -> SandboxProvenance:
        """Return what a report says about this sandbox."""
